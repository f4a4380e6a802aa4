//! Tiles and vectors in registers: which elements a lane holds, and reading them back (C61).

use inkwell::values::IntValue;
use warploom_ir::ValueId;
use warploom_ir::diag::Code;
use warploom_ir::vectors::Along;

use super::Lower;
use super::flat::WHOLE;
use super::value::{Base, Bound, Coord, Coords, Form, Fragment, element_bits};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family, Wgmma};
use crate::llvm::Val;

impl<'c> Lower<'c, '_> {
    /// The layout of the partition's tiles.
    pub(super) fn family(&self) -> Result<Family> {
        match self.place.elected {
            true => Err(refuse(Code::Op, "a tile in registers inside warploom.elect").rule("C21").into()),
            false => Ok(self.place.family),
        }
    }

    /// The layout of the partition's tiles, where only accumulators of wgmma will do.
    pub(super) fn wgmma(&self) -> Result<Wgmma> {
        match self.family()? {
            Family::Wgmma(family) => Ok(family),
            Family::MmaSync(_) | Family::Blocked(_) | Family::Rows(_) => {
                let text = "an operation of wgmma in a partition of another layout";
                Err(refuse(Code::Layout, text)
                    .rule("C61")
                    .note("instead", "a partition of layout wgmma")
                    .into())
            }
        }
    }

    /// A whole value in registers.
    pub(super) fn fragment(&mut self, value: ValueId) -> Result<Fragment<'c>> {
        self.fragment_like(value, value)
    }

    /// A whole value in the registers that another of its type is held in.
    pub(super) fn fragment_like(&mut self, value: ValueId, like: ValueId) -> Result<Fragment<'c>> {
        let family = self.family()?;
        if let Some(Bound::Fragment(fragment)) = self.bound.get(&value) {
            let fits = value == like || fragment.form == self.form(like, family)?;
            return if fits { Ok(fragment.clone()) } else { self.converted(value, like) };
        }
        let form = match self.natural.get(&value) {
            Some(&form) if value == like => form,
            Some(_) => return self.converted(value, like),
            None => self.form(like, family)?,
        };
        self.reach(value, &self.places(like, family, form)?)?;
        let mut registers = Vec::new();
        match form {
            Form::Tile { cols, packed } => {
                let (rows, _) = self.matrix(value)?;
                for i in (0..family.count(rows, cols)?).step_by(if packed { 2 } else { 1 }) {
                    let at = self.place_at(value, family, i)?;
                    registers.push(match packed {
                        true => self.pair_at(value, &at)?,
                        false => self.at(value, at)?,
                    });
                }
            }
            Form::Slice { axis, extent } => {
                for offset in family.held(axis, extent)? {
                    let at = self.slice_at(value, family, axis, offset);
                    registers.push(self.at(value, at)?);
                }
            }
            Form::Whole | Form::Flat | Form::Linear(_) => {
                for at in self.places(value, family, form)? {
                    registers.push(self.at(value, at)?);
                }
            }
        }
        Ok(Fragment::finished(family, form, registers.into()))
    }

    /// The dimension of the layout that a vector runs along.
    pub(super) fn axis_of(&self, value: ValueId, family: Family) -> Axis {
        let free = if matches!(family, Family::Blocked(_)) { Axis::Col } else { Axis::Row };
        match self.axes.of(value) {
            Some(Along::Rows) => Axis::Row,
            Some(Along::Columns) => Axis::Col,
            None => free,
        }
    }

    /// What lanes hold of a value: what the family lays out, else small tiles whole and others in turn.
    pub(super) fn form(&self, value: ValueId, family: Family) -> Result<Form> {
        let laid_out = self.laid_out(value, family).and_then(|form| {
            match form {
                Form::Tile { cols, .. } => drop(family.count(self.matrix(value)?.0, cols)?),
                Form::Slice { axis, extent } => drop(family.held(axis, extent)?),
                Form::Whole | Form::Flat | Form::Linear(_) => {}
            }
            Ok(form)
        });
        let elements: u64 = self.module.ty(value).shape().iter().product();
        match laid_out {
            Err(_) if elements <= WHOLE => Ok(Form::Whole),
            Err(refusal) => self.flat_bits(elements).map(|_| Form::Flat).or(Err(refusal)),
            done => done,
        }
    }

    /// The same of a matrix or a vector: one extent of that is not 1.
    fn laid_out(&self, value: ValueId, family: Family) -> Result<Form> {
        let ty = self.module.ty(value);
        match ty.shape() {
            [extent] => Ok(Form::Slice { axis: self.axis_of(value, family), extent: *extent }),
            [outer @ .., rows, 1] if outer.iter().all(|&n| n == 1) => {
                Ok(Form::Slice { axis: Axis::Row, extent: *rows })
            }
            [outer @ .., cols] if outer.iter().all(|&n| n == 1) => {
                Ok(Form::Slice { axis: Axis::Col, extent: *cols })
            }
            _ => {
                let (_, cols) = self.matrix(value)?;
                let packed = family.pairs() && element_bits(ty) == Some(16);
                Ok(Form::Tile { cols, packed })
            }
        }
    }

    /// Rows and columns of a tile whose other extents are 1.
    pub(super) fn matrix(&self, value: ValueId) -> Result<(u64, u64)> {
        let ty = self.module.ty(value);
        match ty.shape() {
            [outer @ .., rows, cols] if outer.iter().all(|&n| n == 1) => Ok((*rows, *cols)),
            _ => {
                let text = format!("{ty} cannot be held in registers");
                let needs = "a matrix with a multiple of 8 columns, 64 rows per warpgroup";
                Err(refuse(Code::Shape, text).rule("C61").note("needs", needs).into())
            }
        }
    }

    /// Position of element `i` that a lane holds of a matrix.
    pub(super) fn place_at(&self, value: ValueId, family: Family, i: u64) -> Result<Coords> {
        let (_, cols) = self.matrix(value)?;
        let (row, col) = family.place(cols, i);
        let family = family.sized(cols);
        let rank = self.module.ty(value).shape().len();
        let mut at: Coords = std::iter::repeat_n(Coord::ZERO, rank - 2).collect();
        at.extend([family.coord(Axis::Row, row), family.coord(Axis::Col, col)]);
        Ok(at)
    }

    /// Position in a vector, `offset` from the lane's own first.
    pub(super) fn slice_at(&self, value: ValueId, family: Family, axis: Axis, offset: u64) -> Coords {
        let shape = self.module.ty(value).shape();
        let dimension = slice_dimension(shape.len(), axis);
        let mut at: Coords = std::iter::repeat_n(Coord::ZERO, shape.len()).collect();
        if let (Some(coord), Some(&extent)) = (at.get_mut(dimension), shape.get(dimension)) {
            *coord = family.sized(extent).coord(axis, offset);
        }
        at
    }

    /// A coordinate as a number.
    pub(super) fn coordinate(&mut self, coord: Coord) -> Result<IntValue<'c>> {
        let base = match coord.base {
            Base::Zero => self.ir.c32(0),
            Base::Lane(family, axis) => family.first(self, axis)?,
            Base::Computed(number) => {
                let place = self.places.get(number as usize).copied();
                place.ok_or_else(|| internal("a place that was not computed"))?
            }
            Base::Flat { shift, bits } => {
                let own = self.ir.sub(self.thread, self.ir.c32(32 * self.place.warp))?;
                self.ir.and(self.ir.shr(own, u64::from(shift))?, (1 << bits) - 1)?
            }
            Base::Images(images) => self.linear(&images.each())?,
            Base::Quad(groups) => {
                let groups = u64::from(groups);
                let group = self.ir.and(self.thread, groups - 1)?;
                let lanes = self.ir.and(self.thread, 3 & !(groups - 1))?;
                self.ir.or(self.ir.shl(group, 3)?, self.ir.shl(lanes, 1)?)?
            }
        };
        self.ir.add(base, self.ir.c32(u64::from(coord.offset)))
    }

    /// Which of the lane's elements stands at a position of a matrix of so many columns.
    pub(super) fn index_of(&self, family: Family, cols: u64, at: &Coords) -> Result<u64> {
        self.tile_index(family, cols, at).ok_or_else(|| elsewhere().into())
    }

    /// The same, `None` where that is another lane's.
    pub(super) fn tile_index(&self, family: Family, cols: u64, at: &Coords) -> Option<u64> {
        let [.., row, col] = at.as_slice() else { return None };
        let own = |coord: &Coord, axis| self.starts_alike(coord.base, family.sized(cols).base(axis));
        let held = own(row, Axis::Row) && own(col, Axis::Col);
        held.then(|| family.find(cols, u64::from(row.offset), u64::from(col.offset)))?
    }

    /// Which of the lane's elements of a vector stands at a position; `None` where that is another lane's.
    pub(super) fn slice_index(&self, family: Family, slice: (Axis, u64), at: &Coords) -> Result<Option<u64>> {
        let (axis, extent) = slice;
        let coord = at.get(slice_dimension(at.len(), axis));
        let Some(coord) = coord.filter(|c| self.starts_alike(c.base, family.sized(extent).base(axis))) else {
            return Ok(None);
        };
        let index = family.held(axis, extent)?.iter().position(|&offset| offset == u64::from(coord.offset));
        Ok(index.map(|index| index as u64))
    }

    /// One element of a value in registers.
    pub(super) fn fragment_element(
        &mut self,
        value: ValueId,
        fragment: &Fragment<'c>,
        at: &Coords,
    ) -> Result<Val<'c>> {
        let family = fragment.family;
        let missing = || internal("an element out of range");
        match fragment.form {
            Form::Tile { cols, packed } => {
                let index = self.index_of(family, cols, at)?;
                if !packed {
                    return fragment.registers.get(index as usize).copied().ok_or_else(missing);
                }
                let pair = fragment.registers.get(index as usize / 2).copied().ok_or_else(missing)?;
                self.half(value, pair, index % 2)
            }
            Form::Slice { axis, extent } => {
                let index = self.slice_index(family, (axis, extent), at)?;
                let register = index.and_then(|index| fragment.registers.get(index as usize).copied());
                register.ok_or_else(|| elsewhere().into())
            }
            Form::Whole => self.whole_element(self.module.ty(value).shape(), &fragment.registers, at),
            Form::Flat => {
                let index = self.flat_index(self.module.ty(value).shape(), at)?;
                let register = index.and_then(|index| fragment.registers.get(index as usize).copied());
                register.ok_or_else(|| elsewhere().into())
            }
            Form::Linear(number) => {
                let index = self.distributed(number)?.register(at, |a, b| self.starts_alike(a, b));
                let register = index.and_then(|index| fragment.registers.get(index as usize).copied());
                register.ok_or_else(|| elsewhere().into())
            }
        }
    }

    /// One of the two 16-bit elements of a register.
    pub(super) fn half(&mut self, value: ValueId, pair: Val<'c>, index: u64) -> Result<Val<'c>> {
        use inkwell::types::BasicTypeEnum;
        let ty = match self.element_type(self.module.ty(value))? {
            BasicTypeEnum::FloatType(ty) => ty.vec_type(2),
            BasicTypeEnum::IntType(ty) => ty.vec_type(2),
            _ => return Err(internal("a pair of pointers")),
        };
        let pair = self.ir.bits(pair, ty.into())?;
        self.ir.lane(pair, index)
    }

    /// Two neighbouring 16-bit elements, the even column low, as `i32`.
    pub(super) fn pair_at(&mut self, value: ValueId, even: &Coords) -> Result<Val<'c>> {
        let mut odd = even.clone();
        if let Some(col) = odd.last_mut() {
            col.offset += 1;
        }
        match self.bound.get(&value) {
            Some(Bound::Fragment(fragment)) => {
                if let Form::Tile { cols, packed: true } = fragment.form {
                    let index = self.index_of(fragment.family, cols, even)? / 2;
                    let register = fragment.registers.get(index as usize).copied();
                    return register.ok_or_else(|| internal("an element out of range"));
                }
            }
            Some(Bound::View(view)) => {
                let view = *view;
                if let Some(pair) = self.view_pair(value, &view, even)? {
                    return Ok(pair);
                }
            }
            Some(Bound::Lazy(_)) => {
                if let Some(pair) = self.converted_pair(value, even, &odd)? {
                    return Ok(pair);
                }
            }
            _ => {}
        }
        let (low, high) = (self.at(value, even.clone())?, self.at(value, odd)?);
        let pair = self.ir.pair(low, high)?;
        self.ir.bits(pair, self.ir.i32().into())
    }
}

/// The dimension of a value along which a vector runs: rows are the last but one.
fn slice_dimension(rank: usize, axis: Axis) -> usize {
    match axis {
        Axis::Row => rank.saturating_sub(2),
        Axis::Col => rank.saturating_sub(1),
    }
}

/// An element that another lane holds.
fn elsewhere() -> warploom_ir::Diagnostic {
    let text = "a tile in registers is read by other lanes than hold it";
    refuse(Code::Layout, text).rule("C61").note("instead", "no transposition of computed tiles")
}
