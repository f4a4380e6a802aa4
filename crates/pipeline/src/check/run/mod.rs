//! Running a program's handshakes: one operation of one warp at a time.

mod barriers;
mod drained;
mod groups;
mod rows;
mod sampled;
mod scalars;
mod skips;
mod stores;
mod tensor;
mod tiles;
mod turns;
mod whiles;

use warploom_ir::{OpId, Opcode, SecondaryMap, ValueId};

use super::machine::Machine;
use super::model::Model;
use super::report::{Report, Rule};
use super::warp::{Frame, Trip, Val, Warp};
pub(super) use scalars::{Inputs, divisor};

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
    inputs: Inputs,
    /// Warps that wait, and would wait again: no barrier has moved on since they were asked.
    asleep: Vec<bool>,
    /// Trips of each loop as it was entered.
    pub entered: Vec<(usize, u64)>,
    /// A loop has more trips than a run can take, or undefined ones; nothing follows from it.
    pub too_long: bool,
    pub report: &'r mut Report,
}

impl<'m, 'r> Run<'m, 'r> {
    /// A run on these inputs.
    pub fn new(model: &'m Model<'m>, inputs: Inputs, report: &'r mut Report) -> Run<'m, 'r> {
        let mut warps = Vec::new();
        let constants = known(model, &inputs);
        for (index, partition) in model.partitions.iter().enumerate() {
            for number in 0..partition.warps {
                let mut warp = Warp::new(index, number == 0, partition.body, model.rings.len());
                warp.values.clone_from(&constants);
                warps.push(warp);
            }
        }
        let machine = Machine::new(model, warps.len());
        let asleep = vec![false; warps.len()];
        Run { model, machine, warps, inputs, asleep, entered: Vec::new(), too_long: false, report }
    }

    /// The operation a warp is at.
    fn current(&self, w: usize) -> Option<OpId> {
        let frame = self.warps.get(w)?.frames.last()?;
        self.model.active[frame.block].get(frame.at).copied()
    }

    /// Where a warp is, for reports.
    pub fn place(&self, w: usize) -> String {
        match (self.current(w), self.warps.get(w)) {
            (Some(op), Some(warp)) => format!("warp {w} at {}", self.model.place(warp.partition, op)),
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
        if self.asleep.get(w).is_some_and(|&asleep| asleep) {
            return Step::Waits;
        }
        let Some(op) = self.current(w) else { return self.leave(w) };
        let step = self.execute(w, op);
        let opcode = self.model.module.ops[op].opcode;
        if moves_barriers(opcode) {
            self.wake();
        }
        match step {
            // A yield has gone on by itself, to itself where a loop has nothing else.
            Step::Went if opcode != Opcode::Yield && self.current(w) == Some(op) => self.advance_pc(w),
            Step::Waits => {
                if let Some(asleep) = self.asleep.get_mut(w) {
                    *asleep = true;
                }
            }
            _ => {}
        }
        step
    }

    /// Asks every warp again whether it waits: a barrier may have moved on.
    pub fn wake(&mut self) {
        self.asleep.fill(false);
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
            Opcode::Yield if self.in_while(w) => self.again(w, op),
            Opcode::Yield => self.next_trip(w, op),
            Opcode::Elect => self.elect(w, op),
            Opcode::If => self.choose(w, op),
            Opcode::While => self.enter_while(w, op),
            Opcode::Condition => self.condition(w, op),
            Opcode::ProducerAcquire => self.wait_for(w, op, false),
            Opcode::ConsumerWait => self.wait_for(w, op, true),
            Opcode::ProducerCommit => self.commit(w, op),
            Opcode::ConsumerRelease => self.release(w, op),
            Opcode::Advance => self.advance(w, op),
            Opcode::MakeTensorDescriptor => self.make_map(w, op),
            Opcode::TmaLoad => self.load(w, op),
            Opcode::Slot => self.slot(w, op),
            Opcode::Dot if self.multiplies_at_once(w) => self.plain(w, op),
            Opcode::Dot => self.product(w, op),
            Opcode::Mma | Opcode::MmaBlockScaled => self.issue(w, op),
            Opcode::AsyncCopy => self.async_copy(w, op),
            Opcode::AsyncCommit => self.async_commit(w),
            Opcode::AsyncWait => self.async_wait(w, op),
            Opcode::MmaWait => self.retire(w, op),
            Opcode::TileStore => self.tile_store(w, op),
            Opcode::ProxyFence => self.fence(w),
            Opcode::BarrierSync => self.sync(w, op),
            Opcode::TurnTake => self.take_turn(w, op),
            Opcode::TurnPass => self.pass_turn(w, op),
            Opcode::TmaStore => self.store(w, op),
            Opcode::StoreCommit => {
                if let Some(warp) = self.warps.get_mut(w) {
                    let group = std::mem::take(&mut warp.open_stores);
                    warp.stores.push_back(group);
                }
                Step::Went
            }
            Opcode::StoreWait => self.store_wait(w, op),
            _ => self.compute(w, op),
        }
    }

    // ---- values ----

    fn value(&self, w: usize, value: ValueId) -> Val {
        self.warps.get(w).map_or(Val::Other, |warp| warp.value(value))
    }

