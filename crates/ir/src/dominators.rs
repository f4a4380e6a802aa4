//! Which blocks of a region every way to another one leads through.
//!
//! After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).

use std::collections::HashMap;

use crate::entity::{BlockId, RegionId};
use crate::module::Module;

/// The immediate dominator of each block that can be reached from the first one.
#[derive(Clone, Debug)]
pub(crate) struct Dominators {
    /// Place of each reachable block in reverse postorder.
    order: HashMap<BlockId, usize>,
    /// By place; the first block is its own.
    immediate: Vec<usize>,
}

impl Dominators {
    /// Follows the branches of a region's blocks.
    pub(crate) fn of(m: &Module, region: RegionId) -> Dominators {
        let blocks = reverse_postorder(m, region);
        let order: HashMap<BlockId, usize> = blocks.iter().enumerate().map(|(n, b)| (*b, n)).collect();
        let mut before = vec![Vec::new(); blocks.len()];
        for (n, block) in blocks.iter().enumerate() {
            for next in successors(m, *block).iter().filter_map(|b| order.get(b)) {
                if let Some(list) = before.get_mut(*next) {
                    list.push(n);
                }
            }
        }
        let mut found: Vec<Option<usize>> = vec![None; blocks.len()];
        if let Some(first) = found.first_mut() {
            *first = Some(0);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (n, before) in before.iter().enumerate().skip(1) {
                let known = before.iter().copied().filter(|p| found.get(*p).is_some_and(Option::is_some));
                let common = known.reduce(|a, b| meet(&found, a, b));
                if found.get(n) != Some(&common) {
                    found[n] = common;
                    changed = true;
                }
            }
        }
        Dominators { order, immediate: found.into_iter().map(|place| place.unwrap_or(0)).collect() }
    }

    /// Whether every way to `b` leads through `a`, as every way to a block that cannot be reached does.
    pub(crate) fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let Some(&b) = self.order.get(&b) else { return true };
        let Some(&a) = self.order.get(&a) else { return false };
        let mut at = b;
        while at > a {
            at = self.immediate.get(at).copied().unwrap_or(0);
        }
        at == a
    }
}

/// The nearest place that dominates both; dominators come earlier in reverse postorder.
fn meet(found: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    let up = |at: usize| found.get(at).copied().flatten().unwrap_or(0);
    while a != b {
        if a > b { a = up(a) } else { b = up(b) }
    }
    a
}

fn successors(m: &Module, block: BlockId) -> &[BlockId] {
    m.terminator(block).map_or(&[][..], |op| &m.ops[op].successors)
}

fn reverse_postorder(m: &Module, region: RegionId) -> Vec<BlockId> {
    let mut seen: HashMap<BlockId, usize> = HashMap::new();
    let mut left = Vec::new();
    let mut open: Vec<BlockId> = m.regions[region].blocks.first().copied().into_iter().collect();
    seen.extend(open.iter().map(|b| (*b, 0)));
    while let Some(block) = open.last().copied() {
        let next = seen.entry(block).or_default();
        let successor = successors(m, block).get(*next).copied();
        *next += 1;
        match successor {
            Some(to) if !seen.contains_key(&to) => {
                seen.insert(to, 0);
                open.push(to);
            }
            Some(_) => {}
            None => {
                left.push(block);
                open.pop();
            }
        }
    }
    left.reverse();
    left
}
