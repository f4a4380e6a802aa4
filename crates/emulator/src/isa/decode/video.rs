//! The video instructions, on one part of each operand or on all of them.

use super::context::{Context, Res};
use super::mods::Mods;
use crate::isa::formula::Formula;
use crate::isa::op::{Op, Src};
use crate::isa::types::Ty;
use crate::isa::video::{Action, MultiplyAdd, Parallel, Part, Scalar, Second, WHOLE};
use warploom_ptx::Operand;

/// Whether an opcode is one of them.
pub(crate) fn is_video(base: &str) -> bool {
    let name = base.trim_end_matches(['2', '4']);
    action(name).is_some() || matches!(name, "vmad" | "vset" | "vshl" | "vshr")
}

fn action(name: &str) -> Option<Action> {
    Some(match name {
        "vadd" => Action::Add,
        "vsub" => Action::Sub,
        "vavrg" => Action::Average,
        "vabsdiff" => Action::Distance,
        "vmin" => Action::Min,
        "vmax" => Action::Max,
        _ => return None,
    })
}

fn comparison(m: &mut Mods<'_>) -> Res<Action> {
    let found = m.take(|w| {
        Some(match w {
            "eq" => Action::Eq,
            "ne" => Action::Ne,
            "lt" => Action::Lt,
            "le" => Action::Le,
            "gt" => Action::Gt,
            "ge" => Action::Ge,
            _ => return None,
        })
    });
    found.ok_or_else(|| m.unknown("it has no comparison"))
}

pub(crate) fn video<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    match m.base.as_bytes().last() {
        Some(b'2') => parallel(cx, m, args, 16),
        Some(b'4') => parallel(cx, m, args, 8),
        _ if m.base == "vmad" => multiply_add(cx, m, args),
        _ => scalar(cx, m, args),
    }
}

/// Takes the next type: whether it is signed.
fn signed(m: &mut Mods<'_>) -> Res<bool> {
    match m.ty()? {
        Ty::S32 => Ok(true),
        Ty::U32 => Ok(false),
        _ => Err(m.unknown("types")),
    }
}

/// A word and what picks a part of it, `%r1.b3`; and whether it is negated.
fn picked<'a, 'r>(raw: &'r Operand<'a>) -> (Operand<'a>, &'a str, bool) {
    let split = |name: &'a str| match name.rsplit_once('.') {
        // Not that of `%tid.x`.
        Some((word, pick)) if pick.starts_with(['b', 'h']) => (word, pick),
        _ => (name, ""),
    };
    match raw {
        Operand::Name(name) => {
            let (word, pick) = split(name);
            (Operand::Name(word), pick, false)
        }
        Operand::Minus(name) => {
            let (word, pick) = split(name);
            (Operand::Name(word), pick, true)
        }
        other => (other.clone(), "", false),
    }
}

fn part(m: &Mods<'_>, pick: &str) -> Res<Part> {
    Ok(match pick {
        "" => WHOLE,
        "b0" => Part { first: 0, bits: 8 },
        "b1" => Part { first: 8, bits: 8 },
        "b2" => Part { first: 16, bits: 8 },
        "b3" => Part { first: 24, bits: 8 },
        "h0" => Part { first: 0, bits: 16 },
        "h1" => Part { first: 16, bits: 16 },
        _ => return Err(m.unknown(&format!("the part .{pick}"))),
    })
}

/// Two operands with their parts, and the third if there is one.
type Operands = ([Src; 3], [Part; 2], [bool; 3]);

fn operands<'a>(cx: &mut Context<'_, 'a>, m: &Mods<'_>, args: &[Operand<'a>]) -> Res<Operands> {
    let (mut srcs, mut parts, mut negated) = ([Src::Imm(0); 3], [WHOLE; 2], [false; 3]);
    for (i, raw) in args.iter().skip(1).take(3).enumerate() {
        let (word, pick, minus) = picked(raw);
        (srcs[i], negated[i]) = (cx.src(&word, Ty::B32)?, minus);
        match parts.get_mut(i) {
            Some(slot) => *slot = part(m, pick)?,
            None if pick.is_empty() => {}
            None => return Err(m.unknown("a part of the third operand")),
        }
    }
    if negated != [false; 3] && m.base != "vmad" {
        return Err(m.unknown("a negated operand"));
    }
    Ok((srcs, parts, negated))
}

fn formula(d: u32, srcs: [Src; 3], f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Op {
    Op::Formula { f: Formula::new(f), d, srcs: srcs.into() }
}

/// `vop.dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}`.
fn scalar<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    let compares = m.base == "vset";
    let action = match m.base {
        "vset" => comparison(m)?,
        "vshl" | "vshr" => {
            let wrap = match m.one_of(&["clamp", "wrap"]) {
                Some(mode) => mode == "wrap",
                None => return Err(m.unknown(".clamp or .wrap is missing")),
            };
            if m.base == "vshl" { Action::Shl { wrap } } else { Action::Shr { wrap } }
        }
        base => action(base).ok_or_else(|| m.unknown("operation"))?,
    };
    let to_signed = if compares { None } else { Some(signed(m)?) };
    let types = [signed(m)?, signed(m)?];
    let saturates = m.flag("sat");
    let second = m.one_of(&["add", "min", "max"]);
    cx.count(args, 3, 4)?;
    let (d, pick, _) = picked(cx.arg(args, 0)?);
    let second = match (second, pick) {
        (None, "") => Second::None,
        (Some("add"), "") => Second::Add,
        (Some("min"), "") => Second::Min,
        (Some(_), "") => Second::Max,
        (None, pick) => Second::Merge(part(m, pick)?),
        _ => return Err(m.unknown("a second operation on a part of the result")),
    };
    let want = 3 + usize::from(second != Second::None);
    cx.count(args, want, want)?;
    let d = cx.dst(&d)?;
    let (srcs, parts, _) = operands(cx, m, args)?;
    // A comparison has the type of its second operand.
    let to_signed = to_signed.unwrap_or(types[1]);
    let s = Scalar { action, parts, signed: types, to_signed, saturates, second };
    Ok(formula(d, srcs, move |a, b, c| s.apply(a, b, c)))
}

