//! Real bugs of pipeliners (section 14 of the specification), one fixture per row, named after it:
//! each is assigned rightly or refused with the reason.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use warploom_bufassign::check::check;
use warploom_bufassign::materialize::*;
use warploom_bufassign::*;

/// Two loads and an MMA in stage 1 that reads both.
fn gemm(loads: [u64; 2]) -> Json {
    let ops = vec![
        op(0, 0, (0, 0, 0), loads[0], true),
        op(1, 0, (0, 10, 1), loads[1], true),
        op(2, 1, (1, 60, 2), 80, true),
    ];
    let values = vec![
        value(0, (0, "tma_load"), &[(2, "wgmma_a", 0)]),
        value(1, (1, "tma_load"), &[(2, "wgmma_b", 0)]),
    ];
    problem("sm_90a", 100, 2, &[1, 4], ops, values)
}

/// Two line or loop regions with one value each; the second starts after the first.
fn siblings(bytes: [u64; 2], more: Json) -> Json {
    let mut ops = Vec::new();
    for region in 0..2u64 {
        for k in 0..2u64 {
            let mut o = op(2 * region + k, 0, (0, 50 * k, k), 5, false);
            o["region"] = json!(region);
            ops.push(o);
        }
    }
    let values = (0..2u64).map(|k| {
        let v = value(k, (2 * k, W), &[(2 * k + 1, R, 0)]);
        with(v, json!({"shape": [bytes[k as usize]], "element": "i8"}))
    });
    let mut p = problem("sm_90a", 100, 1, &[4], ops, values.collect());
    p["regions"] = json!([{"id": 0, "kind": "loop", "ii": 100, "stages": 1},
                          {"id": 1, "kind": "loop", "ii": 100, "stages": 1}]);
    with(p, more)
}

#[test]
fn triton_10977_wait_holds_its_slot() {
    // The MMA alone needs 2 slots; a wait one and a half turns later still holds the slot.
    assert_eq!(depth(100, 4, (0, 20, 1, 5), &[(2, 0, 0, 1)]).0, 2);
    assert_eq!(depth(100, 4, (0, 20, 1, 5), &[(2, 0, 0, 1), (3, 30, 2, 1)]).0, 4);
}

#[test]
fn triton_8139_use_later_in_the_row() {
    // By time one slot would do; in the kernel row the next copy stands before the use.
    assert_eq!(depth(100, 2, (0, 10, 0, 5), &[(1, 10, 1, 0)]).0, 2);
    assert_eq!(depth(100, 2, (0, 10, 1, 5), &[(1, 10, 0, 0)]).0, 1);
}

#[test]
fn triton_11786_unpipelined_load_gets_no_ring() {
    assert_eq!(depth(100, 1, (0, 0, 0, 50), &[(0, 60, 1, 10)]), (1, false));
}

#[test]
fn triton_11278_wait_in_a_conditional_is_a_use() {
    // However deep the wait stood in the source, it is an op with a place in time, and the last.
    let ops =
        vec![op(0, 0, (0, 0, 0), 50, true), op(1, 1, (0, 60, 1), 10, true), op(2, 1, (2, 70, 2), 5, false)];
    let v = value(0, (0, "tma_load"), &[(1, "wgmma_b", 0), (2, "shared_read", 0)]);
    let a = solve(&problem("sm_90a", 100, 3, &[1, 4], ops, vec![v]));
    let r = &a.records[0];
    assert_eq!((r.consumers.clone(), r.end, r.depth), (vec![1, 2], [2, 75], 3));
}

