//! Control flow: loops, conditionals, elected lanes, and what must be read before memory changes.

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::PhiValue;
use warploom_chips::Feature;
use warploom_ir::diag::Code;
use warploom_ir::{OpId, Opcode, ValueId};

use super::turns::Turn;
use super::value::{Bound, Flight, Form, Fragment};
use super::{Lower, Place};
use crate::error::{Result, internal, refuse};
use crate::family::Family;
use crate::llvm::{Val, as_int};

/// The shape of a value that is carried around a loop.
pub(super) enum Carried {
    Scalar,
    Fragment { family: Family, form: Form, registers: usize, flying: bool },
}

impl Carried {
    /// LLVM values that stand for it.
    fn registers(&self) -> usize {
        match self {
            Carried::Scalar => 1,
            Carried::Fragment { registers, .. } => *registers,
        }
    }
}

impl<'c> Lower<'c, '_> {
    /// `scf.for`, tested at the end; a guard before it handles zero trips (C7).
    pub(super) fn for_loop(&mut self, op: OpId, depth: u32) -> Result<()> {
        let module = self.module;
        let [lo, hi, step, inits @ ..] = module.ops[op].operands.as_slice() else {
            return Err(refuse(Code::Verify, "scf.for needs bounds and a step").into());
        };
        let (lo, hi, step) = (self.int(*lo)?, self.int(*hi)?, self.int(*step)?);
        let body = module.entry(op, 0).ok_or_else(|| internal("a loop without a body"))?;
        let [iv, args @ ..] = module.blocks[body].args.as_slice() else {
            return Err(refuse(Code::Verify, "scf.for needs an induction variable").into());
        };
        let yielded = self.yielded(op, 0)?;
        let results = module.ops[op].results.as_slice();
        if [args.len(), yielded.len(), results.len()].iter().any(|&n| n != inits.len()) {
            return Err(refuse(Code::Verify, "scf.for carries as many values as it yields").into());
        }
        let mut carried = Vec::new();
        let mut initial = Vec::new();
        for (&init, &arg) in inits.iter().zip(args) {
            let (shape, values) = self.flatten(init, arg)?;
            carried.push(shape);
            initial.extend(values);
        }
        let guard = self.ir.here()?;
        let (head, exit) = (self.ir.block(), self.ir.block());
        let some = self.ir.icmp(IntPredicate::SLT, lo, hi)?;
        self.open_front(op);
        let (none, unused) = self.way_out(&carried, &initial, (guard, exit), op)?;
        self.ir.seek(guard);
        self.ir.br_if(some, self.entry_of_loop(head), none)?;
        self.ir.seek(exit);
        let mut out = Vec::new();
        for value in &unused {
            let phi = self.ir.phi(value.get_type())?;
            phi.add_incoming(&[(value, if none == exit { guard } else { none })]);
            out.push(phi);
        }
        self.ir.seek(head);
        let counter = self.ir.phi(lo.get_type().into())?;
        let mut heads: Vec<PhiValue<'c>> = Vec::new();
        for value in &initial {
            heads.push(self.ir.phi(value.get_type())?);
        }
        let index = as_int(counter.as_basic_value())?;
        self.bound.insert(*iv, Bound::Scalar(index.into()));
        self.bind(args, &carried, &heads)?;
        self.perhaps_flying(args);
        let place = self.place;
        self.place = Place { trip: Some((index, lo, step)), ..place };
        let scope = self.enter();
        self.block(body, depth + 1)?;
        if yielded.iter().any(|v| matches!(self.bound.get(v), Some(Bound::Poison))) {
            // Said already; the loop cannot be closed.
            self.bound.extend(results.iter().map(|&v| (v, Bound::Poison)));
            self.front = None;
            self.leave(scope);
            self.place = place;
            self.ir.seek(exit);
            return Ok(());
        }
        let (mut last, mut yields) = (Vec::new(), Vec::new());
        for (&value, &arg) in yielded.iter().zip(args) {
            self.may_fly_on(value)?;
            let (shape, values) = self.flatten(value, arg)?;
            yields.push(shape);
            last.extend(values);
        }
        self.leave(scope);
        self.place = place;
        // `index + step < hi`, but the sum may overflow in the last trip: there is another one while
        // `hi - index > step`, and `hi > index` here.
        let more = if lo.get_sign_extended_constant().is_some_and(|lo| lo >= 0) && step.is_const() {
            let limit = self.ir.sub(hi, step)?;
            self.ir.icmp(IntPredicate::SLT, index, limit)?
        } else {
            let rest = self.ir.sub(hi, index)?;
            self.ir.icmp(IntPredicate::UGT, rest, step)?
        };
        let next = self.ir.add(index, step)?;
        let latch = self.ir.here()?;
        let (done, leaving) = self.way_out(&yields, &last, (latch, exit), op)?;
        self.ir.seek(latch);
        self.ir.br_if(more, head, done)?;
        let from = self.close_front(guard, head)?;
        counter.add_incoming(&[(&lo, from), (&next, latch)]);
        for ((first, value), phi) in initial.iter().zip(&last).zip(&heads) {
            phi.add_incoming(&[(first, from), (value, latch)]);
        }
        for (left, out) in leaving.iter().zip(&out) {
            out.add_incoming(&[(left, if done == exit { latch } else { done })]);
        }
        self.ir.seek(exit);
        if self.is_tight(op) {
            self.anew()?;
        }
        self.bind(results, &carried, &out)
    }

    /// Whether a loop has no room for places and pointers that are used on both sides of it: one of mma.sync, or one whose
    /// tiles leave few registers, where no trip of another loop would have to compute them again.
    fn is_tight(&self, op: OpId) -> bool {
        match self.place.family {
            _ if self.place.elected => false,
            Family::MmaSync(_) => true,
            _ => self.is_last_loop(op) && self.is_crowded(op),
        }
    }

    /// Whether no loop goes around another one or comes behind it.
    fn is_last_loop(&self, op: OpId) -> bool {
        let module = self.module;
        let loops = |op: OpId| matches!(module.ops[op].opcode, Opcode::For | Opcode::While);
        let mut around = std::iter::successors(module.parent(op), |&at| module.parent(at));
        let ops = module.ops[op].block.map(|block| module.blocks[block].ops.as_slice()).unwrap_or_default();
        let mut behind = ops.iter().rev().take_while(|&&later| later != op);
        !around.any(loops) && !behind.any(|&later| warploom_ir::walk::ops(module, later).any(loops))
    }

    /// Places and pointers are computed anew from the number of the thread from here on, instead of being kept from before a
    /// loop. Each lane sends itself its number, since LLVM takes two reads of it for one, and so does ptxas.
    fn anew(&mut self) -> Result<()> {
        let text = "{ .reg .b32 number, lane; mov.u32 number, %tid.x; mov.u32 lane, %laneid; \
                    shfl.sync.idx.b32 $0, number, lane, 31, -1; }";
        let number = self.ir.assembly(text, "=r", &[self.ir.i32().into()], &[], false)?;
        self.thread = as_int(number.ok_or_else(|| internal("an assembly without results"))?)?;
        self.memo.clear();
        Ok(())
    }

    /// The operands of the terminator of region `index`.
    pub(super) fn yielded(&self, op: OpId, index: usize) -> Result<Vec<ValueId>> {
        let block = self.module.entry(op, index).ok_or_else(|| internal("a region without a block"))?;
        let last = self.module.terminator(block).filter(|&t| self.module.ops[t].opcode == Opcode::Yield);
        Ok(last.map(|t| self.module.ops[t].operands.to_vec()).unwrap_or_default())
    }

    /// The LLVM values that stand for a value of the type of `like`.
    pub(super) fn flatten(&mut self, value: ValueId, like: ValueId) -> Result<(Carried, Vec<Val<'c>>)> {
        if self.module.ty(value) != self.module.ty(like) {
            let (found, needs) = (self.module.ty(value), self.module.ty(like));
            let text = format!("{found} is carried where {needs} is expected");
            return Err(refuse(Code::Verify, text).into());
        }
        if !self.module.ty(like).is_tensor() {
            return Ok((Carried::Scalar, vec![self.scalar(value)?]));
        }
        let fragment = self.fragment_like(value, like)?;
        let registers = fragment.registers.len();
        let (family, form, flying) = (fragment.family, fragment.form, fragment.flight.is_some());
        let shape = Carried::Fragment { family, form, registers, flying };
        Ok((shape, fragment.registers.to_vec()))
    }

    /// Where values leave a loop for `exit` from the block `from`: where products among them are in flight, over a
    /// block that waits. A wait behind the join would be reached without a product too, and ptxas takes that for
    /// a reason to run all products one by one (C7515). A turn that is passed right behind the loop is passed before that
    /// wait, so that products of another partition follow those in flight.
    fn way_out(
        &mut self,
        shapes: &[Carried],
        values: &[Val<'c>],
        (from, exit): (BasicBlock<'c>, BasicBlock<'c>),
        scf_for: OpId,
    ) -> Result<(BasicBlock<'c>, Vec<Val<'c>>)> {
        let flying = |shape: &Carried| matches!(shape, Carried::Fragment { flying: true, .. });
        let pass = self.pass_behind(scf_for)?;
        if !shapes.iter().any(flying) && pass.is_none() {
            return Ok((exit, values.to_vec()));
        }
        let block = self.ir.block();
        self.ir.seek(block);
        if let Some(pass) = pass {
            self.turn(pass, Turn::Pass)?;
        }
        let mut leaving = values.to_vec();
        let mut which = Vec::new();
        let mut first = 0;
        for shape in shapes {
            let count = shape.registers();
            if flying(shape) {
                which.extend(first..first + count);
            }
            first += count;
        }
        let waiting: Vec<Val<'c>> = which.iter().filter_map(|&i| values.get(i).copied()).collect();
        if !waiting.is_empty() {
            let done = self.wait_group(0, &waiting, &[])?;
            for (&i, &value) in which.iter().zip(done.iter()) {
                leaving[i] = value;
            }
        }
        self.ir.br(exit)?;
        self.ir.seek(from);
        Ok((block, leaving))
    }

    /// Whether a value may be in flight when the next trip starts: registers that its product reads would have to
    /// go around with it. That accumulators need no copies on the way is for the scan of the PTX to say.
    fn may_fly_on(&self, value: ValueId) -> Result<()> {
        match self.bound.get(&value) {
            Some(Bound::Fragment(Fragment { flight: Some(flight), .. })) if !flight.reads.is_empty() => {
                let text = "a product with an operand in registers is carried on unfinished";
                let fix = "warploom.mma_wait before the end of the trip";
                Err(refuse(Code::Verify, text).rule("C46").note("instead", fix).into())
            }
            _ => Ok(()),
        }
    }

    /// What a loop carries may be in flight when a trip starts: the trip before may have left it so. Only wgmma leaves
    /// registers in flight.
    fn perhaps_flying(&mut self, args: &[ValueId]) {
        if !self.ir.target.has(Feature::Wgmma) {
            return;
        }
        let number = self.products;
        for arg in args {
            if let Some(Bound::Fragment(fragment)) = self.bound.get_mut(arg)
                && matches!(fragment.form, Form::Tile { packed: false, .. })
                && matches!(fragment.family, Family::Wgmma(_))
                && fragment.registers.iter().all(|r| r.is_float_value())
            {
                fragment.flight = Some(Flight { number, reads: [].into() });
            }
        }
    }

    /// Binds values to the phis that stand for them.
    pub(super) fn bind(
        &mut self,
        values: &[ValueId],
        shapes: &[Carried],
        phis: &[PhiValue<'c>],
    ) -> Result<()> {
        let mut rest = phis;
        for (&value, shape) in values.iter().zip(shapes) {
            let count = shape.registers();
            let (own, others) = rest.split_at_checked(count).ok_or_else(|| internal("too few phis"))?;
            rest = others;
            let bound = match (shape, own) {
                (Carried::Scalar, [one]) => Bound::Scalar(one.as_basic_value()),
                (Carried::Fragment { family, form, .. }, own) => {
                    let registers = own.iter().map(|phi| phi.as_basic_value()).collect();
                    Bound::Fragment(Fragment::finished(*family, *form, registers))
                }
                _ => return Err(internal("a scalar is one phi")),
            };
            self.bound.insert(value, bound);
        }
        Ok(())
    }

    /// `scf.if`; both sides hold a tile that it yields in the same registers.
    pub(super) fn if_else(&mut self, op: OpId, depth: u32) -> Result<()> {
        let module = self.module;
        let cond = self.int(self.operand(op, 0)?)?;
        let results = module.ops[op].results.clone();
        let (then, otherwise, join) = (self.ir.block(), self.ir.block(), self.ir.block());
        self.ir.br_if(cond, then, otherwise)?;
        let mut sides = Vec::new();
        let mut shapes: Vec<Carried> = Vec::new();
        let products = self.products;
        let deferred = self.deferred();
        for (index, start) in [then, otherwise].into_iter().enumerate() {
            self.ir.seek(start);
            self.products = products;
            let mut values = Vec::new();
            let scope = self.enter();
            let yielded = match module.entry(op, index) {
                Some(block) => {
                    self.block(block, depth + 1)?;
                    self.yielded(op, index)?
                }
                None => Vec::new(),
            };
            if yielded.iter().any(|v| matches!(self.bound.get(v), Some(Bound::Poison))) {
                self.bound.extend(results.iter().map(|&v| (v, Bound::Poison)));
                self.leave(scope);
                self.defer_again(&deferred);
                self.ir.seek(join);
                return Ok(());
            }
            if yielded.len() != results.len() {
                return Err(refuse(Code::Verify, "scf.if yields as many values as it has results").into());
            }
            shapes.clear();
            for (&value, &result) in yielded.iter().zip(&results) {
                self.land(value)?;
                let (shape, own) = self.flatten(value, result)?;
                shapes.push(shape);
                values.extend(own);
            }
            self.leave(scope);
            self.defer_again(&deferred);
            sides.push((self.ir.here()?, values));
            self.ir.br(join)?;
        }
        self.ir.seek(join);
        let mut phis = Vec::new();
        let [(first, one), (second, other)] = sides.as_slice() else {
            return Err(internal("scf.if has two sides"));
        };
        if one.len() != other.len() {
            return Err(internal("the sides of scf.if hold different registers"));
        }
        for (a, b) in one.iter().zip(other) {
            let phi = self.ir.phi(a.get_type())?;
            phi.add_incoming(&[(a, *first), (b, *second)]);
            phis.push(phi);
        }
        self.bind(&results, &shapes, &phis)
    }
}
