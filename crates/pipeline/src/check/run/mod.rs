//! Running a program's handshakes: one operation of one warp at a time.

mod barriers;
mod drained;
mod groups;
mod stores;
mod tensor;
mod tiles;

use warploom_ir::{Attr, OpId, Opcode, ValueId};

use super::machine::Machine;
use super::model::Model;
use super::warp::{Frame, Val, Warp};
use super::{Report, Rule};

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The warp went on.
    Went,
    /// It waits.
    Waits,
    /// Its region has ended.
    Done,
    /// A rule was broken; it is in the report.
    Broken,
}

/// A run under way.
pub(super) struct Run<'m, 'r> {
    pub model: &'m Model<'m>,
    pub machine: Machine,
    pub warps: Vec<Warp>,
    /// Trips of every loop.
    trips: u64,
    pub report: &'r mut Report,
}

impl<'m, 'r> Run<'m, 'r> {
    /// A run with all loops taking `trips` trips.
    pub fn new(model: &'m Model<'m>, trips: u64, report: &'r mut Report) -> Run<'m, 'r> {
        let mut warps = Vec::new();
        let constants = constants(model);
        for (index, agent) in model.agents.iter().enumerate() {
            for number in 0..agent.warps {
                let mut warp = Warp::new(index, number == 0, agent.body, model.rings.len());
                warp.values.extend(constants.iter().copied());
                warps.push(warp);
            }
        }
        let machine = Machine::new(model, warps.len());
        Run { model, machine, warps, trips, report }
    }

    /// The operation a warp is at.
    fn current(&self, w: usize) -> Option<OpId> {
        let frame = self.warps.get(w)?.frames.last()?;
        self.model.module.blocks[frame.block].ops.get(frame.at).copied()
    }

    /// Where a warp is, for reports.
    pub fn place(&self, w: usize) -> String {
        match (self.current(w), self.warps.get(w)) {
            (Some(op), Some(warp)) => format!("warp {w} at {}", self.model.place(warp.agent, op)),
            _ => format!("warp {w} at its end"),
        }
    }

    fn broken(&mut self, w: usize, rule: Rule, message: impl Into<String>) -> Step {
        let at = self.place(w);
        self.report.add(rule, at, message);
        Step::Broken
    }

    /// Lets a warp take one step.
    pub fn step(&mut self, w: usize) -> Step {
        let Some(op) = self.current(w) else { return self.leave(w) };
        let step = self.execute(w, op);
        if step == Step::Went && self.current(w) == Some(op) {
            self.advance_pc(w);
        }
        step
    }

    fn advance_pc(&mut self, w: usize) {
        if let Some(frame) = self.warps.get_mut(w).and_then(|warp| warp.frames.last_mut()) {
            frame.at += 1;
        }
    }

    /// The end of a block without a terminator that does something.
    fn leave(&mut self, w: usize) -> Step {
        let Some(warp) = self.warps.get_mut(w) else { return Step::Done };
        warp.frames.pop();
        match warp.frames.last_mut() {
            Some(frame) => {
                frame.at += 1;
                Step::Went
            }
            None => Step::Done,
        }
    }

    fn execute(&mut self, w: usize, op: OpId) -> Step {
        match self.model.module.ops[op].opcode {
            Opcode::For => self.enter_loop(w, op),
            Opcode::Yield => self.next_trip(w, op),
            Opcode::Elect => self.elect(w, op),
            Opcode::If | Opcode::While => {
                self.broken(w, Rule::Form, "control flow that the checker cannot follow")
            }
            Opcode::ProducerAcquire => self.wait_for(w, op, false),
            Opcode::ConsumerWait => self.wait_for(w, op, true),
            Opcode::ProducerCommit => self.commit(w, op),
            Opcode::ConsumerRelease => self.release(w, op),
            Opcode::Advance => self.advance(w, op),
            Opcode::TmaLoad => self.load(w, op),
            Opcode::Slot => self.slot(w, op),
            Opcode::Dot if self.multiplies_at_once(w) => self.plain(w, op),
            Opcode::Dot => self.product(w, op),
            Opcode::Mma => self.issue(w, op),
            Opcode::AsyncCopy => self.async_copy(w, op),
            Opcode::AsyncCommit => self.async_commit(w),
            Opcode::AsyncWait => self.async_wait(w, op),
            Opcode::MmaWait => self.retire(w, op),
            Opcode::TileStore => self.tile_store(w, op),
            Opcode::ProxyFence => self.fence(w),
            Opcode::BarrierSync => self.sync(w, op),
            Opcode::TmaStore => self.store(w, op),
            Opcode::StoreCommit => {
                if let Some(warp) = self.warps.get_mut(w) {
                    let group = std::mem::take(&mut warp.open_stores);
                    warp.stores.push_back(group);
                }
                Step::Went
            }
            Opcode::StoreWait => self.store_wait(w, op),
            _ => self.plain(w, op),
        }
    }

