//! Memory through pointers: loads, stores and atomics.

use std::rc::Rc;

use super::attrs;
use super::data::{Data, bits_of, elem_bytes, float_kind, from_bits, int_width, signed, to_bits, wrap};
use super::error::Fault;
use super::float;
use super::machine::Interpreter;
use super::value::Value;
use crate::entity::{OpId, ValueId};
use crate::types::{FloatKind, Type};

/// How an atomic or a descriptor reduction combines what memory holds with an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Combine {
    And,
    Or,
    Xor,
    Add,
    Max,
    Min,
    UMax,
    UMin,
    Exchange,
}

impl Combine {
    /// The pattern that memory gets.
    pub(super) fn apply(self, elem: &Type, old: u64, new: u64) -> Result<u64, Fault> {
        if let Type::Float(kind) = elem {
            return self.floats(*kind, old, new);
        }
        let bits = int_width(elem)?;
        let smaller = signed(old, bits) < signed(new, bits);
        Ok(wrap(
            match self {
                Combine::And => old & new,
                Combine::Or => old | new,
                Combine::Xor => old ^ new,
                Combine::Add => old.wrapping_add(new),
                Combine::Max => {
                    if smaller {
                        new
                    } else {
                        old
                    }
                }
                Combine::Min => {
                    if smaller {
                        old
                    } else {
                        new
                    }
                }
                Combine::UMax => old.max(new),
                Combine::UMin => old.min(new),
                Combine::Exchange => new,
            },
            bits,
        ))
    }

    fn floats(self, kind: FloatKind, old: u64, new: u64) -> Result<u64, Fault> {
        let (x, y) = (float::decode(kind, old), float::decode(kind, new));
        match self {
            Combine::Add => Ok(bits_of(kind, x + y)),
            Combine::Exchange => Ok(new),
            // A NaN loses, as in `maxnumf`.
            Combine::Max => Ok(if y > x || x.is_nan() { new } else { old }),
            Combine::Min => Ok(if y < x || x.is_nan() { new } else { old }),
            other => Err(Fault::Unsupported(format!("{other:?} of floats in memory"))),
        }
    }
}

/// The combinations of `tt.atomic_rmw` in the order of their numbers, which start at 1.
const RMW: [&str; 11] = ["", "and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch"];

fn pointee(ty: &Type) -> Result<&Type, Fault> {
    match ty.elem() {
        Type::Ptr { pointee, .. } => Ok(pointee),
        other => Err(Fault::Malformed(format!("{other} is not a pointer"))),
    }
}

