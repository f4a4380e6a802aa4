//! Which operations' holds start at each residue: linked lists in one array, as a row may have a hundred thousand.

/// The operations whose hold starts at each residue.
pub(super) struct Starts {
    first: Vec<u32>,
    links: Vec<Link>,
    unused: u32,
}

#[derive(Clone, Copy)]
struct Link {
    node: u32,
    next: u32,
}

/// The end of a list.
const END: u32 = u32::MAX;

impl Starts {
    pub fn new(residues: usize) -> Self {
        Starts { first: vec![END; residues], links: Vec::new(), unused: END }
    }

    pub fn at(&self, residue: usize) -> impl Iterator<Item = u32> + '_ {
        let link = |i: u32| self.links.get(i as usize).copied();
        std::iter::successors(link(self.first[residue]), move |l| link(l.next)).map(|l| l.node)
    }

    pub fn add(&mut self, residue: usize, node: u32) {
        let link = Link { node, next: self.first[residue] };
        self.first[residue] = match self.links.get_mut(self.unused as usize) {
            Some(unused) => {
                let next = std::mem::replace(unused, link).next;
                std::mem::replace(&mut self.unused, next)
            }
            None => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
        };
    }

    pub fn remove(&mut self, residue: usize, node: u32) {
        let (mut before, mut i) = (END, self.first[residue]);
        while let Some(&link) = self.links.get(i as usize) {
            if link.node == node {
                match self.links.get_mut(before as usize) {
                    Some(before) => before.next = link.next,
                    None => self.first[residue] = link.next,
                }
                self.links[i as usize].next = self.unused;
                self.unused = i;
                return;
            }
            (before, i) = (i, link.next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_starts_keep_what_is_not_removed() {
        let mut starts = Starts::new(3);
        for node in 0..6 {
            starts.add(node as usize % 2, node);
        }
        starts.remove(0, 2);
        starts.remove(0, 7);
        starts.remove(1, 5);
        starts.add(2, 9);
        let mut at: Vec<Vec<u32>> = (0..3).map(|r| starts.at(r).collect()).collect();
        at.iter_mut().for_each(|list| list.sort_unstable());
        assert_eq!(at, [vec![0, 4], vec![1, 3], vec![9]]);
        assert_eq!(starts.links.len(), 6);
    }
}
