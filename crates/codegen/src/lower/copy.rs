//! TMA copies, box by box, and views of what they brought (C14, C26, C33).

use inkwell::values::{IntValue, PointerValue};
use warploom_chips::PtxVersion;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, OpId, ValueId};

use super::Lower;
use super::value::{Bound, Memory, View};
use crate::error::{Result, internal, refuse};
use crate::llvm::{SHARED_CLUSTER, Val};
use crate::metadata::TensorDescriptor;
use crate::program::Payload;

/// Loads whose destination is in `shared::cta`, by rank; from PTX 8.6 on (C42).
const LOAD_CTA: [&str; 5] = [
    "nvvm.cp.async.bulk.tensor.g2s.cta.tile.1d",
    "nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d",
    "nvvm.cp.async.bulk.tensor.g2s.cta.tile.3d",
    "nvvm.cp.async.bulk.tensor.g2s.cta.tile.4d",
    "nvvm.cp.async.bulk.tensor.g2s.cta.tile.5d",
];

/// Loads whose destination is in `shared::cluster`, by rank.
const LOAD_CLUSTER: [&str; 5] = [
    "nvvm.cp.async.bulk.tensor.g2s.tile.1d",
    "nvvm.cp.async.bulk.tensor.g2s.tile.2d",
    "nvvm.cp.async.bulk.tensor.g2s.tile.3d",
    "nvvm.cp.async.bulk.tensor.g2s.tile.4d",
    "nvvm.cp.async.bulk.tensor.g2s.tile.5d",
];

/// Stores by rank.
const STORE: [&str; 5] = [
    "nvvm.cp.async.bulk.tensor.s2g.tile.1d",
    "nvvm.cp.async.bulk.tensor.s2g.tile.2d",
    "nvvm.cp.async.bulk.tensor.s2g.tile.3d",
    "nvvm.cp.async.bulk.tensor.s2g.tile.4d",
    "nvvm.cp.async.bulk.tensor.s2g.tile.5d",
];

/// First version with loads to `shared::cta`.
const CTA_FORM: PtxVersion = PtxVersion { major: 8, minor: 6 };

/// One box of a tile: where it starts in the block, and in the slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CopyBox {
    /// First element, outermost dimension first.
    pub at: Vec<u64>,
    /// Byte offset in the slot.
    pub byte: u64,
}

/// The boxes of a block, in the order of their bytes: panel after panel, rows in order (C14).
pub(super) fn boxes(shape: &[u64], record: &TensorDescriptor, payload: &Payload) -> Result<Vec<CopyBox>> {
    let layout = payload.layout;
    let extents: Vec<u64> = record.block_size.iter().map(|&n| u64::from(n)).collect();
    let counts: Vec<u64> = shape.iter().zip(&extents).map(|(&n, &b)| n / b.max(1)).collect();
    let [outer @ .., inner] = counts.as_slice() else {
        return Err(internal("a descriptor without dimensions"));
    };
    // Boxes lie one after the other in a panel only if each covers whole rows of the dimensions inside it.
    let mut split = false;
    for (&count, &extent) in outer.iter().zip(&extents) {
        if split && count > 1 {
            return Err(refuse(Code::Desc, "a block split along two outer dimensions").rule("C14").into());
        }
        split |= extent > 1;
    }
    let mut all = Vec::new();
    let rows_of_box: u64 = extents.iter().rev().skip(1).product();
    let total: u64 = outer.iter().product();
    for panel in 0..*inner {
        for row in 0..total {
            let mut at = vec![0; shape.len()];
            let mut rest = row;
            for dim in (0..outer.len()).rev() {
                at[dim] = rest % counts[dim] * extents[dim];
                rest /= counts[dim];
            }
            at[outer.len()] = panel * extents[outer.len()];
            all.push(CopyBox { at, byte: panel * layout.panel_bytes() + row * rows_of_box * layout.panel });
        }
    }
    Ok(all)
}

