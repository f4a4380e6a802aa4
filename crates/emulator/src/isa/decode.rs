//! From statements to compact operations. Modifiers become typed fields (E14); what is left over is refused.

pub(crate) mod alu;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod copy;
pub(crate) mod memory;
pub(crate) mod mods;
pub(crate) mod predicates;
pub(crate) mod sync;
pub(crate) mod tcgen;
pub(crate) mod tensor;

use self::context::Context;
use self::mods::Mods;
use super::op::{Inst, Presence};
use crate::error::Diagnostic;
use crate::ptx::raw::RawInst;

pub(crate) type Res<T> = Result<T, Diagnostic>;

/// Decodes one instruction.
pub(crate) fn instruction<'a>(cx: &mut Context<'_, 'a>, raw: &RawInst<'a>) -> Res<Inst> {
    cx.begin(raw);
    let mut mods = Mods::new(raw.opcode, raw.line);
    let args = &raw.operands;
    let mut presence = Presence::Alone;
    let op = match mods.base {
        "cp" => copy::copies(cx, &mut mods, args)?,
        "tensormap" => copy::tensormap(cx, &mut mods, args)?,
        "ld" | "ldu" => memory::load(cx, &mut mods, args)?,
        "st" => memory::store(cx, &mut mods, args)?,
        "atom" | "red" => memory::atomic(cx, &mut mods, args)?,
        "cvta" | "isspacep" | "mapa" | "getctarank" => memory::address(cx, &mut mods, args)?,
        "prefetch" | "prefetchu" | "applypriority" | "discard" | "createpolicy" => {
            memory::hint(cx, &mut mods, args)?
        }
        "bar" | "barrier" => sync::barrier(cx, &mut mods, args, &mut presence)?,
        "mbarrier" => sync::mbarrier(cx, &mut mods, args)?,
        "fence" | "membar" => sync::fence(&mut mods)?,
        "elect" | "shfl" | "vote" | "match" | "redux" | "activemask" => {
            sync::warp(cx, &mut mods, args, &mut presence)?
        }
        "setmaxnreg" | "griddepcontrol" | "nanosleep" | "pmevent" => {
            sync::machine(cx, &mut mods, args, &mut presence)?
        }
        "mma" | "wgmma" | "ldmatrix" | "stmatrix" | "movmatrix" => {
            presence = Presence::Warp;
            tensor::matrix(cx, &mut mods, args)?
        }
        "tcgen05" => tcgen::tcgen05(cx, &mut mods, args, &mut presence)?,
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "call" => control::branch(cx, &mut mods, args)?,
        _ => alu::arithmetic(cx, &mut mods, args)?,
    };
    mods.finish()?;
    let guard = match raw.guard {
        None => None,
        Some((name, negated)) => Some((cx.pred(name)?, negated)),
    };
    Ok(Inst { guard, op, presence, line: raw.line, opcode: cx.opcode(raw.opcode), loc: raw.loc })
}
