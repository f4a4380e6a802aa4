//! What waits for others: `tt.atomic_poll`, and the dependencies between grids (C3).
//!
//! A poll is a loop of relaxed loads by the lane that asks, then a fence where it acquires; the lanes of the partition
//! meet behind it, so that all of them come after what was waited for.

use inkwell::IntPredicate;
use warploom_chips::{Feature, PtxVersion};
use warploom_ir::diag::Code;
use warploom_ir::{OpId, Opcode};

use super::Lower;
use super::update::{Atomic, POLL};
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int};

/// First version with fences that acquire alone (PTX ISA 8.6, sm_90).
const ACQUIRE_FENCES: PtxVersion = PtxVersion { major: 8, minor: 6 };

impl<'c> Lower<'c, '_> {
    /// `tt.atomic_poll`.
    pub(super) fn poll(&mut self, op: OpId) -> Result<()> {
        let (order, scope) = self.order_and_scope(op)?;
        let mut stored = self.stored(op, None)?;
        stored.mask = None;
        let ty = match stored.bits {
            16 => "b16",
            32 => "b32",
            64 => "b64",
            _ => return Err(self.bad_type(op)),
        };
        // All elements share one budget.
        self.deadline = match self.module.ops[op].operands.get(2) {
            Some(&timeout) => {
                let timeout = self.int(timeout)?;
                Some(self.ir.add(self.now()?, timeout)?)
            }
            None => None,
        };
        let done = self.fetch_all(op, &stored, Atomic { name: POLL, ty, packed: None, order, scope });
        self.deadline = None;
        done?;
        if self.module.ty(stored.pointer).is_tensor() && !self.place.elected {
            self.meet_all()?;
        }
        Ok(())
    }

    /// Nanoseconds.
    fn now(&self) -> Result<inkwell::values::IntValue<'c>> {
        let int = self.ir.int(64).into();
        let time = self.ir.assembly("mov.u64 $0, %globaltimer;", "=l", &[int], &[], false)?;
        as_int(time.ok_or_else(|| internal("a time without a value"))?)
    }

    /// Whether one element was found as expected before the time was over, where the mask asks.
    pub(super) fn poll_one(
        &mut self,
        atomic: Atomic,
        bits: u32,
        from: Val<'c>,
        expected: Val<'c>,
        mask: Option<Val<'c>>,
    ) -> Result<Val<'c>> {
        let expected = self.as_bits(expected, bits)?;
        let (start, found, late, exit) = (self.ir.block(), self.ir.block(), self.ir.block(), self.ir.block());
        let before = self.ir.here()?;
        let asked = as_int(mask.unwrap_or_else(|| self.always()))?;
        self.ir.br_if(asked, start, exit)?;
        self.ir.seek(start);
        let text = format!("ld.relaxed.{}.global.{} $0, [$1];", atomic.scope, atomic.ty);
        let class = match bits {
            16 => "h",
            32 => "r",
            _ => "l",
        };
        let seen =
            self.ir.assembly(&text, &format!("={class},l"), &[expected.get_type().into()], &[from], false)?;
        let seen = as_int(seen.ok_or_else(|| internal("a load without a result"))?)?;
        let same = self.ir.icmp(IntPredicate::EQ, seen, expected)?;
        self.ir.br_if(same, found, late)?;
        self.ir.seek(late);
        let bit = self.ir.int(1);
        let mut ways = vec![(bit.const_zero(), before)];
        match self.deadline {
            Some(deadline) => {
                let over = self.ir.icmp(IntPredicate::UGE, self.now()?, deadline)?;
                self.ir.br_if(over, exit, start)?;
                ways.push((bit.const_zero(), late));
            }
            None => self.ir.br(start)?,
        }
        self.ir.seek(found);
        if atomic.order == "acquire" {
            let alone = self.ir.ptx >= ACQUIRE_FENCES && self.ir.target.chip.capability >= 90;
            let kind = if alone { "acquire" } else { "acq_rel" };
            self.ir.assembly(&format!("fence.{kind}.{};", atomic.scope), "", &[], &[], false)?;
        }
        self.ir.br(exit)?;
        ways.push((bit.const_all_ones(), found));
        self.ir.seek(exit);
        let result = self.ir.phi(bit.into())?;
        for (value, block) in &ways {
            result.add_incoming(&[(value, *block)]);
        }
        Ok(result.as_basic_value())
    }

    /// `tt.grid_dependency_wait` and `tt.grid_dependency_launch_dependents`.
    pub(super) fn grid_dependency(&mut self, op: OpId) -> Result<()> {
        if !self.ir.target.has(Feature::GridDepControl) {
            let text = format!("{} is not supported for {}", self.module.op_name(op), self.ir.target.name());
            return Err(refuse(Code::Target, text).rule("C3").note("needs", "sm_90 and later").into());
        }
        let text = match self.module.ops[op].opcode {
            Opcode::GridWait => "griddepcontrol.wait;",
            _ => "griddepcontrol.launch_dependents;",
        };
        self.ir.assembly(text, "", &[], &[], false).map(|_| ())
    }
}
