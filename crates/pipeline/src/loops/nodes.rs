//! The nodes of a loop: its operations, and the moves between memories that they ask for.

use std::collections::BTreeMap;

use warploom_chips::Target;
use warploom_chips::cost::{CostError, OpCost};
use warploom_chips::mma::{MmaInstruction, OperandPlace};
use warploom_ir::{BlockId, Module, OpId, Opcode, ValueId};
use warploom_sched::{LoopGraph, LoopResource};

use super::access::Accesses;
use super::index::Indices;
use super::price::{Prices, RowShare};
use super::{GraphOptions, LoopNode, Part, PartitionRole, PipelinedLoop, Replicas, TripPrices};
use crate::engines::shape::split;
use crate::views::look_through;
use crate::walk::{Users, preorder};

/// A loop graph under construction.
pub(super) struct Maker<'a> {
    pub module: &'a Module,
    pub body: Option<BlockId>,
    pub target: &'a Target,
    pub options: GraphOptions,
    pub synchronisation: i64,
    pub prices: Prices<'a>,
    pub instruction: MmaInstruction,
    pub out: PipelinedLoop,
    /// What each node costs.
    pub costs: Vec<OpCost>,
    /// The node that makes a value, by where a reader wants it.
    pub made: BTreeMap<(ValueId, Part), usize>,
    /// The node of each part of an operation.
    at: BTreeMap<(OpId, Part), usize>,
    /// Where each operation stands in the loop's body.
    order: BTreeMap<OpId, usize>,
    /// How many nodes have a name with this first word.
    named: BTreeMap<String, usize>,
}

