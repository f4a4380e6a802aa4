//! The walk over the operations of a program: what each becomes, and what happens where one cannot be lowered.

use warploom_ir::diag::Code;
use warploom_ir::{OpId, Opcode, ValueId};

use super::Lower;
use super::context::MAX_NESTING;
use super::turns::Turn;
use super::value::{Bound, Lazy, Memory};
use crate::error::{Refusal, Result, called_from, locate, refuse};
use crate::family::Family;

impl<'c> Lower<'c, '_> {
    /// The operations of a block, terminator excluded.
    pub(super) fn block(&mut self, block: warploom_ir::BlockId, depth: u32) -> Result<()> {
        if depth > MAX_NESTING {
            return Err(refuse(Code::Shape, format!("regions nested deeper than {MAX_NESTING}")).into());
        }
        let module = self.module;
        self.latest = None;
        let thread = self.thread;
        module.blocks[block].ops.iter().for_each(|&op| self.attempt(op, depth));
        self.thread = thread;
        self.latest = None;
        Ok(())
    }

    /// Lowers an operation, or notes why not; what uses its results is passed over in silence.
    pub(super) fn attempt(&mut self, op: OpId, depth: u32) {
        let operation = &self.module.ops[op];
        let poisoned = |v: &ValueId| matches!(self.bound.get(v), Some(Bound::Poison));
        let result = match operation.operands.iter().any(poisoned) {
            true => None,
            false => {
                self.ir.come_from(called_from(self.module, op));
                Some(self.operation(op, depth))
            }
        };
        if !matches!(result, Some(Ok(()))) {
            self.bound.extend(operation.results.iter().map(|&v| (v, Bound::Poison)));
        }
        if let Some(Err(refusal)) = result {
            self.note(op, refusal);
        }
    }

    /// Keeps a refusal, unless its operation was refused already.
    pub(super) fn note(&mut self, op: OpId, refusal: Refusal) {
        let refusal = locate(self.module, op, refusal);
        if self.refusals.iter().all(|known| known.op != refusal.op) {
            self.refusals.push(refusal);
        }
    }

    fn operation(&mut self, op: OpId, depth: u32) -> Result<()> {
        self.read_first(op)?;
        match self.module.ops[op].opcode {
            Opcode::For => self.for_loop(op, depth),
            Opcode::If => self.if_else(op, depth),
            Opcode::While => self.while_loop(op, depth),
            Opcode::Elect => self.elect(op, depth),
            Opcode::Yield | Opcode::Condition | Opcode::Return | Opcode::Assume => Ok(()),
            Opcode::ProducerAcquire => self.producer_acquire(op),
            Opcode::ProducerCommit => self.producer_commit(op),
            Opcode::ConsumerWait => self.consumer_wait(op),
            Opcode::ConsumerRelease => self.consumer_release(op),
            Opcode::Advance => self.advance(op),
            Opcode::ProxyFence => self.ir.effect("nvvm.fence.proxy.async.shared_cta", &[]),
            Opcode::BarrierSync => self.barrier_sync(op),
            Opcode::TurnTake => self.turn(op, Turn::Take),
            Opcode::TurnPass => self.pass(op),
            Opcode::MakeTensorDescriptor => self.make_tensor_map(op),
            Opcode::TmaLoad => self.tma_load(op),
            Opcode::TmaStore => self.tma_store(op),
            Opcode::StoreCommit => self.ir.effect("nvvm.cp.async.bulk.commit.group", &[]),
            Opcode::StoreWait => self.store_wait(op),
            Opcode::Slot => self.slot(op),
            Opcode::Reshape if self.reshape_view(op)? => Ok(()),
            _ if self.exchanges(op)? => self.exchange_tiles(op),
            Opcode::Trans => self.trans(op),
            Opcode::Unsplat => self.unsplat(op),
            Opcode::DotFma => self.dot_fma(op),
            Opcode::Split => self.split(op),
            Opcode::Dot => match self.family()? {
                Family::MmaSync(family) => self.dot_sync(op, family),
                _ => self.dot(op),
            },
            Opcode::AsyncCopy => self.async_copy(op),
            Opcode::AsyncCommit => self.async_commit(),
            Opcode::AsyncWait => self.async_wait(op),
            Opcode::Reduce => self.reduce(op),
            Opcode::Scan => self.scan(op),
            Opcode::Histogram => self.histogram(op),
            Opcode::Mma => self.issue_mma(op),
            Opcode::MmaBlockScaled => self.issue_block_scaled(op),
            Opcode::MmaWait => self.mma_wait(op),
            Opcode::TileStore => self.tile_store(op),
            Opcode::Store => self.store(op).map(|()| self.forget_tensor_elements()),
            Opcode::AtomicRmw => self.atomic(op),
            Opcode::AtomicCas => self.compare_and_swap(op),
            Opcode::AtomicLoad => self.atomic_load(op),
            Opcode::AtomicStore => self.atomic_store(op),
            Opcode::AtomicPoll => self.poll(op),
            Opcode::GridWait | Opcode::GridLaunch => self.grid_dependency(op),
            Opcode::TtgBarrier => self.meet_all(),
            Opcode::Assert | Opcode::Print => self.claim(op),
            Opcode::ElementwiseInlineAsm => self.inline_assembly(op),
            Opcode::ExternElementwise => {
                self.has_no_effects(op)?;
                self.pure(op)
            }
            Opcode::Load if self.module.is_volatile(op) => self.pure_now(op),
            _ => self.pure(op),
        }
    }

    /// An operation on scalars is computed now, one on tiles where its elements are used.
    pub(super) fn pure(&mut self, op: OpId) -> Result<()> {
        let Some(result) = self.module.result(op) else {
            return Err(self.unsupported(op));
        };
        if self.module.ty(result).is_tensor() {
            let lazy = self.lazy(op, result)?;
            return self.defer(result, lazy);
        }
        let operands = &self.module.ops[op].operands;
        let args = operands.iter().map(|&v| self.scalar(v)).collect::<Result<Vec<_>>>()?;
        let value = self.element(op, &args)?;
        self.bound.insert(result, Bound::Scalar(value));
        Ok(())
    }

    /// The same, computed here and once, used or not.
    pub(super) fn pure_now(&mut self, op: OpId) -> Result<()> {
        self.pure(op)?;
        let result = self.only_result(op)?;
        if self.module.ty(result).is_tensor() {
            let fragment = self.fragment(result)?;
            self.bound.insert(result, Bound::Fragment(fragment));
        }
        Ok(())
    }

    /// Notes a tile that will be computed where it is used.
    pub(super) fn defer(&mut self, value: ValueId, lazy: Lazy) -> Result<()> {
        if lazy.reads != Memory::NONE {
            self.open.push((value, lazy.reads));
        }
        self.bound.insert(value, Bound::Lazy(lazy));
        self.note_natural(value);
        Ok(())
    }

    pub(super) fn unsupported(&self, op: OpId) -> Refusal {
        let name = self.module.op_name(op);
        let text = format!("{name} is not supported for {}", self.ir.target.name());
        refuse(Code::Op, text).rule("C3").into()
    }
}
