//! One partition: every way it can run a kernel, the fastest first, and what each decides (C9, C24, C28, C30).

use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic, Severity};
use warploom_ir::{Module, OpId, Opcode, ValueId};

use super::plan::{Plan, Work};
use super::price::cost_of;
use super::source::Source;
use super::types::{Moves, Partitions, Strategy};
use crate::buffers::draft::Wanted;
use crate::buffers::plan;
use crate::buffers::planned::Beside;
use crate::engines::{Products, asynchronous, misfits, shape, tensor};
use crate::expand::order;
use crate::layout::ProgramLayout;
use crate::loops::pipelined_loops;
use crate::names::name_once;
use crate::normalize::{
    block_scaled, chosen, descriptors, filled, induction, normalize, relaid, scaled, small, swapped, widened,
};
use crate::place::refuse;
use crate::storage::BUFFER;
use crate::transports::find::Found;
use crate::transports::{blocking, engine, find, operand_stores, operands, panels, turns};
use crate::waits;
use crate::walk::preorder;

/// A kernel in the form that one partition takes, and what changed on the way.
pub(super) struct Whole {
    kernel: Module,
    told: Vec<Diagnostic>,
}

impl Whole {
    /// Brings a kernel into that form: sums carried, scaled, narrow and small products rewritten.
    ///
    /// # Errors
    /// Scaled products without code, and places that the author gives (A44).
    pub fn new(source: &Source<'_>) -> Result<Whole, Vec<Diagnostic>> {
        Whole::from(source, source.kernel.clone())
    }

    /// The same where the tensor core scales products itself (C69); `None` where it scales none.
    ///
    /// # Errors
    /// The same.
    pub fn scaled_by_blocks(source: &Source<'_>) -> Result<Option<Whole>, Vec<Diagnostic>> {
        let mut kernel = source.kernel.clone();
        match block_scaled::lower(&mut kernel, source.func, source.target) {
            true => Whole::from(source, normalize(&kernel, source.func)?).map(Some),
            false => Ok(None),
        }
    }

    fn from(source: &Source<'_>, mut kernel: Module) -> Result<Whole, Vec<Diagnostic>> {
        let refusals: Vec<Diagnostic> = source.bound().into_iter().map(|op| unbound(source, op)).collect();
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let func = source.func;
        let rewritten = chosen::by_numbers(&mut kernel, func);
        induction::carry_sums(&mut kernel, func);
        let mut told = scaled::lower(&mut kernel, func, source.target)?;
        told.extend(widened::widen(&mut kernel, func, source.target));
        told.extend(small::by_lanes(&mut kernel, func));
        told.extend(misfits::by_lanes(&mut kernel, func, source.target));
        if rewritten || !told.is_empty() {
            kernel = normalize(&kernel, func)?;
        }
        Ok(Whole { kernel, told })
    }

    /// The best plan of one partition: by TMA where that can move its tiles, else through pointers; with asynchronous
    /// products where the chip and their operands allow them, `slow` ones aside, with none left unfinished where rings
    /// have no room for that, else with synchronous ones. What is in `out` was refused by our own checkers.
    ///
    /// # Errors
    /// Every reason why there is none, in file order (C90).
    pub fn best(&self, source: &Source<'_>, slow: bool, out: &[Strategy]) -> Result<Plan, Vec<Diagnostic>> {
        let native = source.target.mma_instruction();
        let blocks = self.has_blocks(source.func);
        let fast = native != MmaInstruction::MmaSync && !slow;
        let mut by_tma = None;
        match engine::may_move(&self.kernel, source.func, source.target) {
            Ok(false) => {}
            Err(why) => by_tma = Some(*why),
            Ok(true) => {
                // Products into tensor memory give their slots back by themselves, be it a trip later.
                let all: &[Option<u64>] = match (fast, native) {
                    _ if blocks => &[Some(1), Some(0)],
                    (true, MmaInstruction::Tcgen05) => &[Some(1), Some(0), None],
                    (true, _) => &[Some(0), None],
                    (false, _) => &[None],
                };
                match self.first(source, Moves::Tma, all, out) {
                    Err(errors) => by_tma = errors.into_iter().next(),
                    Ok(plan) => return Ok(self.or_by_lanes(source, plan, fast, out)),
                }
            }
        }
        let all: &[Option<u64>] = match fast {
            _ if blocks => &[Some(1), Some(0)],
            true => &[Some(1), Some(0), None],
            false => &[None],
        };
        let mut plan = self.first(source, Moves::Lanes, all, out)?;
        if let Some(why) = by_tma {
            match plan.remarks.iter_mut().find(|r| r.rule == Some("C17")) {
                Some(told) => told.notes.insert(0, ("TMA", why.message)),
                None => {
                    let message = format!("tiles go by pointers, not by TMA: {}", why.message);
                    plan.remarks.push(Diagnostic { severity: Severity::Remark, message, ..why });
                }
            }
        }
        Ok(plan)
    }

