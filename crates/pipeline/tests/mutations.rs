//! Broken programs: each mutation must be caught by the rule that owns it. The table is printed; the rate is 100 %.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use self::common::changes::{drop_op, nth, set};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode};
use warploom_pipeline::check::{self, Effort, Rule};
use warploom_pipeline::{CompileOptions, compile_to_program};
use warploom_testing::pipeline::{Activation, Kernel};

/// A program with all handshakes: a ring, a tile for the epilogue, staging over the ring.
fn program() -> Module {
    let kernel = Kernel {
        extents: [128, 256, 64],
        add_tile: true,
        bias: true,
        activation: Activation::Silu,
        ..Kernel::default()
    };
    compile_to_program(&common::parse(&kernel.text()), &common::hopper(), &CompileOptions::default())
        .unwrap()
        .program
}

fn get(m: &Module, op: OpId, name: &str) -> i64 {
    m.attr(op, name).and_then(Attr::as_i64).unwrap()
}

fn list(m: &mut Module, op: OpId, name: &str, change: impl FnOnce(&mut Vec<i64>)) {
    let Some(Attr::DenseArray { elem, values }) = m.attr(op, name).cloned() else { panic!("no list {name}") };
    let mut values = values;
    change(&mut values);
    m.ops[op].props.set(name, Attr::DenseArray { elem, values });
}

/// Moves an operation to another place.
fn move_op(m: &mut Module, op: OpId, block: BlockId, at: usize) {
    m.detach(op);
    m.insert(block, at, op);
}

fn index(m: &Module, op: OpId) -> (BlockId, usize) {
    let block = m.ops[op].block.unwrap();
    (block, m.blocks[block].ops.iter().position(|&o| o == op).unwrap())
}

/// Moves an operation right before another one.
fn before(m: &mut Module, op: OpId, other: OpId) {
    m.detach(op);
    let (block, at) = index(m, other);
    m.insert(block, at, op);
}

type Mutate = fn(&mut Module);
type Mutation = (&'static str, &'static [Rule], Mutate);

