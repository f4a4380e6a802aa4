//! Atomics whose old value is read, `tt.atomic_cas`, loads and polls: one lane of those that hold an element asks, the others
//! are told (C3, C65).

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as Llvm;
use smallvec::smallvec;
use warploom_ir::OpId;
use warploom_ir::diag::Code;

use super::Lower;
use super::update::{Atomic, LOAD, POLL, Stored};
use super::value::{Bound, Coords, Form, Fragment};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family, Group, Peers};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// A scalar, a vector or a matrix of atomics; the result is what was there.
    pub(super) fn fetch_all(&mut self, op: OpId, stored: &Stored, atomic: Atomic) -> Result<()> {
        let result = self.only_result(op)?;
        self.before_release(op, atomic)?;
        if !self.module.ty(result).is_tensor() {
            return self.fetch_scalar(op, stored, atomic);
        }
        let family = self.family()?;
        let form = self.form(result, family)?;
        let registers = match form {
            Form::Tile { packed: true, .. } => {
                let mut elements = Vec::new();
                for at in self.places(result, family, form)? {
                    elements.push(self.fetch_at(op, stored, atomic, at, None)?);
                }
                return self.hold(result, form, elements);
            }
            Form::Tile { cols, .. } => {
                let (rows, _) = self.matrix(result)?;
                let mut registers = Vec::new();
                for i in 0..family.count(rows, cols)? {
                    let at = self.place_at(result, family, i)?;
                    registers.push(self.fetch_at(op, stored, atomic, at, None)?);
                }
                registers
            }
            Form::Slice { axis, extent } => self.fetch_slice(op, stored, atomic, family, (axis, extent))?,
            Form::Whole | Form::Flat | Form::Linear(_) => self.fetch_places(op, stored, atomic, form)?,
        };
        self.bound.insert(result, Bound::Fragment(Fragment::finished(family, form, registers.into())));
        Ok(())
    }

    /// Before a scalar atomic that releases: what the other lanes of the partition did comes first.
    pub(super) fn before_release(&mut self, op: OpId, atomic: Atomic) -> Result<()> {
        let scalar = !self.module.ty(self.only_result(op)?).is_tensor();
        let releases = matches!(atomic.order, "release" | "acq_rel");
        if scalar && releases && !self.place.elected { self.meet_all() } else { Ok(()) }
    }

    /// A scalar: the partition's first lane asks.
    fn fetch_scalar(&mut self, op: OpId, stored: &Stored, atomic: Atomic) -> Result<()> {
        let result = self.only_result(op)?;
        let (pointer, value) = (self.scalar(stored.pointer)?, self.scalar(stored.value)?);
        let mask = stored.mask.map(|m| self.scalar(m)).transpose()?;
        let swapped = self.swapped(op, &Coords::new())?;
        let first = if self.place.elected { None } else { Some(self.first_thread()?) };
        let mask = self.both(mask, first)?;
        let old = self.fetch(op, (atomic, stored.bits), pointer, value, swapped, mask)?;
        if atomic.name == POLL && self.deadline.is_none() {
            // It ends in one way only.
            self.bound.insert(result, Bound::Scalar(self.always()));
            return if first.is_some() { self.meet_all() } else { Ok(()) };
        }
        let acquires = matches!(atomic.order, "acquire" | "acq_rel") || atomic.name == POLL;
        let old = match first {
            Some(_) if acquires || self.last_use[result] > 0 => {
                let peers = Peers { lanes: smallvec![16, 8, 4, 2, 1], warps: Group::of(self.place.warps, 1) };
                self.spread(smallvec![old], &peers)?.pop().unwrap_or(old)
            }
            _ => old,
        };
        self.bound.insert(result, Bound::Scalar(old));
        Ok(())
    }

    /// A vector: of the lanes that hold an element, the one whose own other coordinate is 0 asks.
    fn fetch_slice(
        &mut self,
        op: OpId,
        stored: &Stored,
        atomic: Atomic,
        family: Family,
        (axis, extent): (Axis, u64),
    ) -> Result<Vec<Val<'c>>> {
        let other = if axis == Axis::Row { Axis::Col } else { Axis::Row };
        let place = family.first(self, other)?;
        let mine: Val<'c> = self.ir.icmp(IntPredicate::EQ, place, self.ir.c32(0))?.into();
        let read = self.last_use[self.only_result(op)?] > 0;
        let mut registers = Vec::new();
        for offset in family.held(axis, extent)? {
            let at = self.slice_at(stored.value, family, axis, offset);
            let old = self.fetch_at(op, stored, atomic, at, Some(mine))?;
            registers.push(match read {
                true => self.spread(smallvec![old], &family.peers(other))?.pop().unwrap_or(old),
                false => old,
            });
        }
        Ok(registers)
    }

    /// A tile that no family lays out; where several lanes hold an element, one asks and scratch memory tells the
    /// others.
    fn fetch_places(
        &mut self,
        op: OpId,
        stored: &Stored,
        atomic: Atomic,
        form: Form,
    ) -> Result<Vec<Val<'c>>> {
        let (family, result) = (self.family()?, self.only_result(op)?);
        let mine = self.owner(result, family, form)?;
        let mut registers = Vec::new();
        let places = self.places(result, family, form)?;
        for &operand in &self.module.ops[op].operands {
            self.reach(operand, &places)?;
        }
        for at in places {
            registers.push(self.fetch_at(op, stored, atomic, at, mine)?);
        }
        if mine.is_none() || self.last_use[result] == 0 {
            return Ok(registers);
        }
        let fragment = Fragment::finished(family, form, registers.into());
        self.bound.insert(result, Bound::Fragment(fragment));
        // Only who asked knows.
        let ty = self.module.ty(result);
        let start = self.park(&[result])?.first().copied().unwrap_or(0);
        let mut registers = Vec::new();
        for at in self.places(result, family, form)? {
            let number = self.row_major(ty.shape(), &at)?;
            registers.push(self.parked(ty, start, number)?);
        }
        self.meet_all()?;
        Ok(registers)
    }

    /// One element, if `mine`.
    fn fetch_at(
        &mut self,
        op: OpId,
        stored: &Stored,
        atomic: Atomic,
        at: Coords,
        mine: Option<Val<'c>>,
    ) -> Result<Val<'c>> {
        let to = self.at(stored.pointer, at.clone())?;
        let mask = stored.mask.map(|m| self.at(m, at.clone())).transpose()?;
        let mask = self.both(mask, mine)?;
        let swapped = self.swapped(op, &at)?;
        let value = self.at(stored.value, at)?;
        self.fetch(op, (atomic, stored.bits), to, value, swapped, mask)
    }

    /// What `tt.atomic_cas` puts where it finds the value that it compares with.
    fn swapped(&mut self, op: OpId, at: &Coords) -> Result<Option<Val<'c>>> {
        if self.module.ops[op].opcode != warploom_ir::Opcode::AtomicCas {
            return Ok(None);
        }
        let value = self.operand(op, 2)?;
        match self.module.ty(value).is_tensor() {
            true => self.at(value, at.clone()).map(Some),
            false => self.scalar(value).map(Some),
        }
    }

    /// Updates one element and returns what was there; zero where masked.
    fn fetch(
        &mut self,
        op: OpId,
        (atomic, bits): (Atomic, u32),
        to: Val<'c>,
        value: Val<'c>,
        swapped: Option<Val<'c>>,
        mask: Option<Val<'c>>,
    ) -> Result<Val<'c>> {
        if atomic.by_swapping() {
            return self.swap_in(atomic, to, value, mask);
        }
        if atomic.name == POLL {
            return self.poll_one(atomic, bits, to, value, mask);
        }
        let ty = self.result_type(op)?;
        let loads = atomic.name == LOAD;
        let word = if loads { self.ir.int(bits.max(16)).const_zero() } else { self.as_bits(value, bits)? };
        let class = match bits {
            8 if loads => "h",
            16 => "h",
            32 => "r",
            64 => "l",
            _ => return Err(refuse(Code::Type, format!("an atomic of {bits} bits")).rule("C3").into()),
        };
        let Atomic { name, ty: ty_name, order, scope, .. } = atomic;
        let mut args: Vec<Val<'c>> = vec![to, word.into(), word.get_type().const_zero().into()];
        let mut constraints = format!("=&{class},l,{class},{class}");
        let mut operands = "$2".to_owned();
        if let Some(swapped) = swapped {
            args.push(self.as_bits(swapped, bits)?.into());
            constraints.push_str(&format!(",{class}"));
            operands.push_str(", $4");
        }
        let guard = match mask {
            Some(mask) => {
                args.push(mask);
                constraints.push_str(",b");
                format!("@${} ", args.len())
            }
            None => String::new(),
        };
        // PTX takes order and scope either way round; Triton's tests look for the way its own compiler writes them.
        let how = if name == "cas" { format!("{order}.{scope}") } else { format!("{scope}.{order}") };
        let what = match loads {
            true => format!("ld.{order}.{scope}.global.{ty_name} $0, [$1]"),
            false => format!("atom.global.{how}.{name}.{ty_name} $0, [$1], {operands}"),
        };
        let text = format!("mov.b{} $0, $3;\n\t{guard}{what};", bits.max(16));
        let old = self.ir.assembly(&text, &constraints, &[word.get_type().into()], &args, false)?;
        let old = as_int(old.ok_or_else(|| internal("an atomic without a result"))?)?;
        let old = if bits == 8 {
            as_int(self.ir.cast(Llvm::Trunc, old.into(), self.ir.int(8).into())?)?
        } else {
            old
        };
        match ty {
            BasicTypeEnum::PointerType(_) => self.ir.cast(Llvm::IntToPtr, old.into(), ty),
            _ => self.ir.bits(old.into(), ty),
        }
    }

    /// The greater or the smaller of what is there and a number of 16 bits, or their sum, swapped in until nobody was
    /// faster; what was there, zero where masked.
    fn swap_in(
        &mut self,
        atomic: Atomic,
        to: Val<'c>,
        value: Val<'c>,
        mask: Option<Val<'c>>,
    ) -> Result<Val<'c>> {
        let (ty, word) = (value.get_type(), self.ir.int(16));
        let (start, retry, exit) = (self.ir.block(), self.ir.block(), self.ir.block());
        let before = self.ir.here()?;
        let asked = as_int(mask.unwrap_or_else(|| self.always()))?;
        self.ir.br_if(asked, start, exit)?;
        self.ir.seek(start);
        let text = format!("ld.relaxed.{}.global.b16 $0, [$1];", atomic.scope);
        let first = self.ir.assembly(&text, "=h,l", &[word.into()], &[to], false)?;
        let first = as_int(first.ok_or_else(|| internal("a load without a result"))?)?;
        self.ir.br(retry)?;
        self.ir.seek(retry);
        let seen = self.ir.phi(word.into())?;
        seen.add_incoming(&[(&first, start)]);
        let old = self.ir.bits(seen.as_basic_value(), ty)?;
        let new = match atomic.name {
            "add" => self.ir.binary(Llvm::FAdd, old, value)?,
            "max" => self.ir.overloaded("maxnum", &[old, value])?,
            _ => self.ir.overloaded("minnum", &[old, value])?,
        };
        let new = self.ir.bits(new, word.into())?;
        let text = format!("atom.global.{}.{}.cas.b16 $0, [$1], $2, $3;", atomic.order, atomic.scope);
        let args = [to, seen.as_basic_value(), new];
        let found = self.ir.assembly(&text, "=h,l,h,h", &[word.into()], &args, false)?;
        let found = as_int(found.ok_or_else(|| internal("an atomic without a result"))?)?;
        let mine = self.ir.icmp(IntPredicate::EQ, found, as_int(seen.as_basic_value())?)?;
        let latch = self.ir.here()?;
        seen.add_incoming(&[(&found, latch)]);
        self.ir.br_if(mine, exit, retry)?;
        self.ir.seek(exit);
        let result = self.ir.phi(word.into())?;
        result.add_incoming(&[(&word.const_zero(), before), (&found, latch)]);
        self.ir.bits(result.as_basic_value(), ty)
    }
}
