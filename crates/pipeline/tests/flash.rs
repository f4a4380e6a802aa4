//! Attention on chips with tensor memory: what is planned, and broken programs, each caught by the rule that owns the
//! mutation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_chips::Target;
use warploom_ir::{Attr, Module, OpId, Opcode};
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{CompileOptions, Compiled, compile_to_program};

const KERNELS: [&str; 5] =
    ["attention", "attention_64", "attention_causal", "attention_causal_f16", "attention_ragged"];

/// With what others say of the chip, arithmetic takes so long that operands lie over the products they are made from.
fn dear_arithmetic() -> Target {
    let costs = include_str!("../../chips/costs/sm_100a.published.toml");
    Target::named("sm_100a").unwrap().with_costs(costs).unwrap()
}

fn compiled(name: &str, target: &Target) -> Compiled {
    let text = common::kernel(name);
    let compiled = compile_to_program(&common::parse(&text), target, &common::checked());
    compiled.unwrap_or_else(|errors| panic!("{name} for {}: {}", target.name(), errors[0]))
}

fn ops(m: &Module, opcode: Opcode) -> Vec<OpId> {
    let func = m.functions().next().unwrap();
    warploom_ir::walk::ops(m, func).filter(|&op| m.ops[op].opcode == opcode).collect()
}

/// The ring whose payload has this name.
fn ring(m: &Module, payload: &str) -> OpId {
    let has = |op: &OpId| match m.attr(*op, "payload") {
        Some(Attr::Array(names)) => names.iter().any(|n| n.as_str() == Some(payload)),
        _ => false,
    };
    ops(m, Opcode::Pipeline).into_iter().find(has).unwrap_or_else(|| panic!("no ring of {payload}"))
}

/// The operations of a kind that name a ring, in one partition.
fn of(m: &Module, partition: &str, opcode: Opcode, payload: &str) -> Vec<OpId> {
    let name = m.symbol_name(ring(m, payload)).unwrap().to_owned();
    let uses = |op: &OpId| m.attr(*op, "pipeline").and_then(Attr::as_symbol) == Some(name.as_str());
    let within = |op: &OpId| {
        let mut at = m.parent(*op);
        while let Some(parent) = at.filter(|&p| m.ops[p].opcode != Opcode::Partition) {
            at = m.parent(parent);
        }
        at.is_some_and(|a| m.symbol_name(a) == Some(partition))
    };
    ops(m, opcode).into_iter().filter(uses).filter(within).collect()
}

fn list(m: &Module, op: OpId, name: &str) -> i64 {
    match m.attr(op, name) {
        Some(Attr::DenseArray { values, .. }) => values[0],
        _ => panic!("no list {name}"),
    }
}

#[test]
fn all_kernels_pass_every_checker() {
    for chip in ["sm_100a", "sm_103a", "sm_110a"] {
        for name in KERNELS {
            let target = Target::named(chip).unwrap();
            let compiled = compiled(name, &target);
            check::program(&compiled.program, &target, Effort::Seeds(3))
                .unwrap_or_else(|v| panic!("{name} for {chip}: {}", v[0]));
        }
    }
}

#[test]
fn operands_lie_over_the_products_they_are_made_from() {
    for name in KERNELS {
        let compiled = compiled(name, &dear_arithmetic());
        let m = &compiled.program;
        let (product, operand, acc) = (ring(m, "product"), ring(m, "operand"), ring(m, "acc"));
        for field in ["column", "columns"] {
            assert_eq!(list(m, product, field), list(m, operand, field), "{name}: {field}");
        }
        let depth = |op| m.attr(op, "depth").and_then(Attr::as_i64);
        assert_eq!((depth(product), depth(operand), depth(acc)), (Some(2), Some(2), Some(1)), "{name}");
        // By the sharing of the assignment, both handshakes known to be ordered.
        let merged = compiled.assignment().unwrap().merge.iter().find(|c| c.members.len() == 2);
        let merged = merged.unwrap_or_else(|| panic!("{name}: {:?}", compiled.assignment().unwrap().merge));
        assert!(merged.edges.len() == 2 && merged.edges.iter().all(|e| e.implied), "{name}: {merged:?}");
        // The issuing partition starts the next product before this trip's operand is there.
        let body = of(m, "mma", Opcode::Mma, "product");
        assert_eq!(body.len(), if name.contains("causal") { 4 } else { 2 }, "{name}");
    }
}

