//! What each operation of a kernel costs on a chip (T31-T33): one [`Cost`] per operation that occupies a unit.

use warploom_chips::cost::{Access, Combine, CostError, MmaOp, Op, OpCost};
use warploom_chips::mma::{MmaInstruction, OperandPlace};
use warploom_chips::{Element, Target};
use warploom_ir::{Attr, BlockId, CostClass, FloatKind, Module, OpId, Opcode, Type, ValueId};

use super::access::{Accesses, Reached};
use super::index::Indices;
use crate::classes::is_scalar_type;
use crate::tma::TilePlan;
use crate::walk::Users;

/// Warps that compute: four reach every unit's full rate, and no rate grows beyond (T32).
pub(super) const COMPUTING: u32 = 4;

/// Prices operations.
pub(super) struct Prices<'a> {
    pub module: &'a Module,
    pub target: &'a Target,
    pub instruction: MmaInstruction,
    pub one_partition: bool,
    pub indices: Indices<'a>,
    pub users: Users,
    pub accesses: Accesses<'a>,
    /// Warps along M and along N that share a product by mma.sync.
    pub split: [u32; 2],
    /// What of the rows a replica has.
    pub share: RowShare,
}

/// The part of a loop's rows that one of several replicas has (Q40).
#[derive(Clone, Copy, Debug)]
pub(super) struct RowShare {
    /// Rows of the loop's products.
    pub rows: u64,
    pub replicas: u64,
}

impl RowShare {
    /// The share of one of `replicas` in the rows of a loop's products.
    pub fn of(module: &Module, scf_for: OpId, replicas: u64) -> RowShare {
        let products = product_rows(module, scf_for);
        RowShare { rows: products.first().copied().unwrap_or(0), replicas: replicas.max(1) }
    }

    /// What is left of a number that counts for all rows of a tile.
    fn part(self, ty: &Type, whole: u64) -> u64 {
        let rows = ty.is_tensor() && ty.shape().first() == Some(&self.rows);
        if rows { whole.div_ceil(self.replicas) } else { whole }
    }
}

