//! A bound that sees several units at once.
//!
//! Operations that use a unit follow each other around the circle. Where two of them also use another unit, at the same
//! offset from the first, the earlier one keeps the later one out until both are free. So each operation takes as much
//! of the II as the longest such hold that every other user of the unit would meet, and these add up.

use crate::bounds::self_fit::repeats_resource;
use crate::model::problem::Problem;

/// Users of a unit beyond these are left to the bound of single units.
const MOST_USERS: usize = 600;

/// The largest sum of what the operations on one unit take, at least 1.
pub(crate) fn joint_bound(problem: &Problem) -> i64 {
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
    wanted.map(|(unit, users)| taken(problem, unit, users)).max().unwrap_or(1).max(1)
}

fn taken(problem: &Problem, unit: u32, users: &[u32]) -> i64 {
    let others = |a: u32| users.iter().copied().filter(move |&b| b != a);
    let own =
        |a: u32| problem.uses(a as usize).iter().filter(|u| u.resource == unit).map(|u| u.duration).sum();
    users.iter().map(|&a| others(a).map(|b| keeps_out(problem, unit, a, b)).min().unwrap_or(own(a))).sum()
}

/// For how long `a` on the unit keeps `b` from starting on it.
fn keeps_out(problem: &Problem, unit: u32, a: u32, b: u32) -> i64 {
    let (of_a, of_b) = (problem.uses(a as usize), problem.uses(b as usize));
    let start = |uses: &[crate::model::problem::UnitUse]| {
        uses.iter().find(|u| u.resource == unit).map_or(0, |u| u.start)
    };
    let apart = start(of_a) - start(of_b);
    let meet = of_a.iter().filter(|u| {
        problem.count[u.resource as usize] == 1
            && of_b.iter().any(|v| v.resource == u.resource && u.start - v.start == apart)
    });
    meet.map(|u| u.duration).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::LoopGraph;
    use crate::model::validate::validate;

    /// The bound of operations with these uses of units U and V: offset and cycles.
    fn bound_of(ops: &[&[(&str, u64, u64)]]) -> i64 {
        let mut g = LoopGraph::new("joint");
        g.add_resource("U", 1).add_resource("V", 1);
        for uses in ops {
            g.add_node("op", 1, uses);
        }
        validate(&g).map_or(0, |valid| joint_bound(&valid.problem))
    }

    #[test]
    fn two_units_at_the_same_offset_are_one() {
        let both: &[(&str, u64, u64)] = &[("U", 0, 3), ("V", 0, 5)];
        let other: &[(&str, u64, u64)] = &[("U", 0, 6), ("V", 0, 2)];
        assert_eq!(bound_of(&[both, other]), 11);
        // The same one cycle later.
        assert_eq!(bound_of(&[both, &[("V", 1, 2), ("U", 1, 6)]]), 11);
        // At another offset the shorter use of V may slip in before.
        assert_eq!(bound_of(&[both, &[("U", 0, 6), ("V", 2, 2)]]), 9);
        // A third that uses U alone follows `both` after 3 cycles.
        assert_eq!(bound_of(&[both, other, &[("U", 0, 4)]]), 13);
    }
}
