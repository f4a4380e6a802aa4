//! What would have to differ for synchronising instructions to run that never did (E102): the nearest branch or guard that
//! always went the other way, and what it depends on.

use super::coverage::Seen;
use super::launch::Launch;
use crate::code::Code;
use crate::isa::op::{MbarOp, Op, PSrc, Reg, Space, Special, Src};
use crate::module::Param;
use crate::report::{Coverage, Hint};
use smallvec::SmallVec;
use std::collections::{BTreeSet, VecDeque};

/// Hints of a kernel: more would not be read.
const MOST: usize = 16;

/// Hints for what a run did not reach.
pub(super) fn hints(
    coverage: &Coverage,
    seen: &Seen,
    code: &Code,
    params: &[Param],
    launch: &Launch,
) -> Vec<Hint> {
    let mut out: Vec<Hint> = Vec::new();
    if coverage.never.is_empty() && coverage.trivial.is_empty() {
        return out;
    }
    let before = predecessors(code);
    for (pc, inst) in code.insts.iter().enumerate().filter(|(_, i)| i.op.synchronises()) {
        let never = coverage.never.contains(&inst.line) && !seen.has_run(pc as u32);
        // Waits that had nothing to wait for want another trip of the loop around them.
        let again = coverage.trivial.contains(&inst.line);
        if out.len() >= MOST || !never && !again {
            continue;
        }
        let Some(at) = (if never { closed(pc, seen, &before) } else { loop_of(pc, code) }) else { continue };
        let Some(branch) = code.insts.get(at as usize) else { continue };
        out.push(Hint {
            line: inst.line,
            branch: branch.line,
            source: code.source(branch.loc),
            depends: causes(branch.guard.map(|(p, _)| p), code, params, launch),
        });
    }
    out
}

/// The instructions that may run before each.
fn predecessors(code: &Code) -> Vec<SmallVec<[u32; 2]>> {
    let mut before = vec![SmallVec::new(); code.insts.len()];
    let mut edge = |from: usize, to: u32| {
        if let Some(list) = before.get_mut(to as usize) {
            let list: &mut SmallVec<[u32; 2]> = list;
            list.push(from as u32);
        }
    };
    for (i, inst) in code.insts.iter().enumerate() {
        let falls = inst.guard.is_some()
            || !matches!(inst.op, Op::Bra { .. } | Op::BrxIdx { .. } | Op::Exit | Op::Ret);
        match &inst.op {
            Op::Bra { target } => edge(i, *target),
            Op::BrxIdx { targets, .. } => targets.iter().for_each(|t| edge(i, *t)),
            _ => {}
        }
        if falls {
            edge(i, i as u32 + 1);
        }
    }
    before
}

/// The nearest instruction that ran and whose guard kept a place from being reached: a branch, or the instruction itself.
fn closed(pc: usize, seen: &Seen, before: &[SmallVec<[u32; 2]>]) -> Option<u32> {
    if seen.came(pc as u32) {
        return Some(pc as u32);
    }
    let (mut open, mut known) = (VecDeque::from([pc as u32]), BTreeSet::from([pc as u32]));
    while let Some(at) = open.pop_front() {
        for &from in before.get(at as usize).into_iter().flatten() {
            // Of what ran, a branch alone leads to where nobody came.
            if seen.came(from) {
                return Some(from);
            }
            if known.insert(from) {
                open.push_back(from);
            }
        }
    }
    None
}

/// The branch back of the innermost loop around a place.
fn loop_of(pc: usize, code: &Code) -> Option<u32> {
    let back = |(i, inst): (usize, &crate::isa::op::Inst)| match inst.op {
        Op::Bra { target } if inst.guard.is_some() && i >= pc && target as usize <= pc => Some(i as u32),
        _ => None,
    };
    code.insts.iter().enumerate().find_map(back)
}

/// What a value is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Register(Reg),
    Predicate(u32),
}

/// The parameters, special registers and kinds of memory that a predicate depends on, wherever its parts are written.
fn causes(guard: Option<u32>, code: &Code, params: &[Param], launch: &Launch) -> Vec<String> {
    let mut open: Vec<Part> = guard.map(Part::Predicate).into_iter().collect();
    let mut known: BTreeSet<Part> = open.iter().copied().collect();
    let mut found = BTreeSet::new();
    while let Some(part) = open.pop() {
        for (i, inst) in code.insts.iter().enumerate() {
            let uses = code.uses.get(i).map_or(&[][..], Vec::as_slice);
            let (written, read) = predicates(&inst.op);
            let writes = match part {
                Part::Register(r) => uses.contains(&(r, true)),
                Part::Predicate(p) => written.contains(&p),
            };
            if !writes {
                continue;
            }
            let guard = inst.guard.map(|(p, _)| Part::Predicate(p));
            let parts = uses.iter().filter(|(_, w)| !w).map(|(r, _)| Part::Register(*r));
            let parts = parts.chain(read.iter().map(|p| Part::Predicate(*p))).chain(guard);
            match origin(&inst.op, params, launch) {
                Some(name) => {
                    found.insert(name);
                }
                None => open.extend(parts.filter(|p| known.insert(*p))),
            }
        }
    }
    found.into_iter().collect()
}

