//! Kernels whose products one partition issues by tcgen05.mma: what is chosen, and what the checker finds in broken
//! programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{broken, checked, one_partition};
use std::collections::BTreeSet;

use warploom_pipeline::check::Rule;
use warploom_pipeline::{Compiled, RegisterLayout};

fn compile(name: &str, chip: &str, depth: Option<u64>) -> Compiled {
    let mut options = checked();
    options.depth = depth;
    one_partition(name, chip, &options)
}

/// The rules that a program breaks.
fn found(text: &str) -> BTreeSet<Rule> {
    broken("sm_100a", text).into_iter().collect()
}

#[test]
fn sums_that_a_loop_carries_stay_in_tensor_memory_c66() {
    for (depth, pending) in [(2, 0), (3, 1), (5, 1)] {
        let gemm = compile("gemm_pointers", "sm_100a", Some(depth));
        assert_eq!(
            (gemm.expanded().unwrap().shape.layout, gemm.expanded().unwrap().shape.warps),
            (RegisterLayout::TensorRows, 4)
        );
        assert_eq!((gemm.depths[0].slots, gemm.loops[0].pipelined.pending), (depth, pending));
        let text = warploom_ir::print(&gemm.program);
        assert!(text.contains("cp_async_to_mma") && !text.contains("mma_wait"), "{text}");
        assert_eq!(text.matches("warploom.mma ").count(), 1);
    }
}

/// Products give back what TMA brings for them; the lane that issues them is the only one to wait for it.
#[test]
fn sums_of_tiles_by_tma_stay_in_tensor_memory_c66() {
    let right = warploom_ir::print(&compile("gemm_bf16", "sm_100a", None).program);
    assert!(found(&right).is_empty() && right.contains("tma_to_mma"), "{right}");
    assert!(!right.contains("arith.addf") && !right.contains("async_copy"), "{right}");
    let line =
        |has: &str| right.lines().find(|l| l.contains(has)).unwrap_or_else(|| panic!("{has}")).to_owned();
    let (wait, release) = (line("consumer_wait @p0"), line("consumer_release @p0"));
    let elected = right.lines().take_while(|l| *l != wait).last().unwrap();
    assert!(elected.contains("warploom.elect"), "{right}");
    let mutations: Vec<(&str, String, String, &[Rule])> = vec![
        ("nobody gives slots back", release, String::new(), &[Rule::Arrivals, Rule::Deadlock]),
        ("nobody waits for tiles", wait.clone(), String::new(), &[Rule::Read, Rule::Arrivals]),
        (
            "all warps wait",
            format!("{elected}\n{wait}"),
            format!("{wait}\n{elected}"),
            &[Rule::Overwrite, Rule::Deadlock],
        ),
        ("all warps give back", "arrive_empty = 1".into(), "arrive_empty = 4".into(), &[Rule::Arrivals]),
    ];
    for (what, from, to, rules) in mutations {
        assert!(right.contains(&from), "{what}: {from}");
        let broken = found(&right.replacen(&from, &to, 1));
        assert!(rules.iter().any(|rule| broken.contains(rule)), "{what}: {broken:?}");
    }
}

/// What is computed for a product is stored once the sum that read it before has given its slot back; nobody waits for
/// the sum in its trip.
#[test]
fn sums_that_read_stored_tiles_stay_in_tensor_memory_c66() {
    let gemm = compile("dequant_int8", "sm_100a", None);
    let stored = &gemm.expanded().unwrap().stored;
    assert!(stored.len() == 1 && stored[0].given_back.is_some() && !stored[0].again);
    let right = warploom_ir::print(&gemm.program);
    assert!(found(&right).is_empty() && !right.contains("arith.addf"), "{right}");
    let line =
        |has: &str| right.lines().find(|l| l.contains(has)).unwrap_or_else(|| panic!("{has}")).to_owned();
    let (acquire, release) = (line("producer_acquire @f0"), line("consumer_release @f0"));
    let xored = acquire.split(", ").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    let phase = acquire.replace(&format!(", {xored}]"), ", %0]");
    let mutations: Vec<(&str, String, String, &[Rule])> = vec![
        ("stored over what is read", acquire.clone(), String::new(), &[Rule::Overwrite]),
        (
            "acquired by the same phase in each trip",
            acquire.clone(),
            phase,
            &[Rule::Overwrite, Rule::Deadlock],
        ),
        ("not given back", release.clone(), String::new(), &[Rule::Deadlock, Rule::Arrivals]),
        (
            "given back twice",
            release.clone(),
            format!("{release}\n{release}"),
            &[Rule::Arrivals, Rule::Overwrite],
        ),
    ];
    for (name, from, to, rules) in mutations {
        let broken = found(&right.replacen(&from, &to, 1));
        assert!(rules.iter().any(|rule| broken.contains(rule)), "{name}: {broken:?}");
    }
}

/// The slots of a loop go on from one run to the next through loops and branches around it, counted or not.
#[test]
fn sums_stay_in_tensor_memory_whatever_stands_around_their_loop_c23() {
    for (name, around) in [("stream_k", "scf.while"), ("picked_tiles", "scf.if")] {
        let text = warploom_ir::print(&compile(name, "sm_100a", None).program);
        assert!(
            text.contains(around) && text.contains("cp_async_to_mma") && !text.contains("arith.addf"),
            "{text}"
        );
    }
}

