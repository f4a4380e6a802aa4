//! Negative tests for what is unsound or open in the sources: lifetimes, sharing, refusals.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use warploom_bufassign::*;

#[test]
fn issue_to_completion() {
    // GEMM 128x128x64 at II 256: [0, 1145) and [30, 1145).
    assert_eq!(depth(256, 3, (0, 0, 0, 500), &[(2, 74, 1, 559)]).0, 5);
    assert_eq!(depth(256, 3, (0, 30, 0, 500), &[(2, 74, 1, 559)]).0, 5);
    assert_eq!(depth(512, 3, (0, 0, 0, 500), &[(2, 0, 1, 558)]).0, 4);
}

#[test]
fn exact_multiple() {
    // II divides L = 512: two slots, not floor(L / II) + 1.
    assert_eq!(depth(256, 2, (0, 0, 1, 100), &[(1, 0, 0, 256)]).0, 2);
}

#[test]
fn position_counts_where_time_does_not() {
    // (stage, rank) of the load, of the use, and the least depth (B18).
    let t = |r: u64| r * 10;
    assert_eq!(depth(100, 4, (0, t(2), 2, 5), &[(2, t(0), 0, 1)]).0, 2);
    assert_eq!(depth(100, 4, (0, t(2), 2, 5), &[(2, t(0), 0, 1), (3, t(3), 3, 1)]).0, 4);
    assert_eq!(depth(100, 4, (1, t(1), 1, 5), &[(2, t(2), 2, 1)]).0, 2);
    assert_eq!(depth(100, 4, (1, t(1), 1, 5), &[(3, t(0), 0, 1)]).0, 2);
    assert_eq!(depth(100, 4, (0, t(1), 1, 5), &[(0, t(2), 2, 1)]), (1, false));
}

#[test]
fn stage_shift_is_not_disjoint() {
    // [0, 2) and [II, II + 2) collide in every iteration.
    assert_eq!(classes(100, &[4], &[(0, 1, 1), (101, 102, 1)], "always").merge.len(), 2);
}

#[test]
fn long_value_never_shares() {
    let a = classes(100, &[4], &[(0, 95, 5), (96, 97, 1)], "always");
    assert_eq!(a.merge.len(), 2, "{:?}", a.merge);
}

#[test]
fn hull_would_refuse() {
    // v0 [0, 20), v1 [60, 80); v2 [30, 50) lies in the gap between them.
    let a = classes(100, &[4], &[(0, 10, 10), (60, 70, 10), (30, 40, 10)], "implied");
    assert_eq!(a.merge.len(), 1, "{:?}", a.merge);
    assert_eq!(a.smem.used, 16384);
}

/// Value 0 goes from partition 0 to partition 1, which then tells partition 0, one stage later, before value 1 is
/// written to the same bytes: turn i of the one comes before turn i of the other through turn i - 1.
fn told_by_the_turn_before(sharing: &str) -> Json {
    let ops = vec![
        op(0, 0, (0, 0, 0), 5, false),
        op(1, 1, (0, 20, 1), 5, false),
        op(2, 1, (1, 30, 2), 5, false),
        op(3, 0, (1, 40, 3), 5, false),
        op(4, 0, (0, 60, 4), 5, false),
        op(5, 0, (0, 70, 5), 5, false),
    ];
    let told = with(value(2, (2, "signal"), &[(3, "signal", 0)]), json!({"shape": []}));
    let values = vec![value(0, (0, W), &[(1, R, 0)]), value(1, (4, W), &[(5, R, 0)]), told];
    let mut p = problem("sm_90a", 100, 2, &[1, 1], ops, values);
    p["values"][2].as_object_mut().unwrap().remove("element");
    p["options"] = json!({"sharing": sharing});
    p
}

