//! From the times of the operations searched to those of all (S30, S31).

use crate::exact::contract::Active;
use crate::heuristic::reservations::table::Table;
use crate::heuristic::settle::settle_times;
use crate::model::problem::Problem;

/// The other operations at their earliest, given the times of the active ones; `None` if that does not hold,
/// which a correct search excludes.
pub(crate) fn fill(problem: &Problem, ii: i64, active: &Active, times: &[i64]) -> Option<Vec<i64>> {
    let mut fixed = vec![false; problem.n];
    let mut time = vec![0i64; problem.n];
    for (&v, &t) in active.nodes.iter().zip(times) {
        fixed[v as usize] = true;
        time[v as usize] = t;
    }
    settle_times(problem, ii, &mut time, |v, at| if fixed[v] { None } else { Some(at) })?;
    Some(time)
}

/// Residues for the operations no search was needed for, then the earliest times that keep all residues.
pub(crate) fn complete(problem: &Problem, ii: i64, active: &Active, times: &[i64]) -> Option<Vec<i64>> {
    let mut residue: Vec<Option<i64>> = vec![None; problem.n];
    let mut table = Table::new(problem, ii);
    for (&v, &t) in active.nodes.iter().zip(times) {
        residue[v as usize] = Some(t.rem_euclid(ii));
        table.place(v as usize, t);
    }
    let mut touched = vec![false; problem.count.len()];
    active
        .nodes
        .iter()
        .flat_map(|&v| problem.uses(v as usize))
        .for_each(|u| touched[u.resource as usize] = true);
    // McNaughton's wrap-around rule on resources without other users; free cells for single cycles elsewhere.
    let mut filled = vec![0i64; problem.count.len()];
    let open: Vec<usize> = (0..problem.n).filter(|&v| residue[v].is_none()).collect();
    for v in open {
        let [u] = *problem.uses(v) else { continue };
        let r = u.resource as usize;
        let at = if touched[r] {
            table.first_fit(v, filled[r] - u.start, filled[r] - u.start + ii - 1)?
        } else {
            filled[r] - u.start
        };
        table.place(v, at);
        // First fit goes on where it stopped: the cells before are full.
        filled[r] = at + u.start + u.duration;
        residue[v] = Some(at.rem_euclid(ii));
    }
    let mut time: Vec<i64> = residue.iter().map(|r| r.unwrap_or(0)).collect();
    settle_times(problem, ii, &mut time, |v, at| {
        Some(residue[v].map_or(at, |r| at + (r - at).rem_euclid(ii)))
    })?;
    Some(time)
}