#[test]
fn triton_amd_9720_slow_engine_gets_its_slots() {
    // Only the first op's copy takes long; only its ring is deeper, and both are as asked for.
    let ops = |latency: u64| {
        vec![
            op(0, 0, (0, 0, 0), latency, true),
            op(1, 0, (0, 10, 1), 40, true),
            op(2, 1, (3, 60, 2), 10, false),
            op(3, 1, (1, 70, 3), 10, false),
        ]
    };
    let values = || vec![value(0, (0, "tma_load"), &[(2, R, 0)]), value(1, (1, "tma_load"), &[(3, R, 0)])];
    let a = solve(&problem("sm_90a", 100, 4, &[1, 4], ops(350), values()));
    assert_eq!((a.records[0].depth, a.records[1].depth), (4, 2));
    // Longer than the use allows is refused, not squeezed in.
    let e = refuse(&problem("sm_90a", 100, 4, &[1, 4], ops(361), values()));
    assert_eq!((e.kind, e.path.as_deref()), (ErrorKind::InvalidInput, Some("values[id=0].consumers[0]")));
}

#[test]
fn triton_3106_both_operands_of_an_async_mma() {
    let a = solve(&gemm([40, 40]));
    assert_eq!((a.records[0].depth, a.records[1].depth), (3, 3));
    assert!(a.records.iter().all(|r| r.end == [2, 40]));
}

#[test]
fn triton_11411_uses_through_views() {
    let ops =
        vec![op(0, 0, (0, 0, 0), 50, true), op(1, 1, (0, 60, 1), 10, false), op(2, 1, (2, 70, 2), 10, false)];
    let view = |id: u64, of: u64, rows: u64, read: u64| {
        json!({"id": id, "view_of": of, "byte_offset": 0, "shape": [rows, 128], "element": "f16",
               "consumers": [{"op": read, "role": "shared_read"}]})
    };
    let v = value(0, (0, "tma_load"), &[(1, "shared_read", 0)]);
    let a = solve(&problem("sm_90a", 100, 3, &[1, 4], ops, vec![v, view(1, 0, 32, 1), view(2, 1, 16, 2)]));
    // The last use is two views away and still holds the owner's slot.
    assert_eq!((a.records[0].depth, a.records[0].end), (3, [2, 80]));
    assert!(a.records.iter().all(|r| r.parent == 0 && r.depth == 3));
}

#[test]
fn tilelang_2668_read_and_overwrite_swapped() {
    // Read of turn i, write of turn i + 1: the back edge is there, and turning it round is refused.
    let p = gemm([40, 40]);
    assert!(solve(&p).records.iter().all(|r| r.handshake == Handshake::Pair));
    let mut q = p;
    q["edges"] = json!([{"src": 2, "dst": 0, "distance": 0}]);
    let e = refuse(&q);
    assert_eq!((e.kind, e.path.as_deref()), (ErrorKind::InvalidInput, Some("edges")));
}

#[test]
fn tilelang_2595_atomics_read_and_write() {
    let ops = vec![op(0, 0, (0, 0, 0), 10, false), op(1, 1, (0, 50, 1), 10, false)];
    let p = |distance: u64| {
        let mut v = with(value(0, (0, W), &[]), json!({"init": true}));
        v["consumers"] = json!([{"op": 0, "role": R, "distance": 1, "in_place": true},
                                {"op": 1, "role": R, "distance": distance}]);
        problem("sm_90a", 100, 1, &[4, 4], ops.clone(), vec![v])
    };
    // A read of the version before, after the atomic has already added to it.
    assert_eq!(kind(&p(1)), ErrorKind::OverwrittenBeforeRead);
    // A read of this turn's version: the next atomic waits for it, in the same bytes.
    let a = solve(&p(0));
    assert_eq!((a.records[0].depth, a.records[0].handshake, a.smem.used), (1, Handshake::Pair, 16400));
}

#[test]
fn tilelang_3031_legal_reuse_inside_an_iteration() {
    let a = classes(100, &[4], &[(0, 10, 10), (50, 60, 10)], "implied");
    assert_eq!((a.merge.len(), a.smem.used), (1, 16384));
}

