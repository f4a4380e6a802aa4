//! mma.sync: operands come from shared memory by `ldmatrix`, or A from registers, and the result is there at once
//! (C44, C60, C67).

mod elements;
mod kind;

use std::rc::Rc;

use elements::Elements;
use inkwell::values::IntValue;
use kind::{Kind, kind};
use smallvec::SmallVec;
use warploom_chips::Feature;
use warploom_ir::diag::Code;
use warploom_ir::{OpId, ValueId};

use super::Lower;
use super::mma::unsupported;
use super::transfer::ldmatrix;
use super::value::{Bound, Coord, Coords, Form, Fragment, View};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family, MmaSync};
use crate::llvm::Val;

/// Four registers of `ldmatrix`, or of A.
type Four<'c> = [Val<'c>; 4];

/// Where the lanes of `ldmatrix` point in a tile in shared memory: the lane's own row and byte, the latter below
/// `span`.
#[derive(Clone, Copy)]
struct Pointing<'c> {
    row: IntValue<'c>,
    byte: IntValue<'c>,
    span: u64,
    trans: bool,
}

impl Pointing<'_> {
    /// The row and byte of rows of A, or columns of B, this far from where the lanes point, and of a step along K.
    fn far(&self, kind: Kind, far: u64, step: u64) -> (u64, u64) {
        match self.trans {
            true => (step * kind.k(), far * kind.bytes),
            false => (far, step * 32),
        }
    }
}

/// How an operand comes into registers.
#[derive(Clone, Copy)]
enum Source<'c> {
    /// By `ldmatrix`.
    Matrices(View<'c>, Pointing<'c>),
    /// Element by element.
    Elements(Elements<'c>),
    /// It is there.
    Registers,
}

