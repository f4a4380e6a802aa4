//! Longest paths from single operations, at all IIs of a span (S19).

use crate::exact::span::Span;
use crate::model::problem::Problem;

/// The length of a path that there is not; sums of two of them do not overflow.
pub(super) const ABSENT: i64 = i64::MIN / 4;

/// Longest paths from single operations (S19).
pub(super) struct PathRuns<'p> {
    problem: &'p Problem,
    span: Span,
    reach: Vec<i64>,
}

impl<'p> PathRuns<'p> {
    pub fn new(problem: &'p Problem, span: Span) -> Self {
        PathRuns { problem, span, reach: vec![ABSENT; problem.n] }
    }

    /// From `v` to the members of its component; elsewhere meaningless.
    pub fn within_component(&mut self, v: u32) -> &[i64] {
        let g = &self.problem.dependences;
        let comp = g.comp[v as usize];
        if let Some(members) = g.component(comp) {
            members.iter().for_each(|&w| self.reach[w as usize] = ABSENT);
            self.reach[v as usize] = 0;
            self.settle(members);
        }
        &self.reach
    }

    /// From `v` to every operation.
    pub fn everywhere(&mut self, v: u32) -> &[i64] {
        self.reach.fill(ABSENT);
        self.reach[v as usize] = 0;
        let g = &self.problem.dependences;
        for members in g.components_from(g.comp[v as usize]) {
            if let [w] = *members {
                let from = self.reach[w as usize];
                if from > ABSENT {
                    self.relax(w as usize);
                }
            } else if members.iter().any(|&w| self.reach[w as usize] > ABSENT) {
                self.settle(members);
            }
        }
        &self.reach
    }

    fn settle(&mut self, members: &[u32]) {
        // The caller knows that no recurrence is positive, so this ends after at most one round per member.
        for _ in 0..=members.len() {
            let mut moved = false;
            for &w in members {
                if self.reach[w as usize] > ABSENT {
                    moved |= self.relax(w as usize);
                }
            }
            if !moved {
                break;
            }
        }
    }

    fn relax(&mut self, w: usize) -> bool {
        let g = &self.problem.dependences;
        let from = self.reach[w];
        let mut moved = false;
        for a in g.out(w) {
            let to = from + a.latency - self.span.most(a.distance);
            let slot = &mut self.reach[a.dst as usize];
            if to > *slot {
                *slot = to;
                moved |= g.comp[a.dst as usize] == g.comp[w];
            }
        }
        moved
    }
}

/// Longest paths from one operation to all others at this II; `None` where there is none.
pub(crate) fn path_lengths(problem: &Problem, ii: i64, from: u32) -> Vec<Option<i64>> {
    let mut runs = PathRuns::new(problem, Span::one(ii));
    runs.everywhere(from).iter().map(|&d| (d > ABSENT).then_some(d)).collect()
}
