//! Loops of two stages in one partition (C28, C29), loops that share rings (B55), and what the program checker says of
//! broken ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use self::common::changes::drop_op;
use warploom_ir::{Attr, Module, OpId, Opcode};
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{CompileOptions, Compiled, compile_to_program, explain};
use warploom_testing::pipeline::{Outcome, exercise};

const TEXT: &str = include_str!("kernels/attention.mlir");

fn compiled() -> Compiled {
    compile_to_program(&common::parse(TEXT), &common::hopper(), &CompileOptions::default())
        .unwrap_or_else(|e| panic!("{}", e[0]))
}

/// Operations of the computing partition by name, in the order of the text.
fn of_math(m: &Module, opcode: Opcode) -> Vec<OpId> {
    let func = m.functions().next().unwrap();
    let partitions: Vec<OpId> =
        warploom_ir::walk::ops(m, func).filter(|&op| m.ops[op].opcode == Opcode::Partition).collect();
    warploom_ir::walk::ops(m, partitions[1]).filter(|&op| m.ops[op].opcode == opcode).collect()
}

/// The operations directly in the first loop of the computing partition.
fn in_loop(m: &Module, opcode: Opcode) -> Vec<OpId> {
    let body = m.entry(of_math(m, Opcode::For)[0], 0).unwrap();
    m.blocks[body].ops.iter().copied().filter(|&op| m.ops[op].opcode == opcode).collect()
}

#[test]
fn every_form_reads_back_and_resumes() {
    assert_eq!(exercise(TEXT, &common::hopper(), &CompileOptions::default(), 8), Ok(Outcome::Compiled));
}

#[test]
fn the_loops_share_their_rings_and_run_rotated() {
    let compiled = compiled();
    let rings = &compiled.selection().unwrap().rings;
    assert_eq!(
        rings.iter().map(|r| (r.uses.len(), r.looped)).collect::<Vec<_>>(),
        [(2, true), (2, true), (1, false)]
    );
    // Two loops, each with a first part and a last part around it: no more products than that takes.
    let program = &compiled.program;
    assert_eq!(of_math(program, Opcode::For).len(), 2);
    assert_eq!(of_math(program, Opcode::If).len(), 2);
    assert_eq!(of_math(program, Opcode::Dot).len(), 8);
    // Each replica waits for its product of Q and K before it computes on it; meanwhile the other's run, in turns.
    let body = program.entry(of_math(program, Opcode::For)[0], 0).unwrap();
    let order: Vec<Opcode> = program.blocks[body].ops.iter().map(|&op| program.ops[op].opcode).collect();
    let at = |opcode: Opcode| order.iter().position(|&o| o == opcode).unwrap();
    let turns = [Opcode::TurnTake, Opcode::Dot, Opcode::TurnPass];
    let issued: Vec<Opcode> = order.iter().copied().filter(|o| turns.contains(o)).collect();
    assert_eq!(issued, [turns, turns].concat());
    let wait = in_loop(program, Opcode::MmaWait)[0];
    assert_eq!(program.attr(wait, "pending").and_then(Attr::as_i64), Some(0));
    assert!(at(Opcode::MmaWait) < at(Opcode::Reduce));
    let report = explain(&compiled);
    // The staging tile lies where the ring of keys lay, which is drained by then (B55).
    assert!(report.contains("share bytes") && report.contains("waited for before"), "{report}");
    for line in ["loop 0: @math's loop is rotated by one iteration", "@p1: ring depth 2", "through pointers"]
    {
        assert!(report.contains(line), "no `{line}` in\n{report}");
    }
}

fn before(m: &mut Module, op: OpId, other: OpId) {
    m.detach(op);
    let block = m.ops[other].block.unwrap();
    let at = m.blocks[block].ops.iter().position(|&o| o == other).unwrap();
    m.insert(block, at, op);
}

fn set_pending(m: &mut Module, op: OpId, value: i32) {
    m.ops[op].props.set("pending", Attr::i32(value));
}

type Mutate = fn(&mut Module);

