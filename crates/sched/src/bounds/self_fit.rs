//! IIs at which one operation conflicts with itself (S14).

use crate::model::problem::{Problem, UnitUse};

/// The least II from `from` on at which no operation conflicts with itself (S14).
pub(crate) fn next_self_fit(problem: &Problem, from: i64) -> i64 {
    let complex: Vec<&[UnitUse]> =
        (0..problem.n).map(|v| problem.uses(v)).filter(|uses| repeats_resource(uses)).collect();
    let mut ii = from;
    while !complex.iter().all(|uses| self_fits(uses, &problem.count, ii)) {
        ii += 1;
    }
    ii
}

/// Whether two of the uses are on one resource.
pub(crate) fn repeats_resource(uses: &[UnitUse]) -> bool {
    (1..uses.len()).any(|i| uses[..i].iter().any(|u| u.resource == uses[i].resource))
}

/// Whether one operation alone keeps S4 at this II.
pub(crate) fn self_fits(uses: &[UnitUse], count: &[i64], ii: i64) -> bool {
    (0..uses.len()).all(|i| {
        let resource = uses[i].resource;
        if uses[..i].iter().any(|u| u.resource == resource) {
            return true;
        }
        let mut base = 0;
        // The folded remainders as +1 / -1 events; ends sort before starts at the same residue.
        let mut events: Vec<(i64, i64)> = Vec::new();
        for u in uses.iter().filter(|u| u.resource == resource) {
            base += u.duration / ii;
            let rest = u.duration % ii;
            let from = u.start % ii;
            if rest > 0 {
                events.push((from, 1));
                if from + rest < ii {
                    events.push((from + rest, -1));
                } else if from + rest > ii {
                    events.push((0, 1));
                    events.push((from + rest - ii, -1));
                }
            }
        }
        events.sort_unstable();
        let mut load = base;
        let mut most = base;
        for (_, step) in events {
            load += step;
            most = most.max(load);
        }
        most <= count.get(resource as usize).copied().unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_fit_holes() {
        // S14: offsets 0 and 3 of one unit exclude II 3 and II 1, not II 2.
        let uses =
            [UnitUse { resource: 0, start: 0, duration: 1 }, UnitUse { resource: 0, start: 3, duration: 1 }];
        let fits: Vec<i64> = (1..8).filter(|&ii| self_fits(&uses, &[1], ii)).collect();
        assert_eq!(fits, [2, 4, 5, 6, 7]);
    }
}