    fn set(&mut self, w: usize, value: ValueId, to: Val) {
        if let Some(warp) = self.warps.get_mut(w) {
            warp.values[value] = to;
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

    /// Scalars have values, so that loops and branches can be followed; anything else only reads what it reads.
    fn compute(&mut self, w: usize, op: OpId) -> Step {
        let known = match self.asks(op) {
            true => None,
            false => self.inputs.result(self.model.module, op, |v| self.value(w, v)),
        };
        if known.is_none() {
            self.sample(w, op);
        }
        let step = self.plain(w, op);
        if let (Some(val), Some(&result)) = (known, self.model.module.ops[op].results.first()) {
            self.set(w, result, val);
        }
        step
    }

    fn enter_loop(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let data = &module.ops[op];
        let initial = match self.carried(w, data.operands.get(3..).unwrap_or_default()) {
            Ok(initial) => initial,
            Err(broken) => return broken,
        };
        let bounds: Vec<Val> = data.operands.iter().take(3).map(|&v| self.value(w, v)).collect();
        let (lower, upper, step) = match *bounds.as_slice() {
            [Val::Int(lower), Val::Int(upper), Val::Int(step)] if step > 0 => (lower, upper, step),
            // What the kernel leaves undefined says nothing about the program (C7).
            [Val::Int(_) | Val::Undefined, Val::Int(_) | Val::Undefined, Val::Int(_) | Val::Undefined] => {
                self.too_long = true;
                return Step::Broken;
            }
            _ => return self.broken(w, Rule::Form, "the bounds of the loop cannot be computed"),
        };
        let span = u64::try_from(upper.saturating_sub(lower)).unwrap_or(0);
        let of = span.div_ceil(step.unsigned_abs());
        if of > MOST_TRIPS {
            self.too_long = true;
            return Step::Broken;
        }
        if self.warps.get(w).is_some_and(|warp| warp.first) {
            self.entered.push((w, of));
        }
        let Some(body) = module.entry(op, 0).filter(|_| of > 0) else {
            for (&result, val) in data.results.iter().zip(initial) {
                self.set(w, result, val);
            }
            return Step::Went;
        };
        let trip = Trip { op, number: 0, of, lower, step };
        for (&arg, val) in
            module.blocks[body].args.iter().zip(std::iter::once(trip.induction()).chain(initial))
        {
            self.set(w, arg, val);
        }
        if let Some(warp) = self.warps.get_mut(w) {
            warp.frames.push(Frame { block: body, at: 0, scf_for: Some(trip), scf_if: None });
        }
        Step::Went
    }

    /// Enters the branch that the condition says.
    fn choose(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let condition = self.model.operand(op, 0).map(|v| self.value(w, v));
        if condition == Some(Val::Undefined) {
            self.too_long = true;
            return Step::Broken;
        }
        let Some(Val::Int(condition)) = condition else {
            return self.broken(w, Rule::Form, "the condition of the branch cannot be computed");
        };
        let branch = usize::from(condition == 0);
        let block = module.entry(op, branch).filter(|_| branch < module.ops[op].regions.len());
        if let (Some(block), Some(warp)) = (block, self.warps.get_mut(w)) {
            warp.frames.push(Frame { block, at: 0, scf_for: None, scf_if: Some(op) });
        }
        Step::Went
    }

    /// The end of a trip or branch.
    fn next_trip(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let values = match self.carried(w, &module.ops[op].operands) {
            Ok(values) => values,
            Err(broken) => return broken,
        };
        let frame = self.warps.get(w).and_then(|x| x.frames.last()).cloned();
        let (targets, again): (Vec<ValueId>, Option<Trip>) = match frame.map(|f| (f.scf_for, f.scf_if)) {
            Some((Some(trip), _)) if trip.number + 1 < trip.of => {
                let args =
                    module.entry(trip.op, 0).map(|b| module.blocks[b].args.clone()).unwrap_or_default();
                let next = Trip { number: trip.number + 1, ..trip };
                if let Some(&induction) = args.first() {
                    self.set(w, induction, next.induction());
                }
                (args.into_iter().skip(1).collect(), Some(next))
            }
            Some((Some(trip), _)) => (module.ops[trip.op].results.to_vec(), None),
            Some((None, Some(branch))) => (module.ops[branch].results.to_vec(), None),
            _ => return self.broken(w, Rule::Form, "a yield outside a loop or branch"),
        };
        for (target, val) in targets.into_iter().zip(values) {
            self.set(w, target, val);
        }
        if let Some(warp) = self.warps.get_mut(w) {
            if again.is_none() {
                warp.frames.pop();
            }
            if let Some(frame) = warp.frames.last_mut() {
                match again {
                    Some(next) => (frame.at, frame.scf_for) = (0, Some(next)),
                    None => frame.at += 1,
                }
            }
        }
        Step::Went
    }

    fn elect(&mut self, w: usize, op: OpId) -> Step {
        let body = self.model.module.entry(op, 0);
        if let (Some(warp), Some(block)) = (self.warps.get_mut(w).filter(|warp| warp.first), body) {
            warp.frames.push(Frame { block, at: 0, scf_for: None, scf_if: None });
        }
        Step::Went
    }
}

/// Whether an operation can let others go on that wait at a barrier. What copies and products do to barriers they do when
/// they land.
fn moves_barriers(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, ProducerCommit | ConsumerRelease | BarrierSync | TurnTake | TurnPass)
}

/// More trips than a run of any trip count of C28 needs.
const MOST_TRIPS: u64 = 1 << 10;

/// The arguments and scalars of the function that all partitions may use.
fn known(model: &Model<'_>, inputs: &Inputs) -> SecondaryMap<ValueId, Val> {
    let module = model.module;
    let mut values: SecondaryMap<ValueId, Val> = SecondaryMap::new();
    for (key, &arg) in (0u64..).zip(&module.blocks[model.body].args) {
        values[arg] = inputs.argument(module.ty(arg), key);
    }
    for &op in &module.blocks[model.body].ops {
        let val = inputs.result(module, op, |v| values[v]);
        if let (Some(result), Some(val)) = (module.result(op), val) {
            values[result] = val;
        }
    }
    values
}
