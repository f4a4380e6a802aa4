//! From statements to compact operations. Modifiers become typed fields (E14); what is left over is refused.

pub(crate) mod alu;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod copy;
mod cvt;
pub(crate) mod memory;
pub(crate) mod mods;
pub(crate) mod predicates;
mod qualifiers;
mod seldom;
pub(crate) mod sync;
pub(crate) mod tcgen;
pub(crate) mod tensor;
pub(crate) mod texture;
mod video;
pub(crate) mod wmma;

use self::context::{Context, Res};
use self::mods::Mods;
use super::op::{Inst, Presence};
use warploom_ptx::Step;

/// Decodes one instruction.
pub(crate) fn instruction<'a>(cx: &mut Context<'_, 'a>, step: &Step<'_, 'a>) -> Res<Inst> {
    cx.begin(step);
    let raw = step.instruction;
    let line = raw.line.0;
    let mut mods = Mods::new(raw.opcode, line);
    let args = &raw.operands;
    let mut presence = Presence::Alone;
    let op = match mods.base {
        "cp" => copy::copies(cx, &mut mods, args)?,
        "clusterlaunchcontrol" => copy::cancel(cx, &mut mods, args)?,
        "tensormap" => copy::tensormap(cx, &mut mods, args)?,
        "ld" | "ldu" => memory::load(cx, &mut mods, args)?,
        "st" => memory::store(cx, &mut mods, args)?,
        "atom" | "red" => memory::atomic(cx, &mut mods, args)?,
        "multimem" => memory::multimem(cx, &mut mods, args)?,
        "cvta" | "isspacep" | "mapa" | "getctarank" => memory::address(cx, &mut mods, args)?,
        "prefetch" | "prefetchu" | "applypriority" | "discard" | "createpolicy" => {
            memory::hint(cx, &mut mods, args)?
        }
        "bar" | "barrier" => sync::barrier(cx, &mut mods, args, &mut presence)?,
        "mbarrier" => sync::mbarrier(cx, &mut mods, args)?,
        "fence" | "membar" => sync::fence(cx, &mut mods, args)?,
        "elect" | "shfl" | "vote" | "match" | "redux" | "activemask" => {
            sync::warp(cx, &mut mods, args, &mut presence)?
        }
        "setmaxnreg" | "griddepcontrol" | "nanosleep" | "pmevent" => {
            sync::machine(cx, &mut mods, args, &mut presence)?
        }
        _ if wmma::is_narrow(&mods) => {
            presence = Presence::Warp;
            wmma::narrow(cx, &mut mods, args)?
        }
        "mma" | "wgmma" | "ldmatrix" | "stmatrix" | "movmatrix" => {
            presence = Presence::Warp;
            tensor::matrix(cx, &mut mods, args)?
        }
        "tcgen05" => tcgen::tcgen05(cx, &mut mods, args, &mut presence)?,
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "call" | "alloca" | "stacksave"
        | "stackrestore" => control::branch(cx, &mut mods, args)?,
        "tex" | "tld4" | "txq" | "suld" | "sust" | "sured" | "suq" => texture::texture(cx, &mut mods, args)?,
        "wmma" => {
            presence = Presence::Warp;
            wmma::wmma(cx, &mut mods, args)?
        }
        base if video::is_video(base) => video::video(cx, &mut mods, args)?,
        _ => alu::arithmetic(cx, &mut mods, args)?,
    };
    mods.finish()?;
    let guard = match raw.guard {
        None => None,
        Some(guard) => Some((cx.pred(guard.name)?, guard.negated)),
    };
    let loc = step.location.map_or(0, |at| at + 1);
    Ok(Inst { guard, op, presence, line, opcode: cx.opcode(raw.opcode), loc })
}
