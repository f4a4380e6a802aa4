//! Negative tests for what is unsound or open in the sources, and real pipeliner bugs.
#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value as Json, json};
use warploom_bufassign::check::check;
use warploom_bufassign::*;

/// An op in region 0: (agent, stage, cycle, order, latency, async).
fn op(id: u64, agent: u64, at: (u64, u64, u64), latency: u64, is_async: bool) -> Json {
    let (stage, cycle, order) = at;
    json!({"id": id, "region": 0, "agent": agent, "stage": stage, "cycle": cycle, "order": order,
           "latency": latency, "async": is_async})
}

fn value(id: u64, producer: (u64, &str), consumers: &[(u64, &str, u64)]) -> Json {
    let uses: Vec<Json> =
        consumers.iter().map(|c| json!({"op": c.0, "role": c.1, "distance": c.2})).collect();
    json!({"id": id, "name": format!("v{id}"), "root": id, "shape": [64, 128], "element": "f16",
           "producer": {"op": producer.0, "role": producer.1}, "consumers": uses})
}

fn with(mut v: Json, more: Json) -> Json {
    for (k, x) in more.as_object().unwrap() {
        v[k.as_str()] = x.clone();
    }
    v
}

fn problem(target: &str, ii: u64, stages: u64, warps: &[u32], ops: Vec<Json>, values: Vec<Json>) -> Json {
    let agents: Vec<Json> = warps
        .iter()
        .enumerate()
        .map(|(k, w)| json!({"id": k, "name": format!("a{k}"), "warps": w}))
        .collect();
    json!({"name": "t", "target": target, "agents": agents, "ops": ops, "values": values,
           "regions": [{"id": 0, "kind": "loop", "ii": ii, "stages": stages}]})
}

fn solve(p: &Json) -> Assignment {
    let p = Problem::from_json(&p.to_string()).unwrap();
    let a = assign(&p, &p.options).unwrap_or_else(|e| panic!("{e}"));
    check(&p, &a).unwrap();
    a
}

fn refuse(p: &Json) -> AssignError {
    let p = Problem::from_json(&p.to_string()).unwrap();
    assign(&p, &p.options).unwrap_err()
}

fn kind(p: &Json) -> ErrorKind {
    refuse(p).kind
}

const W: &str = "reg_write";
const R: &str = "reg_read";

/// A copy and its use: issue at (0, cycle 0, rank), use as given; the depth that comes out.
fn depth(ii: u64, stages: u64, load: (u64, u64, u64, u64), uses: &[(u64, u64, u64, u64)]) -> (u64, bool) {
    let mut ops = vec![op(0, 0, (load.0, load.1, load.2), load.3, true)];
    let mut consumers = Vec::new();
    for (k, u) in uses.iter().enumerate() {
        ops.push(op(k as u64 + 1, 1, (u.0, u.1, u.2), u.3, false));
        consumers.push((k as u64 + 1, "wgmma_b", 0));
    }
    let a = solve(&problem("sm_90a", ii, stages, &[1, 4], ops, vec![value(0, (0, "tma_load"), &consumers)]));
    (a.records[0].depth, a.records[0].pipelined)
}

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

/// Two values of one agent: (start, latency of use) each; the merge classes that come out.
fn classes(ii: u64, warps: &[u32], arcs: &[(u64, u64, u64)], sharing: &str) -> Assignment {
    let mut cycles: Vec<(u64, usize, bool)> = Vec::new();
    for (k, &(start, used, _)) in arcs.iter().enumerate() {
        cycles.push((start % ii, k, false));
        cycles.push((used % ii, k, true));
    }
    cycles.sort();
    let mut ops = Vec::new();
    for (rank, &(cycle, k, is_use)) in cycles.iter().enumerate() {
        let t = if is_use { arcs[k].1 } else { arcs[k].0 };
        let latency = if is_use { arcs[k].2 } else { 1 };
        let agent = if warps.len() > 1 { k as u64 } else { 0 };
        ops.push(op(2 * k as u64 + u64::from(is_use), agent, (t / ii, cycle, rank as u64), latency, false));
    }
    let values = (0..arcs.len() as u64).map(|k| value(k, (2 * k, W), &[(2 * k + 1, R, 0)])).collect();
    let mut p = problem("sm_90a", ii, 4, warps, ops, values);
    p["options"] = json!({"sharing": sharing});
    solve(&p)
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

#[test]
fn merge_order_is_pinned() {
    // a and c overlap, b is disjoint from both: the lower pair wins.
    let a = classes(100, &[4], &[(0, 10, 20), (50, 60, 10), (15, 20, 20)], "implied");
    let members: Vec<_> = a.merge.iter().map(|m| m.members.clone()).collect();
    assert_eq!(members, [vec![0, 1], vec![2]]);
}

#[test]
fn disjoint_but_unordered_refused() {
    // Two agents that never synchronise: disjoint cycles prove nothing.
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

#[test]
fn stage_padding_and_mbarrier_bytes_count() {
    let ops = vec![op(0, 0, (0, 0, 0), 50, true), op(1, 1, (1, 50, 1), 50, false)];
    let v = with(value(0, (0, "tma_load"), &[(1, R, 0)]), json!({"shape": [33], "element": "i8"}));
    let a = solve(&problem("sm_90a", 100, 2, &[1, 4], ops, vec![v]));
    let r = &a.records[0];
    assert_eq!((r.depth, r.stride, r.bytes), (2, Some(128), Some(256)));
    assert_eq!((a.smem.used, a.smem.load_bound), (256 + 32, 256 + 32));
}

#[test]
fn sm120_99k() {
    let ops = vec![op(0, 0, (0, 0, 0), 5, false), op(1, 0, (0, 50, 1), 5, false)];
    let v = with(value(0, (0, W), &[(1, R, 0)]), json!({"shape": [101_377], "element": "i8"}));
    let e = refuse(&problem("sm_120a", 100, 1, &[4], ops, vec![v]));
    assert_eq!((e.kind, e.limit, e.code.as_str()), (ErrorKind::Capacity, Some(101_376), "B47"));
    assert_eq!(e.outcome, Some(PackVerdict::ProvedInfeasible));
}

/// `n` values of one agent that are all live at once.
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
    assert_eq!(path(&|p| p["agents"][1]["warps"] = json!(30)), "agents[id=2].warps");
    assert_eq!(path(&|p| p["values"][0]["shape"][0] = json!(0)), "values[id=0].shape");
    assert_eq!(path(&|p| p["values"][0]["align"] = json!(48)), "values[id=0].align");
    assert_eq!(path(&|p| p["values"][0]["bytes"] = json!(16383)), "values[id=0].bytes");
    assert_eq!(path(&|p| p["values"][0]["producer"]["op"] = json!(77)), "values[id=0].producer.op");
    assert_eq!(path(&|p| p["values"][0]["shape"] = json!([u64::MAX, 9])), "values[id=0].shape");
    assert_eq!(path(&|p| p["ops"][0]["latency"] = json!(501)), "values[id=0].consumers[0]");
    assert_eq!(path(&|p| p["edges"] = json!([{"src": 3, "dst": 2, "distance": 0}])), "edges");
    assert_eq!(path(&|p| p["target"] = json!("sm_90")), "target");
    let mut p = base.clone();
    p["ops"][3].as_object_mut().unwrap().remove("agent");
    assert_eq!(assign_json(&p.to_string()).unwrap_err().path.as_deref(), Some("ops[3].agent"));
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
