//! Scalars: what loops run over and branches depend on, computed as the kernel computes it.

use warploom_ir::{Attr, Module, OpId, Opcode, Type, ValueId};

use crate::check::warp::Val;

/// What the outside gives a program: every number among its arguments, the place of the program in the grid, and what
/// lies behind its pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) struct Inputs {
    /// Each integer argument.
    pub number: i64,
    /// Every second one is twice that.
    pub uneven: bool,
    /// `tt.get_program_id`, on every axis.
    pub program: i64,
    /// `tt.get_num_programs`, on every axis.
    pub programs: i64,
    /// The integer behind a pointer grows by so much per element.
    pub slope: i64,
}

impl Inputs {
    /// What an argument of this type is; `key` tells pointers apart.
    pub fn argument(&self, ty: &Type, key: u64) -> Val {
        match ty {
            Type::Int(..) | Type::Index if self.uneven && key.is_multiple_of(2) => {
                Val::Int(self.number.saturating_mul(2))
            }
            Type::Int(..) | Type::Index => Val::Int(self.number),
            Type::Ptr { .. } => Val::Pointer { key, offset: 0 },
            _ => Val::Other,
        }
    }

    /// What memory answers the time it is asked for, counted from 1, where others write to it: locks are free or
    /// taken, counters at either end.
    pub fn sampled(&self, time: u64) -> i64 {
        let mixed = (time ^ self.number.unsigned_abs().rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match mixed >> 62 {
            0 => 0,
            1 => 1,
            2 => self.number.saturating_sub(1),
            _ => self.programs,
        }
    }

    /// The result of a scalar operation on known values; `None` for what is no scalar, or not known.
    pub fn result(&self, module: &Module, op: OpId, value: impl Fn(ValueId) -> Val) -> Option<Val> {
        use Opcode::*;
        let data = &module.ops[op];
        let result = module.result(op)?;
        let of = |index: usize| data.operands.get(index).map_or(Val::Other, |&v| value(v));
        let int = |index: usize| match of(index) {
            Val::Int(v) => Some(v),
            _ => None,
        };
        let both = || Some((int(0)?, int(1)?));
        let undefined = data.operands.iter().any(|&v| value(v) == Val::Undefined);
        if undefined && matches!(module.ty(result), Type::Int(..) | Type::Index | Type::Ptr { .. }) {
            return Some(Val::Undefined);
        }
        // What fails on known numbers is undefined.
        let checked = |f: fn(i64, i64) -> Option<i64>| {
            both().map(|(a, b)| f(a, b).map_or(Val::Undefined, |v| Val::Int(wrapped(v, module.ty(result)))))
        };
        let without_sign = |f: fn(u64, u64) -> Option<u64>| {
            let ty = module.ty(result);
            let made = both().map(|(a, b)| f(unsigned(a, ty), unsigned(b, ty)));
            made.map(|v| v.map_or(Val::Undefined, |v| Val::Int(wrapped(v.cast_signed(), ty))))
        };
        let made = match data.opcode {
            Constant => module.attr(op, "value").and_then(Attr::as_i64)?,
            GetProgramId => self.program,
            GetNumPrograms => self.programs,
            AddI => return checked(i64::checked_add),
            SubI => return checked(i64::checked_sub),
            MulI => return checked(i64::checked_mul),
            DivSI => return checked(i64::checked_div),
            RemSI => return checked(i64::checked_rem),
            DivUI => return without_sign(u64::checked_div),
            RemUI => return without_sign(u64::checked_rem),
            MinUI => return without_sign(|a, b| Some(a.min(b))),
            MaxUI => return without_sign(|a, b| Some(a.max(b))),
            ShLI => return without_sign(|a, b| u32::try_from(b).ok().and_then(|b| a.checked_shl(b))),
            ShRUI => return without_sign(|a, b| u32::try_from(b).ok().and_then(|b| a.checked_shr(b))),
            ShRSI => return checked(|a, b| u32::try_from(b).ok().and_then(|b| a.checked_shr(b))),
            MinSI => both().map(|(a, b)| a.min(b))?,
            MaxSI => both().map(|(a, b)| a.max(b))?,
            AndI => both().map(|(a, b)| a & b)?,
            OrI => both().map(|(a, b)| a | b)?,
            XOrI => both().map(|(a, b)| a ^ b)?,
            CmpI => compares(module, op, both()?)?.into(),
            ExtUI => unsigned(int(0)?, module.ty(*data.operands.first()?)).cast_signed(),
            ExtSI | TruncI | IndexCast => int(0)?,
            Select => return Some(if int(0)? != 0 { of(1) } else { of(2) }),
            AddPtr => match (of(0), int(1)?) {
                (Val::Pointer { key, offset }, by) => {
                    return Some(Val::Pointer { key, offset: offset.checked_add(by)? });
                }
                _ => return None,
            },
            Load => match (of(0), module.ty(result)) {
                (Val::Pointer { offset, .. }, Type::Int(..)) => offset.checked_mul(self.slope)?,
                _ => return None,
            },
            _ => return None,
        };
        Some(Val::Int(wrapped(made, module.ty(result))))
    }
}

/// A number in the width of its type: `i1` is 0 or 1, others have a sign.
pub(super) fn wrapped(value: i64, ty: &Type) -> i64 {
    match ty {
        Type::Int(1, _) => value & 1,
        Type::Int(bits, _) if *bits < 64 => {
            let unused = 64 - *bits;
            value.wrapping_shl(unused).wrapping_shr(unused)
        }
        _ => value,
    }
}

/// The bits of a number in the width of its type.
fn unsigned(value: i64, ty: &Type) -> u64 {
    match ty {
        Type::Int(bits, _) if *bits < 64 => value.cast_unsigned() & ((1 << bits) - 1),
        _ => value.cast_unsigned(),
    }
}

fn compares(module: &Module, op: OpId, (a, b): (i64, i64)) -> Option<bool> {
    let predicate = match module.attr(op, "predicate")? {
        Attr::Opaque(name) | Attr::String(name) => name.as_str(),
        _ => return None,
    };
    let unsigned = |v: i64| v.cast_unsigned();
    Some(match predicate {
        "eq" => a == b,
        "ne" => a != b,
        "slt" => a < b,
        "sle" => a <= b,
        "sgt" => a > b,
        "sge" => a >= b,
        "ult" => unsigned(a) < unsigned(b),
        "ule" => unsigned(a) <= unsigned(b),
        "ugt" => unsigned(a) > unsigned(b),
        "uge" => unsigned(a) >= unsigned(b),
        _ => return None,
    })
}

/// The constant that an operation divides by, if it is a quotient.
pub(in crate::check) fn divisor(module: &Module, op: OpId) -> Option<i64> {
    let by = *module.ops[op].operands.get(1)?;
    let by = module.attr(module.def_op(by)?, "value").and_then(Attr::as_i64)?;
    match module.ops[op].opcode {
        Opcode::DivSI | Opcode::DivUI => Some(by),
        Opcode::ShRSI | Opcode::ShRUI => (0..31).contains(&by).then(|| 1 << by),
        _ => None,
    }
}
