//! One step of a warp: an instruction for the lanes that stand at it.

pub(crate) mod across;
pub(crate) mod alu;
pub(crate) mod atomics;
pub(crate) mod barrier;
mod block;
mod builtin;
mod calls;
mod cluster;
pub(crate) mod copy;
pub(crate) mod flow;
mod idesc;
mod leave;
pub(crate) mod maps;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod meet;
pub(crate) mod memory;
mod named;
pub(crate) mod operands;
mod order;
mod overlap;
mod pair;
mod scaled;
pub(crate) mod tcgen;
pub(crate) mod tensormap;
pub(crate) mod texture;
mod touched;
pub(crate) mod wgmma;
pub(crate) mod wmma;

use self::flow::Flow;
use self::leave::exit;
use super::actor::actor;
use super::core::Core;
use super::warp::{Cond, Wait, Warp};
use crate::isa::op::{Inst, Op, Presence};

/// Runs the instruction at `pc` for the lanes `group` that stand at it.
pub(crate) fn step(core: &mut Core<'_>, w: &mut Warp, group: u32, pc: u32) {
    let code = core.code;
    let Some(inst) = code.insts.get(pc as usize) else {
        exit(core, w, group);
        return;
    };
    core.steps += 1;
    w.steps += 1;
    if let Some(v) = w.visits.get_mut(pc as usize) {
        *v += 1;
    }
    if let Some(n) = core.opcode_counts.get_mut(inst.opcode as usize) {
        *n += 1;
    }
    if core.opts.trace > 0 {
        core.trace_step(w, pc);
    }
    if core.plan.stops() {
        core.stop(w, group, pc);
    }
    let found = core.findings.len();
    let mut mask = group;
    if let Some((p, negated)) = inst.guard {
        let guard = crate::isa::op::PSrc::Reg(p, negated);
        mask &= w.predicate(guard);
        let poison = w.predicate_poison(guard) & group;
        if poison != 0 {
            alu::poisoned(core, w, pc, poison, "a guard predicate");
        }
    }
    if mask == 0 {
        w.jump(group, pc + 1);
        return;
    }
    if mask != group && inst.presence == Presence::Warp {
        let a = actor(w, pc, mask);
        core.error(
            "C02",
            &a,
            "a warp-wide instruction is guarded off in some lanes of the warp",
            "make the guard the same for all lanes",
        );
    }
    if inst.presence == Presence::Warp && w.live != w.born && inst.op.needs_whole_warp() {
        let message = "lanes of the warp have ended before this warp-wide instruction";
        let a = actor(w, pc, mask);
        core.error("C02", &a, message, "let all lanes come here, and end behind it");
    }
    if !w.marks.held.is_empty()
        && let Some(number) = wgmma::guard_registers(core, w, inst, pc, mask)
    {
        w.spread();
        w.jump(group & !mask, pc + 1);
        w.blocked.push((mask, Wait::Retry(Cond::WgmmaRegister { number })));
        return;
    }
    if !w.tmem_pending.is_empty()
        && let Some(number) = tcgen::loading(core, w, pc, mask)
    {
        // Reading a loaded register before wait::ld is data flow: it waits (E50).
        w.spread();
        w.jump(group & !mask, pc + 1);
        w.blocked.push((mask, Wait::Retry(Cond::TmemRegister { number })));
        return;
    }
    if core.code.uses_wgmma && !matches!(inst.op, Op::Wgmma(_)) {
        wgmma::note_writes(core, w, pc);
    }
    let flow = run(core, w, inst, pc, mask);
    if core.findings.len() > found {
        core.explain(w, pc, found);
    }
    if inst.op.synchronises() && !matches!(flow, Flow::Stay(_)) {
        w.since = pc + 1;
        core.coverage.ran(pc);
    }
    match flow {
        Flow::Next => w.jump(group, pc + 1),
        Flow::Set => {}
        Flow::Stay(wait) => {
            w.spread();
            w.jump(group & !mask, pc + 1);
            w.blocked.push((mask, wait));
        }
        Flow::Park(wait) => {
            w.spread();
            w.jump(group, pc + 1);
            w.blocked.push((mask, wait));
        }
    }
}

/// Branches of some lanes of a group; the others fall through.
fn branch(w: &mut Warp, group_next: u32, lanes: u32, target: u32, next: u32) {
    let fall = group_next & !lanes;
    if fall == 0 {
        w.jump(lanes, target);
    } else {
        w.spread();
        w.jump(lanes, target);
        w.jump(fall, next);
    }
}