#[test]
fn a_turn_before_the_head_orders_nothing() {
    // In turn 0 nobody tells partition 0 anything, so partition 1 may still read value 0 when value 1 is written.
    assert_eq!(solve(&told_by_the_turn_before("implied")).merge.len(), 2);
    let p = told_by_the_turn_before("always");
    let mut a = solve(&p);
    let merged: Vec<_> = a.merge[0].edges.iter().map(|e| (e.from, e.to, e.distance, e.implied)).collect();
    assert!(merged.contains(&(0, 1, 0, false)), "{merged:?}");
    // The checker does not take it as implied either.
    a.merge[0].edges.iter_mut().for_each(|e| e.implied = true);
    let p = Problem::from_json(&p.to_string()).unwrap();
    let found = check::check(&p, &a).unwrap_err();
    assert!(found.iter().any(|v| v.rule == "B51"), "{found:?}");
}

#[test]
fn merge_order_is_pinned() {
    // a and c overlap, b is disjoint from both: the lower pair wins.
    let a = classes(100, &[4], &[(0, 10, 20), (50, 60, 10), (15, 20, 20)], "implied");
    let members: Vec<_> = a.merge.iter().map(|m| m.members.clone()).collect();
    assert_eq!(members, [vec![0, 1], vec![2]]);
}

#[test]
fn disjoint_but_unordered_refused() {
    // Two partitions that never synchronise: disjoint cycles prove nothing.
    let a = classes(100, &[4, 4], &[(0, 10, 10), (50, 60, 10)], "implied");
    assert_eq!(a.merge.len(), 2);
    let b = classes(100, &[4, 4], &[(0, 10, 10), (50, 60, 10)], "always");
    assert_eq!(b.merge.len(), 1);
    assert!(b.merge[0].edges.iter().all(|e| !e.implied));
}

#[test]
fn joint_ring_3_of_4() {
    let p: Json = serde_json::from_str(include_str!("fixtures/joint.json")).unwrap();
    let a = solve(&p);
    assert_eq!((a.merge.len(), a.merge[0].depth), (1, 3));
    let shifts: Vec<_> = a.records.iter().map(|r| r.slot_shift).collect();
    assert_eq!(shifts, [Some(0), Some(2)]);
}

#[test]
fn equal_rings_refused() {
    // Both need more than half of the circle of two slots, and three slots would save nothing of
    // three: 2 + 1.
    let a = classes(100, &[4, 4, 4], &[(0, 110, 40), (150, 160, 10)], "always");
    assert!(a.merge.iter().all(|m| m.members.len() == 1 || m.depth < 3));
}

#[test]
fn live_out_not_overwritten() {
    let ops = vec![
        op(0, 0, (0, 0, 0), 1, false),
        op(1, 0, (0, 10, 1), 1, false),
        op(2, 0, (0, 50, 2), 1, false),
        op(3, 0, (0, 60, 3), 1, false),
    ];
    let out = with(value(0, (0, W), &[(1, R, 0)]), json!({"live_out": true}));
    let a = solve(&problem("sm_90a", 100, 1, &[4], ops, vec![out, value(1, (2, W), &[(3, R, 0)])]));
    assert_eq!(a.merge.len(), 2);
    assert_eq!(a.records[0].last_slot, Some(LastSlot { add: -1, modulo: 1 }));
}

#[test]
fn early_exit_in_flight() {
    let ops = vec![
        op(0, 0, (0, 0, 0), 5, true),
        op(1, 0, (0, 10, 1), 1, false),
        op(2, 0, (0, 50, 2), 1, false),
        op(3, 0, (0, 60, 3), 1, false),
    ];
    let values = vec![value(0, (0, "tma_load"), &[(1, R, 0)]), value(1, (2, W), &[(3, R, 0)])];
    let mut p = problem("sm_90a", 100, 1, &[4], ops, values);
    let counted = solve(&p).smem.used;
    p["regions"][0]["exit"] = json!("early");
    assert!(solve(&p).smem.used > counted);
}

#[test]
fn sharing_rescues_overflow() {
    let arcs = [(0, 10, 10), (50, 60, 10)];
    let p = |limit: u64| {
        let mut ops = Vec::new();
        for (k, &(s, u, l)) in arcs.iter().enumerate() {
            let k = k as u64;
            ops.push(op(2 * k, k, (0, s, 2 * k), 1, false));
            ops.push(op(2 * k + 1, k, (0, u, 2 * k + 1), l, false));
        }
        let values = (0..2).map(|k| value(k, (2 * k, W), &[(2 * k + 1, R, 0)])).collect();
        let mut p = problem("sm_90a", 100, 1, &[4, 4], ops, values);
        p["options"] = json!({"smem_limit": limit});
        p
    };
    assert_eq!(solve(&p(40000)).merge.len(), 2);
    let rescued = solve(&p(20000));
    assert!(rescued.smem.used <= 20000);
    assert!(rescued.merge.iter().flat_map(|m| &m.edges).any(|e| !e.implied));
}

