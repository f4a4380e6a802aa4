//! Structure of the arenas, and definitions before uses.

use std::collections::{HashMap, HashSet};

use super::context::Problem;
use crate::diag::{Code, Diagnostic};
use crate::dominators::Dominators;
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::module::{Module, ValueDef};
use crate::text::MAX_REGIONS;
use crate::walk::{Event, events};

fn problem(op: OpId, message: String) -> Problem {
    Problem { op, value: None, diag: Diagnostic::error(Code::Verify, message) }
}

/// All operations in the order of the text. `None` when operations, blocks and regions do not form a tree;
/// then nothing else can be said.
pub(super) fn structure(m: &Module, problems: &mut Vec<Problem>) -> Option<Vec<OpId>> {
    let mut ops = Vec::new();
    let mut seen_ops: HashSet<OpId> = HashSet::new();
    let mut seen_regions: HashSet<RegionId> = HashSet::new();
    let mut seen_blocks: HashSet<BlockId> = HashSet::new();
    let mut owners: Vec<OpId> = Vec::new();
    let mut regions: Vec<RegionId> = Vec::new();
    let mut at: Option<BlockId> = None;
    let mut blocks: Vec<Option<BlockId>> = Vec::new();
    for event in events(m, m.root) {
        let owner = owners.last().copied().unwrap_or(m.root);
        let sound = match event {
            Event::Op(op) => {
                let data = &m.ops[op];
                let results = (0u32..).zip(&data.results);
                let fits = seen_ops.insert(op)
                    && data.block == at
                    && results
                        .into_iter()
                        .all(|(index, v)| m.values[*v].def == ValueDef::Result { op, index });
                ops.push(op);
                owners.push(op);
                fits
            }
            Event::Enter(region) => {
                regions.push(region);
                blocks.push(at);
                seen_regions.insert(region) && m.regions[region].parent == Some(owner)
            }
            Event::Block(block) => {
                at = Some(block);
                let args = (0u32..).zip(&m.blocks[block].args);
                seen_blocks.insert(block)
                    && m.blocks[block].region == regions.last().copied()
                    && args
                        .into_iter()
                        .all(|(index, v)| m.values[*v].def == ValueDef::Argument { block, index })
            }
            Event::Leave(_) => {
                regions.pop();
                at = blocks.pop().flatten();
                true
            }
            Event::Done(_) => {
                owners.pop();
                true
            }
        };
        if !sound {
            let text = "operations, blocks and values do not refer to each other consistently".to_owned();
            problems.push(problem(owner, text));
            return None;
        }
        if regions.len() > MAX_REGIONS as usize {
            problems.push(problem(owner, format!("regions nest more than {MAX_REGIONS} deep")));
            return None;
        }
    }
    Some(ops)
}

/// Every operand is defined before its use, in a block that is open there.
pub(super) fn dominance(m: &Module, problems: &mut Vec<Problem>) {
    let isolated = |region: RegionId| {
        let owner = m.regions[region].parent;
        owner.is_some_and(|op| m.is_isolated(op))
    };
    let mut done: HashSet<OpId> = HashSet::new();
    // Blocks open at this place, with the number of isolated regions around each.
    let mut open: HashMap<BlockId, usize> = HashMap::new();
    let mut depth = 0;
    // Where the walk is in each region that is open, and what branches say of those with several blocks.
    let mut here: HashMap<RegionId, BlockId> = HashMap::new();
    let mut flow: HashMap<RegionId, Dominators> = HashMap::new();
    for event in events(m, m.root) {
        match event {
            Event::Enter(region) => {
                depth += usize::from(isolated(region));
                if branches(m, region) {
                    flow.insert(region, Dominators::of(m, region));
                }
            }
            Event::Leave(region) => {
                here.remove(&region);
                depth -= usize::from(isolated(region));
                for block in &m.regions[region].blocks {
                    open.remove(block);
                }
            }
            Event::Block(block) => {
                open.insert(block, depth);
                here.extend(m.blocks[block].region.map(|region| (region, block)));
            }
            Event::Done(op) => {
                done.insert(op);
            }
            Event::Op(op) => {
                for (n, value) in m.ops[op].operands.iter().enumerate() {
                    let unordered = || {
                        let block = home(m, *value)?;
                        let region = m.blocks[block].region?;
                        let reached = flow.get(&region)?.dominates(block, *here.get(&region)?);
                        (!reached).then(|| format!("operand {n} is not defined on every way to its use"))
                    };
                    if let Some(text) = undefined(m, *value, n, &done, &open, depth).or_else(unordered) {
                        problems.push(Problem { value: Some(*value), ..problem(op, text) });
                    }
                }
            }
        }
    }
}

/// Whether blocks of the region end in branches.
fn branches(m: &Module, region: RegionId) -> bool {
    let mut ends = m.regions[region].blocks.iter().filter_map(|b| m.terminator(*b));
    ends.any(|op| !m.ops[op].successors.is_empty())
}

/// The block whose argument a value is, or in which it is made.
fn home(m: &Module, value: ValueId) -> Option<BlockId> {
    match m.values[value].def {
        ValueDef::Argument { block, .. } => Some(block),
        ValueDef::Result { op, .. } => m.ops[op].block,
    }
}

/// What is wrong with a use of a value, if anything.
fn undefined(
    m: &Module,
    value: ValueId,
    operand: usize,
    done: &HashSet<OpId>,
    open: &HashMap<BlockId, usize>,
    depth: usize,
) -> Option<String> {
    let before = m.def_op(value).is_none_or(|op| done.contains(&op));
    let place = home(m, value).and_then(|b| open.get(&b));
    match place {
        None => Some(format!("operand {operand} is defined in a region that is not open here")),
        Some(at) if *at != depth => {
            Some(format!("operand {operand} is defined outside the function that uses it"))
        }
        Some(_) if !before => Some(format!("operand {operand} is used before its definition")),
        Some(_) => None,
    }
}
