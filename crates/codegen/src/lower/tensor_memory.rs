//! Tensor memory: its allocation, addresses in it, and tiles read from it where their elements are used
//! (C25, C27, C46, C66).

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::ValueId;
use warploom_ir::diag::Code;

use super::Lower;
use super::value::{Base, Bound, Coords, Key, View};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family, Wgmma};
use crate::llvm::{TENSOR, Val, as_int};

/// Loads of 32 lanes by so many columns, widest first.
const LOADS: [(u64, &str); 2] = [(32, "nvvm.tcgen05.ld.32x32b.x32"), (16, "nvvm.tcgen05.ld.32x32b.x16")];

/// Loads of 16 lanes by so many columns, which bring what a lane of wgmma's accumulators holds (E48, C61).
const HALF_LOADS: [(u64, &str); 2] = [(64, "nvvm.tcgen05.ld.16x256b.x8"), (16, "nvvm.tcgen05.ld.16x256b.x2")];

/// Elements of tensor memory that a lane keeps from one store to the next: half of the registers that it can name.
const KEPT: usize = 128;

/// What one load brings.
struct Brought {
    /// Its intrinsic.
    name: &'static str,
    /// First column, counted from that of the slot's first row block.
    column: u64,
    /// Rows and columns of its registers, less the lane's own first.
    places: Vec<(u64, u64)>,
}

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

    /// When every partition is done, the warp that allocated frees (C27).
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
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let Some((family, wanted)) = by_lanes(at, layout.cols) else {
            let family = self.family()?;
            let held = self.places(value, family, self.form(value, family)?)?;
            let own = self.own_place(&held, at).filter(|own| by_lanes(own, layout.cols).is_some());
            return self.tensor_element(value, view, own.ok_or_else(elsewhere)?);
        };
        if view.transposed || self.place.elected || family.bare() != self.place.family {
            return Err(elsewhere().into());
        }
        if self.module.ty(value).elem_bits() != Some(32) {
            let text = format!("{} in tensor memory is read into registers", self.module.ty(value));
            let fix = "32-bit elements; packed ones are for products";
            return Err(refuse(Code::Type, text).rule("C66").note("instead", fix).into());
        }
        let block = self.program.rings[view.ring].payloads[view.payload].columns.map(|columns| columns.rows);
        let (own, brought) = match family {
            Family::Rows(rows) if block == Some(128) => {
                (rows.tensor_offset(self, layout.cols)?, columns_at(layout.cols, wanted))
            }
            Family::Wgmma(half) if block == Some(half.block_rows()) => {
                (self.half_offset(half, layout.cols)?, accumulators_at(layout.cols, half, wanted))
            }
            _ => return Err(elsewhere().into()),
        };
        let Brought { name, column, places } = brought.ok_or_else(elsewhere)?;
        let slot = self.tensor_slot(view)?;
        let address = self.ir.add(self.ir.add(slot, own)?, self.ir.c32(column))?;
        let ty = self.element_type(self.module.ty(value))?;
        let count = places.len() as u64;
        let values = match view.written {
            None => self.tensor_load(name, address, count, ty)?,
            Some(written) => self.tensor_load_if(written, name, address, count, ty)?,
        };
        let mut found = None;
        for (place, &loaded) in places.iter().zip(&values) {
            let mut key = at.clone();
            if let [.., row, col] = key.as_mut_slice() {
                (row.offset, col.offset) = (place.0 as u32, place.1 as u32);
            }
            if *place == wanted {
                found = Some(loaded);
            } else {
                self.remember((value, key), loaded);
            }
        }
        found.ok_or_else(|| internal("a load of other columns"))
    }

    /// Forgets what tensor memory brought where it is more than [`KEPT`]: whoever wants it again reads it there again, which
    /// is cheaper than to spill it.
    pub(super) fn forget_tensor_elements(&mut self) {
        let lies_there = |value: &ValueId| match self.bound.get(value) {
            Some(Bound::View(view)) => self.program.rings[view.ring].payloads[view.payload].columns.is_some(),
            _ => false,
        };
        let brought: Vec<Key> = self
            .memo_log
            .iter()
            .filter(|key| lies_there(&key.0) && self.memo.contains_key(*key))
            .cloned()
            .collect();
        if brought.len() > KEPT {
            brought.iter().for_each(|key| {
                self.memo.remove(key);
            });
        }
    }

    /// Where this warp's 16 rows of a tile begin: in its quarter of the lanes, behind those of another warpgroup where two
    /// share it, in the columns of its warpgroup's first block, or of its part of the columns.
    pub(super) fn half_offset(&mut self, half: Wgmma, width: u64) -> Result<IntValue<'c>> {
        let mut quarter = self.ir.shl(self.ir.and(self.warp, 3)?, 21)?;
        if half.columns > 1 {
            let part = self.ir.scale(half.column(self)?, half.part_of(width))?;
            quarter = self.ir.add(quarter, part)?;
        }
        if half.groups() == 1 {
            return Ok(quarter);
        }
        let first = self.ir.c32(u64::from(half.warp));
        let group = self.ir.shr(self.ir.sub(self.warp, first)?, 2)?;
        if !half.shared {
            let group = self.ir.scale(group, width)?;
            return self.ir.add(quarter, group);
        }
        let own = self.ir.or(quarter, self.ir.shl(self.ir.and(group, 1)?, 20)?)?;
        match half.groups() {
            2 => Ok(own),
            _ => self.ir.add(own, self.ir.scale(self.ir.shr(group, 1)?, width)?),
        }
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

