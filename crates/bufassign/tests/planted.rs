//! Problems with a plan that is known to exist (B85): every answer is checked, threads change nothing.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../benches/pack/plants.rs"]
mod plants;

use plants::Plant;
use warploom_bufassign::pack::{PackOptions, PackOutcome, PackProblem, check_pack, load_bound, pack};
use warploom_testing::bufassign::{Choices, packing};

/// What every problem is asked with: enough for most, little enough for a test.
const NODES: u64 = 60_000;

fn problems(buffers: usize) -> impl Iterator<Item = (String, PackProblem)> {
    let loads = [95, 98, 100].into_iter();
    let all = loads.flat_map(move |load| Plant::ALL.into_iter().map(move |plant| (plant, load)));
    all.map(move |(plant, load)| {
        let problem = plant.problem(buffers, load, &mut Choices::seeded(load + buffers as u64));
        (format!("{plant:?}, {load} %"), problem)
    })
}

/// A plan exists, so none is proved impossible, no bound is above the capacity, and what is found holds.
#[test]
fn planted_plans_are_never_refused() {
    let mut fitted = 0;
    for (name, p) in problems(150) {
        assert!(p.items.len() <= 160 && p.items.len() > 100, "{name}: {} buffers", p.items.len());
        assert!(Some(load_bound(&p)) <= p.capacity, "{name}");
        let outcome = pack(&p, &PackOptions::default().node_budget(NODES));
        check_pack(&p, &outcome).unwrap_or_else(|v| panic!("{name}: {v}"));
        match outcome {
            PackOutcome::Fits { peak, lower_bound, .. } => {
                fitted += 1;
                assert!(lower_bound <= peak, "{name}");
            }
            PackOutcome::GaveUp { lower_bound, .. } => assert!(Some(lower_bound) <= p.capacity, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    println!("{fitted} of 24 fit");
    assert!(fitted >= 18, "{fitted}");
}

/// Sizes rounded up to what all alignments have in common ask the same question, at a capacity of whole cells and at one
/// that ends within a cell: the checker tries all plans of so few items.
#[test]
fn rounded_sizes_answer_the_same_question() {
    let (mut fit, mut none) = (0, 0);
    for seed in 0..4000 {
        let mut c = Choices::seeded(seed);
        let cell = [4, 6, 16][c.below(3) as usize];
        let mut p = PackProblem::linear(None);
        for _ in 0..3 + c.below(5) {
            let (from, align) = (c.below(8).cast_signed(), cell * (1 + c.below(2)));
            p.push_aligned(1 + c.below(3 * cell), align, from, from + 1 + c.below(5).cast_signed());
        }
        if c.below(4) == 0 {
            p.items[0].fixed = Some(p.items[0].align * c.below(3));
        }
        p.capacity = Some(load_bound(&p) + c.below(2 * cell));
        let outcome = pack(&p, &PackOptions::default());
        check_pack(&p, &outcome).unwrap_or_else(|v| panic!("seed {seed}: {v}"));
        match outcome {
            PackOutcome::Fits { .. } => fit += 1,
            PackOutcome::ProvedInfeasible { .. } => none += 1,
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    println!("{fit} fit, {none} have no plan");
    assert!(fit > 500 && none > 500, "{fit} {none}");
}

/// Blocks that leave some of their last cell are as easy as those that fill it.
#[test]
fn aligned_plants_are_found() {
    let found = |load: u64| {
        let p = Plant::Aligned.problem(150, load, &mut Choices::seeded(150 * 101 + load));
        let outcome = pack(&p, &PackOptions::default().node_budget(NODES));
        check_pack(&p, &outcome).unwrap_or_else(|v| panic!("{load} %: {v}"));
        matches!(outcome, PackOutcome::Fits { .. })
    };
    let fitted = [95, 97, 98, 99, 100].into_iter().filter(|&load| found(load)).count();
    assert!(fitted >= 4, "{fitted} of 5");
}

/// B85: the same bytes on any number of threads, whether a plan is found or not.
#[test]
fn threads_change_nothing() {
    for (name, p) in problems(90) {
        let on = |threads| pack(&p, &PackOptions::default().node_budget(40_000).threads(threads));
        let one = on(1);
        for threads in [0, 2, 3, 16] {
            assert_eq!(on(threads), one, "{name}, {threads} threads");
        }
    }
}

/// What only the lane that learns finds, so far: the same plan on any number of threads, too.
#[test]
fn a_lane_that_learns_finds_more() {
    let p = Plant::Sweep.problem(250, 98, &mut Choices::seeded(250 * 101 + 98));
    let on = |threads| pack(&p, &PackOptions::default().node_budget(1_000_000).threads(threads));
    let one = on(1);
    check_pack(&p, &one).unwrap_or_else(|v| panic!("{v}"));
    assert!(matches!(one, PackOutcome::Fits { .. }), "{one:?}");
    assert_eq!(on(3), one);
}

fn shuffled(p: &PackProblem, c: &mut Choices<'_>) -> PackProblem {
    let mut left: Vec<usize> = (0..p.items.len()).collect();
    let order: Vec<usize> =
        (0..left.len()).map(|_| left.swap_remove(c.below(left.len() as u64) as usize)).collect();
    let place = |k: usize| order.iter().position(|o| *o == k).unwrap();
    PackProblem {
        items: order.iter().map(|&k| p.items[k].clone()).collect(),
        separations: p.separations.iter().map(|&(a, b)| (place(b), place(a))).collect(),
        ..p.clone()
    }
}

/// B85: the order of the items does not change the least peak that is found.
#[test]
fn order_does_not_change_the_peak() {
    let peak = |p: &PackProblem, options: PackOptions<'_>| match pack(p, &options.node_budget(5000)) {
        PackOutcome::Fits { peak, .. } => peak,
        other => panic!("{other:?}"),
    };
    for seed in 0..60 {
        let mut c = Choices::seeded(seed);
        let p = PackProblem { capacity: None, reserved: Vec::new(), ..packing(&mut c) };
        let any = PackOptions::default().any_order(true);
        for _ in 0..4 {
            assert_eq!(peak(&shuffled(&p, &mut c), any), peak(&p, any), "seed {seed}");
        }
    }
    for (name, p) in problems(100) {
        let p = PackProblem { capacity: None, ..p };
        let other = shuffled(&p, &mut Choices::seeded(1));
        assert_eq!(peak(&other, PackOptions::default()), peak(&p, PackOptions::default()), "{name}");
    }
}

/// Plans of the one pass over time hold, and lie near the bound.
#[test]
fn large_problems_have_plans_in_one_pass() {
    for (seed, align) in [(0, 1), (1, 64), (2, 48)] {
        let mut c = Choices::seeded(seed);
        let mut p = PackProblem::linear(None);
        for _ in 0..2600 {
            let from = c.below(900).cast_signed();
            let size = 1 + c.below(5000);
            p.push_aligned(size, align, from, from + 1 + c.below(40).cast_signed());
        }
        let outcome =
            pack(&p, &PackOptions::default().exact(false).deadline(Some(std::time::Instant::now())));
        check_pack(&p, &outcome).unwrap();
        let PackOutcome::Fits { peak, lower_bound, .. } = outcome else { panic!("{outcome:?}") };
        assert!(lower_bound <= load_bound(&p) && peak < lower_bound * 3 / 2, "{peak} of {lower_bound}");
        p.capacity = Some(lower_bound - 1);
        let late = PackOptions::default().deadline(Some(std::time::Instant::now()));
        let PackOutcome::ProvedInfeasible { core, .. } = pack(&p, &late) else { panic!() };
        assert!(core.iter().map(|&k| p.items[k].size).sum::<u64>() >= lower_bound);
    }
}

/// Half a million items at one moment make more pairs than there is memory; their bound is their plan.
#[test]
fn a_moment_of_many_items_needs_no_pairs() {
    let mut p = PackProblem::linear(None);
    (0..500_000).for_each(|k| {
        p.push(1 + k % 9, 0, 1);
    });
    assert!(matches!(pack(&p, &PackOptions::default()), PackOutcome::Fits { optimal: true, .. }));
    p.reserved.push((8, 8));
    // Now nothing but the stack is left, and it says so.
    assert!(matches!(pack(&p, &PackOptions::default()), PackOutcome::Fits { .. }));
}