/// The rows of the products directly in a loop, each number once.
pub(super) fn product_rows(module: &Module, scf_for: OpId) -> Vec<u64> {
    let ops = module.entry(scf_for, 0).map(|b| module.blocks[b].ops.as_slice()).unwrap_or_default();
    let dots = ops.iter().filter(|&&op| module.ops[op].opcode.is_product());
    let mut rows: Vec<u64> =
        dots.filter_map(|&op| module.ty(module.result(op)?).shape().first().copied()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

impl Prices<'_> {
    /// What an operation costs; `None` if it occupies no unit: scalars, views, index functions, structure.
    pub fn of(&self, op: OpId) -> Result<Option<OpCost>, CostError> {
        match self.module.ops[op].opcode.facts().cost {
            CostClass::TileLoad => self.copy(op).map(Some),
            CostClass::TileStore => self.store_by_descriptor(op).map(Some),
            CostClass::Product => self.product(op, OperandPlace::Shared).map(Some),
            CostClass::Regions => self.united(op),
            CostClass::Arrive => self.target.cost(&Op::BarrierArrive, COMPUTING).map(Some),
            class => self.one_after_another(&self.simple(op, class)),
        }
    }

    /// Entries of the cost model that make up one operation.
    fn one_after_another(&self, ops: &[Op]) -> Result<Option<OpCost>, CostError> {
        let mut sum: Option<OpCost> = None;
        for op in ops {
            sum = Some(after(sum, self.target.cost(op, COMPUTING)?));
        }
        Ok(sum)
    }

    /// A tile read from shared memory into registers, or written the other way.
    pub fn shared(&self, value: ValueId) -> Result<OpCost, CostError> {
        self.target.cost(&Op::Shared { bytes: self.bytes(value) }, COMPUTING)
    }

    /// A tile read from tensor memory into registers.
    pub fn tmem_load(&self, value: ValueId) -> Result<OpCost, CostError> {
        self.target.cost(&Op::TmemLoad { elements: self.bytes(value).div_ceil(4) }, COMPUTING)
    }

    /// A tile written from registers into tensor memory.
    pub fn tmem_store(&self, value: ValueId) -> Result<OpCost, CostError> {
        self.target.cost(&Op::TmemStore { elements: self.bytes(value).div_ceil(4) }, COMPUTING)
    }

    /// What is part of another operation.
    pub fn nothing(&self) -> Result<OpCost, CostError> {
        self.target.cost(&Op::Control, COMPUTING)
    }

    /// A per-thread asynchronous copy of the tile of a pointer load.
    pub fn cp_async(&self, op: OpId, value: ValueId) -> Result<OpCost, CostError> {
        let bytes = self.bytes(value);
        self.target.cost(&Op::CpAsync { bytes, lanes: self.access(op, bytes, true) }, COMPUTING)
    }

    /// How lanes reach what an operation reads or writes through pointers.
    fn access(&self, op: OpId, bytes: u64, partial: bool) -> Access {
        let data = &self.module.ops[op];
        let mask = if data.opcode == Opcode::Load { 1 } else { 2 };
        let reached = Reached {
            pointers: data.operands.first().copied(),
            mask: data.operands.get(mask).copied(),
            bytes,
            partial,
        };
        let lanes = u64::from(COMPUTING) * u64::from(self.target.threads.per_warp);
        self.accesses.of(op, reached, &self.indices, &self.users, lanes)
    }

    /// A product whose A operand lies in `a`.
    pub fn product(&self, op: OpId, a: OperandPlace) -> Result<OpCost, CostError> {
        let operands = &self.module.ops[op].operands;
        let shape =
            |index: usize| operands.get(index).map(|&v| self.module.ty(v).shape()).unwrap_or_default();
        let extent = |shape: &[u64], from_end: usize| {
            let at = shape.len().checked_sub(from_end).and_then(|at| shape.get(at));
            u32::try_from(at.copied().unwrap_or(1)).unwrap_or(u32::MAX)
        };
        let (a_shape, b_shape) = (shape(0), shape(1));
        let element = match self.module.ops[op].opcode {
            // By bytes: two elements of four bits take as long as one of eight.
            Opcode::DotBlockScaled => Element::E4m3,
            _ => operands.first().map_or(Element::Bf16, |&v| element(self.module.ty(v).elem())),
        };
        let (instruction, split) = (self.instruction, self.split);
        let (m, k, n) = (extent(a_shape, 2), extent(a_shape, 1), extent(b_shape, 1));
        let rows = operands.first().map_or(m.into(), |&a| self.share.part(self.module.ty(a), m.into()));
        let m = u32::try_from(rows).unwrap_or(m);
        self.target.cost(&Op::Mma(MmaOp { instruction, m, n, k, element, a, split }), COMPUTING)
    }

    fn copy(&self, op: OpId) -> Result<OpCost, CostError> {
        let data = &self.module.ops[op];
        let ty = data.operands.first().map(|&d| self.module.ty(d));
        let bytes = ty.and_then(Type::bytes).unwrap_or(1);
        let width = u64::from(ty.and_then(Type::elem_bits).unwrap_or(8)) / 8;
        let inner = ty.and_then(|t| t.shape().last().copied()).unwrap_or(1);
        self.target.cost(&Op::TmaLoad { bytes, inner_bytes: inner.saturating_mul(width) }, 1)
    }

    /// Registers to the staging buffer, then the copy out of it: durations and latencies add (T32).
    fn store_by_descriptor(&self, op: OpId) -> Result<OpCost, CostError> {
        let data = &self.module.ops[op];
        let bytes = data.operands.first().and_then(|&d| self.module.ty(d).bytes()).unwrap_or(1);
        let write = self.target.cost(&Op::Shared { bytes }, COMPUTING)?;
        let copy = self.target.cost(&Op::TmaStore { bytes }, 1)?;
        let held = write.latency;
        Ok(then(write, copy, held))
    }

    /// An `scf.if` is one node: the union of its parts, each unit held as long as the longer branch holds it (C9). A
    /// loop inside counts one trip.
    fn united(&self, op: OpId) -> Result<Option<OpCost>, CostError> {
        let mut whole: Option<OpCost> = None;
        let regions = self.module.ops[op].regions.iter();
        for block in regions.flat_map(|&r| self.module.regions[r].blocks.iter().copied()) {
            let Some(branch) = self.sequence(block)? else { continue };
            whole = Some(match whole {
                None => branch,
                Some(other) => longer(other, branch),
            });
        }
        Ok(whole)
    }

    /// The operations of a block one after the other.
    fn sequence(&self, block: BlockId) -> Result<Option<OpCost>, CostError> {
        let mut sum: Option<OpCost> = None;
        for &op in &self.module.blocks[block].ops {
            if let Some(cost) = self.of(op)? {
                sum = Some(after(sum, cost));
            }
        }
        Ok(sum)
    }

    /// What computes on each element, as entries of the cost model; none for what occupies no unit.
    fn simple(&self, op: OpId, class: CostClass) -> Vec<Op> {
        let data = &self.module.ops[op];
        let Some(tile) = data.results.first().or(data.operands.last()).copied() else { return vec![] };
        let elements = self.elements(tile);
        let stored = data.operands.get(1).map_or(1, |&value| self.bytes(value));
        match class {
            CostClass::Free => vec![],
            CostClass::PointerLoad => {
                let bytes = self.bytes(tile);
                vec![Op::GlobalLoad { bytes, lanes: self.access(op, bytes, false) }]
            }
            CostClass::PointerStore => {
                vec![Op::GlobalStore { bytes: stored, lanes: self.access(op, stored, false) }]
            }
            CostClass::Atomic => {
                vec![Op::GlobalAtomic { bytes: stored, lanes: self.access(op, stored, false) }]
            }
            CostClass::Reduction => self.reduction(op).into_iter().collect(),
            CostClass::Exchange => vec![Op::Layout { bytes: self.bytes(tile) }],
            _ if is_scalar_type(self.module.ty(tile)) => vec![],
            _ if self.indices.is_address(op) => self.row(op, tile, class).into_iter().collect(),
            CostClass::Multiply if self.is_fused(op) => vec![],
            CostClass::Multiply => vec![Op::Mul { elements: self.packed(tile) }],
            // Scaled up or down twice, as the divisor is, so that its reciprocal is a normal number.
            CostClass::Special if self.divides_rows(op) => vec![Op::Mul { elements: 3 * elements }],
            CostClass::Special if is_scaled(data.opcode) => {
                vec![Op::Mul { elements }, Op::Exp2 { elements }]
            }
            CostClass::Special => vec![Op::Exp2 { elements }],
            CostClass::Logarithm => vec![Op::Log2 { elements }],
            CostClass::Convert => vec![self.conversion(op, tile)],
            CostClass::Light => vec![Op::Elementwise { elements: self.packed(tile) }],
            CostClass::Logic if self.is_part_of_another(op, tile) => vec![],
            // Three operands to an instruction: every other one of several is part of the one before.
            CostClass::Logic if self.has_bitwise_neighbour(op) => {
                vec![Op::Logic { elements: elements.div_ceil(2) }]
            }
            CostClass::Logic if data.opcode == Opcode::ShLI => vec![Op::Shift { elements }],
            CostClass::Logic => vec![Op::Logic { elements }],
            CostClass::MinMax => vec![Op::MinMax { elements }],
            _ => vec![Op::Unknown],
        }
    }

    /// Whether a multiplication is one instruction with each addition that reads it.
    fn is_fused(&self, op: OpId) -> bool {
        let Some(product) = self.module.result(op) else { return false };
        let mut users = self.users.of(product).iter().map(|&user| self.module.ops[user].opcode).peekable();
        let float = matches!(self.module.ty(product).elem(), Type::Float(_));
        float && users.peek().is_some() && users.all(|by| matches!(by, Opcode::AddF | Opcode::SubF))
    }

    /// Whether each row is divided by one number, whose reciprocal is taken once.
    fn divides_rows(&self, op: OpId) -> bool {
        let data = &self.module.ops[op];
        let by =
            data.operands.get(1).and_then(|&by| self.module.def_op(by)).map(|by| self.module.ops[by].opcode);
        data.opcode == Opcode::DivF && matches!(by, Some(Opcode::Broadcast | Opcode::Splat))
    }

    /// Lanes' instructions of a tile's arithmetic: floats of 16 bits go two at a time.
    fn packed(&self, tile: ValueId) -> u64 {
        let half = matches!(self.module.ty(tile).elem(), Type::Float(FloatKind::F16 | FloatKind::BF16));
        if half { self.elements(tile).div_ceil(2) } else { self.elements(tile) }
    }

    fn conversion(&self, op: OpId, to: ValueId) -> Op {
        let elements = self.elements(to);
        let bits = |value: ValueId| match self.module.ty(value).elem() {
            Type::Float(_) => self.module.ty(value).elem_bits(),
            _ => None,
        };
        let from = self.module.ops[op].operands.first().copied();
        match (from.and_then(bits), bits(to)) {
            (Some(32), Some(16)) => Op::Narrow { elements },
            (Some(16), Some(32))
                if from.is_some_and(|v| matches!(self.module.ty(v).elem(), Type::Float(FloatKind::F16))) =>
            {
                Op::WidenHalf { elements }
            }
            (Some(16), Some(32)) => Op::Widen { elements },
            (Some(8), Some(_)) => Op::Widen8 { elements },
            (Some(_), Some(8)) => Op::Narrow8 { elements },
            _ => Op::Convert { elements },
        }
    }

    fn reduction(&self, op: OpId) -> Option<Op> {
        let data = &self.module.ops[op];
        let input = *data.operands.first()?;
        let ty = self.module.ty(input);
        let axis = self.module.attr(op, "axis").and_then(Attr::as_i64).unwrap_or(0);
        let last_axis = i64::try_from(ty.shape().len()).is_ok_and(|rank| axis + 1 == rank);
        let body = self.module.entry(op, 0)?;
        let of = |op: &OpId| self.module.ops[*op].opcode;
        let most = |op: &OpId| {
            use Opcode::*;
            matches!(
                of(op),
                MaxNumF | MinNumF | MaximumF | MinimumF | MaxSI | MinSI | MaxUI | MinUI | CmpF | CmpI
            )
        };
        let combine = if self.module.blocks[body].ops.iter().any(most) { Combine::Max } else { Combine::Sum };
        let rows = data.results.first().map_or(1, |&rows| self.elements(rows));
        let (elements, sharing) = (self.elements(input), self.sharing(rows));
        Some(Op::Reduce { elements, rows, sharing, combine, last_axis })
    }

    /// Elements of a tile, 1 for a scalar.
    pub fn elements(&self, value: ValueId) -> u64 {
        let ty = self.module.ty(value);
        self.share.part(ty, ty.elements().unwrap_or(1))
    }

    /// Bytes of a tile or scalar.
    pub fn bytes(&self, value: ValueId) -> u64 {
        let ty = self.module.ty(value);
        let bytes = ty.bytes().unwrap_or_else(|| u64::from(ty.elem_bits().unwrap_or(64)).div_ceil(8));
        self.share.part(ty, bytes).max(1)
    }

    /// Bytes of a slot that a tile copied by descriptor takes, its alignment included.
    pub fn slot_bytes(&self, op: OpId) -> u64 {
        let descriptor = self.module.ops[op].operands.first().copied();
        let plan = descriptor.and_then(|d| TilePlan::new(self.module.ty(d), self.target).ok());
        match (plan, self.module.result(op)) {
            (Some(plan), _) => plan.bytes.next_multiple_of(plan.align()),
            (None, Some(value)) => self.bytes(value),
            (None, None) => 1,
        }
    }
}

/// What is done after what is already there, if there is any.
fn after(before: Option<OpCost>, cost: OpCost) -> OpCost {
    match before {
        None => cost,
        Some(before) => {
            let held = before.latency;
            then(before, cost, held)
        }
    }
}

/// Functions that are a special-function instruction of a multiple of their operand.
fn is_scaled(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Exp | Opcode::DivF | Opcode::ApproxDivF | Opcode::PreciseDivF)
}

