//! A closed network of difference constraints with undo (Dechter, Meiri and Pearl 1991).

/// `dist(a, b)` is the greatest proved lower bound on `t[b] - t[a]`, closed under addition. Node 0 is the origin.
/// All pairs are connected.
pub(crate) struct Network {
    pub m: usize,
    entries: Vec<Entry>,
    trail: Vec<Change>,
    /// Elementary operations since the last reset.
    pub work: u64,
    /// Scratch: targets whose distance improves.
    improved: Vec<(u32, i64)>,
    /// Something changed since this was last cleared.
    pub changed: bool,
    queue: Vec<u32>,
    queued: Vec<bool>,
}

/// What is known of one pair of nodes, side by side in memory.
#[derive(Clone, Copy)]
struct Entry {
    dist: i64,
    /// What made the distance what it is; `GIVEN` for those of the start.
    why: u32,
    /// The watcher, or `UNWATCHED`.
    watch: u32,
}

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
        let entry = |&dist: &i64| Entry { dist, why: GIVEN, watch: UNWATCHED };
        Network {
            m,
            entries: dist.iter().map(entry).collect(),
            trail: Vec::new(),
            work: 0,
            improved: Vec::new(),
            changed: false,
            queue: Vec::new(),
            queued: Vec::new(),
        }
    }

    /// Registers a watcher of the distances between `a` and `b`, or finds the one there is. It starts out awake.
    pub fn watch(&mut self, a: usize, b: usize) -> u32 {
        if self.entries[a * self.m + b].watch == UNWATCHED {
            let watcher = self.queued.len() as u32;
            self.entries[a * self.m + b].watch = watcher;
            self.entries[b * self.m + a].watch = watcher;
            self.queued.push(true);
            self.queue.push(watcher);
        }
        self.entries[a * self.m + b].watch
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
        self.entries[a * self.m + b].dist
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
        let (from_a, from_b) = (&self.entries[a * m..][..m], &self.entries[b * m..][..m]);
        for (y, (from_a, from_b)) in (0u32..).zip(from_a.iter().zip(from_b)) {
            let onward = least + from_b.dist;
            if onward > from_a.dist {
                self.improved.push((y, onward));
            }
        }
        self.work += 2 * m as u64;
        for (x, row) in self.entries.chunks_exact_mut(m).enumerate() {
            let to_a = row[a].dist;
            if to_a + least <= row[b].dist {
                continue;
            }
            self.work += self.improved.len() as u64;
            for &(y, onward) in &self.improved {
                let entry = &mut row[y as usize];
                let reach = to_a + onward;
                if reach > entry.dist {
                    let at = (x * m) as u32 + y;
                    self.trail.push(Change { at, why: entry.why, dist: entry.dist });
                    (entry.dist, entry.why) = (reach, why);
                    let watcher = entry.watch;
                    if watcher != UNWATCHED && !self.queued[watcher as usize] {
                        self.queued[watcher as usize] = true;
                        self.queue.push(watcher);
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
            let why = self.entries[x * self.m + y].why;
            if x != y && why != GIVEN {
                because(why);
                let (from, to) = ends(why);
                open.push((x, from));
                open.push((to, y));
            }
        }
    }

    /// A point to return to.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes everything since the mark.
    pub fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some(old) = self.trail.pop() {
                let entry = &mut self.entries[old.at as usize];
                (entry.dist, entry.why) = (old.dist, old.why);
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
        assert!(net.entries.iter().map(|e| e.dist).eq(dist));
    }
}
