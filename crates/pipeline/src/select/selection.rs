//! A kernel taken apart, as data.

use std::collections::BTreeSet;

use warploom_chips::Element;
use warploom_ir::diag::Diagnostic;
use warploom_ir::{BlockId, Module, OpId, ValueId};

use crate::engines::RegisterLayout;
use crate::nest::is_inside;
use crate::tma::TilePlan;
use crate::walk::preorder;

/// Rows of a product that takes half of the lanes of tensor memory.
pub(super) const HALF_ROWS: u64 = 64;

/// A tile copied from global to shared memory by descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TileLoad {
    /// The `tt.descriptor_load`.
    pub op: OpId,
    /// The descriptor argument.
    pub descriptor: ValueId,
    /// The loaded tile.
    pub value: ValueId,
    /// Name in reports: `a`, `b` for the operands of the only product.
    pub name: String,
    /// How it is copied.
    pub plan: TilePlan,
    /// The innermost loop around it.
    pub scf_for: Option<OpId>,
}

/// A tile stored by descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TileStore {
    /// The `tt.descriptor_store`.
    pub op: OpId,
    /// The descriptor argument.
    pub descriptor: ValueId,
    /// The stored tile, views taken off.
    pub value: ValueId,
    /// Name in reports.
    pub name: String,
    /// How it is copied.
    pub plan: TilePlan,
}

/// Where an operand of a product comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OperandSource {
    /// A loaded tile in shared memory.
    Tile {
        /// Position in [`Selection::loads`].
        load: usize,
        /// The product sees rows and columns of the tile swapped.
        transposed: bool,
        /// K is contiguous in memory.
        k_major: bool,
    },
    /// A tile that the computing partition has in registers (C45, C61); products into tensor memory read it from there.
    Registers,
}

/// A matrix product.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Dot {
    /// The `tt.dot`.
    pub op: OpId,
    /// Operand A, M by K.
    pub a: OperandSource,
    /// Operand B, K by N.
    pub b: OperandSource,
    /// The tables of scales of A and of B, where the tensor core applies them (C69): positions in [`Selection::loads`].
    pub scales: Vec<usize>,
    /// Extents M, N, K of one product, in elements.
    pub extents: [u64; 3],
    /// What the tensor core multiplies.
    pub element: Element,
}

impl Dot {
    /// Registers per thread of its accumulator, and of an operand that it reads from registers.
    pub fn registers(&self) -> u64 {
        let [_, n, k] = self.extents;
        n / 2 + if self.a == OperandSource::Registers { k / 4 } else { 0 }
    }

    /// Whether it reads the tile of a load.
    pub fn reads(&self, load: usize) -> bool {
        let tiles = [&self.a, &self.b];
        tiles.iter().any(|o| matches!(o, OperandSource::Tile { load: l, .. } if *l == load))
            || self.scales.contains(&load)
    }
}

/// A kernel that can be compiled, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Selection {
    /// The kernel's function.
    pub func: OpId,
    /// Its body.
    pub body: BlockId,
    /// The pipelined loops, in the order of the text.
    pub loops: Vec<OpId>,
    /// Tiles loaded by descriptor, in the order of the text.
    pub loads: Vec<TileLoad>,
    /// The matrix products, in the order of the text.
    pub dots: Vec<Dot>,
    /// Tiles stored by descriptor, in the order of the text.
    pub stores: Vec<TileStore>,
    /// The rings that the loads fill.
    pub rings: Vec<TileRing>,
    /// Accumulators in tensor memory, one for each product where the chip adds up there.
    pub accumulators: Vec<Accumulator>,
    /// Tiles that products read from tensor memory.
    pub operands: Vec<TmemOperand>,
    /// Bytes by which the computing warps exchange what they do together (C65).
    pub scratch: u64,
    /// The plan of each descriptor argument, in order of the arguments (C12).
    pub descriptors: Vec<(ValueId, TilePlan)>,
    /// How many of them are arguments, and stand first.
    pub arguments: usize,
    /// The loop over tiles whose trips the computing partitions take in turn; none where one partition takes all (Q50).
    pub turns: Option<OpId>,
    /// The author's cap on ring slots (C6).
    pub num_stages: Option<u64>,
    /// Things worth telling (unknown loop attributes, ..).
    pub remarks: Vec<Diagnostic>,
}

impl Selection {
    /// Whether the kernel makes descriptors itself.
    pub fn makes_maps(&self) -> bool {
        self.arguments < self.descriptors.len()
    }

    /// Whether the products have 64 rows in tensor memory: half of the lanes, read as accumulators of wgmma are (E44).
    pub fn half_rows(&self) -> bool {
        !self.accumulators.is_empty() && self.dots.iter().all(|d| d.extents[0] == HALF_ROWS)
    }

    /// Computing partitions: two where they take turns by tiles, each with whole tiles (Q50).
    pub fn computing(&self) -> usize {
        if self.turns.is_some() { 2 } else { 1 }
    }

    /// Warpgroups of a computing partition: 64 rows of M each, 128 where they read tensor memory (C21, C66); one where
    /// partitions take turns by tiles.
    pub fn warpgroups(&self) -> u32 {
        if self.turns.is_some() {
            return 1;
        }
        let rows = self.dots.iter().map(|d| d.extents[0]).max().unwrap_or(64);
        let each = if self.accumulators.is_empty() { 64 } else { 128 };
        u32::try_from(rows.div_ceil(each)).unwrap_or(u32::MAX)
    }

