//! The program of one partition: declarations, the partition's region, the loops in it expanded (C20, C28, C35).

use std::collections::BTreeMap;

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::{Module, OpId, Opcode};

use crate::buffers::planned::Planned;
use crate::emit::Emit;
use crate::engines::PartitionShape;
use crate::expand::given_back::take_turns;
use crate::expand::issue::{issue, tag};
use crate::expand::met::met;
use crate::expand::order::{self, Meeting};
use crate::expand::product_waits::wait_for_products;
use crate::expand::trips::{Ring, expand};
use crate::forms::{TextForm, mark_form};
use crate::layout::{BARRIER, ProgramLayout};
use crate::names::name_once;
use crate::transports::blocking::stage;
use crate::transports::engine;
use crate::transports::operand_stores::store;

/// Builds the program form; `None` if the kernel is not what [`crate::transports::find`] makes sure of. The layout learns which
/// barriers it does without.
pub(crate) fn build(
    kernel: &Module,
    func: OpId,
    shape: &PartitionShape,
    (planned, layout): (&Planned, &mut ProgramLayout),
    meetings: &BTreeMap<OpId, Meeting>,
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
    order::meet(&mut out, meetings, BARRIER)?;
    let beside = &planned.beside;
    engine::place(&mut out, func, &beside.engine, BARRIER, target)?;
    tag(&mut out, &beside.tensor);
    let fenced = shape.asynchronous();
    store(&mut out, &beside.stored, &beside.operands, BARRIER, fenced)?;
    let mut returned = Vec::new();
    for (index, loads) in planned.loops.iter().enumerate() {
        let (name, late) = (format!("p{index}"), format!("p{index}_late"));
        let (pending, depth) = (loads.pending, loads.depth);
        let given_back = beside.tensor.gives_back(loads.scf_for);
        let ring = Ring { name: &name, late: &late, barrier: BARRIER, depth, pending, fenced, given_back };
        expand(&mut out, loads, &ring)?;
        returned.extend(given_back.then_some(name));
    }
    for (index, group) in beside.blocking.iter().enumerate() {
        stage(&mut out, group, &format!("s{index}"), BARRIER, fenced)?;
    }
    let summed: Vec<String> = (0..)
        .zip(&beside.stored)
        .filter(|(_, group)| group.given_back.is_some())
        .map(|(index, _): (usize, _)| format!("f{index}"))
        .collect();
    summed.iter().try_for_each(|ring| take_turns(&mut out, func, ring))?;
    // What a loop copies first: its sums are issued together then.
    returned.extend(summed);
    match shape.instruction() {
        MmaInstruction::Wgmma => wait_for_products(&mut out, func),
        MmaInstruction::Tcgen05 => issue(&mut out, func, &beside.tensor, &returned)?,
        _ => {}
    }
    layout.do_without(&met(&out, func, &beside.tensor.rings));
    let loc = out.ops[func].loc;
    layout.launch(&mut out, func);
    let ops = std::mem::take(&mut out.blocks[body].ops);
    let (last, rest): (Vec<OpId>, Vec<OpId>) =
        ops.into_iter().partition(|&op| out.ops[op].opcode == Opcode::Return);
    layout.declare(&mut out, body, loc);
    for partition in &layout.partitions {
        let made =
            Emit { out: &mut out, block: body, loc }.op(Opcode::Partition, &[], &[], &partition.attributes());
        let region = out.add_region(made);
        let inside = out.add_block(region);
        rest.iter().for_each(|&op| out.append(inside, op));
    }
    for op in last {
        out.append(body, op);
    }
    name_once(&mut out, func);
    Some(out)
}
