//! Tiles in the scratch memory of the partition: what lanes hold is left there, row by row, where every lane reads what it
//! wants, at places that are known when the kernel runs; and which operations bring elements to other lanes (G12).

use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::diag::Code;
use warploom_ir::renamed::is_renamed;
use warploom_ir::{OpId, Opcode, Type, ValueId};

use super::Lower;
use super::reach::Lacking;
use super::value::{Bound, Form, Memory};
use crate::error::{Result, refuse};
use crate::llvm::{Val, as_int};

/// Bytes of an element in scratch memory.
pub(super) fn bytes_of(ty: &Type) -> Result<u64> {
    match ty.elem() {
        Type::Ptr { .. } => Ok(8),
        elem => match elem.elem_bits() {
            Some(bits @ 1..=64) => Ok(u64::from(bits.div_ceil(8))),
            _ => Err(refuse(Code::Type, format!("{ty} in scratch memory")).rule("G12").into()),
        },
    }
}

impl<'c> Lower<'c, '_> {
    /// Leaves tiles in scratch memory, one behind the other, and meets; where each begins, in bytes.
    pub(super) fn park(&mut self, values: &[ValueId]) -> Result<Vec<u64>> {
        let scratch = self.scratch()?;
        let family = self.family()?;
        let (mut at, mut starts) = (0u64, Vec::new());
        for &value in values {
            let ty = self.module.ty(value);
            let bytes = bytes_of(ty)?;
            at = at.next_multiple_of(bytes);
            starts.push(at);
            at += bytes * ty.shape().iter().product::<u64>();
            if at > scratch.bytes {
                let text = format!("{} B of scratch memory for {ty}", scratch.bytes);
                return Err(refuse(Code::Capacity, text).rule("C65").note("needs", format!("{at} B")).into());
            }
        }
        // Elements that come from other lanes come through the same memory.
        let mut held = Vec::new();
        for &value in values {
            let form = self.form_now(value, family)?;
            held.push((form, self.places(value, family, form)?, self.held_elements(value, form)?));
        }
        for ((&value, &start), (form, places, held)) in values.iter().zip(&starts).zip(held) {
            let mut elements = Vec::new();
            for (place, element) in places.into_iter().zip(held) {
                let number = self.row_major(self.module.ty(value).shape(), &place)?;
                elements.push((number, self.stored_bits(element)?));
            }
            let owner = self.owner(value, family, form)?;
            let done = self.only_where(owner)?;
            let bytes = bytes_of(self.module.ty(value))?;
            for (number, bits) in elements {
                let to = self.ir.shared_at(self.ir.scale(number, bytes)?)?;
                let to = self.ir.plus(to, scratch.offset + start)?;
                self.ir.store(bits, to, bytes as u32)?;
            }
            self.rejoin(done)?;
        }
        self.meet_all()?;
        Ok(starts)
    }

    /// The element of this number of a tile that begins at a byte of scratch memory.
    pub(super) fn parked(&mut self, ty: &Type, start: u64, number: IntValue<'c>) -> Result<Val<'c>> {
        let scratch = self.scratch()?;
        let bytes = bytes_of(ty)?;
        let from = self.ir.shared_at(self.ir.scale(number, bytes)?)?;
        let from = self.ir.plus(from, scratch.offset + start)?;
        let bits = self.ir.load(self.ir.int(8 * bytes as u32).into(), from, bytes as u32)?;
        self.unstored(bits, ty)
    }

    /// Whether lanes hold a tile, so that an element of another lane has to be brought.
    pub(super) fn is_held(&self, value: ValueId) -> bool {
        self.lazy_of(value).reads.meets(Memory::REGISTERS)
            || matches!(self.bound.get(&value), Some(Bound::Fragment(_)))
    }

    /// What each lane reads its own elements of: registers, and the lanes of tensor memory that it reaches (C66).
    pub(super) fn reached(&self) -> Memory {
        let rings = self.program.rings.iter().enumerate();
        let tensor = rings.filter(|(_, ring)| ring.payloads.iter().any(|payload| payload.columns.is_some()));
        tensor.fold(Memory::REGISTERS, |all, (index, _)| all.union(Memory::ring(index)))
    }

    /// Whether lanes hold a tile, or reach its elements in tensor memory.
    fn is_reached(&self, value: ValueId) -> bool {
        self.is_held(value) || self.lazy_of(value).reads.meets(self.reached())
    }

    /// Whether an operation takes elements of tiles in registers to other lanes.
    pub(super) fn exchanges(&mut self, op: OpId) -> Result<bool> {
        use Opcode::{Broadcast, ExpandDims, Reshape, Trans};
        if self.is_used(op) && self.renames(op) {
            return Ok(false);
        }
        if self.moves_tiles(op) {
            return Ok(true);
        }
        let seen = matches!(self.module.ops[op].opcode, Broadcast | ExpandDims | Reshape | Trans);
        match (self.module.ops[op].operands.first(), self.module.result(op)) {
            (Some(&source), Some(result)) if seen && self.is_reached(source) && self.is_used(op) => {
                let family = self.family()?;
                let form = self.form(result, family)?;
                let moves = match self.module.ops[op].opcode {
                    Reshape => self.moves(op),
                    Trans => self.transposes(op),
                    _ => self.axes.turns(op),
                };
                let free = matches!(self.form_now(source, family)?, Form::Linear(_));
                let stays = matches!(form, Form::Tile { .. } | Form::Slice { .. }) && !moves && !free;
                let renamed = is_renamed(self.module, op, family.col_span());
                if stays || renamed || !moves && self.is_seen_only(result) {
                    return Ok(false);
                }
                let places = self.places(result, family, form)?;
                let mut lacking = Lacking::default();
                for place in &places {
                    let Some(place) = self.seen_through(op, place)? else { return Ok(true) };
                    if !self.lacks(source, place, &mut lacking)? {
                        return Ok(true);
                    }
                }
                // What lies in tensor memory is held by the lanes that reach it.
                let lies = matches!(self.bound.get(&source), Some(Bound::View(_)));
                if moves && (lies || self.is_held(source)) {
                    return Ok(true);
                }
                Ok(lacking.count() > 0 && (lacking.count() >= places.len() || !self.bring(lacking)?))
            }
            _ => Ok(false),
        }
    }

    fn is_used(&self, op: OpId) -> bool {
        self.module.ops[op].results.iter().any(|v| self.last_use[*v] > self.position[op])
    }

    /// Whether elements go to other lanes whatever the shapes are.
    fn moves_tiles(&self, op: OpId) -> bool {
        let operation = &self.module.ops[op];
        let held = |n: usize| operation.operands.get(n).is_some_and(|v| self.is_held(*v));
        let fragment = |n: usize| {
            let bound = operation.operands.get(n).and_then(|v| self.bound.get(v));
            matches!(bound, Some(Bound::Fragment(_)))
        };
        let natural = operation.operands.first().is_some_and(|v| self.natural.contains_key(v));
        self.is_used(op)
            && match operation.opcode {
                Opcode::Gather => operation.operands.first().is_some_and(|&v| self.is_reached(v)),
                Opcode::Join => held(0) || held(1),
                Opcode::Split => fragment(0) || held(0) && natural,
                Opcode::Cat => true,
                _ => false,
            }
    }

    /// Whether `tt.trans` moves anything.
    fn transposes(&self, op: OpId) -> bool {
        let shape = self.module.ops[op].operands.first().map_or(&[][..], |v| self.module.ty(*v).shape());
        shape.iter().filter(|n| **n > 1).count() > 1
    }

    /// The operations that read a value, once for each operand.
    pub(super) fn users_of(&self, value: ValueId) -> Vec<OpId> {
        warploom_ir::walk::uses(self.module, value).map(|(op, _)| op).collect()
    }

    /// `tt.gather` of a tile that lanes hold: what is wanted is known when the kernel runs, so the whole tile is left in
    /// scratch memory.
    pub(super) fn gather_parked(&mut self, op: OpId) -> Result<()> {
        let (source, indices) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let result = self.only_result(op)?;
        let module = self.module;
        let (ty, from) = (module.ty(result), module.ty(source).shape());
        let family = self.family()?;
        let form = self.form(result, family)?;
        let mut wanted = Vec::new();
        let places = self.places(result, family, form)?;
        self.reach(indices, &places)?;
        for mut place in places {
            let index = self.at(indices, place.clone())?;
            let index = self.index(index)?;
            let axis = self.axis(op, place.len())?;
            place[axis] = self.computed(index);
            wanted.push(place);
        }
        let start = self.park(&[source])?.first().copied().unwrap_or(0);
        let mut elements = Vec::new();
        for place in wanted {
            let number = self.row_major(from, &place)?;
            elements.push(self.parked(ty, start, number)?);
        }
        self.hold(result, form, elements)?;
        self.meet_all()
    }

    /// An index as `i32`.
    pub(super) fn index(&mut self, index: Val<'c>) -> Result<IntValue<'c>> {
        let index = as_int(index)?;
        match index.get_type().get_bit_width() {
            32 => Ok(index),
            64 => as_int(self.ir.cast(Llvm::Trunc, index.into(), self.ir.i32().into())?),
            _ => self.ir.zext(index, self.ir.i32()),
        }
    }
}
