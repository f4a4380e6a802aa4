//! Two neighbours of a row at once, where a lane holds both: `add`, `mul` and `fma` of `f32x2`, on chips that have them
//! (C48, C66), and integers that become f16 (C68).

use inkwell::values::InstructionOpcode as Llvm;
use smallvec::SmallVec;
use warploom_chips::{Feature, PtxVersion};
use warploom_ir::{FloatKind, OpId, Opcode, Type, ValueId};

use super::Lower;
use super::tile::Needs;
use super::value::{Base, Coords, Key};
use crate::error::{Result, internal};
use crate::family::{Axis, Family};
use crate::llvm::Val;

/// First version with such instructions (PTX ISA 8.6).
const LEAST: PtxVersion = PtxVersion { major: 8, minor: 6 };

/// The operation on pairs, where there is one.
fn arithmetic(opcode: Opcode) -> Option<Option<Llvm>> {
    match opcode {
        Opcode::AddF => Some(Some(Llvm::FAdd)),
        Opcode::SubF => Some(Some(Llvm::FSub)),
        Opcode::MulF => Some(Some(Llvm::FMul)),
        Opcode::Fma => Some(None),
        _ => None,
    }
}

impl<'c> Lower<'c, '_> {
    /// Whether the chip computes with pairs of f32.
    pub(super) fn has_pairs(&self) -> bool {
        self.ir.ptx >= LEAST && self.ir.target.has(Feature::F32x2)
    }

    /// The two neighbours that an element is computed with.
    pub(super) fn pair_of(&self, op: OpId, value: ValueId, at: &Coords) -> Option<[Coords; 2]> {
        let halves = self.makes_halves(op);
        if !halves && (arithmetic(self.module.ops[op].opcode).is_none() || !self.has_pairs()) {
            return None;
        }
        let single = *self.module.ty(value).elem() == Type::Float(FloatKind::F32);
        let last = at.last()?;
        // Where two instructions are made of it, only the rows of tensor memory are worth the registers in pairs.
        let packed = halves || self.ir.target.has(Feature::PackedF32);
        let held = matches!(last.base, Base::Lane(family, Axis::Col)
            if matches!(family, Family::Rows(_)) || packed && family.run() > 1);
        if !(single || halves) || !held {
            return None;
        }
        let place = |odd: u32| {
            let mut at = at.clone();
            if let Some(last) = at.last_mut() {
                last.offset = last.offset & !1 | odd;
            }
            at
        };
        Some([place(0), place(1)])
    }

    /// The operands of both, those of the first before those of the second.
    pub(super) fn pair_needs(&self, op: OpId, places: &[Coords; 2]) -> Needs {
        let operands = &self.module.ops[op].operands;
        let at = |place: &Coords| operands.iter().map(|&v| self.key(v, place.clone())).collect::<Needs>();
        places.iter().flat_map(at).collect()
    }

    /// Computes both and keeps them.
    pub(super) fn remember_pair(
        &mut self,
        op: OpId,
        value: ValueId,
        places: &[Coords; 2],
        needs: &Needs,
    ) -> Result<()> {
        let known = |key: &Key| self.memo.get(key).copied().ok_or_else(|| internal("an operand is missing"));
        let args = needs.iter().map(known).collect::<Result<SmallVec<[Val<'c>; 6]>>>()?;
        let (first, second) = args.split_at(args.len() / 2);
        if self.makes_halves(op) {
            let &[a, b] = args.as_slice() else { return Err(internal("a pair of something else")) };
            return match self.halves_of([a, b], self.module.ops[op].opcode == Opcode::SIToFP)? {
                Some(both) => self.keep_both(value, places, both),
                None => places.iter().zip([a, b]).try_for_each(|(place, one)| {
                    let (key, one) = (self.key(value, place.clone()), self.element(op, &[one])?);
                    self.remember(key, one);
                    Ok(())
                }),
            };
        }
        let pairs = first.iter().zip(second).map(|(&a, &b)| self.ir.pair(a, b));
        let pairs = pairs.collect::<Result<SmallVec<[Val<'c>; 3]>>>()?;
        let both = match (arithmetic(self.module.ops[op].opcode), pairs.as_slice()) {
            (Some(Some(llvm)), &[a, b]) => self.ir.binary(llvm, a, b)?,
            (Some(None), pairs @ &[_, _, _]) => self.ir.overloaded("fma", pairs)?,
            _ => return Err(internal("a pair of something else")),
        };
        self.keep_both(value, places, both)
    }

    fn keep_both(&mut self, value: ValueId, places: &[Coords; 2], both: Val<'c>) -> Result<()> {
        for (place, index) in places.iter().zip(0..) {
            let key = self.key(value, place.clone());
            let one = self.ir.lane(both, index)?;
            self.remember(key, one);
        }
        Ok(())
    }

    /// Folds neighbours by one addition of f32, two at a time; `None` where the region is something else.
    pub(super) fn sum_of_pairs(
        &mut self,
        block: warploom_ir::BlockId,
        operand: ValueId,
        places: &[Coords],
        chains: usize,
    ) -> Result<Option<[Val<'c>; 2]>> {
        let single = *self.module.ty(operand).elem() == Type::Float(FloatKind::F32);
        let (args, ops) = (&self.module.blocks[block].args, &self.module.blocks[block].ops);
        let sums = match (args.as_slice(), ops.as_slice()) {
            (&[a, b], &[add, _]) => {
                let operands = self.module.ops[add].operands.as_slice();
                self.module.ops[add].opcode == Opcode::AddF && (operands == [a, b] || operands == [b, a])
            }
            _ => false,
        };
        if !single || !sums || !self.has_pairs() || !places.len().is_multiple_of(2) {
            return Ok(None);
        }
        let mut all: Vec<Val<'c>> = Vec::new();
        for (n, two) in places.chunks(2).enumerate() {
            let two = two.iter().map(|at| self.at(operand, at.clone())).collect::<Result<Vec<_>>>()?;
            let &[a, b] = two.as_slice() else { return Err(internal("a pair of other than two")) };
            let pair = self.ir.pair(a, b)?;
            match all.get(n % chains).copied() {
                Some(sum) => all[n % chains] = self.ir.binary(Llvm::FAdd, sum, pair)?,
                None => all.push(pair),
            }
        }
        let mut rest = all.into_iter();
        let mut sum = rest.next().ok_or_else(|| internal("a sum of nothing"))?;
        for other in rest {
            sum = self.ir.binary(Llvm::FAdd, sum, other)?;
        }
        Ok(Some([self.ir.lane(sum, 0)?, self.ir.lane(sum, 1)?]))
    }
}
