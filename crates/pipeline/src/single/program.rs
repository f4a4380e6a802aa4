//! The program of one agent: declarations, the agent's region, the loops in it expanded (C20, C28, C35).

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode};
use warploom_target::Target;

use super::expand::{Ring, expand};
use super::plan::Planned;
use super::shape::{Layout, Shape};
use crate::forms::{Form, mark_form};
use crate::program::emit::{Emit, number};

/// Name of the agent and of the barrier its warps meet at.
const AGENT: &str = "main";
const BARRIER: &str = "all";

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
    for (index, ahead) in planned.loops.iter().enumerate() {
        let ring = Ring { name: &format!("p{index}"), barrier: BARRIER, depth: ahead.depth };
        expand(&mut out, ahead, &ring)?;
    }
    let loc = out.ops[func].loc;
    let shared = planned.buffers.as_ref().map_or(0, |(_, a)| a.smem.used);
    let attrs = &mut out.ops[func].attrs;
    attrs.set("warploom.warps", number(shape.warps));
    attrs.set("warploom.max_registers", number(shape.registers));
    attrs.set("warploom.shared", number(shared));
    attrs.set("warploom.descriptors", Attr::Array(Vec::new()));

    let ops = std::mem::take(&mut out.blocks[body].ops);
    let (last, rest): (Vec<OpId>, Vec<OpId>) =
        ops.into_iter().partition(|&op| out.ops[op].opcode == Opcode::Return);
    declare(&mut out, body, planned, shape, loc)?;
    let (layout, tiling) = match shape.layout {
        Layout::MmaSync { m, n } => ("mma_sync", [m, n]),
        Layout::Blocked { vector, across } => ("blocked", [vector, across]),
    };
    let tiling = tiling.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    let props = [
        ("sym_name", Attr::string(AGENT)),
        ("warp", number(0u64)),
        ("warps", number(shape.warps)),
        ("registers", number(shape.registers / 8 * 8)),
        ("layout", Attr::string(layout)),
        ("tiling", Attr::DenseArray { elem: warploom_ir::Type::I32, values: tiling }),
    ];
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

/// One ring for each loop, and the barrier of all warps.
fn declare(
    out: &mut Module,
    body: BlockId,
    planned: &Planned,
    shape: &Shape,
    loc: warploom_ir::LocId,
) -> Option<()> {
    let Some((_, assignment)) = &planned.buffers else { return Some(()) };
    let wide = |values: Vec<u64>| Attr::DenseArray {
        elem: warploom_ir::Type::I64,
        values: values.into_iter().map(|v| i64::try_from(v).unwrap_or(i64::MAX)).collect(),
    };
    let mut id = None;
    for (index, ahead) in planned.loops.iter().enumerate() {
        let first = planned.first_value(index);
        let records = (first..).take(ahead.tiles.len()).map(|id| assignment.record(id));
        let records: Vec<_> = records.collect::<Option<_>>()?;
        id = id.or(records.iter().find_map(|r| r.barrier.as_ref()?.id));
        let place = |f: fn(&warploom_bufassign::Record) -> Option<u64>| {
            records.iter().map(|r| f(r)).collect::<Option<Vec<u64>>>()
        };
        let swizzle = ahead.tiles.iter().map(|t| i64::from(t.swizzle)).collect();
        let props = [
            ("sym_name", Attr::string(format!("p{index}"))),
            ("depth", number(ahead.depth)),
            ("handshake", Attr::string("cp_async")),
            ("payload", Attr::Array(ahead.tiles.iter().map(|t| Attr::string(&t.name)).collect())),
            ("tile", Attr::Array(ahead.tiles.iter().map(|t| Attr::Type(t.tile.clone())).collect())),
            ("swizzle", Attr::DenseArray { elem: warploom_ir::Type::I32, values: swizzle }),
            ("offset", wide(place(|r| r.offset)?)),
            ("stride", wide(place(|r| r.stride)?)),
            ("bytes", number(0u64)),
            ("full", Attr::i32(-1)),
            ("empty", Attr::i32(-1)),
            ("arrive_full", number(0u64)),
            ("arrive_empty", number(0u64)),
        ];
        Emit { out, block: body, loc }.op(Opcode::Pipeline, &[], &[], &props);
    }
    let props = [
        ("sym_name", Attr::string(BARRIER)),
        ("id", number(id.unwrap_or(1))),
        ("threads", number(32 * shape.warps)),
    ];
    Emit { out, block: body, loc }.op(Opcode::NamedBarrier, &[], &[], &props);
    Some(())
}
