//! Problems with a plan that is known to exist (B85): every answer is checked, threads change nothing.
#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_bufassign::pack::{PackOptions, PackOutcome, PackProblem, check_pack, load_bound, pack};
use warploom_testing::bufassign::{Choices, Plant};

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
    println!("{fitted} of 18 fit");
    assert!(fitted >= 9, "{fitted}");
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