/// From the forms between, the same program comes out again.
#[test]
fn forms_between_lead_to_the_same_program() {
    let target = Target::named("sm_100a").unwrap();
    for name in ["attention", "attention_causal_f16"] {
        let compiled = compiled(name, &target);
        for form in [&compiled.scheduled, &compiled.assigned] {
            let text = warploom_ir::print(form);
            let again = compile_to_program(&common::parse(&text), &target, &CompileOptions::default())
                .unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
            assert_eq!(warploom_ir::print(&again.program), warploom_ir::print(&compiled.program), "{name}");
        }
    }
}

type Mutate = fn(&mut Module);

/// Removes all operations of a kind that a partition does on a ring.
fn drop_all(m: &mut Module, partition: &str, opcode: Opcode, payload: &str) {
    let found = of(m, partition, opcode, payload);
    assert!(!found.is_empty(), "no {opcode:?} of {payload} in @{partition}");
    for op in found {
        m.detach(op);
    }
}

/// Moves the first operation of a kind in front of another one of the same block.
fn move_before(m: &mut Module, op: OpId, to: OpId) {
    let (block, home) = (m.ops[op].block.unwrap(), m.ops[to].block.unwrap());
    assert_eq!(block, home);
    m.detach(op);
    let at = m.blocks[home].ops.iter().position(|&o| o == to).unwrap();
    m.insert(home, at, op);
}

/// The flag of all products into a ring turned round.
fn turn_keep(m: &mut Module, payload: &str) {
    for op in of(m, "mma", Opcode::Mma, payload) {
        let keep = m.def_op(m.ops[op].operands[3]).unwrap();
        let Some(Attr::Bool(value)) = m.attr(keep, "value").cloned() else { panic!("no flag") };
        m.ops[keep].props.set("value", Attr::Bool(!value));
    }
}

fn set(m: &mut Module, op: OpId, name: &str, value: i64) {
    m.ops[op].props.set(name, Attr::i32(value as i32));
}

