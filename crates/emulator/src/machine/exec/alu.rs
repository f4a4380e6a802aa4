//! Register-only instructions, and what poison may not reach (E19).

use super::flow::Flow;
use crate::isa::lanes::Lanes;
use crate::isa::lanes::integer::insert;
use crate::isa::op::{Logic, Op, Space, Src};
use crate::isa::types::low_mask;
use crate::machine::actor::actor;
use crate::machine::core::{Core, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, Spot};
use crate::machine::warp::{FULL, Warp};
use smallvec::SmallVec;

/// U03.
pub(crate) fn poisoned(core: &mut Core<'_>, w: &Warp, pc: u32, lanes: u32, what: &str) {
    let a = actor(w, pc, lanes);
    let message = format!("{what} depends on a value that was never defined");
    core.error("U03", &a, message, "write the register on every path");
    core.condemn("U01");
}

/// Lanes of a poison mask, whichever half.
pub(crate) fn poison_lanes(p: u64) -> u32 {
    (p | p >> 32) as u32
}

/// Runs an instruction of this family; `None` for others.
pub(crate) fn run(core: &mut Core<'_>, w: &mut Warp, op: &Op, pc: u32, mask: u32) -> Option<Flow> {
    let mut out: Lanes = [0; 32];
    match op {
        Op::Un { f, d, a } => {
            f(&w.value(core, *a), &mut out);
            let meta = if is_move(*a, w, &out) { (w.poison_of(*a), w.taint_of(*a)) } else { w.meta(&[*a]) };
            w.put(*d, &out, meta, mask);
        }
        Op::Bin { f, d, a, b, join } => {
            f(&w.value(core, *a), &w.value(core, *b), &mut out);
            let meta = w.meta_joined(*join, &[*a, *b]);
            w.put(*d, &out, meta, mask);
        }
        Op::Ter { f, d, a, b, c, join } => {
            f(&w.value(core, *a), &w.value(core, *b), &w.value(core, *c), &mut out);
            let meta = w.meta_joined(*join, &[*a, *b, *c]);
            w.put(*d, &out, meta, mask);
        }
        Op::Set { f, d, a, b, with, yes, halves } => {
            let (x, y) = (w.value(core, *a), w.value(core, *b));
            let combined = |v: u32| with.map_or(v, |(logic, c)| combine(logic, v, w.predicate(c)));
            let (low, high) =
                (combined(f(&x, &y)), if *halves { combined(f(&upper(&x), &upper(&y))) } else { 0 });
            for (l, o) in out.iter_mut().enumerate() {
                *o = if low >> l & 1 == 1 { *yes } else { 0 }
                    | if high >> l & 1 == 1 { *yes << 16 } else { 0 };
            }
            let meta = w.meta(&[*a, *b]);
            w.put(*d, &out, meta, mask);
        }
        Op::MovMatrix { d, a } => {
            let x = w.value(core, *a);
            for (l, o) in out.iter_mut().enumerate() {
                let (g, t) = (l >> 2, l & 3);
                let at = |row: usize| x[4 * row + g / 2] >> (16 * (g % 2)) & 0xffff;
                *o = at(2 * t) | at(2 * t + 1) << 16;
            }
            let (poison, taint) = w.meta(&[*a]);
            let poison = if poison_lanes(poison) & mask != 0 { u64::MAX } else { 0 };
            w.put(*d, &out, (poison, taint), mask);
        }
        Op::Carry { f, d, a, b, c, sets, chained, first } => {
            let carry_in = if *chained { w.carry } else { *first };
            let carry = f(&w.value(core, *a), &w.value(core, *b), &w.value(core, *c), carry_in, &mut out);
            if *sets {
                w.carry = (w.carry & !mask) | (carry & mask);
            }
            let meta = w.meta(&[*a, *b, *c]);
            w.put(*d, &out, meta, mask);
        }
        Op::Lop3 { d, a, b, c, table, test } => {
            let (x, y, z) = (w.value(core, *a), w.value(core, *b), w.value(core, *c));
            for l in 0..32 {
                out[l] = lop3(x[l], y[l], z[l], *table) & 0xffff_ffff;
            }
            let meta = w.meta(&[*a, *b, *c]);
            if let Some(d) = d {
                w.put(*d, &out, meta, mask);
            }
            if let Some((p, logic, q)) = test {
                let set = out.iter().enumerate().fold(0, |m, (l, v)| m | u32::from(*v != 0) << l);
                let (q, unsure) = (w.predicate(*q), w.predicate_poison(*q));
                let poison = merge_poison(*logic, set, poison_lanes(meta.0), q, unsure);
                w.set_pred(*p, combine(*logic, set, q), poison, mask);
                set_pred_taint(w, *p, meta.1);
            }
        }
        Op::Bfi { d, a, b, pos, len, bits } => {
            let (x, y) = (w.value(core, *a), w.value(core, *b));
            let (p, n) = (w.value(core, *pos), w.value(core, *len));
            for l in 0..32 {
                out[l] = insert(x[l], y[l], p[l], n[l], u64::from(*bits)) & low_mask(u32::from(*bits));
            }
            let meta = w.meta(&[*a, *b, *pos, *len]);
            w.put(*d, &out, meta, mask);
        }
        Op::MovPair { d, a } => {
            let values = a.map(|a| (w.value(core, a), (w.poison_of(a), w.taint_of(a))));
            for (d, (v, meta)) in d.iter().zip(values) {
                if let Some(d) = d {
                    w.put(*d, &v, meta, mask);
                }
            }
        }
        Op::Formula { f, d, srcs } => {
            let values: SmallVec<[Lanes; 3]> = srcs.iter().map(|s| w.value(core, *s)).collect();
            f.apply(&values, &mut out);
            let meta = w.meta(srcs);
            w.put(*d, &out, meta, mask);
        }
        Op::Cvt { spec, d, a, b } => {
            let x = w.value(core, *a);
            let low = b.unwrap_or(Src::Imm(0));
            let y = w.value(core, low);
            for l in 0..32 {
                if mask >> l & 1 == 1 {
                    out[l] = spec.apply(x[l], y[l]);
                }
            }
            let (mut poison, taint) = w.meta(&[*a, low]);
            // Two in one register: what is defined in part counts as defined, as where parts are packed.
            if b.is_some() {
                poison = w.poison_of(*a) & w.poison_of(low);
            }
            w.put(*d, &out, (poison, taint), mask);
        }
        Op::Selp { d, a, b, p } => {
            let (x, y, q) = (w.value(core, *a), w.value(core, *b), w.predicate(*p));
            for l in 0..32 {
                out[l] = if q >> l & 1 == 1 { x[l] } else { y[l] };
            }
            let both = u64::from(q) | u64::from(q) << 32;
            let unsure = u64::from(w.predicate_poison(*p));
            let poison = (w.poison_of(*a) & both) | (w.poison_of(*b) & !both) | unsure | unsure << 32;
            let taint = w.taint_of(*a) || w.taint_of(*b);
            w.put(*d, &out, (poison, taint), mask);
        }
        Op::Pack { d, parts, bits } => pack(core, w, *d, parts, u32::from(*bits), mask),
        Op::Unpack { d, a, bits } => {
            let v = w.value(core, *a);
            let (poison, taint) = (w.poison_of(*a), w.taint_of(*a));
            for (i, reg) in d.iter().enumerate() {
                let Some(reg) = reg else { continue };
                let shift = u32::from(*bits) * i as u32;
                for l in 0..32 {
                    out[l] = v[l] >> shift & low_mask(u32::from(*bits));
                }
                let half = if shift >= 32 { poison >> 32 } else { poison & 0xffff_ffff };
                w.put(*reg, &out, (half | half << 32, taint), mask);
            }
        }
        _ => return predicates(core, w, op, pc, mask),
    }
    Some(Flow::Next)
}

