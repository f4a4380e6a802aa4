//! Loops in loops: rings at every level (B79).
#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::check::check;
use warploom_bufassign::{
    AccessRole, Assignment, CallerEdge, ErrorKind, Exit, Handshake, Inside, Problem, ProblemBuilder,
    RegionKind, Repeat, assign,
};
use warploom_testing::bufassign::{Choices, Family, assignment_holds, nested, problem_of};

/// Generated nests: every answer passes the checker, and every interleaving at every trip count.
#[test]
fn generated_nests_hold_b79() {
    let (mut accepted, mut outer, mut inner) = (0, 0, 0);
    let mut refused = std::collections::BTreeMap::<String, u32>::new();
    for seed in 0..400 {
        let p = problem_of(Family::Nests, &mut Choices::seeded(seed));
        let answer = assignment_holds(&p, &mut Choices::seeded(seed));
        let Some(a) = answer.unwrap_or_else(|e| panic!("seed {seed}: {e}")) else {
            let e = assign(&p, &p.options).unwrap_err();
            *refused
                .entry(format!(
                    "{:?} {} {}",
                    e.kind,
                    e.code,
                    e.path.clone().unwrap_or_default().split("id=").next().unwrap_or_default()
                ))
                .or_default() += 1;
            continue;
        };
        accepted += 1;
        let ring = |top: bool| {
            let of = |r: u64| p.regions.iter().find(|x| x.id == r).unwrap().inside.is_none();
            a.records.iter().any(|r| r.depth > 1 && of(r.region) == top)
        };
        outer += u32::from(ring(true));
        inner += u32::from(ring(false));
    }
    println!(
        "{accepted} accepted, {outer} with rings of the outer loop, {inner} with inner ones; {refused:?}"
    );
    assert!(accepted > 120 && outer > 40 && inner > 20, "{accepted} {outer} {inner}");
}

/// A persistent product on tensor memory: tiles of 128 x 256, K in steps of 64; what stands beside it is the caller's.
fn persistent(name: &str) -> (ProblemBuilder, Ops) {
    let mut b = Problem::builder(name, "sm_100a");
    let (copies, products, rest) =
        (b.partition("load", 1), b.partition("mma", 1), b.partition("epilogue", 4));
    let tiles = b.add_loop(4600, 2);
    let k = b.add_inner_loop(tiles, (0, 150, 4400), 256, 4);
    let load_a = b.op("load a", k, copies).takes(700).asynchronous().id();
    let load_b = b.op("load b", k, copies).at(0, 10).takes(700).asynchronous().id();
    let mma = b.op("mma", k, products).at(3, 0).takes(256).asynchronous().id();
    let get = b.op("get acc", tiles, rest).at(1, 300).takes(900).id();
    let put = b.op("put c", tiles, rest).at(1, 1200).takes(300).id();
    let store = b.op("store c", tiles, rest).at(1, 1500).takes(700).asynchronous().id();
    use AccessRole::*;
    b.value("a", &[128, 64], "f16").swizzle(128).written_by(load_a, TmaLoad).read_by(mma, Tcgen05A);
    b.value("b", &[256, 64], "f16").swizzle(128).written_by(load_b, TmaLoad).read_by(mma, Tcgen05B);
    b.value("acc", &[128, 256], "f32")
        .written_by(mma, Tcgen05D)
        .updated_by(mma, Tcgen05D, 1)
        .read_by(get, Tcgen05Ld);
    b.value("c", &[128, 64], "f16").swizzle(128).written_by(put, RegWrite).read_by(store, TmaStore);
    (b, Ops { tiles, load_a, load_b, mma, get, store })
}

struct Ops {
    tiles: u64,
    load_a: u64,
    load_b: u64,
    mma: u64,
    get: u64,
    store: u64,
}

fn holds(p: &Problem) -> Assignment {
    let a = assignment_holds(p, &mut Choices::seeded(1)).unwrap();
    let a = a.unwrap_or_else(|| panic!("{}", assign(p, &p.options).unwrap_err()));
    // The problem reads back from JSON, and so does its answer.
    let text = serde_json::to_string(p).unwrap();
    assert_eq!(Problem::from_json(&text).unwrap(), *p);
    assert_eq!(assign(p, &p.options).unwrap(), a);
    a
}