/// Where a value comes from outside the kernel's arithmetic.
fn origin(op: &Op, params: &[Param], launch: &Launch) -> Option<String> {
    match op {
        Op::Ld(l) if l.space == Space::Param => {
            let Src::Imm(base) = l.addr.base else { return Some("parameters".into()) };
            let at = base.wrapping_add(l.addr.offset);
            let i = params.iter().position(|p| (p.offset..p.offset + p.size).contains(&at))?;
            let value = launch.args.get(i).and_then(super::arg::Arg::number);
            let name = params.get(i).map_or("", |p| p.name.as_str());
            Some(value.map_or_else(
                || format!("{name} (parameter {i})"),
                |v| format!("{name} = {v} (parameter {i})"),
            ))
        }
        Op::Ld(l) if l.space == Space::Local => None,
        Op::Ld(_) | Op::Atom(_) | Op::Fetch(_) | Op::Surface(_) => Some("loaded data".into()),
        Op::Un { a: Src::Special(s), .. } => special(*s, launch),
        Op::Mbar { .. } => Some("the state of an mbarrier".into()),
        Op::Elect { .. } => Some("the elected lane".into()),
        _ => None,
    }
}

fn special(s: Special, launch: &Launch) -> Option<String> {
    let axis = |i: u8| ["x", "y", "z"].get(usize::from(i)).copied().unwrap_or("x");
    let of = |v: [u32; 3], i: u8| v.get(usize::from(i)).copied().unwrap_or(1);
    Some(match s {
        Special::Tid(i) | Special::Ntid(i) => format!("the block in {} = {}", axis(i), of(launch.block, i)),
        Special::Ctaid(i) | Special::Nctaid(i) => format!("the grid in {} = {}", axis(i), of(launch.grid, i)),
        Special::WarpId | Special::NWarpId => {
            format!("the block of {} threads", launch.block.iter().product::<u32>())
        }
        Special::ClusterRank
        | Special::ClusterSize
        | Special::ClusterCtaid(_)
        | Special::ClusterNctaid(_) => {
            format!("the cluster of {} CTAs", launch.cluster.iter().product::<u32>())
        }
        Special::LaneId | Special::LaneMask(..) => "the lane".into(),
        Special::DynamicSmem | Special::TotalSmem => format!("dynamic shared memory = {}", launch.smem),
        _ => return None,
    })
}

/// The predicates that an operation writes, and those that it reads beside its guard.
fn predicates(op: &Op) -> (SmallVec<[u32; 2]>, SmallVec<[u32; 2]>) {
    let (mut written, mut read) = (SmallVec::new(), SmallVec::new());
    let mut reads = |p: &PSrc| {
        if let PSrc::Reg(p, _) = p {
            read.push(*p);
        }
    };
    match op {
        Op::Setp { d, q, with, .. } => {
            written.extend(d.iter().chain(q).copied());
            with.iter().for_each(|(_, p)| reads(p));
        }
        Op::SetpHalves { d, q, with, .. } => {
            written.extend(d.iter().chain(q).copied());
            with.iter().for_each(|(_, p)| reads(p));
        }
        Op::Lop3 { test: Some((p, _, q)), .. } => {
            written.push(*p);
            reads(q);
        }
        Op::PMov { d, a } => {
            written.push(*d);
            reads(a);
        }
        Op::PLogic { d, a, b, .. } => {
            written.push(*d);
            reads(a);
            reads(b);
        }
        Op::Selp { p, .. } => reads(p),
        Op::Set { with, .. } => with.iter().for_each(|(_, p)| reads(p)),
        Op::Vote { p, a, .. } => {
            written.extend(p.iter().copied());
            reads(a);
        }
        Op::IsSpace { p, .. } => written.push(*p),
        Op::Shfl { p, .. } | Op::Match { p, .. } | Op::Elect { p, .. } => written.extend(p.iter().copied()),
        Op::Bar { p, pred, .. } => {
            written.extend(p.iter().copied());
            reads(pred);
        }
        Op::Mbar { op, .. } => {
            if let MbarOp::Wait { p, .. } = **op {
                written.extend(p);
            }
        }
        _ => {}
    }
    (written, read)
}