fn is_move(a: Src, w: &Warp, out: &Lanes) -> bool {
    matches!(a, Src::Reg(r) if w.regs.get(r as usize) == Some(out))
}

/// The upper 16-bit halves.
fn upper(x: &Lanes) -> Lanes {
    x.map(|v| v >> 16 & 0xffff)
}

fn lop3(a: u64, b: u64, c: u64, table: u8) -> u64 {
    (0..8_u32).filter(|i| table >> i & 1 == 1).fold(0, |d, i| {
        let pick = |x: u64, bit: u32| if i >> bit & 1 == 1 { x } else { !x };
        d | (pick(a, 2) & pick(b, 1) & pick(c, 0))
    })
}

fn pack(core: &Core<'_>, w: &mut Warp, d: u32, parts: &[Src], bits: u32, mask: u32) {
    let mut out = [0; 32];
    let (mut poison, mut taint) = (0, false);
    // LLVM fills words with undefined 8- and 16-bit parts that it drops later; poison is kept for halves of 32 bits,
    // so a word with a defined part counts as defined.
    let all = parts.iter().fold(u32::MAX, |all, s| all & poison_lanes(w.poison_of(*s)));
    for (i, s) in parts.iter().enumerate() {
        let v = w.value(core, *s);
        let shift = bits * i as u32;
        for l in 0..32 {
            out[l] |= (v[l] & low_mask(bits)) << shift;
        }
        let p = poison_lanes(w.poison_of(*s) & if bits <= 32 { 0xffff_ffff } else { u64::MAX });
        let p = u64::from(if bits < 32 { p & all } else { p });
        poison |= if shift >= 32 { p << 32 } else { p };
        taint |= w.taint_of(*s);
    }
    if parts.len() as u32 * bits <= 32 {
        poison |= poison << 32;
    }
    w.put(d, &out, (poison, taint), mask);
}