#[test]
fn chain_class_conflict() {
    let ops = vec![
        op(0, 0, (0, 0, 0), 1, true),
        op(1, 0, (0, 10, 1), 1, false),
        op(2, 0, (0, 50, 2), 1, true),
        op(3, 0, (0, 60, 3), 1, false),
    ];
    let a = with(value(0, (0, "tma_load"), &[(1, R, 0)]), json!({"root": 0}));
    let b = with(value(1, (2, "tcgen05_d"), &[(3, "tcgen05_ld", 0)]), json!({"root": 0}));
    let e = refuse(&problem("sm_100a", 100, 1, &[4], ops, vec![a, b]));
    assert_eq!((e.kind, e.code.as_str()), (ErrorKind::ClassConflict, "B34"));
    assert!(e.message.contains("tma_load") && e.message.contains("tcgen05_d"));
}

#[test]
fn refusals_of_phase_1() {
    let ops = || vec![op(0, 0, (0, 0, 0), 5, false), op(1, 0, (0, 50, 1), 5, false)];
    let p = |v: Json| problem("sm_90a", 100, 1, &[4], ops(), vec![v]);
    let v = || value(0, (0, W), &[(1, R, 0)]);
    assert_eq!(kind(&p(with(v(), json!({"root": null})))), ErrorKind::Unanchored);
    assert_eq!(kind(&p(value(0, (0, W), &[]))), ErrorKind::NoConsumer);
    assert_eq!(kind(&p(value(0, (0, W), &[(1, R, 1)]))), ErrorKind::NoAnchor);
    let mut unplaced = p(v());
    unplaced["ops"][1]["cycle"] = json!(null);
    assert_eq!(kind(&unplaced), ErrorKind::NoAnchor);
    let view = |of: u64, offset: u64| {
        json!({"id": 1, "view_of": of, "byte_offset": offset, "shape": [64, 64], "element": "f16",
        "consumers": [{"op": 1, "role": R}]})
    };
    let pair = |w: Json| problem("sm_90a", 100, 1, &[4], ops(), vec![v(), w]);
    assert_eq!(kind(&pair(view(0, 8193))), ErrorKind::ViewOutOfBounds);
    assert_eq!(kind(&pair(view(1, 0))), ErrorKind::CyclicChain);
    assert_eq!(solve(&pair(view(0, 8192))).records[1].offset, Some(8192));
    let text = refuse(&p(value(0, (0, W), &[]))).message.clone();
    assert!(text.starts_with("fails to resolve lifetime"), "{text}");
}

#[test]
fn malformed_input_names_its_path() {
    let base: Json = serde_json::from_str(include_str!("fixtures/worked.json")).unwrap();
    let path = |f: &dyn Fn(&mut Json)| {
        let mut p = base.clone();
        f(&mut p);
        let e = assign_json(&p.to_string()).unwrap_err();
        assert_eq!((e.kind, e.phase), (ErrorKind::InvalidInput, None), "{e}");
        e.path.clone().unwrap()
    };
    assert_eq!(path(&|p| p["regions"][0]["ii"] = json!(0)), "regions[id=0].ii");
    assert_eq!(path(&|p| p["ops"][1]["cycle"] = json!(400)), "ops[id=1].cycle");
    assert_eq!(path(&|p| p["ops"][1]["stage"] = json!(3)), "ops[id=1].stage");
    assert_eq!(path(&|p| p["ops"][1]["order"] = json!(2)), "ops[id=4].order");
    assert_eq!(path(&|p| p["ops"][1]["id"] = json!(0)), "ops[id=0].id");
    assert_eq!(path(&|p| p["partitions"][1]["warps"] = json!(30)), "partitions[id=2].warps");
    assert_eq!(path(&|p| p["values"][0]["shape"][0] = json!(0)), "values[id=0].shape");
    assert_eq!(path(&|p| p["values"][0]["align"] = json!(48)), "values[id=0].align");
    assert_eq!(path(&|p| p["values"][0]["bytes"] = json!(16383)), "values[id=0].bytes");
    assert_eq!(path(&|p| p["values"][0]["producer"]["op"] = json!(77)), "values[id=0].producer.op");
    assert_eq!(path(&|p| p["values"][0]["shape"] = json!([u64::MAX, 9])), "values[id=0].shape");
    assert_eq!(path(&|p| p["ops"][0]["latency"] = json!(501)), "values[id=0].consumers[0]");
    assert_eq!(path(&|p| p["edges"] = json!([{"src": 3, "dst": 2, "distance": 0}])), "edges");
    assert_eq!(path(&|p| p["target"] = json!("sm_90")), "target");
    let mut p = base.clone();
    p["ops"][3].as_object_mut().unwrap().remove("partition");
    assert_eq!(assign_json(&p.to_string()).unwrap_err().path.as_deref(), Some("ops[3].partition"));
    assert!(assign_json(&"[".repeat(100_000)).is_err());
}