impl<'c> Lower<'c, '_> {
    /// Payload number `payload` of the ring an operation names.
    pub(super) fn payload_of(&self, op: OpId) -> Result<(usize, usize)> {
        let ring = self.program.ring(self.module, op)?;
        let payload = usize::try_from(self.count(op, "payload")?).unwrap_or(usize::MAX);
        match self.program.rings[ring].payloads.get(payload) {
            Some(_) => Ok((ring, payload)),
            None => {
                Err(refuse(Code::Verify, format!("the pipeline has no payload {payload}")).rule("C35").into())
            }
        }
    }

    /// The start of a slot in shared memory.
    pub(super) fn slot_at(
        &self,
        ring: usize,
        payload: usize,
        slot: IntValue<'c>,
    ) -> Result<PointerValue<'c>> {
        let payload = &self.program.rings[ring].payloads[payload];
        let first = self.ir.scale(slot, payload.stride)?;
        let at = self.ir.shared_at(first)?;
        self.ir.plus(at, payload.offset)
    }

    /// The parts a copy needs: slot, pointer to the tensor map, its record, coordinates, boxes.
    #[allow(clippy::type_complexity)]
    fn copy(&self, op: OpId) -> Result<(PointerValue<'c>, Val<'c>, Vec<IntValue<'c>>, Vec<CopyBox>)> {
        if !self.place.elected {
            return Err(refuse(Code::Op, "a TMA copy outside warploom.elect").rule("C21").into());
        }
        let (ring, payload) = self.payload_of(op)?;
        let [slot, desc, coords @ ..] = self.module.ops[op].operands.as_slice() else {
            return Err(refuse(Code::Verify, "a copy needs a slot and a descriptor").rule("C35").into());
        };
        let map = match self.bound.get(desc) {
            Some(Bound::Descriptor(map)) => *map,
            _ => {
                let fix = "pass the descriptor as a parameter of the kernel";
                let text = "a descriptor that is neither a parameter nor made here";
                return Err(refuse(Code::Desc, text).rule("C16").note("instead", fix).into());
            }
        };
        if self.program.rings[ring].payloads[payload].columns.is_some() {
            return Err(refuse(Code::Verify, "a copy of a slot of tensor memory").rule("C20").into());
        }
        let record = self.record(*desc)?;
        let ty = self.module.ty(*desc);
        let tile = &self.program.rings[ring].payloads[payload];
        let same = ty.elements() == tile.tile.elements()
            && ty.elem_bits() == tile.tile.elem_bits()
            && ty.shape().last() == tile.tile.shape().last()
            && record.swizzle == tile.layout.swizzle.tensor_map_code();
        if !same {
            let text =
                format!("a copy between {ty} (swizzle code {}) and a slot of {}", record.swizzle, tile.tile);
            return Err(refuse(Code::Desc, text).rule("C14").into());
        }
        if coords.len() != ty.shape().len() {
            return Err(refuse(Code::Verify, "one coordinate per dimension").rule("C35").into());
        }
        let slot = self.slot_at(ring, payload, self.int(*slot)?)?;
        let coords = coords.iter().map(|&c| self.int(c)).collect::<Result<Vec<_>>>()?;
        if coords.iter().any(|c| c.get_type() != self.ir.i32()) {
            return Err(refuse(Code::Type, "coordinates of a copy are i32").rule("C5").into());
        }
        Ok((slot, map, coords, boxes(ty.shape(), record, tile)?))
    }

    /// The record of a descriptor.
    fn record(&self, desc: ValueId) -> Result<&TensorDescriptor> {
        if let Some(made) = self.program.maps.get(&desc) {
            return Ok(&made.record);
        }
        let before = self.program.params.iter().take_while(|&&p| p != desc);
        let index = before.filter(|&&p| self.module.ty(p).is_desc()).count();
        self.program.descriptors.get(index).ok_or_else(|| internal("a descriptor without a record"))
    }

    /// Coordinates of a box, innermost first, as TMA wants them.
    fn box_coords(&self, coords: &[IntValue<'c>], at: &[u64]) -> Result<Vec<Val<'c>>> {
        let reversed = coords.iter().zip(at).rev();
        reversed.map(|(&c, &offset)| Ok(self.ir.add(c, self.ir.c32(offset))?.into())).collect()
    }

    /// `warploom.tma_load`: every box of the tile, counted on `full` (C24).
    pub(super) fn tma_load(&mut self, op: OpId) -> Result<()> {
        let (slot, map, coords, boxes) = self.copy(op)?;
        let ring = self.program.ring(self.module, op)?;
        let index = self.int(self.operand(op, 0)?)?;
        let barrier = self.full_barrier(ring, index)?;
        let (no_hint, no): (Val<'c>, Val<'c>) = (self.ir.c64(0).into(), self.ir.int(1).const_zero().into());
        let cta_form = self.ir.ptx >= CTA_FORM;
        for part in boxes {
            let mut to = self.ir.plus(slot, part.byte)?;
            if let Some(lane) = self.place.predicate {
                let coords = self.box_coords(&coords, &part.at)?;
                self.load_box((to, barrier), map, &coords, lane)?;
                continue;
            }
            if !cta_form {
                let cluster = self.ir.ptr(SHARED_CLUSTER).into();
                let cast = inkwell::values::InstructionOpcode::AddrSpaceCast;
                to = crate::llvm::as_ptr(self.ir.cast(cast, to.into(), cluster)?)?;
            }
            let mut args: Vec<Val<'c>> = vec![to.into(), barrier.into(), map];
            args.extend(self.box_coords(&coords, &part.at)?);
            let name = if cta_form {
                args.extend([no_hint, no]);
                LOAD_CTA.get(coords.len() - 1)
            } else {
                let no_mask: Val<'c> = self.ir.int(16).const_zero().into();
                args.extend([no_mask, no_hint, no, no, self.ir.c32(0).into()]);
                LOAD_CLUSTER.get(coords.len() - 1)
            };
            let name =
                name.ok_or_else(|| refuse(Code::Desc, "a descriptor of more than 5 dimensions").rule("C15"))?;
            self.ir.effect(name, &args)?;
        }
        Ok(())
    }

    /// One box, where this lane is the one that copies.
    fn load_box(
        &mut self,
        (to, barrier): (PointerValue<'c>, PointerValue<'c>),
        map: Val<'c>,
        coords: &[Val<'c>],
        lane: IntValue<'c>,
    ) -> Result<()> {
        let rank = coords.len();
        if rank > LOAD_CTA.len() {
            return Err(refuse(Code::Desc, "a descriptor of more than 5 dimensions").rule("C15").into());
        }
        let space = if self.ir.ptx >= CTA_FORM { "cta" } else { "cluster" };
        let list: Vec<String> = (0..rank).map(|i| format!("${}", i + 4)).collect();
        let text = format!(
            "@$3 cp.async.bulk.tensor.{rank}d.shared::{space}.global.tile.mbarrier::complete_tx::bytes [$0], [$2, {{{}}}], [$1];",
            list.join(", ")
        );
        let mut args: Vec<Val<'c>> = vec![to.into(), barrier.into(), map, lane.into()];
        args.extend(coords);
        let constraints = format!("l,l,l,b{}", ",r".repeat(rank));
        self.ir.assembly(&text, &constraints, &[], &args, false).map(|_| ())
    }

    /// `warploom.tma_store`: every box of the slot.
    pub(super) fn tma_store(&mut self, op: OpId) -> Result<()> {
        let (slot, map, coords, boxes) = self.copy(op)?;
        let name = STORE.get(coords.len() - 1);
        let name =
            name.ok_or_else(|| refuse(Code::Desc, "a descriptor of more than 5 dimensions").rule("C15"))?;
        let (no_hint, no): (Val<'c>, Val<'c>) = (self.ir.c64(0).into(), self.ir.int(1).const_zero().into());
        for part in boxes {
            let from = self.ir.plus(slot, part.byte)?;
            let mut args: Vec<Val<'c>> = vec![from.into(), map];
            args.extend(self.box_coords(&coords, &part.at)?);
            args.extend([no_hint, no]);
            self.ir.effect(name, &args)?;
        }
        Ok(())
    }

    /// `warploom.store_wait`: until at most `pending` groups of stores are unread or unfinished (C33).
    pub(super) fn store_wait(&mut self, op: OpId) -> Result<()> {
        let pending = self.count(op, "pending")?;
        let read = matches!(self.module.attr(op, "read"), Some(Attr::Bool(true) | Attr::Unit));
        let name = match read {
            true => "nvvm.cp.async.bulk.wait.group.read",
            false => "nvvm.cp.async.bulk.wait.group",
        };
        let pending = self.ir.c32(pending.min(63)).into();
        self.ir.effect(name, &[pending])
    }

    /// `warploom.slot`: a view of a slot; nothing is read yet.
    pub(super) fn slot(&mut self, op: OpId) -> Result<()> {
        let (ring, payload) = self.payload_of(op)?;
        let slot = self.int(self.operand(op, 0)?)?;
        let result = self.only_result(op)?;
        let tile = &self.program.rings[ring].payloads[payload].tile;
        let ty = self.module.ty(result);
        let squeezed = |shape: &[u64]| shape.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
        if ty.elem_bits() != tile.elem_bits() || squeezed(ty.shape()) != squeezed(tile.shape()) {
            let text = format!("a slot of {tile} read as {ty}");
            return Err(refuse(Code::Verify, text).rule("C35").into());
        }
        let written = self.module.ops[op].operands.get(1).map(|&v| self.int(v)).transpose()?;
        if written.is_some() && self.program.rings[ring].payloads[payload].columns.is_none() {
            let text = "a slot of shared memory that may not have been written";
            return Err(refuse(Code::Verify, text).rule("C35").into());
        }
        let view = View { ring, payload, slot, transposed: false, written };
        self.slots.insert(result, view);
        self.bound.insert(result, Bound::View(view));
        self.open.push((result, Memory::ring(ring)));
        Ok(())
    }
}