fn predicates(core: &mut Core<'_>, w: &mut Warp, op: &Op, _pc: u32, mask: u32) -> Option<Flow> {
    match op {
        Op::Setp { f, d, q, a, b, with } => {
            let v = f(&w.value(core, *a), &w.value(core, *b));
            let (poison, taint) = w.meta(&[*a, *b]);
            let poison = poison_lanes(poison);
            let (mut yes, mut no, mut unsure) = (v, !v, poison);
            if let Some((logic, c)) = with {
                let c_value = w.predicate(*c);
                yes = combine(*logic, v, c_value);
                no = combine(*logic, !v, c_value);
                unsure = merge_poison(*logic, v, poison, c_value, w.predicate_poison(*c));
            }
            for (p, value) in [(d, yes), (q, no)] {
                if let Some(p) = p {
                    w.set_pred(*p, value, unsure, mask);
                    if let Some(t) = w.pred_tainted.get_mut(*p as usize) {
                        *t = taint;
                    }
                }
            }
        }
        Op::SetpHalves { f, d, q, a, b, with } => {
            let (x, y) = (w.value(core, *a), w.value(core, *b));
            let (poison, taint) = w.meta(&[*a, *b]);
            let poison = poison_lanes(poison);
            for (p, value) in [(d, f(&x, &y)), (q, f(&upper(&x), &upper(&y)))] {
                let Some(p) = p else { continue };
                let (value, unsure) = match with {
                    None => (value, poison),
                    Some((logic, c)) => {
                        let (c, unsure) = (w.predicate(*c), w.predicate_poison(*c));
                        (combine(*logic, value, c), merge_poison(*logic, value, poison, c, unsure))
                    }
                };
                w.set_pred(*p, value, unsure, mask);
                set_pred_taint(w, *p, taint);
            }
        }
        Op::PMov { d, a } => {
            let (v, p, t) = (w.predicate(*a), w.predicate_poison(*a), pred_taint(w, *a));
            w.set_pred(*d, v, p, mask);
            set_pred_taint(w, *d, t);
        }
        Op::PLogic { d, a, b, logic } => {
            let (x, y) = (w.predicate(*a), w.predicate(*b));
            let poison = merge_poison(*logic, x, w.predicate_poison(*a), y, w.predicate_poison(*b));
            let t = pred_taint(w, *a) || pred_taint(w, *b);
            w.set_pred(*d, combine(*logic, x, y), poison, mask);
            set_pred_taint(w, *d, t);
        }
        Op::Cvta { d, a, space, to } => {
            let mut v = w.value(core, *a);
            let base = match space {
                Space::Shared | Space::SharedCluster => SHARED_WINDOW,
                Space::Local => LOCAL_WINDOW,
                Space::Param => PARAM_WINDOW,
                _ => 0,
            };
            v.iter_mut().for_each(|x| *x = if *to { x.wrapping_sub(base) } else { x.wrapping_add(base) });
            let meta = w.meta(&[*a]);
            w.put(*d, &v, meta, mask);
        }
        Op::IsSpace { p, a, space } => {
            let v = w.value(core, *a);
            let mut yes = 0;
            for (l, x) in v.iter().enumerate() {
                let here = match core.spot(Space::Generic, *x, w.cta) {
                    Spot::Shared(cta, _) => {
                        *space == Space::SharedCluster || *space == Space::Shared && cta == w.cta
                    }
                    Spot::Local(_) => *space == Space::Local,
                    Spot::Param(_) => *space == Space::Param,
                    Spot::Global(_) => *space == Space::Global,
                    Spot::Nowhere => false,
                };
                yes |= u32::from(here) << l;
            }
            w.set_pred(*p, yes, w.meta(&[*a]).0 as u32, mask);
        }
        Op::Mapa { d, a, rank, generic, get_rank } => {
            let (v, r) = (w.value(core, *a), w.value(core, *rank));
            let mut out = [0; 32];
            for l in 0..32 {
                let base = if *generic { SHARED_WINDOW } else { 0 };
                let offset = v[l].wrapping_sub(base);
                out[l] = if *get_rank {
                    (offset >> 24).checked_sub(1).unwrap_or(u64::from(w.cta))
                } else {
                    base + ((r[l] + 1) << 24 | offset & 0xff_ffff)
                };
            }
            let meta = w.meta(&[*a, *rank]);
            w.put(*d, &out, meta, mask);
        }
        _ => return None,
    }
    Some(Flow::Next)
}

fn combine(logic: Logic, a: u32, b: u32) -> u32 {
    match logic {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
    }
}

/// A known false hides poison from `and`, a known true from `or`.
fn merge_poison(logic: Logic, a: u32, pa: u32, b: u32, pb: u32) -> u32 {
    let both = pa | pb;
    match logic {
        Logic::And => both & !(!a & !pa) & !(!b & !pb),
        Logic::Or => both & !(a & !pa) & !(b & !pb),
        Logic::Xor => both & FULL,
    }
}

fn pred_taint(w: &Warp, p: crate::isa::op::PSrc) -> bool {
    match p {
        crate::isa::op::PSrc::Reg(r, _) => w.pred_tainted.get(r as usize).copied().unwrap_or(false),
        crate::isa::op::PSrc::Imm(_) => false,
    }
}

fn set_pred_taint(w: &mut Warp, p: u32, taint: bool) {
    if let Some(t) = w.pred_tainted.get_mut(p as usize) {
        *t = taint;
    }
}
