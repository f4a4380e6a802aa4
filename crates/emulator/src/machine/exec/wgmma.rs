//! Issue, fence, wait of wgmma, and the rules for its registers (E42).

use super::flow::Flow;
use crate::isa::op::{Inst, Op, Src, Wgmma, WgmmaA};
use crate::machine::actor::actor;
use crate::machine::asynchronous::issue;
use crate::machine::core::Core;
use crate::machine::operations::{OperandLayout, WgmmaWork, Work};
use crate::machine::warp::{Cond, Held, Wait, Warp};
use crate::race::channel::{Kind, channel};
use std::rc::Rc;

/// Checks a product and issues this warp's part of it.
fn product(core: &mut Core<'_>, w: &mut Warp, g: &Wgmma, pc: u32, mask: u32) -> Option<()> {
    let a = actor(w, pc, mask);
    let scale = w.predicate(g.scale_d) & mask;
    if scale != 0 && scale != mask {
        core.error("W03", &a, "scale-d differs between lanes", "make it the same for the warpgroup");
    }
    let desc = |core: &mut Core<'_>, w: &Warp, s: Src, mn: bool| {
        let v = w.value(core, s);
        let first = w.scalar(core, s, mask);
        if (0..32).any(|l| mask >> l & 1 == 1 && v[l] != first) {
            core.error(
                "W03",
                &a,
                "the matrix descriptor differs between lanes",
                "compute it from uniform values",
            );
        }
        if w.poison_of(s) != 0 {
            super::alu::poisoned(core, w, pc, mask, "a matrix descriptor");
        }
        match OperandLayout::wgmma(first, mn) {
            Ok(l) => Some((l, first)),
            Err(why) => {
                core.error("W03", &a, why, "see E39");
                None
            }
        }
    };
    let (a_layout, a_bits) = match &g.a {
        WgmmaA::Desc(s) => {
            let (l, bits) = desc(core, w, *s, g.trans_a)?;
            (Some(l), bits)
        }
        WgmmaA::Regs(_) => (None, 0),
    };
    let (b_layout, b_bits) = desc(core, w, g.b, g.trans_b)?;
    drop(a);
    agree(core, w, pc, mask, [a_bits, b_bits, u64::from(scale != 0)]);
    check_fence(core, w, g, pc, mask);
    let work = WgmmaWork::new(a_layout, b_layout, scale != 0, w.index % 4);
    let n = issue(core, w, Kind::Wgmma, mask, pc, Work::Wgmma(Box::new(work)));
    w.wgmma.open.push((n, mask));
    let reads = match &g.a {
        WgmmaA::Regs(list) => list.iter().filter_map(reg_of).collect(),
        WgmmaA::Desc(_) => Vec::new(),
    };
    w.marks.held.push(Held::new(n, g.d.clone(), reads));
    let (mark, registers) = ((w.steps, shape(g)), w.regs.len());
    w.marks.product.resize(registers, (0, 0));
    for d in &g.d {
        if let Some(s) = w.marks.product.get_mut(*d as usize) {
            *s = mark;
        }
    }
    Some(())
}

/// `wgmma.mma_async`. A product whose descriptor was refused is left out.
pub(crate) fn multiply(core: &mut Core<'_>, w: &mut Warp, g: &Wgmma, pc: u32, mask: u32) -> Flow {
    product(core, w, g, pc, mask);
    Flow::Next
}

fn reg_of(s: &Src) -> Option<u32> {
    match s {
        Src::Reg(r) | Src::Plus(r, _) => Some(*r),
        _ => None,
    }
}

/// W03: the nth product of each warp of a warpgroup must be the same instruction with the same descriptors.
fn agree(core: &mut Core<'_>, w: &Warp, pc: u32, mask: u32, bits: [u64; 3]) {
    let group = (w.cta, w.index / 4);
    let n = core.numbers.get(channel(w.id, Kind::Wgmma) as usize).copied().unwrap_or(0);
    let entry = core.products.entry((group.0, group.1, n)).or_insert((pc, bits, 0));
    entry.2 += 1;
    let (other_pc, other_bits, seen) = *entry;
    if seen >= 4 {
        core.products.remove(&(group.0, group.1, n));
    }
    if other_pc != pc || other_bits != bits {
        let a = actor(w, pc, mask);
        let line = core.code.insts.get(other_pc as usize).map_or(0, |i| i.line);
        let message = format!("the warps of a warpgroup issue different products (another ran line {line})");
        core.error("W03", &a, message, "all four warps must issue the same wgmma with the same descriptors");
    }
}

/// What "the same shape" means for accumulators.
fn shape(g: &Wgmma) -> u32 {
    g.n << 8 | g.k
}

