//! What of a kernel is pipelined and how: the loop, its copies, its matrix product, its epilogue.
//!
//! Selection refuses everything that cannot be compiled, all at once and in file order (C90).

mod descriptors;
mod dot;
mod epilogue;
mod find;
mod ops;

use warploom_ir::diag::Diagnostic;
use warploom_ir::{BlockId, Module, OpId, ValueId};
use warploom_target::{Element, Target};

use crate::place::file_order;
use crate::tma::TilePlan;
use crate::walk::Users;

pub use find::entry_function;

/// A tile copied from global to shared memory by descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileLoad {
    /// The `tt.descriptor_load`.
    pub op: OpId,
    /// The descriptor argument.
    pub descriptor: ValueId,
    /// The loaded tile.
    pub value: ValueId,
    /// Name in reports: `a`, `b` for the operands of the product.
    pub name: String,
    /// How it is copied.
    pub plan: TilePlan,
}

/// A tile stored by descriptor after the loop.
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

/// An operand of the product: a loaded tile, possibly seen transposed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Position in [`Selection::loads`].
    pub load: usize,
    /// The product sees rows and columns of the tile swapped.
    pub transposed: bool,
    /// K is contiguous in memory.
    pub k_major: bool,
}

/// The matrix product of the loop.
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
    /// Which loop-carried value is the accumulator.
    pub accumulator: usize,
}

/// A kernel that can be compiled, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The kernel's function.
    pub func: OpId,
    /// Its body.
    pub body: BlockId,
    /// The pipelined loop.
    pub scf_for: OpId,
    /// The loop's body.
    pub loop_body: BlockId,
    /// Tiles loaded in the loop, in order.
    pub loads: Vec<TileLoad>,
    /// The matrix product.
    pub dot: Dot,
    /// Tiles loaded once, for the epilogue, in order.
    pub tiles: Vec<TileLoad>,
    /// Tiles stored after the loop, in order.
    pub stores: Vec<TileStore>,
    /// The plan of each descriptor argument, in order of the arguments (C12).
    pub descriptors: Vec<(ValueId, TilePlan)>,
    /// The author's cap on ring slots (C6).
    pub num_stages: Option<u64>,
    /// Things worth telling (unknown loop attributes, ..).
    pub remarks: Vec<Diagnostic>,
}

impl Selection {
    /// Computing warpgroups: 64 rows of M each (C21).
    pub fn warpgroups(&self) -> u32 {
        u32::try_from(self.dot.extents[0] / 64).unwrap_or(u32::MAX)
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
    let found = find::pipelined_loop(module, func, &mut errors);
    let selection = found.and_then(|scf_for| {
        ops::check_loop(module, scf_for, target, &mut errors);
        take_apart(module, func, scf_for, target, &users, descriptors, &mut errors)
    });
    if let Some(selection) = selection.filter(|_| errors.is_empty()) {
        return Ok(selection);
    }
    file_order(&mut errors);
    errors.dedup();
    Err(errors)
}

fn take_apart(
    module: &Module,
    func: OpId,
    scf_for: OpId,
    target: &Target,
    users: &Users,
    descriptors: Vec<(ValueId, TilePlan)>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Selection> {
    let (body, loop_body) = (module.entry(func, 0)?, module.entry(scf_for, 0)?);
    let mut loads = descriptors::loads(module, loop_body, &descriptors, errors);
    let dot = dot::select(module, scf_for, &mut loads, target, users, errors);
    let (tiles, stores) = epilogue::select(module, func, scf_for, dot.as_ref(), &descriptors, errors);
    let (num_stages, remarks) = find::loop_attributes(module, scf_for);
    let dot = dot?;
    Some(Selection {
        func,
        body,
        scf_for,
        loop_body,
        loads,
        dot,
        tiles,
        stores,
        descriptors,
        num_stages,
        remarks,
    })
}
