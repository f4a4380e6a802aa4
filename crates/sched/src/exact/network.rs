//! A closed network of difference constraints with undo (Dechter, Meiri and Pearl 1991).

use smallvec::{SmallVec, smallvec};

/// `dist(a, b)` is the greatest proved lower bound on `t[b] - t[a]`, closed under addition. Node 0 is the origin.
/// All pairs are connected.
pub(crate) struct Network {
    pub m: usize,
    dist: Vec<i64>,
    /// What else is known of each pair of nodes; apart, as most looks are at distances alone.
    notes: Vec<Note>,
    /// The watcher of each pair of nodes, or `UNWATCHED`.
    watching: Vec<u32>,
    /// Entries as they were: so many of them, and room for more.
    trail: Vec<Change>,
    changes: usize,
    /// What is imposed now may be undone.
    undoable: bool,
    /// Elementary operations since the last reset.
    pub work: u64,
    /// Scratch: targets whose distance improves, and that distance.
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

impl Note {
    /// Whether a distance that rises to this awakes the watcher.
    fn awakes(&self, dist: i64) -> bool {
        (self.limit == ANY) | ((dist > i64::from(self.limit)) & (self.limit != NONE))
    }
}

/// An entry as it was.
#[derive(Clone, Copy)]
struct Change {
    at: u32,
    why: u32,
    dist: i64,
}

impl Network {
    /// `dist` must be closed, row by row.
    pub fn new(m: usize, dist: Vec<i64>) -> Self {
        Network {
            m,
            notes: vec![Note { limit: NONE, why: GIVEN }; dist.len()],
            watching: vec![UNWATCHED; dist.len()],
            dist,
            trail: Vec::new(),
            changes: 0,
            undoable: false,
            work: 0,
            improved: vec![(0, 0); m],
            changed: false,
            queue: Vec::new(),
            queued: Vec::new(),
        }
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
        if least <= self.dist(a, b) {
            return true;
        }
        if least + self.dist(b, a) > 0 {
            return false;
        }
        self.changed = true;
        let m = self.m;
        // Only targets that a reaches better through b, and sources that reach b better through a, can change.
        let targets = self.targets(a, b, least);
        self.work += 2 * m as u64;
        for x in 0..m {
            let to_a = self.dist[x * m + a];
            if to_a + least > self.dist[x * m + b] {
                self.work += targets as u64;
                self.raise_row(x, to_a, targets, why);
            }
        }
        true
    }

    /// Notes the targets that `a` reaches better through `b`, and how far they are from `a` then; how many there are.
    fn targets(&mut self, a: usize, b: usize, least: i64) -> usize {
        let m = self.m;
        let (from_a, from_b) = (&self.dist[a * m..][..m], &self.dist[b * m..][..m]);
        let improved = &mut self.improved[..m];
        let mut targets = 0;
        for (y, (&from_a, &from_b)) in (0u32..).zip(from_a.iter().zip(from_b)) {
            // Written in any case, and kept where it counts: one in three does, which no processor foresees.
            improved[targets] = (y, least + from_b);
            targets += usize::from(least + from_b > from_a);
        }
        targets
    }

    /// Raises the distances from `x` to what was noted, which is `to_a` farther from it than from `a`.
    fn raise_row(&mut self, x: usize, to_a: i64, targets: usize, why: u32) {
        let (m, changes) = (self.m, self.changes);
        if self.trail.len() < changes + m {
            self.trail.resize(2 * (changes + m), Change { at: 0, why: GIVEN, dist: 0 });
        }
        let (row, notes) = (&mut self.dist[x * m..][..m], &mut self.notes[x * m..][..m]);
        let trail = &mut self.trail[changes..][..m];
        let mut raised = 0;
        for &(y, onward) in &self.improved[..targets] {
            let dist = &mut row[y as usize];
            let reach = to_a + onward;
            if reach > *dist {
                let note = &mut notes[y as usize];
                trail[raised] = Change { at: (x * m) as u32 + y, why: note.why, dist: *dist };
                raised += 1;
                (*dist, note.why) = (reach, why);
                if note.awakes(reach) {
                    let watcher = self.watching[x * m + y as usize];
                    if !std::mem::replace(&mut self.queued[watcher as usize], true) {
                        self.queue.push(watcher);
                    }
                }
            }
        }
        self.changes += if self.undoable { raised } else { 0 };
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
        let mut open: SmallVec<[(usize, usize); 32]> = smallvec![(a, b)];
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
        self.changes
    }

    /// What there is now will never be undone, nor what is imposed up to the next mark: none of it need be remembered.
    pub fn keep(&mut self) {
        self.undoable = false;
        self.changes = 0;
    }

    /// Undoes everything since the mark.
    pub fn undo(&mut self, mark: usize) {
        for old in self.trail[mark..self.changes].iter().rev() {
            (self.dist[old.at as usize], self.notes[old.at as usize].why) = (old.dist, old.why);
        }
        self.changes = mark;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_and_undo() {
        // 0 -> 1 by 2, 1 -> 2 by 3, all windows 100 wide.
        let dist = vec![0, 2, 5, -95, 0, 3, -95, -93, 0];
        let mut net = Network::new(3, dist.clone());
        let mark = net.mark();
        assert!(net.impose(0, 1, 7));
        assert_eq!((net.dist(0, 1), net.dist(0, 2)), (7, 10));
        assert!(!net.impose(2, 0, -9));
        net.undo(mark);
        assert_eq!(net.dist, dist);
    }
}