const MUTATIONS: &[(&str, &[Rule], Mutate)] = &[
    ("the accumulator is scaled before its product is done", &[Rule::Read], |m| {
        let op = of(m, "math", Opcode::ConsumerWait, "acc")[0];
        m.detach(op);
    }),
    ("no wait for the accumulator at all", &[Rule::Read], |m| {
        drop_all(m, "math", Opcode::ConsumerWait, "acc");
    }),
    ("the accumulator is never given back", &[Rule::Deadlock, Rule::Arrivals], |m| {
        drop_all(m, "math", Opcode::ConsumerRelease, "acc");
    }),
    ("the product adds before the accumulator is scaled", &[Rule::Read], |m| {
        let op = of(m, "mma", Opcode::ProducerAcquire, "acc")[0];
        m.detach(op);
    }),
    ("the accumulator is given back before it is scaled", &[Rule::Read, Rule::Overwrite], |m| {
        let (release, store) =
            (of(m, "math", Opcode::ConsumerRelease, "acc")[0], of(m, "math", Opcode::TileStore, "acc")[1]);
        move_before(m, release, store);
    }),
    ("the accumulator is not scaled", &[Rule::Read], |m| {
        let op = of(m, "math", Opcode::TileStore, "acc")[1];
        m.detach(op);
    }),
    ("the accumulator is not started", &[Rule::Read], |m| {
        let op = of(m, "math", Opcode::TileStore, "acc")[0];
        m.detach(op);
    }),
    ("the accumulator starts anew in each trip", &[Rule::Overwrite], |m| turn_keep(m, "acc")),
    ("the accumulator is never handed over", &[Rule::Deadlock, Rule::Drain], |m| {
        drop_all(m, "mma", Opcode::ProducerCommit, "acc");
    }),
    ("products add to the product before", &[Rule::Read], |m| turn_keep(m, "product")),
    ("a product is not waited for", &[Rule::Read, Rule::Overwrite], |m| {
        drop_all(m, "math", Opcode::ConsumerWait, "product");
    }),
    ("a product starts where nobody has read the last one", &[Rule::Overwrite], |m| {
        drop_all(m, "mma", Opcode::ProducerAcquire, "operand");
    }),
    ("a product starts before the operand over the last one is taken back", &[Rule::Overwrite], |m| {
        let acquires = of(m, "mma", Opcode::ProducerAcquire, "operand");
        let commits = of(m, "mma", Opcode::ProducerCommit, "product");
        // The last ones stand in the loop.
        move_before(m, *acquires.last().unwrap(), *commits.last().unwrap());
    }),
    ("a product lies alone and is never given back", &[Rule::Overwrite], |m| {
        // Columns 384 and on are nobody's.
        let operand = ring(m, "operand");
        for (name, value) in [("column", 384), ("columns", 64)] {
            let Some(Attr::DenseArray { elem, .. }) = m.attr(operand, name).cloned() else { panic!() };
            m.ops[operand].props.set(name, Attr::DenseArray { elem, values: vec![value] });
        }
    }),
    ("a product starts over an operand that is still read", &[Rule::Overwrite, Rule::Form], |m| {
        let last = of(m, "mma", Opcode::ProducerAcquire, "operand").pop().unwrap();
        m.detach(last);
    }),
    ("the operand is written over a product that is still to be read", &[Rule::Read], |m| {
        let wait = of(m, "math", Opcode::Slot, "product")[0];
        let store = of(m, "math", Opcode::TileStore, "operand")[0];
        // The columns of the slot are overwritten by what the slot next door is made of.
        let value = m.ops[store].operands[0];
        let old = m.def_op(value).unwrap();
        let user = ops(m, Opcode::Reduce)[1];
        assert_eq!(m.ops[user].block, m.ops[wait].block);
        let view = m.result(wait).unwrap();
        m.ops[user].operands[0] = view;
        let _ = old;
        m.detach(user);
        let home = m.ops[store].block.unwrap();
        let at = m.blocks[home].ops.iter().position(|&o| o == store).unwrap();
        m.insert(home, at + 1, user);
    }),
    ("an operand is multiplied before it is written", &[Rule::Read], |m| {
        drop_all(m, "mma", Opcode::ConsumerWait, "operand");
    }),
    ("an operand is handed over before it is written", &[Rule::Read], |m| {
        let (commit, store) = (
            of(m, "math", Opcode::ProducerCommit, "operand")[0],
            of(m, "math", Opcode::TileStore, "operand")[0],
        );
        move_before(m, commit, store);
    }),
    ("an operand is never handed over", &[Rule::Arrivals, Rule::Deadlock], |m| {
        drop_all(m, "math", Opcode::ProducerCommit, "operand");
    }),
    ("an operand is never given back", &[Rule::Arrivals, Rule::Deadlock], |m| {
        drop_all(m, "mma", Opcode::ConsumerRelease, "operand");
    }),
    ("one warp hands an operand over for all", &[Rule::Arrivals], |m| {
        let op = ring(m, "operand");
        set(m, op, "arrive_full", 1);
    }),
    ("the accumulator lies over a product", &[Rule::Columns], |m| {
        let op = ring(m, "acc");
        let Some(Attr::DenseArray { elem, .. }) = m.attr(op, "column").cloned() else { panic!() };
        m.ops[op].props.set("column", Attr::DenseArray { elem, values: vec![0] });
    }),
    ("the operand lies over the live accumulator", &[Rule::Overwrite, Rule::Read], |m| {
        let (acc, op) = (ring(m, "acc"), ring(m, "operand"));
        let column = list(m, acc, "column");
        for (name, value) in [("column", column), ("columns", 64)] {
            let Some(Attr::DenseArray { elem, .. }) = m.attr(op, name).cloned() else { panic!() };
            m.ops[op].props.set(name, Attr::DenseArray { elem, values: vec![value] });
        }
    }),
];

