//! Operations that bring elements to other lanes or registers: each states its map, and the algebra finds the way (G5,
//! G12).

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as Llvm;
use warploom_ir::{OpId, Opcode, Type, ValueId};
use warploom_layout::{Dim, Layout, LayoutError, TileOp, convert};

use super::Lower;
use super::map::unknown;
use super::parked::bytes_of;
use super::reach::Lacking;
use super::value::{Bound, Coords, Form, Fragment};
use crate::error::{Result, internal};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// An operation that gives its results elements of its operands.
    pub(super) fn exchange_tiles(&mut self, op: OpId) -> Result<()> {
        let module = self.module;
        let Some(moved) = self.tile_op(op)? else { return self.gather_parked(op) };
        let (operands, results) = (&module.ops[op].operands, &module.ops[op].results);
        let (Some(&first), Some(&result)) = (operands.first(), results.first()) else {
            return Err(internal("a move of nothing"));
        };
        let family = self.family()?;
        let ty = module.ty(result);
        let form = self.form(result, family)?;
        let wanted = parts(&self.map_of(result, family, form)?, results.len())
            .and_then(|all| all.then(&moved.map()?))
            .map_err(|error| unknown(ty, &error))?;
        let now = self.form_now(first, family)?;
        let held = self.map_of(first, family, now)?;
        let held = parts(&held, operands.len()).map_err(|error| unknown(ty, &error))?;
        if !self.has_way((&held, &wanted), ty)?
            && let Some(elements) = self.of_few(op, first, &self.places(result, family, form)?)?
        {
            return self.hold(result, form, elements);
        }
        let mut elements = Vec::new();
        for &operand in operands {
            elements.extend(self.held_elements(operand, now)?);
        }
        let mut found = self.brought(elements, (&held, &wanted), ty)?.into_iter();
        let each = found.len() / results.len().max(1);
        for &result in results {
            let own = found.by_ref().take(each).collect();
            self.hold(result, form, own)?;
        }
        Ok(())
    }

    /// The elements at these places of what an operation makes of a tile, where that is made of few elements that other
    /// lanes hold: those come, and not what is computed from them.
    fn of_few(&mut self, op: OpId, source: ValueId, places: &[Coords]) -> Result<Option<Vec<Val<'c>>>> {
        let (mut seen, mut lacking) = (Vec::new(), Lacking::default());
        for place in places {
            let Some(place) = self.seen_through(op, place)? else { return Ok(None) };
            if !self.lacks(source, place.clone(), &mut lacking)? {
                return Ok(None);
            }
            seen.push(place);
        }
        if !(1..=places.len() / 4).contains(&lacking.count()) || !self.bring(lacking)? {
            return Ok(None);
        }
        seen.into_iter().map(|place| self.at(source, place)).collect::<Result<_>>().map(Some)
    }

    /// A tile in registers in the form of another.
    pub(super) fn converted(&mut self, value: ValueId, like: ValueId) -> Result<Fragment<'c>> {
        let family = self.family()?;
        let (now, form) = (self.form_now(value, family)?, self.form(like, family)?);
        let elements = self.in_form(value, now, form)?;
        self.registers(form, elements)
    }

    /// The elements of a tile as a form has them.
    fn in_form(&mut self, value: ValueId, now: Form, form: Form) -> Result<Vec<Val<'c>>> {
        let family = self.family()?;
        let (held, wanted) = (self.map_of(value, family, now)?, self.map_of(value, family, form)?);
        let elements = self.held_elements(value, now)?;
        self.brought(elements, (&held, &wanted), self.module.ty(value))
    }

    /// The elements that a lane has of a tile which is in this form, or gets it.
    pub(super) fn held_elements(&mut self, value: ValueId, form: Form) -> Result<Vec<Val<'c>>> {
        let family = self.family()?;
        let now = self.form_now(value, family)?;
        if now != form {
            return self.in_form(value, now, form);
        }
        let places = self.places(value, family, form)?;
        self.reach(value, &places)?;
        places.into_iter().map(|place| self.at(value, place)).collect()
    }

    /// Whether the scratch memory of the partition is enough to bring elements from one layout to another.
    pub(super) fn has_way(&self, (held, wanted): (&Layout, &Layout), ty: &Type) -> Result<bool> {
        let bits = 8 * bytes_of(ty)?;
        Ok(convert(held, wanted, bits, &self.prices(bits as u32)).is_ok())
    }

    /// Elements of a type where another layout wants them.
    pub(super) fn brought(
        &mut self,
        elements: Vec<Val<'c>>,
        (held, wanted): (&Layout, &Layout),
        ty: &Type,
    ) -> Result<Vec<Val<'c>>> {
        let bits = 8 * bytes_of(ty)? as u32;
        let stored = elements.into_iter().map(|element| as_int(self.stored_bits(element)?));
        let stored = stored.collect::<Result<Vec<_>>>()?;
        let found = self.relayout(stored, (held, wanted), (bits, &self.prices(bits)))?;
        found.into_iter().map(|element| self.unstored(element.into(), ty)).collect()
    }

    /// The map of an operation; none where places are only known when the kernel runs.
    pub(super) fn tile_op(&self, op: OpId) -> Result<Option<TileOp>> {
        let shape = |value: ValueId| self.module.ty(value).shape().to_vec();
        let from = shape(self.operand(op, 0)?);
        let to = self.module.ops[op].results.first().map(|&result| shape(result)).unwrap_or_default();
        Ok(Some(match self.module.ops[op].opcode {
            Opcode::Reshape => TileOp::Reshape { from, to },
            Opcode::Trans => {
                let order = self.order(op, from.len())?.to_vec();
                TileOp::Trans { shape: from, order }
            }
            Opcode::ExpandDims => TileOp::ExpandDims { axis: self.axis(op, to.len())?, shape: from },
            Opcode::Broadcast => TileOp::Broadcast { from, to },
            Opcode::Join => TileOp::Join { shape: from },
            Opcode::Split => TileOp::Split { shape: from },
            Opcode::Cat => TileOp::Cat { shape: from, axis: 0 },
            Opcode::Gather => return Ok(None),
            opcode => return Err(internal(format!("{opcode:?} moves no elements"))),
        }))
    }

    /// An element as an integer of whole bytes.
    pub(super) fn stored_bits(&mut self, element: Val<'c>) -> Result<Val<'c>> {
        match element {
            Val::PointerValue(pointer) => Ok(self.ir.address(pointer, 64)?.into()),
            Val::IntValue(int) if int.get_type().get_bit_width() < 8 => {
                Ok(self.ir.zext(int, self.ir.int(8))?.into())
            }
            Val::FloatValue(float) => {
                let bits = float.get_type().get_bit_width();
                self.ir.bits(element, self.ir.int(bits).into())
            }
            other => Ok(other),
        }
    }

    /// An element of a type from an integer of whole bytes.
    pub(super) fn unstored(&mut self, bits: Val<'c>, ty: &Type) -> Result<Val<'c>> {
        let width = as_int(bits)?.get_type().get_bit_width();
        let ty = self.element_type(ty)?;
        match ty {
            BasicTypeEnum::PointerType(_) => self.ir.cast(Llvm::IntToPtr, bits, ty),
            BasicTypeEnum::IntType(int) if int.get_bit_width() < width => self.ir.cast(Llvm::Trunc, bits, ty),
            _ => self.ir.bits(bits, ty),
        }
    }

    /// Elements in the order of [`Lower::places`] as the registers of a form.
    fn registers(&mut self, form: Form, elements: Vec<Val<'c>>) -> Result<Fragment<'c>> {
        let registers = match form {
            Form::Tile { packed: true, .. } => {
                let word = self.ir.i32().into();
                let pair = |pair: &[Val<'c>]| match *pair {
                    [low, high] => self.ir.bits(self.ir.pair(low, high)?, word),
                    _ => Err(internal("half a pair")),
                };
                elements.chunks(2).map(pair).collect::<Result<Vec<_>>>()?
            }
            _ => elements,
        };
        Ok(Fragment::finished(self.family()?, form, registers.into()))
    }

    /// The same, as what a value is from now on.
    pub(super) fn hold(&mut self, value: ValueId, form: Form, elements: Vec<Val<'c>>) -> Result<()> {
        let fragment = self.registers(form, elements)?;
        self.bound.insert(value, Bound::Fragment(fragment));
        Ok(())
    }
}

/// The layout of so many tiles, one or two, whose registers come one behind the other.
fn parts(one: &Layout, count: usize) -> std::result::Result<Layout, LayoutError> {
    one.times(&Layout::of(&[(Dim::Register, Dim::Part, count as u64)])?)
}
