//! The values that need room: rings in shared memory, products in tensor memory, register tiles (S8, S63, C29).

use std::collections::{BTreeMap, BTreeSet};

use warploom_chips::cost::{CostError, Op};
use warploom_chips::mma::MmaInstruction;
use warploom_ir::{OpId, Opcode, Type, ValueId};
use warploom_sched::ValueUse;

use super::Part;
use super::nodes::{Maker, signed};
use crate::views::look_through;

/// Tiles of fewer elements than a warpgroup has threads are no burden.
const SMALL: u64 = 1024;

impl Maker<'_> {
    /// All values, in the order of the nodes that write them: shared memory, tensor memory, registers.
    pub fn values(&mut self) -> Result<(), CostError> {
        let arrive = signed(self.target.cost(&Op::BarrierArrive, 4)?.latency);
        let mut groups: Vec<BTreeSet<usize>> = Vec::new();
        for id in 0..self.out.nodes.len() {
            if self.copies(id) {
                self.ring(id, arrive, &mut groups);
            }
        }
        if self.instruction == MmaInstruction::Tcgen05 {
            self.tensor_memory();
        }
        self.registers();
        let bytes = [("smem", self.target.smem.per_cta)];
        let tmem = self.target.tmem.as_ref().map(|t| ("tmem", u64::from(t.columns) * u64::from(t.lanes) * 4));
        for (space, bytes) in bytes.into_iter().chain(tmem) {
            if self.out.graph.values.iter().any(|v| v.space == space) {
                self.out.graph.budgets.insert(space.to_owned(), bytes);
            }
        }
        Ok(())
    }

    /// A copied tile lives from the issue of its copy until its last reader has given the slot back; with products
    /// pending behind the wait, that is the wait of a later iteration (C30).
    fn ring(&mut self, id: usize, arrive: i64, groups: &mut Vec<BTreeSet<usize>>) {
        let Some(op) = self.out.nodes.get(id).map(|n| n.op) else { return };
        let Some(tile) = self.module.result(op) else { return };
        let back = |crosses: bool, synchronisation: i64| {
            arrive.saturating_add(if crosses { synchronisation } else { 0 })
        };
        let given_back = back(self.loads(id), self.synchronisation);
        let mut uses = Vec::new();
        let mut readers = BTreeSet::new();
        for (user, _) in self.readers(tile) {
            let Some(outer) = self.outermost(user) else { continue };
            let Some(node) =
                self.node(outer, Part::Whole).filter(|_| self.module.ops[user].opcode.is_product())
            else {
                continue;
            };
            readers.insert(node);
            let latency = signed(self.costs.get(node).map_or(0, |c| c.latency));
            match self.wait_of(user) {
                Some(wait) => {
                    let end = given_back;
                    uses.push(ValueUse { node: wait, distance: signed(self.out.pending), end });
                    uses.push(ValueUse { node, distance: 0, end: latency });
                }
                None => uses.push(ValueUse { node, distance: 0, end: latency.saturating_add(given_back) }),
            }
        }
        if let Some(node) = self.node(op, Part::Read) {
            readers.insert(node);
            let latency = signed(self.costs.get(node).map_or(0, |c| c.latency));
            uses.push(ValueUse { node, distance: 0, end: latency.saturating_add(given_back) });
        }
        if uses.is_empty() {
            return;
        }
        let bytes = self.prices.slot_bytes(op);
        let group = groups.iter().position(|g| *g == readers).unwrap_or_else(|| {
            groups.push(readers);
            groups.len() - 1
        });
        let value = self.out.graph.add_value(id, bytes, "smem", &[]);
        if let Some(value) = self.out.graph.values.get_mut(value) {
            value.name = value.name.strip_prefix("load ").unwrap_or(&value.name).to_owned();
            value.uses = uses;
            value.group = Some(group);
            value.max_depth = self.options.max_depth;
        }
        self.out.copies.push(Some(op));
    }

    /// The wait behind a product, if the loop has one for it.
    fn wait_of(&self, dot: OpId) -> Option<usize> {
        let result = self.module.result(dot)?;
        let mut users = self.prices.users.of(result).iter().copied();
        let wait = users.find(|&u| self.module.ops[u].opcode == Opcode::MmaWait)?;
        self.node(wait, Part::Whole)
    }

    /// Products that registers read, and operands written for products.
    fn tensor_memory(&mut self) {
        for id in 0..self.out.nodes.len() {
            let Some(node) = self.out.nodes.get(id).copied() else { continue };
            let Some(value) = self.module.result(node.op) else { continue };
            let (bytes, readers): (u64, Vec<usize>) = match (node.part, self.module.ops[node.op].opcode) {
                (Part::Whole, Opcode::Dot | Opcode::DotBlockScaled) => {
                    let read = self.node(node.op, Part::TmemLoad);
                    (self.prices.bytes(value), read.into_iter().collect())
                }
                (Part::TmemStore, _) => {
                    let products = self.readers(value).into_iter().filter(|&(user, seen)| {
                        let data = &self.module.ops[user];
                        data.opcode.is_product() && data.operands.first() == Some(&seen)
                    });
                    (
                        self.prices.bytes(value),
                        products.filter_map(|(user, _)| self.node(user, Part::Whole)).collect(),
                    )
                }
                _ => continue,
            };
            let uses: Vec<(usize, i64, i64)> = readers
                .into_iter()
                .map(|reader| {
                    let latency = signed(self.costs.get(reader).map_or(0, |c| c.latency));
                    let distance = i64::from(reader < id);
                    (reader, distance, latency.saturating_add(self.synchronisation))
                })
                .collect();
            if uses.is_empty() {
                continue;
            }
            let new = self.out.graph.add_value(id, bytes, "tmem", &uses);
            // An accumulator that goes round is updated in place.
            let round = self.goes_round(value);
            if let Some(new) = self.out.graph.values.get_mut(new)
                && round
            {
                new.max_depth = Some(1);
            }
            self.out.copies.push(None);
        }
    }

    fn goes_round(&self, value: ValueId) -> bool {
        self.readers(value).iter().any(|&(user, _)| self.module.ops[user].opcode == Opcode::Yield)
    }

    /// Register tiles: what an operation makes takes the place of an operand that nobody reads later.
    fn registers(&mut self) {
        let mut class_of: BTreeMap<ValueId, usize> = BTreeMap::new();
        let mut classes: Vec<Vec<ValueId>> = Vec::new();
        for op in self.ops() {
            let Some(value) = self.module.result(op).filter(|&v| self.is_register_tile(op, v)) else {
                continue;
            };
            let operands: Vec<ValueId> = self.module.ops[op].operands.to_vec();
            let heir = operands.iter().find_map(|&operand| {
                let before = self.carried_from(operand).unwrap_or(operand);
                let class = *class_of.get(&before)?;
                let fits = self.module.ty(before).bytes() == self.module.ty(value).bytes();
                (fits && self.last_reader(operand) == Some(op)).then_some(class)
            });
            let class = heir.unwrap_or_else(|| {
                classes.push(Vec::new());
                classes.len() - 1
            });
            class_of.insert(value, class);
            if let Some(class) = classes.get_mut(class) {
                class.push(value);
            }
        }
        for class in classes {
            self.register_class(&class);
        }
    }

    fn register_class(&mut self, class: &[ValueId]) {
        let first = class.first().and_then(|&v| self.register_node(v));
        let (Some(def), Some(&value)) = (first, class.first()) else { return };
        let mut uses: Vec<ValueUse> = Vec::new();
        for &member in class {
            for (user, _) in self.readers(member) {
                if self.module.ops[user].opcode == Opcode::MmaWait {
                    continue;
                }
                let Some(node) = self.outermost(user).and_then(|o| self.node(o, Part::Whole)) else {
                    continue;
                };
                let Some(cost) = self.costs.get(node) else { continue };
                // A product reads its registers to the end, anything else while it is issued.
                let end = match self.module.ops[user].opcode {
                    Opcode::Dot | Opcode::DotBlockScaled | Opcode::MmaWait => cost.latency,
                    _ => cost.issue,
                };
                if node != def {
                    uses.push(ValueUse { node, distance: 0, end: signed(end) });
                }
            }
        }
        uses.retain(|u| u.node > def);
        uses.sort_by_key(|u| (u.node, u.end));
        uses.dedup();
        let bytes = self.module.ty(value).bytes().map_or(0, |_| self.prices.bytes(value));
        if uses.is_empty() || bytes == 0 {
            return;
        }
        let id = self.out.graph.add_value(def, bytes, "reg", &[]);
        if let Some(new) = self.out.graph.values.get_mut(id) {
            new.uses = uses;
            new.max_depth = self.options.register_copies;
        }
        self.out.copies.push(None);
    }

    /// The node after which a value is in registers.
    fn register_node(&self, value: ValueId) -> Option<usize> {
        let at = |part: Part| self.made.get(&(value, part)).copied();
        at(Part::Read).or(at(Part::TmemLoad)).or(at(Part::Whole))
    }

    /// Whether an operation's result is a float tile in the registers of the computing partition.
    fn is_register_tile(&self, op: OpId, value: ValueId) -> bool {
        let ty = self.module.ty(value);
        let tile = ty.is_tensor()
            && matches!(ty.elem(), Type::Float(_))
            && ty.elements().is_some_and(|n| n >= SMALL);
        let made = self.register_node(value).and_then(|n| self.out.nodes.get(n));
        let in_registers = made.is_some_and(|n| match n.part {
            Part::Whole => !self.is_copy(op) && n.role == super::PartitionRole::Math,
            _ => true,
        });
        tile && in_registers && self.module.ops[op].opcode != Opcode::MmaWait
    }

    /// The value that a loop-carried argument had at the end of the trip before.
    fn carried_from(&self, value: ValueId) -> Option<ValueId> {
        let body = self.body?;
        let at = self.module.blocks[body].args.iter().position(|&a| a == value)?;
        let yielded = self.module.terminator(body)?;
        let next = *self.module.ops[yielded].operands.get(at.checked_sub(1)?)?;
        Some(look_through(self.module, next).base)
    }

    /// The last operation of the body that reads a value, through views.
    fn last_reader(&self, value: ValueId) -> Option<OpId> {
        let mut stack = vec![value];
        let mut last: Option<(usize, OpId)> = None;
        while let Some(seen) = stack.pop() {
            for &user in self.prices.users.of(seen) {
                let Some(outer) = self.outermost(user) else { continue };
                let opcode = self.module.ops[outer].opcode;
                if matches!(opcode, Opcode::Trans | Opcode::Reshape | Opcode::ExpandDims | Opcode::Broadcast)
                {
                    stack.extend(self.module.result(outer));
                }
                let position = (self.position(outer)?, outer);
                last = last.max(Some(position));
            }
        }
        last.map(|(_, op)| op)
    }
}