/// The second after the first, whose result is there after `held` clocks.
fn then(mut first: OpCost, second: OpCost, held: u64) -> OpCost {
    first.uses.extend(second.uses.into_iter().map(|mut held_unit| {
        held_unit.start = held_unit.start.saturating_add(held);
        held_unit
    }));
    first.latency = first.latency.saturating_add(second.latency);
    first.issue = first.issue.saturating_add(second.issue);
    first.origin = first.origin.min(second.origin);
    first
}

/// Either of two branches: each unit as long as the one that holds it longer, from the start on.
fn longer(a: OpCost, b: OpCost) -> OpCost {
    let mut units: Vec<String> = a.uses.iter().chain(&b.uses).map(|u| u.unit.clone()).collect();
    units.sort();
    units.dedup();
    let held = |unit: &str| a.duration_on(unit).max(b.duration_on(unit));
    let uses = units
        .iter()
        .map(|unit| warploom_chips::cost::Use { unit: unit.clone(), duration: held(unit), start: 0 })
        .collect();
    OpCost {
        latency: a.latency.max(b.latency),
        uses,
        issue: a.issue.max(b.issue),
        origin: a.origin.min(b.origin),
    }
}

/// The type that a tensor core would multiply; what it cannot is priced as the next wider one.
fn element(ty: &Type) -> Element {
    match ty {
        Type::Float(FloatKind::F16) => Element::F16,
        Type::Float(FloatKind::F32 | FloatKind::F64) => Element::Tf32,
        Type::Float(FloatKind::F8E4M3FN) => Element::E4m3,
        Type::Float(FloatKind::F8E5M2) => Element::E5m2,
        Type::Int(..) => Element::S8,
        _ => Element::Bf16,
    }
}
