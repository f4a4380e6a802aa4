//! Walking over operations in the order of the text, without recursion.

use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::module::Module;

/// What a walk meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// An operation, before its regions.
    Op(OpId),
    /// The start of a region.
    Enter(RegionId),
    /// A block, before its operations.
    Block(BlockId),
    /// The end of a region.
    Leave(RegionId),
    /// An operation, after its regions.
    Done(OpId),
}

/// A position of the walk that waits for its turn.
#[derive(Clone, Copy, Debug)]
enum Step {
    Op(OpId),
    Done(OpId),
    Enter(RegionId),
    Leave(RegionId),
    /// Operations of a block from this number on; the block itself is met at number 0.
    Block(BlockId, usize, bool),
}

/// The walk that [`events`] starts.
#[derive(Clone, Debug)]
pub struct Events<'m> {
    m: &'m Module,
    stack: Vec<Step>,
}

/// Everything in and below an operation, in the order of the text.
pub fn events(m: &Module, op: OpId) -> Events<'_> {
    Events { m, stack: vec![Step::Op(op)] }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            match self.stack.pop()? {
                Step::Op(op) => {
                    self.stack.push(Step::Done(op));
                    self.stack.extend(self.m.ops[op].regions.iter().rev().map(|r| Step::Enter(*r)));
                    return Some(Event::Op(op));
                }
                Step::Done(op) => return Some(Event::Done(op)),
                Step::Enter(region) => {
                    self.stack.push(Step::Leave(region));
                    let blocks = self.m.regions[region].blocks.iter().rev();
                    self.stack.extend(blocks.map(|b| Step::Block(*b, 0, true)));
                    return Some(Event::Enter(region));
                }
                Step::Leave(region) => return Some(Event::Leave(region)),
                Step::Block(block, _, true) => {
                    self.stack.push(Step::Block(block, 0, false));
                    return Some(Event::Block(block));
                }
                Step::Block(block, at, false) => {
                    if let Some(op) = self.m.blocks[block].ops.get(at) {
                        self.stack.push(Step::Block(block, at + 1, false));
                        self.stack.push(Step::Op(*op));
                    }
                }
            }
        }
    }
}

/// An operation and everything below it, each before its regions.
pub fn ops(m: &Module, op: OpId) -> impl Iterator<Item = OpId> + '_ {
    events(m, op).filter_map(|event| match event {
        Event::Op(op) => Some(op),
        _ => None,
    })
}

/// The operations of a block and everything below them, each before its regions.
pub fn block_ops(m: &Module, block: BlockId) -> impl Iterator<Item = OpId> + '_ {
    Events { m, stack: vec![Step::Block(block, 0, false)] }.filter_map(|event| match event {
        Event::Op(op) => Some(op),
        _ => None,
    })
}

/// Every use of a value in the module: the operation and the number of the operand, in the order of the
/// text.
pub fn uses(m: &Module, value: ValueId) -> impl Iterator<Item = (OpId, usize)> + '_ {
    ops(m, m.root).flat_map(move |op| {
        let operands = m.ops[op].operands.iter().enumerate();
        operands.filter(move |(_, v)| **v == value).map(move |(n, _)| (op, n))
    })
}
