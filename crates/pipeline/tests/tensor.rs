//! Programs for chips with tcgen05: what is planned, and broken ones, each caught by the rule that owns the mutation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use self::common::changes::{nth, set};
use warploom_chips::Target;
use warploom_ir::{Attr, Module, OpId, Opcode, Type, ValueId};
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{CompileOptions, compile_to_program};
use warploom_testing::pipeline::Kernel;

fn blackwell() -> Target {
    Target::named("sm_100a").unwrap()
}

fn kernel(extents: [u64; 3]) -> Kernel {
    Kernel { extents, ..Kernel::default() }
}

fn program() -> Module {
    let text = Kernel { add_tile: true, bias: true, ..kernel([128, 256, 64]) }.text();
    compile_to_program(&common::parse(&text), &blackwell(), &CompileOptions::default()).unwrap().program
}

/// The operation of this kind that names a ring of this handshake.
fn of(m: &Module, opcode: Opcode, handshake: &str) -> OpId {
    let func = m.functions().next().unwrap();
    let named = |op: OpId, name: &str| m.attr(op, name).map(|a| a.as_str().map(str::to_owned));
    let ring = warploom_ir::walk::ops(m, func).find(|&op| {
        m.ops[op].opcode == Opcode::Pipeline && named(op, "handshake").flatten().as_deref() == Some(handshake)
    });
    let name = m.symbol_name(ring.unwrap()).unwrap().to_owned();
    let uses = |op: OpId| m.attr(op, "pipeline").and_then(Attr::as_symbol) == Some(name.as_str());
    if opcode == Opcode::Pipeline {
        return ring.unwrap();
    }
    warploom_ir::walk::ops(m, func).find(|&op| m.ops[op].opcode == opcode && uses(op)).unwrap()
}

fn list(m: &mut Module, op: OpId, name: &str, value: i64) {
    let Some(Attr::DenseArray { elem, .. }) = m.attr(op, name).cloned() else { panic!("no list {name}") };
    m.ops[op].props.set(name, Attr::DenseArray { elem, values: vec![value] });
}

/// An operand replaced by a constant of its type.
fn constant(m: &mut Module, op: OpId, index: usize, value: i64) {
    let old: ValueId = m.ops[op].operands[index];
    let (ty, loc) = (m.ty(old).clone(), m.ops[op].loc);
    let made = m.create_op(Opcode::Constant, &[], std::slice::from_ref(&ty), loc);
    let attr = if ty == Type::I1 { Attr::Bool(value != 0) } else { Attr::i32(value as i32) };
    m.ops[made].props.set("value", attr);
    let func = m.functions().next().unwrap();
    let body = m.entry(func, 0).unwrap();
    m.insert(body, 0, made);
    m.ops[op].operands[index] = m.result(made).unwrap();
}

type Mutate = fn(&mut Module);

const MUTATIONS: &[(&str, &[Rule], Mutate)] = &[
    ("operands never given back", &[Rule::Arrivals, Rule::Deadlock], |m| {
        let op = of(m, Opcode::ConsumerRelease, "tma_to_mma");
        m.detach(op);
    }),
    ("operands not waited for", &[Rule::Read], |m| {
        let op = of(m, Opcode::ConsumerWait, "tma_to_mma");
        m.detach(op);
    }),
    ("accumulator never handed over", &[Rule::Drain, Rule::Deadlock], |m| {
        let op = of(m, Opcode::ProducerCommit, "mma_to_generic");
        m.detach(op);
    }),
    ("accumulator not waited for", &[Rule::Read, Rule::Drain], |m| {
        let op = of(m, Opcode::ConsumerWait, "mma_to_generic");
        m.detach(op);
    }),
    ("accumulator handed over before its last products", &[Rule::Overwrite, Rule::Drain, Rule::Read], |m| {
        let (commit, mma) = (of(m, Opcode::ProducerCommit, "mma_to_generic"), nth(m, Opcode::Mma, 0));
        m.detach(commit);
        let block = m.ops[mma].block.unwrap();
        let at = m.blocks[block].ops.iter().position(|&o| o == mma).unwrap();
        m.insert(block, at, commit);
    }),
    ("first product adds to what the slot held", &[Rule::Read], |m| {
        let op = nth(m, Opcode::Mma, 0);
        constant(m, op, 3, 1);
    }),
    ("every product starts anew", &[Rule::Overwrite], |m| {
        let op = nth(m, Opcode::Mma, 0);
        constant(m, op, 3, 0);
    }),
    ("accumulator read where no product was", &[Rule::Read], |m| {
        let op = of(m, Opcode::Slot, "mma_to_generic");
        constant(m, op, 1, 1);
    }),
    ("every lane issues products", &[Rule::Election], |m| {
        let op = nth(m, Opcode::Mma, 0);
        let partition = nth(m, Opcode::Partition, 1);
        m.detach(op);
        let block = m.entry(partition, 0).unwrap();
        m.insert(block, 0, op);
    }),
    ("operands given back by every warp", &[Rule::Arrivals], |m| {
        let op = of(m, Opcode::Pipeline, "tma_to_mma");
        set(m, op, "arrive_empty", 4);
    }),
    ("columns beyond the allocation", &[Rule::Columns], |m| {
        let op = of(m, Opcode::Pipeline, "mma_to_generic");
        list(m, op, "column", 32);
    }),
    ("an allocation that is no power of two", &[Rule::Columns], |m| {
        let func = m.functions().next().unwrap();
        set(m, func, "warploom.tmem", 384);
    }),
    ("the address of tensor memory over a barrier", &[Rule::Overlap], |m| {
        let full = m.attr(of(m, Opcode::Pipeline, "tma_to_mma"), "full").and_then(Attr::as_i64).unwrap();
        let func = m.functions().next().unwrap();
        set(m, func, "warploom.tmem_slot", full);
    }),
    ("tensor memory read by three warps", &[Rule::Warps, Rule::NamedBarrier], |m| {
        let op = nth(m, Opcode::Partition, 2);
        set(m, op, "warps", 3);
    }),
];