#[test]
fn tilelang_2309_one_depth_per_storage() {
    // Two pipelines with different needs on one pipe: the deeper one decides for both.
    let ops = vec![
        op(0, 0, (0, 0, 0), 50, true),
        op(1, 0, (0, 1, 1), 50, true),
        op(2, 1, (1, 60, 2), 10, false),
        op(3, 1, (2, 70, 3), 10, false),
    ];
    let values = |pipe: Json| {
        let of = |id: u64, read: u64| with(value(id, (id, "tma_load"), &[(read, R, 0)]), pipe.clone());
        vec![of(0, 2), of(1, 3)]
    };
    let depths = |pipe: Json| -> Vec<u64> {
        let a = solve(&problem("sm_90a", 100, 3, &[1, 4], ops.clone(), values(pipe)));
        a.records.iter().map(|r| r.depth).collect()
    };
    assert_eq!(depths(json!({})), [2, 3]);
    assert_eq!(depths(json!({"pipe": 7})), [3, 3]);
}

#[test]
fn tilelang_3039_buffer_read_after_the_loop() {
    let mut p = siblings([4096, 4096], json!({}));
    p["values"][0]["live_out"] = json!(true);
    p["values"][0]["consumers"] = json!([{"op": 1, "role": R}, {"op": 3, "role": R}]);
    let a = solve(&p);
    assert_eq!(a.records[0].last_slot, Some(LastSlot { add: -1, modulo: 1 }));
    // It outlives its loop, so the next loop's buffer lies elsewhere.
    assert_eq!(a.smem.used, 8192);
}

#[test]
fn tilelang_666_clear_before_the_loop() {
    let mut p = siblings([4096, 4096], json!({}));
    p["regions"][0] = json!({"id": 0, "kind": "line"});
    p["values"][0]["live_in"] = json!(true);
    p["values"][0]["consumers"] = json!([{"op": 3, "role": R}]);
    let a = solve(&p);
    // What the loop writes never lies over what was cleared for it.
    assert_eq!(a.smem.used, 8192);
    assert_ne!(a.records[0].offset, a.records[1].offset);
}

#[test]
fn fb_triton_1999_sibling_loops_are_one_plan() {
    let a = solve(&siblings([150_000, 200_000], json!({})));
    assert_eq!(a.smem.used, 200_000);
    assert_eq!(a.drains.len(), 1);
    // Overlapped turns of an outer loop forbid the overlay; then both count.
    let e = refuse(&siblings([150_000, 200_000], json!({"repeat": "overlapped"})));
    assert_eq!((e.kind, e.outcome), (ErrorKind::Capacity, Some(PackVerdict::ProvedInfeasible)));
}

#[test]
fn fb_triton_3456_view_past_its_storage() {
    let ops = vec![op(0, 0, (0, 0, 0), 5, false), op(1, 0, (0, 50, 1), 5, false)];
    let view = json!({"id": 1, "view_of": 0, "byte_offset": 8192, "shape": [33, 128], "element": "f16",
                      "consumers": [{"op": 1, "role": R}]});
    let e = refuse(&problem("sm_90a", 100, 1, &[4], ops, vec![value(0, (0, W), &[(1, R, 0)]), view]));
    assert_eq!((e.kind, e.code.as_str(), e.phase), (ErrorKind::ViewOutOfBounds, "B14", Some(1)));
}

/// Two buffers an author put into one layout: leaves of the given slots.
fn claimed(slots: [u64; 2]) -> Json {
    let ops = vec![
        op(0, 0, (0, 0, 0), 1, false),
        op(1, 0, (0, 5, 1), 1, false),
        op(2, 0, (0, 30, 2), 5, false),
        op(3, 0, (0, 40, 3), 5, false),
    ];
    let bind = |v: Json, leaf: u64| with(v, json!({"layout": {"id": 1, "leaf": leaf}}));
    let values = vec![bind(value(0, (0, W), &[(2, R, 0)]), 0), bind(value(1, (1, W), &[(3, R, 0)]), 1)];
    let mut p = problem("sm_90a", 100, 1, &[4], ops, values);
    p["layouts"] = json!([{"id": 1, "space": "smem", "bytes": 32768, "align": 1024, "leaves": [
        {"bytes": 16384, "slots": [slots[0]]}, {"bytes": 16384, "slots": [slots[1]]}]}]);
    p
}