/// How lanes hold an element of a tile of so many columns that each of them has a place for, and the offsets of its row
/// and column there.
fn by_lanes(at: &Coords, cols: u64) -> Option<(Family, (u64, u64))> {
    let [.., row, col] = at.as_slice() else { return None };
    let Base::Lane(family, Axis::Row) = row.base else { return None };
    if col.base != family.sized(cols).base(Axis::Col) {
        return None;
    }
    Some((family, (u64::from(row.offset), u64::from(col.offset))))
}

/// Columns of a row that one lane has: those around the wanted one. The rows of a warpgroup stand 128 further from block
/// to block, and `cols` columns further.
fn columns_at(cols: u64, (row, col): (u64, u64)) -> Option<Brought> {
    let &(width, name) = LOADS.iter().find(|(width, _)| cols.is_multiple_of(*width))?;
    let first = col / width * width;
    let places = (first..first + width).map(|col| (row, col)).collect();
    Some(Brought { name, column: row / 128 * cols + first, places })
}

/// Accumulators as wgmma's lanes hold them, around the wanted place: register `j` has row `8 (j / 2 % 2)` and column
/// `8 (j / 4) + j % 2` of its 16 rows (E48). The blocks of a warpgroup stand as many rows from each other as all warpgroups
/// have, and as many columns as that height has blocks of tensor memory.
fn accumulators_at(cols: u64, half: Wgmma, (row, col): (u64, u64)) -> Option<Brought> {
    let part = half.part_of(cols);
    let &(width, name) = HALF_LOADS.iter().find(|(width, _)| part.is_multiple_of(*width))?;
    let height = 64 * half.groups();
    let (first, block) = (col / width * width, row / height);
    let places = (0..width / 2).map(|j| (block * height + 8 * (j / 2 % 2), first + 8 * (j / 4) + j % 2));
    Some(Brought {
        name,
        column: block * (height / half.block_rows()) * cols + first,
        places: places.collect(),
    })
}

fn elsewhere() -> warploom_ir::Diagnostic {
    let text = "a tile in tensor memory is read by other lanes than reach it";
    let fix =
        "layout = \"rows\", \"wgmma_pairs\", or \"wgmma\" of one warpgroup for 64 rows; no transposition";
    refuse(Code::Layout, text).rule("C66").note("instead", fix)
}
