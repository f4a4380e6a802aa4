//! Tiles that are read before what they read changes.

use warploom_ir::{OpId, ValueId};

use super::Lower;
use super::value::{Bound, Memory};
use crate::error::Result;
use crate::family::Family;

impl<'c> Lower<'c, '_> {
    /// Before an operation that changes memory: evaluates every tile that reads this memory and is used
    /// later. The operation's own operands are read first too when it writes shared memory.
    pub(super) fn read_first(&mut self, op: OpId) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let mut changed = self.hazards.of(self.module, self.program, op, self.place.warp);
        if !matches!(self.place.family, Family::Wgmma(_)) {
            changed = changed.without(Memory::REGISTERS);
        }
        if changed == Memory::NONE {
            return Ok(());
        }
        let now = self.position[op] + u32::from(!changed.is_shared());
        let streamed = self.streamed(op, changed).filter(|&value| self.last_use[value] == now);
        let (due, rest): (Vec<_>, Vec<_>) = self.open.iter().copied().partition(|(_, m)| m.meets(changed));
        self.open = rest;
        for (value, _) in due {
            if self.last_use[value] < now || streamed == Some(value) {
                continue;
            }
            // Arithmetic on registers has its place in the text: work beside a product is done beside it, and
            // does not keep its operands alive until it is used. Index functions are nothing to be done.
            let computed = self.bound_reads(value) != Memory::REGISTERS || self.is_arithmetic(value);
            if computed {
                let fragment = self.fragment(value)?;
                self.bound.insert(value, Bound::Fragment(fragment));
            }
        }
        Ok(())
    }

    /// What an unevaluated tile reads.
    fn bound_reads(&self, value: ValueId) -> Memory {
        match self.bound.get(&value) {
            Some(Bound::Lazy(lazy)) => lazy.reads,
            _ => Memory::NONE,
        }
    }

    /// Whether a value is an element-wise result that lanes can hold.
    fn is_arithmetic(&self, value: ValueId) -> bool {
        let held = match self.module.ty(value).shape() {
            [_] => true,
            [outer @ .., _, _] => outer.iter().all(|&n| n == 1),
            _ => false,
        };
        held && self.module.def_op(value).is_some_and(|op| self.module.ops[op].opcode.is_elementwise())
    }
}
