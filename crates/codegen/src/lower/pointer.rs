//! `tt.store` and `tt.atomic_rmw` through pointers: scalars, vectors, matrices (C33, C48).
//!
//! Where neighbours in a row go to neighbours in memory, a lane takes several at once. It holds two columns of
//! every eight; the lanes of a quad exchange theirs, so that each has up to 16 bytes of one row, or whole panels go by
//! way of scratch memory (`panels`).

use hashbrown::HashSet;
use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as Llvm;
use warploom_ir::diag::Code;
use warploom_ir::{OpId, Type, ValueId};

use super::Lower;
use super::update::{Atomic, Stored};
use super::value::{Base, Bound, Coord, Coords, Form, element_bits};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family};
use crate::llvm::{Val, as_int, as_ptr};

impl<'c, 'a> Lower<'c, 'a> {
    /// `tt.store`, predicated where there is a mask.
    pub(super) fn store(&mut self, op: OpId) -> Result<()> {
        let stored = self.stored(op, None)?;
        self.put(&stored)
    }

    /// The operands of a store or an atomic operation.
    pub(super) fn stored(&self, op: OpId, atomic: Option<Atomic>) -> Result<Stored<'a>> {
        let (pointer, value) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let mask = self.module.ops[op].operands.get(2).copied();
        let module = self.module;
        let elem = module.ty(value).elem();
        let bits = element_bits(module.ty(value)).filter(|bits| matches!(bits, 8 | 16 | 32 | 64));
        let name = module.op_name(op);
        let bits = bits.ok_or_else(|| refuse(Code::Type, format!("{name} of {elem} is not supported")))?;
        let cache = if atomic.is_none() { self.cache_of_store(op)? } else { "" };
        Ok(Stored { pointer, value, mask, elem, bits, cache, atomic })
    }

    /// Stores a scalar, a vector or a matrix.
    pub(super) fn put(&mut self, stored: &Stored) -> Result<()> {
        if !self.module.ty(stored.pointer).is_tensor() {
            let (pointer, value) = (self.scalar(stored.pointer)?, self.scalar(stored.value)?);
            let mask = stored.mask.map(|m| self.scalar(m)).transpose()?;
            let lane = self.first_thread()?;
            let mask = self.both(mask, Some(lane))?;
            return self.put_one(stored, pointer, value, mask);
        }
        let family = self.family()?;
        // A vector that is computed where it is used has no place of its own: what lanes hold says which.
        let all = [Some(stored.value), Some(stored.pointer), stored.mask];
        let held = all.into_iter().flatten().find(|&v| self.is_held(v));
        if self.put_together(stored, family)? {
            return Ok(());
        }
        let form = self.form_to_put(held.unwrap_or(stored.value), family)?;
        let places = self.places(stored.value, family, form)?;
        for value in all.into_iter().flatten() {
            self.reach(value, &places)?;
        }
        match form {
            Form::Whole | Form::Flat | Form::Linear(_) => {
                let mine = self.owner(stored.value, family, form)?;
                places.into_iter().try_for_each(|at| self.put_at(stored, at, mine))
            }
            Form::Slice { .. } if stored.atomic.is_some() && self.put_dealt(stored, family, form)? => Ok(()),
            Form::Slice { axis, extent } => self.put_slice(stored, family, axis, extent),
            Form::Tile { cols, .. } => {
                let together = self.together(stored);
                if let Some(width) = self.panels(stored, family, cols, together) {
                    return self.put_panels(stored, family, width);
                }
                let unit = family.run().min(together);
                let now = if unit > 1 { unit * self.dealt(stored, family, cols, together / unit) } else { 1 };
                if self.put_wide(stored, family, form, now)? {
                    return Ok(());
                }
                if unit > 1 {
                    return self.put_rows(stored, family, together);
                }
                let (rows, _) = self.matrix(stored.value)?;
                for i in 0..family.count(rows, cols)? {
                    let at = self.place_at(stored.value, family, i)?;
                    self.put_at(stored, at, None)?;
                }
                Ok(())
            }
        }
    }

    /// The form in which a tile is stored: what it has where no family lays it out, or its elements cannot go elsewhere.
    fn form_to_put(&self, tile: ValueId, family: Family) -> Result<Form> {
        let (now, form) = (self.form_now(tile, family)?, self.form(tile, family)?);
        if !matches!(now, Form::Linear(_)) {
            return Ok(form);
        }
        let stays = matches!(form, Form::Slice { .. })
            || !self.has_way(
                (&self.map_of(tile, family, now)?, &self.map_of(tile, family, form)?),
                self.module.ty(tile),
            )?;
        Ok(if stays { now } else { form })
    }

    /// A vector: of the lanes that hold an element, the one whose own other coordinate is 0 stores it.
    fn put_slice(&mut self, stored: &Stored, family: Family, axis: Axis, extent: u64) -> Result<()> {
        let other = if axis == Axis::Row { Axis::Col } else { Axis::Row };
        let place = family.first(self, other)?;
        let mine = self.ir.icmp(IntPredicate::EQ, place, self.ir.c32(0))?.into();
        // Columns that a lane holds side by side go together.
        let unit = if axis == Axis::Col { self.together(stored).min(family.run()) } else { 1 };
        for offset in family.held(axis, extent)?.into_iter().step_by(unit as usize) {
            let at = self.slice_at(stored.value, family, axis, offset);
            if unit == 1 {
                self.put_at(stored, at, Some(mine))?;
                continue;
            }
            let words = self.words(stored, &at, unit)?;
            let to = self.at(stored.pointer, at.clone())?;
            let mask = stored.mask.map(|m| self.at(m, at)).transpose()?;
            let mask = self.both(mask, Some(mine))?;
            self.put_words(stored, to, &words, mask)?;
        }
        Ok(())
    }

    /// The element at one position, if `mine`.
    fn put_at(&mut self, stored: &Stored, at: Coords, mine: Option<Val<'c>>) -> Result<()> {
        let to = self.at(stored.pointer, at.clone())?;
        let mask = stored.mask.map(|m| self.at(m, at.clone())).transpose()?;
        let mask = self.both(mask, mine)?;
        let from = self.at(stored.value, at)?;
        self.put_one(stored, to, from, mask)
    }

    /// One element.
    fn put_one(&mut self, stored: &Stored, to: Val<'c>, value: Val<'c>, mask: Option<Val<'c>>) -> Result<()> {
        match stored.atomic {
            None => self.store_one(to, value, mask, (stored.bits, stored.cache), stored.elem),
            Some(atomic) => {
                let value = self.as_bits(value, stored.bits)?;
                self.update(atomic, stored, to, &[value.into()], mask)
            }
        }
    }

    /// How many neighbours in a row go together.
    fn together(&self, stored: &Stored) -> u64 {
        let bytes = u64::from(stored.bits / 8);
        let rank = self.module.ty(stored.pointer).shape().len();
        if matches!(stored.elem, Type::Ptr { .. }) || rank == 0 {
            return 1;
        }
        let together = self.adjoining(stored.pointer, stored.mask, (rank - 1, bytes)).clamp(1, 8);
        match stored.atomic {
            Some(atomic) => together.min(self.updates_together(atomic, stored.bits)),
            None => together,
        }
    }

    /// A matrix, `together` or fewer columns of a row at a time.
    fn put_rows(&mut self, stored: &Stored, family: Family, together: u64) -> Result<()> {
        let (rows, cols) = self.matrix(stored.value)?;
        let count = family.count(rows, cols)?;
        let unit = family.run().min(together);
        let deal = self.dealt(stored, family, cols, together / unit);
        for i in (0..count).step_by(unit as usize) {
            let (row, col) = family.place(cols, i);
            if deal > 1 && !(col / 8).is_multiple_of(deal) {
                continue;
            }
            let mut groups = Vec::new();
            for group in 0..deal {
                let index = match group {
                    0 => Some(i),
                    _ => family.find(cols, row, col + 8 * group),
                };
                let index = index.ok_or_else(|| internal("columns of another lane"))?;
                let first = self.place_at(stored.value, family, index)?;
                groups.push(self.words(stored, &first, unit)?);
            }
            self.deal(&mut groups)?;
            let mut at = self.place_at(stored.value, family, i)?;
            if let Some(last) = at.last_mut().filter(|_| deal > 1) {
                *last = Coord { base: Base::Quad(deal as u8), offset: col as u32 };
            }
            let to = self.at(stored.pointer, at.clone())?;
            let mask = stored.mask.map(|m| self.at(m, at)).transpose()?;
            self.put_words(stored, to, &groups.concat(), mask)?;
        }
        Ok(())
    }

    /// How many groups of eight columns a quad deals out: 4, 2, or 1 for none.
    fn dealt(&self, stored: &Stored, family: Family, cols: u64, most: u64) -> u64 {
        let words = matches!(stored.bits, 16 | 32)
            && family.is_quads()
            && self.has_other_columns(stored.pointer)
            && stored.mask.is_none_or(|mask| self.has_other_columns(mask));
        let fits = |&deal: &u64| {
            let others = || (1..deal).all(|group| family.find(cols, 0, 8 * group).is_some());
            deal <= most && cols.is_multiple_of(8 * deal) && others()
        };
        [4, 2].into_iter().find(fits).filter(|_| words).unwrap_or(1)
    }

    /// Whether a lane knows the elements of a tile in columns that are not its own: it holds none of them.
    fn has_other_columns(&self, value: ValueId) -> bool {
        let (mut stack, mut seen) = (vec![value], HashSet::new());
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.bound.get(&value) {
                Some(Bound::Fragment(fragment))
                    if !matches!(fragment.form, Form::Slice { axis: Axis::Row, .. } | Form::Whole) =>
                {
                    return false;
                }
                Some(Bound::Lazy(_)) => {
                    stack.extend(
                        self.module
                            .def_op(value)
                            .map(|op| &self.module.ops[op].operands)
                            .into_iter()
                            .flatten(),
                    );
                }
                _ => {}
            }
        }
        true
    }

    /// Neighbouring columns of a row as words: two 16-bit elements are one, two bytes one of 16 bits.
    fn words(&mut self, stored: &Stored, first: &Coords, count: u64) -> Result<Vec<Val<'c>>> {
        let mut words = Vec::new();
        for i in (0..count).step_by(if stored.bits <= 16 { 2 } else { 1 }) {
            let mut at = first.clone();
            if let Some(last) = at.last_mut() {
                last.offset += i as u32;
            }
            words.push(match stored.bits {
                8 | 16 => self.stored_pair(stored.value, &at, stored.bits)?,
                bits => {
                    let value = self.at(stored.value, at)?;
                    self.as_bits(value, bits)?.into()
                }
            });
        }
        Ok(words)
    }

    /// Exchanges the words of groups of columns in the quad: lane `t` has group `t mod n` of the lanes of its `n`
    /// behind it, in order.
    fn deal(&mut self, groups: &mut [Vec<Val<'c>>]) -> Result<()> {
        let mut bit = 1;
        while bit < groups.len() {
            let odd = self.ir.and(self.thread, bit as u64)?;
            let odd = self.ir.icmp(IntPredicate::NE, odd, self.ir.c32(0))?;
            for low in (0..groups.len()).filter(|low| low & bit == 0) {
                for word in 0..groups[low].len() {
                    let (a, b) = (groups[low][word], groups[low | bit][word]);
                    let sent = self.ir.select(odd, a, b)?;
                    let got = self.exchange(sent, bit as u64)?;
                    groups[low][word] = self.ir.select(odd, got, a)?;
                    groups[low | bit][word] = self.ir.select(odd, b, got)?;
                }
            }
            bit *= 2;
        }
        Ok(())
    }

    /// Words of one row.
    pub(super) fn put_words(
        &mut self,
        stored: &Stored,
        to: Val<'c>,
        words: &[Val<'c>],
        mask: Option<Val<'c>>,
    ) -> Result<()> {
        if let Some(atomic) = stored.atomic {
            return self.update(atomic, stored, to, words, mask);
        }
        let Some(BasicTypeEnum::IntType(ty)) = words.first().map(|w| w.get_type()) else {
            return Err(internal("a store of no words"));
        };
        let bits = ty.get_bit_width();
        let mask = match mask {
            Some(mask) => mask,
            None if stored.cache.is_empty() => {
                let value = self.ir.vector(words)?;
                return self.ir.store(value, as_ptr(to)?, bits / 8 * words.len() as u32);
            }
            None => self.always(),
        };
        let vector = match words.len() {
            1 => String::new(),
            n => format!(".v{n}"),
        };
        let list: Vec<String> = (0..words.len()).map(|i| format!("${}", i + 1)).collect();
        let text = format!(
            "@${} st.global{}{vector}.b{bits} [$0], {{{}}};",
            words.len() + 1,
            stored.cache,
            list.join(", ")
        );
        let class = if bits == 64 {
            ",l"
        } else if bits == 16 {
            ",h"
        } else {
            ",r"
        };
        let constraints = format!("l{},b", class.repeat(words.len()));
        let mut args = vec![to];
        args.extend(words);
        args.push(as_int(mask)?.into());
        self.ir.assembly(&text, &constraints, &[], &args, false).map(|_| ())
    }

    /// Whether this is the thread that stores scalars: the partition's first, or the elected one.
    pub(super) fn first_thread(&mut self) -> Result<Val<'c>> {
        if self.place.elected {
            return Ok(self.ir.int(1).const_all_ones().into());
        }
        let first = self.ir.c32(32 * self.place.warp);
        Ok(self.ir.icmp(IntPredicate::EQ, self.thread, first)?.into())
    }

    /// Both conditions, where there are any.
    pub(super) fn both(&self, a: Option<Val<'c>>, b: Option<Val<'c>>) -> Result<Option<Val<'c>>> {
        match (a, b) {
            (Some(a), Some(b)) => self.ir.binary(Llvm::And, a, b).map(Some),
            (one, other) => Ok(one.or(other)),
        }
    }
}
