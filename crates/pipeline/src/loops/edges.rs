//! What waits for what: through values, round the loop, and through the waits for products (S5, S66, C30).

use std::collections::{BTreeMap, VecDeque};

use warploom_chips::cost::CostError;
use warploom_ir::{OpId, Opcode, ValueDef, ValueId};

use super::nodes::{Maker, signed};
use super::{Part, PartitionRole};
use crate::views::look_through;

/// A node that a value depends on, and how many iterations ago it ran.
pub(super) type Source = (usize, i64);

impl Maker<'_> {
    /// All edges, each pair of nodes once per distance, with the longest latency.
    pub fn edges(&mut self) -> Result<(), CostError> {
        let mut edges: BTreeMap<(usize, usize, i64), i64> = BTreeMap::new();
        let mut add = |src: usize, dst: usize, distance: i64, latency: i64| {
            let known = edges.entry((src, dst, distance)).or_insert(latency);
            *known = (*known).max(latency);
        };
        for (id, node) in self.out.nodes.clone().into_iter().enumerate() {
            match (node.part, self.module.ops[node.op].opcode) {
                (Part::Whole, Opcode::Dot | Opcode::DotBlockScaled) => {
                    self.product_edges(id, node.op, &mut add)
                }
                (Part::Whole, Opcode::MmaWait) => self.around_wait(id, node.op, &mut add),
                (Part::Whole, _) => {
                    for value in self.operands(node.op) {
                        for (src, distance) in self.sources(value, Part::Whole) {
                            add(src, id, distance, self.latency(src, id));
                        }
                    }
                }
                // A move follows what it moves.
                _ => {
                    let moved = self.module.result(node.op);
                    let maker = moved.and_then(|v| self.made.get(&(v, Part::Whole)).copied());
                    if let Some(src) = maker.filter(|&src| src != id) {
                        add(src, id, 0, self.latency(src, id));
                    } else if let Some(value) = moved {
                        // The value is made by something that takes no time: follow what that is made of.
                        for (src, distance) in self.sources(value, Part::Whole) {
                            add(src, id, distance, self.latency(src, id));
                        }
                    }
                }
            }
        }
        for ((src, dst, distance), latency) in edges {
            if src != dst || distance > 0 {
                self.out.graph.add_edge(src, dst, latency, distance);
            }
        }
        Ok(())
    }

    /// Operands from wherever a product wants them; its accumulator goes on inside the tensor core, no latency but the
    /// time there.
    fn product_edges(&self, id: usize, op: OpId, add: &mut impl FnMut(usize, usize, i64, i64)) {
        let operands = self.module.ops[op].operands.clone();
        for (index, operand) in operands.into_iter().enumerate() {
            let base = look_through(self.module, operand).base;
            let wanted = match (index, self.instruction) {
                (0 | 2, warploom_chips::mma::MmaInstruction::Tcgen05) => Part::TmemStore,
                (1, _) => Part::Write,
                _ => Part::Whole,
            };
            for (src, distance) in self.sources(base, wanted) {
                let latency = match (index, self.out.nodes.get(src).map(|n| (n.part, n.op))) {
                    (2, Some((Part::Whole, from))) if self.module.ops[from].opcode.is_product() => {
                        self.busy(src)
                    }
                    _ => self.latency(src, id),
                };
                add(src, id, distance, latency);
            }
        }
    }

    /// A wait blocks its partition until all but `pending` products are finished; the next product comes behind it.
    fn around_wait(&self, id: usize, op: OpId, add: &mut impl FnMut(usize, usize, i64, i64)) {
        let pending = signed(self.out.pending);
        for &value in &self.module.ops[op].operands {
            let Some(&dot) = self.made.get(&(value, Part::Whole)) else { continue };
            add(dot, id, 0, signed(self.costs.get(dot).map_or(0, |c| c.issue)));
            add(dot, id, pending, signed(self.costs.get(dot).map_or(0, |c| c.latency)));
            add(id, dot, 1, 0);
        }
    }

    /// Cycles a product spends in the tensor core.
    fn busy(&self, node: usize) -> i64 {
        signed(self.costs.get(node).and_then(|c| c.uses.iter().map(|u| u.duration).max()).unwrap_or(0))
    }

    /// Issue of one node to readiness for another: the latency, and the synchronisation between partitions.
    pub fn latency(&self, src: usize, dst: usize) -> i64 {
        let latency = signed(self.costs.get(src).map_or(0, |c| c.latency));
        let role = |node: usize| self.out.nodes.get(node).map(|n| n.role);
        let crosses = role(src) != role(dst);
        // A thread that copies for its own partition waits for its copies without synchronisation.
        latency.saturating_add(if crosses { self.synchronisation } else { 0 })
    }

    /// The nodes a value comes from: itself, or through scalars, views, index functions and round the loop. `wanted` is
    /// where the reader wants it.
    pub fn sources(&self, value: ValueId, wanted: Part) -> Vec<Source> {
        let mut found: BTreeMap<usize, i64> = BTreeMap::new();
        let mut seen: BTreeMap<ValueId, i64> = BTreeMap::new();
        let mut queue = VecDeque::from([(value, 0i64)]);
        while let Some((value, distance)) = queue.pop_front() {
            if seen.get(&value).is_some_and(|&known| known <= distance) {
                continue;
            }
            seen.insert(value, distance);
            if let Some(node) = self.node_of(value, wanted) {
                let known = found.entry(node).or_insert(distance);
                *known = (*known).min(distance);
                continue;
            }
            match self.module.values[value].def {
                ValueDef::Argument { block, index } if Some(block) == self.body && index > 0 => {
                    let yielded = self.module.terminator(block).map(|y| &self.module.ops[y].operands);
                    let next = yielded.and_then(|o| o.get(index as usize - 1).copied());
                    queue.extend(next.map(|v| (v, distance + 1)));
                }
                ValueDef::Result { op, .. } if self.outermost(op).is_some() => {
                    queue.extend(self.operands(op).into_iter().map(|v| (v, distance)));
                }
                _ => {}
            }
        }
        found.into_iter().collect()
    }

    /// The node that has a value where it is wanted.
    fn node_of(&self, value: ValueId, wanted: Part) -> Option<usize> {
        let at = |part: Part| self.made.get(&(value, part)).copied();
        let op = self.module.def_op(value)?;
        match (self.module.ops[op].opcode, wanted) {
            // Waits pass their operand on: what is finished is the product.
            (Opcode::MmaWait, _) => None,
            (Opcode::Dot | Opcode::DotBlockScaled, Part::TmemStore) => at(Part::Whole),
            (_, Part::TmemStore) => at(Part::TmemStore).or(at(Part::Whole)),
            (_, Part::Write) => at(Part::Write).or(at(Part::Whole)),
            // A reader in registers takes what was brought there.
            _ => at(Part::Read).or(at(Part::TmemLoad)).or(at(Part::Whole)),
        }
    }

    /// Whether a node is a copy, and its tile the loop's own.
    pub fn copies(&self, node: usize) -> bool {
        self.out.nodes.get(node).is_some_and(|n| n.part == Part::Whole && self.is_copy(n.op))
    }

    /// Whether a node belongs to the partition that copies.
    pub fn loads(&self, node: usize) -> bool {
        self.out.nodes.get(node).is_some_and(|n| n.role == PartitionRole::Load)
    }
}