const MUTATIONS: &[Mutation] = &[
    ("consumer_wait dropped", &[Rule::Read], |m| drop_op(m, nth(m, Opcode::ConsumerWait, 0))),
    ("wait for the epilogue's tile dropped", &[Rule::Read], |m| drop_op(m, nth(m, Opcode::ConsumerWait, 1))),
    ("producer_acquire dropped", &[Rule::Overwrite], |m| drop_op(m, nth(m, Opcode::ProducerAcquire, 0))),
    ("producer_commit dropped", &[Rule::Bytes], |m| drop_op(m, nth(m, Opcode::ProducerCommit, 0))),
    ("consumer_release dropped", &[Rule::Arrivals], |m| drop_op(m, nth(m, Opcode::ConsumerRelease, 0))),
    ("consumer_release doubled", &[Rule::Arrivals, Rule::Overwrite, Rule::Read], |m| {
        let op = nth(m, Opcode::ConsumerRelease, 0);
        let (operands, loc) = (m.ops[op].operands.to_vec(), m.ops[op].loc);
        let copy = m.create_op(Opcode::ConsumerRelease, &operands, &[], loc);
        m.ops[copy].props = m.ops[op].props.clone();
        let (block, at) = index(m, op);
        m.insert(block, at, copy);
    }),
    ("release before the wait for products", &[Rule::Unfinished], |m| {
        let (release, wait) = (nth(m, Opcode::ConsumerRelease, 0), nth(m, Opcode::MmaWait, 0));
        before(m, release, wait);
    }),
    ("lag 0 with one product pending", &[Rule::Unfinished], |m| {
        let op = nth(m, Opcode::ConsumerRelease, 0);
        set(m, op, "lag", 0);
    }),
    ("two products pending with lag 1", &[Rule::Unfinished], |m| {
        let op = nth(m, Opcode::MmaWait, 0);
        set(m, op, "pending", 2);
    }),
    ("lag as long as the ring", &[Rule::Deadlock], |m| {
        let depth = get(m, nth(m, Opcode::Pipeline, 0), "depth");
        let op = nth(m, Opcode::ConsumerRelease, 0);
        set(m, op, "lag", depth);
    }),
    ("wait for products in the loop dropped", &[Rule::Unfinished], |m| {
        drop_op(m, nth(m, Opcode::MmaWait, 0))
    }),
    ("wait for products after the loop dropped", &[Rule::Unfinished], |m| {
        drop_op(m, nth(m, Opcode::MmaWait, 1))
    }),
    ("arrive_empty one less", &[Rule::Arrivals], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        let n = get(m, op, "arrive_empty");
        set(m, op, "arrive_empty", n - 1);
    }),
    ("arrive_empty one more", &[Rule::Arrivals], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        let n = get(m, op, "arrive_empty");
        set(m, op, "arrive_empty", n + 1);
    }),
    ("arrive_empty per warpgroup", &[Rule::Arrivals], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        set(m, op, "arrive_empty", 2);
    }),
    ("arrive_full 2", &[Rule::Arrivals], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        set(m, op, "arrive_full", 2);
    }),
    ("commit 16 bytes short", &[Rule::Bytes], |m| {
        let op = nth(m, Opcode::ProducerCommit, 0);
        let n = get(m, op, "bytes");
        set(m, op, "bytes", n - 16);
    }),
    ("commit 16 bytes more", &[Rule::Bytes], |m| {
        let op = nth(m, Opcode::ProducerCommit, 0);
        let n = get(m, op, "bytes");
        set(m, op, "bytes", n + 16);
    }),
    ("declared bytes wrong", &[Rule::Bytes], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        set(m, op, "bytes", 1024);
    }),
    ("a copy dropped", &[Rule::Bytes], |m| drop_op(m, nth(m, Opcode::TmaLoad, 1))),
    ("one payload copied twice", &[Rule::Bytes, Rule::Boxes], |m| {
        let op = nth(m, Opcode::TmaLoad, 1);
        set(m, op, "payload", 0);
    }),
    ("commit behind the copies", &[Rule::Bytes], |m| {
        let (commit, advance) = (nth(m, Opcode::ProducerCommit, 0), nth(m, Opcode::Advance, 0));
        before(m, commit, advance);
    }),
    ("acquire behind the copies", &[Rule::Overwrite, Rule::Read], |m| {
        let (acquire, advance) = (nth(m, Opcode::ProducerAcquire, 0), nth(m, Opcode::Advance, 0));
        before(m, acquire, advance);
    }),
    ("ring memory one slot short", &[Rule::Overlap, Rule::Shared], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        let n = get(m, op, "depth");
        set(m, op, "depth", n + 1);
    }),
    ("ring of one slot with lag 1", &[Rule::Deadlock], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        set(m, op, "depth", 1);
    }),
    ("offsets of a and b swapped", &[Rule::Overlap], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        list(m, op, "offset", |v| v.swap(0, 1));
    }),
    ("slots closer than their bytes", &[Rule::Overlap], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        list(m, op, "stride", |v| v[0] -= 1024);
    }),
    ("slot off by 128 bytes", &[Rule::Alignment], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        list(m, op, "offset", |v| v[0] += 128);
    }),
    ("full barriers misaligned", &[Rule::Alignment], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        let n = get(m, op, "full");
        set(m, op, "full", n + 4);
    }),
    ("barriers inside the data", &[Rule::Overlap], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        set(m, op, "full", 1024);
    }),
    ("full and empty barriers on one place", &[Rule::Overlap], |m| {
        let op = nth(m, Opcode::Pipeline, 0);
        let n = get(m, op, "full");
        set(m, op, "empty", n);
    }),
    ("the epilogue's tile over the ring", &[Rule::Overlap], |m| {
        let op = nth(m, Opcode::Pipeline, 1);
        list(m, op, "offset", |v| v[0] = 0);
        let ring = nth(m, Opcode::Pipeline, 0);
        list(m, ring, "offset", |v| v[1] = 0);
    }),
    ("shared memory 16 bytes short", &[Rule::Shared], |m| {
        let func = m.functions().next().unwrap();
        let n = get(m, func, "warploom.shared");
        set(m, func, "warploom.shared", n - 16);
    }),
    ("more shared memory than a CTA has", &[Rule::Shared], |m| {
        let func = m.functions().next().unwrap();
        set(m, func, "warploom.shared", 232_456);
    }),
    ("the producer starts in the wrong phase", &[Rule::Deadlock], |m| {
        let scf_for = nth(m, Opcode::For, 0);
        let zero = m.ops[scf_for].operands[3];
        m.ops[scf_for].operands[4] = zero;
    }),
    ("the consumer starts in the wrong phase", &[Rule::Read, Rule::Deadlock], |m| {
        let (load, math) = (nth(m, Opcode::For, 0), nth(m, Opcode::For, 1));
        let one = m.ops[load].operands[4];
        *m.ops[math].operands.last_mut().unwrap() = one;
    }),
    ("the producer does not advance", &[Rule::Deadlock, Rule::Overwrite, Rule::Read], |m| {
        drop_op(m, nth(m, Opcode::Advance, 0));
    }),
    ("the consumer does not advance", &[Rule::Deadlock, Rule::Read], |m| {
        drop_op(m, nth(m, Opcode::Advance, 1))
    }),
    ("warps of two partitions overlap", &[Rule::Warps], |m| {
        let op = nth(m, Opcode::Partition, 1);
        set(m, op, "warp", 0);
    }),
    ("products by half a warpgroup", &[Rule::Warps, Rule::NamedBarrier, Rule::Arrivals], |m| {
        let op = nth(m, Opcode::Partition, 1);
        set(m, op, "warps", 6);
    }),
    ("more registers than the pool", &[Rule::Registers], |m| {
        let op = nth(m, Opcode::Partition, 1);
        set(m, op, "registers", 248);
    }),
    ("registers no multiple of 8", &[Rule::Registers], |m| {
        let op = nth(m, Opcode::Partition, 1);
        set(m, op, "registers", 228);
    }),
    ("named barrier 0", &[Rule::NamedBarrier], |m| {
        let op = nth(m, Opcode::NamedBarrier, 0);
        set(m, op, "id", 0);
    }),
    ("named barrier 16", &[Rule::NamedBarrier], |m| {
        let op = nth(m, Opcode::NamedBarrier, 0);
        set(m, op, "id", 16);
    }),
    ("named barrier for half the threads", &[Rule::NamedBarrier], |m| {
        let op = nth(m, Opcode::NamedBarrier, 0);
        set(m, op, "threads", 128);
    }),
    ("barrier before staging dropped", &[Rule::Overwrite, Rule::Read], |m| {
        drop_op(m, nth(m, Opcode::BarrierSync, 0));
    }),
    ("barrier before the store dropped", &[Rule::Read, Rule::Fence], |m| {
        drop_op(m, nth(m, Opcode::BarrierSync, 1))
    }),
    ("proxy fence dropped", &[Rule::Fence], |m| drop_op(m, nth(m, Opcode::ProxyFence, 0))),
    ("proxy fence behind the barrier", &[Rule::Fence], |m| {
        let (fence, barrier) = (nth(m, Opcode::ProxyFence, 0), nth(m, Opcode::BarrierSync, 1));
        before(m, barrier, fence);
    }),
    ("barrier in an elected region", &[Rule::Election], |m| {
        let (barrier, store) = (nth(m, Opcode::BarrierSync, 1), nth(m, Opcode::TmaStore, 0));
        before(m, barrier, store);
    }),
    ("copies by every lane", &[Rule::Election], |m| {
        let elect = nth(m, Opcode::Elect, 0);
        let (block, at) = index(m, elect);
        let scf_for = nth(m, Opcode::For, 0);
        move_op(m, scf_for, block, at);
    }),
    ("store_wait dropped", &[Rule::Drain], |m| drop_op(m, nth(m, Opcode::StoreWait, 0))),
    ("store_commit dropped", &[Rule::Drain], |m| drop_op(m, nth(m, Opcode::StoreCommit, 0))),
    ("tile_store dropped", &[Rule::Read], |m| drop_op(m, nth(m, Opcode::TileStore, 0))),
    ("descriptor with another swizzle", &[Rule::Boxes], |m| descriptor(m, 0, "swizzle", Attr::i32(2))),
    ("descriptor with a box of 512", &[Rule::Boxes], |m| {
        let block = Attr::DenseArray { elem: warploom_ir::Type::I32, values: vec![512, 64] };
        descriptor(m, 1, "block_size", block);
    }),
    ("descriptor with another element size", &[Rule::Boxes], |m| descriptor(m, 2, "elem_size", Attr::i32(4))),
    ("copy through another descriptor", &[Rule::Boxes], |m| {
        let (a, b) = (nth(m, Opcode::TmaLoad, 0), nth(m, Opcode::TmaLoad, 1));
        let descriptor = m.ops[b].operands[1];
        m.ops[a].operands[1] = descriptor;
    }),
    ("slot of the wrong payload", &[Rule::Form], |m| {
        let op = nth(m, Opcode::Slot, 0);
        set(m, op, "payload", 7);
    }),
    ("a pipeline that is not declared", &[Rule::Form], |m| {
        let op = nth(m, Opcode::ConsumerWait, 0);
        m.ops[op].props.set("pipeline", Attr::symbol("p9"));
    }),
];

