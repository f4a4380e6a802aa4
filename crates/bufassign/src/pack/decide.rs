//! Is there a plan within a capacity? A search for one, and for a few blocks that have none, in turn.

use super::PackOptions;
use super::core::refute;
use super::exact::{Answer, among};
use super::prepare::Prepared;

/// More blocks than this are left to the greedy portfolio; also bounds the recursion.
const MOST_BLOCKS: usize = 1500;

/// Looks for a plan within `capacity`; takes visited nodes off `budget`.
pub(super) fn search(p: &Prepared, capacity: u64, options: &PackOptions<'_>, budget: &mut u64) -> Answer {
    if p.blocks.len() > MOST_BLOCKS {
        return Answer::Unknown;
    }
    if p.windowed {
        // A plan in which everything keeps all its bytes is a plan; that there is none proves nothing.
        return match search(&p.widened(), capacity, options, budget) {
            Answer::Found(offsets) => Answer::Found(offsets),
            Answer::None(_) | Answer::Unknown => Answer::Unknown,
        };
    }
    if let Some((rounded, capacity)) = p.rounded(capacity) {
        return search_all(&rounded, capacity, options, budget);
    }
    search_all(p, capacity, options, budget)
}

fn search_all(p: &Prepared, capacity: u64, options: &PackOptions<'_>, budget: &mut u64) -> Answer {
    let everything: Vec<u32> = (0..p.blocks.len() as u32).collect();
    let refute = |part: &[u32], capacity: u64, nodes: u64, budget: &mut u64| {
        refute(p, part, capacity, nodes, options, budget)
    };
    among(p, &everything, capacity, options, budget, Some(&refute))
}