#[test]
fn price_of_a_shallower_ring() {
    // Span 1714 with a use one iteration later at II 1166: 3 slots; 2 cost II 1714, not 1440.
    let ops = vec![op(0, 0, (0, 0, 0), 500, true), op(1, 1, (0, 600, 1), 1114, false)];
    let v = with(value(0, (0, "tma_load"), &[(1, R, 1)]), json!({"init": true, "shape": [128, 256]}));
    let mut p = problem("sm_90a", 1166, 1, &[1, 4], ops, vec![v]);
    assert_eq!(solve(&p).records[0].depth, 3);
    p["options"] = json!({"smem_limit": 150_000});
    let e = refuse(&p);
    let first = e.advice.as_ref().unwrap()[0].clone();
    assert_eq!(first, Remedy::Shallower { value: 0, depth: 3, to: 2, saves: 65536, ii: 1714, fits: true });
}

#[test]
fn no_silent_cut() {
    let p: Json = serde_json::from_str(include_str!("fixtures/worked.json")).unwrap();
    let mut q = p;
    q["options"] = json!({"smem_limit": 40000});
    assert_eq!(kind(&q), ErrorKind::Capacity);
}

/// A remedy is priced on the plan that it leads to, with its merges: p and x of the worked example share
/// their bytes, so one slot of k less is enough, which it is not where nothing may be shared.
#[test]
fn price_after_merge() {
    let mut p: Json = serde_json::from_str(include_str!("fixtures/worked.json")).unwrap();
    let mut at = |sharing: &str| {
        p["options"] = json!({"smem_limit": 40000, "sharing": sharing});
        let e = refuse(&p);
        let shallower = |r: &&Remedy| matches!(r, Remedy::Shallower { value: 0, .. });
        e.advice.as_ref().unwrap().iter().find(shallower).cloned()
    };
    let remedy = |fits| Some(Remedy::Shallower { value: 0, depth: 2, to: 1, saves: 16384, ii: 700, fits });
    assert_eq!(at("implied"), remedy(true));
    assert_eq!(at("off"), remedy(false));
}

#[test]
fn authors_claim_is_checked() {
    let ops = |second: u64| {
        vec![
            op(0, 0, (0, 0, 0), 1, false),
            op(1, 0, (0, 20, 1), 5, false),
            op(2, 0, (0, second, 2), 1, false),
            op(3, 0, (0, second + 10, 3), 5, false),
        ]
    };
    let p = |second: u64, slots: Vec<u64>| {
        let bind = |v: Json, leaf: u64| with(v, json!({"layout": {"id": 9, "leaf": leaf}}));
        let values = vec![bind(value(0, (0, W), &[(1, R, 0)]), 0), bind(value(1, (2, W), &[(3, R, 0)]), 1)];
        let mut p = problem("sm_90a", 100, 1, &[4], ops(second), values);
        p["layouts"] = json!([{"id": 9, "space": "smem", "bytes": 32768, "align": 128, "leaves": [
            {"bytes": 16384, "slots": [0]}, {"bytes": 16384, "slots": slots}]}]);
        p
    };
    assert_eq!(solve(&p(30, vec![0])).smem.used, 32768);
    let e = refuse(&p(22, vec![8192]));
    assert_eq!(e.kind, ErrorKind::AliasLive);
    assert_eq!(solve(&p(22, vec![16384])).records[1].offset, Some(16384));
}