impl Interpreter<'_> {
    pub(super) fn add_ptr(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let (pointer, offset) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let size = elem_bytes(pointee(self.module.ty(pointer))?)? as i64;
        let bits = int_width(self.module.ty(offset).elem())?;
        let (pointers, offsets) = (self.tile(pointer)?, self.tile(offset)?);
        let (pointers, offsets) = (pointers.ints()?, offsets.ints()?);
        if pointers.len() != offsets.len() {
            return Err(Fault::Malformed("tt.addptr of different shapes".into()));
        }
        let moved = pointers.iter().zip(offsets);
        let moved = moved.map(|(&p, &o)| p.wrapping_add_signed(signed(o, bits).wrapping_mul(size)));
        Ok(vec![Data::Int(moved.collect()).into()])
    }

    /// A mask operand, if there is one, and as long as the pointers.
    fn mask(&self, id: Option<&ValueId>, count: usize) -> Result<Option<Rc<Data>>, Fault> {
        let mask = id.map(|&v| self.tile(v)).transpose()?;
        match &mask {
            Some(mask) if mask.len() != count => Err(Fault::Malformed("a mask of another shape".into())),
            _ => Ok(mask),
        }
    }

    /// `tt.load pointers [, mask [, other]]`.
    pub(super) fn load(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let operands = &self.module.ops[op].operands;
        let pointer = self.operand(op, 0)?;
        let elem = pointee(self.module.ty(pointer))?;
        let size = elem_bytes(elem)?;
        let pointers = self.tile(pointer)?;
        let mask = self.mask(operands.get(1), pointers.len())?;
        let mask = mask.as_deref().map(Data::ints).transpose()?;
        let mut patterns = match operands.get(2) {
            Some(&other) => to_bits(elem, &*self.tile(other)?)?,
            None => vec![0; pointers.len()],
        };
        if patterns.len() != pointers.len() {
            return Err(Fault::Malformed("tt.load with `other` of another shape".into()));
        }
        for (i, (pattern, &address)) in patterns.iter_mut().zip(pointers.ints()?).enumerate() {
            if mask.is_none_or(|m| m[i] == 1) {
                *pattern = self.memory.read_bits(address, size)?;
            }
        }
        Ok(vec![from_bits(elem, patterns)?.into()])
    }

    /// `tt.store pointers, values [, mask]`.
    pub(super) fn store(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        self.update(op, 1, 2, |_, _, new| Ok(new[0]))?;
        Ok(Vec::new())
    }

    /// `tt.atomic_rmw kind, pointers, values [, mask]`; the result is what memory held before.
    pub(super) fn atomic_rmw(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let combine = match attrs::required(self.module, op, "atomic_rmw_op", &RMW)? {
            1 => Combine::And,
            2 => Combine::Or,
            3 => Combine::Xor,
            4 | 5 => Combine::Add,
            6 => Combine::Max,
            7 => Combine::Min,
            8 => Combine::UMax,
            9 => Combine::UMin,
            10 => Combine::Exchange,
            _ => return Err(Fault::Malformed("tt.atomic_rmw of kind 0".into())),
        };
        self.update(op, 1, 2, |elem, old, new| combine.apply(elem, old, new[0]))
    }

    /// `tt.atomic_cas pointers, expected, values`; the result is what memory held before.
    pub(super) fn atomic_cas(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        self.update(op, 2, 3, |_, old, new| Ok(if old == new[0] { new[1] } else { old }))
    }

    /// `tt.atomic_poll pointers, expected [timeout]`: whether memory holds what is expected.
    pub(super) fn atomic_poll(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let pointer = self.operand(op, 0)?;
        let size = elem_bytes(pointee(self.module.ty(pointer))?)?;
        let (pointers, expected) = (self.tile(pointer)?, self.tile(self.operand(op, 1)?)?);
        let ends = self.module.ops[op].operands.len() > 2;
        let mut found = Vec::with_capacity(pointers.len());
        for (&address, &wanted) in pointers.ints()?.iter().zip(expected.ints()?) {
            let there = self.memory.read_bits(address, size)? == wanted;
            if !there && !ends {
                return Err(Fault::Unsupported("a wait for what no earlier program has stored".into()));
            }
            found.push(u64::from(there));
        }
        Ok(vec![Data::Int(found).into()])
    }

    /// Replaces the elements behind the pointers by a function of their patterns and those of `inputs`
    /// operands; the operand at `mask` says where. Returns the old elements, zero where the mask is off.
    fn update(
        &mut self,
        op: OpId,
        inputs: usize,
        mask: usize,
        f: impl Fn(&Type, u64, &[u64]) -> Result<u64, Fault>,
    ) -> Result<Vec<Value>, Fault> {
        let module = self.module;
        let operands = &module.ops[op].operands;
        let pointer = self.operand(op, 0)?;
        let elem = pointee(module.ty(pointer))?;
        let size = elem_bytes(elem)?;
        let pointers = self.tile(pointer)?;
        let mask = self.mask(operands.get(mask), pointers.len())?;
        let mask = mask.as_deref().map(Data::ints).transpose()?;
        let inputs = (1..=inputs).map(|i| to_bits(elem, &*self.tile(self.operand(op, i)?)?));
        let inputs = inputs.collect::<Result<Vec<_>, Fault>>()?;
        if inputs.iter().any(|v| v.len() != pointers.len()) {
            return Err(Fault::Malformed(format!("{} of different shapes", module.op_name(op))));
        }
        let mut olds = vec![0; pointers.len()];
        let mut new = vec![0; inputs.len()];
        for (i, &address) in pointers.ints()?.iter().enumerate() {
            if mask.is_none_or(|m| m[i] == 1) {
                olds[i] = self.memory.read_bits(address, size)?;
                new.iter_mut().zip(&inputs).for_each(|(slot, input)| *slot = input[i]);
                self.memory.write_bits(address, size, f(elem, olds[i], &new)?)?;
            }
        }
        match elem {
            Type::Float(_) => float_kind(elem).map(drop)?,
            _ => int_width(elem).map(drop)?,
        }
        Ok(vec![from_bits(elem, olds)?.into()])
    }
}
