//! Results on their way out: tile writes, fences, named barriers, copies to global memory.

use warploom_ir::{Attr, OpId};

use super::{Run, Step};
use crate::check::report::Rule;

impl Run<'_, '_> {
    pub(super) fn tile_store(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, payload, place)) = self.payload_place(w, op) else { return Step::Broken };
        let read = self.plain(w, op);
        if read != Step::Went {
            return read;
        }
        if self.is_grouped(ring) {
            return self.store_part(w, (ring, payload), place);
        }
        if self.model.rings.get(ring).is_some_and(|r| r.tensor) {
            return self.write_rows(w, ring, place);
        }
        if let Some(broken) = self.writable(w, place) {
            return broken;
        }
        self.machine.spoil(place);
        self.machine.written.insert((place, w), false);
        Step::Went
    }

    pub(super) fn fence(&mut self, w: usize) -> Step {
        if let Some(warp) = self.warps.get_mut(w) {
            warp.read_unfenced.clear();
        }
        for (_, fenced) in self.machine.written.iter_mut().filter(|((_, writer), _)| *writer == w) {
            *fenced = true;
        }
        self.fence_parts(w);
        Step::Went
    }

    pub(super) fn sync(&mut self, w: usize, op: OpId) -> Step {
        let Some(index) = self.model.barrier(op) else {
            return self.broken(w, Rule::Form, "names no barrier");
        };
        let threads = self.model.barriers.get(index).map_or(0, |b| b.threads);
        self.meet(w, index, threads)
    }

    /// Comes to a named barrier and waits for all `threads`.
    pub(super) fn meet(&mut self, w: usize, index: usize, threads: u64) -> Step {
        let (Some(warp), Some(named)) = (self.warps.get_mut(w), self.machine.named.get_mut(index)) else {
            return Step::Done;
        };
        let generation = match warp.at_barrier {
            Some((_, generation)) => generation,
            None => {
                let generation = named.generation;
                named.arrived += 32;
                let complete = named.arrived >= threads;
                if complete {
                    named.arrived -= threads;
                    named.generation += 1;
                }
                warp.at_barrier = Some((index, generation));
                if complete {
                    let here = |x: &super::super::warp::Warp| x.at_barrier == Some((index, generation));
                    let met: Vec<usize> =
                        self.warps.iter().enumerate().filter(|(_, x)| here(x)).map(|(u, _)| u).collect();
                    self.publish(&met);
                    if let Some(warp) = self.warps.get_mut(w) {
                        warp.at_barrier = None;
                    }
                    return Step::Went;
                }
                generation
            }
        };
        if named.generation == generation {
            return Step::Waits;
        }
        warp.at_barrier = None;
        Step::Went
    }

    pub(super) fn store(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, _, place)) = self.payload_place(w, op) else { return Step::Broken };
        let writers = self.writers(ring);
        if writers.is_empty() {
            return self.broken(w, Rule::Read, "stores a tile that nobody writes");
        }
        for writer in writers {
            match self.machine.written.get(&(place, writer)) {
                Some(true) => {}
                Some(false) => {
                    let text = format!("what warp {writer} wrote is not fenced for the copy engine");
                    return self.broken(w, Rule::Fence, text);
                }
                None => {
                    let text = format!("warp {writer} has not written its part of the tile");
                    return self.broken(w, Rule::Read, text);
                }
            }
        }
        if let Some(warp) = self.warps.get_mut(w) {
            warp.open_stores.push(place);
            warp.sent_by.extend(self.model.operand(op, 1));
        }
        Step::Went
    }

    pub(super) fn store_wait(&mut self, w: usize, op: OpId) -> Step {
        let pending = self.model.number(op, "pending").unwrap_or(u64::MAX);
        let mut finished = Vec::new();
        let read = matches!(self.model.module.attr(op, "read"), Some(Attr::Bool(true) | Attr::Unit));
        if let Some(warp) = self.warps.get_mut(w) {
            if pending == 0 && !read {
                warp.sent_by.clear();
            }
            while warp.stores.len() as u64 > pending {
                finished.extend(warp.stores.pop_front().into_iter().flatten());
            }
        }
        for place in finished {
            self.machine.written.retain(|(written, _), _| *written != place);
        }
        Step::Went
    }

    /// A tensor map made anew: no copy may go by the old one any more.
    pub(super) fn make_map(&mut self, w: usize, op: OpId) -> Step {
        let step = self.plain(w, op);
        let first = self.warps.get(w).is_some_and(|warp| warp.first);
        let Some(map) = self.model.module.result(op).filter(|_| first) else { return step };
        let loads = self.machine.copies.iter().any(|copy| copy.map == Some(map));
        if loads || self.warps.iter().any(|warp| warp.sent_by.contains(&map)) {
            let what = if loads { "load" } else { "store" };
            let text = format!("makes a tensor map anew that a {what} under way goes by");
            return self.broken(w, Rule::Overwrite, text);
        }
        step
    }
}
