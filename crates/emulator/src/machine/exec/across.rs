//! Instructions across the lanes of a warp (E53). Each orders the lanes it joins; with `strict` only `bar.warp.sync` does.

use super::flow::Flow;
use super::meet;
use crate::isa::lanes::Lanes;
use crate::isa::op::{Op, Shuffle, Vote};
use crate::machine::actor::actor;
use crate::machine::core::Core;
use crate::machine::warp::{FULL, Wait, Warp};

/// Runs an instruction of this family; `None` for others.
pub(crate) fn run(core: &mut Core<'_>, w: &mut Warp, op: &Op, pc: u32, mask: u32) -> Option<Flow> {
    let member = match op {
        Op::Shfl { mask, .. }
        | Op::Vote { mask, .. }
        | Op::Match { mask, .. }
        | Op::Redux { mask, .. }
        | Op::Elect { mask, .. }
        | Op::BarWarp { mask } => *mask,
        Op::ActiveMask { d } => {
            w.put(*d, &[u64::from(mask); 32], (0, false), mask);
            return Some(Flow::Next);
        }
        _ => return None,
    };
    let masks = w.value(core, member);
    let first = masks.get(mask.trailing_zeros() as usize).copied().unwrap_or(0);
    let same = |value: u64| {
        (0..32).filter(|l| mask >> l & 1 == 1 && masks[*l] == value).fold(0_u32, |m, l| m | 1 << l)
    };
    let mut left = mask & !same(first);
    if left == 0 {
        return Some(group(core, w, op, pc, mask, first as u32));
    }
    // Parts of a warp, each with a mask of its own, as tiles of cooperative groups are.
    left = mask;
    while left != 0 {
        let value = masks.get(left.trailing_zeros() as usize).copied().unwrap_or(0);
        let lanes = same(value);
        group(core, w, op, pc, lanes, value as u32);
        left &= !lanes;
    }
    Some(Flow::Next)
}

/// Runs it for lanes that all name the same members.
fn group(core: &mut Core<'_>, w: &mut Warp, op: &Op, pc: u32, mask: u32, members: u32) -> Flow {
    let mut missing = members & w.live & !mask;
    let mut here = members & mask;
    if missing != 0 && matches!(op, Op::BarWarp { .. }) && missing & !meet::meeting(core, w, members) == 0 {
        let parked = meet::parked(w, members);
        if missing & !parked != 0 {
            return Flow::Park(Wait::Lanes(members));
        }
        meet::part(w, members);
        here |= parked;
        missing = 0;
    }
    let absent = members & !w.born;
    if missing | absent != 0 || mask & !members != 0 {
        let a = actor(w, pc, mask);
        let message = format!("member mask {members:#010x} but lanes {mask:#010x} execute the instruction");
        core.error("C02", &a, message, "name exactly the lanes that come here");
    }
    match op {
        Op::Shfl { mode, d, p, a, b, c, .. } => {
            let (v, sel, clamp) = (w.value(core, *a), w.value(core, *b), w.value(core, *c));
            let poison = w.meta(&[*a]).0;
            let index_poison = w.meta(&[*b, *c]).0;
            let (mut out, mut valid, mut bad): (Lanes, u32, u64) = ([0; 32], 0, index_poison);
            for l in 0..32_u32 {
                let (from, ok) = source(*mode, l, sel[l as usize] as u32, clamp[l as usize] as u32);
                out[l as usize] = v[from as usize & 31];
                valid |= u32::from(ok) << l;
                // What a lane gives that does not come here is undefined.
                if poison >> (from & 31) & 1 == 1 || here >> (from & 31) & 1 == 0 {
                    bad |= 1 << l | 1 << (l + 32);
                }
            }
            let taint = w.taint_of(*a);
            w.put(*d, &out, (bad, taint), mask);
            if let Some(p) = p {
                w.set_pred(*p, valid, index_poison as u32, mask);
            }
        }
        Op::Vote { mode, d, p, a, .. } => {
            let v = w.predicate(*a) & here;
            let poison = if w.predicate_poison(*a) & here != 0 { FULL } else { 0 };
            if let Some(d) = d {
                let p = u64::from(poison);
                w.put(*d, &[u64::from(v); 32], (p | p << 32, false), mask);
            }
            let yes = match mode {
                Vote::All => v == here,
                Vote::Any => v != 0,
                Vote::Uniform | Vote::Ballot => v == here || v == 0,
            };
            if let Some(p) = p {
                w.set_pred(*p, if yes { FULL } else { 0 }, poison, mask);
            }
        }
        Op::Match { all, d, p, a, .. } => {
            let v = w.value(core, *a);
            let equal =
                |x: u64| (0..32).filter(|l| here >> l & 1 == 1 && v[*l] == x).fold(0_u32, |m, l| m | 1 << l);
            let mut out = [0; 32];
            let mut agree = 0;
            for l in 0..32 {
                let m = equal(v[l]);
                let whole = m == here;
                out[l] = u64::from(if *all && !whole { 0 } else { m });
                agree |= u32::from(whole) << l;
            }
            // What one lane brings decides about the masks of all.
            let (poison, taint) = w.meta(&[*a]);
            let any = if poison as u32 & here != 0 { FULL } else { 0 };
            w.put(*d, &out, (u64::from(any) | u64::from(any) << 32, taint), mask);
            if let Some(p) = p {
                w.set_pred(*p, agree, any, mask);
            }
        }
        Op::Redux { f, d, a, .. } => {
            let v = w.value(core, *a);
            let mut acc: Option<u64> = None;
            for (l, x) in v.iter().enumerate() {
                if here >> l & 1 == 1 {
                    acc = Some(match acc {
                        None => *x,
                        Some(y) => {
                            let mut out = [0; 32];
                            f(&[y; 32], &[*x; 32], &mut out);
                            out[0]
                        }
                    });
                }
            }
            let (poison, taint) = w.meta(&[*a]);
            let any = if poison as u32 & here != 0 { u64::MAX } else { 0 };
            w.put(*d, &[acc.unwrap_or(0); 32], (any, taint), mask);
        }
        Op::Elect { d, p, .. } => {
            // Any lane, but the same for the same mask (E10).
            let n = members.count_ones().max(1);
            let nth =
                if core.any_lane { (core.elect_salt ^ members).wrapping_mul(0x9e37_79b9) >> 16 } else { 0 }
                    % n;
            let mut rest = members;
            for _ in 0..nth {
                rest &= rest.wrapping_sub(1);
            }
            let leader = rest.trailing_zeros().min(31);
            if let Some(d) = d {
                w.put(*d, &[u64::from(leader); 32], (0, false), mask);
            }
            if let Some(p) = p {
                w.set_pred(*p, 1 << leader, 0, mask);
            }
        }
        _ => {}
    }
    // PTX promises order of memory for bar.warp.sync alone.
    if core.race && (!core.opts.strict || matches!(op, Op::BarWarp { .. })) {
        w.sync_lanes(here);
    }
    Flow::Next
}

/// The lane that lane `j` reads, and whether it is in range (E53).
fn source(mode: Shuffle, j: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let most = (j & segment) | (clamp & !segment);
    let least = j & segment;
    let (from, ok) = match mode {
        Shuffle::Up => {
            let from = j.wrapping_sub(b);
            (from, from as i32 >= most as i32)
        }
        Shuffle::Down => (j + b, j + b <= most),
        Shuffle::Butterfly => (j ^ b, j ^ b <= most),
        Shuffle::Index => {
            let from = least | (b & !segment);
            (from, from <= most)
        }
    };
    if ok { (from, true) } else { (j, false) }
}
