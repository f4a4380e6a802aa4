//! Machines given as data: two examples, generated problems on them, and descriptions that make no sense (B82).
#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value as Json, json};
use warploom_bufassign::check::check;
use warploom_bufassign::{Assignment, ErrorKind, Handshake, Problem, Why, assign};
use warploom_testing::bufassign::{Choices, Family, assignment_holds, problem_of};

const NPU: &str = include_str!("../../../examples/problems/npu.json");
const DSP: &str = include_str!("../../../examples/problems/dsp.json");

fn solved(text: &str) -> (Problem, Assignment) {
    let p = Problem::from_json(text).unwrap();
    let a = assignment_holds(&p, &mut Choices::seeded(0)).unwrap().unwrap();
    (p, a)
}

#[test]
fn an_npu_with_two_scratchpads_and_eight_semaphores_b82() {
    let (_, a) = solved(NPU);
    let of = |v: u64| {
        let r = a.record(v).unwrap();
        (r.space.map(|s| s.to_string()).unwrap(), r.depth, r.offset.unwrap(), r.why)
    };
    let role = Some(Why::Role);
    assert_eq!(of(0), ("act".into(), 2, of(0).2, role));
    // The second scratchpad begins at the next 64 KiB behind the first.
    assert_eq!(of(1), ("weights".into(), 2, 262_144, role));
    assert_eq!(of(2).0, "act");
    // Three rings between partitions take two semaphores each, and no memory.
    let semaphores: Vec<_> = a.records.iter().map(|r| (r.handshake, r.full, r.empty)).collect();
    let pair = |k| (Handshake::Pair, Some(k), Some(k + 1));
    assert_eq!(semaphores, [pair(0), pair(2), pair(4)]);
    assert_eq!(a.barriers.pool, 2);
    assert_eq!(a.smem.used, 262_144 + 2 * 8192);
}

#[test]
fn a_dsp_with_dma_b82() {
    let (_, a) = solved(DSP);
    let space = |v: u64| a.record(v).unwrap().space.unwrap().to_string();
    assert_eq!([space(0), space(1), space(2)], ["l1", "l2", "l1"]);
    // Behind the stack, aligned for vector loads; the DMA engine signals within one partition.
    let samples = a.record(0).unwrap();
    assert!(samples.offset.unwrap() >= 15_728_640 + 1024 && samples.offset.unwrap() % 128 == 0);
    assert_eq!((samples.handshake, samples.full, samples.empty), (Handshake::Full, Some(0), None));
    assert_eq!(a.record(2).unwrap().why, Some(Why::First));
}

fn with(text: &str, changes: &[(&str, Json)]) -> String {
    let mut p: Json = serde_json::from_str(text).unwrap();
    for (path, value) in changes {
        *p.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value.clone();
    }
    p.to_string()
}

/// The JSON in the front page of the crate is the example, of thirty lines at most.
#[test]
fn the_readme_shows_the_npu_b82() {
    let readme = include_str!("../README.md");
    let block = readme.split("```json\n").nth(1).and_then(|b| b.split("```").next()).unwrap();
    assert_eq!(block, NPU);
    assert!(block.lines().count() <= 30);
}

/// Where and what each wrong description is refused for.
#[test]
fn what_makes_no_sense_is_refused_by_name_b82() {
    let cases: &[(&str, Json, &str, &str)] = &[
        ("/target/spaces", json!([]), "target.spaces", "at least one space"),
        ("/target/spaces/0/bytes", json!(0), "target.spaces[0].bytes", "from 1 to"),
        ("/target/spaces/1/name", json!("act"), "target.spaces[1].name", "two spaces"),
        ("/target/spaces/0/align", json!(48), "target.spaces[0].align", "power of two"),
        ("/target/semaphores", json!(0), "target.roles[0].signals", "no barrier can serve it"),
        ("/target/roles/0/spaces/0", json!("lut"), "target.roles[0].spaces", "no space lut"),
        ("/target/roles/0/role", json!("tma_load"), "target.roles[0].role", "built-in chips"),
        ("/target/roles/1/role", json!("dma_act"), "target.roles[1].role", "two roles"),
        ("/values/0/producer/role", json!("dma_axt"), "values[id=0].producer.role", "dma_act, dma_out"),
        ("/values/0/producer/role", json!("mac_a"), "values[id=0].producer.role", "does not write"),
    ];
    for (path, value, place, why) in cases {
        let text = with(NPU, &[(path, value.clone())]);
        let e = Problem::from_json(&text).and_then(|p| assign(&p, &p.options)).unwrap_err();
        assert_eq!((e.kind, e.path.as_deref()), (ErrorKind::InvalidInput, Some(*place)), "{path}: {e}");
        assert!(e.message.contains(why), "{path}: {e}");
    }
    // So does a field that is left out, or of another kind.
    let mut without: Json = serde_json::from_str(NPU).unwrap();
    without["target"].as_object_mut().unwrap().remove("spaces");
    let mut unnamed: Json = serde_json::from_str(NPU).unwrap();
    unnamed["target"]["spaces"][1].as_object_mut().unwrap().remove("bytes");
    let text = with(NPU, &[("/target/semaphores", json!("eight"))]);
    for (text, place, why) in [
        (without.to_string(), "target.spaces", "missing field `spaces`"),
        (unnamed.to_string(), "target.spaces[1].bytes", "missing field `bytes`"),
        (text, "target.semaphores", "expected u32"),
    ] {
        let e = Problem::from_json(&text).unwrap_err();
        assert_eq!((e.kind, e.path.as_deref()), (ErrorKind::InvalidInput, Some(place)), "{e}");
        assert!(e.message.contains(why), "{e}");
    }
    // The first error of a newcomer names the field to set.
    let e = Problem::from_json(&with(NPU, &[("/values/0/root", json!(null))]))
        .and_then(|p| assign(&p, &p.options));
    let e = e.unwrap_err();
    assert_eq!((e.kind, e.path.as_deref()), (ErrorKind::Unanchored, Some("values[id=0].root")), "{e}");
    let mut p = Problem::from_json(NPU).unwrap();
    p.options.smem_limit = Some(1 << 14);
    assert_eq!(assign(&p, &p.options).unwrap_err().path.as_deref(), Some("options.smem_limit"));
}

