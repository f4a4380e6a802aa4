//! Loops whose uses may take one of several resources, and the truth about them by enumeration.

use super::enumerate::least_length;
use super::source::Source;
use warploom_sched::{LoopGraph, UseBinding, validate};

/// The loop with some uses that may take other resources, too; mostly all resources are single units.
#[must_use]
pub fn with_alternatives(mut g: LoopGraph, source: &mut Source<'_>) -> LoopGraph {
    if source.below(4) > 0 {
        g.resources.iter_mut().for_each(|r| r.count = 1);
    }
    while g.resources.len() < 2 {
        g.add_resource(format!("more {}", g.resources.len()), 1);
    }
    let names: Vec<String> = g.resources.iter().map(|r| r.name.clone()).collect();
    let single = source.below(3) > 0;
    for v in &mut g.nodes {
        if single {
            v.uses.truncate(1);
        }
        for u in &mut v.uses {
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

/// The least II up to `most` over all bindings, by trying all of them and all residues. `None` also for loops of more than
/// four operations or six uses, with windows, or with values of a greatest depth.
pub fn least_bound_ii(g: &LoopGraph, most: i64) -> Option<i64> {
    let uses = g.nodes.iter().map(|v| v.uses.len()).sum::<usize>();
    let capped = g.values.iter().any(|v| v.max_depth.is_some());
    if g.nodes.len() > 4 || uses > 6 || capped || g.edges.iter().any(|e| e.latency < 0) {
        return None;
    }
    let bound: Vec<LoopGraph> =
        bindings(g).iter().map(|b| g.bound(b)).filter(|g| validate(g).is_ok()).collect();
    (1..=most).find(|&ii| bound.iter().any(|g| least_length(g, ii).is_some()))
}