/// W02: a fence between other writes to the registers and the product, unless only products of this shape
/// wrote them.
fn check_fence(core: &mut Core<'_>, w: &Warp, g: &Wgmma, pc: u32, mask: u32) {
    let fence = w.marks.fence;
    let after = |step: u64| fence.is_none_or(|f| step > f);
    let written = |r: &u32| after(w.marks.touched.get(*r as usize).copied().unwrap_or(0));
    let other_shape = |r: &u32| {
        w.marks.product.get(*r as usize).is_some_and(|(step, s)| *step > 0 && after(*step) && *s != shape(g))
    };
    let mut bad = fence.is_none() || g.d.iter().any(|r| written(r) || other_shape(r));
    if let WgmmaA::Regs(list) = &g.a {
        bad |= list.iter().filter_map(reg_of).any(|r| written(&r));
    }
    if bad {
        let a = actor(w, pc, mask);
        core.error(
            "W02",
            &a,
            "no wgmma.fence between writes to its registers and this product",
            "wgmma.fence.sync.aligned before the first product of a body (C30)",
        );
    }
}

/// `wgmma.fence`.
pub(crate) fn fence(w: &mut Warp) -> Flow {
    w.marks.fence = Some(w.steps);
    Flow::Next
}

/// `wgmma.wait_group`.
pub(crate) fn wait(core: &mut Core<'_>, w: &mut Warp, keep: u32, mask: u32) -> Flow {
    let covered = w.wgmma.covered(keep, mask);
    if covered.iter().any(|n| core.in_flight(w.id, Kind::Wgmma, *n)) {
        return Flow::Stay(Wait::Retry(Cond::Wgmma { keep }));
    }
    if core.race {
        let id = w.id;
        let c = Rc::make_mut(&mut w.clock);
        covered.iter().for_each(|n| c.complete(channel(id, Kind::Wgmma), *n));
    }
    w.marks.held.retain(|h| !covered.contains(&h.number));
    w.wgmma.forget(keep, mask);
    Flow::Next
}

/// W01: registers of products in flight. A plain move of an accumulator only gives it another name, which ptxas
/// and Triton rely on: the new name is held too, and the warp waits for the operation whose number is returned.
pub(crate) fn guard_registers(
    core: &mut Core<'_>,
    w: &mut Warp,
    inst: &Inst,
    pc: u32,
    mask: u32,
) -> Option<u32> {
    if matches!(inst.op, Op::Wgmma(_)) {
        guard_product(core, w, inst, pc, mask);
        return None;
    }
    let code = core.code;
    let uses = code.uses.get(pc as usize)?;
    let near = |(r, _): &(u32, bool)| w.marks.held.iter().any(|h| h.span.contains(r));
    if !uses.iter().any(near) {
        return None;
    }
    let opcode = code.opcodes.get(inst.opcode as usize).map_or("", String::as_str);
    if opcode.starts_with("mov.") {
        let read = |d: &[u32]| uses.iter().any(|(r, writes)| !writes && d.contains(r));
        let sources: Vec<u32> = w.marks.held.iter().filter(|h| read(&h.d)).map(|h| h.number).collect();
        if let Some(n) = sources.iter().find(|n| core.in_flight(w.id, Kind::Wgmma, **n)) {
            return Some(*n);
        }
        if let Some(n) = sources.first() {
            let names = uses.iter().filter(|(_, writes)| *writes).map(|(r, _)| *r).collect();
            w.marks.held.push(Held::new(*n, names, Vec::new()));
            return None;
        }
    }
    let hit = uses
        .iter()
        .find(|(r, writes)| w.marks.held.iter().any(|h| h.d.contains(r) || (*writes && h.a.contains(r))));
    if let Some((r, _)) = hit {
        let name = core.code.names.get(*r as usize).cloned().unwrap_or_default();
        let a = actor(w, pc, mask);
        let message = format!("{name} belongs to a wgmma that has not been waited for");
        core.error("W01", &a, message, "wgmma.wait_group before the registers are touched");
    }
    None
}

/// Remembers which registers an ordinary instruction wrote, for W02.
pub(crate) fn note_writes(core: &Core<'_>, w: &mut Warp, pc: u32) {
    let Some(uses) = core.code.uses.get(pc as usize) else { return };
    let step = w.steps;
    let registers = w.regs.len();
    if w.marks.touched.len() < registers {
        w.marks.touched.resize(registers, 0);
    }
    for (r, writes) in uses {
        if *writes && let Some(t) = w.marks.touched.get_mut(*r as usize) {
            *t = step;
        }
    }
}

/// A product may only share accumulators with earlier ones of its own shape.
fn guard_product(core: &mut Core<'_>, w: &mut Warp, inst: &Inst, pc: u32, mask: u32) {
    let Op::Wgmma(g) = &inst.op else { return };
    let reads_a: Vec<u32> = match &g.a {
        WgmmaA::Regs(list) => list.iter().filter_map(reg_of).collect(),
        WgmmaA::Desc(_) => Vec::new(),
    };
    let bad = w.marks.held.iter().any(|Held { d, a, .. }| {
        let overlap = d.iter().any(|r| g.d.contains(r));
        let same = *d == g.d
            && d.first().is_none_or(|r| w.marks.product.get(*r as usize).is_some_and(|p| p.1 == shape(g)));
        (overlap && !same) || d.iter().any(|r| reads_a.contains(r)) || a.iter().any(|r| g.d.contains(r))
    });
    if bad {
        let a = actor(w, pc, mask);
        let message = "registers of a product in flight are used by one of another shape or as A";
        core.error("W01", &a, message, "wgmma.wait_group first");
    }
}