    // ---- values ----

    fn value(&self, w: usize, value: ValueId) -> Val {
        self.warps.get(w).map_or(Val::Other, |warp| warp.value(value))
    }

    fn set(&mut self, w: usize, value: ValueId, to: Val) {
        if let Some(warp) = self.warps.get_mut(w) {
            warp.values.insert(value, to);
        }
    }

    fn integer(&self, w: usize, op: OpId, index: usize) -> Option<u64> {
        match self.value(w, self.model.operand(op, index)?) {
            Val::Int(v) => u64::try_from(v).ok(),
            _ => None,
        }
    }

    /// Ring, slot and phase that an operation names.
    fn iterator(&mut self, w: usize, op: OpId) -> Option<(usize, u64, u64)> {
        let ring = self.model.ring(op)?;
        let depth = self.model.rings.get(ring)?.depth;
        let slot_operand = usize::from(self.model.module.ops[op].opcode == Opcode::TileStore);
        let slot = self.integer(w, op, slot_operand);
        let phase = self.integer(w, op, 1).unwrap_or(0);
        match slot.filter(|&s| s < depth) {
            Some(slot) => Some((ring, slot, phase)),
            None => {
                self.broken(w, Rule::Form, format!("slot {slot:?} of {depth}"));
                None
            }
        }
    }

    // ---- control ----

    fn enter_loop(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let data = &module.ops[op];
        let initial: Vec<Val> = data.operands.iter().skip(3).map(|&v| self.value(w, v)).collect();
        let Some(body) = module.entry(op, 0).filter(|_| self.trips > 0) else {
            for (&result, val) in data.results.iter().zip(initial) {
                self.set(w, result, val);
            }
            return Step::Went;
        };
        for (&arg, val) in module.blocks[body].args.iter().skip(1).zip(initial) {
            self.set(w, arg, val);
        }
        if let Some(warp) = self.warps.get_mut(w) {
            warp.frames.push(Frame { block: body, at: 0, scf_for: Some((op, 0)) });
        }
        Step::Went
    }

    fn next_trip(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let values: Vec<Val> = module.ops[op].operands.iter().map(|&v| self.value(w, v)).collect();
        let Some((scf_for, trip)) = self.warps.get(w).and_then(|x| x.frames.last()).and_then(|f| f.scf_for)
        else {
            return self.broken(w, Rule::Form, "a yield outside a loop");
        };
        let last = trip + 1 == self.trips;
        let targets: Vec<ValueId> = match (last, module.entry(scf_for, 0)) {
            (false, Some(body)) => module.blocks[body].args.iter().copied().skip(1).collect(),
            _ => module.ops[scf_for].results.to_vec(),
        };
        for (target, val) in targets.into_iter().zip(values) {
            self.set(w, target, val);
        }
        if let Some(warp) = self.warps.get_mut(w) {
            if last {
                warp.frames.pop();
                if let Some(frame) = warp.frames.last_mut() {
                    frame.at += 1;
                }
            } else if let Some(frame) = warp.frames.last_mut() {
                frame.at = 0;
                frame.scf_for = Some((scf_for, trip + 1));
            }
        }
        Step::Went
    }

    fn elect(&mut self, w: usize, op: OpId) -> Step {
        let body = self.model.module.entry(op, 0);
        if let (Some(warp), Some(block)) = (self.warps.get_mut(w).filter(|warp| warp.first), body) {
            warp.frames.push(Frame { block, at: 0, scf_for: None });
        }
        Step::Went
    }
}

/// The integer constants of the function.
fn constants(model: &Model<'_>) -> Vec<(ValueId, Val)> {
    let shared = model.module.blocks[model.body].ops.iter().copied();
    let inner = model.agents.iter().flat_map(|a| a.ops.iter().map(|p| p.op));
    shared
        .chain(inner)
        .filter(|&op| model.module.ops[op].opcode == Opcode::Constant)
        .filter_map(|op| {
            let value = model.module.attr(op, "value").and_then(Attr::as_i64)?;
            Some((model.module.result(op)?, Val::Int(value)))
        })
        .collect()
}
