//! A closed network of difference constraints with undo (Dechter, Meiri and Pearl 1991).

/// `dist(a, b)` is the greatest proved lower bound on `t[b] - t[a]`, closed under addition. Node 0 is the origin.
/// All pairs are connected.
pub(crate) struct Network {
    pub m: usize,
    dist: Vec<i64>,
    /// What else is known of each pair of nodes; apart, as most looks are at distances alone.
    notes: Vec<Note>,
    /// The watcher of each pair of nodes, or `UNWATCHED`.
    watching: Vec<u32>,
    trail: Vec<Change>,
    /// What is imposed now may be undone.
    undoable: bool,
    /// Elementary operations since the last reset.
    pub work: u64,
    /// Scratch: targets whose distance improves.
    improved: Vec<(u32, i64)>,
    /// Something changed since this was last cleared.
    pub changed: bool,
    queue: Vec<u32>,
    queued: Vec<bool>,
}

/// Of one pair of nodes: small, as all of them are gone through again and again.
#[derive(Clone, Copy)]
struct Note {
    /// The watcher is awoken by a distance above this; by any where it is `ANY`.
    limit: i32,
    /// What made the distance what it is; `GIVEN` for those of the start.
    why: u32,
}

const ANY: i32 = i32::MIN;
/// No distance awakes what is not there.
const NONE: i32 = i32::MAX;

const UNWATCHED: u32 = u32::MAX;
/// The reason of what needs none.
pub(crate) const GIVEN: u32 = u32::MAX;

/// An entry as it was.
struct Change {
    at: u32,
    why: u32,
    dist: i64,
}

impl Network {
    /// `dist` must be closed, row by row.
    pub fn new(m: usize, dist: &[i64]) -> Self {
        Network {
            m,
            dist: dist.to_vec(),
            notes: vec![Note { limit: NONE, why: GIVEN }; dist.len()],
            watching: vec![UNWATCHED; dist.len()],
            trail: Vec::new(),
            undoable: false,
            work: 0,
            improved: Vec::new(),
            changed: false,
            queue: Vec::new(),
            queued: Vec::new(),
        }
    }

    /// The closed distances, row by row.
    pub fn into_distances(self) -> Vec<i64> {
        self.dist
    }

    /// Registers a watcher of the distances between `a` and `b`, or finds the one there is. It starts out awake.
    pub fn watch(&mut self, a: usize, b: usize) -> u32 {
        let (there, back) = (a * self.m + b, b * self.m + a);
        if self.watching[there] == UNWATCHED {
            let watcher = self.queued.len() as u32;
            (self.watching[there], self.watching[back]) = (watcher, watcher);
            (self.notes[there].limit, self.notes[back].limit) = (ANY, ANY);
            self.queued.push(true);
            self.queue.push(watcher);
        }
        self.watching[there]
    }

    /// Lets the watcher sleep until the distance from `a` to `b` exceeds this; at first any change awakes it.
    pub fn wake_above(&mut self, a: usize, b: usize, limit: i64) {
        // Too low a limit awakes it in vain, and no more.
        self.notes[a * self.m + b].limit = limit.clamp(i64::from(ANY), i64::from(NONE) - 1) as i32;
    }

    /// A watcher whose distances have changed since it was last returned.
    pub fn next_awake(&mut self) -> Option<u32> {
        let watcher = self.queue.pop()?;
        self.queued[watcher as usize] = false;
        Some(watcher)
    }

    /// Puts all watchers to sleep, after a contradiction.
    pub fn all_asleep(&mut self) {
        while self.next_awake().is_some() {}
    }

    pub fn dist(&self, a: usize, b: usize) -> i64 {
        self.dist[a * self.m + b]
    }

    /// Imposes `t[b] - t[a] >= least`; false when that contradicts the rest.
    pub fn impose(&mut self, a: usize, b: usize, least: i64) -> bool {
        self.impose_because(a, b, least, GIVEN)
    }

    /// As [`impose`](Self::impose), and remembers why, for [`explain`](Self::explain).
    pub fn impose_because(&mut self, a: usize, b: usize, least: i64, why: u32) -> bool {
        let m = self.m;
        if least <= self.dist(a, b) {
            return true;
        }
        if least + self.dist(b, a) > 0 {
            return false;
        }
        self.changed = true;
        // Only targets that a reaches better through b, and sources that reach b better through a, can change.
        self.improved.clear();
        let (from_a, from_b) = (&self.dist[a * m..][..m], &self.dist[b * m..][..m]);
        for (y, (&from_a, &from_b)) in (0u32..).zip(from_a.iter().zip(from_b)) {
            if least + from_b > from_a {
                self.improved.push((y, least + from_b));
            }
        }
        self.work += 2 * m as u64;
        for (x, row) in self.dist.chunks_exact_mut(m).enumerate() {
            let to_a = row[a];
            if to_a + least <= row[b] {
                continue;
            }
            self.work += self.improved.len() as u64;
            for &(y, onward) in &self.improved {
                let dist = &mut row[y as usize];
                let reach = to_a + onward;
                if reach > *dist {
                    let at = (x * m) as u32 + y;
                    let note = &mut self.notes[at as usize];
                    if self.undoable {
                        self.trail.push(Change { at, why: note.why, dist: *dist });
                    }
                    (*dist, note.why) = (reach, why);
                    if note.limit == ANY || (reach > i64::from(note.limit) && note.limit != NONE) {
                        let watcher = self.watching[at as usize];
                        if !std::mem::replace(&mut self.queued[watcher as usize], true) {
                            self.queue.push(watcher);
                        }
                    }
                }
            }
        }
        true
    }

    /// Calls `because` with the reasons that together make the distance from `a` to `b` what it is; `ends` tells
    /// between which nodes a reason was imposed.
    ///
    /// An entry's two parts, up to the reason's start and from its end on, are older than the entry: had one grown
    /// since, the closure would have renewed the entry. So the walk ends.
    pub fn explain(
        &self,
        a: usize,
        b: usize,
        ends: impl Fn(u32) -> (usize, usize),
        mut because: impl FnMut(u32),
    ) {
        let mut open = vec![(a, b)];
        while let Some((x, y)) = open.pop() {
            let why = self.notes[x * self.m + y].why;
            if x != y && why != GIVEN {
                because(why);
                let (from, to) = ends(why);
                open.push((x, from));
                open.push((to, y));
            }
        }
    }

    /// A point to return to.
    pub fn mark(&mut self) -> usize {
        self.undoable = true;
        self.trail.len()
    }

    /// What there is now will never be undone, nor what is imposed up to the next mark: none of it need be remembered.
    pub fn keep(&mut self) {
        self.undoable = false;
        self.trail.clear();
    }

    /// Undoes everything since the mark.
    pub fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some(old) = self.trail.pop() {
                (self.dist[old.at as usize], self.notes[old.at as usize].why) = (old.dist, old.why);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_and_undo() {
        // 0 -> 1 by 2, 1 -> 2 by 3, all windows 100 wide.
        let dist = vec![0, 2, 5, -95, 0, 3, -95, -93, 0];
        let mut net = Network::new(3, &dist);
        let mark = net.mark();
        assert!(net.impose(0, 1, 7));
        assert_eq!((net.dist(0, 1), net.dist(0, 2)), (7, 10));
        assert!(!net.impose(2, 0, -9));
        net.undo(mark);
        assert_eq!(net.dist, dist);
    }
}