#[test]
fn mutations_are_caught() {
    let good = program();
    let target = blackwell();
    check::program(&good, &target, Effort::Seeds(4)).unwrap_or_else(|v| panic!("{}", v[0]));
    let mut missed = Vec::new();
    for (name, rules, mutate) in MUTATIONS {
        let mut broken = good.clone();
        mutate(&mut broken);
        match check::program(&broken, &target, Effort::Quick) {
            Ok(()) => missed.push(format!("{name}: not caught")),
            Err(found) if !found.iter().any(|v| rules.contains(&v.rule)) => {
                missed.push(format!("{name}: {} instead of {rules:?}", found[0]));
            }
            Err(found) => println!("{name}: {}", found[0]),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn partitions_columns_and_forms() {
    let text = kernel([256, 256, 64]).text();
    let compiled =
        compile_to_program(&common::parse(&text), &blackwell(), &CompileOptions::default()).unwrap();
    let m = &compiled.program;
    let partitions: Vec<(i64, i64)> = (0..3)
        .map(|n| nth(m, Opcode::Partition, n))
        .map(|op| ["warp", "warps"].map(|name| m.attr(op, name).and_then(Attr::as_i64).unwrap()).into())
        .collect();
    // One warp copies, one issues, a warpgroup for each 128 rows computes.
    assert_eq!(partitions, [(0, 1), (1, 1), (4, 8)]);
    let func = m.functions().next().unwrap();
    assert_eq!(m.attr(func, "warploom.tmem").and_then(Attr::as_i64), Some(512));
    // From the forms between, the same program comes out again.
    for form in [&compiled.scheduled, &compiled.assigned] {
        let text = warploom_ir::print(form);
        let again =
            compile_to_program(&common::parse(&text), &blackwell(), &CompileOptions::default()).unwrap();
        assert_eq!(warploom_ir::print(&again.program), warploom_ir::print(m));
    }
}

#[test]
fn too_many_columns_are_refused_t14() {
    let text = kernel([512, 256, 32]).text();
    let refused =
        compile_to_program(&common::parse(&text), &blackwell(), &CompileOptions::default()).unwrap_err();
    let text: String = refused.iter().map(|d| format!("{d}\n")).collect();
    assert!(
        text.contains("tensor memory 1024 columns of 512") && text.contains("fits: a tile of 256x256"),
        "{text}"
    );
}

/// Rows beyond 128 stand beside the first ones in the same lanes. An operand is narrower than its product: laid over
/// it, the second block of the one would meet the first block of the other, which other warps still read.
#[test]
fn a_factor_of_256_rows_lies_beside_its_product_c24() {
    let text = common::kernel("attention_causal_f16");
    // Every 128 of this kernel counts rows.
    let text = text.replace("128", "256");
    let compiled =
        compile_to_program(&common::parse(&text), &blackwell(), &CompileOptions::default()).unwrap();
    let mut m = compiled.program;
    let column = |m: &Module, handshake: &str| {
        let op = of(m, Opcode::Pipeline, handshake);
        match m.attr(op, "column") {
            Some(Attr::DenseArray { values, .. }) => values[0],
            other => panic!("{other:?}"),
        }
    };
    let product = column(&m, "mma_to_generic");
    assert_ne!(column(&m, "generic_to_mma"), product);
    // Over it all the same: refused by the columns.
    let operand = of(&m, Opcode::Pipeline, "generic_to_mma");
    list(&mut m, operand, "column", product);
    let found = check::program(&m, &blackwell(), Effort::Quick).unwrap_err();
    assert!(found.iter().any(|v| v.rule == Rule::Columns), "{found:?}");
}
