//! The program of one agent: declarations, the agent's region, the loops in it expanded (C20, C28, C35).

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode};
use warploom_target::Target;

use super::expand::{Ring, expand};
use super::find::CopiedTile;
use super::order;
use super::plan::Planned;
use super::shape::{Layout, Shape};
use super::staged::stage;
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
    let meetings = order::meetings(&out, func, planned);
    order::meet(&mut out, &meetings, BARRIER)?;
    for (index, ahead) in planned.loops.iter().enumerate() {
        let (name, late) = (format!("p{index}"), format!("p{index}_late"));
        let ring = Ring { name: &name, late: &late, barrier: BARRIER, depth: ahead.depth };
        expand(&mut out, ahead, &ring)?;
    }
    for (index, group) in planned.staged.iter().enumerate() {
        stage(&mut out, group, &format!("s{index}"), BARRIER)?;
    }
    let loc = out.ops[func].loc;
    let attrs = &mut out.ops[func].attrs;
    attrs.set("warploom.warps", number(shape.warps));
    attrs.set("warploom.max_registers", number(shape.registers));
    attrs.set("warploom.shared", number(planned.shared));
    attrs.set("warploom.descriptors", Attr::Array(Vec::new()));

    let ops = std::mem::take(&mut out.blocks[body].ops);
    let (last, rest): (Vec<OpId>, Vec<OpId>) =
        ops.into_iter().partition(|&op| out.ops[op].opcode == Opcode::Return);
    declare(&mut out, body, planned, (shape, !meetings.is_empty()), loc)?;
    let (layout, tiling) = match shape.layout {
        Layout::MmaSync { m, n } => ("mma_sync", [m, n]),
        Layout::Blocked { vector, across } => ("blocked", [vector, across]),
    };
    let tiling = tiling.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    let mut props = vec![
        ("sym_name", Attr::string(AGENT)),
        ("warp", number(0u64)),
        ("warps", number(shape.warps)),
        ("registers", number(shape.registers / 8 * 8)),
        ("layout", Attr::string(layout)),
        ("tiling", Attr::DenseArray { elem: warploom_ir::Type::I32, values: tiling }),
    ];
    if shape.scratch > 0 {
        let values = vec![0, i64::try_from(shape.scratch).unwrap_or(i64::MAX)];
        props.push(("scratch", Attr::DenseArray { elem: warploom_ir::Type::I64, values }));
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

/// A ring of `cp_async`: depth, tiles, where each one's slots lie and how far apart.
fn declare_ring(
    emit: &mut Emit<'_>,
    name: &str,
    depth: u64,
    tiles: &[&CopiedTile],
    (offsets, strides): (Vec<u64>, Vec<u64>),
) {
    let wide = |values: Vec<u64>| Attr::DenseArray {
        elem: warploom_ir::Type::I64,
        values: values.into_iter().map(|v| i64::try_from(v).unwrap_or(i64::MAX)).collect(),
    };
    let swizzle = tiles.iter().map(|t| i64::from(t.swizzle)).collect();
    let props = [
        ("sym_name", Attr::string(name)),
        ("depth", number(depth)),
        ("handshake", Attr::string("cp_async")),
        ("payload", Attr::Array(tiles.iter().map(|t| Attr::string(&t.name)).collect())),
        ("tile", Attr::Array(tiles.iter().map(|t| Attr::Type(t.tile.clone())).collect())),
        ("swizzle", Attr::DenseArray { elem: warploom_ir::Type::I32, values: swizzle }),
        ("offset", wide(offsets)),
        ("stride", wide(strides)),
        ("bytes", number(0u64)),
        ("full", Attr::i32(-1)),
        ("empty", Attr::i32(-1)),
        ("arrive_full", number(0u64)),
        ("arrive_empty", number(0u64)),
    ];
    emit.op(Opcode::Pipeline, &[], &[], &props);
}

/// One ring for each loop, or two where tiles take turns, one for each group of staged tiles, and the barrier of all
/// warps.
fn declare(
    out: &mut Module,
    body: BlockId,
    planned: &Planned,
    (shape, meets): (&Shape, bool),
    loc: warploom_ir::LocId,
) -> Option<()> {
    if planned.buffers.is_none() && planned.staged.is_empty() && shape.scratch == 0 && !meets {
        return Some(());
    }
    let mut emit = Emit { out, block: body, loc };
    let mut id = None;
    for (index, ahead) in planned.loops.iter().enumerate() {
        let (_, assignment) = planned.buffers.as_ref()?;
        let first = planned.first_value(index);
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for (value, tile) in (first..).zip(&ahead.tiles) {
            let record = assignment.record(value)?;
            id = id.or(record.barrier.as_ref().and_then(|b| b.id));
            let is_late = ahead.late.as_ref().is_some_and(|late| late.contains(&tile.op));
            let list = if is_late { &mut late } else { &mut early };
            list.push((tile, record.offset?, record.stride?));
        }
        for (name, list) in [(format!("p{index}"), early), (format!("p{index}_late"), late)] {
            if list.is_empty() {
                continue;
            }
            let tiles: Vec<&CopiedTile> = list.iter().map(|(tile, ..)| *tile).collect();
            let places = list.iter().map(|&(_, offset, stride)| (offset, stride)).unzip();
            declare_ring(&mut emit, &name, ahead.depth, &tiles, places);
        }
    }
    for (index, group) in planned.staged.iter().enumerate() {
        let tiles: Vec<&CopiedTile> = group.tiles.iter().collect();
        let strides = tiles.iter().map(|t| t.bytes()).collect();
        declare_ring(&mut emit, &format!("s{index}"), 1, &tiles, (group.offsets.clone(), strides));
    }
    let props = [
        ("sym_name", Attr::string(BARRIER)),
        ("id", number(id.unwrap_or(1))),
        ("threads", number(32 * shape.warps)),
    ];
    emit.op(Opcode::NamedBarrier, &[], &[], &props);
    Some(())
}
