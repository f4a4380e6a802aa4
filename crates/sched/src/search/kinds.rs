//! Which resource is searched by which method (S35).

use super::contract::{Active, is_complex};
use super::wrap::Pair;
use crate::problem::Problem;

/// Up to this II and duration, residues are preferred to wrap counts on single units.
const MODERATE_II: i64 = 2048;
const SHORT_USE: i64 = 4;

/// Whether wrap counts alone decide, and are the better way.
pub(crate) fn by_laps_alone(problem: &Problem, ii: i64, active: &Active) -> bool {
    let mut used = active.nodes.iter().flat_map(|&v| problem.uses(v as usize));
    if used.any(|u| problem.count[u.resource as usize] > 1) {
        return false;
    }
    let by_residue = residue_resources(problem, ii, active);
    let mut used = active.nodes.iter().flat_map(|&v| problem.uses(v as usize));
    used.any(|u| !by_residue[u.resource as usize])
}

/// Which resources are decided by residues: several units, or short uses at a moderate II (S35).
pub(crate) fn residue_resources(problem: &Problem, ii: i64, active: &Active) -> Vec<bool> {
    let mut longest = vec![0; problem.count.len()];
    for u in active.nodes.iter().flat_map(|&v| problem.uses(v as usize)) {
        let slot = &mut longest[u.resource as usize];
        *slot = u.duration.max(*slot);
    }
    let mut by_residue: Vec<bool> = longest
        .iter()
        .zip(&problem.count)
        .map(|(&longest, &count)| longest > 0 && (count > 1 || (ii <= MODERATE_II && longest <= SHORT_USE)))
        .collect();
    for &v in active.nodes.iter().filter(|&&v| is_complex(problem, v as usize)) {
        // Several uses of one unit by one operation keep their distance anyway; of several units they add up.
        problem.uses(v as usize).iter().for_each(|u| {
            by_residue[u.resource as usize] |= problem.count[u.resource as usize] > 1;
        });
    }
    by_residue
}

/// The pairs of uses of one unit by two operations.
pub(crate) fn pairs(problem: &Problem, active: &Active, by_residue: &[bool]) -> Vec<Pair> {
    let mut users = vec![Vec::new(); problem.count.len()];
    for (node, &v) in (1u32..).zip(&active.nodes) {
        for u in problem.uses(v as usize).iter().filter(|u| problem.count[u.resource as usize] == 1) {
            users[u.resource as usize].push((node, *u));
        }
    }
    let mut pairs = Vec::new();
    for (unit, list) in (0u32..).zip(&users) {
        for (i, &(b, v)) in list.iter().enumerate() {
            for (j, &(a, u)) in list[..i].iter().enumerate().filter(|(_, (a, _))| *a != b) {
                pairs.push(Pair {
                    a,
                    b,
                    offset: v.start - u.start,
                    first: u.duration,
                    second: v.duration,
                    unit,
                    places: (j as u32, i as u32),
                    branch: !by_residue[u.resource as usize],
                });
            }
        }
    }
    pairs
}