fn ring(a: &Assignment, name: &str) -> (u64, u64, Handshake) {
    let r = a.records.iter().find(|r| r.name == name).unwrap();
    (r.region, r.depth, r.handshake)
}

#[test]
fn a_persistent_product_has_two_accumulators_b79() {
    let (b, _) = persistent("persistent");
    let p = b.finish();
    let a = holds(&p);
    assert_eq!(ring(&a, "acc"), (0, 2, Handshake::Pair), "over the tiles");
    assert_eq!((ring(&a, "a").0, ring(&a, "a").1), (1, 4), "over the steps of K");
    let tmem = a.tmem.as_ref().unwrap();
    assert_eq!((tmem.used, tmem.allocated), (512, 512));
    let acc = a.records.iter().find(|r| r.name == "acc").unwrap();
    assert_eq!((acc.producer, acc.start, acc.tmem.unwrap().stride), (Some(2), [0, 150], 256));
    // The example of the command is this problem.
    let example = include_str!("../../../examples/problems/persistent.json");
    assert_eq!(Problem::from_json(example).unwrap(), p);
}

#[test]
fn a_grouped_product_reads_its_tiles_from_a_ring_b79() {
    let (mut b, ops) = persistent("grouped");
    let scheduler = b.partition("scheduler", 1);
    let next = b.op("next tile", ops.tiles, scheduler).takes(100).id();
    let mut tile = b.value("tile", &[4], "i32").written_by(next, AccessRole::SharedWrite);
    for op in [ops.load_a, ops.load_b, ops.mma, ops.get, ops.store] {
        tile = tile.read_by(op, AccessRole::SharedRead);
    }
    let a = holds(&b.finish());
    // Read in the inner loop of its own turn and by the store of the next but one row.
    assert_eq!(ring(&a, "tile"), (0, 2, Handshake::Pair));
    assert_eq!(ring(&a, "acc").1, 2);
}

#[test]
fn stream_k_adds_partial_tiles_b79() {
    let (mut b, ops) = persistent("stream-k");
    let fix = b.partition("fix-up", 1);
    let bring = b.op("load partial", ops.tiles, fix).at(0, 3500).takes(900).asynchronous().id();
    b.value("partial", &[128, 32], "f16")
        .written_by(bring, AccessRole::TmaLoad)
        .read_by(ops.get, AccessRole::SharedRead);
    b.signal("whole").written_by(ops.get, AccessRole::Signal).read_later(bring, AccessRole::Signal, 1);
    let a = holds(&b.finish());
    assert_eq!((ring(&a, "acc").1, ring(&a, "partial").0), (2, 0));
    assert_eq!(ring(&a, "whole").2, Handshake::Named);
}

/// Answers that are broken are caught by the checker, and by the run of the nest where it matters.
#[test]
fn mutations_of_nests_are_caught_b79() {
    let (b, _) = persistent("persistent");
    let p = b.finish();
    let good = holds(&p);
    type Break<'a> = (&'a str, &'a str, bool, &'a dyn Fn(&mut Assignment));
    let of = |a: &Assignment, name: &str| a.records.iter().position(|r| r.name == name).unwrap();
    let table: &[Break<'_>] = &[
        ("one accumulator for two tiles", "B17", true, &|a| {
            let k = of(a, "acc");
            a.records[k].tmem.as_mut().unwrap().stride = 0;
        }),
        ("a ring of tiles too shallow", "B17", false, &|a| {
            let k = of(a, "acc");
            a.records[k].depth = 1;
        }),
        ("a ring of the inner loop over the outer", "B10", false, &|a| {
            let k = of(a, "a");
            a.records[k].region = 0;
        }),
        ("a ring of the outer loop on one of the inner", "B51", true, &|a| {
            let (from, to) = (of(a, "a"), of(a, "c"));
            a.records[to].offset = a.records[from].offset;
        }),
        ("inner rings on common bytes", "B51", true, &|a| {
            let (from, to) = (of(a, "a"), of(a, "b"));
            a.records[to].offset = a.records[from].offset;
        }),
        ("a read of the outer loop forgotten", "B10", false, &|a| {
            let k = of(a, "acc");
            a.records[k].consumers.clear();
        }),
        ("its lifetime ends with the inner loop", "B16", false, &|a| {
            let k = of(a, "acc");
            a.records[k].end = [0, 4550];
        }),
    ];
    for (name, rule, unsafe_, break_it) in table {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert_ne!(good, bad, "{name} changed nothing");
        let found: Vec<&str> = check(&p, &bad).err().into_iter().flatten().map(|v| v.rule).collect();
        let rules = if *rule == "B17" { vec!["B17", "B38", "B42", "B44", "B12"] } else { vec![*rule] };
        assert!(rules.iter().any(|r| found.contains(r)), "{name}: expected {rule}, found {found:?}");
        let run = nested(&p, &bad, &mut Choices::seeded(3));
        assert_eq!(run.is_err(), *unsafe_, "{name}: {run:?}");
    }
    println!("caught {} of {}", table.len(), table.len());
}