/// What a machine has too little of is named, with what is needed and what there is.
#[test]
fn what_does_not_fit_is_named_b82() {
    let few = Problem::from_json(&with(NPU, &[("/target/semaphores", json!(5))])).unwrap();
    let e = assign(&few, &few.options).unwrap_err();
    assert_eq!((e.kind, e.need, e.limit), (ErrorKind::Limit, Some(6), Some(5)), "{e}");
    let small = Problem::from_json(&with(NPU, &[("/target/spaces/1/bytes", json!(16000))])).unwrap();
    let e = assign(&small, &small.options).unwrap_err();
    assert_eq!((e.kind, e.need, e.limit), (ErrorKind::Capacity, Some(16384), Some(16000)), "{e}");
    assert!(e.message.contains("space weights"), "{e}");
    let apart = with(NPU, &[("/values/0/consumers/0/role", json!("mac_b"))]);
    let p = Problem::from_json(&apart).unwrap();
    let e = assign(&p, &p.options).unwrap_err();
    assert_eq!((e.kind, e.code.as_str()), (ErrorKind::ClassConflict, "B82"), "{e}");
}

/// Generated problems on a machine: every answer passes the checker, the replays and every timing.
#[test]
fn generated_problems_on_a_machine_hold_b82() {
    let (mut accepted, mut spaces, mut merged) = (0, [0, 0], 0);
    for seed in 0..150 {
        let p = problem_of(Family::Machine, &mut Choices::seeded(seed));
        let answer = assignment_holds(&p, &mut Choices::seeded(seed));
        let Some(a) = answer.unwrap_or_else(|e| panic!("seed {seed}: {e}")) else { continue };
        accepted += 1;
        for r in &a.records {
            spaces[usize::from(r.space.is_some_and(|s| s.to_string() == "far"))] += 1;
        }
        merged += u32::from(a.merge.iter().any(|m| m.members.len() > 1));
    }
    println!("{accepted} accepted, {spaces:?} values by space, {merged} with merges");
    assert!(
        accepted > 50 && spaces[0] > 20 && spaces[1] > 20 && merged > 2,
        "{accepted} {spaces:?} {merged}"
    );
}

/// Broken answers on a machine are caught by the rule that owns what is broken.
#[test]
fn mutations_on_a_machine_are_caught_b82() {
    let (p, good) = solved(NPU);
    let act = good.record(0).unwrap().space;
    type Break<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Assignment));
    let table: &[Break<'_>] = &[
        ("another space claimed", "B82", &|a| a.records[1].space = act),
        ("no space claimed", "B82", &|a| a.records[1].space = None),
        ("moved into the other space", "B82", &|a| a.records[1].offset = Some(65_536)),
        ("past the end of its space", "B82", &|a| a.records[1].offset = Some(262_144 + 131_072)),
        ("before its space", "B82", &|a| a.records[1].offset = Some(262_144 - 64)),
        ("reason changed", "B82", &|a| a.records[1].why = Some(Why::First)),
        ("semaphore of another ring", "B39", &|a| a.records[1].full = Some(0)),
        ("alignment of its space halved", "B37", &|a| a.records[1].align = Some(32)),
        ("barriers that rings have", "B28", &|a| a.barriers.pool = 8),
        ("a ring too shallow", "B17", &|a| a.records[1].depth = 1),
    ];
    let mut caught = 0;
    for (name, rule, break_it) in table {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert_ne!(good, bad, "{name} changed nothing");
        let found: Vec<&str> = check(&p, &bad).err().into_iter().flatten().map(|v| v.rule).collect();
        assert!(found.contains(rule), "{name}: expected {rule}, found {found:?}");
        caught += 1;
    }
    println!("caught {caught} of {}", table.len());
}