    /// Whether the tensor core scales products itself: none but its own instruction multiplies those.
    fn has_blocks(&self, func: OpId) -> bool {
        let blocks = |op: OpId| self.kernel.ops[op].opcode == Opcode::DotBlockScaled;
        preorder(&self.kernel, func).into_iter().any(blocks)
    }

    /// A plan by TMA, or one by pointers where that costs less: sums stay in tensor memory where none but products
    /// read what TMA brings. What the host passes decides for TMA.
    fn or_by_lanes(&self, source: &Source<'_>, by_tma: Plan, fast: bool, out: &[Strategy]) -> Plan {
        let body = self.kernel.entry(source.func, 0);
        let args = body.map(|body| self.kernel.blocks[body].args.as_slice()).unwrap_or_default();
        let host = args.iter().any(|&arg| self.kernel.ty(arg).is_desc());
        if host || !fast || source.target.mma_instruction() != MmaInstruction::Tcgen05 {
            return by_tma;
        }
        match self.first(source, Moves::Lanes, &[Some(1), Some(0)], out) {
            Ok(plan) if cost_of(&plan, source.options).cost() < cost_of(&by_tma, source.options).cost() => {
                plan
            }
            _ => by_tma,
        }
    }

    /// The first plan of those with so many unfinished products; none where products are synchronous.
    fn first(
        &self,
        source: &Source<'_>,
        moves: Moves,
        all: &[Option<u64>],
        out: &[Strategy],
    ) -> Result<Plan, Vec<Diagnostic>> {
        let (mut synchronous, mut bugs, mut refused) = (None, Vec::new(), Vec::new());
        for &pending in all {
            let products =
                pending.map_or(Products::Synchronous, |pending| Products::Asynchronous { pending });
            let strategy = Strategy::one(moves, products);
            let tight = Strategy { tight: true, ..strategy };
            let made = match self.plan_but(source, strategy, out) {
                Err(errors)
                    if (moves, pending) == (Moves::Lanes, None)
                        && errors.iter().all(|e| e.code == Code::Capacity) =>
                {
                    self.plan_but(source, tight, out).or(Err(errors))
                }
                made => made,
            };
            match made {
                Ok(mut plan) => {
                    plan.synchronous = synchronous.filter(|_| pending.is_none());
                    plan.remarks.extend(bugs);
                    return Ok(plan);
                }
                Err(errors) => {
                    if pending.is_some() {
                        synchronous = errors.first().map(|e| e.message.clone());
                    }
                    // What we made ourselves and our own checkers refuse is a bug of ours: the next way is taken, with
                    // a warning (Q5).
                    let bug = errors.iter().find(|e| e.code == Code::Internal);
                    bugs.extend(bug.map(|e| Diagnostic { severity: Severity::Warning, ..e.clone() }));
                    refused = errors;
                }
            }
        }
        Err(refused)
    }

    /// The plan of a strategy that is not in `out`.
    fn plan_but(
        &self,
        source: &Source<'_>,
        strategy: Strategy,
        out: &[Strategy],
    ) -> Result<Plan, Vec<Diagnostic>> {
        match out.contains(&strategy) {
            true => {
                let text = "this strategy gave a program that the checkers refuse";
                Err(vec![refuse(&self.kernel, source.func, Code::Op, text).rule("Q5")])
            }
            false => self.plan(source, strategy),
        }
    }

    /// Plans the kernel by one strategy.
    ///
    /// # Errors
    /// Every reason why it cannot be, in file order (C90).
    pub fn plan(&self, source: &Source<'_>, strategy: Strategy) -> Result<Plan, Vec<Diagnostic>> {
        let Source { func, target, .. } = *source;
        let (tight, products) = (strategy.tight, strategy.products);
        debug_assert_eq!(strategy.partitions, Partitions::One);
        let mut kernel = self.kernel.clone();
        let mut remarks = Vec::new();
        if strategy.moves == Moves::Lanes {
            remarks.extend(descriptors::lower(&mut kernel, func, target)?);
            // What the addresses are made of does not change from trip to trip either (C8).
            kernel = normalize(&kernel, func)?;
        }
        let by = match products {
            Products::Asynchronous { .. } => target.mma_instruction(),
            _ => MmaInstruction::MmaSync,
        };
        let swapped = swapped::swap(&mut kernel, func, by);
        if relaid::relay(&mut kernel, func, by) || swapped {
            kernel = normalize(&kernel, func)?;
        }
        if let Products::Asynchronous { pending } = products {
            let (found, _) = find::loops(&kernel, func, target);
            let operands = operands::operands(&kernel, func, &found, tight);
            if target.mma_instruction() == MmaInstruction::Tcgen05 {
                tensor::prepare(&mut kernel, func, &found, &operands);
            }
            for scf_for in pipelined_loops(&kernel, func) {
                let own = asynchronous::reads_own(&kernel, scf_for, &operands, target);
                waits::insert_lagging(&mut kernel, scf_for, if own { 0 } else { pending });
            }
        }
        let (mut found, mut stays) = find::loops(&kernel, func, target);
        if filled::behind_copies(&mut kernel, &found) {
            (found, stays) = find::loops(&kernel, func, target);
        }
        let blocking = operands::operands(&kernel, func, &found, tight);
        if induction::carry_copied(&mut kernel, &blocking) {
            (found, stays) = find::loops(&kernel, func, target);
        }
        name_once(&mut kernel, func);
        remarks.extend(stays);
        if !tight {
            return self.placed(source, strategy, kernel, (found, remarks));
        }
        let (fewer, dropped) = operands::alone(&kernel, func, &found);
        let all = self.placed(source, strategy, kernel.clone(), (found, remarks.clone()));
        all.or_else(|_| {
            remarks.extend(dropped);
            self.placed(source, strategy, kernel, (fewer, remarks))
        })
    }

