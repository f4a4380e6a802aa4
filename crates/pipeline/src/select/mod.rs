//! What of a kernel is pipelined and how: its loops, its copies and the rings they fill, its products, its stores.
//!
//! Selection refuses everything that cannot be compiled, all at once and in file order (C90).

mod descriptors;
mod dot;
mod epilogue;
mod find;
mod ops;
mod rings;
mod sums;

use std::collections::BTreeSet;

use warploom_ir::diag::Diagnostic;
use warploom_ir::{BlockId, Module, OpId, ValueId};
use warploom_target::mma::MmaInstruction;
use warploom_target::{Element, Target};

use crate::loops::{is_inside, pipelined_loops};
use crate::place::file_order;
use crate::tma::TilePlan;
use crate::walk::{Users, preorder};

pub use find::entry_function;
pub use rings::{Filling, Ring};
pub use sums::{Factor, Sum, SumKind};

/// A tile copied from global to shared memory by descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
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
pub enum Operand {
    /// A loaded tile in shared memory.
    Tile {
        /// Position in [`Selection::loads`].
        load: usize,
        /// The product sees rows and columns of the tile swapped.
        transposed: bool,
        /// K is contiguous in memory.
        k_major: bool,
    },
    /// A tile that the computing agent has in registers (C45, C61); products into tensor memory read it from there.
    Registers,
}

/// A matrix product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dot {
    /// The `tt.dot`.
    pub op: OpId,
    /// Operand A, M by K.
    pub a: Operand,
    /// Operand B, K by N.
    pub b: Operand,
    /// Extents M, N, K of one product, in elements.
    pub extents: [u64; 3],
    /// What the tensor core multiplies.
    pub element: Element,
}

impl Dot {
    /// Registers per thread of its accumulator, and of a factor that it reads from registers.
    pub fn registers(&self) -> u64 {
        let [_, n, k] = self.extents;
        n / 2 + if self.a == Operand::Registers { k / 4 } else { 0 }
    }

    /// The load whose tile is operand A or B.
    pub fn reads(&self, load: usize) -> bool {
        [&self.a, &self.b].iter().any(|o| matches!(o, Operand::Tile { load: l, .. } if *l == load))
    }
}

/// A kernel that can be compiled, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
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
    pub rings: Vec<Ring>,
    /// Sums in tensor memory, one for each product where the chip adds up there.
    pub sums: Vec<Sum>,
    /// Tiles that products read from tensor memory.
    pub factors: Vec<Factor>,
    /// The plan of each descriptor argument, in order of the arguments (C12).
    pub descriptors: Vec<(ValueId, TilePlan)>,
    /// The author's cap on ring slots (C6).
    pub num_stages: Option<u64>,
    /// Things worth telling (unknown loop attributes, ..).
    pub remarks: Vec<Diagnostic>,
}

impl Selection {
    /// Whether the products have 64 rows in tensor memory: half of the lanes, read as accumulators of wgmma are (E44).
    pub fn half_rows(&self) -> bool {
        !self.sums.is_empty() && self.dots.iter().all(|d| d.extents[0] == dot::HALF_ROWS)
    }

    /// Computing warpgroups: 64 rows of M each, 128 where they read tensor memory (C21, C66).
    pub fn warpgroups(&self) -> u32 {
        let rows = self.dots.iter().map(|d| d.extents[0]).max().unwrap_or(64);
        let each = if self.sums.is_empty() { 64 } else { 128 };
        u32::try_from(rows.div_ceil(each)).unwrap_or(u32::MAX)
    }

    /// Whether the computing agent reads or writes tensor memory inside a loop.
    pub fn shares_tensor_memory(&self, scf_for: OpId) -> bool {
        self.sums.iter().any(|s| s.scf_for == scf_for && s.kind != SumKind::Plain)
            || self.factors.iter().any(|f| f.scf_for == scf_for)
    }

    /// The products of the same trip that a factor is made from.
    pub fn products_of(&self, module: &Module, factor: &Factor) -> Vec<&Sum> {
        let body = module.entry(factor.scf_for, 0);
        let (mut made, mut stack) = (BTreeSet::new(), vec![factor.value]);
        while let Some(value) = stack.pop() {
            // What the loop carries belongs to the trip before.
            let op = module.def_op(value).filter(|&op| body.is_some() && module.ops[op].block == body);
            if let Some(op) = op.filter(|_| made.insert(value)) {
                stack.extend(preorder(module, op).into_iter().flat_map(|o| module.ops[o].operands.clone()));
            }
        }
        let read = |s: &&Sum| s.scf_for == factor.scf_for && s.kind == SumKind::Read;
        let result = |s: &Sum| self.dots.get(s.dot).and_then(|d| module.result(d.op));
        self.sums.iter().filter(read).filter(|s| result(s).is_some_and(|r| made.contains(&r))).collect()
    }

    /// Registers per computing thread that accumulators and factors take together, in the loop that has most.
    pub fn tile_registers(&self, module: &Module) -> u64 {
        let of = |scf_for: OpId| {
            let dots = self.dots.iter().filter(|d| is_inside(module, d.op, scf_for));
            dots.map(Dot::registers).sum::<u64>()
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

/// Takes a kernel in normal form apart.
///
/// # Errors
/// Every reason why it cannot be compiled for `target`, in file order (C90-C92).
pub fn select(module: &Module, func: OpId, target: &Target) -> Result<Selection, Vec<Diagnostic>> {
    let users = Users::new(module);
    let mut errors = Vec::new();
    let descriptors = descriptors::plan(module, func, target, &mut errors);
    ops::check(module, func, target, &mut errors);
    let loops = pipelined_loops(module, func);
    find::check_loops(module, func, &loops, &mut errors);
    let selection = module.entry(func, 0).and_then(|body| {
        for &scf_for in &loops {
            ops::check_loop(module, scf_for, target, &mut errors);
        }
        let mut loads = descriptors::loads(module, func, &descriptors, &mut errors);
        let dots = dot::select(module, func, &loops, &mut loads, target, &mut errors);
        let known = dots.as_deref().unwrap_or_default();
        let stores = epilogue::select(module, func, &loops, known, &loads, &descriptors, &mut errors);
        let dots = dots?;
        let tensor = target.mma_instruction() == MmaInstruction::Tcgen05;
        rings::check(module, &loops, &loads, &mut errors);
        let rings = rings::group(module, &loops, &loads, &users);
        let (sums, factors) = match tensor {
            true => sums::select(module, &loops, &dots, &rings, target, &mut errors),
            false => Default::default(),
        };
        if !tensor {
            dot::check_registers(module, &dots, target, &mut errors);
        }
        let (num_stages, remarks) = find::loop_attributes(module, &loops);
        Some(Selection {
            func,
            body,
            loops,
            loads,
            dots,
            stores,
            rings,
            sums,
            factors,
            descriptors,
            num_stages,
            remarks,
        })
    });
    if let Some(selection) = selection.filter(|_| errors.is_empty()) {
        return Ok(selection);
    }
    file_order(&mut errors);
    errors.dedup();
    Err(errors)
}