fn run(core: &mut Core<'_>, w: &mut Warp, inst: &Inst, pc: u32, mask: u32) -> Flow {
    match &inst.op {
        Op::Nop => Flow::Next,
        Op::Bra { target } => {
            if inst.guard.is_some_and(|(p, _)| w.pred_tainted.get(p as usize).copied().unwrap_or(false)) {
                core.stats.data_dependent = true;
            }
            let group = w.standing(pc);
            branch(w, group, mask, *target, pc + 1);
            Flow::Set
        }
        Op::BrxIdx { index, targets } => {
            let at = w.value(core, *index);
            let poison = w.poison_of(*index);
            if poison as u32 & mask != 0 {
                alu::poisoned(core, w, pc, poison as u32 & mask, "a branch index");
            }
            let group = w.standing(pc);
            w.spread();
            w.jump(group & !mask, pc + 1);
            for l in 0..32_u32 {
                if mask >> l & 1 == 1 {
                    match targets.get(at[l as usize] as usize) {
                        Some(t) => w.jump(1 << l, *t),
                        None => {
                            let a = actor(w, pc, 1 << l);
                            core.error("A01", &a, "branch index outside of its table", "bound the index");
                            w.jump(1 << l, code_end(core));
                        }
                    }
                }
            }
            Flow::Set
        }
        Op::Exit => {
            let group = w.standing(pc);
            w.spread();
            w.jump(group & !mask, pc + 1);
            exit(core, w, mask);
            leave::judge(core, w, pc);
            Flow::Set
        }
        Op::Call(c) => calls::call(core, w, c, pc, mask),
        Op::Ret => calls::back(core, w, pc, mask),
        op @ (Op::Alloca { .. } | Op::StackSave { .. } | Op::StackRestore { .. }) => {
            calls::stack(core, w, op, pc, mask)
        }
        Op::Trap => {
            let a = actor(w, pc, mask);
            core.error("D02", &a, "the kernel executed trap", "the kernel found an error by itself");
            core.dead = true;
            exit(core, w, mask);
            Flow::Set
        }
        op => {
            if let Some(flow) = alu::run(core, w, op, pc, mask) {
                return flow;
            }
            if let Some(flow) = across::run(core, w, op, pc, mask) {
                return flow;
            }
            others(core, w, op, pc, mask)
        }
    }
}

fn code_end(core: &Core<'_>) -> u32 {
    core.code.insts.len() as u32
}

fn others(core: &mut Core<'_>, w: &mut Warp, op: &Op, pc: u32, mask: u32) -> Flow {
    match op {
        Op::Ld(l) => memory::load(core, w, l, pc, mask),
        Op::St(s) => memory::store(core, w, s, pc, mask),
        Op::Atom(a) => atomics::atomic(core, w, a, pc, mask),
        Op::CpAsync(c) => copy::cp_async(core, w, c, pc, mask),
        Op::CpAsyncCommit => {
            w.cp_async.commit(mask);
            Flow::Next
        }
        Op::CpAsyncWait { keep, all } => copy::wait_cp_async(core, w, *keep, *all, mask),
        Op::Tensor(t) => copy::tensor(core, w, t, pc, mask),
        Op::Bulk(b) => copy::bulk(core, w, b, pc, mask),
        Op::BulkCommit => {
            w.bulk.commit(mask);
            Flow::Next
        }
        Op::BulkWait { keep, read } => copy::wait_bulk(core, w, *keep, *read, mask),
        Op::MapReplace { addr, space, field, value } => {
            tensormap::map_replace(core, w, (*addr, *space, *field, *value), pc, mask)
        }
        Op::MapPublish { dst, src } => tensormap::map_publish(core, w, *dst, *src, pc, mask),
        Op::Bar { mode, id, count, pred, d, p } => named::named(
            core,
            w,
            named::Named { mode: *mode, id: *id, count: *count, pred: *pred, d: *d, p: *p },
            pc,
            mask,
        ),
        Op::ClusterArrive { release } => cluster::arrive(core, w, *release, pc, mask),
        Op::ClusterWait { acquire } => cluster::wait(core, w, *acquire, pc, mask),
        Op::Mbar { addr, space, op } => mbarrier::run(core, w, *addr, *space, op, pc, mask),
        Op::Fence(f) => barrier::fence(core, w, *f, pc, mask),
        Op::SetMaxNReg { inc, count } => barrier::set_registers(core, w, *inc, *count, pc, mask),
        Op::LdMatrix(m) => matrix::load(core, w, m, pc, mask),
        Op::StMatrix(m) => matrix::store(core, w, m, pc, mask),
        Op::Mma(m) => matrix::mma(core, w, m, mask),
        Op::WmmaLoad(m) => wmma::load(core, w, m, pc, mask),
        Op::WmmaStore(m) => wmma::store(core, w, m, pc, mask),
        Op::Wmma(p) => wmma::product(core, w, p, mask),
        Op::Wgmma(g) => wgmma::multiply(core, w, g, pc, mask),
        Op::WgmmaFence => wgmma::fence(w),
        Op::WgmmaCommit => {
            w.wgmma.commit(mask);
            Flow::Next
        }
        Op::Tcgen(t) => tcgen::run(core, w, t, pc, mask),
        Op::Fetch(f) => texture::fetch(core, w, f, pc, mask),
        Op::Surface(s) => texture::surface(core, w, s, pc, mask),
        Op::TextureQuery { d, handle, level, ask } => {
            texture::query(core, w, (*d, *handle, *level, *ask), pc, mask)
        }
        Op::WgmmaWait { keep } => wgmma::wait(core, w, *keep, mask),
        _ => Flow::Next,
    }
}
