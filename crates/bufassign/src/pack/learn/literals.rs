//! Literals, levels, and taking back.

use super::{Learner, Literal, Why};

impl Learner<'_> {
    /// Whether a block is below (1) or above (-1) another; 0 where that is open.
    pub(super) fn order(&self, i: u32, j: u32) -> i8 {
        self.order[i as usize * self.size.len() + j as usize]
    }

    /// That `i` is below `j`, which it meets.
    pub(super) fn literal(&self, i: u32, j: u32) -> Literal {
        2 * self.pair[i as usize * self.size.len() + j as usize] + u32::from(i > j)
    }

    /// The block below and the one above.
    pub(super) fn blocks(&self, l: Literal) -> (u32, u32) {
        let (i, j) = self.ends[l as usize / 2];
        if l & 1 == 0 { (i, j) } else { (j, i) }
    }

    /// 1 where it holds, -1 where it does not, 0 where that is open.
    pub(super) fn value(&self, l: Literal) -> i8 {
        let (i, j) = self.blocks(l);
        self.order(i, j)
    }

    fn set(&mut self, l: Literal, to: i8) {
        let ((i, j), n) = (self.blocks(l), self.size.len());
        self.order[i as usize * n + j as usize] = to;
        self.order[j as usize * n + i as usize] = -to;
        let v = l as usize / 2;
        self.open[v] = if to == 0 { self.activity[v] } else { f64::NEG_INFINITY };
    }

    /// A new level, on which a literal holds.
    pub(super) fn decide(&mut self, l: Literal) {
        self.marks.push((self.trail.len(), self.events.len()));
        self.hold(l, Why::Decision);
    }

    /// A literal holds; false, and the conflict is noted, if it cannot.
    pub(super) fn hold(&mut self, l: Literal, why: Why) -> bool {
        match self.value(l) {
            1 => true,
            0 => {
                self.set(l, 1);
                let v = l as usize / 2;
                (self.level[v], self.why[v]) = (self.marks.len() as u32, why);
                self.trail.push(l);
                true
            }
            _ => {
                self.conflict.clear();
                self.conflict.push(l ^ 1);
                self.reasons(l, why);
                false
            }
        }
    }

    /// Takes back everything above a level.
    pub(super) fn back(&mut self, level: usize) {
        let Some(&(trail, events)) = self.marks.get(level) else { return };
        self.marks.truncate(level);
        for k in trail..self.trail.len() {
            let l = self.trail[k];
            self.phase[l as usize / 2] = l & 1 == 0;
            self.set(l, 0);
        }
        self.trail.truncate(trail);
        self.handled = trail;
        while self.events.len() > events {
            let Some(e) = self.events.pop() else { break };
            let before = self.events.get(e.before as usize).map_or(0, |b| b.value);
            self.bound[e.side][e.block as usize] = before;
            self.head[e.side][e.block as usize] = e.before;
            self.sets.truncate(e.set.0 as usize);
        }
        self.dirty.clear();
        self.is_dirty.iter_mut().for_each(|d| d.fill(false));
        self.watch.clear();
        self.is_watched.fill(false);
    }
}
