//! The program of one partition: declarations, the partition's region, the loops in it expanded (C20, C28, C35).

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::{Attr, Module, OpId, Opcode, Type};

use crate::buffers::planned::Planned;
use crate::emit::{Emit, number};
use crate::engines::{PartitionShape, RegisterLayout};
use crate::expand::declare::BARRIER;
use crate::expand::issue::{issue, tag};
use crate::expand::product_waits::wait_for_products;
use crate::expand::trips::{Ring, expand};
use crate::expand::{declare, order};
use crate::forms::{TextForm, mark_form};
use crate::transports::blocking::stage;
use crate::transports::engine;
use crate::transports::operand_stores::store;

/// Name of the partition and of the barrier its warps meet at.
const PARTITION: &str = "main";

/// Builds the program form; `None` if the kernel is not what [`crate::transports::find`] makes sure of.
pub(crate) fn build(
    kernel: &Module,
    func: OpId,
    shape: &PartitionShape,
    planned: &Planned,
    target: &Target,
) -> Option<Module> {
    let mut out = kernel.clone();
    mark_form(&mut out, TextForm::Program, target);
    let others: Vec<OpId> = out.functions().filter(|&f| f != func).collect();
    others.into_iter().for_each(|f| out.ops[f].block = None);
    let home = out.body();
    let stays: Vec<OpId> =
        out.blocks[home].ops.iter().copied().filter(|&op| out.ops[op].block.is_some()).collect();
    out.blocks[home].ops = stays;
    let body = out.entry(func, 0)?;
    let meetings = order::meetings(&out, func, planned, 32 * shape.warps);
    order::meet(&mut out, &meetings, BARRIER)?;
    let beside = &planned.beside;
    engine::place(&mut out, &beside.engine, BARRIER)?;
    tag(&mut out, &beside.tensor);
    let fenced = shape.asynchronous();
    store(&mut out, &beside.stored, &beside.operands, BARRIER, fenced)?;
    let mut returned = Vec::new();
    for (index, loads) in planned.loops.iter().enumerate() {
        let (name, late) = (format!("p{index}"), format!("p{index}_late"));
        let (pending, depth) = (loads.pipelined.pending, loads.depth);
        let given_back = beside.tensor.given_back.contains_key(&loads.scf_for);
        let ring = Ring { name: &name, late: &late, barrier: BARRIER, depth, pending, fenced, given_back };
        expand(&mut out, loads, &ring)?;
        returned.extend(given_back.then_some(name));
    }
    for (index, group) in beside.blocking.iter().enumerate() {
        stage(&mut out, group, &format!("s{index}"), BARRIER, fenced)?;
    }
    match shape.instruction() {
        MmaInstruction::Wgmma => wait_for_products(&mut out, func),
        MmaInstruction::Tcgen05 => issue(&mut out, func, &beside.tensor, &returned)?,
        _ => {}
    }
    let loc = out.ops[func].loc;
    let attrs = &mut out.ops[func].attrs;
    attrs.set("warploom.warps", number(shape.warps));
    attrs.set("warploom.max_registers", number(shape.registers));
    attrs.set("warploom.shared", number(planned.shared));
    if !beside.tensor.rings.is_empty() {
        attrs.set("warploom.tmem", number(beside.tensor.columns));
        attrs.set("warploom.tmem_slot", number(beside.tensor.slot));
    }
    attrs.set("warploom.descriptors", Attr::Array(beside.engine.records.clone()));

    let ops = std::mem::take(&mut out.blocks[body].ops);
    let (last, rest): (Vec<OpId>, Vec<OpId>) =
        ops.into_iter().partition(|&op| out.ops[op].opcode == Opcode::Return);
    declare::declare(&mut out, body, planned, (shape, !meetings.is_empty()), loc)?;
    let (layout, tiling) = match shape.layout {
        RegisterLayout::MmaSync { m, n } => ("mma_sync", vec![m, n]),
        RegisterLayout::Wgmma | RegisterLayout::TensorHalves => ("wgmma", Vec::new()),
        RegisterLayout::TensorRows => ("rows", Vec::new()),
        RegisterLayout::Blocked { vector, across } => ("blocked", vec![vector, across]),
    };
    let tiling: Vec<i64> = tiling.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    let mut props = vec![
        ("sym_name", Attr::string(PARTITION)),
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
    let partition = Emit { out: &mut out, block: body, loc }.op(Opcode::Partition, &[], &[], &props);
    let region = out.add_region(partition);
    let inside = out.add_block(region);
    for op in rest {
        out.append(inside, op);
    }
    for op in last {
        out.append(body, op);
    }
    Some(out)
}
