//! Negative tests for what is unsound or open in the sources: classes, places, barriers.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use warploom_bufassign::*;

#[test]
fn tma_operand_never_tmem() {
    let ops = vec![op(0, 0, (0, 0, 0), 50, true), op(1, 1, (1, 50, 1), 50, true)];
    let v = with(value(0, (0, "tma_load"), &[(1, "tcgen05_a", 0)]), json!({"shape": [128, 128]}));
    let p = problem("sm_100a", 100, 2, &[1, 1], ops, vec![v.clone()]);
    let a = solve(&p);
    assert_eq!((a.records[0].class, a.records[0].why), (Class::Smem, Some(Why::Role)));
    let mut q = p;
    q["options"] = json!({"preset": "tileiras"});
    let b = solve(&q);
    assert_eq!((b.records[0].class, b.emittable), (Class::Tmem, false));
}

#[test]
fn small_accumulator_is_tmem() {
    let ops = vec![op(0, 0, (0, 0, 0), 50, true), op(1, 1, (1, 50, 1), 50, false)];
    let v = with(
        value(0, (0, "tcgen05_d"), &[(1, "tcgen05_ld", 0)]),
        json!({"shape": [64, 8], "element": "f32"}),
    );
    let a = solve(&problem("sm_100a", 100, 2, &[1, 4], ops.clone(), vec![v.clone()]));
    assert_eq!(a.records[0].class, Class::Tmem);
    let e = refuse(&problem("sm_90a", 100, 2, &[1, 4], ops, vec![v]));
    assert!(e.message.starts_with("fails to assign tmem buffer"), "{e}");
}

#[test]
fn two_way_values_go_by_size() {
    let ops = vec![op(0, 0, (0, 0, 0), 5, false), op(1, 0, (0, 50, 1), 5, false)];
    for (columns, class) in [(64, Class::Smem), (128, Class::Tmem)] {
        let v = with(value(0, (0, W), &[(1, R, 0)]), json!({"shape": [128, columns]}));
        let a = solve(&problem("sm_100a", 100, 1, &[4], ops.clone(), vec![v]));
        assert_eq!(a.records[0].class, class);
    }
}

#[test]
fn tmem_geometry() {
    let ops = vec![op(0, 0, (0, 0, 0), 5, true), op(1, 0, (0, 50, 1), 5, false)];
    let acc = |rows: u64, columns: u64| {
        let v = with(
            value(0, (0, "tcgen05_d"), &[(1, "tcgen05_ld", 0)]),
            json!({"shape": [rows, columns], "element": "f32"}),
        );
        problem("sm_100a", 100, 1, &[4], ops.clone(), vec![v])
    };
    assert_eq!(solve(&acc(128, 512)).tmem.unwrap().allocated, 512);
    assert_eq!(refuse(&acc(256, 64)).code, "B42");
    assert_eq!(refuse(&acc(128, 513)).code, "B42");
    // 96 + 160 + 140 = 396 columns, whose separate roundings add to 128 + 256 + 256.
    let widths = [96u64, 160, 140];
    let values = widths.iter().enumerate().map(|(k, w)| {
        let v = value(k as u64, (0, "tcgen05_d"), &[(1, "tcgen05_ld", 0)]);
        with(v, json!({"shape": [128, w], "element": "f32"}))
    });
    let t = solve(&problem("sm_100a", 100, 1, &[4], ops.clone(), values.collect())).tmem.unwrap();
    assert!(t.used <= 512 && t.allocated == 512);
    // Two 64-row tiles have the same columns.
    let halves = (0..2u64).map(|k| {
        let v = value(k, (0, "tcgen05_d"), &[(1, "tcgen05_ld", 0)]);
        with(v, json!({"shape": [64, 64], "element": "f32"}))
    });
    assert_eq!(
        solve(&problem("sm_100a", 100, 1, &[4], ops.clone(), halves.collect())).tmem.unwrap().used,
        64
    );
}

#[test]
fn fp4_rounds_once() {
    let ops = vec![op(0, 0, (0, 0, 0), 5, false), op(1, 0, (0, 50, 1), 5, false)];
    let v = with(value(0, (0, W), &[(1, R, 0)]), json!({"shape": [65, 1], "element": "f4E2M1FN"}));
    assert_eq!(solve(&problem("sm_90a", 100, 1, &[4], ops, vec![v])).records[0].stage_bytes, Some(33));
}

