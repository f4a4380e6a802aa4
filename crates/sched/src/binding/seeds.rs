//! Bindings to begin with: the longest uses first, each to the resource with the least load.

use super::frame::Frame;
use crate::model::random::Random;

/// Bindings worth a schedule each; the later ones are shaken.
pub(super) fn seeds(frame: &Frame<'_>, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Random::new(seed);
    let mut all: Vec<Vec<usize>> = Vec::new();
    for round in 0..count {
        let mut load: Vec<u64> = frame
            .graph
            .resources
            .iter()
            .map(|r| {
                let uses = frame.graph.nodes.iter().flat_map(|v| &v.uses);
                let fixed = uses.filter(|u| u.alternatives.is_empty() && u.resource == r.name);
                fixed.fold(0u64, |sum, u| sum.saturating_add(u.duration))
            })
            .collect();
        // What has few alternatives chooses first, then what is held long.
        let shaken = |random: &mut Random| if round == 0 { 0 } else { random.below(4) };
        let mut order: Vec<(usize, u64, u64, usize)> = frame
            .choices
            .iter()
            .enumerate()
            .map(|(i, c)| (c.resources.len(), shaken(&mut random), u64::MAX - c.duration, i))
            .collect();
        order.sort_unstable();
        let mut taken = vec![0; frame.choices.len()];
        for (_, _, _, i) in order {
            let c = &frame.choices[i];
            let least = c.resources.iter().copied().min_by_key(|&r| (load[r], r)).unwrap_or(0);
            load[least] = load[least].saturating_add(c.duration);
            taken[i] = least;
        }
        if !all.contains(&taken) {
            all.push(taken);
        }
    }
    all
}
