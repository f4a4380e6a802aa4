//! Every family of generated problems against every timing of every trip count from 0 to 9 and more (B76, B78).
#![allow(clippy::panic, clippy::unwrap_used)]

use warploom_bufassign::{ErrorKind, assign};
use warploom_testing::bufassign::{Choices, Family, assignment_holds, problem_of};

/// Assigns `count` problems of a family from `first` on; prints how many were accepted, and how many of them have
/// what the family is there for.
fn family_holds(family: Family, first: u64, count: u64) {
    let (mut accepted, mut far, mut waits) = (0u64, 0u64, 0u64);
    for seed in first..first + count {
        let p = problem_of(family, &mut Choices::seeded(seed));
        let answer = assignment_holds(&p, &mut Choices::seeded(seed));
        let Some(a) = answer.unwrap_or_else(|e| panic!("{family:?}, seed {seed}: {e}")) else { continue };
        accepted += 1;
        far += u64::from(p.values.iter().flat_map(|v| &v.consumers).any(|c| c.distance > 1));
        waits += u64::from(a.merge.iter().flat_map(|m| &m.edges).any(|e| !e.implied));
    }
    println!("{family:?}: {count} problems, {accepted} accepted, {far} reach far, {waits} with waits");
    assert!(10 * accepted > count, "{family:?}: {accepted} of {count} are accepted");
    assert!(family != Family::Distant || 2 * far > accepted, "{far} of {accepted} reach far");
}

#[test]
fn every_timing_of_every_family() {
    Family::ALL.into_iter().for_each(|family| family_holds(family, 0, 60));
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

/// Found by the soak: tiles of 64 and of 128 rows with the same columns do not have one footprint (B49).
#[test]
fn tiles_of_one_width_and_other_rows_lie_apart() {
    let p = problem_of(Family::Accumulators, &mut Choices::seeded(10_901));
    assignment_holds(&p, &mut Choices::seeded(10_901)).unwrap_or_else(|e| panic!("{e}"));
}

/// Found by the soak: the release of another value ordered the writes of one that nobody reads, and a chain of one root
/// then made that value's ring deeper, so that it comes turns too late (B20, B78).
#[test]
fn writes_stay_ordered_where_a_chain_deepens_a_ring() {
    for seed in [311_855, 318_213] {
        let p = problem_of(Family::Tails, &mut Choices::seeded(seed));
        let a = assignment_holds(&p, &mut Choices::seeded(seed)).unwrap_or_else(|e| panic!("{e}"));
        let waits = a.iter().flat_map(|a| &a.merge).flat_map(|m| &m.edges).filter(|e| e.from == e.to);
        assert!(waits.count() > 0, "seed {seed}");
    }
}

/// Found by the soak: the checker judged whether a barrier only arrives with orders of bytes that classes share later (B31).
#[test]
fn a_barrier_is_judged_before_bytes_are_shared() {
    let p = problem_of(Family::Machine, &mut Choices::seeded(311_530));
    assignment_holds(&p, &mut Choices::seeded(311_530)).unwrap_or_else(|e| panic!("{e}"));
}

/// Found by the soak: another value of its root gave an accumulator a second slot (B19, B20).
#[test]
fn what_is_updated_in_place_has_one_slot() {
    let p = problem_of(Family::Roots, &mut Choices::seeded(339_172));
    let e = assign(&p, &p.options).map(|_| ()).unwrap_err();
    assert_eq!(e.kind, ErrorKind::ChainUnordered, "{e}");
}

/// A hundred thousand problems of each family, each a test of its own: they run side by side, and one alone by its name.
mod a_hundred_thousand {
    use super::{Family, family_holds};

    macro_rules! families {
        ($($name:ident: $family:ident,)*) => {
            $(#[test]
            #[ignore = "minutes to an hour each in a release build: `make soak`"]
            fn $name() {
                family_holds(Family::$family, 1_000, 100_000);
            })*

            #[test]
            fn no_family_is_left_out() {
                assert_eq!([$(Family::$family),*], Family::ALL);
            }
        };
    }

    families! {
        mixed: Mixed,
        one_partition: OnePartition,
        partitions: Partitions,
        tails: Tails,
        distant: Distant,
        accumulators: Accumulators,
        roots: Roots,
        machine: Machine,
        nests: Nests,
    }
}