/// Rings that are made a slot too few in generated nests: the run of the nest finds them.
#[test]
fn runs_of_nests_catch_what_is_broken_b79() {
    let (mut made, mut caught) = (0, 0);
    for seed in 0..300 {
        let p = problem_of(Family::Nests, &mut Choices::seeded(seed));
        let Ok(a) = assign(&p, &p.options) else { continue };
        for m in a.merge.iter().filter(|m| m.members.len() == 1 && m.depth > 1) {
            let mut b = a.clone();
            for r in b.records.iter_mut().filter(|r| r.parent == m.class) {
                r.stride = r.stride.map(|_| 0);
                if let Some(t) = &mut r.tmem {
                    t.stride = 0;
                }
            }
            assert!(check(&p, &b).is_err(), "seed {seed}");
            made += 1;
            caught += u32::from(nested(&p, &b, &mut Choices::seeded(seed)).is_err());
        }
    }
    // A ring that program order alone keeps in order may do with one slot.
    println!("{caught} of {made} rings of one slot are found");
    assert!(2 * caught > made && made > 100, "{caught} of {made}");
}

/// What does not nest is refused at the field that is wrong.
#[test]
fn what_does_not_nest_is_refused_b79() {
    let (b, ops) = persistent("persistent");
    let p = b.finish();
    type Break<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Problem));
    let inside = |p: &mut Problem, set: &dyn Fn(&mut Inside)| set(p.regions[1].inside.as_mut().unwrap());
    let table: &[Break<'_>] = &[
        ("regions[id=1].inside.region", "right behind", &|p| inside(p, &|i| i.region = 7)),
        ("regions[id=1].inside.region", "right behind", &|p| inside(p, &|i| i.region = 1)),
        ("regions[id=1].inside.cycle", "not below the II", &|p| inside(p, &|i| i.cycle = 4600)),
        ("regions[id=1].inside.stage", "not below the stages", &|p| inside(p, &|i| i.stage = 2)),
        ("regions[id=1].inside.latency", "more than", &|p| inside(p, &|i| i.latency = 1 << 50)),
        ("regions[id=1].inside.order", "this rank", &|p| inside(p, &|i| i.order = 1)),
        ("regions[id=1].exit", "in flight", &|p| p.regions[1].exit = Exit::Early),
        ("regions[id=1].inside.region", "no loop", &|p| {
            (p.regions[0].kind, p.regions[0].ii, p.regions[0].stages) = (RegionKind::Line, None, None);
        }),
        ("repeat", "outermost loop", &|p| p.repeat = Repeat::Drained),
        ("values[id=0].live_out", "name the op", &|p| p.values[0].live_out = true),
        ("values[id=0].consumers", "initial versions", &|p| p.values[0].consumers[0].distance = 1),
        ("values[id=2].consumers[2]", "value of its own", &|p| {
            let mut read = p.values[2].consumers[1];
            read.op = ops.load_a;
            p.values[2].consumers.push(read);
        }),
        ("values[id=3].root", "one root", &|p| {
            p.values[3].root = p.values[2].root;
        }),
        ("edges[0].distance", "one iteration", &|p| {
            p.edges.push(CallerEdge { src: ops.load_a, dst: ops.mma, distance: 1 });
        }),
    ];
    for (path, why, break_it) in table {
        let mut bad = p.clone();
        break_it(&mut bad);
        let e = assign(&bad, &bad.options).unwrap_err();
        assert_eq!((e.kind, e.path.as_deref()), (ErrorKind::InvalidInput, Some(*path)), "{e}");
        assert!(e.message.contains(why), "{path}: {e}");
        // The checker refuses to judge an answer to it.
        let good = assign(&p, &p.options).unwrap();
        assert!(check(&bad, &good).is_err(), "{path}");
    }
}
