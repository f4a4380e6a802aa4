//! Global memory, one element at a time: predicated where there is a mask, so that nothing outside it is
//! touched.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::diag::Code;
use warploom_ir::{OpId, Type};

use super::Lower;
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int, as_ptr};

/// What stands for the caches of a volatile load.
const VOLATILE: &str = "volatile";

impl<'c> Lower<'c, '_> {
    /// `tt.load` of one element: predicated where there is a mask, so that nothing is read outside it.
    pub(super) fn load(&mut self, op: OpId, pointer: Val<'c>, rest: &[Val<'c>]) -> Result<Val<'c>> {
        let ty = self.result_type(op)?;
        let bits = self.result_elem(op)?.elem_bits().ok_or_else(|| self.bad_type(op))?;
        if bits == 1 {
            return Err(self.bad_type(op));
        }
        // A volatile load goes to memory whatever caches hold: a policy has nothing to say.
        let cache = if self.module.is_volatile(op) { VOLATILE } else { self.cache_of_load(op)? };
        let mask = match rest.first() {
            Some(mask) => *mask,
            None if cache.is_empty() => return self.ir.load(ty, as_ptr(pointer)?, bits / 8),
            None => self.always(),
        };
        let loaded = self.load_bits(pointer, Some(mask), rest.get(1).copied(), (bits, cache))?;
        let loaded = match bits {
            8 => self.ir.cast(Llvm::Trunc, loaded.into(), self.ir.int(8).into())?,
            _ => loaded.into(),
        };
        match ty {
            BasicTypeEnum::PointerType(_) => self.ir.cast(Llvm::IntToPtr, loaded, ty),
            _ => self.ir.bits(loaded, ty),
        }
    }

    /// A mask that holds.
    pub(super) fn always(&self) -> Val<'c> {
        self.ir.int(1).const_all_ones().into()
    }

    /// The bits behind a pointer, bytes widened to 16 bits; where masked, those of `other`, or zero. `cache` stands
    /// behind `ld.global` of a masked load.
    pub(super) fn load_bits(
        &mut self,
        pointer: Val<'c>,
        mask: Option<Val<'c>>,
        other: Option<Val<'c>>,
        (bits, cache): (u32, &str),
    ) -> Result<IntValue<'c>> {
        let int = self.ir.int(bits.max(16));
        let Some(mask) = mask else {
            let value = self.ir.load(self.ir.int(bits).into(), as_ptr(pointer)?, bits / 8)?;
            return self.ir.zext(as_int(value)?, int);
        };
        let other = match other {
            Some(other) => self.as_bits(other, bits)?,
            None => int.const_zero(),
        };
        // What stands for a narrow element fills a whole register: two of them are cleared at once.
        let word = self.ir.int(bits.max(32));
        let other = self.ir.zext(other, word)?;
        let (class, mov) = if bits <= 32 { ("r", "mov.b32") } else { ("l", "mov.b64") };
        let load =
            if cache == VOLATILE { "ld.volatile.global".to_owned() } else { format!("ld.global{cache}") };
        let text = format!("{mov} $0, $3;\n\t@$2 {load}.b{bits} $0, [$1];");
        let constraints = format!("=&{class},l,b,{class}");
        let args = [pointer, mask, other.into()];
        let loaded = self.ir.assembly(&text, &constraints, &[word.into()], &args, false)?;
        let loaded = loaded.ok_or_else(|| internal("a load without a result"))?;
        if word == int { as_int(loaded) } else { as_int(self.ir.cast(Llvm::Trunc, loaded, int.into())?) }
    }

    /// A value as an integer of its width, bytes widened to 16 bits.
    pub(super) fn as_bits(&self, value: Val<'c>, bits: u32) -> Result<IntValue<'c>> {
        let value = match value {
            Val::PointerValue(pointer) => self.ir.address(pointer, bits)?,
            other => as_int(self.ir.bits(other, self.ir.int(bits).into())?)?,
        };
        self.ir.zext(value, self.ir.int(bits.max(16)))
    }

    /// Stores one element.
    pub(super) fn store_one(
        &mut self,
        to: Val<'c>,
        value: Val<'c>,
        mask: Option<Val<'c>>,
        (bits, cache): (u32, &str),
        elem: &Type,
    ) -> Result<()> {
        let mask = match mask {
            Some(mask) => mask,
            None if cache.is_empty() => return self.ir.store(value, as_ptr(to)?, bits / 8),
            None => self.always(),
        };
        if matches!(elem, Type::Ptr { .. }) {
            return Err(refuse(Code::Type, "tt.store of pointers is not supported").into());
        }
        let value = self.as_bits(value, bits)?;
        let class = match bits {
            8 | 16 => "h",
            32 => "r",
            64 => "l",
            _ => return Err(internal("a store of odd width")),
        };
        let text = format!("@$2 st.global{cache}.b{bits} [$0], $1;");
        let args = [to, value.into(), as_int(mask)?.into()];
        self.ir.assembly(&text, &format!("l,{class},b"), &[], &args, false).map(|_| ())
    }
}
