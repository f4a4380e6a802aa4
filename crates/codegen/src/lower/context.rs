//! State of the walk over one program, and what every operation asks of it.

use hashbrown::HashMap;
use inkwell::basic_block::BasicBlock;
use inkwell::types::BasicTypeEnum;
use inkwell::values::IntValue;
use warploom_chips::{PtxVersion, Target};
use warploom_ir::axis::AxisFacts;
use warploom_ir::diag::Code;
use warploom_ir::vectors::Vectors;
use warploom_ir::{Module, OpId, SecondaryMap, Type, ValueId};

use super::distributed::Layouts;
use super::entry::scalar_type;
use super::hazards::Hazards;
use super::value::{Bound, Coords, Form, Key, Memory, View};
use crate::error::{Refusal, Result, internal, refuse};
use crate::family::Family;
use crate::llvm::{Ir, Val, as_int};
use crate::program::{Program, Scratch};

/// Deepest nesting of regions.
pub(super) const MAX_NESTING: u32 = 64;

/// A tile whose elements are computed in front of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unchanging {
    /// Registers that an element takes.
    pub words: u64,
    /// Whether what the loop makes of it stays in the loop: there is more of that than registers.
    pub stays: bool,
}

/// The place in front of a loop.
pub(crate) struct Front<'c> {
    /// Where its code goes on.
    pub(super) end: BasicBlock<'c>,
    /// Tiles that are computed here.
    pub(super) tiles: HashMap<ValueId, Unchanging>,
    /// Registers that are left for them.
    pub(super) left: u64,
    /// What the loop has asked for.
    pub(super) given: HashMap<Key, Val<'c>>,
    /// What is known here, as of [`Lower`].
    pub(super) memo: HashMap<Key, Val<'c>>,
    pub(super) pairs: HashMap<Key, Val<'c>>,
    pub(super) moved: HashMap<Key, Coords>,
    pub(super) thread: IntValue<'c>,
    pub(super) place: Place<'c>,
}

/// The partition whose region is being lowered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'c> {
    /// First warp of the partition.
    pub(super) warp: u64,
    /// Its warps.
    pub(super) warps: u64,
    /// How its tiles lie in registers.
    pub(super) family: Family,
    /// Shared memory for exchanges between its warps.
    pub(super) scratch: Option<Scratch>,
    /// Whether one lane alone does what the code says.
    pub(super) elected: bool,
    /// Which one, where its warp runs the code together.
    pub(super) predicate: Option<IntValue<'c>>,
    /// The innermost loop: induction variable, first value, step.
    pub(super) trip: Option<(IntValue<'c>, IntValue<'c>, IntValue<'c>)>,
}

