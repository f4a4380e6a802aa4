//! Does a finished schedule keep aliased values apart? Found out by running it.

use super::binding::{AliasEdge, Binding, Times, meet, pair};
use crate::check::AliasFindings;
use crate::layout::AliasLayout;

/// L15: simulates a schedule and finds live values of one storage with a unit in common, and edges that do not
/// hold. The edges are not consulted for the first.
///
/// # Errors
/// Every pair found, at most 100.
pub fn check_schedule(
    layout: &AliasLayout,
    bindings: &[Binding],
    edges: &[AliasEdge],
    times: &Times,
) -> Result<(), AliasFindings> {
    let mut findings = AliasFindings::default();
    let length = times.done.iter().copied().max().unwrap_or(0);
    let stages = length.div_ceil(times.ii.max(1)).saturating_add(1);
    for (n, x) in bindings.iter().enumerate() {
        for (k, y) in bindings.iter().enumerate() {
            let Some((a, b)) = pair(layout, x, y) else { continue };
            let all = a.count.saturating_mul(b.count).min(4096);
            // Live values of two iterations further apart than the stages never overlap.
            'pair: for i in 0..all {
                for j in i..=i.saturating_add(stages) {
                    if i == j && n >= k {
                        continue;
                    }
                    let ((from, to), (start, end)) = (times.life(x, i), times.life(y, j));
                    let live = from < end && start < to;
                    if live && meet(a, x.index(i, a.count), b, y.index(j, b.count)) {
                        findings.add(
                            "L15",
                            format!(
                                "{} of iteration {i} and {} of iteration {j} are live in one unit",
                                x.value, y.value
                            ),
                        );
                        break 'pair;
                    }
                }
            }
        }
    }
    for edge in edges {
        let (Some(x), Some(y)) = (bindings.get(edge.src), bindings.get(edge.dst)) else { continue };
        if times.life(x, 0).1 > times.life(y, edge.distance).0 {
            findings
                .add("L15", format!("missing edge {} -> {}, distance {}", x.value, y.value, edge.distance));
        }
    }
    findings.into_result()
}