#[test]
fn mutations_are_caught() {
    // In this one operands are handed over before the accumulator is scaled.
    let target = dear_arithmetic();
    let compiled = compiled("attention", &target);
    let mut missed = Vec::new();
    for (name, rules, mutate) in MUTATIONS {
        let mut broken = compiled.program.clone();
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

/// A kernel of the same family: `body` makes `%next` from `%q`, `%kt`, `%v` and `%acc` in tiles of `m` rows, blocks of
/// 64.
fn variant(m: u64, head: u64, body: &str) -> String {
    let (q, k, s) = (format!("{m}x{head}xbf16"), format!("64x{head}xbf16"), format!("tensor<{m}x64xf32>"));
    let o = format!("tensor<{m}x{head}xf32>");
    let tile = |t: &str| format!("!tt.tensordesc<{t}>");
    let args = [("Q", &q), ("K", &k), ("V", &k)]
        .map(|(n, t)| format!("%{n}: {}, %{n}0: i32, %{n}1: i32, %{n}2: i64, %{n}3: i64", tile(t)));
    let body = body.replace("$S", &s).replace("$O", &o).replace("$Q", &format!("tensor<{q}>"));
    let body = body
        .replace("$W", &format!("tensor<{m}x64xbf16>"))
        .replace("$KT", &format!("tensor<{head}x64xbf16>"))
        .replace("$V", &format!("tensor<{k}>"));
    format!(
        "module {{
  tt.func public @flash({}, %out: {}, %n0: i32, %n1: i32, %n2: i64, %n3: i64, %length: i32) {{
    %zero = arith.constant dense<0.000000e+00> : {o}
    %none = arith.constant dense<0.000000e+00> : {s}
    %decay = arith.constant dense<5.000000e-01> : {o}
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %q = tt.descriptor_load %Q[%c0, %c0] : {} -> tensor<{q}>
    %a = scf.for %i = %c0 to %length step %c64 iter_args(%acc = %zero) -> ({o})  : i32 {{
      %k = tt.descriptor_load %K[%i, %c0] : {} -> tensor<{k}>
      %kt = tt.trans %k {{order = array<i32: 1, 0>}} : tensor<{k}> -> tensor<{head}x64xbf16>
      %v = tt.descriptor_load %V[%i, %c0] : {} -> tensor<{k}>
{body}
      scf.yield %next : {o}
    }}
    tt.descriptor_store %out[%c0, %c0], %a : {}, {o}
    tt.return
  }}
}}",
        args.join(", "),
        tile(&format!("{m}x{head}xf32")),
        tile(&q),
        tile(&k),
        tile(&k),
        tile(&format!("{m}x{head}xf32")),
    )
}

const SCORES: &str = "      %s = tt.dot %q, %kt, %none, inputPrecision = tf32 : $Q * $KT -> $S
";
const OPERAND: &str = "      %w = arith.truncf %r : $S to $W
";
const PLAIN: &str = "      %next = tt.dot %w, %v, %acc, inputPrecision = tf32 : $W * $V -> $O";
const SCALED: &str = "      %less = arith.mulf %acc, %decay : $O
      %next = tt.dot %w, %v, %less, inputPrecision = tf32 : $W * $V -> $O";
const RELU: &str = "      %r = arith.maxnumf %s, %none : $S
";