/// A ring of two stages of 33 bytes that TMA fills.
fn odd_ring(limit: u64) -> Json {
    let ops = vec![op(0, 0, (0, 0, 0), 50, true), op(1, 1, (1, 50, 1), 50, false)];
    let v = with(value(0, (0, "tma_load"), &[(1, R, 0)]), json!({"shape": [33], "element": "i8"}));
    let mut p = problem("sm_90a", 100, 2, &[1, 4], ops, vec![v]);
    p["options"] = json!({"smem_limit": limit});
    p
}

#[test]
fn stage_padding() {
    let a = solve(&odd_ring(4096));
    let r = &a.records[0];
    assert_eq!((r.depth, r.stage_bytes, r.stride, r.bytes), (2, Some(33), Some(128), Some(256)));
}

#[test]
fn mbarrier_bytes_count() {
    // Two slots, each with a full and an empty barrier of 8 bytes.
    let a = solve(&odd_ring(256 + 32));
    assert_eq!((a.smem.used, a.smem.load_bound), (256 + 32, 256 + 32));
    let e = refuse(&odd_ring(256 + 24));
    assert_eq!((e.kind, e.need, e.limit), (ErrorKind::Capacity, Some(256 + 32), Some(256 + 24)));
}

#[test]
fn sm120_99k() {
    let ops = vec![op(0, 0, (0, 0, 0), 5, false), op(1, 0, (0, 50, 1), 5, false)];
    let v = with(value(0, (0, W), &[(1, R, 0)]), json!({"shape": [101_377], "element": "i8"}));
    let e = refuse(&problem("sm_120a", 100, 1, &[4], ops, vec![v]));
    assert_eq!((e.kind, e.limit, e.code.as_str()), (ErrorKind::Capacity, Some(101_376), "B47"));
    assert_eq!(e.outcome, Some(PackVerdict::ProvedInfeasible));
}

/// `n` values of one partition that are all live at once.
fn crowd(n: u64, write: &str, read: &str, warps: &[u32], to: u64) -> Json {
    let mut ops = Vec::new();
    for k in 0..n {
        ops.push(op(k, 0, (0, k, k), 1, write == "tma_load"));
        ops.push(op(n + k, to, (0, 200 + k, n + k), 1, false));
    }
    let values = (0..n)
        .map(|k| with(value(k, (k, write), &[(n + k, read, 0)]), json!({"shape": [16], "element": "i8"})));
    problem("sm_90a", 400, 1, warps, ops, values.collect())
}

#[test]
fn sixteen_mbarrier_pipes_ok() {
    let a = solve(&crowd(16, "tma_load", R, &[1, 4], 1));
    assert_eq!(a.barriers.used, 0);
    assert!(a.records.iter().all(|r| r.handshake == Handshake::Pair));
}

#[test]
fn sixteenth_barrier_is_refused_with_the_pool() {
    let e = refuse(&crowd(16, W, R, &[4], 0));
    assert_eq!(
        (e.kind, e.phase, e.outcome),
        (ErrorKind::BarrierPool, Some(2), Some(PackVerdict::Impossible))
    );
    assert!(e.message.starts_with("fails to assign named barrier"));
    assert_eq!(e.barrier_pool.as_ref().unwrap().len(), 15);
    assert_eq!(solve(&crowd(15, W, R, &[4], 0)).barriers.used, 15);
}

#[test]
fn slot_15_not_emittable() {
    let mut p = crowd(16, W, R, &[4], 0);
    p["options"] = json!({"preset": "tileiras"});
    let a = solve(&p);
    assert!(!a.emittable);
    let last = a.records[15].barrier.unwrap();
    assert_eq!((last.slot, last.id), (15, None));
}

#[test]
fn short_values_reuse_slots() {
    // Seventeen short values, one after another: slots are reused only where order is implied.
    let n = 17u64;
    let mut ops = Vec::new();
    for k in 0..n {
        ops.push(op(2 * k, 0, (0, 20 * k, 2 * k), 1, false));
        ops.push(op(2 * k + 1, 0, (0, 20 * k + 10, 2 * k + 1), 1, false));
    }
    let values = (0..n).map(|k| value(k, (2 * k, W), &[(2 * k + 1, R, 0)])).collect();
    let a = solve(&problem("sm_90a", 400, 1, &[4], ops, values));
    assert_eq!(a.barriers.used, 15);
}

