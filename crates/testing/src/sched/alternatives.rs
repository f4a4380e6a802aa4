//! Loops whose uses may take one of several resources, and the truth about them by enumeration.

use super::enumerate::{TooLarge, least_length_within};
use super::source::Source;
use warploom_sched::{LoopGraph, UseBinding, validate};

/// So many bindings are tried.
const MOST_BINDINGS: u128 = 10_000;

/// The loop with some uses that may take other resources, too; mostly all resources are single units.
#[must_use]
pub fn with_alternatives(mut g: LoopGraph, source: &mut Source<'_>) -> LoopGraph {
    if source.below(4) > 0 {
        g.resources.iter_mut().for_each(|r| r.count = 1);
    }
    while g.resources.len() < 2 {
        g.add_resource(format!("more {}", g.resources.len()), 1);
    }
    // What is taken in turn is no alternative.
    let names: Vec<String> = g.resources.iter().filter(|r| !r.interleaved).map(|r| r.name.clone()).collect();
    let single = source.below(3) > 0;
    for v in &mut g.nodes {
        if single {
            v.uses.truncate(1);
        }
        for u in v.uses.iter_mut().filter(|u| names.contains(&u.resource)) {
            for name in names.iter().filter(|name| **name != u.resource) {
                if source.below(2) == 0 {
                    u.alternatives.push(name.clone());
                }
            }
        }
    }
    g
}

/// All ways to bind the uses.
fn bindings(g: &LoopGraph) -> Vec<Vec<UseBinding>> {
    let mut all = vec![Vec::new()];
    for v in &g.nodes {
        for (at, u) in v.uses.iter().enumerate().filter(|(_, u)| !u.alternatives.is_empty()) {
            let with = |before: &Vec<UseBinding>| {
                let before = before.clone();
                let choices: Vec<String> = u.choices().map(str::to_owned).collect();
                choices.into_iter().map(move |resource| {
                    [before.clone(), vec![UseBinding { node: v.id, at, resource }]].concat()
                })
            };
            all = all.iter().flat_map(with).collect();
        }
    }
    all
}

/// The least II up to `most` over all bindings, by trying all of them and all residues; `None`: there is none. `None` also for
/// loops with windows, or with values of a greatest depth, which enumeration does not look at.
///
/// # Errors
/// Too many bindings and residues to try.
pub fn least_bound_ii(g: &LoopGraph, most: i64) -> Result<Option<i64>, TooLarge> {
    let capped = g.values.iter().any(|v| v.max_depth.is_some());
    if capped || g.edges.iter().any(|e| e.latency < 0) {
        return Ok(None);
    }
    let choices = g.nodes.iter().flat_map(|v| &v.uses).map(|u| u.choices().count() as u128);
    let all = choices.fold(1u128, u128::saturating_mul);
    if all > MOST_BINDINGS {
        return Err(TooLarge { steps: all, most: MOST_BINDINGS });
    }
    let bound: Vec<LoopGraph> =
        bindings(g).iter().map(|b| g.bound(b)).filter(|g| validate(g).is_ok()).collect();
    let mut steps = 0;
    for ii in 1..=most {
        for g in &bound {
            if least_length_within(g, ii, &mut steps)?.is_some() {
                return Ok(Some(ii));
            }
        }
    }
    Ok(None)
}