    /// How the tiles of the computing partition lie.
    pub(crate) fn register_layout(&self) -> RegisterLayout {
        match (self.accumulators.is_empty(), self.half_rows()) {
            (true, _) => RegisterLayout::Wgmma { columns: 1 },
            (false, true) => RegisterLayout::TensorHalves { columns: 1 },
            (false, false) => RegisterLayout::TensorRows,
        }
    }

    /// Whether the computing partition reads or writes tensor memory inside a loop.
    pub fn shares_tensor_memory(&self, scf_for: OpId) -> bool {
        self.accumulators.iter().any(|s| s.scf_for == scf_for && s.kind != AccumulatorKind::Plain)
            || self.operands.iter().any(|f| f.scf_for == scf_for)
    }

    /// The products of the same trip that an operand is made from.
    pub fn products_of(&self, module: &Module, operand: &TmemOperand) -> Vec<&Accumulator> {
        let body = module.entry(operand.scf_for, 0);
        let (mut made, mut stack) = (BTreeSet::new(), vec![operand.value]);
        while let Some(value) = stack.pop() {
            // What the loop carries belongs to the trip before.
            let op = module.def_op(value).filter(|&op| body.is_some() && module.ops[op].block == body);
            if let Some(op) = op.filter(|_| made.insert(value)) {
                stack.extend(preorder(module, op).into_iter().flat_map(|o| module.ops[o].operands.clone()));
            }
        }
        let read = |s: &&Accumulator| s.scf_for == operand.scf_for && s.kind == AccumulatorKind::Read;
        let result = |s: &Accumulator| self.dots.get(s.dot).and_then(|d| module.result(d.op));
        self.accumulators
            .iter()
            .filter(read)
            .filter(|s| result(s).is_some_and(|r| made.contains(&r)))
            .collect()
    }

    /// Registers per computing thread that accumulators and operands take together, in the loop that has most.
    pub fn tile_registers(&self, module: &Module) -> u64 {
        let of = |scf_for: OpId| {
            let dots = self.dots.iter().filter(|d| is_inside(module, d.op, scf_for));
            let blocks = |d: &Dot| if self.turns.is_some() { d.extents[0].div_ceil(64) } else { 1 };
            dots.map(|d| d.registers().saturating_mul(blocks(d))).sum::<u64>()
        };
        self.loops.iter().map(|&l| of(l)).max().unwrap_or(0)
    }

    /// The load of an operation.
    pub fn load(&self, op: OpId) -> Option<usize> {
        self.loads.iter().position(|l| l.op == op)
    }

    /// The ring that a load fills, and which payload of it.
    pub fn ring_of(&self, load: usize) -> Option<(usize, usize)> {
        self.rings.iter().enumerate().find_map(|(ring, data)| {
            data.uses
                .iter()
                .find_map(|u| u.loads.iter().position(|&l| l == load))
                .map(|payload| (ring, payload))
        })
    }
}

/// One place of the kernel that fills a slot of a ring: a trip of a loop, or straight-line code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filling {
    /// The innermost loop around the copies.
    pub scf_for: Option<OpId>,
    /// The copies of one slot, in the order of the payloads; positions in [`super::Selection::loads`].
    pub loads: Vec<usize>,
}

/// A ring of slots (C22).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileRing {
    /// Where it is filled, in the order of the text; every use has the same tiles.
    pub uses: Vec<Filling>,
    /// Whether a slot is ever written twice.
    pub looped: bool,
}

impl TileRing {
    /// The copies of the first use: name, descriptor and plan of each payload.
    pub fn payloads(&self) -> &[usize] {
        self.uses.first().map(|u| u.loads.as_slice()).unwrap_or_default()
    }

    /// The use in a loop.
    pub fn used_in(&self, scf_for: OpId) -> Option<&Filling> {
        self.uses.iter().find(|u| u.scf_for == Some(scf_for))
    }
}

/// Who touches an accumulator while its loop runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AccumulatorKind {
    /// Only its product: what the loop carries adds up, and is read behind the loop.
    Plain,
    /// The computing partition reads each product in the trip that made it; every trip starts from zero.
    Read,
    /// The computing partition scales what the loop carries before the product of the trip adds to it.
    Scaled {
        /// What the product adds to, made from what the loop carries.
        scaled: ValueId,
        /// What the loop carries, as its body sees it.
        carried: ValueId,
    },
}

/// An accumulator in tensor memory.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Accumulator {
    /// Position of its product in [`super::Selection::dots`].
    pub dot: usize,
    /// The loop it adds up in.
    pub scf_for: OpId,
    /// Which loop-carried value it is; none for one that each trip reads.
    pub at: Option<usize>,
    /// Who else touches it.
    pub kind: AccumulatorKind,
    /// Whether a loop around it starts it again.
    pub looped: bool,
    /// Slots of a plain accumulator: two where the next accumulator may start while this one is read. The schedule
    /// decides about others.
    pub slots: u64,
    /// Columns of one slot: blocks of 128 rows stand side by side.
    pub columns: u64,
    /// The accumulator whose slots it uses: its own, or those of an earlier loop.
    pub home: usize,
}

/// A tile that the computing partition writes into tensor memory, for a product to read as its A (C24).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TmemOperand {
    /// Position of its product in [`super::Selection::dots`].
    pub dot: usize,
    /// The loop of that product.
    pub scf_for: OpId,
    /// The tile.
    pub value: ValueId,
    /// Columns of one slot.
    pub columns: u64,
    /// The operand whose slots it uses: its own, or those of an earlier loop.
    pub home: usize,
}
