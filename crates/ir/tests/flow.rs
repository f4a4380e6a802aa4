//! Branches: read, refused, followed by the interpreter, and turned into nested regions that mean the same.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]

use std::fmt::Write;

use proptest::prelude::*;
use warploom_ir::flow::{has_branches, structure};
use warploom_ir::interp::{Arg, InterpOptions, Interpreter, Memory, Tensor};
use warploom_ir::{Module, Opcode, Type, difference, parse, print, verify, walk};

/// The memory after a run, or what went wrong.
fn run(module: &Module, fuel: i64) -> Result<Vec<f64>, String> {
    let numbers = Tensor::zeros(Type::I32, &[256]).unwrap();
    let mut memory = Memory::new();
    let buffer = memory.upload(&numbers);
    let mut options = InterpOptions::default();
    options.max_work = 100_000;
    let args = [Arg::ptr(buffer), Arg::Int(fuel)];
    Interpreter::run(module, None, [1, 1, 1], &args, &mut memory, &options).map_err(|e| e.to_string())?;
    Ok(memory.download(buffer, &numbers).unwrap().to_f64())
}

fn sound(module: &Module) {
    let found = verify(module);
    assert!(found.is_empty(), "{found:?}\n{}", print(module));
}

/// One block in each function, no branch left.
fn is_structured(module: &Module) -> bool {
    let branch = |op| matches!(module.ops[op].opcode, Opcode::Br | Opcode::CondBr);
    !has_branches(module) && !walk::ops(module, module.root).any(branch)
}

fn structured(text: &str) -> Module {
    let mut module = parse(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    sound(&module);
    assert_eq!(difference(&module, &parse(&print(&module)).unwrap()), None);
    structure(&mut module).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    sound(&module);
    assert!(is_structured(&module), "{}", print(&module));
    assert_eq!(print(&parse(&print(&module)).unwrap()), print(&module));
    module
}

#[test]
fn an_early_return_becomes_a_condition() {
    let text = "module {
  tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c7 = arith.constant 7 : i32
    %0 = arith.cmpi eq, %n, %c0 : i32
    cf.cond_br %0, ^bb1, ^bb2
  ^bb1:
    tt.return
  ^bb2:
    %1 = arith.cmpi sgt, %n, %c7 : i32
    cf.cond_br %1, ^bb1, ^bb3
  ^bb3:
    tt.store %p, %n : !tt.ptr<i32>
    tt.return
  }
}
";
    let module = structured(text);
    let after = print(&module);
    assert_eq!(after.matches("scf.if").count(), 2, "{after}");
    assert!(!after.contains("ub.poison"), "{after}");
    for fuel in [0, 3, 9] {
        assert_eq!(run(&module, fuel), run(&parse(text).unwrap(), fuel));
    }
    assert_eq!(run(&module, 3).unwrap()[0], 3.0);
}

#[test]
fn a_circle_hands_out_what_is_read_behind_it() {
    let text = "module {
  tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    cf.br ^bb1(%c1 : i32)
  ^bb1(%i: i32):
    %sq = arith.muli %i, %i : i32
    %0 = arith.cmpi sgt, %sq, %n : i32
    cf.cond_br %0, ^bb3(%i : i32), ^bb2
  ^bb2:
    %next = arith.addi %i, %c1 : i32
    %1 = arith.cmpi sgt, %next, %c5 : i32
    cf.cond_br %1, ^bb4, ^bb1(%next : i32)
  ^bb3(%found: i32):
    %sum = arith.addi %found, %sq : i32
    tt.store %p, %sum : !tt.ptr<i32>
    tt.return
  ^bb4:
    tt.store %p, %next : !tt.ptr<i32>
    tt.return
  }
}
";
    let module = structured(text);
    assert_eq!(print(&module).matches("scf.while").count(), 1);
    for (fuel, stored) in [(0, 2.0), (8, 12.0), (1000, 6.0)] {
        assert_eq!(run(&module, fuel), run(&parse(text).unwrap(), fuel));
        assert_eq!(run(&module, fuel).unwrap()[0], stored);
    }
}

