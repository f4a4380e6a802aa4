//! Computing partitions that take turns by tiles (Q50): when, how they are read back, and broken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use self::common::changes::{all, nth, set};
use warploom_chips::Target;
use warploom_ir::{Attr, Module, OpId, Opcode, Type, print};
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{
    CompileOptions, Compiled, SplitVerdict, Strategy, compile_to_program, explain, resume,
};

const KERNEL: &str = "gemm_persistent_128";

fn of(text: &str, target: &Target) -> Compiled {
    compile_to_program(&common::parse(text), target, &CompileOptions::default()).unwrap()
}

fn compiled(text: &str) -> Compiled {
    of(text, &common::hopper())
}

/// Why partitions do not take turns by tiles in a kernel; none if they do.
fn refused(text: &str) -> Option<String> {
    let compiled = compiled(text);
    if compiled.strategy == Strategy::IN_TURNS {
        return None;
    }
    let why = compiled.candidates.iter().filter(|c| c.split.turns).map(|c| match &c.verdict {
        SplitVerdict::Refused(why) => why.clone(),
        other => format!("{other:?}"),
    });
    Some(why.collect::<Vec<_>>().join(", "))
}

/// The kernel with something else in place of a text of it.
fn changed(from: &str, to: &str) -> String {
    let text = common::kernel(KERNEL);
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

#[test]
fn q50_tiles_of_128_rows_are_taken_in_turn() {
    let compiled = compiled(&common::kernel(KERNEL));
    assert_eq!(compiled.strategy, Strategy::IN_TURNS);
    let [taken, together] = &compiled.candidates[..2] else { panic!("two splits") };
    let (turns, alone) = (taken.tile.unwrap(), together.tile.unwrap());
    assert_eq!((turns.ii, turns.beside, turns.turns), (alone.ii, alone.beside, true));
    // The rest of a tile runs beside the products of the next, or both partitions are busy all the time.
    for trips in [0, 1, 2, 16, 64] {
        assert!(turns.of(trips) >= turns.ii * trips && turns.of(trips) < alone.of(trips), "{trips}");
        assert_eq!(alone.of(trips), alone.ii * trips + alone.beside);
    }
    assert_eq!(turns.of(1), turns.ii.max((turns.ii + turns.beside + 1) / 2));
    assert_eq!(turns.of(16), turns.ii * 16);
    let text = explain(&compiled);
    let max = format!("max({0} n, ({0} n + {1}) / 2)", turns.ii, turns.beside);
    for part in ["taken    load, math in turns by wgmma", &max, "take tiles in turn"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    check::program(&compiled.program, &common::hopper(), Effort::Seeds(20)).unwrap();
}

#[test]
fn q50_what_cannot_be_taken_in_turn_says_why() {
    let kernel = common::kernel(KERNEL);
    assert_eq!(refused(&kernel), None);
    let wide = refused(&common::kernel("gemm_persistent")).unwrap();
    assert!(wide.contains("too few registers for a whole tile"), "{wide}");
    // No loop over tiles, nothing to say.
    assert_eq!(refused(&common::kernel("gemm_bf16")).as_deref(), Some(""));
    let branch = changed("scf.for %arg18", "scf.if %yes {\n scf.for %arg18")
        .replace("    tt.return", "    }\n    tt.return");
    let branch = branch.replace(
        "    %6 = tt.get_num_programs",
        "    %yes = arith.cmpi sgt, %arg17, %c0_i32 : i32\n    %6 = tt.get_num_programs",
    );
    let why = refused(&branch).unwrap();
    assert!(why.contains("in another loop or branch"), "{why}");
    // How far the inner loop goes is looked up.
    let bound = changed("!tt.tensordesc<128x64xbf16>, %arg1:", "!tt.tensordesc<128x64xbf16>, %ends: !tt.ptr<i32>, %arg1:")
        .replace("%18 = scf.for", "%end = tt.addptr %ends, %arg18 : !tt.ptr<i32>, i32\n      %k = tt.load %end : !tt.ptr<i32>\n      %18 = scf.for")
        .replace("to %arg17 step", "to %k step");
    let why = refused(&bound).unwrap();
    assert!(why.contains("no number of 32 bits made from the tile's alone"), "{why}");
    // On the other chips there is one partition, or accumulators have their own ring.
    for chip in ["sm_80", "sm_100a", "sm_120a"] {
        let compiled = of(&kernel, &Target::named(chip).unwrap());
        assert!(!compiled.strategy.turns && compiled.candidates.iter().all(|c| !c.split.turns), "{chip}");
    }
}

/// How many trips a tile has may depend on the tile: who skips it counts them.
#[test]
fn q50_tiles_of_other_lengths_are_skipped_as_they_are() {
    let text = changed("%18 = scf.for", "%t = arith.remsi %arg18, %c8_i32 : i32\n      %u = arith.muli %t, %c64_i32 : i32\n      %end = arith.addi %arg17, %u : i32\n      %18 = scf.for")
        .replace("to %arg17 step", "to %end step");
    let compiled = compiled(&text);
    assert_eq!(compiled.strategy, Strategy::IN_TURNS);
    check::program(&compiled.program, &common::hopper(), Effort::Seeds(20)).unwrap();
}

#[test]
fn the_forms_of_turns_by_tiles_are_read_back() {
    let compiled = compiled(&common::kernel(KERNEL));
    let program = print(&compiled.program);
    let again = |text: &str| resume(&common::parse(text), &common::hopper(), &CompileOptions::default());
    for form in [&compiled.scheduled, &compiled.assigned, &compiled.program] {
        assert_eq!(print(again(&print(form)).unwrap().program()), program);
    }
    let text = print(&compiled.scheduled);
    assert!(text.contains("turns = true"), "{text}");
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        again(&text.replacen(from, to, 1)).unwrap_err()[0].rule
    };
    assert_eq!(refused("turns = true", "turns = 1 : i64"), Some("Q4"));
    assert_eq!(refused("partitions = \"several\"", "partitions = \"one\""), Some("Q4"));
    // A kernel without a loop over tiles cannot have been made so.
    let flat = compile_to_program(
        &common::parse(&common::kernel("gemm_bf16")),
        &common::hopper(),
        &CompileOptions::default(),
    );
    let flat =
        print(&flat.unwrap().scheduled).replacen("pending = 1 : i64", "pending = 1 : i64, turns = true", 1);
    assert!(flat.contains("turns = true"), "{flat}");
    assert_eq!(again(&flat).unwrap_err()[0].rule, Some("Q50"));
}

type Mutation = (&'static str, &'static [Rule], fn(&mut Module));

/// The advances that skip slots, by partition.
fn skips(m: &Module) -> Vec<OpId> {
    all(m, Opcode::Advance).into_iter().filter(|&op| m.ops[op].operands.len() == 3).collect()
}

/// Skips something else, made in front.
fn skip_other(m: &mut Module, number: usize, opcode: Opcode) {
    let skip = skips(m)[number];
    let by = m.ops[skip].operands[2];
    let is_one = |op: &OpId| m.attr(*op, "value").and_then(Attr::as_i64) == Some(1);
    let one = m.result(all(m, Opcode::Constant).into_iter().find(is_one).unwrap()).unwrap();
    let loc = m.ops[skip].loc;
    let other = m.create_op(opcode, &[by, one], &[Type::I32], loc);
    let block = m.ops[skip].block.unwrap();
    let at = m.blocks[block].ops.iter().position(|&o| o == skip).unwrap();
    m.insert(block, at, other);
    m.ops[skip].operands[2] = m.result(other).unwrap();
}

fn pipeline(m: &mut Module, name: &str, value: i64) {
    let op = nth(m, Opcode::Pipeline, 0);
    set(m, op, name, value);
}

const MUTATIONS: &[Mutation] = &[
    ("the first turn is nobody's", &[Rule::Deadlock], |m| {
        let first = all(m, Opcode::TurnPass)[1];
        m.detach(first);
    }),
    ("a turn is not passed on", &[Rule::Deadlock], |m| m.detach(nth(m, Opcode::TurnPass, 0))),
    ("the second partition does not pass its turn", &[Rule::Deadlock], |m| {
        m.detach(nth(m, Opcode::TurnPass, 2))
    }),
    ("a turn is not taken", &[Rule::NamedBarrier, Rule::Deadlock, Rule::Read, Rule::Drain], |m| {
        m.detach(nth(m, Opcode::TurnTake, 0))
    }),
    (
        "the second partition does not wait for its turn",
        &[Rule::NamedBarrier, Rule::Deadlock, Rule::Read, Rule::Drain],
        |m| m.detach(nth(m, Opcode::TurnTake, 2)),
    ),
    ("nobody takes the turn that is left after an even number of tiles", &[Rule::Drain], |m| {
        m.detach(nth(m, Opcode::TurnTake, 1))
    }),
    ("nobody takes the turn that is left after an odd number of tiles", &[Rule::Drain], |m| {
        m.detach(nth(m, Opcode::TurnTake, 3))
    }),
    ("nobody takes turns", &[Rule::Read], |m| {
        let turns = [Opcode::TurnTake, Opcode::TurnPass, Opcode::Turns];
        turns.into_iter().flat_map(|o| all(m, o)).collect::<Vec<_>>().into_iter().for_each(|op| m.detach(op));
    }),
    (
        "a turn is passed before the slots are waited for",
        &[Rule::Read, Rule::Deadlock, Rule::Overwrite],
        |m| {
            let (pass, take) = (nth(m, Opcode::TurnPass, 0), nth(m, Opcode::TurnTake, 0));
            m.detach(pass);
            let block = m.ops[take].block.unwrap();
            m.insert(block, 1, pass);
        },
    ),
    (
        "both partitions take the same tiles",
        &[Rule::Arrivals, Rule::Deadlock, Rule::Overwrite, Rule::Drain],
        |m| {
            let compares = all(m, Opcode::CmpI);
            let ours = |op: &OpId| m.ops[*op].operands[0];
            let turn = |op: &&OpId| m.values[ours(op)].name.as_deref() == Some("turn");
            let of: Vec<_> = compares.iter().filter(turn).copied().collect();
            let zero = m.ops[of[0]].operands[1];
            m.ops[of[1]].operands[1] = zero;
        },
    ),
    ("one slot too many is skipped", &[Rule::Read, Rule::Deadlock, Rule::Overwrite, Rule::Drain], |m| {
        skip_other(m, 0, Opcode::AddI)
    }),
    (
        "one slot too few is skipped",
        &[Rule::Read, Rule::Deadlock, Rule::Overwrite, Rule::Form, Rule::Drain],
        |m| skip_other(m, 1, Opcode::SubI),
    ),
    ("nothing is skipped", &[Rule::Arrivals], |m| {
        for skip in skips(m) {
            m.ops[skip].operands.truncate(2);
        }
    }),
    (
        "one partition skips one slot a tile",
        &[Rule::Read, Rule::Deadlock, Rule::Overwrite, Rule::Drain],
        |m| {
            let skip = skips(m)[0];
            m.ops[skip].operands.truncate(2);
        },
    ),
    ("the slots of the phase before are skipped", &[Rule::Read, Rule::Deadlock, Rule::Overwrite], |m| {
        // A whole round more: the same slot, another phase.
        let depth = m.attr(nth(m, Opcode::Pipeline, 0), "depth").and_then(Attr::as_i64).unwrap();
        for _ in 0..depth {
            skip_other(m, 1, Opcode::AddI);
        }
    }),
    ("arrivals of both partitions", &[Rule::Arrivals], |m| pipeline(m, "arrive_empty", 8)),
    ("arrivals of half a partition", &[Rule::Arrivals], |m| pipeline(m, "arrive_empty", 2)),
    ("turns at the barrier of the stores", &[Rule::NamedBarrier], |m| {
        let op = nth(m, Opcode::Turns, 0);
        set(m, op, "id", 2);
    }),
    ("three replicas", &[Rule::Warps], |m| {
        let op = nth(m, Opcode::Turns, 0);
        set(m, op, "replicas", 3);
    }),
    ("one partition is half as wide", &[Rule::Warps], |m| {
        let op = nth(m, Opcode::Partition, 2);
        set(m, op, "warps", 2);
    }),
    ("both store by one buffer", &[Rule::Overwrite, Rule::Fence, Rule::Overlap, Rule::Read], |m| {
        for store in [Opcode::TileStore, Opcode::TmaStore] {
            let op = nth(m, store, 1);
            m.ops[op].props.set("pipeline", Attr::symbol("p1"));
        }
    }),
    ("both store behind one barrier", &[Rule::NamedBarrier], |m| {
        for number in [2, 3] {
            let op = nth(m, Opcode::BarrierSync, number);
            m.ops[op].props.set("barrier", Attr::symbol("math0"));
        }
    }),
];

#[test]
fn q50_every_mutation_of_turns_by_tiles_is_caught() {
    let program = compiled(&common::kernel(KERNEL)).program;
    check::program(&program, &common::hopper(), Effort::Quick).unwrap();
    let mut missed = Vec::new();
    for (what, owners, mutate) in MUTATIONS {
        let mut broken = program.clone();
        mutate(&mut broken);
        match check::program(&broken, &common::hopper(), Effort::Quick) {
            Ok(()) => missed.push(format!("{what}: nothing found")),
            Err(found) if !found.iter().any(|v| owners.contains(&v.rule)) => {
                missed.push(format!("{what}: {:?}", found.first()));
            }
            Err(found) => println!("{what:<70} {:?}", found[0].rule),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
