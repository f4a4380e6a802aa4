//! Masks whose true elements come first in a chunk: how many they are, without asking each (C48).

use inkwell::values::IntValue;
use warploom_ir::Opcode;

use super::Lower;
use super::family::Axis;
use super::value::{Base, Coords, Key};
use crate::error::{Result, internal};
use crate::llvm::{Val, as_int};

/// Deepest nesting of a mask that [`super::runs::Runs`] vouches for.
const DEEPEST: u32 = 200;

impl<'c> Lower<'c, '_> {
    /// How many of the `count` elements of a mask from a position on are true, where its run says that those come
    /// first.
    pub(super) fn leading(&mut self, mask: &Key, count: u64, depth: u32) -> Result<IntValue<'c>> {
        let (value, at) = mask;
        let all = |this: &mut Self| -> Result<IntValue<'c>> {
            let holds = as_int(this.at(*value, at.clone())?)?;
            let (some, none): (Val<'c>, Val<'c>) = (this.ir.c32(count).into(), this.ir.c32(0).into());
            as_int(this.ir.select(holds, some, none)?)
        };
        let Some(dim) = along(at) else { return all(self) };
        if self.runs.along(*value, dim).equal >= count {
            return all(self);
        }
        let op = self.module.def_op(*value).filter(|_| depth < DEEPEST);
        let op = op.ok_or_else(|| internal("a mask without a shape"))?;
        let needs = self.needs(mask, None)?;
        match (self.module.ops[op].opcode, needs.as_slice()) {
            (Opcode::Broadcast | Opcode::ExpandDims | Opcode::Trans | Opcode::Reshape, [inner]) => {
                self.leading(inner, count, depth + 1)
            }
            (Opcode::AndI, [a, b]) => {
                let (a, b) = (self.leading(a, count, depth + 1)?, self.leading(b, count, depth + 1)?);
                as_int(self.ir.overloaded("umin", &[a.into(), b.into()])?)
            }
            (Opcode::CmpI, [a, b]) => {
                let [a, b] = [a, b].map(|(value, at)| self.at(*value, at.clone()));
                let (a, b) = (as_int(a?)?, as_int(b?)?);
                let first = self.runs.ascends_against(op);
                let first = first.ok_or_else(|| internal("a mask of another comparison"))?;
                // Where the first element is inside, `bound - first` does not wrap around.
                let (from, bound) = if first == 0 { (a, b) } else { (b, a) };
                let room = self.ir.sub(bound, from)?;
                let count = room.get_type().const_int(count, false);
                let room = self.ir.overloaded("umin", &[room.into(), count.into()])?;
                let inside = self.element(op, &[a.into(), b.into()])?;
                let none = count.get_type().const_zero().into();
                let found = as_int(self.ir.select(as_int(inside)?, room, none)?)?;
                match found.get_type() == self.ir.i32() {
                    true => Ok(found),
                    false => self.as_word(found),
                }
            }
            _ => Err(internal("a mask whose true elements do not come first")),
        }
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
