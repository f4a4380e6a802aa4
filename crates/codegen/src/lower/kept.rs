//! Tiles that are read before what they read changes.

use hashbrown::HashSet;
use warploom_ir::{FloatKind, OpId, Opcode, Type, ValueId};

use super::Lower;
use super::value::{Bound, Form, Lazy, Memory};
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
        let end = self.end_of_branches(op);
        let (due, rest): (Vec<_>, Vec<_>) = self.open.iter().copied().partition(|&(value, memory)| {
            let inside = memory == Memory::GLOBAL && end.is_some_and(|end| self.last_use[value] <= end);
            memory.meets(changed) && !inside
        });
        self.open = rest;
        let due = due
            .into_iter()
            .map(|(value, _)| value)
            .filter(|&value| self.last_use[value] >= self.position[op]);
        // What is looked at elsewhere is loaded before any tile that it looks into is kept by other lanes.
        let (elsewhere, due): (Vec<_>, Vec<_>) = due.partition(|&value| {
            self.lazy_of(value).reads.meets(Memory::GLOBAL) && self.looks_elsewhere(value)
        });
        let found = elsewhere.iter().map(|&value| self.fragment(value)).collect::<Result<Vec<_>>>()?;
        self.bound.extend(elsewhere.into_iter().zip(found.into_iter().map(Bound::Fragment)));
        for value in due {
            if self.last_use[value] < now || streamed == Some(value) {
                continue;
            }
            if let Some((product, factor)) = self.factor_to_keep(value, changed) {
                let fragment = self.fragment(factor)?;
                self.bound.insert(factor, Bound::Fragment(fragment));
                let lazy = self.lazy(product, value)?;
                self.defer(value, lazy)?;
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

    /// Whether a tile that is not evaluated yet is computed from elements that its lanes do not hold: where only the index
    /// says which they are, of pairs, and where nothing brings them, of what has no rows.
    fn looks_elsewhere(&self, value: ValueId) -> bool {
        use Opcode::{ExpandDims, Gather, Join, Reshape, Split, Trans};
        let stays =
            self.place.scratch.is_some() || !matches!(self.form(value, self.place.family), Ok(Form::Flat));
        let (mut stack, mut seen) = (vec![value], HashSet::new());
        while let Some(value) = stack.pop() {
            let (Some(Bound::Lazy(_)), true) = (self.bound.get(&value), seen.insert(value)) else { continue };
            let Some(op) = self.module.def_op(value) else { continue };
            match self.module.ops[op].opcode {
                Gather | Join | Split => return true,
                ExpandDims | Reshape | Trans if !stays => return true,
                _ => stack.extend(&self.module.ops[op].operands),
            }
        }
        false
    }

    /// A product of a tile that must be read now, which one addition takes: the tile is kept and the product left to where
    /// it is added, since one instruction does both there (C48).
    fn factor_to_keep(&self, value: ValueId, changed: Memory) -> Option<(OpId, ValueId)> {
        let product = self.module.def_op(value)?;
        let single = *self.module.ty(value).elem() == Type::Float(FloatKind::F32);
        if self.module.ops[product].opcode != Opcode::MulF || !single || !self.ir.fuses() {
            return None;
        }
        let &[user] = self.users_of(value).as_slice() else { return None };
        let adds = matches!(self.module.ops[user].opcode, Opcode::AddF | Opcode::SubF);
        if !adds || self.module.ops[user].block != self.module.ops[product].block {
            return None;
        }
        let mut read =
            self.module.ops[product].operands.iter().filter(|&&v| self.lazy_of(v).reads.meets(changed));
        let factor = *read.next().filter(|_| read.next().is_none())?;
        Some((product, factor))
    }

    /// Where the branches of an `scf.if` end. What is not used behind them is not read before them: a branch that stores
    /// and returns changes nothing for the other one, whose lanes then read what they want where they want it.
    fn end_of_branches(&self, op: OpId) -> Option<u32> {
        if self.module.ops[op].opcode != Opcode::If {
            return None;
        }
        warploom_ir::walk::ops(self.module, op).map(|op| self.position[op]).max()
    }

    /// Tiles that are not evaluated yet, to be [put back](Self::defer_again) behind a branch.
    pub(super) fn deferred(&self) -> Vec<(ValueId, Lazy)> {
        let lazy = |&(value, _): &(ValueId, Memory)| match self.bound.get(&value) {
            Some(Bound::Lazy(lazy)) => Some((value, *lazy)),
            _ => None,
        };
        self.open.iter().filter_map(lazy).collect()
    }

    /// Tiles that a branch evaluated are not evaluated for what comes behind it.
    pub(super) fn defer_again(&mut self, tiles: &[(ValueId, Lazy)]) {
        self.open = tiles.iter().map(|&(value, lazy)| (value, lazy.reads)).collect();
        self.bound.extend(tiles.iter().map(|&(value, lazy)| (value, Bound::Lazy(lazy))));
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
