//! Which qualifiers arithmetic has: one that an operation of a type has not is refused, never ignored.

use crate::isa::cvt::{Spec, packed};
use crate::isa::lanes::float::Quals;
use crate::isa::types::Ty;

/// A qualifier that this operation has not; `base` is what the opcode begins with.
pub(super) fn foreign(base: &str, ty: Ty, q: Quals, approx: bool) -> Option<&'static str> {
    let sums = matches!(base, "add" | "sub" | "mul" | "fma" | "mad");
    let chooses = matches!(base, "min" | "max");
    let halves = matches!(ty, Ty::F16 | Ty::F16x2);
    let ftz = match ty {
        Ty::F32 => !matches!(base, "tanh" | "copysign"),
        Ty::F32x2 => sums,
        Ty::F16 | Ty::F16x2 => sums || chooses || matches!(base, "abs" | "neg"),
        Ty::BF16 | Ty::BF16x2 => base == "ex2",
        Ty::F64 => approx && matches!(base, "rcp" | "rsqrt"),
        _ => false,
    };
    let sat = sums && (ty == Ty::F32 || halves);
    let nan = chooses && (ty == Ty::F32 || halves || matches!(ty, Ty::BF16 | Ty::BF16x2));
    [(q.ftz && !ftz, "ftz"), (q.sat && !sat, "sat"), (q.nan && !nan, "NaN")]
        .into_iter()
        .find_map(|(is_foreign, name)| is_foreign.then_some(name))
}

/// A qualifier that this conversion has not.
pub(super) fn foreign_conversion(spec: Spec) -> Option<&'static str> {
    let Spec { to, from, .. } = spec;
    let plain = |t: Ty| t.integer() || matches!(t, Ty::F16 | Ty::F32 | Ty::F64);
    let short = matches!(to, Ty::F16 | Ty::BF16 | Ty::TF32) && from == Ty::F32;
    let pairs = packed(to);
    [
        (spec.ftz && (pairs || ![to, from].contains(&Ty::F32) || to == Ty::TF32), "ftz"),
        (spec.sat && !(plain(to) && plain(from)), "sat"),
        (spec.relu && !(short || pairs && to != Ty::UE8M0x2 && from != Ty::UE8M0x2), "relu"),
        (spec.satfinite && !(short || pairs && !packed(from) || pairs && !wide(to)), "satfinite"),
    ]
    .into_iter()
    .find_map(|(is_foreign, name)| is_foreign.then_some(name))
}

/// Two halves, whose range holds that of all shorter formats.
fn wide(ty: Ty) -> bool {
    matches!(ty, Ty::F16x2 | Ty::BF16x2)
}
