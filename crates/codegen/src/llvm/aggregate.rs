//! Members of structures and lanes of vectors.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode, InstructionValue, IntValue};

use super::{Ir, Val, as_int};
use crate::error::{Result, internal};

impl<'c> Ir<'c, '_> {
    /// Member `index` of a structure.
    pub fn member(&self, aggregate: Val<'c>, index: u32) -> Result<Val<'c>> {
        match aggregate {
            Val::StructValue(value) => Ok(self.builder.build_extract_value(value, index, "")?),
            _ => Err(internal("member of a value without members")),
        }
    }

    /// Element `index` of a vector.
    pub fn lane(&self, vector: Val<'c>, index: u64) -> Result<Val<'c>> {
        match vector {
            Val::VectorValue(value) => Ok(self.builder.build_extract_element(value, self.c32(index), "")?),
            _ => Err(internal("element of a value that is no vector")),
        }
    }

    /// The word of which a value is the upper half, as far as the instructions tell that took it out.
    pub fn word_above(&self, value: Val<'c>) -> Option<IntValue<'c>> {
        use InstructionOpcode::{BitCast, ExtractElement, LShr, Trunc};
        let half = |ty: BasicTypeEnum<'c>| match ty {
            BasicTypeEnum::IntType(ty) => ty.get_bit_width() == 16,
            BasicTypeEnum::FloatType(ty) => ty.get_bit_width() == 16,
            _ => false,
        };
        let value = Some(value).filter(|value| half(value.get_type()));
        // As an integer first, or as it is.
        let value = match made(value, BitCast) {
            Some(cast) => operand(&cast, 0),
            None => value,
        };
        let word = match (made(value, ExtractElement), made(value, Trunc)) {
            (Some(taken), _) if number(operand(&taken, 1)) == Some(1) => {
                operand(&made(operand(&taken, 0), BitCast)?, 0)
            }
            (_, Some(cut)) => {
                let moved = made(operand(&cut, 0), LShr)?;
                (number(operand(&moved, 1)) == Some(16)).then(|| operand(&moved, 0))?
            }
            _ => None,
        };
        as_int(word?).ok().filter(|word| word.get_type().get_bit_width() == 32)
    }

    /// The word of which two elements are neighbouring bytes, and which of its bytes is the first.
    pub fn bytes_of_word(&self, pair: [Val<'c>; 2]) -> Result<Option<(IntValue<'c>, u64)>> {
        let taken = |value: Val<'c>| {
            let taken = made(Some(value), InstructionOpcode::ExtractElement)?;
            Some((operand(&taken, 0)?, number(operand(&taken, 1))?))
        };
        let [Some((from, first)), Some((other, second))] = pair.map(taken) else { return Ok(None) };
        let BasicTypeEnum::VectorType(ty) = from.get_type() else { return Ok(None) };
        let bytes = matches!(ty.get_element_type(), BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 8);
        let count = u64::from(ty.get_size());
        if from != other
            || !bytes
            || !first.is_multiple_of(2)
            || second != first + 1
            || !count.is_power_of_two()
        {
            return Ok(None);
        }
        let word = match count {
            2 => {
                let half = self.bits(from, self.int(16).into())?;
                self.cast(InstructionOpcode::ZExt, half, self.i32().into())?
            }
            4 => self.bits(from, self.i32().into())?,
            _ => self.lane(self.bits(from, self.i32().vec_type(count as u32 / 4).into())?, first / 4)?,
        };
        Ok(Some((as_int(word)?, first % 4)))
    }

    /// The vector `<a, b>`.
    pub fn pair(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let empty = match a.get_type() {
            BasicTypeEnum::FloatType(ty) => ty.vec_type(2).get_poison(),
            BasicTypeEnum::IntType(ty) => ty.vec_type(2).get_poison(),
            _ => return Err(internal("a pair of neither integers nor floats")),
        };
        let first = self.builder.build_insert_element(empty, a, self.c32(0), "")?;
        Ok(self.builder.build_insert_element(first, b, self.c32(1), "")?.into())
    }

    /// The vector of these values; one is itself.
    pub fn vector(&self, values: &[Val<'c>]) -> Result<Val<'c>> {
        let (Some(first), count) = (values.first(), values.len() as u32) else {
            return Err(internal("a vector of nothing"));
        };
        let mut vector = match first.get_type() {
            _ if count == 1 => return Ok(*first),
            BasicTypeEnum::FloatType(ty) => ty.vec_type(count).get_poison(),
            BasicTypeEnum::IntType(ty) => ty.vec_type(count).get_poison(),
            _ => return Err(internal("a vector of neither integers nor floats")),
        };
        for (i, &value) in (0..).zip(values) {
            vector = self.builder.build_insert_element(vector, value, self.c32(i), "")?;
        }
        Ok(vector.into())
    }
}

/// An operand of an instruction, if it is a value.
pub(super) fn operand<'c>(instruction: &InstructionValue<'c>, at: u32) -> Option<Val<'c>> {
    instruction.get_operand(at).and_then(|operand| operand.value())
}

/// The instruction that made a value, if it is one of these.
pub(super) fn made(value: Option<Val<'_>>, by: InstructionOpcode) -> Option<InstructionValue<'_>> {
    value.and_then(|v| v.as_instruction_value()).filter(|i| i.get_opcode() == by)
}

/// A constant.
pub(super) fn number(value: Option<Val<'_>>) -> Option<u64> {
    value.and_then(|v| as_int(v).ok()?.get_zero_extended_constant())
}