/// `vmad.dtype.atype.btype{.po}{.sat}{.scale} d, {-}a{.asel}, {-}b{.bsel}, {-}c`.
fn multiply_add<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>]) -> Res<Op> {
    signed(m)?;
    let types = [signed(m)?, signed(m)?];
    let (plus_one, saturates) = (m.flag("po"), m.flag("sat"));
    let scale = match m.one_of(&["shr7", "shr15"]) {
        Some("shr7") => 7,
        Some(_) => 15,
        None => 0,
    };
    cx.count(args, 4, 4)?;
    let d = cx.dst(cx.arg(args, 0)?)?;
    let (srcs, parts, [a, b, c]) = operands(cx, m, args)?;
    let negates_product = a != b;
    if plus_one && (a || b || c) || negates_product && c {
        return Err(m.unknown("these negations together"));
    }
    let v = MultiplyAdd { parts, signed: types, negates_product, negates_sum: c, plus_one, saturates, scale };
    Ok(formula(d, srcs, move |a, b, c| v.apply(a, b, c)))
}

/// Which parts `.b7654` or `.h32` picks: as many as there are places, the lowest first.
fn picks(m: &Mods<'_>, pick: &str, letter: char, default: &[u8]) -> Res<[u8; 4]> {
    let mut list = [0; 4];
    let Some(digits) = pick.strip_prefix(letter) else {
        if !pick.is_empty() {
            return Err(m.unknown(&format!("the parts .{pick}")));
        }
        list.iter_mut().zip(default).for_each(|(slot, i)| *slot = *i);
        return Ok(list);
    };
    let parts = 2 * default.len() as u32;
    let each: Option<Vec<u8>> =
        digits.chars().rev().map(|c| c.to_digit(10).filter(|i| *i < parts).map(|i| i as u8)).collect();
    match each.filter(|each| each.len() == default.len()) {
        Some(each) => list.iter_mut().zip(each).for_each(|(slot, i)| *slot = i),
        None => return Err(m.unknown(&format!("the parts .{pick}"))),
    }
    Ok(list)
}

/// `vop4.dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c`, and on halves.
fn parallel<'a>(cx: &mut Context<'_, 'a>, m: &mut Mods<'_>, args: &[Operand<'a>], bits: u32) -> Res<Op> {
    let name = m.base.trim_end_matches(['2', '4']);
    let compares = name == "vset";
    let action = if compares { Some(comparison(m)?) } else { action(name) };
    let action = action.ok_or_else(|| m.unknown("operation"))?;
    let to_signed = if compares { false } else { signed(m)? };
    let types = [signed(m)?, signed(m)?];
    let (saturates, adds) = (m.flag("sat"), m.flag("add"));
    if saturates && adds {
        return Err(m.unknown("a sum that saturates"));
    }
    cx.count(args, 4, 4)?;
    let (letter, low, high): (char, &[u8], &[u8]) =
        if bits == 8 { ('b', &[0, 1, 2, 3], &[4, 5, 6, 7]) } else { ('h', &[0, 1], &[2, 3]) };
    let (d, mask, _) = picked(cx.arg(args, 0)?);
    let d = cx.dst(&d)?;
    let all = low.len() as u32;
    let mask = match mask.strip_prefix(letter) {
        None if mask.is_empty() => Some((1_u8 << all) - 1),
        None => None,
        Some(digits) => digits.chars().try_fold(0, |mask, c| {
            let i = c.to_digit(10).filter(|i| *i < all)?;
            Some(mask | 1 << i)
        }),
    };
    let mask = mask.filter(|mask| *mask != 0).ok_or_else(|| m.unknown("places of the result"))?;
    let (mut srcs, mut chosen) = ([Src::Imm(0); 3], [[0; 4]; 2]);
    for (i, raw) in args.iter().skip(1).take(3).enumerate() {
        let (word, pick, minus) = picked(raw);
        if minus {
            return Err(m.unknown("a negated operand"));
        }
        srcs[i] = cx.src(&word, Ty::B32)?;
        if let Some(slot) = chosen.get_mut(i) {
            *slot = picks(m, pick, letter, if i == 0 { low } else { high })?;
        } else if !pick.is_empty() {
            return Err(m.unknown("parts of the third operand"));
        }
    }
    let p = Parallel { action, bits, picks: chosen, signed: types, to_signed, saturates, adds, mask };
    Ok(formula(d, srcs, move |a, b, c| p.apply(a, b, c)))
}
