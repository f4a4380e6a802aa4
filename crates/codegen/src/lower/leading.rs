//! Masks whose true elements come first in a chunk: how many they are, without asking each (C48).

use hashbrown::HashSet;
use inkwell::values::{InstructionOpcode, IntValue};
use warploom_ir::axis::AxisFacts;
use warploom_ir::{BlockId, OpId, Opcode, ValueDef, ValueId};

use super::Lower;
use super::value::{Base, Coords, Key};
use crate::error::{Result, internal};
use crate::family::Axis;
use crate::llvm::{Val, as_int};

/// Operations that are looked at to see what a value depends on.
const MOST: usize = 1 << 10;

/// Deepest nesting of a mask.
const DEEPEST: u32 = 200;

impl<'c> Lower<'c, '_> {
    /// The bytes of how many of the `count` elements of a mask from a position on are true, `unit` bytes each, where its
    /// run says that those come first.
    pub(super) fn leading(&mut self, mask: &Key, count: u64, unit: u64) -> Result<IntValue<'c>> {
        let (mut some, mut whole): (Option<Val<'c>>, Vec<Val<'c>>) = (None, Vec::new());
        for factor in self.conjunction(mask, count)? {
            if !self.agrees(&factor, count) {
                let own = self.leading_of(&factor, count, unit)?.into();
                some = Some(match some {
                    Some(some) => self.ir.overloaded("umin", &[some, own])?,
                    None => own,
                });
            } else {
                whole.push(self.at(factor.0, factor.1)?);
            }
        }
        let none: Val<'c> = self.ir.c32(0).into();
        let all = self.ir.c32(count * unit);
        if let Some(mut some) = some {
            // Numbers, as there are few registers for predicates; what changes in inner loops serves many chunks.
            for holds in whole {
                let own = self.ir.select(as_int(holds)?, all.into(), none)?;
                some = self.ir.overloaded("umin", &[some, own])?;
            }
            return as_int(some);
        }
        let mut holds = whole.into_iter();
        let Some(mut both) = holds.next() else { return Ok(all) };
        for other in holds {
            both = self.ir.binary(InstructionOpcode::And, both, other)?;
        }
        // LLVM makes a select for each part of a predicate that nobody else uses (seen with LLVM 22); this uses it.
        self.ir.assembly("", "b", &[], &[both], false)?;
        as_int(self.ir.select(as_int(both)?, all.into(), none)?)
    }

    /// Whether an element of a mask is true.
    pub(super) fn holds(&mut self, mask: &Key) -> Result<Val<'c>> {
        let factors = self.conjunction(mask, u64::MAX)?;
        let mut all: Option<Val<'c>> = None;
        for (value, at) in factors {
            let own = self.at(value, at)?;
            all = Some(match all {
                Some(all) => self.ir.binary(InstructionOpcode::And, all, own)?,
                None => own,
            });
        }
        all.ok_or_else(|| internal("a mask of nothing"))
    }

    /// What a mask is the conjunction of; what changes in inner loops comes first, and is the same for many elements.
    fn conjunction(&mut self, mask: &Key, count: u64) -> Result<Vec<Key>> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        self.factors(mask, count, 0, &mut found, &mut seen)?;
        found.sort_by_cached_key(|(value, _)| std::cmp::Reverse(self.changes(*value)));
        Ok(found)
    }

    /// The same in the order of the text, each once.
    fn factors(
        &mut self,
        mask: &Key,
        count: u64,
        depth: u32,
        found: &mut Vec<Key>,
        seen: &mut HashSet<Key>,
    ) -> Result<()> {
        use Opcode::{AndI, Broadcast, ExpandDims, Reshape, Trans};
        if depth > DEEPEST {
            return Err(internal("a mask without a shape"));
        }
        if !seen.insert(mask.clone()) {
            return Ok(());
        }
        let op = self.module.def_op(mask.0).filter(|_| !self.agrees(mask, count));
        let opcode = op.map(|op| self.module.ops[op].opcode);
        if !opcode.is_some_and(|o| matches!(o, Broadcast | ExpandDims | Trans | Reshape | AndI)) {
            found.push(mask.clone());
            return Ok(());
        }
        let needs = self.operands_at(mask)?;
        needs.iter().try_for_each(|inner| self.factors(inner, count, depth + 1, found, seen))
    }

    /// Whether `count` elements of a mask from a position on are the same.
    fn agrees(&mut self, (value, at): &Key, count: u64) -> bool {
        along(at).is_none_or(|dim| self.runs.along(self.module, *value, dim).equal >= count)
    }

    /// How deep the innermost loop lies from trip to trip of which a value may change; 0 for none.
    fn changes(&self, value: ValueId) -> usize {
        let (mut stack, mut seen, mut deepest) = (vec![value], HashSet::new(), 0);
        while let Some(value) = stack.pop().filter(|_| seen.len() < MOST) {
            match self.module.values[value].def {
                ValueDef::Result { op, .. } if seen.insert(op) => stack.extend(&self.module.ops[op].operands),
                ValueDef::Argument { block, .. } if block != self.program.body => {
                    deepest = deepest.max(self.depth_of(block));
                }
                _ => {}
            }
        }
        deepest
    }

    /// How many operations a block lies in.
    fn depth_of(&self, block: BlockId) -> usize {
        let outer = |op: &OpId| self.module.parent(*op);
        std::iter::successors(
            self.module.blocks[block].region.and_then(|region| self.module.regions[region].parent),
            outer,
        )
        .count()
    }

    /// The same for one factor, of which some elements may be true.
    fn leading_of(&mut self, mask: &Key, count: u64, unit: u64) -> Result<IntValue<'c>> {
        let op = self.module.def_op(mask.0).filter(|&op| self.module.ops[op].opcode == Opcode::CmpI);
        let op = op.ok_or_else(|| internal("a mask whose true elements do not come first"))?;
        let needs = self.operands_at(mask)?;
        let [a, b] = needs.as_slice() else { return Err(internal("a comparison of two")) };
        let [a, b] = [a, b].map(|(value, at)| self.at(*value, at.clone()));
        let (a, b) = (as_int(a?)?, as_int(b?)?);
        let first = AxisFacts::ascends_against(self.module, op);
        let first = first.ok_or_else(|| internal("a mask of another comparison"))?;
        // Where the first element is inside, `bound - first` does not wrap around.
        let (from, bound) = if first == 0 { (a, b) } else { (b, a) };
        let room = self.ir.sub(bound, from)?;
        let count = room.get_type().const_int(count, false);
        let room = self.ir.overloaded("umin", &[room.into(), count.into()])?;
        let inside = self.element(op, &[a.into(), b.into()])?;
        let none = count.get_type().const_zero().into();
        let found = as_int(self.ir.select(as_int(inside)?, room, none)?)?;
        let found = if found.get_type() == self.ir.i32() { found } else { self.as_word(found)? };
        self.ir.scale(found, unit)
    }

    /// A small number as `i32`.
    fn as_word(&self, value: IntValue<'c>) -> Result<IntValue<'c>> {
        use inkwell::values::InstructionOpcode as Llvm;
        let way = if value.get_type().get_bit_width() > 32 { Llvm::Trunc } else { Llvm::ZExt };
        as_int(self.ir.cast(way, value.into(), self.ir.i32().into())?)
    }
}

/// The dimension that a chunk lies along.
fn along(at: &Coords) -> Option<usize> {
    at.iter().position(|coord| matches!(coord.base, Base::Lane(_, Axis::Col)))
}
