//! `tt.load` of neighbours: elements that a lane holds side by side and that lie side by side in memory come with
//! one access of up to 16 bytes (C48).

use std::fmt::Write;

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use smallvec::SmallVec;
use warploom_ir::{OpId, Opcode, Type, ValueId};

use super::Lower;
use super::chunks::CHUNK;
use super::value::{Base, Coords, Key, element_bits};
use crate::error::{Result, internal};
use crate::family::Axis;
use crate::llvm::{Val, as_int, as_ptr};

/// Elements that one access brings.
pub(super) struct Neighbours {
    /// Where they stand, in order.
    pub places: SmallVec<[Coords; 8]>,
    /// Bits of one.
    bits: u32,
}

impl<'c> Lower<'c, '_> {
    /// How many elements of so many bytes along a dimension one access takes: they are neighbours in memory, aligned as one and
    /// masked alike; 16 bytes at most. 0 where not even one is aligned.
    pub(super) fn adjoining(
        &self,
        pointer: ValueId,
        mask: Option<ValueId>,
        (dim, bytes): (usize, u64),
    ) -> u64 {
        let run = self.runs.along(self.module, pointer, dim);
        let alike = mask.map_or(u64::MAX, |mask| self.runs.along(self.module, mask, dim).equal);
        run.consecutive.min(run.multiple / bytes).min(alike).min(CHUNK / bytes)
    }

    /// The elements that come together with the one at a position; `None` where it comes alone.
    pub(super) fn neighbours(&mut self, op: OpId, at: &Coords) -> Option<Neighbours> {
        let operation = &self.module.ops[op];
        if operation.opcode != Opcode::Load || self.module.is_volatile(op) {
            return None;
        }
        let (&result, &pointer) = (operation.results.first()?, operation.operands.first()?);
        let ty = self.module.ty(result);
        let bits = element_bits(ty).filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
        let last = at.last()?;
        let Base::Lane(family, Axis::Col) = last.base else { return None };
        if matches!(ty.elem(), Type::Ptr { .. }) || family.run() < 2 {
            return None;
        }
        let (bytes, dim) = (u64::from(bits / 8), at.len() - 1);
        let mask = operation.operands.get(1).copied();
        let count = self.adjoining(pointer, mask, (dim, bytes)).min(family.run());
        if count < 2 {
            return None;
        }
        let first = u64::from(last.offset) / count * count;
        let place = |i: u64| {
            let mut at = at.clone();
            if let Some(last) = at.last_mut() {
                last.offset = (first + i) as u32;
            }
            at
        };
        Some(Neighbours { places: (0..count).map(place).collect(), bits })
    }

    /// What an access needs: the pointer and the mask of the first element, what stands for each masked one.
    pub(super) fn neighbours_need(&self, op: OpId, all: &Neighbours) -> SmallVec<[Key; 4]> {
        let mut needs = SmallVec::new();
        let Some(first) = all.places.first() else { return needs };
        for (index, &operand) in self.module.ops[op].operands.iter().enumerate() {
            let tensor = self.module.ty(operand).is_tensor();
            let at = |place: &Coords| if tensor { place.clone() } else { Coords::new() };
            match index {
                0 | 1 => needs.push(self.key(operand, at(first))),
                _ => needs.extend(all.places.iter().map(|place| self.key(operand, at(place)))),
            }
        }
        needs
    }

    /// Loads the elements; `args` are the values of what [`Lower::neighbours_need`] names.
    pub(super) fn load_neighbours(
        &mut self,
        op: OpId,
        all: &Neighbours,
        args: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let [pointer, rest @ ..] = args else { return Err(internal("a load without a pointer")) };
        let total = all.bits * all.places.len() as u32;
        let word = if all.bits == 64 { 64 } else { total.min(32) };
        let count = total / word;
        let cache = self.cache_of_load(op)?;
        let words = match rest {
            [] if !cache.is_empty() => {
                let none = vec![self.ir.int(word).const_zero(); count as usize];
                let always = self.always();
                self.load_masked(*pointer, always, &none, cache)?
            }
            [] => {
                let int = self.ir.int(word);
                let ty: BasicTypeEnum = if count == 1 { int.into() } else { int.vec_type(count).into() };
                let loaded = self.ir.load(ty, as_ptr(*pointer)?, total / 8)?;
                match count {
                    1 => vec![as_int(loaded)?],
                    _ => {
                        (0..count).map(|i| as_int(self.ir.lane(loaded, i.into())?)).collect::<Result<_>>()?
                    }
                }
            }
            [mask, others @ ..] => {
                let others = self.words_of(others, all, word, count)?;
                self.load_masked(*pointer, *mask, &others, cache)?
            }
        };
        let (ty, bits) = (self.result_type(op)?, self.ir.int(all.bits));
        let per_word = word / all.bits;
        let element = |i: u32| {
            let whole = words.get((i / per_word) as usize).ok_or_else(|| internal("a word is missing"))?;
            let shifted = match i % per_word {
                0 => *whole,
                n => self.ir.shr(*whole, u64::from(n * all.bits))?,
            };
            let one = if per_word == 1 {
                shifted.into()
            } else {
                self.ir.cast(Llvm::Trunc, shifted.into(), bits.into())?
            };
            self.ir.bits(one, ty)
        };
        (0..all.places.len() as u32).map(element).collect()
    }

    /// Elements as words, the first lowest; zero where there are none.
    fn words_of(
        &mut self,
        elements: &[Val<'c>],
        all: &Neighbours,
        word: u32,
        count: u32,
    ) -> Result<Vec<IntValue<'c>>> {
        let int = self.ir.int(word);
        let mut words = vec![int.const_zero(); count as usize];
        let per_word = (word / all.bits) as usize;
        for (i, &element) in elements.iter().enumerate() {
            let bits = as_int(self.ir.bits(element, self.ir.int(all.bits).into())?)?;
            let wide = self.ir.zext(bits, int)?;
            let place = self.ir.shl(wide, u64::from(all.bits) * (i % per_word) as u64)?;
            let whole = words.get_mut(i / per_word).ok_or_else(|| internal("too many elements"))?;
            *whole = self.ir.or(*whole, place)?;
        }
        Ok(words)
    }

    /// Loads words where the mask says so; keeps those given elsewhere. `cache` stands behind `ld.global`.
    pub(super) fn load_masked(
        &mut self,
        pointer: Val<'c>,
        mask: Val<'c>,
        others: &[IntValue<'c>],
        cache: &str,
    ) -> Result<Vec<IntValue<'c>>> {
        let ty = others.first().ok_or_else(|| internal("a load of no words"))?.get_type();
        let bits = ty.get_bit_width();
        let class = match bits {
            64 => "l",
            16 => "h",
            _ => "r",
        };
        let count = others.len();
        let mut text = String::new();
        let mut list = String::new();
        for i in 0..count {
            let _ = write!(text, "mov.b{bits} ${i}, ${};\n\t", count + 2 + i);
            let _ = write!(list, "{}${i}", if i == 0 { "" } else { ", " });
        }
        let (vector, list) =
            if count > 1 { (format!(".v{count}"), format!("{{{list}}}")) } else { (String::new(), list) };
        let _ = write!(text, "@${} ld.global{cache}{vector}.b{bits} {list}, [${count}];", count + 1);
        let outputs = vec![format!("=&{class}"); count].join(",");
        let constraints = format!("{outputs},l,b{}", format!(",{class}").repeat(count));
        let mut args = vec![pointer, mask];
        args.extend(others.iter().map(|&word| Val::from(word)));
        let results: Vec<BasicTypeEnum> = vec![ty.into(); count];
        let loaded = self.ir.assembly(&text, &constraints, &results, &args, false)?;
        let loaded = loaded.ok_or_else(|| internal("a load without a result"))?;
        match count {
            1 => Ok(vec![as_int(loaded)?]),
            _ => (0..count as u32).map(|i| as_int(self.ir.member(loaded, i)?)).collect(),
        }
    }
}