/// A loop of one partition whose named values live at the given `(first cycle, last cycle)`, the last perhaps a turn on.
fn named(spans: &[(u64, u64)]) -> Json {
    let mut at: Vec<(u64, u64)> = Vec::new();
    for (k, s) in spans.iter().enumerate() {
        at.extend([(s.0, 2 * k as u64), (s.1, 2 * k as u64 + 1)]);
    }
    at.sort_unstable_by_key(|&(t, id)| (t % 400, id));
    let ops =
        at.iter().enumerate().map(|(rank, &(t, id))| op(id, 0, (t / 400, t % 400, rank as u64), 1, false));
    let values = (0..spans.len() as u64)
        .map(|k| with(value(k, (2 * k, W), &[(2 * k + 1, R, 0)]), json!({"shape": [16], "element": "i8"})));
    problem("sm_90a", 400, 2, &[4], ops.collect(), values.collect())
}

/// Thirteen values that hold a slot of the pool throughout.
fn thirteen() -> Vec<(u64, u64)> {
    (0..13).map(|k| (k, 300 + k)).collect()
}

#[test]
fn recolour_succeeds() {
    // First-fit gives the two short values the two free slots; the one from within the second to within the first of
    // the next turn needs them together.
    let mut spans = thirteen();
    spans.extend([(20, 30), (60, 70), (65, 425)]);
    let a = solve(&named(&spans));
    assert!(a.barriers.recoloured);
    let slot = |v: usize| a.records[v].barrier.unwrap().slot;
    assert_eq!(slot(13), slot(14));
    assert_ne!(slot(13), slot(15));
    let mut p = named(&spans);
    p["options"] = json!({"recolour": false});
    let e = refuse(&p);
    assert_eq!(
        (e.kind, e.code.as_str(), e.outcome),
        (ErrorKind::BarrierPool, "B32", Some(PackVerdict::Heuristic))
    );
}

#[test]
fn count_mix_needs_order() {
    // Fifteen slots are taken, one by a signal to a partition of eight warps. A sixteenth value is live
    // when the signal is not, but its partition need not have heard of that.
    let mut p = named(&{
        let mut spans = thirteen();
        spans.extend([(14, 310), (100, 120)]);
        spans
    });
    // Ops by cycle: the signal is sent at 40 and heard at 60.
    let partitions = p["partitions"].as_array_mut().unwrap();
    partitions.push(json!({"id": 1, "name": "other", "warps": 8}));
    let ops = p["ops"].as_array_mut().unwrap();
    ops.extend([op(40, 0, (0, 40, 0), 1, false), op(41, 1, (0, 60, 0), 1, false)]);
    ops.sort_by_key(|o| (o["cycle"].as_u64(), o["id"].as_u64()));
    for (rank, o) in ops.iter_mut().enumerate() {
        o["order"] = json!(rank);
    }
    p["values"].as_array_mut().unwrap().push(json!({"id": 20, "root": 20,
        "producer": {"op": 40, "role": "signal"}, "consumers": [{"op": 41, "role": "signal"}]}));
    let e = refuse(&p);
    assert_eq!((e.kind, e.outcome), (ErrorKind::BarrierPool, Some(PackVerdict::Heuristic)));
    let why: Vec<_> = e.barrier_pool.iter().flatten().filter_map(|s| s.blocked.clone()).collect();
    assert!(why.iter().any(|w| w == "order"), "{why:?}");
    // Once somebody guarantees the order, different counts may have one slot.
    p["edges"] = json!([{"src": 41, "dst": 28, "distance": 0}]);
    let a = solve(&p);
    let barrier = |v: u64| a.records.iter().find(|r| r.value == v).unwrap().barrier.unwrap();
    assert_eq!(barrier(20).slot, barrier(14).slot);
    assert_eq!((barrier(20).threads, barrier(14).threads), (384, 128));
}