impl<'c> Lower<'c, '_> {
    /// `tt.dot` by mma.sync.
    pub(super) fn dot_sync(&mut self, op: OpId, family: MmaSync) -> Result<()> {
        let (a, b, c) = (self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?);
        let result = self.only_result(op)?;
        let (kind, [m, n, k]) = self.sync_shape(op, a, b, result)?;
        let [down, across] = family.tiles(m, n)?;
        if !k.is_multiple_of(kind.k()) {
            let text = format!("{m}x{n}x{k} for {} x {} warps", family.m, family.n);
            let needs = format!("K in steps of {}", kind.k());
            return Err(refuse(Code::Shape, text).rule("C67").note("needs", needs).into());
        }
        let held = kind.bytes == 2 && family.n == 1;
        let left = match self.view_of(a).or_else(|| self.slot_behind(a).filter(|_| !held)) {
            Some(view) if view.transposed && kind.bytes != 2 => {
                Source::Elements(self.elements_a(view, family)?)
            }
            Some(view) => Source::Matrices(view, self.pointing_a(&view, family)?),
            None if held => Source::Registers,
            None => {
                let text = "operand a of tt.dot is not in shared memory";
                let fix = "16-bit elements, and all warps along M";
                return Err(refuse(Code::Layout, text).rule("C67").note("instead", fix).into());
            }
        };
        let Some(b_view) = self.view_of(b).or_else(|| self.slot_behind(b)) else {
            return Err(refuse(Code::Layout, "operand b of tt.dot is not in shared memory")
                .rule("C67")
                .into());
        };
        let b_elements = self.elements_b(b_view, family)?;
        let b_at = match b_view.transposed || kind.bytes == 2 {
            true => Some(self.pointing_b(&b_view, family)?),
            false => None,
        };
        let steps = k / kind.k();
        let last_at = match b_at {
            Some(_) if across % 2 == 1 => Some(self.pointing_last(&b_view, family, steps)?),
            _ => None,
        };
        let mut ahead = None;
        let sums = kind.sums();
        let none = match kind.whole || kind.half_sums {
            true => self.ir.c32(0).into(),
            false => self.ir.cf32(0.0),
        };
        let mut accumulators: Vec<Val<'c>> = match self.module.is_zero(c) {
            true => vec![none; sums * (down * across) as usize],
            false => self.fragment(c)?.registers.to_vec(),
        };
        for step in 0..steps {
            let mut rights: Vec<[Val<'c>; 2]> = Vec::new();
            if let Some(at) = &b_at {
                for pair in 0..across / 2 {
                    let far = at.far(kind, pair * 2 * family.col_step(), step);
                    let [p, q, r, s] = self.load_matrices(&b_view, at, far)?;
                    rights.extend([[p, q], [r, s]]);
                }
            }
            if let Some(at) = &last_at {
                let far = (across - 1) * family.col_step();
                let own = match ahead.take() {
                    Some(own) => own,
                    None => {
                        let loaded = self.load_pairs(&b_view, at, at.far(kind, far, step), steps.min(2))?;
                        ahead = loaded.get(1).copied();
                        loaded.first().copied().ok_or_else(|| internal("an operand of no matrices"))?
                    }
                };
                rights.push(own);
            }
            for tile in rights.len() as u64..across {
                rights.push(self.halves_of_k(&b_elements, kind, tile * family.col_step(), step)?);
            }
            for block in 0..down {
                let left = self.left(&left, a, family, kind, (block, step))?;
                for (right, accumulator) in
                    rights.iter().zip((block * across..).map(|tile| sums * tile as usize))
                {
                    let own = accumulators
                        .get_mut(accumulator..accumulator + sums)
                        .ok_or_else(|| internal("too few accumulators"))?;
                    self.multiply(kind, &left, right, own)?;
                }
            }
        }
        let form = Form::Tile { cols: n, packed: kind.half_sums };
        let fragment = Fragment::finished(Family::MmaSync(family), form, Rc::from(accumulators));
        self.bound.insert(result, Bound::Fragment(fragment));
        Ok(())
    }

    /// 16 rows and 32 bytes of K of A.
    fn left(
        &mut self,
        from: &Source<'c>,
        a: ValueId,
        family: MmaSync,
        kind: Kind,
        (block, step): (u64, u64),
    ) -> Result<Four<'c>> {
        match from {
            Source::Matrices(view, at) => {
                self.load_matrices(view, at, at.far(kind, block * family.row_step(), step))
            }
            Source::Elements(from) => {
                let row = block * family.row_step();
                let [upper, upper_far] = self.halves_of_k(from, kind, row, step)?;
                let [lower, lower_far] = self.halves_of_k(from, kind, row + 8, step)?;
                Ok([upper, lower, upper_far, lower_far])
            }
            Source::Registers => self.left_registers(a, family, block, step),
        }
    }

    /// Checks types, precision and shape (C7, C67, T12).
    fn sync_shape(&self, op: OpId, a: ValueId, b: ValueId, result: ValueId) -> Result<(Kind, [u64; 3])> {
        let (ta, tb, tc) = (self.module.ty(a), self.module.ty(b), self.module.ty(result));
        let unsupported = || unsupported(ta, tb, tc);
        let kind = kind(ta, tb, tc).ok_or_else(unsupported)?;
        if kind.bytes == 1 && !kind.whole && !self.ir.target.has(Feature::Fp8MmaSync) {
            let text = format!("{} has no mma.sync of 8-bit floats", self.ir.target.name());
            let fix = "f16 or bf16 operands";
            return Err(refuse(Code::Target, text).rule("T12").note("instead", fix).into());
        }
        self.check_precision(op, kind.bytes)?;
        let ([m, k], [k2, n], [m2, n2]) = (ta.shape(), tb.shape(), tc.shape()) else {
            return Err(refuse(Code::Shape, "tt.dot of tiles that are not matrices").rule("C67").into());
        };
        if (m, k, n) != (m2, k2, n2) {
            return Err(refuse(Code::Verify, format!("tt.dot of {ta} and {tb} into {tc}")).into());
        }
        self.check_accumulation(op, kind.bytes, *k)?;
        Ok((kind, [*m, *n, *k]))
    }

    fn view_of(&self, value: ValueId) -> Option<View<'c>> {
        match self.bound.get(&value) {
            Some(Bound::View(view)) => Some(*view),
            _ => None,
        }
    }

    /// The slot of a tile of which lanes have taken elements, which leaves it as it was.
    fn slot_behind(&self, value: ValueId) -> Option<View<'c>> {
        let view = self.slots.get(&value).copied()?;
        let columns = self.program.rings[view.ring].payloads[view.payload].columns;
        columns.is_none().then_some(view)
    }

    /// Lane, as a number in 0..32.
    fn lane(&self) -> Result<IntValue<'c>> {
        self.ir.and(self.thread, 31)
    }

    /// One bit of the lane, moved to another place.
    fn lane_bit(&self, bit: u64, to: u64) -> Result<IntValue<'c>> {
        let lane = self.ir.and(self.thread, 1 << bit)?;
        if to >= bit { self.ir.shl(lane, to - bit) } else { self.ir.shr(lane, bit - to) }
    }

    /// A of 16 rows and 32 bytes of K: matrices by rows first, then by K (C67).
    fn pointing_a(&mut self, view: &View<'c>, family: MmaSync) -> Result<Pointing<'c>> {
        let warp = family.warp(self, Axis::Row)?;
        let lane = self.lane()?;
        if !view.transposed {
            let row = self.ir.or(self.ir.shl(warp, 4)?, self.ir.and(lane, 15)?)?;
            return Ok(Pointing { row, byte: self.lane_bit(4, 4)?, span: 32, trans: false });
        }
        // Stored K x M: a lane points at a row of K, and 8 columns of M.
        let row = self.ir.or(self.lane_bit(4, 3)?, self.ir.and(lane, 7)?)?;
        let byte = self.ir.or(self.ir.shl(warp, 5)?, self.lane_bit(3, 4)?)?;
        Ok(Pointing { row, byte, span: 32 * u64::from(family.m), trans: true })
    }

    /// B of 32 bytes of K and two tiles of 8 columns: matrices by K first, then by columns (C67).
    fn pointing_b(&mut self, view: &View<'c>, family: MmaSync) -> Result<Pointing<'c>> {
        let warp = family.warp(self, Axis::Col)?;
        let lane = self.lane()?;
        let across = u64::from(family.n.trailing_zeros());
        if view.transposed {
            // Stored N x K.
            let column = self.ir.or(self.ir.shl(warp, 3)?, self.lane_bit(4, 3 + across)?)?;
            let row = self.ir.or(column, self.ir.and(lane, 7)?)?;
            return Ok(Pointing { row, byte: self.lane_bit(3, 4)?, span: 32, trans: false });
        }
        let byte = self.ir.or(self.ir.shl(warp, 4)?, self.lane_bit(4, 4 + across)?)?;
        Ok(Pointing { row: self.ir.and(lane, 15)?, byte, span: 32 << across, trans: true })
    }

    /// B of one tile of 8 columns: matrices by K, of two steps where there are two (C67).
    fn pointing_last(&mut self, view: &View<'c>, family: MmaSync, steps: u64) -> Result<Pointing<'c>> {
        let warp = family.warp(self, Axis::Col)?;
        let lane = self.lane()?;
        if view.transposed {
            // Stored N x K.
            let row = self.ir.or(self.ir.shl(warp, 3)?, self.ir.and(lane, 7)?)?;
            let (near, both) = (self.lane_bit(3, 4)?, steps > 1);
            let byte = if both { self.ir.or(near, self.lane_bit(4, 5)?)? } else { near };
            return Ok(Pointing { row, byte, span: if both { 64 } else { 32 }, trans: false });
        }
        let row = self.ir.and(lane, if steps > 1 { 31 } else { 15 })?;
        let span = 16 << family.n.trailing_zeros();
        Ok(Pointing { row, byte: self.ir.shl(warp, 4)?, span, trans: true })
    }

    /// Pairs of matrices at a constant distance from where the lanes point: `ldmatrix.x4` or `ldmatrix.x2`.
    fn load_pairs(
        &mut self,
        view: &View<'c>,
        at: &Pointing<'c>,
        far: (u64, u64),
        pairs: u64,
    ) -> Result<Vec<[Val<'c>; 2]>> {
        if pairs > 1 {
            let [p, q, r, s] = self.load_matrices(view, at, far)?;
            return Ok(vec![[p, q], [r, s]]);
        }
        let address = self.far_chunk(view, (at.row, at.byte, at.span), far.0, far.1)?;
        let two = self.ir.overloaded(ldmatrix(2, at.trans)?, &[address.into()])?;
        Ok(vec![[self.ir.member(two, 0)?, self.ir.member(two, 1)?]])
    }

    /// `ldmatrix.x4` at a constant distance from where the lanes point: `row` a multiple of 8, `byte` of the
    /// lanes' span.
    fn load_matrices(
        &mut self,
        view: &View<'c>,
        at: &Pointing<'c>,
        (row, byte): (u64, u64),
    ) -> Result<Four<'c>> {
        let address = self.far_chunk(view, (at.row, at.byte, at.span), row, byte)?;
        let four = self.ir.overloaded(ldmatrix(4, at.trans)?, &[address.into()])?;
        let member = |i| self.ir.member(four, i);
        Ok([member(0)?, member(1)?, member(2)?, member(3)?])
    }

    /// A from the registers of a tile of the same layout: two neighbouring tiles of accumulators are one block
    /// of K (C61).
    fn left_registers(&mut self, a: ValueId, family: MmaSync, block: u64, step: u64) -> Result<Four<'c>> {
        let rank = self.module.ty(a).shape().len();
        let mut register = |half: u64, tile: u64| {
            let mut at: Coords = std::iter::repeat_n(Coord::ZERO, rank.saturating_sub(2)).collect();
            let row = block * family.row_step() + 8 * half;
            let family = Family::MmaSync(family);
            at.extend([family.coord(Axis::Row, row), family.coord(Axis::Col, 16 * step + 8 * tile)]);
            self.pair_at(a, &at)
        };
        Ok([register(0, 0)?, register(1, 0)?, register(0, 1)?, register(1, 1)?])
    }

    /// One multiplication, added to its accumulators.
    fn multiply(
        &mut self,
        kind: Kind,
        a: &Four<'c>,
        b: &[Val<'c>; 2],
        accumulators: &mut [Val<'c>],
    ) -> Result<()> {
        let halves = self.ir.ctx.f16_type().vec_type(2).into();
        let mut args = SmallVec::<[Val<'c>; 10]>::new();
        for register in a.iter().chain(b) {
            args.push(if kind.halves { self.ir.bits(*register, halves)? } else { *register });
        }
        for &accumulator in accumulators.iter() {
            args.push(if kind.half_sums { self.ir.bits(accumulator, halves)? } else { accumulator });
        }
        let sums = self.ir.intrinsic(kind.intrinsic, &args)?;
        for (accumulator, i) in accumulators.iter_mut().zip(0..) {
            let sum = self.ir.member(sums, i)?;
            *accumulator = if kind.half_sums { self.ir.bits(sum, self.ir.i32().into())? } else { sum };
        }
        Ok(())
    }
}