impl<'a> Maker<'a> {
    pub fn new(
        module: &'a Module,
        scf_for: OpId,
        name: &str,
        target: &'a Target,
        options: GraphOptions,
        synchronisation: u64,
    ) -> Maker<'a> {
        let out = PipelinedLoop {
            scf_for,
            graph: LoopGraph::new(name),
            nodes: Vec::new(),
            copies: Vec::new(),
            pending: options.pending,
            synchronisation,
            trip: TripPrices::default(),
            one_partition: options.one_partition,
            replicas: Replicas::ONE,
        };
        let instruction = options.instruction.unwrap_or(target.mma_instruction());
        let synchronous = instruction == MmaInstruction::MmaSync;
        let func = enclosing_function(module, scf_for);
        let split = synchronous.then(|| split(module, func)).flatten();
        let users = Users::new(module);
        let split = split.unwrap_or([1, 1]);
        let body = module.entry(scf_for, 0);
        let share = RowShare::of(module, scf_for, options.replicas);
        let order = body.map(|b| module.blocks[b].ops.iter().enumerate().map(|(at, &op)| (op, at)).collect());
        Maker {
            module,
            body,
            target,
            options,
            synchronisation: i64::try_from(synchronisation).unwrap_or(i64::MAX),
            prices: Prices {
                module,
                target,
                instruction,
                one_partition: options.one_partition,
                indices: Indices::new(module, scf_for, &users),
                users,
                accesses: Accesses::new(module, func),
                split,
                share,
            },
            instruction,
            out,
            costs: Vec::new(),
            made: BTreeMap::new(),
            at: BTreeMap::new(),
            order: order.unwrap_or_default(),
            named: BTreeMap::new(),
        }
    }

    /// The finished graph.
    pub fn finish(self) -> PipelinedLoop {
        self.out
    }

    /// The operations directly in the loop's body.
    pub fn ops(&self) -> Vec<OpId> {
        self.body.map(|body| self.module.blocks[body].ops.clone()).unwrap_or_default()
    }

    /// One node per operation that occupies a unit, with its moves around it.
    pub fn nodes(&mut self) -> Result<(), CostError> {
        for op in self.ops() {
            match self.module.ops[op].opcode {
                Opcode::DescriptorLoad => self.copied(op)?,
                Opcode::Load if self.is_copy(op) => self.copied_by_threads(op)?,
                Opcode::Dot | Opcode::DotBlockScaled => self.product(op)?,
                _ => {
                    if let Some(cost) = self.prices.of(op)? {
                        self.add(op, Part::Whole, PartitionRole::Math, cost);
                    }
                }
            }
        }
        Ok(())
    }

    fn copied(&mut self, op: OpId) -> Result<(), CostError> {
        if let Some(cost) = self.prices.of(op)? {
            self.add(op, Part::Whole, PartitionRole::Load, cost);
        }
        self.read(op)
    }

    /// Threads copy a tile through pointers without passing it through registers, so that it can be under way for as
    /// many iterations as the ring has slots.
    fn copied_by_threads(&mut self, op: OpId) -> Result<(), CostError> {
        if let Some(value) = self.module.result(op) {
            let cost = self.prices.cp_async(op, value)?;
            self.add(op, Part::Whole, PartitionRole::Math, cost);
        }
        self.read(op)
    }

    /// A tile in shared memory that something else than a product reads is brought into registers once.
    fn read(&mut self, op: OpId) -> Result<(), CostError> {
        let Some(value) = self.module.result(op).filter(|&v| self.read_in_registers(v)) else {
            return Ok(());
        };
        let cost = self.prices.shared(value)?;
        self.add(op, Part::Read, PartitionRole::Math, cost);
        Ok(())
    }

    fn product(&mut self, op: OpId) -> Result<(), CostError> {
        let module = self.module;
        let operands = module.ops[op].operands.clone();
        let mut a = OperandPlace::Shared;
        for (index, &operand) in operands.iter().enumerate().take(3) {
            let base = look_through(module, operand).base;
            let Some(maker) = module.def_op(base).filter(|&d| module.ops[d].block == self.body) else {
                continue;
            };
            let copied = self.made.contains_key(&(base, Part::Whole)) && self.is_copy(maker);
            match (index, self.instruction) {
                (2, MmaInstruction::Tcgen05) if !module.ops[maker].opcode.is_product() => {
                    self.stored(base, maker, Part::TmemStore, index == 2)?;
                }
                (2, _) => {}
                _ if copied => {}
                (0, MmaInstruction::Tcgen05) => {
                    a = OperandPlace::TensorMemory;
                    self.stored(base, maker, Part::TmemStore, index == 2)?;
                }
                (0, MmaInstruction::Wgmma | MmaInstruction::MmaSync) => a = OperandPlace::Registers,
                (1, MmaInstruction::Wgmma | MmaInstruction::Tcgen05) => {
                    self.stored(base, maker, Part::Write, false)?
                }
                _ => {}
            }
        }
        let cost = self.prices.product(op, a)?;
        let issuer = if self.instruction == MmaInstruction::Tcgen05 {
            PartitionRole::Mma
        } else {
            PartitionRole::Math
        };
        self.add(op, Part::Whole, issuer, cost);
        if let (Some(value), MmaInstruction::Tcgen05) = (module.result(op), self.instruction)
            && self.read_in_registers(value)
        {
            let cost = self.prices.tmem_load(value)?;
            self.add(op, Part::TmemLoad, PartitionRole::Math, cost);
        }
        Ok(())
    }

    /// A register tile written to where a product wants it; once, however many products read it.
    fn stored(&mut self, value: ValueId, maker: OpId, part: Part, is_sum: bool) -> Result<(), CostError> {
        if self.made.contains_key(&(value, part)) {
            return Ok(());
        }
        let cost = match part {
            Part::TmemStore if !self.options.one_partition => self.prices.tmem_store(value)?,
            // One partition adds the sum to what the product makes of zeros.
            Part::TmemStore if is_sum => self.prices.nothing()?,
            _ => self.prices.shared(value)?,
        };
        self.add(maker, part, PartitionRole::Math, cost);
        Ok(())
    }

    fn add(&mut self, op: OpId, part: Part, role: PartitionRole, cost: OpCost) {
        let role = if self.options.one_partition { PartitionRole::Math } else { role };
        let uses: Vec<(&str, u64, u64)> =
            cost.uses.iter().map(|u| (u.unit.as_str(), u.start, u.duration)).collect();
        let name = self.name(op, part);
        let id = self.out.graph.add_node(name, signed(cost.latency), &uses);
        if let Some(node) = self.out.graph.nodes.get_mut(id) {
            node.op = match part {
                Part::Whole => self.module.op_name(op).to_owned(),
                Part::Read => "warploom.slot".to_owned(),
                Part::TmemLoad => "warploom.tmem_load".to_owned(),
                Part::TmemStore => "warploom.tmem_store".to_owned(),
                Part::Write => "warploom.tile_store".to_owned(),
            };
            node.issue_latency = Some(cost.issue);
        }
        self.out.nodes.push(LoopNode { op, part, role, replica: 0 });
        self.at.entry((op, part)).or_insert(id);
        for &value in &self.module.ops[op].results {
            self.made.insert((value, part), id);
        }
        self.costs.push(cost);
    }

    /// A name that tells operations of one kind apart.
    fn name(&mut self, op: OpId, part: Part) -> String {
        let whole = self.module.op_name(op);
        let short = whole.rsplit('.').next().unwrap_or(whole);
        let short = match (part, self.module.ops[op].opcode) {
            (Part::Whole, Opcode::DescriptorLoad) => "load",
            (Part::Whole, Opcode::MmaWait) => "wait",
            (Part::Whole, _) => short,
            (Part::Read, _) => "read",
            (Part::TmemLoad, _) => "tmem load",
            (Part::TmemStore, _) => "tmem store",
            (Part::Write, _) => "write",
        };
        let first = short.split(' ').next().unwrap_or(short);
        let same = self.named.entry(first.to_owned()).or_default();
        *same += 1;
        match (*same - 1, short) {
            (count, "load") => format!("load {}", tile_name(count)),
            (0, short) => short.to_owned(),
            (count, short) => format!("{short} {}", count + 1),
        }
    }

    /// The units that the nodes use.
    pub fn resources(&mut self) {
        let used = |unit: &str| self.costs.iter().any(|cost| cost.uses.iter().any(|u| u.unit == unit));
        let units = self.target.unit.iter().filter(|(unit, _)| used(unit));
        let units = units.map(|(unit, data)| LoopResource {
            name: unit.clone(),
            count: data.count.into(),
            interleaved: data.interleaved,
        });
        self.out.graph.resources = units.collect();
    }

    // ---- questions ----

    /// The node of a part of an operation.
    pub fn node(&self, op: OpId, part: Part) -> Option<usize> {
        self.at.get(&(op, part)).copied()
    }

    /// Where an operation stands in the loop's body.
    pub fn position(&self, op: OpId) -> Option<usize> {
        self.order.get(&op).copied()
    }

    /// Whether an operation brings a tile to shared memory.
    pub fn is_copy(&self, op: OpId) -> bool {
        let tile = self.module.result(op).is_some_and(|v| self.module.ty(v).is_tensor());
        tile && matches!(self.module.ops[op].opcode, Opcode::DescriptorLoad | Opcode::Load)
    }

    /// Whether something else than a product's operand reads a value, views taken off.
    fn read_in_registers(&self, value: ValueId) -> bool {
        let readers = self.readers(value);
        readers.iter().any(|&(user, seen)| {
            let data = &self.module.ops[user];
            match data.opcode {
                Opcode::Dot | Opcode::DotBlockScaled => {
                    data.operands.get(2) == Some(&seen)
                        && self.module.def_op(value).is_some_and(|d| !self.module.ops[d].opcode.is_product())
                }
                Opcode::Yield => self.carried_to_registers(user, seen),
                Opcode::MmaWait => false,
                _ => true,
            }
        })
    }

    /// Whether a product that goes round the loop is read by something else than the next product.
    fn carried_to_registers(&self, yielded: OpId, value: ValueId) -> bool {
        let Some(body) = self.body.filter(|_| self.module.ops[yielded].block == self.body) else {
            return true;
        };
        let data = &self.module.ops[yielded];
        data.operands.iter().enumerate().filter(|(_, v)| **v == value).any(|(at, _)| {
            let arg = self.module.blocks[body].args.get(at + 1).copied();
            arg.is_some_and(|arg| {
                self.readers(arg).iter().any(|&(user, seen)| {
                    let reader = &self.module.ops[user];
                    let accumulates = reader.opcode.is_product() && reader.operands.get(2) == Some(&seen);
                    !accumulates && !matches!(reader.opcode, Opcode::Yield | Opcode::MmaWait)
                })
            })
        })
    }

    /// The operations inside the loop that read a value, through views: (operation, the value as it sees it).
    pub fn readers(&self, value: ValueId) -> Vec<(OpId, ValueId)> {
        self.prices.users.through_views(self.module, value)
    }

    /// The operation directly in the loop's body that an operation stands in.
    pub fn outermost(&self, op: OpId) -> Option<OpId> {
        let mut at = op;
        while self.module.ops[at].block != self.body {
            at = self.module.parent(at)?;
        }
        Some(at)
    }

    /// Values from elsewhere that an operation reads, those read inside its regions included.
    pub fn operands(&self, op: OpId) -> Vec<ValueId> {
        if self.module.ops[op].regions.is_empty() {
            return self.module.ops[op].operands.to_vec();
        }
        preorder(self.module, op).iter().flat_map(|&o| self.module.ops[o].operands.iter().copied()).collect()
    }
}

/// The function that an operation stands in.
pub(super) fn enclosing_function(module: &Module, op: OpId) -> OpId {
    let mut at = op;
    while let Some(parent) = module.parent(at).filter(|_| module.ops[at].opcode != Opcode::Func) {
        at = parent;
    }
    at
}

/// a, b, c .. for the copies of a loop.
fn tile_name(number: usize) -> String {
    match u8::try_from(number).ok().filter(|&n| n < 26) {
        Some(n) => char::from(b'a' + n).to_string(),
        None => format!("tile {number}"),
    }
}

pub(super) fn signed(cycles: u64) -> i64 {
    i64::try_from(cycles).unwrap_or(i64::MAX)
}
