//! Forms of arithmetic that are seldom met, made of those that are not: directed rounding that saturates, of packed and of
//! mixed numbers, magnitudes of three, and fused products that take what lies outside of a tensor for zero.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::formula::Formula;
use crate::isa::lanes::float::{self, Quals};
use crate::isa::lanes::{F2, F3, Lanes, directed};
use crate::isa::op::{Op, Src};
use crate::isa::types::Ty;
use crate::number::Rounding;
use crate::number::float as n;
use crate::number::minifloat::{bf16_value, f16_value};
use smallvec::SmallVec;
use warploom_ptx::Operand;

/// A function of two or three operands.
#[derive(Clone, Copy)]
enum Function {
    Two(F2),
    Three(F3),
}

impl Function {
    fn apply(self, v: &[Lanes], out: &mut Lanes) {
        match (self, v) {
            (Function::Two(f), [a, b, ..]) => f(a, b, out),
            (Function::Three(f), [a, b, c, ..]) => f(a, b, c, out),
            _ => {}
        }
    }
}

fn operands<'a>(
    cx: &mut Context<'_, 'a>,
    args: &[Operand<'a>],
    types: &[Ty],
) -> Res<(u32, SmallVec<[Src; 3]>)> {
    cx.count(args, 1 + types.len(), 1 + types.len())?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let mut srcs = SmallVec::new();
    for (raw, ty) in args.iter().skip(1).zip(types) {
        srcs.push(cx.src(raw, *ty)?);
    }
    Ok((d, srcs))
}

fn saturate(bits: u64) -> u64 {
    u64::from(n::saturate(f32::from_bits(bits as u32)).to_bits())
}

/// f32 arithmetic that does not round to nearest: that saturates, whose first operands are f16 or bf16, or on two numbers
/// in one register.
pub(crate) fn directed<'a>(
    cx: &mut Context<'_, 'a>,
    m: &mut Mods<'_>,
    args: &[Operand<'a>],
    (r, q): (Rounding, Quals),
    ty: Ty,
) -> Res<Op> {
    let short = m.take(|w| Ty::of(w).filter(|t| matches!(t, Ty::F16 | Ty::BF16)));
    let f = match args.len() {
        4 => directed::ternary(m.base, r, q.ftz).map(Function::Three),
        _ => directed::binary(m.base, r, q.ftz).map(Function::Two),
    };
    let f = f.filter(|_| matches!(m.base, "add" | "sub" | "mul" | "fma" | "mad"));
    let f = f.ok_or_else(|| m.unknown("only add, sub, mul and fma of f32 have this form"))?;
    match (ty, short) {
        (Ty::F32, None) => {
            let (d, srcs) = operands(cx, args, &[Ty::F32; 3][..args.len().saturating_sub(1).min(3)])?;
            let f = Formula::wide(move |v, out| {
                f.apply(v, out);
                out.iter_mut().for_each(|x| *x = saturate(*x));
            });
            Ok(Op::Formula { f, d, srcs })
        }
        (Ty::F32, Some(short)) if m.base != "mul" => {
            // All but the last are short.
            let types = match f {
                Function::Two(_) => &[short, Ty::F32][..],
                Function::Three(_) => &[short, short, Ty::F32],
            };
            let (d, srcs) = operands(cx, args, types)?;
            let widen = move |x: u64| {
                let x = x as u16;
                u64::from(if short == Ty::F16 { f16_value(x) } else { bf16_value(x) }.to_bits())
            };
            let f = Formula::wide(move |v, out| {
                let mut all: SmallVec<[Lanes; 3]> = v.into();
                if let Some((_, first)) = all.split_last_mut() {
                    first.iter_mut().flatten().for_each(|x| *x = widen(*x));
                }
                f.apply(&all, out);
                if q.sat {
                    out.iter_mut().for_each(|x| *x = saturate(*x));
                }
            });
            Ok(Op::Formula { f, d, srcs })
        }
        (Ty::F32x2, None) if !q.sat => {
            let (d, srcs) = operands(cx, args, &[Ty::F32x2; 3][..args.len().saturating_sub(1).min(3)])?;
            let f = Formula::wide(move |v, out| {
                let mut high = [0; 32];
                let part = |s: u32| {
                    v.iter().map(|x| x.map(|x| x >> s & 0xffff_ffff)).collect::<SmallVec<[Lanes; 3]>>()
                };
                f.apply(&part(0), out);
                f.apply(&part(32), &mut high);
                out.iter_mut().zip(high).for_each(|(x, high)| *x |= high << 32);
            });
            Ok(Op::Formula { f, d, srcs })
        }
        _ => Err(m.unknown("type")),
    }
}

/// `min` and `max` of the magnitudes of three f32.
pub(crate) fn magnitudes<'a>(
    cx: &mut Context<'_, 'a>,
    m: &Mods<'_>,
    args: &[Operand<'a>],
    q: Quals,
) -> Res<Op> {
    let f = float::ternary(m.base, Ty::F32, q).filter(|_| matches!(m.base, "min" | "max"));
    let f = f.ok_or_else(|| m.unknown("only min and max of f32 have this form"))?;
    let (d, srcs) = operands(cx, args, &[Ty::F32; 3])?;
    let f = Formula::wide(move |v, out| {
        let v: SmallVec<[Lanes; 3]> = v.iter().map(|x| x.map(|x| x & 0x7fff_ffff)).collect();
        Function::Three(f).apply(&v, out);
    });
    Ok(Op::Formula { f, d, srcs })
}

/// `fma.rn.oob`: zero where a factor or the summand is the NaN that tensor copies write outside of a tensor.
pub(crate) fn outside(op: Op, ty: Ty) -> Option<Op> {
    const OUTSIDE: u64 = 0x7fff;
    let Op::Ter { f, d, a, b, c, .. } = op else { return None };
    let shifts: &'static [u32] = match ty {
        Ty::F16 | Ty::BF16 => &[0],
        Ty::F16x2 | Ty::BF16x2 => &[0, 16],
        _ => return None,
    };
    let f = Formula::wide(move |v, out| {
        Function::Three(f).apply(v, out);
        for (l, x) in out.iter_mut().enumerate() {
            for s in shifts {
                if v.iter().any(|v| v[l] >> s & 0xffff == OUTSIDE) {
                    *x &= !(0xffff << s);
                }
            }
        }
    });
    Some(Op::Formula { f, d, srcs: [a, b, c].into() })
}
