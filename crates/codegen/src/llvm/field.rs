//! Numbers of few bits: where they stand in a word.

use inkwell::values::{InstructionOpcode as Llvm, IntValue};

use super::aggregate::{made, number, operand};
use super::{Ir, Val, as_int};

/// A number that is some bits of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'c> {
    /// The other, of at most 32 bits.
    pub of: IntValue<'c>,
    /// Its first bit there.
    pub first: u64,
    /// How many bits it has.
    pub bits: u64,
    /// Whether the last of them is its sign.
    pub signed: bool,
}

impl<'c> Ir<'c, '_> {
    /// The field that a number is, as far as the instructions tell that took it out; at most all of its own bits.
    pub fn field(&self, value: Val<'c>, signed: bool) -> Option<Field<'c>> {
        let own = as_int(value).ok()?;
        let width = u64::from(own.get_type().get_bit_width());
        let whole = Field { of: own, first: 0, bits: width, signed };
        let by = |opcode| made(Some(value), opcode);
        let two = |i| Some((operand(&i, 0)?, number(operand(&i, 1))?));
        let found = match (by(Llvm::And), by(Llvm::LShr), by(Llvm::AShr)) {
            (Some(and), ..) => two(and).and_then(|(from, mask)| {
                let bits = mask.checked_add(1).filter(|n| n.is_power_of_two())?.trailing_zeros().into();
                let moved = made(Some(from), Llvm::LShr).or(made(Some(from), Llvm::AShr)).and_then(two);
                let (word, first) = moved.filter(|&(_, first)| first + bits <= width).unwrap_or((from, 0));
                (bits < width).then_some(Field { of: as_int(word).ok()?, first, bits, signed: false })
            }),
            (_, Some(shift), _) => two(shift).and_then(|(from, first)| {
                let of = as_int(from).ok()?;
                (0 < first && first < width).then_some(Field {
                    of,
                    first,
                    bits: width - first,
                    signed: false,
                })
            }),
            (.., Some(shift)) => two(shift).and_then(|(from, last)| {
                let up = made(Some(from), Llvm::Shl).and_then(two).filter(|&(_, up)| up <= last);
                let (from, up) = up.unwrap_or((from, 0));
                let of = as_int(from).ok()?;
                let field = Field { of, first: last - up, bits: width.checked_sub(last)?, signed: true };
                (0 < last && last < width).then_some(field)
            }),
            _ => None,
        };
        Some(found.unwrap_or(whole)).filter(|field| field.of.get_type().get_bit_width() <= 32)
    }
}
