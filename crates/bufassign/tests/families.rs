//! Every family of generated problems against every timing of every trip count from 0 to 9 and more (B76, B78).
#![allow(clippy::panic)]

use warploom_testing::bufassign::{Choices, Family, assignment_holds, problem_of};

/// Assigns `count` problems of each family from `first` on; prints how many were accepted, and how many of them have
/// what the family is there for.
fn every_family_holds(first: u64, count: u64) {
    println!("{:<16}{:>10}{:>10}{:>10}{:>10}", "", "problems", "accepted", "far", "waits");
    for family in Family::ALL {
        let (mut accepted, mut far, mut waits) = (0u64, 0u64, 0u64);
        for seed in first..first + count {
            let p = problem_of(family, &mut Choices::seeded(seed));
            let answer = assignment_holds(&p, &mut Choices::seeded(seed));
            let Some(a) = answer.unwrap_or_else(|e| panic!("{family:?}, seed {seed}: {e}")) else { continue };
            accepted += 1;
            far += u64::from(p.values.iter().flat_map(|v| &v.consumers).any(|c| c.distance > 1));
            waits += u64::from(a.merge.iter().flat_map(|m| &m.edges).any(|e| !e.implied));
        }
        println!("{:<16}{count:>10}{accepted:>10}{far:>10}{waits:>10}", format!("{family:?}"));
        assert!(10 * accepted > count, "{family:?}: {accepted} of {count} are accepted");
        assert!(family != Family::Distant || 2 * far > accepted, "{far} of {accepted} reach far");
    }
}

#[test]
fn every_timing_of_every_family() {
    every_family_holds(0, 60);
}

/// Found by the soak: the ring of a root made a value deeper than the others of its pipe (B20, B21).
#[test]
fn a_root_keeps_the_depth_of_a_pipe() {
    let p = problem_of(Family::Tails, &mut Choices::seeded(16_283));
    assignment_holds(&p, &mut Choices::seeded(16_283)).unwrap_or_else(|e| panic!("{e}"));
}

/// Found by the soak: a turn in which the inner loop that writes has no iteration keeps the wait of its writes (B78, B79).
#[test]
fn a_turn_without_iterations_keeps_its_waits() {
    let p = problem_of(Family::Nests, &mut Choices::seeded(1_362));
    assignment_holds(&p, &mut Choices::seeded(1_362)).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
#[ignore = "an hour in a release build: `make soak`"]
fn every_timing_of_a_hundred_thousand_problems_each() {
    every_family_holds(1_000, 100_000);
}
