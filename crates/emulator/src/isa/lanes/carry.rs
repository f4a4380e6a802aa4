//! Additions in a chain: `add.cc`, `subc`, `madc` and the like.

use super::{Carry, Lanes};
use crate::isa::types::Ty;

/// A carry chain step: `add`, `sub`, `mad.lo`, `mad.hi` with carry in and out. The third operand is unused by
/// `add` and `sub`. As on the chip, `sub` adds the complement: its carry is that there was no borrow, which nvcc's divisions of
/// 128 bits read with `addc`.
pub(crate) fn step(name: &str, ty: Ty) -> Option<Carry> {
    macro_rules! chain {
        ($bits:expr, |$a:ident, $b:ident, $c:ident, $in:ident| $e:expr) => {{
            fn f(x: &Lanes, y: &Lanes, z: &Lanes, carry: u32, d: &mut Lanes) -> u32 {
                let mut out = 0;
                for i in 0..32 {
                    let ($a, $b, $c) = (u128::from(x[i]), u128::from(y[i]), u128::from(z[i]));
                    let $in = u128::from(carry >> i & 1);
                    let r: u128 = $e;
                    d[i] = if $bits == 32 { r as u32 as u64 } else { r as u64 };
                    out |= u32::from(r >> $bits & 1 == 1) << i;
                }
                out
            }
            f as Carry
        }};
    }
    let wide = match ty {
        Ty::U32 | Ty::S32 | Ty::B32 => false,
        Ty::U64 | Ty::S64 | Ty::B64 => true,
        _ => return None,
    };
    Some(match (name, wide) {
        ("add", false) => chain!(32, |a, b, _c, k| (a & 0xffff_ffff) + (b & 0xffff_ffff) + k),
        ("add", true) => chain!(64, |a, b, _c, k| a + b + k),
        ("sub", false) => chain!(32, |a, b, _c, k| (a & 0xffff_ffff) + (!b & 0xffff_ffff) + k),
        ("sub", true) => chain!(64, |a, b, _c, k| a + u128::from(!(b as u64)) + k),
        ("mad.lo", false) => {
            chain!(32, |a, b, c, k| (((a & 0xffff_ffff) * (b & 0xffff_ffff)) & 0xffff_ffff)
                + (c & 0xffff_ffff)
                + k)
        }
        ("mad.hi", false) if ty != Ty::S32 => {
            chain!(32, |a, b, c, k| (((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32) + (c & 0xffff_ffff) + k)
        }
        ("mad.lo", true) => chain!(64, |a, b, c, k| u128::from((a as u64).wrapping_mul(b as u64)) + c + k),
        ("mad.hi", true) if ty != Ty::S64 => chain!(64, |a, b, c, k| ((a * b) >> 64) + c + k),
        _ => return None,
    })
}