fn descriptor(m: &mut Module, index: usize, name: &str, value: Attr) {
    let func = m.functions().next().unwrap();
    let Some(Attr::Array(mut records)) = m.attr(func, "warploom.descriptors").cloned() else {
        panic!("no records")
    };
    let Attr::Dict(record) = &mut records[index] else { panic!("no record") };
    record.set(name, value);
    m.ops[func].attrs.set("warploom.descriptors", Attr::Array(records));
}

#[test]
fn every_mutation_is_caught_by_its_rule() {
    let (good, target) = (program(), common::hopper());
    check::program(&good, &target, Effort::Seeds(16)).unwrap();
    let mut missed = Vec::new();
    for (name, rules, mutate) in MUTATIONS {
        let mut module = good.clone();
        mutate(&mut module);
        match check::program(&module, &target, Effort::Quick) {
            Ok(()) => missed.push(format!("{name}: not caught")),
            Err(violations) => {
                let first = &violations[0];
                println!("{name:45} {:12} {}", format!("{:?}", first.rule), first.rule.number());
                if !violations.iter().any(|v| rules.contains(&v.rule)) {
                    missed.push(format!("{name}: by {first}, expected {rules:?}"));
                }
            }
        }
    }
    println!("{} of {} caught by the rule that owns them", MUTATIONS.len() - missed.len(), MUTATIONS.len());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// The handshake simulator alone, without the declarations' arithmetic, still sees what goes wrong at run time.
#[test]
fn the_simulator_alone_sees_wrong_counts_and_bytes() {
    let good = program();
    let cases: [(&str, Mutate); 4] = [
        ("arrive_empty one more", |m| set(m, nth(m, Opcode::Pipeline, 0), "arrive_empty", 9)),
        ("commit 16 bytes more", |m| {
            let op = nth(m, Opcode::ProducerCommit, 0);
            let n = get(m, op, "bytes");
            set(m, op, "bytes", n + 16);
        }),
        ("a copy dropped", |m| drop_op(m, nth(m, Opcode::TmaLoad, 1))),
        ("consumer_release dropped", |m| drop_op(m, nth(m, Opcode::ConsumerRelease, 0))),
    ];
    for (name, mutate) in cases {
        let mut module = good.clone();
        mutate(&mut module);
        let violations = check::handshakes(&module, Effort::Quick).expect_err(name);
        assert!(
            violations.iter().any(|v| matches!(v.rule, Rule::Deadlock | Rule::Read)),
            "{name}: {}",
            violations[0]
        );
    }
}

/// `for i in range(0, (k + 63) / 64)`: numbers that are a few trips of such a loop are quotients, which one trip alone would
/// not tell from none.
#[test]
fn a_loop_counted_by_a_quotient_is_run_for_several_trips() {
    let text =
        include_str!("../../warploom/tests/runs/straight.mlir").replace("{tt.num_stages = 1 : i32}", "");
    let target = common::hopper();
    let good =
        compile_to_program(&common::parse(&text), &target, &CompileOptions::default()).unwrap().program;
    check::program(&good, &target, Effort::Quick).unwrap();
    let mut module = good.clone();
    let wait = nth(&module, Opcode::MmaWait, 0);
    assert_eq!(get(&module, wait, "pending"), 1);
    set(&mut module, wait, "pending", 99);
    let violations = check::program(&module, &target, Effort::Quick).expect_err("a slot copied over");
    assert!(violations.iter().any(|v| v.rule == Rule::Overwrite), "{}", violations[0]);
}