/// What is compiled passes the checkers; the rest is refused with a remedy, never as a bug of ours.
#[test]
fn relatives_compile_or_are_refused_with_a_remedy() {
    let twice = "      %s2 = tt.dot %q, %kt, %none, inputPrecision = tf32 : $Q * $KT -> $S
      %r = arith.mulf %s, %s2 : $S
";
    let two = "      %r0 = arith.maxnumf %s, %none : $S
      %w0 = arith.truncf %r0 : $S to $W
      %s2 = tt.dot %q, %kt, %none, inputPrecision = tf32 : $Q * $KT -> $S
      %r = arith.minnumf %s2, %none : $S
      %w = arith.truncf %r : $S to $W
      %less = arith.mulf %acc, %decay : $O
      %next = tt.dot %w, %v, %less, inputPrecision = tf32 : $W * $V -> $O";
    let shared = "      %w = arith.truncf %r : $S to $W
      %x = arith.extf %w : $W to $S
      %y = arith.addf %x, %r : $S
      %z = arith.truncf %y : $S to $W
      %first = tt.dot %w, %v, %acc, inputPrecision = tf32 : $W * $V -> $O
      %next = tt.dot %z, %v, %first, inputPrecision = tf32 : $W * $V -> $O";
    let cases: &[(&str, u64, u64, String, Option<&str>)] = &[
        ("plain accumulator", 128, 64, [SCORES, RELU, OPERAND, PLAIN].concat(), None),
        ("scaled accumulator", 128, 64, [SCORES, RELU, OPERAND, SCALED].concat(), None),
        ("scaled accumulator, head of 128", 128, 128, [SCORES, RELU, OPERAND, SCALED].concat(), None),
        ("256 rows", 256, 64, [SCORES, RELU, OPERAND, SCALED].concat(), None),
        ("two products read", 128, 64, [SCORES, twice, OPERAND, SCALED].concat(), None),
        ("512 rows", 512, 128, [SCORES, RELU, OPERAND, SCALED].concat(), Some("tensor memory")),
        ("an operand nobody multiplies", 128, 64, [SCORES, two].concat(), None),
        ("an operand that is read as well", 128, 64, [SCORES, RELU, shared].concat(), Some("supported")),
    ];
    for chip in ["sm_100a", "sm_110a"] {
        let target = Target::named(chip).unwrap();
        for (name, m, head, body, refused) in cases {
            let text = variant(*m, *head, body);
            let mut options = common::several();
            options.check = true;
            match (compile_to_program(&common::parse(&text), &target, &options), refused) {
                (Ok(compiled), None) => check::program(&compiled.program, &target, Effort::Seeds(3))
                    .unwrap_or_else(|v| panic!("{name}: {}", v[0])),
                (Err(found), Some(part)) => {
                    let said: String = found.iter().map(|d| format!("{d}\n")).collect();
                    assert!(said.contains(part) && !said.contains("internal"), "{name}: {said}");
                }
                (Ok(_), Some(_)) => panic!("{name} compiles"),
                (Err(found), None) => panic!("{name} for {chip}: {}\n{text}", found[0]),
            }
        }
    }
}

/// However few slots and bytes there are, a kernel compiles or is refused for what it lacks.
#[test]
fn little_memory_is_no_bug_of_ours() {
    for name in ["attention", "attention_64", "attention_causal_f16"] {
        let text = common::kernel(name);
        let module = common::parse(&text);
        let target = Target::named("sm_100a").unwrap();
        let mut small = target.clone();
        if let Some(tmem) = &mut small.tmem {
            tmem.columns = 256;
        }
        let compile = |target: &Target, set: &dyn Fn(&mut CompileOptions)| {
            let mut options = common::checked();
            set(&mut options);
            let compiled = compile_to_program(&module, target, &options);
            compiled.map(|c| c.program).map_err(|errors| errors[0].to_string())
        };
        for depth in [1, 3] {
            compile(&target, &|o| o.depth = Some(depth)).unwrap_or_else(|e| panic!("{name}, {depth}: {e}"));
        }
        let little = compile(&target, &|o| o.smem_limit = Some(100_000));
        assert!(little.as_ref().err().is_none_or(|e| e.contains("shared memory")), "{name}: {little:?}");
        let half = compile(&small, &|_| ());
        match name {
            "attention_causal_f16" => assert!(half.is_ok(), "{name}: {half:?}"),
            _ => assert!(half.unwrap_err().contains("columns of 256"), "{name}"),
        }
    }
}
