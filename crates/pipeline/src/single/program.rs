//! The program of one agent: declarations, the agent's region, the loops in it expanded (C20, C28, C35).

use warploom_ir::{Attr, Module, OpId, Opcode, Type};
use warploom_target::Target;

use super::expand::{Ring, expand};
use super::order;
use super::plan::Planned;
use super::settle::settle;
use super::shape::{Layout, Shape};
use super::staged::stage;
use super::stored::store;
use super::{declare, engine};
use crate::forms::{Form, mark_form};
use crate::program::emit::{Emit, number};

/// Name of the agent and of the barrier its warps meet at.
const AGENT: &str = "main";
pub(super) const BARRIER: &str = "all";

/// Builds the program form; `None` if the kernel is not what [`super::find`] makes sure of.
pub(super) fn build(
    kernel: &Module,
    func: OpId,
    shape: &Shape,
    planned: &Planned,
    target: &Target,
) -> Option<Module> {
    let mut out = kernel.clone();
    mark_form(&mut out, Form::Program, target);
    let others: Vec<OpId> = out.functions().filter(|&f| f != func).collect();
    others.into_iter().for_each(|f| out.detach(f));
    let body = out.entry(func, 0)?;
    let meetings = order::meetings(&out, func, planned);
    order::meet(&mut out, &meetings, BARRIER)?;
    let beside = &planned.beside;
    engine::place(&mut out, &beside.engine, BARRIER)?;
    store(&mut out, &beside.stored, &beside.factors, BARRIER)?;
    for (index, ahead) in planned.loops.iter().enumerate() {
        let (name, late) = (format!("p{index}"), format!("p{index}_late"));
        let (pending, fenced) = (ahead.pipelined.pending, shape.layout == Layout::Wgmma);
        let ring = Ring { name: &name, late: &late, barrier: BARRIER, depth: ahead.depth, pending, fenced };
        expand(&mut out, ahead, &ring)?;
    }
    for (index, group) in beside.staged.iter().enumerate() {
        stage(&mut out, group, &format!("s{index}"), BARRIER, shape.layout == Layout::Wgmma)?;
    }
    if shape.layout == Layout::Wgmma {
        settle(&mut out, func);
    }
    let loc = out.ops[func].loc;
    let attrs = &mut out.ops[func].attrs;
    attrs.set("warploom.warps", number(shape.warps));
    attrs.set("warploom.max_registers", number(shape.registers));
    attrs.set("warploom.shared", number(planned.shared));
    attrs.set("warploom.descriptors", Attr::Array(beside.engine.records.clone()));

    let ops = std::mem::take(&mut out.blocks[body].ops);
    let (last, rest): (Vec<OpId>, Vec<OpId>) =
        ops.into_iter().partition(|&op| out.ops[op].opcode == Opcode::Return);
    declare::declare(&mut out, body, planned, (shape, !meetings.is_empty()), loc)?;
    let (layout, tiling) = match shape.layout {
        Layout::MmaSync { m, n } => ("mma_sync", vec![m, n]),
        Layout::Wgmma => ("wgmma", Vec::new()),
        Layout::Blocked { vector, across } => ("blocked", vec![vector, across]),
    };
    let tiling: Vec<i64> = tiling.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    let mut props = vec![
        ("sym_name", Attr::string(AGENT)),
        ("warp", number(0u64)),
        ("warps", number(shape.warps)),
        ("registers", number(shape.registers / 8 * 8)),
        ("layout", Attr::string(layout)),
    ];
    if !tiling.is_empty() {
        props.push(("tiling", Attr::DenseArray { elem: Type::I32, values: tiling }));
    }
    if shape.scratch > 0 {
        let values = vec![0, i64::try_from(shape.scratch).unwrap_or(i64::MAX)];
        props.push(("scratch", Attr::DenseArray { elem: Type::I64, values }));
        props.push(("barrier", Attr::symbol(BARRIER)));
    }
    let agent = Emit { out: &mut out, block: body, loc }.op(Opcode::Agent, &[], &[], &props);
    let region = out.add_region(agent);
    let inside = out.add_block(region);
    for op in rest {
        out.append(inside, op);
    }
    for op in last {
        out.append(body, op);
    }
    Some(out)
}