#[test]
fn a_circle_with_two_entries_is_refused_with_its_place() {
    let text = "module {
  tt.func public @f(%p: !tt.ptr<i32>, %n: i32, %c: i1) {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    cf.cond_br %c, ^bb2, ^bb3
  ^bb2:
    tt.store %p, %n : !tt.ptr<i32>
    cf.br ^bb1
  ^bb3:
    tt.return
  }
}
";
    let mut module = parse(text).unwrap();
    sound(&module);
    let refused = structure(&mut module).unwrap_err();
    let first = refused.iter().next().unwrap();
    assert!(first.message.contains("entered at several places"), "{}", first.message);
    assert_eq!(first.place(text).unwrap().line, 3);
}

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

/// Which blocks every way to block `to` leads through.
fn dominators(edges: &[Vec<usize>], to: usize) -> Vec<usize> {
    let reaches = |without: usize| {
        let (mut seen, mut work) = (vec![false; edges.len()], vec![0]);
        while let Some(n) = work.pop() {
            if n != without && !std::mem::replace(&mut seen[n], true) {
                work.extend(&edges[n]);
            }
        }
        seen[to]
    };
    (0..edges.len()).filter(|n| !reaches(*n)).collect()
}

/// Whether every circle is entered at one place: removing circles of one block and joining blocks with the only one
/// before them leaves one block (Hecht and Ullman, 1972).
fn reducible(edges: &[Vec<usize>]) -> bool {
    let mut after: Vec<std::collections::BTreeSet<usize>> =
        edges.iter().map(|e| e.iter().copied().collect()).collect();
    let (mut live, mut work) = (std::collections::BTreeSet::new(), vec![0]);
    while let Some(n) = work.pop() {
        if live.insert(n) {
            work.extend(&after[n]);
        }
    }
    loop {
        for n in live.clone() {
            after[n].remove(&n);
        }
        let joined = live.iter().skip(1).find_map(|&n| {
            let before: Vec<usize> = live.iter().copied().filter(|m| after[*m].contains(&n)).collect();
            (before.len() == 1).then(|| (before[0], n))
        });
        let Some((into, n)) = joined else { return live.len() == 1 };
        let moved = std::mem::take(&mut after[n]);
        after[into].remove(&n);
        after[into].extend(moved);
        live.remove(&n);
    }
}

