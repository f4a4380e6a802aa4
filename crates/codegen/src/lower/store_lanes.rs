//! Tiles of mma.sync's accumulators and plain ones on their way into a slot: `stmatrix` where the chip has it and two
//! tiles of 16-bit elements stand side by side, else what a lane holds of a row, up to 16 bytes at a time (C33, C60,
//! C64, C67).

use std::collections::VecDeque;

use inkwell::IntPredicate;
use inkwell::values::PointerValue;
use smallvec::SmallVec;
use warploom_chips::Feature;
use warploom_ir::{Opcode, ValueId};

use super::store::STORES_BEHIND;
use super::value::{Bound, Coord, Coords, Form, View};
use super::{Lower, Place};
use crate::error::{Result, internal};
use crate::family::{Axis, Blocked, Family, MmaSync};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// A matrix or a vector.
    pub(super) fn store_lanes(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        family: Family,
        bits: u32,
    ) -> Result<()> {
        if let Form::Slice { axis, extent } = self.form(value, family)? {
            return self.store_slice(value, view, family, (axis, extent), bits);
        }
        let (rows, cols) = self.matrix(value)?;
        if let Family::MmaSync(family) = family {
            let pairs = family.tiles(rows, cols)?[1].is_multiple_of(2);
            if bits == 16 && pairs && self.ir.target.has(Feature::Stmatrix) {
                return self.store_fragments(value, view, family);
            }
        }
        let unit = family.run().min(16 * 8 / u64::from(bits));
        // A read from shared memory cannot move before a store: each store waits for the reads of later ones.
        let mut waiting = VecDeque::new();
        for i in (0..family.count(rows, cols)?).step_by(unit as usize) {
            let place = family.place(cols, i);
            let words = self.run_at(value, family, place, unit, bits)?;
            waiting.push_back((self.lane_address(view, family, place)?, words));
            if waiting.len() > STORES_BEHIND {
                self.store_run(waiting.pop_front(), unit * u64::from(bits) / 8)?;
            }
        }
        waiting.into_iter().try_for_each(|run| self.store_run(Some(run), unit * u64::from(bits) / 8))
    }

    fn store_run(&self, run: Option<(PointerValue<'c>, Val<'c>)>, bytes: u64) -> Result<()> {
        let (to, words) = run.ok_or_else(|| internal("a store without values"))?;
        self.ir.store(words, to, bytes as u32)
    }

    /// Whether the elements of a tile are computed wherever they are wanted: its own, and those it is made of, so far as
    /// lanes hold none.
    pub(super) fn is_made_anywhere(&self, value: ValueId) -> bool {
        let (mut stack, mut seen) = (vec![value], hashbrown::HashSet::new());
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.bound.get(&value) {
                Some(Bound::Fragment(_) | Bound::Poison) | None => return false,
                Some(Bound::Lazy(_)) => match self.module.def_op(value) {
                    Some(op) => stack.extend(&self.module.ops[op].operands),
                    None => return false,
                },
                Some(Bound::View(view)) => {
                    if self.program.rings[view.ring].payloads[view.payload].columns.is_some() {
                        return false;
                    }
                }
                Some(Bound::Scalar(_) | Bound::Descriptor(_)) => {}
            }
        }
        true
    }

    /// Whether a tile is one in shared memory whose elements reshapes and broadcasts take elsewhere: lanes copy it.
    pub(super) fn is_moved(&self, value: ValueId) -> bool {
        let mut at = value;
        while let (Some(Bound::Lazy(_)), Some(op)) = (self.bound.get(&at), self.module.def_op(at)) {
            let data = &self.module.ops[op];
            match (data.opcode, data.operands.first()) {
                (Opcode::Reshape | Opcode::Broadcast, Some(&from)) => at = from,
                _ => return false,
            }
        }
        let shared = |view: &View<'c>| self.program.rings[view.ring].payloads[view.payload].columns.is_none();
        at != value && matches!(self.bound.get(&at), Some(Bound::View(view)) if shared(view))
    }

    /// A tile whose lanes make 16 bytes of a row each, as copies do, or at least `least` elements: one that the layout of the
    /// partition does not cover, or that is better loaded so.
    pub(super) fn store_plain(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        bits: u32,
        least: u64,
    ) -> Result<()> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        self.store_chunks(value, view, bits, self.chunks(layout, least))
    }

    /// The chunks of a row that lanes make or hold, up to 16 bytes at a time.
    fn store_chunks(&mut self, value: ValueId, view: &View<'c>, bits: u32, blocked: Blocked) -> Result<()> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let vector = u64::from(self.chunks(layout, 1).vector.min(blocked.vector));
        let family = Family::Blocked(blocked);
        let place = self.place;
        self.place = Place { family, ..place };
        self.each_chunk(view, blocked, |lower, (row, col), _| {
            for part in (0..u64::from(blocked.vector)).step_by(vector as usize) {
                let words = lower.run_at(value, family, (row, col + part), vector, bits)?;
                let to = lower.lane_address(view, family, (row, col + part))?;
                lower.ir.store(words, to, (vector * layout.elem) as u32)?;
            }
            Ok(())
        })?;
        self.place = place;
        Ok(())
    }

    /// A tile that the layout of the partition does not cover, made of what lanes hold: its elements are brought to lanes that
    /// store up to 16 bytes of a row each, or one element where there are more lanes than that.
    pub(super) fn store_brought(&mut self, value: ValueId, view: &View<'c>, bits: u32) -> Result<()> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let own = self.family()?;
        let mut blocked = self.chunks(layout, 1);
        while blocked.row_step() > layout.rows && blocked.vector > 1 {
            blocked.vector /= 2;
            blocked.across = (blocked.across * 2).min(blocked.lanes);
        }
        if blocked.row_step() > layout.rows || self.module.ty(value).shape().len() != 2 {
            let form = self.form(value, own)?;
            let (places, mine) = (self.places(value, own, form)?, self.owner(value, own, form)?);
            self.reach(value, &places)?;
            let skip = self.only_where(mine)?;
            for at in places {
                let element = self.at(value, at.clone())?;
                let element = self.ir.bits(element, self.ir.int(bits).into())?;
                let to = self.element_address(value, view, &at)?;
                self.ir.store(element, to, layout.elem as u32)?;
            }
            return self.rejoin(skip);
        }
        let (down, along) = (blocked.row_step(), blocked.col_step());
        let mut places = Vec::new();
        for row in (0..layout.rows).step_by(down as usize) {
            for col in (0..layout.cols).step_by(along as usize) {
                for part in 0..u64::from(blocked.vector) {
                    places.push(self.lane_coords(value, Family::Blocked(blocked), (row, col + part)));
                }
            }
        }
        self.reach(value, &places)?;
        self.store_chunks(value, view, bits, blocked)
    }

    /// 16 rows and two tiles at a time.
    fn store_fragments(&mut self, value: ValueId, view: &View<'c>, family: MmaSync) -> Result<()> {
        let (rows, cols) = self.matrix(value)?;
        let all = Family::MmaSync(family);
        let mut waiting = VecDeque::new();
        for i in (0..all.count(rows, cols)?).step_by(8) {
            let address = self.matrices_at(view, family, all.place(cols, i))?;
            let mut args: Vec<Val<'c>> = vec![address.into()];
            for part in 0..4 {
                let at = self.place_at(value, all, i + 2 * part)?;
                args.push(self.pair_at(value, &at)?);
            }
            waiting.push_back(args);
            if waiting.len() > STORES_BEHIND {
                self.store_matrix(waiting.pop_front())?;
            }
        }
        waiting.into_iter().try_for_each(|args| self.store_matrix(Some(args)))
    }

    /// A vector, which is one row of the slot: of the lanes that hold an element, the one whose own other coordinate is
    /// 0 stores it.
    fn store_slice(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        family: Family,
        (axis, extent): (Axis, u64),
        bits: u32,
    ) -> Result<()> {
        let elem = self.program.rings[view.ring].payloads[view.payload].layout.elem;
        let rank = self.module.ty(value).shape().len();
        let mut elements = Vec::new();
        for offset in family.held(axis, extent)? {
            let at = self.slice_at(value, family, axis, offset);
            let element = self.at(value, at)?;
            elements.push((offset, as_int(self.ir.bits(element, self.ir.int(bits).into())?)?));
        }
        let other = if axis == Axis::Row { Axis::Col } else { Axis::Row };
        let place = family.first(self, other)?;
        let mine = self.ir.icmp(IntPredicate::EQ, place, self.ir.c32(0))?;
        let (store, done) = (self.ir.block(), self.ir.block());
        self.ir.br_if(mine, store, done)?;
        self.ir.seek(store);
        for (offset, element) in elements {
            let mut at: Coords = std::iter::repeat_n(Coord::ZERO, rank.saturating_sub(1)).collect();
            at.push(family.sized(extent).coord(axis, offset));
            let to = self.element_address(value, view, &at)?;
            self.ir.store(element.into(), to, elem as u32)?;
        }
        self.ir.br(done)?;
        self.ir.seek(done);
        Ok(())
    }

    /// Neighbours of a row as one value, the first lowest.
    fn run_at(
        &mut self,
        value: ValueId,
        family: Family,
        (row, col): (u64, u64),
        count: u64,
        bits: u32,
    ) -> Result<Val<'c>> {
        let bytes = count * u64::from(bits) / 8;
        let coords = self.lane_coords(value, family, (row, col));
        match (count, bytes) {
            (1, _) => {
                let element = self.at(value, coords)?;
                self.ir.bits(element, self.ir.int(bits).into())
            }
            (_, 2) => self.stored_pair(value, &coords, bits),
            _ => {
                let per_word = 32 / u64::from(bits);
                let words = (0..bytes / 4)
                    .map(|word| self.word_at(value, family, (row, col + word * per_word), bits))
                    .collect::<Result<SmallVec<[Val<'c>; 4]>>>()?;
                self.ir.vector(&words)
            }
        }
    }

    /// The 4 bytes of a row from a column on: one element, two or four.
    pub(super) fn word_at(
        &mut self,
        value: ValueId,
        family: Family,
        at: (u64, u64),
        bits: u32,
    ) -> Result<Val<'c>> {
        let word = self.ir.i32();
        let coords = self.lane_coords(value, family, at);
        match bits {
            32 => {
                let element = self.at(value, coords)?;
                self.ir.bits(element, word.into())
            }
            16 => self.stored_pair(value, &coords, bits),
            _ => {
                let mut half = |col| {
                    let coords = self.lane_coords(value, family, (at.0, col));
                    let pair = self.stored_pair(value, &coords, bits)?;
                    let pair = self.ir.bits(pair, self.ir.int(16).into())?;
                    self.ir.zext(as_int(pair)?, word)
                };
                let (low, high) = (half(at.1)?, half(at.1 + 2)?);
                Ok(self.ir.or(low, self.ir.shl(high, 16)?)?.into())
            }
        }
    }

    /// The coordinates of an element of a matrix, `row` and `col` from the lane's own first.
    fn lane_coords(&self, value: ValueId, family: Family, (row, col): (u64, u64)) -> Coords {
        let shape = self.module.ty(value).shape();
        let family = family.sized(shape.last().copied().unwrap_or(1));
        let mut at: Coords = std::iter::repeat_n(Coord::ZERO, shape.len().saturating_sub(2)).collect();
        at.extend([family.coord(Axis::Row, row), family.coord(Axis::Col, col)]);
        at
    }
}
