//! `tt.make_tensor_descriptor`: a tensor map that the kernel makes (C16).
//!
//! A warp clears 128 bytes of shared memory, one of its lanes sets the fields, and the whole is copied to this CTA's part
//! of the scratch memory of the launch, where the copy engine reads it. The lanes that go on to use it acquire it there:
//! those of this warp, which elects the lane that copies; in front of all partitions everybody.

use inkwell::IntPredicate;
use inkwell::values::{InstructionOpcode, IntValue, PointerValue};
use warploom_ir::OpId;
use warploom_ir::diag::Code;

use super::Lower;
use super::value::Bound;
use crate::error::{Result, internal, refuse};
use crate::intrinsic::{PROGRAM, PROGRAMS};
use crate::llvm::{Val, as_int, as_ptr};
use crate::program::{MAP_BYTES, MadeMap};

/// Copies a map to global memory and releases it to the copy engine.
const PUBLISH: &str = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \
                       [$0], [$1], 128;";

impl<'c> Lower<'c, '_> {
    /// Makes the map and binds the descriptor to its address.
    pub(super) fn make_tensor_map(&mut self, op: OpId) -> Result<()> {
        let (result, program) = (self.only_result(op)?, self.program);
        let made = program.maps.get(&result).ok_or_else(|| internal("a map without a record"))?;
        if self.place.elected {
            let text = "a tensor map made inside warploom.elect: a whole warp makes it";
            return Err(refuse(Code::Op, text).rule("C16").into());
        }
        let staging = self.ir.plus(self.ir.shared, made.staging)?;
        let map = self.scratch_of_launch(made.slot)?;
        // Partitions share what is made in front of them.
        let common = self.module.ops[op].block == Some(self.program.body);
        let (first, done) = (self.ir.block(), self.ir.block());
        let mine = self.ir.icmp(IntPredicate::EQ, self.warp, self.ir.c32(self.place.warp))?;
        self.ir.br_if(mine, first, done)?;
        self.ir.seek(first);
        self.fill_in(op, made, staging)?;
        let args = [map.into(), self.ir.address(staging, 32)?.into()];
        self.ir.assembly(PUBLISH, "l,r,~{memory}", &[], &args, false)?;
        if !common {
            self.acquire_map(map)?;
        }
        self.ir.br(done)?;
        self.ir.seek(done);
        if common {
            let zero = self.ir.c32(0).into();
            self.ir.effect("nvvm.barrier.cta.sync.aligned.all", &[zero])?;
            self.acquire_map(map)?;
        }
        let generic = self.ir.ptr(0).into();
        let map = self.ir.cast(InstructionOpcode::AddrSpaceCast, map.into(), generic)?;
        self.bound.insert(result, Bound::Descriptor(map));
        Ok(())
    }

    /// What was written to a map in global memory is seen by the copies that follow.
    fn acquire_map(&self, map: PointerValue<'c>) -> Result<()> {
        let text = "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;";
        self.ir.assembly(text, "l,~{memory}", &[], &[map.into()], false).map(drop)
    }

    /// The address of map number `slot` in this CTA's part of the scratch memory.
    fn scratch_of_launch(&mut self, slot: u64) -> Result<PointerValue<'c>> {
        let parameter = u32::try_from(self.program.params.len()).ok();
        let scratch = parameter.and_then(|n| self.ir.function.get_nth_param(n));
        let scratch = as_ptr(scratch.ok_or_else(|| internal("a kernel without scratch memory"))?)?;
        let mut special = |name: &'static str| -> Result<IntValue<'c>> {
            let value = as_int(self.ir.intrinsic(name, &[])?)?;
            self.ir.zext(value, self.ir.int(64))
        };
        let ([x, y, z], [wide, high, _]) = (PROGRAM, PROGRAMS);
        let [x, y, z, wide, high] = [special(x)?, special(y)?, special(z)?, special(wide)?, special(high)?];
        let times = |a: IntValue<'c>, b: IntValue<'c>| {
            as_int(self.ir.binary(InstructionOpcode::Mul, a.into(), b.into())?)
        };
        let row = self.ir.add(times(z, high)?, y)?;
        let cta = self.ir.add(times(row, wide)?, x)?;
        let at = self.ir.scale(cta, self.program.global_scratch())?;
        let mine = self.ir.offset(scratch, self.ir.int(8).into(), at)?;
        self.ir.plus(mine, slot * MAP_BYTES)
    }

    /// Sets every field of the map in shared memory, innermost dimension first; strides are bytes, that of the innermost
    /// dimension is one element.
    fn fill_in(&mut self, op: OpId, made: &MadeMap, staging: PointerValue<'c>) -> Result<()> {
        let rank = made.record.block_size.len();
        let operands = &self.module.ops[op].operands;
        let Some((&base, lists)) = operands.split_first().filter(|(_, lists)| lists.len() == 2 * rank) else {
            return Err(refuse(Code::Verify, "a descriptor needs an extent and a stride for each dimension")
                .rule("C16")
                .into());
        };
        let (extents, strides) = lists.split_at(rank);
        let base = self.scalar(base)?;
        let extents = extents.iter().map(|&v| self.int(v)).collect::<Result<Vec<_>>>()?;
        let strides = strides.iter().map(|&v| self.int(v)).collect::<Result<Vec<_>>>()?;
        // Another map may have been made there before.
        self.meet_warp()?;
        let lane = self.ir.and(self.thread, 31)?;
        let word = self.ir.offset(staging, self.ir.i32().into(), lane)?;
        self.ir.store(self.ir.c32(0).into(), word, 4)?;
        self.meet_warp()?;
        let (chosen, done) = (self.ir.block(), self.ir.block());
        let one = self.ir.icmp(IntPredicate::EQ, lane, self.ir.c32(0))?;
        self.ir.br_if(one, chosen, done)?;
        self.ir.seek(chosen);
        let at: Val<'c> = self.ir.address(staging, 32)?.into();
        self.set(at, "global_address", None, self.ir.address(as_ptr(base)?, 64)?)?;
        self.set(at, "rank", None, self.ir.c32(rank as u64 - 1))?;
        for (ord, (&extent, &of_box)) in extents.iter().zip(&made.record.block_size).rev().enumerate() {
            self.set(at, "box_dim", Some(ord), self.ir.c32(of_box.into()))?;
            self.set(at, "global_dim", Some(ord), extent)?;
            self.set(at, "element_stride", Some(ord), self.ir.c32(1))?;
        }
        for (ord, &stride) in strides.iter().rev().skip(1).enumerate() {
            let bytes = self.ir.scale(stride, made.record.elem_size.into())?;
            self.set(at, "global_stride", Some(ord), bytes)?;
        }
        let record = &made.record;
        let modes = [
            ("elemtype", record.elem_type),
            ("interleave_layout", 0),
            ("swizzle_mode", record.swizzle),
            ("fill_mode", made.nan.into()),
        ];
        for (field, mode) in modes {
            let text = format!("tensormap.replace.tile.{field}.shared::cta.b1024.b32 [$0], {mode};");
            self.ir.assembly(&text, "r,~{memory}", &[], &[at], false)?;
        }
        self.ir.br(done)?;
        self.ir.seek(done);
        self.meet_warp()
    }

    /// Sets one field of the map at an address in shared memory, of one dimension where the field has several.
    fn set(&self, at: Val<'c>, field: &str, dimension: Option<usize>, value: IntValue<'c>) -> Result<()> {
        let bits = value.get_type().get_bit_width();
        let register = if bits == 64 { "l" } else { "r" };
        let ord = dimension.map_or(String::new(), |ord| format!("{ord}, "));
        let text = format!("tensormap.replace.tile.{field}.shared::cta.b1024.b{bits} [$0], {ord}$1;");
        let constraints = format!("r,{register},~{{memory}}");
        self.ir.assembly(&text, &constraints, &[], &[at, value.into()], false).map(drop)
    }
}