/// State of the walk over one program.
pub(crate) struct Lower<'c, 'a> {
    /// The program as data.
    pub(super) module: &'a Module,
    /// Its declarations.
    pub(super) program: &'a Program<'a>,
    /// The LLVM module being made.
    pub ir: Ir<'c, 'a>,
    /// What values are.
    pub(super) bound: HashMap<ValueId, Bound<'c>>,
    /// Views of slots, also of those whose elements are in registers by now: products of the asynchronous proxy read slots
    /// until their ring's release, which the program's checkers see to.
    pub(super) slots: HashMap<ValueId, View<'c>>,
    /// Elements of tiles that were computed, valid in the scope they were computed in.
    pub(super) memo: HashMap<Key, Val<'c>>,
    /// Keys of `memo` in the order they came, to forget them at the end of a scope.
    pub(super) memo_log: Vec<Key>,
    /// Packed pairs of 16-bit elements that were read from shared memory, by their even column.
    pub(super) pairs: HashMap<Key, Val<'c>>,
    /// Keys of `pairs` in order.
    pub(super) pairs_log: Vec<Key>,
    /// Coordinates that code computes.
    pub(super) places: Vec<IntValue<'c>>,
    /// Layouts that no family gives.
    pub(super) layouts: Layouts,
    /// The forms of tiles that are computed where they are used, where elements of other tiles stay with their lanes.
    pub(super) natural: HashMap<ValueId, Form>,
    /// Where elements stand in the tiles they are taken from, where that is computed.
    pub(super) moved: HashMap<Key, Coords>,
    /// Keys of `moved` in order.
    pub(super) moved_log: Vec<Key>,
    /// Products that were waited for, as they were before, in the order of the waits.
    pub(super) landed_log: Vec<(ValueId, Bound<'c>)>,
    /// Tiles that read memory when evaluated, and have not been evaluated for good.
    pub(super) open: Vec<(ValueId, Memory)>,
    /// What operations may change.
    pub(super) hazards: Hazards,
    /// The dimension every vector runs along.
    pub(super) axes: Vectors,
    /// How far neighbouring elements go together.
    pub(super) runs: AxisFacts,
    /// Products issued so far, in the order of the text.
    pub(super) products: u64,
    /// The value that was made last between products of this block, and how many were issued before it.
    pub(super) latest: Option<(u64, Val<'c>)>,
    /// When a poll gives up, in nanoseconds of the chip's clock, while one is written.
    pub(super) deadline: Option<IntValue<'c>>,
    /// Position of every operation, in the order of the text.
    pub(super) position: SecondaryMap<OpId, u32>,
    /// Position of the last user of every value.
    pub(super) last_use: SecondaryMap<ValueId, u32>,
    /// Warp number, uniform.
    pub(super) warp: IntValue<'c>,
    /// Thread number.
    pub(super) thread: IntValue<'c>,
    /// Where the allocation of tensor memory starts: its address, once it is known.
    pub(super) tensor: Option<IntValue<'c>>,
    /// Where the code runs.
    pub(super) place: Place<'c>,
    /// What the innermost loop has in front of it.
    pub(super) front: Option<Box<Front<'c>>>,
    /// What could not be lowered, in the order of the text.
    pub(super) refusals: Vec<Refusal>,
}

/// What is to be lowered, and for what.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The program as data.
    pub module: &'a Module,
    /// Its declarations.
    pub program: &'a Program<'a>,
    /// The chip.
    pub target: &'a Target,
    /// The version of PTX.
    pub ptx: PtxVersion,
    /// Whether multiplications and additions may be fused.
    pub fuse: bool,
    /// Whether functions of f32 take numbers too small to be normal for zero.
    pub flush: bool,
    /// Whether the PTX says which line of the source each instruction comes from.
    pub lines: bool,
    /// NVIDIA's libdevice, where the user has it.
    pub libdevice: Option<&'a [u8]>,
}

impl<'c> Lower<'c, '_> {
    /// LLVM type of a scalar or of the elements of a tile.
    pub(super) fn element_type(&self, ty: &Type) -> Result<BasicTypeEnum<'c>> {
        scalar_type(self.ir.ctx, ty.elem())
    }

    /// A scalar that was computed.
    pub(super) fn scalar(&self, value: ValueId) -> Result<Val<'c>> {
        match self.bound.get(&value) {
            Some(Bound::Scalar(value)) => Ok(*value),
            Some(_) => Err(internal(format!("{} where a scalar is needed", self.module.ty(value)))),
            None => Err(internal("a value is used before it is computed")),
        }
    }

    /// An integer scalar that was computed.
    pub(super) fn int(&self, value: ValueId) -> Result<IntValue<'c>> {
        as_int(self.scalar(value)?)
    }

    /// Operand number `index`.
    pub(super) fn operand(&self, op: OpId, index: usize) -> Result<ValueId> {
        let operand = self.module.ops[op].operands.get(index).copied();
        operand.ok_or_else(|| {
            refuse(Code::Verify, format!("{} lacks an operand", self.module.op_name(op))).into()
        })
    }

    /// The only result.
    pub(super) fn only_result(&self, op: OpId) -> Result<ValueId> {
        self.module
            .result(op)
            .ok_or_else(|| refuse(Code::Verify, format!("{} has one result", self.module.op_name(op))).into())
    }

    /// A non-negative integer attribute.
    pub(super) fn count(&self, op: OpId, name: &str) -> Result<u64> {
        let value = self.module.attr(op, name).and_then(warploom_ir::Attr::as_i64);
        value.and_then(|v| u64::try_from(v).ok()).ok_or_else(|| {
            let text = format!("{} needs attribute {name}", self.module.op_name(op));
            refuse(Code::Verify, text).rule("C35").into()
        })
    }

    /// Opens a scope: what is computed in it is forgotten when it closes.
    pub(super) fn enter(&self) -> [usize; 5] {
        let landed = self.landed_log.len();
        [self.memo_log.len(), self.pairs_log.len(), self.moved_log.len(), self.open.len(), landed]
    }

    /// From here on only lanes for which the condition holds go on, or all where there is none; what
    /// [`Lower::rejoin`] needs to bring them together again.
    pub(super) fn only_where(&mut self, condition: Option<Val<'c>>) -> Result<Option<BasicBlock<'c>>> {
        let Some(condition) = condition else { return Ok(None) };
        let (body, done) = (self.ir.block(), self.ir.block());
        self.ir.br_if(as_int(condition)?, body, done)?;
        self.ir.seek(body);
        Ok(Some(done))
    }

    /// All lanes go on together.
    pub(super) fn rejoin(&mut self, done: Option<BasicBlock<'c>>) -> Result<()> {
        if let Some(done) = done {
            self.ir.br(done)?;
            self.ir.seek(done);
        }
        Ok(())
    }

    /// Closes a scope.
    pub(super) fn leave(&mut self, [memo, pairs, moved, open, landed]: [usize; 5]) {
        for key in self.memo_log.drain(memo..) {
            self.memo.remove(&key);
        }
        for key in self.pairs_log.drain(pairs..) {
            self.pairs.remove(&key);
        }
        for key in self.moved_log.drain(moved..) {
            self.moved.remove(&key);
        }
        self.open.truncate(open);
        // Another branch has not waited for them.
        for (value, bound) in self.landed_log.drain(landed..).rev() {
            self.bound.insert(value, bound);
        }
    }
}
