//! `warploom.mma_wait`: accumulators pass through the wait for their products (C30, C46).

use std::rc::Rc;

use inkwell::types::BasicTypeEnum;
use warploom_ir::diag::Code;
use warploom_ir::{OpId, ValueId};

use super::Lower;
use super::mma::tied;
use super::value::{Bound, Flight, Form, Fragment};
use crate::error::{Result, internal, refuse};
use crate::llvm::Val;

impl<'c> Lower<'c, '_> {
    /// `warploom.mma_wait`: the accumulators pass through the wait, so that no use of them can come
    /// before it (C46).
    pub(super) fn mma_wait(&mut self, op: OpId) -> Result<()> {
        let module = self.module;
        let pending = self.count(op, "pending")?;
        if pending > 7 {
            return Err(refuse(Code::Verify, format!("a wait for all but {pending} groups"))
                .rule("C30")
                .into());
        }
        let operands = &module.ops[op].operands;
        let results = &module.ops[op].results;
        if operands.len() != results.len() {
            return Err(refuse(Code::Verify, "warploom.mma_wait passes every operand through")
                .rule("C46")
                .into());
        }
        let mut fragments = Vec::new();
        for &operand in operands {
            match self.bound.get(&operand) {
                Some(Bound::Fragment(fragment)) if matches!(fragment.form, Form::Tile { .. }) => {
                    fragments.push(fragment.clone());
                }
                _ => {
                    return Err(refuse(Code::Verify, "warploom.mma_wait of a value that is no dot")
                        .rule("C46")
                        .into());
                }
            }
        }
        if fragments.iter().all(|fragment| fragment.flight.is_none()) {
            for (fragment, &result) in fragments.into_iter().zip(results) {
                self.bound.insert(result, Bound::Fragment(fragment));
            }
            return Ok(());
        }
        self.stay_behind(&fragments)?;
        let registers: Vec<Val<'c>> = fragments.iter().flat_map(|f| f.registers.iter().copied()).collect();
        let flights = fragments.iter().filter_map(|fragment| fragment.flight.as_ref());
        let reads: Vec<Val<'c>> = flights.flat_map(|flight| flight.reads.iter().copied()).collect();
        let all = self.wait_group(pending, &registers, &reads)?;
        let mut rest = &all[..];
        for (fragment, &result) in fragments.iter().zip(results) {
            let split = rest.split_at_checked(fragment.registers.len());
            let (own, others) = split.ok_or_else(|| internal("too few registers"))?;
            rest = others;
            let flying = |flight: &Flight| self.products - flight.number < pending;
            let flight = fragment.flight.clone().filter(flying);
            let fragment = Fragment { registers: own.into(), flight, ..fragment.clone() };
            self.bound.insert(result, Bound::Fragment(fragment));
        }
        Ok(())
    }

    /// Waits until at most `pending` groups are unfinished. Accumulators pass through; what an unfinished product
    /// reads stays where it is until then.
    pub(super) fn wait_group(
        &mut self,
        pending: u64,
        accumulators: &[Val<'c>],
        reads: &[Val<'c>],
    ) -> Result<Rc<[Val<'c>]>> {
        let types: Vec<BasicTypeEnum> = accumulators.iter().map(|a| a.get_type()).collect();
        let text = format!("wgmma.wait_group.sync.aligned {pending};");
        let class = |ty: &BasicTypeEnum| if ty.is_int_type() { "=r" } else { "=f" };
        let classes: Vec<&str> = types.iter().map(class).collect();
        let constraints = tied(&classes, types.len(), &vec!["r"; reads.len()]);
        let args = [accumulators, reads].concat();
        let value = self.ir.assembly(&text, &constraints, &types, &args, false)?;
        if types.is_empty() { Ok([].into()) } else { self.unpack(value, types.len()) }
    }

    /// Waits for a value, if a product may still write it.
    pub(super) fn land(&mut self, value: ValueId) -> Result<()> {
        let Some(Bound::Fragment(fragment)) = self.bound.get(&value) else { return Ok(()) };
        let Some(flight) = fragment.flight.clone() else { return Ok(()) };
        let fragment = fragment.clone();
        let registers = self.wait_group(0, &fragment.registers, &flight.reads)?;
        let landed = Bound::Fragment(Fragment { registers, flight: None, ..fragment });
        let before = self.bound.insert(value, landed);
        self.landed_log.extend(before.map(|before| (value, before)));
        Ok(())
    }

    /// Keeps a wait behind the work that stands before it. ptxas moves `wgmma.wait_group` up across arithmetic
    /// and shuffles, so that the product runs beside nothing (seen with ptxas 13.5); it does not move it across
    /// `nanosleep`. This one is never run for numbers, and would do no harm.
    fn stay_behind(&mut self, fragments: &[Fragment<'c>]) -> Result<()> {
        let Some((products, value)) = self.latest.take() else { return Ok(()) };
        let beside = |flight: &Flight| flight.number <= products;
        if !fragments.iter().filter_map(|f| f.flight.as_ref()).any(beside) {
            return Ok(());
        }
        let class = match value.get_type() {
            BasicTypeEnum::FloatType(ty) if ty == self.ir.f32() => "f",
            BasicTypeEnum::IntType(ty) if ty == self.ir.i32() => "r",
            _ => return Ok(()),
        };
        let text = "{ .reg .pred p; setp.eq.b32 p, $0, 0x7fffffff; @p nanosleep.u32 0; }";
        self.ir.assembly(text, class, &[], &[value], false).map(|_| ())
    }
}