const MUTATIONS: &[(&str, &[Rule], Mutate)] = &[
    ("wait for S dropped", &[Rule::Unfinished], |m| drop_op(m, in_loop(m, Opcode::MmaWait)[0])),
    ("wait for S leaves two pending", &[Rule::Unfinished], |m| {
        let wait = in_loop(m, Opcode::MmaWait)[0];
        set_pending(m, wait, 2);
    }),
    ("wait for O leaves one pending", &[Rule::Unfinished], |m| {
        let wait = in_loop(m, Opcode::MmaWait)[1];
        set_pending(m, wait, 1);
    }),
    ("K given back before its product is waited for", &[Rule::Unfinished], |m| {
        let (release, wait) = (in_loop(m, Opcode::ConsumerRelease)[0], in_loop(m, Opcode::MmaWait)[0]);
        before(m, release, wait);
    }),
    ("K never given back in the loop", &[Rule::Deadlock], |m| {
        drop_op(m, in_loop(m, Opcode::ConsumerRelease)[0]);
    }),
    ("V given back twice", &[Rule::Arrivals], |m| {
        let release = in_loop(m, Opcode::ConsumerRelease)[1];
        let operands = m.ops[release].operands.to_vec();
        let copy = m.create_op(Opcode::ConsumerRelease, &operands, &[], m.ops[release].loc);
        m.ops[copy].props = m.ops[release].props.clone();
        before(m, copy, release);
    }),
    ("V not waited for", &[Rule::Read], |m| drop_op(m, in_loop(m, Opcode::ConsumerWait)[1])),
    ("the body starts at the first iteration again", &[Rule::Deadlock], |m| {
        let scf_for = of_math(m, Opcode::For)[0];
        let sum = m.def_op(m.ops[scf_for].operands[0]).unwrap();
        m.ops[scf_for].operands[0] = m.ops[sum].operands[0];
    }),
    ("the branch is taken without iterations", &[Rule::Deadlock], |m| {
        let condition = m.def_op(m.ops[of_math(m, Opcode::If)[0]].operands[0]).unwrap();
        m.ops[condition].props.set("predicate", Attr::Opaque("sle".to_owned()));
    }),
    ("the branch is never taken", &[Rule::Deadlock, Rule::Drain], |m| {
        let condition = m.def_op(m.ops[of_math(m, Opcode::If)[0]].operands[0]).unwrap();
        m.ops[condition].props.set("predicate", Attr::Opaque("sgt".to_owned()));
    }),
    ("K's iterator stays where it is", &[Rule::Read, Rule::Deadlock, Rule::Overwrite, Rule::Arrivals], |m| {
        drop_op(m, in_loop(m, Opcode::Advance)[0]);
    }),
    ("the second loop starts with fresh iterators", &[Rule::Read, Rule::Deadlock, Rule::Overwrite], |m| {
        let first = of_math(m, Opcode::If)[0];
        let body = m.entry(first, 0).unwrap();
        let yielded = m.terminator(body).unwrap();
        let fresh = m.terminator(m.entry(first, 1).unwrap()).unwrap();
        let operands = m.ops[fresh].operands.clone();
        m.ops[yielded].operands[3..].copy_from_slice(&operands[3..]);
    }),
    ("a bound that nobody can compute", &[Rule::Form], |m| {
        let scf_for = of_math(m, Opcode::For)[0];
        let func = m.functions().next().unwrap();
        let body = m.entry(func, 0).unwrap();
        let lse = m.blocks[body].args[20];
        m.ops[scf_for].operands[1] = lse;
    }),
];

#[test]
fn every_mutation_is_caught_by_its_rule() {
    let (good, target) = (compiled().program, common::hopper());
    check::program(&good, &target, Effort::Seeds(8)).unwrap();
    let mut missed = Vec::new();
    for (name, rules, mutate) in MUTATIONS {
        let mut module = good.clone();
        mutate(&mut module);
        match check::program(&module, &target, Effort::Quick) {
            Ok(()) => missed.push(format!("{name}: not caught")),
            Err(violations) => {
                println!("{name:45} {}", violations[0]);
                if !violations.iter().any(|v| rules.contains(&v.rule)) {
                    missed.push(format!("{name}: by {}, expected {rules:?}", violations[0]));
                }
            }
        }
    }
    println!("{} of {} caught by the rule that owns them", MUTATIONS.len() - missed.len(), MUTATIONS.len());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