/// S is read in its trip, and O is scaled: both start anew, and take turns where they have the same shape.
#[test]
fn products_that_a_loop_reads_start_anew() {
    let attention = compile("attention.sm80", "sm_100a", None);
    assert_eq!(attention.loops[0].pipelined.pending, 0);
    let text = warploom_ir::print(&attention.program);
    // Two warpgroups share the rows of one instruction.
    assert!(text.contains("layout = \"wgmma_pairs\"") && text.contains("rows = 128"), "{text}");
    assert!(text.contains("mma_to_generic") && !text.contains("cp_async_to_mma"), "{text}");
    assert_eq!(attention.expanded().unwrap().stored.len(), 1, "P goes through shared memory");
}

/// A sum that all lanes have read before they meet has no barrier of its own: that they do is checked.
#[test]
fn readers_of_a_sum_meet_before_the_next_product_c25() {
    let right = warploom_ir::print(&compile("attention.sm80", "sm_100a", None).program);
    assert!(found(&right).is_empty() && right.contains("arrive_empty = 0"), "{right}");
    let line = |has: &str| right.lines().find(|l| l.contains(has)).unwrap_or_else(|| panic!("{has}"));
    let (back, meeting) = (line("consumer_release @t0"), line("barrier_sync @all {orders = \"f0\"}"));
    let late = right.replacen(back, "", 1).replacen(meeting, &format!("{meeting}\n{back}"), 1);
    assert!(found(&late).contains(&Rule::Overwrite), "{:?}", found(&late));
    // Where they do not meet on every way, they say so one by one.
    let whole = warploom_ir::print(&compile("picked_tiles", "sm_100a", None).program);
    assert!(whole.lines().any(|l| l.contains("@t0") && l.contains("arrive_empty = 4")), "{whole}");
}

/// One edit of a right program breaks the rule that it should.
#[test]
fn the_checker_finds_broken_handshakes_of_one_partition() {
    let sum = warploom_ir::print(&compile("gemm_pointers", "sm_100a", Some(3)).program);
    let fresh = warploom_ir::print(&compile("attention.sm80", "sm_100a", None).program);
    assert!(found(&sum).is_empty() && found(&fresh).is_empty());
    let meeting = "warploom.proxy_fence\n        warploom.barrier_sync @all";
    let line = |text: &str, has: &str| {
        let line = text.lines().find(|l| has.split(' ').all(|part| l.contains(part)));
        line.unwrap_or_else(|| panic!("{has}")).to_owned()
    };
    let (acquire, release) = (line(&sum, "producer_acquire @p0"), line(&sum, "consumer_release @p0"));
    let commit = line(&sum, "producer_commit @t0");
    let wait = line(&fresh, "consumer_wait @t0");
    let back = line(&fresh, "consumer_release @t0");
    let mutations: Vec<(&str, &str, String, String, &[Rule])> = vec![
        ("copies not fenced", &sum, meeting.into(), "warploom.barrier_sync @all".into(), &[Rule::Fence]),
        (
            "fenced behind the meeting",
            &sum,
            meeting.into(),
            "warploom.barrier_sync @all\n        warploom.proxy_fence".into(),
            &[Rule::Fence],
        ),
        ("nobody meets", &sum, meeting.into(), "warploom.proxy_fence".into(), &[Rule::Read]),
        ("slots not acquired", &sum, acquire.clone(), String::new(), &[Rule::Overwrite]),
        ("slots not given back", &sum, release.clone(), String::new(), &[Rule::Arrivals]),
        ("a sum not committed", &sum, commit.clone(), String::new(), &[Rule::Drain, Rule::Deadlock]),
        (
            "given back twice",
            &sum,
            release.clone(),
            format!("{release}\n{release}"),
            &[Rule::Arrivals, Rule::Overwrite],
        ),
        (
            "two arrivals for one commit",
            &sum,
            "arrive_empty = 1 : i32".into(),
            "arrive_empty = 2 : i32".into(),
            &[Rule::Arrivals],
        ),
        ("groups without barriers", &sum, "\"cp_async_to_mma\"".into(), "\"cp_async\"".into(), &[Rule::Form]),
        ("columns that overlap", &sum, "rows = 128 : i32".into(), "rows = 64 : i32".into(), &[Rule::Columns]),
        ("read before it is there", &fresh, wait.clone(), String::new(), &[Rule::Read]),
        ("columns not given back", &fresh, back.clone(), String::new(), &[Rule::Overwrite]),
        ("given back before it is read", &fresh, wait.clone(), format!("{wait}\n{back}"), &[Rule::Arrivals]),
    ];
    for (name, text, from, to, rules) in mutations {
        assert!(text.contains(&from), "{name}");
        let broken = found(&text.replacen(&from, &to, 1));
        assert!(rules.iter().any(|rule| broken.contains(rule)), "{name}: {broken:?}");
    }
}