/// Blocks that write down where they were, and go on at random: back only while there is fuel.
fn program(seed: u64) -> (String, bool) {
    let mut dice = Dice(seed);
    let blocks = 3 + dice.roll(9);
    let params: Vec<usize> = (0..blocks).map(|n| if n == 0 { 0 } else { dice.roll(3) }).collect();
    let mut edges: Vec<Vec<usize>> = Vec::new();
    for n in 0..blocks - 1 {
        let later = |dice: &mut Dice| n + 1 + dice.roll(blocks - 1 - n);
        edges.push(match dice.roll(4) {
            0 => vec![later(&mut dice)],
            1 if n > 0 => vec![1 + dice.roll(n), later(&mut dice)],
            _ => vec![later(&mut dice), later(&mut dice)],
        });
    }
    edges.push(Vec::new());
    let mut text = String::from(
        "module {\n  tt.func public @f(%p: !tt.ptr<i32>, %n: i32) {\n    %one = arith.constant 1 : i32\n    \
     %many = arith.constant 2654435 : i32\n    %limit = arith.constant 200 : i32\n    \
         %low = arith.constant 1023 : i32\n",
    );
    for n in 0..blocks {
        if n > 0 {
            let list: Vec<String> = (0..params[n]).map(|k| format!("%a{n}_{k}: i32")).collect();
            let list = if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
            writeln!(text, "  ^bb{n}{list}:").unwrap();
        }
        let mut visible: Vec<String> = vec!["%one".into(), "%many".into()];
        for d in dominators(&edges, n).into_iter().filter(|d| *d <= n) {
            visible.extend((0..params[d]).map(|k| format!("%a{d}_{k}")));
            if d != n {
                visible.push(format!("%v{d}"));
            }
        }
        let pick = |dice: &mut Dice| visible[dice.roll(visible.len())].clone();
        let (x, y) = (pick(&mut dice), pick(&mut dice));
        // Word 0 counts steps; the word of each step takes a number of the block and what it computed.
        write!(
            text,
            "    %t{n} = tt.load %p : !tt.ptr<i32>\n    %s{n} = arith.addi %t{n}, %one : i32\n    \
             tt.store %p, %s{n} : !tt.ptr<i32>\n    %id{n} = arith.constant {n} : i32\n    \
             %m{n} = arith.muli {x}, %many : i32\n    %u{n} = arith.addi %m{n}, {y} : i32\n    \
             %w{n} = arith.xori %u{n}, %s{n} : i32\n    %v{n} = arith.addi %w{n}, %id{n} : i32\n    \
             %r{n} = arith.remui %s{n}, %limit : i32\n    %at{n} = arith.addi %r{n}, %one : i32\n    \
             %q{n} = tt.addptr %p, %at{n} : !tt.ptr<i32>, i32\n    %k{n} = arith.andi %v{n}, %low : i32\n    \
             tt.store %q{n}, %k{n} : !tt.ptr<i32>\n"
        )
        .unwrap();
        visible.push(format!("%v{n}"));
        let target = |dice: &mut Dice, to: usize| {
            let args: Vec<String> =
                (0..params[to]).map(|_| visible[dice.roll(visible.len())].clone()).collect();
            let types = vec!["i32"; args.len()].join(", ");
            match args.is_empty() {
                true => format!("^bb{to}"),
                false => format!("^bb{to}({} : {types})", args.join(", ")),
            }
        };
        match edges[n][..] {
            [] => writeln!(text, "    tt.return").unwrap(),
            [to] => writeln!(text, "    cf.br {}", target(&mut dice, to)).unwrap(),
            [a, b] => {
                let shift = 1 + dice.roll(6);
                writeln!(text, "    %sh{n} = arith.constant {shift} : i32").unwrap();
                writeln!(text, "    %b{n} = arith.shrui %v{n}, %sh{n} : i32").unwrap();
                writeln!(text, "    %o{n} = arith.andi %b{n}, %one : i32").unwrap();
                match a <= n {
                    true => writeln!(text, "    %c{n} = arith.cmpi slt, %s{n}, %n : i32").unwrap(),
                    false => writeln!(text, "    %c{n} = arith.cmpi eq, %o{n}, %one : i32").unwrap(),
                }
                let (a, b) = (target(&mut dice, a), target(&mut dice, b));
                writeln!(text, "    cf.cond_br %c{n}, {a}, {b}").unwrap();
            }
            _ => unreachable!(),
        }
    }
    (text + "  }\n}\n", reducible(&edges))
}

/// Whether the program was rewritten; it then did the same, step by step.
fn keeps_meaning(seed: u64) -> bool {
    let (text, possible) = program(seed);
    let before = parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    sound(&before);
    let mut after = before.clone();
    let done = structure(&mut after).is_ok();
    assert_eq!(done, possible, "{text}");
    if !done {
        return false;
    }
    sound(&after);
    assert!(is_structured(&after));
    for fuel in [0, 5, 60] {
        assert_eq!(run(&before, fuel), run(&after, fuel), "{text}\n{}", print(&after));
        assert!(run(&before, fuel).is_ok(), "{text}");
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn random_branches_mean_the_same_nested(seed in any::<u64>()) {
        keeps_meaning(seed);
    }
}

#[test]
fn most_random_programs_are_rewritten() {
    let rewritten = (0..300).filter(|seed| keeps_meaning(*seed)).count();
    assert!((200..300).contains(&rewritten), "{rewritten} of 300");
}