#[test]
fn fb_triton_404_hand_shared_buffers_overlap() {
    let e = refuse(&claimed([0, 0]));
    assert_eq!((e.kind, e.code.as_str()), (ErrorKind::AliasLive, "B20"));
    assert!(e.message.contains("v0") && e.message.contains("v1"), "{e}");
    assert_eq!(refuse(&claimed([0, 15360])).kind, ErrorKind::AliasLive);
    let a = solve(&claimed([16384, 0]));
    assert_eq!((a.records[0].offset, a.records[1].offset), (Some(16384), Some(0)));
}

#[test]
fn fb_triton_1326_depth_is_never_cut() {
    let mut p = gemm([40, 40]);
    let needed = solve(&p).smem.used;
    p["options"] = json!({"smem_limit": needed - 1});
    let e = refuse(&p);
    assert_eq!((e.kind, e.need), (ErrorKind::Capacity, Some(needed)));
    // The price of a slot less is an II, and the plan with it is not taken silently.
    let remedy = e.advice.iter().flatten().find_map(|r| match r {
        Remedy::Shallower { depth, to, ii, .. } => Some((*depth, *to, *ii)),
        _ => None,
    });
    let (depth, to, ii) = remedy.unwrap();
    assert!(to + 1 == depth && ii > 100);
    p["options"] = json!({"smem_limit": needed});
    assert_eq!(solve(&p).smem.used, needed);
}

#[test]
fn triton_8182_out_of_memory_names_the_buffer() {
    let mut p = gemm([40, 40]);
    p["options"] = json!({"smem_limit": 20_000});
    let e = refuse(&p);
    assert!(e.message.starts_with("fails to assign smem buffer") && e.message.contains("v0"), "{e}");
    assert_eq!(e.value.as_ref().map(|v| v.id), Some(0));
    assert!(e.smem_map.as_ref().is_some_and(|m| m.len() >= 2));
    assert!(e.advice.as_ref().is_some_and(|a| !a.is_empty()));
}

#[test]
fn pypto_768_loop_results_live_on_in_their_buffer() {
    // Argument, carried value and result of a loop name one buffer: one allocation, no move.
    let buffers = vec![
        MemBuffer { id: 0, space: "UB".into(), bytes: 64, live: vec![] },
        MemBuffer { id: 1, space: "UB".into(), bytes: 64, live: vec![] },
    ];
    let users =
        ["argument", "carried", "result"].map(|v| MemUser { variable: v.into(), buffer: 0, bytes: 64 });
    let refs = MemRefs { buffers, users: users.to_vec() };
    let spaces = MemSpaces(vec![MemSpace::placed("UB", 4096, 32)]);
    let allocs = materialize(&refs, &spaces).unwrap().allocs;
    assert_eq!(allocs.iter().map(|a| a.addr).collect::<Vec<_>>(), [Some(0), Some(64)]);
    let mut moved = allocs.clone();
    moved[1].addr = Some(0);
    assert!(check_allocs(&refs, &spaces, &moved).unwrap_err().iter().any(|v| v.rule == "B71"));
    // In the loop itself a result stays where its last turn left it.
    let mut p = gemm([40, 40]);
    p["values"][0]["live_out"] = json!(true);
    let p = Problem::from_json(&p.to_string()).unwrap();
    let good = assign(&p, &p.options).unwrap();
    let mut bad = good.clone();
    bad.records[0].last_slot = Some(LastSlot { add: 0, modulo: 2 });
    assert!(check(&p, &bad).unwrap_err().iter().any(|v| v.rule == "B22"));
}
