//! Smaller problems.

use proptest::strategy::ValueTree;
use warploom_bufassign::pack::PackProblem;
use warploom_bufassign::{AssignOptions, Problem, Repeat};

/// Something that can be made smaller in numbered ways.
pub trait Shrink: Clone {
    /// The `i`-th way: outer `None` when there are no more, inner where it changes nothing.
    fn smaller(&self, i: usize) -> Option<Option<Self>>;
}

/// An input that failed, and the smaller ones to try.
#[derive(Clone, Debug)]
pub struct ShrinkTree<T> {
    best: T,
    tried: Option<T>,
    /// The next way to try.
    next: usize,
}

impl<T> ShrinkTree<T> {
    /// Starts from this input, wherever it comes from.
    pub fn new(input: T) -> Self {
        ShrinkTree { best: input, tried: None, next: 0 }
    }
}

impl<T: Shrink + std::fmt::Debug> ValueTree for ShrinkTree<T> {
    type Value = T;

    fn current(&self) -> T {
        self.tried.as_ref().unwrap_or(&self.best).clone()
    }

    fn simplify(&mut self) -> bool {
        if let Some(smaller) = self.tried.take() {
            // It still failed; what took the place of the part taken away is tried next.
            self.best = smaller;
            self.next -= 1;
        }
        while let Some(candidate) = self.best.smaller(self.next) {
            self.next += 1;
            if let Some(smaller) = candidate {
                self.tried = Some(smaller);
                return true;
            }
        }
        false
    }

    fn complicate(&mut self) -> bool {
        self.tried.take().is_some()
    }
}

/// Which of several lists of ways a number falls into.
struct Ways(usize);

impl Ways {
    fn within(&mut self, count: usize) -> Option<usize> {
        let found = (self.0 < count).then_some(self.0);
        self.0 = self.0.saturating_sub(count);
        found
    }
}

impl Shrink for Problem {
    fn smaller(&self, i: usize) -> Option<Option<Problem>> {
        let mut p = self.clone();
        let mut ways = Ways(i);
        if let Some(v) = ways.within(p.values.len()) {
            let gone = p.values.remove(v).id;
            p.values.retain(|w| w.view_of != Some(gone));
            return Some(Some(p));
        }
        if let Some(o) = ways.within(p.ops.len()) {
            let gone = p.ops.remove(o).id;
            let used = p.values.iter().any(|v| v.producer.is_some_and(|w| w.op == gone));
            p.values.iter_mut().for_each(|v| v.consumers.retain(|c| c.op != gone));
            p.edges.retain(|e| e.src != gone && e.dst != gone);
            return Some((!used).then_some(p));
        }
        let uses: usize = p.values.iter().map(|v| v.consumers.len()).sum();
        if let Some(mut u) = ways.within(uses) {
            for value in &mut p.values {
                if u < value.consumers.len() {
                    value.consumers.remove(u);
                    break;
                }
                u -= value.consumers.len();
            }
            return Some(Some(p));
        }
        if let Some(e) = ways.within(p.edges.len()) {
            p.edges.remove(e);
            return Some(Some(p));
        }
        if let Some(r) = ways.within(p.reserved.len()) {
            p.reserved.remove(r);
            return Some(Some(p));
        }
        if let Some(r) = ways.within(p.regions.len()) {
            let gone = p.regions.remove(r).id;
            let used = p.ops.iter().any(|o| o.region == Some(gone));
            return Some((!used).then_some(p));
        }
        if let Some(flag) = ways.within(2) {
            match flag {
                0 => p.options = AssignOptions::default(),
                _ => p.repeat = Repeat::None,
            }
            return Some((p != *self).then_some(p));
        }
        let flags = 4;
        if let Some(f) = ways.within(flags * p.values.len()) {
            let value = &mut p.values[f / flags];
            match f % flags {
                0 => value.live_out = false,
                1 => value.live_in = false,
                2 => value.init = false,
                _ => value.warp_local = false,
            }
            return Some((p != *self).then_some(p));
        }
        let number = ways.0;
        let number = numbers(&mut p).into_iter().nth(number)?;
        *number /= 2;
        Some((p != *self).then_some(p))
    }
}

/// Numbers of a problem that may be halved.
fn numbers(p: &mut Problem) -> Vec<&mut u64> {
    let ops = p.ops.iter_mut().flat_map(|o| [&mut o.latency, &mut o.stage]);
    let shapes = p.values.iter_mut().flat_map(|v| v.shape.iter_mut());
    let regions = p.regions.iter_mut().filter_map(|r| r.stages.as_mut());
    ops.chain(shapes).chain(regions).collect()
}

impl Shrink for PackProblem {
    fn smaller(&self, i: usize) -> Option<Option<PackProblem>> {
        let mut p = self.clone();
        let mut ways = Ways(i);
        if let Some(k) = ways.within(p.items.len()) {
            p.items.remove(k);
            let up = |at: &mut usize| *at -= usize::from(*at > k);
            p.separations.retain(|s| s.0 != k && s.1 != k);
            for (a, b) in &mut p.separations {
                up(a);
                up(b);
            }
            for group in &mut p.colocations {
                group.retain(|&at| at != k);
                group.iter_mut().for_each(up);
            }
            return Some(Some(p));
        }
        if let Some(k) = ways.within(p.separations.len()) {
            p.separations.remove(k);
            return Some(Some(p));
        }
        if let Some(k) = ways.within(p.colocations.len()) {
            p.colocations.remove(k);
            return Some(Some(p));
        }
        if let Some(k) = ways.within(p.reserved.len()) {
            p.reserved.remove(k);
            return Some(Some(p));
        }
        if let Some(k) = ways.within(p.items.len()) {
            p.items[k].align = 1;
            return Some((p != *self).then_some(p));
        }
        let at = ways.0;
        let sizes = p.items.iter_mut().map(|i| &mut i.size);
        *sizes.chain(p.capacity.as_mut()).nth(at)? /= 2;
        Some((p != *self).then_some(p))
    }
}
