//! Control flow: blocks, dominators, loops.

use crate::code::{Code, Step};
use crate::tree::Operand;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, EdgeRef, Reversed};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A run of instructions that is entered at its first and left at its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Indices into [`Code::steps`].
    pub instructions: Range<usize>,
}

/// A natural loop: all that reaches a jump back to its head without leaving through the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block that every way into the loop leads through.
    pub head: usize,
    /// Its blocks, ascending; the head is one of them.
    pub blocks: Vec<usize>,
}

impl Loop {
    /// Indices into [`Code::steps`] of everything in the loop, ascending.
    pub fn instructions<'f>(&'f self, flow: &'f Flow) -> impl Iterator<Item = usize> + 'f {
        self.blocks.iter().flat_map(|&block| flow.blocks[block].instructions.clone())
    }
}

/// The control flow of a body. Blocks are numbered in the order of the text; control enters at block 0.
#[derive(Clone, Debug)]
pub struct Flow {
    blocks: Vec<Block>,
    /// Node `i` is block `i`; the last node is the end of every way.
    graph: DiGraph<(), ()>,
}

/// Where control goes from an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leads {
    /// Instructions it may jump to; the number of instructions is the end.
    pub targets: Vec<usize>,
    /// Whether the next instruction may follow.
    pub falls: bool,
}

fn leads(code: &Code<'_, '_>, step: &Step<'_, '_>) -> Leads {
    let instruction = step.instruction;
    let guarded = instruction.guard.is_some();
    let at = |name: &str, scope| code.label(name, scope).map(|i| i as usize);
    let (targets, falls) = match (instruction.opcode.split('.').next().unwrap_or(""), &*instruction.operands)
    {
        ("bra", [Operand::Name(name), ..]) => (at(name, step.scope).into_iter().collect(), guarded),
        ("brx", [_, Operand::Name(list), ..]) => {
            let (names, scope) = code.targets(list, step.scope).unwrap_or((&[], 0));
            (names.iter().filter_map(|name| at(name, scope)).collect(), guarded)
        }
        ("ret" | "exit" | "trap", _) => (vec![code.steps().len()], guarded),
        _ => (Vec::new(), true),
    };
    Leads { targets, falls }
}

impl Flow {
    /// The control flow of a body. A jump to a label that is not in reach leads nowhere.
    pub fn of(code: &Code<'_, '_>) -> Flow {
        Flow::through(&code.steps().iter().map(|step| leads(code, step)).collect::<Vec<_>>())
    }

    /// The control flow of a straight list of instructions of any kind, by where each leads.
    pub fn through(leads: &[Leads]) -> Flow {
        let mut starts = BTreeSet::from([0]);
        for (at, Leads { targets, falls }) in leads.iter().enumerate() {
            starts.extend(targets);
            if !targets.is_empty() || !falls {
                starts.insert(at + 1);
            }
        }
        let starts: Vec<usize> = starts.into_iter().filter(|&at| at < leads.len()).collect();
        let ends = starts.iter().skip(1).copied().chain([leads.len()]);
        let blocks: Vec<Block> =
            starts.iter().copied().zip(ends).map(|(from, to)| Block { instructions: from..to }).collect();
        let mut graph = DiGraph::with_capacity(blocks.len() + 1, 2 * blocks.len());
        for _ in 0..=blocks.len() {
            graph.add_node(());
        }
        let node_at = |at: usize| NodeIndex::new(starts.binary_search(&at).unwrap_or(blocks.len()));
        for (i, block) in blocks.iter().enumerate() {
            let end = block.instructions.end;
            let Some(Leads { targets, falls }) = leads.get(end - 1) else { continue };
            let next: BTreeSet<NodeIndex> =
                targets.iter().copied().chain(falls.then_some(end)).map(node_at).collect();
            for &to in &next {
                graph.add_edge(NodeIndex::new(i), to, ());
            }
            if next.is_empty() {
                graph.add_edge(NodeIndex::new(i), NodeIndex::new(blocks.len()), ());
            }
        }
        Flow { blocks, graph }
    }

    /// The blocks in the order of the text.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block that holds an instruction.
    pub fn block_of(&self, instruction: usize) -> Option<usize> {
        let behind = self.blocks.partition_point(|b| b.instructions.start <= instruction);
        behind.checked_sub(1).filter(|&b| self.blocks[b].instructions.contains(&instruction))
    }

    /// The blocks that may follow a block, ascending. A block that may end the function has fewer.
    pub fn next(&self, block: usize) -> Vec<usize> {
        let mut out: Vec<usize> = self.graph.neighbors(NodeIndex::new(block)).map(NodeIndex::index).collect();
        out.retain(|&to| to < self.blocks.len());
        out.sort_unstable();
        out
    }

    /// For each block, the last block that every way to it leads through; `None` for block 0 and for blocks that
    /// are not reached.
    pub fn dominators(&self) -> Vec<Option<usize>> {
        self.above(&simple_fast(&self.graph, NodeIndex::new(0)))
    }

    /// For each block, the first block that every way from it to the end leads through: where lanes that part at its
    /// last instruction meet again. `None` where there is no such block, and for blocks that never end.
    pub fn post_dominators(&self) -> Vec<Option<usize>> {
        self.above(&simple_fast(Reversed(&self.graph), NodeIndex::new(self.blocks.len())))
    }

    fn above(&self, dominators: &Dominators<NodeIndex>) -> Vec<Option<usize>> {
        let one = |b| dominators.immediate_dominator(NodeIndex::new(b)).map(NodeIndex::index);
        (0..self.blocks.len()).map(|b| one(b).filter(|&to| to < self.blocks.len())).collect()
    }

    /// The natural loops by head; loops with the same head are one.
    pub fn loops(&self) -> Vec<Loop> {
        if self.blocks.is_empty() {
            return Vec::new();
        }
        let above = simple_fast(&self.graph, NodeIndex::new(0));
        // Only edges that do not go down in post-order can close a loop: the others need not climb the tree.
        let mut post_order = vec![usize::MAX; self.graph.node_count()];
        let mut walk = DfsPostOrder::new(&self.graph, NodeIndex::new(0));
        (0..).map_while(|i| Some((walk.next(&self.graph)?, i))).for_each(|(b, i)| post_order[b.index()] = i);
        let closes = |from: NodeIndex, head: NodeIndex| {
            post_order[from.index()] <= post_order[head.index()]
                && above.dominators(from).is_some_and(|mut up| up.any(|b| b == head))
        };
        let mut bodies: BTreeMap<NodeIndex, BTreeSet<NodeIndex>> = BTreeMap::new();
        for edge in self.graph.edge_references().filter(|e| closes(e.source(), e.target())) {
            bodies.entry(edge.target()).or_default().insert(edge.source());
        }
        let mut loops = Vec::new();
        for (head, mut body) in bodies {
            let mut work: Vec<NodeIndex> = body.iter().copied().filter(|&b| b != head).collect();
            body.insert(head);
            while let Some(block) = work.pop() {
                let before = self.graph.neighbors_directed(block, petgraph::Direction::Incoming);
                work.extend(before.filter(|&b| above.dominators(b).is_some() && body.insert(b)));
            }
            let blocks = body.into_iter().map(NodeIndex::index).collect();
            loops.push(Loop { head: head.index(), blocks });
        }
        loops
    }
}