    /// The same, for a kernel in the form that its strategy takes, whose loops bring these tiles.
    fn placed(
        &self,
        source: &Source<'_>,
        strategy: Strategy,
        kernel: Module,
        (mut found, mut remarks): (Vec<Found>, Vec<Diagnostic>),
    ) -> Result<Plan, Vec<Diagnostic>> {
        let Source { func, target, options, .. } = *source;
        let (tight, products) = (strategy.tight, strategy.products);
        let mut operands = operands::operands(&kernel, func, &found, tight);
        let mut shape = shape::choose(&kernel, func, target, products, &operands)?;
        if tight && shape.columns() > 1 {
            // Where several warps share a row, what would stay in registers is stored for each product.
            operands = operands::operands(&kernel, func, &found, false);
            operands.iter_mut().for_each(|operand| operand.at = operand.dot);
            shape = shape::choose(&kernel, func, target, products, &operands)?;
        }
        let widest = panels::widest(&kernel, &operands, &shape);
        let narrow = |tile: Option<ValueId>, swizzle: &mut u32| {
            let bytes = tile.and_then(|tile| widest.get(&tile));
            *swizzle = bytes.map_or(*swizzle, |&bytes| bytes.min(*swizzle));
        };
        for tile in found.iter_mut().flat_map(|f| &mut f.tiles).filter(|t| t.plan.is_none()) {
            narrow(kernel.result(tile.op), &mut tile.swizzle);
        }
        let (tensor, start) = tensor::plan(&kernel, func, shape.layout, &found, (shape.scratch, target))?;
        let (engine, start) = match strategy.moves {
            Moves::Tma => engine::find(&kernel, func, &found, target, start)?,
            Moves::Lanes => (engine::Engine::default(), start),
        };
        let (mut blocking, start) = blocking::find(&kernel, func, &operands, (start, tight));
        let (mut stored, taken) = operand_stores::find(&kernel, &found, (&operands, &shape), (start, tight))?;
        for tile in blocking.iter_mut().flat_map(|group| &mut group.tiles) {
            narrow(kernel.result(tile.op), &mut tile.swizzle);
        }
        for tile in stored.iter_mut().flat_map(|group| &mut group.tiles) {
            narrow(Some(tile.value), &mut tile.swizzle);
        }
        remarks.extend(shape::crowded(&kernel, func, &shape));
        let given = source.given.as_ref().map(|(_, given)| given.clone());
        let wanted =
            Wanted { kernel: &kernel, shape: &shape, target, options, taken, tensor: &tensor.clone(), given };
        let (mut planned, depths) =
            plan::plan(&wanted, found, Beside { blocking, stored, operands, engine, tensor })?;
        let buffers = planned.buffers.clone();
        remarks.extend(turns::told(&kernel, &planned.loops, target, options));
        remarks.extend(self.told.iter().cloned());
        let meetings = order::meetings(&kernel, func, &planned, &shape);
        let layout = ProgramLayout::expanded(&shape, &planned, !meetings.is_empty()).ok_or_else(|| {
            vec![Diagnostic::error(Code::Internal, "the assignment has no place for a value").rule("B10")]
        })?;
        let loops = std::mem::take(&mut planned.schedules);
        let work = Work::Expanded { shape, planned: Box::new(planned), meetings };
        Ok(Plan { strategy, kernel, func, loops, buffers, depths, layout, work, synchronous: None, remarks })
    }
}

/// One partition takes no places from the author yet (A44).
fn unbound(source: &Source<'_>, op: OpId) -> Diagnostic {
    let text = "one partition runs this kernel, and its buffers cannot be bound to leaves";
    let instead = format!("leave {BUFFER} away");
    refuse(source.written, op, Code::Op, text).rule("A44").note("instead", instead)
}
