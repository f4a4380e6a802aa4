//! Infeasible cores: some of the blocks that cannot be placed together.
//!
//! Small blocks in loose places decide nothing, but a search that proves something tries every place for
//! each of them. Without them the proof can be shorter by orders of magnitude, and a problem without some
//! of its blocks has no plan only if the whole has none. That a block is needed shows quickly: without it a
//! plan is found at once.

use super::PackOptions;
use super::exact::{Answer, among};
use super::prepare::Prepared;

/// A block is needed if without it a plan is found in one of so many parts of the nodes.
const QUICK: u64 = 32;

/// Blocks of `part` that have no plan within `capacity`, if some are found in about so many nodes.
pub(super) fn refute(
    p: &Prepared,
    part: &[u32],
    capacity: u64,
    nodes: u64,
    options: &PackOptions<'_>,
    budget: &mut u64,
) -> Option<Vec<u32>> {
    // Fixed blocks cost nothing.
    let mut order: Vec<u32> =
        part.iter().copied().filter(|&b| p.blocks[b as usize].fixed.is_none()).collect();
    order.sort_by_key(|&b| (p.blocks[b as usize].size.saturating_mul(p.blocks[b as usize].duration), b));
    let local = |core: Vec<usize>| core.into_iter().map(|b| b as u32).collect();
    let mut core = part.to_vec();
    for b in order {
        if *budget == 0 || options.is_late() {
            return None;
        }
        let rest: Vec<u32> = core.iter().copied().filter(|&o| o != b).collect();
        match within(p, &rest, capacity, options, nodes / QUICK, budget) {
            Answer::Found(_) => {}
            Answer::None(core) => return Some(local(core)),
            Answer::Unknown => core = rest,
        }
    }
    match within(p, &core, capacity, options, nodes, budget) {
        Answer::None(core) => Some(local(core)),
        Answer::Found(_) | Answer::Unknown => None,
    }
}

/// Looks for a plan with so many nodes of the budget.
fn within(
    p: &Prepared,
    blocks: &[u32],
    capacity: u64,
    options: &PackOptions<'_>,
    nodes: u64,
    budget: &mut u64,
) -> Answer {
    let share = nodes.min(*budget);
    let mut left = share;
    let answer = among(p, blocks, capacity, options, &mut left, None);
    *budget -= share - left;
    answer
}
