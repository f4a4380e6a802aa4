//! The earliest times that keep all dependences.

use crate::model::problem::Problem;

/// The earliest times from 0 on with the residues of these times.
pub(crate) fn earliest_at_residues(problem: &Problem, ii: i64, times: &[i64]) -> Option<Vec<i64>> {
    let first = times.iter().copied().min().unwrap_or(0);
    let held = |v: usize| !problem.uses(v).is_empty();
    let residue: Vec<i64> = times.iter().map(|t| (t - first).rem_euclid(ii)).collect();
    let mut time: Vec<i64> = (0..problem.n).map(|v| if held(v) { residue[v] } else { 0 }).collect();
    settle_times(problem, ii, &mut time, |v, at| {
        Some(if held(v) { at + (residue[v] - at).rem_euclid(ii) } else { at })
    })?;
    Some(time)
}

/// Raises times until all dependences hold. `place(v, t)` is the first allowed start of `v` from `t` on.
pub(crate) fn settle_times(
    problem: &Problem,
    ii: i64,
    time: &mut [i64],
    place: impl Fn(usize, i64) -> Option<i64>,
) -> Option<()> {
    let g = &problem.dependences;
    // Every round settles one operation more of a component, and an operation moves by whole wraps at most as
    // often as there are members.
    for members in g.components_in_order() {
        let rounds = 2 + members.len().saturating_mul(members.len());
        let mut settled = false;
        for _ in 0..rounds {
            let mut moved = false;
            for &w in members {
                let from = time[w as usize];
                for a in g.out(w as usize) {
                    let d = a.dst as usize;
                    let to = from + a.latency - ii * a.distance;
                    if to > time[d] {
                        time[d] = place(d, to)?;
                        moved |= g.comp[d] == g.comp[w as usize];
                    }
                }
            }
            if !moved {
                settled = true;
                break;
            }
        }
        if !settled {
            return None;
        }
    }
    Some(())
}
