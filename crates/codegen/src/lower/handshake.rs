//! mbarriers, named barriers and the set-up of both (C22..C27, C32).

use inkwell::IntPredicate;
use inkwell::values::{IntValue, PointerValue};
use warploom_ir::OpId;
use warploom_ir::diag::Code;

use super::Lower;
use super::value::Bound;
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int};
use crate::program::Handshake;

impl<'c> Lower<'c, '_> {
    /// One lane initialises the mbarriers, then everybody meets (C27).
    pub(super) fn set_up(&mut self) -> Result<()> {
        let rings = &self.program.rings;
        let groups = rings.iter().flat_map(|ring| {
            let full = ring.full.map(|at| (at, ring.depth, ring.arrive_full));
            let empty = ring.empty.map(|at| (at, ring.depth, ring.arrive_empty));
            full.into_iter().chain(empty)
        });
        let groups: Vec<(u64, u64, u64)> = groups.collect();
        if groups.is_empty() && self.program.tmem.is_none() {
            return Ok(());
        }
        let (first, chosen, done) = (self.ir.block(), self.ir.block(), self.ir.block());
        let zero = self.ir.c32(0);
        let mine = self.ir.icmp(IntPredicate::EQ, self.warp, zero)?;
        self.ir.br_if(mine, first, done)?;
        self.ir.seek(first);
        let elected = self.elected()?;
        self.ir.br_if(elected, chosen, done)?;
        self.ir.seek(chosen);
        for (at, depth, arrivals) in groups {
            for slot in 0..depth {
                let barrier = self.ir.plus(self.ir.shared, at + 8 * slot)?;
                let arrivals = self.ir.c32(arrivals);
                self.ir.effect("nvvm.mbarrier.init.shared", &[barrier.into(), arrivals.into()])?;
            }
        }
        self.ir.effect("nvvm.fence.mbarrier_init.release.cluster", &[])?;
        self.ir.br(done)?;
        self.ir.seek(done);
        self.allocate()?;
        self.ir.effect("nvvm.barrier.cta.sync.aligned.all", &[zero.into()])?;
        self.allocated()
    }

    /// Barrier number `index` of a group at this byte offset.
    fn barrier_at(&self, group: Option<u64>, index: IntValue<'c>, name: &str) -> Result<PointerValue<'c>> {
        let text = || refuse(Code::Verify, format!("the pipeline has no {name} barriers")).rule("C24");
        let group = group.ok_or_else(text)?;
        let slot = self.ir.scale(index, 8)?;
        let at = self.ir.shared_at(slot)?;
        self.ir.plus(at, group)
    }

    /// The `full` barrier of slot `index` of a ring.
    pub(super) fn full_barrier(&self, ring: usize, index: IntValue<'c>) -> Result<PointerValue<'c>> {
        self.barrier_at(self.program.rings[ring].full, index, "full")
    }

    /// Spins until the phase of this parity has completed.
    fn wait(&mut self, barrier: PointerValue<'c>, parity: IntValue<'c>) -> Result<()> {
        let (spin, go) = (self.ir.block(), self.ir.block());
        self.ir.br(spin)?;
        self.ir.seek(spin);
        let name = "nvvm.mbarrier.try.wait.parity.scope.cta.space.cta";
        let done = as_int(self.ir.intrinsic(name, &[barrier.into(), parity.into()])?)?;
        self.ir.br_if(done, go, spin)?;
        self.ir.seek(go);
        Ok(())
    }

    /// Waits for a free slot.
    pub(super) fn producer_acquire(&mut self, op: OpId) -> Result<()> {
        let ring = self.program.ring(self.module, op)?;
        let (slot, phase) = (self.int(self.operand(op, 0)?)?, self.int(self.operand(op, 1)?)?);
        // Who read a sum has met the others since.
        if !self.meets_for(ring) {
            let barrier = self.barrier_at(self.program.rings[ring].empty, slot, "empty")?;
            self.wait(barrier, phase)?;
        }
        self.order_tensor_memory(ring)
    }

    /// Whether all lanes meet between who reads a sum in tensor memory and the next product.
    fn meets_for(&self, ring: usize) -> bool {
        let ring = &self.program.rings[ring];
        ring.empty.is_none() && matches!(ring.handshake, Handshake::MmaToGeneric)
    }

    /// Waits for a full slot.
    pub(super) fn consumer_wait(&mut self, op: OpId) -> Result<()> {
        let ring = self.program.ring(self.module, op)?;
        let (slot, phase) = (self.int(self.operand(op, 0)?)?, self.int(self.operand(op, 1)?)?);
        let barrier = self.barrier_at(self.program.rings[ring].full, slot, "full")?;
        self.wait(barrier, phase)?;
        self.order_tensor_memory(ring)
    }

    /// Behind a wait that orders tcgen05 work of other threads (C25).
    fn order_tensor_memory(&mut self, ring: usize) -> Result<()> {
        match self.program.rings[ring].handshake.orders_tensor_memory() {
            true => self.ir.effect("nvvm.tcgen05.fence.after.thread.sync", &[]),
            false => Ok(()),
        }
    }

    /// An arrival when every product issued so far is done (C24). One lane issued them, and commits.
    fn commit_products(&mut self, barrier: PointerValue<'c>) -> Result<()> {
        if !self.place.elected {
            let text = "a commit of products outside warploom.elect";
            return Err(refuse(Code::Op, text).rule("C24").into());
        }
        self.ir.effect("nvvm.tcgen05.commit.shared.cg1", &[barrier.into()])
    }

    /// Announces the bytes that copies will bring, and arrives; or lets products arrive (C24).
    pub(super) fn producer_commit(&mut self, op: OpId) -> Result<()> {
        let ring = self.program.ring(self.module, op)?;
        let slot = self.int(self.operand(op, 0)?)?;
        let barrier = self.barrier_at(self.program.rings[ring].full, slot, "full")?;
        let bytes = self.count(op, "bytes")?;
        match self.program.rings[ring].handshake {
            Handshake::MmaToGeneric => return self.commit_products(barrier),
            Handshake::GenericToMma if bytes > 0 => {
                let text = format!("{bytes} bytes of copies in a slot that lanes write");
                return Err(refuse(Code::Verify, text).rule("C24").into());
            }
            Handshake::GenericToMma => return self.commit_lanes(barrier),
            _ => {}
        }
        if bytes > 0xf_ffff {
            let text = format!("{bytes} bytes in one phase of a barrier; at most 1048575");
            return Err(refuse(Code::Desc, text).rule("C15").into());
        }
        if !self.place.elected {
            return Err(refuse(Code::Op, "a commit of copies outside warploom.elect").rule("C24").into());
        }
        let bytes = self.ir.c32(bytes).into();
        if let Some(lane) = self.place.predicate {
            let text = "@$2 mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;";
            let args = [barrier.into(), bytes, lane.into()];
            return self.ir.assembly(text, "l,r,b", &[], &args, false).map(|_| ());
        }
        let name = "nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta";
        self.ir.effect(name, &[barrier.into(), bytes])
    }

    /// One arrival per warp on `empty` of the slot used `lag` trips ago (C24, C25, C30).
    pub(super) fn consumer_release(&mut self, op: OpId) -> Result<()> {
        let number = self.program.ring(self.module, op)?;
        if self.meets_for(number) {
            return self.ir.effect("nvvm.tcgen05.fence.before.thread.sync", &[]);
        }
        let ring = &self.program.rings[number];
        let slot = self.int(self.operand(op, 0)?)?;
        let lag = match self.module.attr(op, "lag") {
            Some(_) => self.count(op, "lag")?,
            None => 0,
        };
        if lag >= ring.depth && lag > 0 {
            let text = format!("a release {lag} trips late in a ring of {}", ring.depth);
            return Err(refuse(Code::Verify, text).rule("C30").into());
        }
        let slot = self.earlier(slot, lag, ring.depth)?;
        let barrier = self.barrier_at(ring.empty, slot, "empty")?;
        if ring.handshake.feeds_products() {
            if lag > 0 {
                let text = "a late release of operands of products: a commit covers all of them";
                return Err(refuse(Code::Verify, text).rule("C24").into());
            }
            return self.commit_products(barrier);
        }
        if ring.handshake.orders_tensor_memory() {
            self.ir.effect("nvvm.tcgen05.fence.before.thread.sync", &[])?;
        }
        let started = self.started(lag)?;
        self.arrive(barrier, started, ring.handshake.meets_before_release())
    }

    /// Hands a slot that the lanes wrote in tensor memory to products: an arrival per warp (C24, C25).
    fn commit_lanes(&mut self, barrier: PointerValue<'c>) -> Result<()> {
        if self.place.elected {
            let text = "a commit of tiles that all lanes write, inside warploom.elect";
            return Err(refuse(Code::Op, text).rule("C24").into());
        }
        self.ir.effect("nvvm.tcgen05.fence.before.thread.sync", &[])?;
        self.arrive(barrier, None, true)
    }

    /// One arrival per warp, or of the elected lane, where `cond` holds; behind a meeting of the lanes if asked.
    fn arrive(&mut self, barrier: PointerValue<'c>, cond: Option<IntValue<'c>>, meets: bool) -> Result<()> {
        if meets && !self.place.elected {
            let all = self.ir.c32(u64::from(u32::MAX)).into();
            self.ir.effect("nvvm.bar.warp.sync", &[all])?;
        }
        let lane = match self.place.elected {
            true => None,
            false => {
                let lane = self.ir.and(self.thread, 31)?;
                Some(self.ir.icmp(IntPredicate::EQ, lane, self.ir.c32(0))?)
            }
        };
        let (arrive, done) = (self.ir.block(), self.ir.block());
        match (cond, lane) {
            (Some(a), Some(b)) => {
                let both =
                    as_int(self.ir.binary(inkwell::values::InstructionOpcode::And, b.into(), a.into())?)?;
                self.ir.br_if(both, arrive, done)?;
            }
            (Some(one), None) | (None, Some(one)) => self.ir.br_if(one, arrive, done)?,
            (None, None) => self.ir.br(arrive)?,
        }
        self.ir.seek(arrive);
        let one = self.ir.c32(1).into();
        self.ir.effect("nvvm.mbarrier.arrive.scope.cta.space.cta", &[barrier.into(), one])?;
        self.ir.br(done)?;
        self.ir.seek(done);
        Ok(())
    }

    /// The slot `lag` before this one in a ring.
    fn earlier(&self, slot: IntValue<'c>, lag: u64, depth: u64) -> Result<IntValue<'c>> {
        if lag == 0 {
            return Ok(slot);
        }
        let low = self.ir.icmp(IntPredicate::ULT, slot, self.ir.c32(lag))?;
        let (before, wrapped) =
            (self.ir.sub(slot, self.ir.c32(lag))?, self.ir.add(slot, self.ir.c32(depth - lag))?);
        as_int(self.ir.select(low, wrapped.into(), before.into())?)
    }

    /// Whether at least `lag` trips of the enclosing loop are over; `None` where that is always so.
    fn started(&self, lag: u64) -> Result<Option<IntValue<'c>>> {
        let Some((index, first, step)) = self.place.trip.filter(|_| lag > 0) else {
            return Ok(None);
        };
        if lag == 1 {
            return Ok(Some(self.ir.icmp(IntPredicate::NE, index, first)?));
        }
        let behind = self.ir.sub(index, first)?;
        let least = self.ir.scale(step, lag)?;
        Ok(Some(self.ir.icmp(IntPredicate::UGE, behind, least)?))
    }

    /// The next slot and phase (C23), or those so many slots further.
    pub(super) fn advance(&mut self, op: OpId) -> Result<()> {
        let ring = &self.program.rings[self.program.ring(self.module, op)?];
        let (slot, phase) = (self.int(self.operand(op, 0)?)?, self.int(self.operand(op, 1)?)?);
        if self.module.ops[op].operands.len() > 2 {
            let by = self.int(self.operand(op, 2)?)?;
            let depth = ring.depth;
            // How often it goes round without a sum that could pass the greatest number.
            let (rounds, rest) = (self.ir.quotient(by, depth)?, self.ir.remainder(by, depth)?);
            let sum = self.ir.add(slot, rest)?;
            let wraps = self.ir.icmp(IntPredicate::UGE, sum, self.ir.c32(depth))?;
            let less = self.ir.sub(sum, self.ir.c32(depth))?;
            let next = self.ir.select(wraps, less.into(), sum.into())?;
            let flip = self.ir.xor(self.ir.and(rounds, 1)?, self.ir.zext(wraps, self.ir.i32())?)?;
            let phase = self.ir.xor(phase, flip)?;
            return self.advanced(op, next, phase.into());
        }
        let (next, depth) = (self.ir.add(slot, self.ir.c32(1))?, ring.depth);
        // With a phase to turn the comparison is there anyhow.
        let alone = ring.full.is_none() && ring.empty.is_none() || depth <= 2;
        let (next, wraps): (Val<'c>, _) = if depth.is_power_of_two() && alone {
            let next = self.ir.and(next, depth - 1)?;
            (next.into(), self.ir.icmp(IntPredicate::EQ, next, self.ir.c32(0))?)
        } else {
            let wraps = self.ir.icmp(IntPredicate::EQ, next, self.ir.c32(depth))?;
            (self.ir.select(wraps, self.ir.c32(0).into(), next.into())?, wraps)
        };
        let flip = self.ir.zext(wraps, self.ir.i32())?;
        let phase = self.ir.xor(phase, flip)?;
        self.advanced(op, next, phase.into())
    }

    /// What an advance gives.
    fn advanced(&mut self, op: OpId, next: Val<'c>, phase: Val<'c>) -> Result<()> {
        let [index, parity] = self.module.ops[op].results.as_slice() else {
            return Err(internal("warploom.advance has two results"));
        };
        self.bound.insert(*index, Bound::Scalar(next));
        self.bound.insert(*parity, Bound::Scalar(phase));
        Ok(())
    }

    /// A named barrier (C32).
    pub(super) fn barrier_sync(&mut self, op: OpId) -> Result<()> {
        if self.place.elected {
            return Err(refuse(Code::Op, "a barrier of whole warps inside warploom.elect")
                .rule("C32")
                .into());
        }
        let barrier = self.program.barrier(self.module, op)?;
        let args = [self.ir.c32(barrier.id).into(), self.ir.c32(barrier.threads).into()];
        self.ir.effect("nvvm.barrier.cta.sync.aligned.count", &args)
    }
}
