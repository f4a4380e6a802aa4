//! A bound that sees several units at once.
//!
//! Operations that use a unit follow each other around the circle. Where two of them also use another unit, the earlier
//! one may keep the later one out until that is free, too. How long each waits depends on which it follows, and each
//! follows one and is followed by one: no order takes less than the least assignment of successors.

use crate::bounds::assignment::least_assignment;
use crate::bounds::self_fit::repeats_resource;
use crate::model::problem::{Problem, UnitUse};

/// Users of a unit beyond these are left to the bound of single units.
const MOST_USERS: usize = 600;

/// Users beyond these are taken each with the successor that suits it best, as an assignment costs their cube.
const MOST_ASSIGNED: usize = 96;

/// The largest sum of what the operations on one unit take, at least 1. What does not exceed `known` need not be exact.
pub(crate) fn joint_bound(problem: &Problem, known: i64) -> i64 {
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); problem.count.len()];
    for v in 0..problem.n {
        let uses = problem.uses(v);
        // Several uses of one unit by one operation leave idle cycles that others may fill.
        if !repeats_resource(uses) {
            uses.iter().for_each(|u| users[u.resource as usize].push(v as u32));
        }
    }
    let single = (0u32..).zip(&users).filter(|(r, _)| problem.count[*r as usize] == 1);
    let wanted = single.filter(|(_, users)| users.len() <= MOST_USERS);
    wanted.fold(1, |bound, (unit, users)| bound.max(taken(problem, unit, users, bound.max(known))))
}

/// What these operations take of the unit, one after the other around the circle.
fn taken(problem: &Problem, unit: u32, users: &[u32], known: i64) -> i64 {
    let on_unit = |v: u32| problem.uses(v as usize).iter().find(|u| u.resource == unit).copied();
    let users: Vec<(UnitUse, &[UnitUse])> =
        users.iter().filter_map(|&v| Some((on_unit(v)?, problem.uses(v as usize)))).collect();
    let n = users.len();
    let (mut least, mut most) = (0i64, 0i64);
    for (a, user) in users.iter().enumerate() {
        let others = users.iter().enumerate().filter(|(b, _)| a != *b);
        let held = others.map(|(_, other)| keeps_out(problem, *user, *other));
        let (low, high) = held.fold((i64::MAX, 0), |(low, high), h| (low.min(h), high.max(h)));
        least += if n == 1 { user.0.duration } else { low };
        most += if n == 1 { user.0.duration } else { high };
    }
    if n > MOST_ASSIGNED || most <= known.max(least) {
        return least;
    }
    let cost = |a: usize, b: usize| {
        // None follows itself where there are others.
        if a == b { most } else { keeps_out(problem, users[a], users[b]) }
    };
    least.max(least_assignment(n, cost))
}

/// For how long `a`, by its use of a unit, keeps `b`, which follows, from starting on it.
fn keeps_out(problem: &Problem, (a, of_a): (UnitUse, &[UnitUse]), (b, of_b): (UnitUse, &[UnitUse])) -> i64 {
    let mut held = a.duration;
    for u in of_a.iter().filter(|u| problem.count[u.resource as usize] == 1) {
        for v in of_b.iter().filter(|v| v.resource == u.resource) {
            // How much later than on the unit b starts there, after a.
            let later = (a.start - u.start) - (b.start - v.start);
            // It ends before a starts, or starts after a ends: the first only if nothing keeps it from that.
            if held + later + v.duration > 0 {
                held = held.max(u.duration - later);
            }
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::least_ii::bounds_of;
    use crate::model::graph::LoopGraph;
    use crate::model::validate::validate;

    /// The bound of operations with these uses of units U and V: offset and cycles.
    fn bound_of(ops: &[&[(&str, u64, u64)]]) -> i64 {
        let mut g = LoopGraph::new("joint");
        g.add_resource("U", 1).add_resource("V", 1);
        for uses in ops {
            g.add_node("op", 1, uses);
        }
        validate(&g).map_or(0, |valid| joint_bound(&valid.problem, 1))
    }

    #[test]
    fn two_units_at_the_same_offset_are_one() {
        let both: &[(&str, u64, u64)] = &[("U", 0, 3), ("V", 0, 5)];
        let other: &[(&str, u64, u64)] = &[("U", 0, 6), ("V", 0, 2)];
        assert_eq!(bound_of(&[both, other]), 11);
        // The same one cycle later.
        assert_eq!(bound_of(&[both, &[("V", 1, 2), ("U", 1, 6)]]), 11);
        // Where its use of V comes late, nothing keeps it out for longer than U.
        assert_eq!(bound_of(&[both, &[("U", 0, 6), ("V", 2, 2)]]), 9);
        // A third that uses U alone follows `both` after 3 cycles.
        assert_eq!(bound_of(&[both, other, &[("U", 0, 4)]]), 13);
        // It follows only one of two: the other is followed by one that waits for V.
        assert_eq!(bound_of(&[both, both, &[("U", 0, 4)]]), 12);
        // Each with an offset of its own, and yet V keeps the later one out.
        assert_eq!(bound_of(&[both, &[("U", 0, 6), ("V", 1, 7)]]), 4 + 8);
    }

    /// Whether uses without dependences fit this II, the first operation at 0: all times of the others are tried.
    fn fits(problem: &Problem, ii: i64, placed: &mut Vec<i64>, held: &mut Vec<Vec<bool>>) -> bool {
        let v = placed.len();
        if v == problem.n {
            return true;
        }
        (0..if v == 0 { 1 } else { ii }).any(|t| {
            let before = held.clone();
            let free = problem.uses(v).iter().all(|u| {
                (0..u.duration).all(|c| {
                    let cycle = (t + u.start + c).rem_euclid(ii) as usize;
                    !std::mem::replace(&mut held[u.resource as usize][cycle], true)
                })
            });
            placed.push(t);
            let found = free && fits(problem, ii, placed, held);
            placed.pop();
            *held = before;
            found
        })
    }

    #[test]
    fn no_ii_below_the_bound_has_a_schedule() {
        let mut state = 7u64;
        let mut random = move |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let mut beyond_single = 0;
        for _ in 0..300 {
            let mut g = LoopGraph::new("random");
            ["U", "V", "W"].iter().for_each(|unit| _ = g.add_resource(*unit, 1));
            for op in 0..2 + random(3) {
                let mut uses = Vec::new();
                for unit in ["U", "V", "W"] {
                    if random(3) > 0 {
                        uses.push((unit, random(4), 1 + random(4)));
                    }
                }
                g.add_node(format!("op {op}"), 1, &uses);
            }
            let Ok(valid) = validate(&g) else { continue };
            let problem = &valid.problem;
            let (single, joint) = (bounds_of(problem).mii, joint_bound(problem, 1));
            beyond_single += usize::from(joint > single);
            for ii in single..joint {
                let mut held = vec![vec![false; ii as usize]; problem.count.len()];
                assert!(!fits(problem, ii, &mut Vec::new(), &mut held), "{ii} below {joint}: {g:?}");
            }
        }
        assert!(beyond_single > 30, "{beyond_single}");
    }
}
