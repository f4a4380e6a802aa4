//! Replicas of the computing partition that take turns (Q40, Q41): how fast, read back, and broken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use self::common::changes::{all, nth, set};
use warploom_ir::{Attr, Module, Opcode, print};
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{CompileOptions, Compiled, compile_to_program, resume};

fn compiled(name: &str) -> Compiled {
    let kernel = common::parse(&common::kernel(name));
    compile_to_program(&kernel, &common::hopper(), &CompileOptions::default()).unwrap()
}

/// The tensor core of a chip takes 2048 cycles for both products of 128 rows and 128 columns of a head of 128; one
/// partition of all rows leaves it idle while it computes.
#[test]
fn q40_replicas_keep_the_tensor_core_busy() {
    let attention = compiled("attention");
    let (of, together) = (&attention.loops[0], attention.loops[0].together.as_ref().unwrap());
    assert_eq!((of.pipelined.replicas.count, of.answer.ii, of.answer.optimal), (2, 2048, true));
    assert_eq!(together.answer.ii, 2942);
    for name in ["attention_64", "attention_causal"] {
        for of in compiled(name).loops {
            let together = of.together.unwrap();
            assert!(
                of.answer.ii * 10 < together.answer.ii * 7,
                "{name}: {} {}",
                of.answer.ii,
                together.answer.ii
            );
        }
    }
    // One product a trip keeps it busy alone.
    assert!(compiled("gemm_bf16").loops.iter().all(|l| l.together.is_none()));
}

#[test]
fn the_forms_of_replicas_are_read_back() {
    let attention = compiled("attention_causal");
    let program = print(&attention.program);
    for form in [&attention.scheduled, &attention.assigned] {
        let text = print(form);
        assert!(text.contains("warploom.replicas = 2"), "{text}");
        let again = resume(&common::parse(&text), &common::hopper(), &CompileOptions::default()).unwrap();
        assert_eq!(print(again.program()), program);
    }
    let text = print(&attention.scheduled);
    let refused = |text: &str| {
        let errors = resume(&common::parse(text), &common::hopper(), &CompileOptions::default()).unwrap_err();
        errors[0].rule
    };
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    assert_eq!(refused(&changed("warploom.replicas = 2", "warploom.replicas = 3")), Some("Q40"));
    assert_eq!(refused(&changed("warploom.replicas = 2", "warploom.replicas = 1")), Some("Q40"));
    assert_eq!(
        refused(&changed("warploom.replicas_apart = 512", "warploom.replicas_apart = 100")),
        Some("Q41")
    );
}

type Mutation = (&'static str, &'static [Rule], fn(&mut Module));

fn turns(m: &mut Module, name: &str, value: i64) {
    let op = nth(m, Opcode::Turns, 0);
    set(m, op, name, value);
}

const MUTATIONS: &[Mutation] = &[
    ("the first turn is nobody's", &[Rule::Deadlock], |m| m.detach(nth(m, Opcode::TurnPass, 0))),
    ("a turn is not passed on", &[Rule::Deadlock], |m| m.detach(nth(m, Opcode::TurnPass, 2))),
    ("a turn is not taken", &[Rule::NamedBarrier, Rule::Deadlock], |m| m.detach(nth(m, Opcode::TurnTake, 1))),
    ("the last turn stays open", &[Rule::Drain], |m| {
        let last = *all(m, Opcode::TurnTake).last().unwrap();
        m.detach(last);
    }),
    ("turns at the barrier of the stores", &[Rule::NamedBarrier], |m| turns(m, "id", 1)),
    ("turns beyond the last barrier", &[Rule::NamedBarrier], |m| turns(m, "id", 15)),
    ("three replicas of eight warps", &[Rule::Warps], |m| turns(m, "replicas", 3)),
    ("four replicas", &[Rule::NamedBarrier, Rule::Deadlock], |m| turns(m, "replicas", 4)),
    ("turns without a name", &[Rule::Form], |m| {
        let op = nth(m, Opcode::TurnTake, 0);
        m.ops[op].props.set("turns", Attr::symbol("nobody"));
    }),
];

#[test]
fn q41_every_mutation_of_turns_is_caught() {
    let program = compiled("attention").program;
    check::program(&program, &common::hopper(), Effort::Quick).unwrap();
    for (what, owners, mutate) in MUTATIONS {
        let mut broken = program.clone();
        mutate(&mut broken);
        let found = check::program(&broken, &common::hopper(), Effort::Quick);
        let found = found.expect_err(what);
        assert!(found.iter().any(|v| owners.contains(&v.rule)), "{what}: {found:?}");
    }
}