#[test]
fn accumulators_are_carried() {
    // An MMA adds to its own result: one slot, live all around, shared with nobody (B19).
    let mma = |d: &str| json!({"op": 1, "role": d, "distance": 1, "in_place": true});
    let ops =
        vec![op(0, 0, (0, 0, 0), 50, true), op(1, 1, (1, 0, 1), 60, true), op(2, 2, (1, 80, 2), 10, false)];
    let mut acc = value(1, (1, "tcgen05_d"), &[]);
    acc = with(acc, json!({"shape": [128, 64], "element": "f32", "init": true, "live_out": true}));
    acc["consumers"] = json!([mma("tcgen05_d")]);
    let operand = with(value(0, (0, "tma_load"), &[(1, "tcgen05_b", 0)]), json!({"shape": [64, 64]}));
    let p = problem("sm_100a", 100, 2, &[1, 1, 4], ops.clone(), vec![operand.clone(), acc.clone()]);
    let a = solve(&p);
    let r = &a.records[1];
    assert_eq!((r.class, r.depth, r.length >= 100), (Class::Tmem, 1, true));
    assert_eq!(a.tmem.as_ref().map(|t| (t.used, t.allocated)), Some((64, 64)));
    assert_eq!(r.last_slot, Some(LastSlot { add: -1, modulo: 1 }));
    // Somebody else reads every version; the next MMA waits for that.
    let read_at = |distance: u64| {
        let mut acc = acc.clone();
        let read = json!({"op": 2, "role": "tcgen05_ld", "distance": distance});
        acc["consumers"] = json!([mma("tcgen05_d"), read]);
        problem("sm_100a", 100, 2, &[1, 1, 4], ops.clone(), vec![operand.clone(), acc])
    };
    assert_eq!(solve(&read_at(0)).records[1].depth, 1);
    // The version before is gone by then.
    assert_eq!(kind(&read_at(1)), ErrorKind::OverwrittenBeforeRead);
}

/// Found by the soak: a value of the same root, in another loop, gave an accumulator a second slot, in which the version that it
/// adds to is not (B19, B20).
#[test]
fn an_accumulator_gets_no_second_slot_from_its_root() {
    let acc = with(value(0, (0, W), &[(1, R, 0)]), json!({"init": true}));
    let p = |until: u64| {
        let mut acc = acc.clone();
        acc["consumers"] =
            json!([{"op": 0, "role": R, "distance": 1, "in_place": true}, {"op": 1, "role": R}]);
        let ops = vec![
            op(0, 0, (0, 0, 0), 10, false),
            op(1, 1, (0, 50, 1), 10, false),
            op(2, 0, (0, 0, 0), 10, false),
            op(3, 1, (1, until, 1), 10, false),
        ];
        let other = with(value(1, (2, W), &[(3, R, 0)]), json!({"root": 0}));
        let mut p = problem("sm_90a", 100, 1, &[4, 4], ops, vec![acc, other]);
        p["regions"] = json!([{"id": 0, "kind": "loop", "ii": 100, "stages": 1},
                              {"id": 1, "kind": "loop", "ii": 100, "stages": 2}]);
        p["ops"][2]["region"] = json!(1);
        p["ops"][3]["region"] = json!(1);
        p
    };
    // The other is read within a turn, or a turn later: it would need two slots.
    assert_eq!(kind(&p(50)), ErrorKind::ChainUnordered);
    let mut within = p(50);
    within["ops"][3]["stage"] = json!(0);
    let good = solve(&within);
    assert_eq!((good.merge.len(), good.merge[0].depth), (1, 1));
    // The checker refuses what was answered before.
    let mut bad = good;
    bad.merge[0].depth = 2;
    bad.records.iter_mut().for_each(|r| r.depth = 2);
    let typed = serde_json::from_value(within).unwrap();
    let found = check::check(&typed, &bad).unwrap_err();
    assert!(found.to_string().contains("depth of what is updated in place is 2, required is 1"), "{found}");
}

#[test]
fn a_tile_of_256_rows_is_two_of_128() {
    // Across a pair of CTAs each holds 128 rows, so a problem, which is one CTA, never sees 256 (B42).
    let ops = vec![op(0, 0, (0, 0, 0), 5, true), op(1, 0, (0, 50, 1), 5, false)];
    let v = with(
        value(0, (0, "tcgen05_d"), &[(1, "tcgen05_ld", 0)]),
        json!({"shape": [256, 64], "element": "f32"}),
    );
    let e = refuse(&problem("sm_100a", 100, 1, &[4], ops, vec![v]));
    assert_eq!((e.kind, e.code.as_str()), (ErrorKind::Impossible, "B42"));
    assert!(e.message.contains("128"), "{e}");
}
