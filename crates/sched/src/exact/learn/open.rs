//! The pairs whose wrap is undecided, with undo.

/// A set of pairs that is only taken from, but for going back to an earlier size (Briggs and Torczon 1993).
pub(super) struct Open {
    order: Vec<u32>,
    place: Vec<u32>,
    pub len: usize,
}

impl Open {
    pub fn new(pairs: usize) -> Self {
        let order: Vec<u32> = (0..pairs as u32).collect();
        Open { place: order.clone(), order, len: pairs }
    }

    pub fn pairs(&self) -> &[u32] {
        &self.order[..self.len]
    }

    pub fn remove(&mut self, pair: u32) {
        let at = self.place[pair as usize] as usize;
        if at < self.len {
            self.len -= 1;
            let last = self.order[self.len];
            self.order.swap(at, self.len);
            (self.place[last as usize], self.place[pair as usize]) = (at as u32, self.len as u32);
        }
    }
}