#[test]
fn descriptors_one_per_root() {
    let ops = vec![op(0, 0, (0, 0, 0), 1, false)];
    let d = |id: u64, root: u64| {
        json!({"id": id, "root": root, "live_in": true, "device_built": id == 2,
        "consumers": [{"op": 0, "role": "tma_desc"}]})
    };
    let a = solve(&problem("sm_90a", 100, 1, &[1], ops, vec![d(0, 5), d(1, 5), d(2, 6)]));
    let slots: Vec<_> = a.records.iter().map(|r| r.desc.unwrap().slot).collect();
    assert_eq!(slots, [0, 0, 1]);
    assert_eq!(a.records[2].desc.unwrap().workspace, Some(0));
}

#[test]
fn two_long_rings_never_share() {
    // 190 + 190 cycles: not on two slots of 100, nor on three; four save nothing.
    let a = classes(100, &[4, 4], &[(0, 150, 40), (50, 200, 40)], "always");
    assert_eq!(a.records.iter().map(|r| r.depth).collect::<Vec<_>>(), [2, 2]);
    assert_eq!((a.merge.len(), a.smem.used), (2, 4 * 16384));
}

#[test]
fn insert_would_deadlock() {
    // Value 1 is read at cycle 50, after value 0 was written at cycle 50, by the same partition: their
    // times touch and do not overlap, but a wait of the write for the read would wait for itself.
    let a = classes(100, &[4], &[(50, 60, 10), (0, 50, 0)], "always");
    assert_eq!((a.merge.len(), a.smem.used), (2, 2 * 16384));
    // One cycle later the partition reads first, and they share.
    let b = classes(100, &[4], &[(51, 60, 10), (0, 50, 0)], "always");
    assert_eq!((b.merge.len(), b.smem.used), (1, 16384));
}

#[test]
fn a_use_that_ends_where_its_value_starts() {
    let ops = vec![op(0, 0, (0, 10, 0), 0, false), op(1, 0, (0, 10, 1), 0, false)];
    let e = refuse(&problem("sm_90a", 100, 1, &[4], ops, vec![value(0, (0, W), &[(1, R, 0)])]));
    assert_eq!((e.kind, e.code.as_str(), e.phase), (ErrorKind::EndsBeforeStart, "B15", Some(1)));
}

#[test]
fn no_bytes_at_all() {
    let ops = vec![op(0, 0, (0, 0, 0), 5, false), op(1, 0, (0, 50, 1), 5, false)];
    let mut p = problem("sm_90a", 100, 1, &[4], ops, vec![value(0, (0, W), &[(1, R, 0)])]);
    p["options"] = json!({"smem_limit": 0});
    let e = refuse(&p);
    assert_eq!((e.kind, e.limit, e.phase), (ErrorKind::Capacity, Some(0), Some(3)));
    assert_eq!(e.outcome, Some(PackVerdict::ProvedInfeasible));
}

/// Signals of one root have no storage in common: each ring of barriers has the depth of its own law. Found by the fuzzer.
#[test]
fn signals_of_one_root_keep_their_own_depth() {
    // One lives within an interval, the other into the next one.
    let ops = vec![
        op(0, 0, (0, 0, 0), 5, false),
        op(1, 0, (0, 20, 1), 5, false),
        op(2, 0, (0, 30, 2), 5, false),
        op(3, 1, (1, 40, 3), 5, false),
    ];
    let root = || json!({"root": 0, "shape": []});
    let values = vec![
        with(value(0, (0, "signal"), &[(1, "signal", 0)]), root()),
        with(value(1, (2, "signal"), &[(3, "signal", 0)]), root()),
    ];
    let a = solve(&problem("sm_90a", 100, 2, &[4, 4], ops, values));
    let depths: Vec<u64> = a.records.iter().map(|r| r.depth).collect();
    assert_eq!(depths, [1, 2]);
}
