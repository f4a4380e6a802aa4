//! Tensor memory: its allocation, addresses in it, and tiles read from it where their elements are used
//! (C25, C27, C46, C66).

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::ValueId;
use warploom_ir::diag::Code;

use super::Lower;
use super::family::{Axis, Family};
use super::value::{Base, Coords, View};
use crate::error::{Result, internal, refuse};
use crate::llvm::{TENSOR, Val, as_int};

/// Loads of 32 lanes by so many columns, widest first.
const LOADS: [(u64, &str); 2] = [(32, "nvvm.tcgen05.ld.32x32b.x32"), (16, "nvvm.tcgen05.ld.32x32b.x16")];

impl<'c> Lower<'c, '_> {
    /// One warp allocates; the others see the address behind the barrier that follows (C27).
    pub(super) fn allocate(&mut self) -> Result<()> {
        let Some(tmem) = self.program.tmem else { return Ok(()) };
        let (chosen, done) = (self.ir.block(), self.ir.block());
        let mine = self.allocating_warp()?;
        self.ir.br_if(mine, chosen, done)?;
        self.ir.seek(chosen);
        let at = self.ir.plus(self.ir.shared, tmem.slot)?;
        let columns = self.ir.c32(tmem.columns);
        self.ir.effect("nvvm.tcgen05.alloc.shared.cg1", &[at.into(), columns.into()])?;
        self.ir.effect("nvvm.tcgen05.relinq.alloc.permit.cg1", &[])?;
        self.ir.br(done)?;
        self.ir.seek(done);
        self.ir.effect("nvvm.tcgen05.fence.before.thread.sync", &[])
    }

    /// Behind the barrier: where the allocation starts.
    pub(super) fn allocated(&mut self) -> Result<()> {
        let Some(tmem) = self.program.tmem else { return Ok(()) };
        self.ir.effect("nvvm.tcgen05.fence.after.thread.sync", &[])?;
        let at = self.ir.plus(self.ir.shared, tmem.slot)?;
        self.tensor = Some(as_int(self.ir.load(self.ir.i32().into(), at, 4)?)?);
        Ok(())
    }

    /// When every agent is done, the warp that allocated frees (C27).
    pub(super) fn free(&mut self) -> Result<()> {
        let (Some(tmem), Some(base)) = (self.program.tmem, self.tensor) else { return Ok(()) };
        self.ir.effect("nvvm.tcgen05.fence.before.thread.sync", &[])?;
        let zero = self.ir.c32(0).into();
        self.ir.effect("nvvm.barrier.cta.sync.aligned.all", &[zero])?;
        self.ir.effect("nvvm.tcgen05.fence.after.thread.sync", &[])?;
        let (chosen, done) = (self.ir.block(), self.ir.block());
        let mine = self.allocating_warp()?;
        self.ir.br_if(mine, chosen, done)?;
        self.ir.seek(chosen);
        let pointer = self.tensor_pointer(base)?;
        let columns = self.ir.c32(tmem.columns).into();
        self.ir.effect("nvvm.tcgen05.dealloc.cg1", &[pointer, columns])?;
        self.ir.br(done)?;
        self.ir.seek(done);
        Ok(())
    }

    /// Whether this warp allocates and frees: the second, since the first initialises the barriers.
    fn allocating_warp(&self) -> Result<IntValue<'c>> {
        let number = self.ir.c32(u64::from(self.program.warps > 1));
        self.ir.icmp(IntPredicate::EQ, self.warp, number)
    }

    /// An address of tensor memory as a pointer.
    pub(super) fn tensor_pointer(&self, address: IntValue<'c>) -> Result<Val<'c>> {
        self.ir.cast(Llvm::IntToPtr, address.into(), self.ir.ptr(TENSOR).into())
    }

    /// Address of the first column of a slot, lane 0.
    pub(super) fn tensor_slot(&self, view: &View<'c>) -> Result<IntValue<'c>> {
        let columns = self.program.rings[view.ring].payloads[view.payload].columns;
        let (Some(columns), Some(base)) = (columns, self.tensor) else {
            let text = "a slot of shared memory where one of tensor memory is needed";
            return Err(refuse(Code::Verify, text).rule("C66").into());
        };
        let slot = self.ir.scale(view.slot, columns.stride)?;
        let first = self.ir.add(base, self.ir.c32(columns.first))?;
        self.ir.add(first, slot)
    }

    /// One element of a tile in tensor memory. The columns around it come with it and are kept: a load brings
    /// several, and what it brings passes through its wait (C46).
    pub(super) fn tensor_element(&mut self, value: ValueId, view: &View<'c>, at: &Coords) -> Result<Val<'c>> {
        let elsewhere = || {
            let text = "a tile in tensor memory is read by other lanes than reach it";
            refuse(Code::Layout, text).rule("C66").note("instead", "layout = \"rows\", no transposition")
        };
        let [.., row, col] = at.as_slice() else { return Err(elsewhere().into()) };
        let (Base::Lane(Family::Rows(family), Axis::Row), Base::Lane(_, Axis::Col)) = (row.base, col.base)
        else {
            return Err(elsewhere().into());
        };
        if view.transposed || self.place.elected {
            return Err(elsewhere().into());
        }
        if self.module.ty(value).elem_bits() != Some(32) {
            let text = format!("{} in tensor memory is read into registers", self.module.ty(value));
            let fix = "32-bit elements; packed ones are for products";
            return Err(refuse(Code::Type, text).rule("C66").note("instead", fix).into());
        }
        let cols = self.program.rings[view.ring].payloads[view.payload].layout.cols;
        let wanted = u64::from(col.offset);
        let load = LOADS.iter().find(|(width, _)| cols.is_multiple_of(*width));
        let &(width, name) = load.ok_or_else(elsewhere)?;
        let first = wanted / width * width;
        // The rows of a warpgroup stand 128 further from block to block, and `cols` columns further.
        let block = u64::from(row.offset) / 128;
        let slot = self.tensor_slot(view)?;
        let own = family.tensor_offset(self, cols)?;
        let address = self.ir.add(self.ir.add(slot, own)?, self.ir.c32(block * cols + first))?;
        let ty = self.element_type(self.module.ty(value))?;
        let values = match view.written {
            None => self.tensor_load(name, address, width, ty)?,
            Some(written) => self.tensor_load_if(written, name, address, width, ty)?,
        };
        let mut found = None;
        for (offset, &loaded) in (first..).zip(&values) {
            let mut key = at.clone();
            if let Some(col) = key.last_mut() {
                col.offset = offset as u32;
            }
            if offset == wanted {
                found = Some(loaded);
            } else {
                self.remember((value, key), loaded);
            }
        }
        found.ok_or_else(|| internal("a load of other columns"))
    }

    /// Loads columns and waits for them.
    fn tensor_load(
        &mut self,
        name: &'static str,
        address: IntValue<'c>,
        width: u64,
        ty: BasicTypeEnum<'c>,
    ) -> Result<Vec<Val<'c>>> {
        let pointer = self.tensor_pointer(address)?;
        let unpacked = self.ir.int(1).const_zero().into();
        let all = self.ir.intrinsic(name, &[pointer, unpacked])?;
        let parts = (0..width).map(|i| self.ir.lane(all, i)).collect::<Result<Vec<_>>>()?;
        let count = parts.len();
        let types: Vec<BasicTypeEnum> = parts.iter().map(|p| p.get_type()).collect();
        let constraints: Vec<String> =
            (0..count).map(|_| "=r".to_owned()).chain((0..count).map(|i| i.to_string())).collect();
        let text = "tcgen05.wait::ld.sync.aligned;";
        let waited = self.ir.assembly(text, &constraints.join(","), &types, &parts, false)?;
        let waited = waited.ok_or_else(|| internal("an assembly without results"))?;
        (0..count as u32).map(|i| self.ir.bits(self.ir.member(waited, i)?, ty)).collect()
    }

    /// The same where the slot was written; zeros where nothing was ever added up (C7).
    fn tensor_load_if(
        &mut self,
        written: IntValue<'c>,
        name: &'static str,
        address: IntValue<'c>,
        width: u64,
        ty: BasicTypeEnum<'c>,
    ) -> Result<Vec<Val<'c>>> {
        let (before, load, join) = (self.ir.here()?, self.ir.block(), self.ir.block());
        self.ir.br_if(written, load, join)?;
        self.ir.seek(load);
        let loaded = self.tensor_load(name, address, width, ty)?;
        let after = self.ir.here()?;
        self.ir.br(join)?;
        self.ir.seek(join);
        let zero = self.ir.bits(self.ir.c32(0).into(), ty)?;
        let mut values = Vec::new();
        for value in loaded {
            let phi = self.ir.phi(ty)?;
            phi.add_incoming(&[(&zero, before), (&value, after)]);
            values.push(phi.as_basic_value());
        }
        Ok(values)
    }
}
