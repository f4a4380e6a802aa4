//! Intervals: between which numbers every element of an integer value lies, taken as signed.
//!
//! One walk in the order of the text: what loops carry may be anything, their counters lie between their bounds. What may
//! leave the range of its type wraps there, and may be anything.

use cranelift_entity::SecondaryMap;

use super::integers::predicate;
use super::number::number;
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::types::Type;
use crate::walk::{Event, events};

/// Numbers from `least` to `most`, both among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// The smallest number.
    pub least: i128,
    /// The largest number.
    pub most: i128,
}

/// Most programs of a grid along an axis (the launch limit of dimension x).
const PROGRAMS: i128 = (1 << 31) - 1;

impl Interval {
    fn new(least: i128, most: i128) -> Interval {
        Interval { least, most }
    }

    /// All numbers of a type of so many bits.
    pub fn of_bits(bits: u32) -> Interval {
        let half = 1i128 << bits.clamp(1, 64).saturating_sub(1);
        Interval::new(-half, half - 1)
    }

    /// The numbers of both and all between them.
    fn join(self, other: Interval) -> Interval {
        Interval::new(self.least.min(other.least), self.most.max(other.most))
    }

    /// The interval of what an operation gives at the corners of two others, where it rises or falls in each.
    fn corners(self, other: Interval, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Interval> {
        let all = [
            (self.least, other.least),
            (self.least, other.most),
            (self.most, other.least),
            (self.most, other.most),
        ];
        let all = all.map(|(a, b)| f(a, b));
        let (mut least, mut most) = (i128::MAX, i128::MIN);
        for one in all {
            (least, most) = (least.min(one?), most.max(one?));
        }
        Some(Interval::new(least, most))
    }

    fn is_natural(self) -> bool {
        self.least >= 0
    }

    /// All numbers of as many bits as the largest of this interval and another of natural numbers.
    fn below_power(self, other: Interval) -> Interval {
        let bits = 128 - self.most.max(other.most).leading_zeros();
        Interval::new(0, (1i128 << bits) - 1)
    }
}

/// What an operation on two integers of `bits` bits gives; all numbers of the type where nothing better is known.
pub fn combine(opcode: Opcode, bits: u32, a: Interval, b: Interval) -> Interval {
    use Opcode as O;
    let natural = a.is_natural() && b.is_natural();
    let exact = match opcode {
        O::AddI => a.corners(b, i128::checked_add),
        O::SubI => a.corners(b, i128::checked_sub),
        O::MulI => a.corners(b, i128::checked_mul),
        O::MinSI => Some(Interval::new(a.least.min(b.least), a.most.min(b.most))),
        O::MaxSI => Some(Interval::new(a.least.max(b.least), a.most.max(b.most))),
        O::MinUI if natural => Some(Interval::new(a.least.min(b.least), a.most.min(b.most))),
        O::MaxUI if natural => Some(Interval::new(a.least.max(b.least), a.most.max(b.most))),
        O::DivSI | O::DivUI if b.least > 0 && (opcode == O::DivSI || natural) => {
            a.corners(b, i128::checked_div)
        }
        O::RemSI | O::RemUI if b.least > 0 && (opcode == O::RemSI || natural) => Some(match a {
            _ if natural && a.most < b.least => a,
            _ => Interval::new(a.least.clamp(1 - b.most, 0), a.most.clamp(0, b.most - 1)),
        }),
        O::ShRSI | O::ShRUI
            if b.is_natural() && (opcode == O::ShRSI || natural) && b.most < i128::from(bits) =>
        {
            a.corners(b, |a, b| Some(a >> b))
        }
        O::ShLI if b.is_natural() && b.most < i128::from(bits.min(63)) => {
            a.corners(b, |a, b| a.checked_mul(1i128 << b))
        }
        O::AndI if natural => Some(Interval::new(0, a.most.min(b.most))),
        O::AndI if a.is_natural() => Some(Interval::new(0, a.most)),
        O::AndI if b.is_natural() => Some(Interval::new(0, b.most)),
        O::OrI if natural => Some(Interval::new(a.least.max(b.least), a.below_power(b).most)),
        O::XOrI if natural => Some(a.below_power(b)),
        _ => None,
    };
    let all = Interval::of_bits(bits);
    exact.filter(|e| all.least <= e.least && e.most <= all.most).unwrap_or(all)
}

/// What is known of the integers of a function.
#[derive(Clone, Debug)]
pub struct Intervals {
    of: SecondaryMap<ValueId, Option<Interval>>,
}

/// The intervals of a function.
pub fn intervals(module: &Module, func: OpId) -> Intervals {
    let mut known = Intervals { of: SecondaryMap::new() };
    for event in events(module, func) {
        match event {
            Event::Block(block) => known.counter(module, block),
            Event::Done(op) if op != func => known.results(module, op),
            _ => {}
        }
    }
    known
}

impl Intervals {
    /// Between which numbers the elements of a value lie; none of what holds no integers of 8 bits or more.
    pub fn of(&self, module: &Module, value: ValueId) -> Option<Interval> {
        self.of[value].or_else(|| integer_bits(module.ty(value)).map(Interval::of_bits))
    }

    /// What a comparison says of every element, where that is known.
    pub fn decides(&self, module: &Module, op: OpId) -> Option<bool> {
        let &[a, b] = module.ops[op].operands.as_slice() else { return None };
        let (a, b) = (self.of(module, a)?, self.of(module, b)?);
        let always = |yes: bool, no: bool| (yes || no).then_some(yes);
        let number = predicate(module.attr(op, "predicate"))?;
        if number >= 6 && !(a.is_natural() && b.is_natural()) {
            return None;
        }
        let apart = a.most < b.least || b.most < a.least;
        let same = a.least == a.most && a == b;
        match number {
            0 => always(same, apart),
            1 => always(apart, same),
            2 | 6 => always(a.most < b.least, a.least >= b.most),
            3 | 7 => always(a.most <= b.least, a.least > b.most),
            4 | 8 => always(a.least > b.most, a.most <= b.least),
            _ => always(a.least >= b.most, a.most < b.least),
        }
    }

    /// The counter of a loop, in its body: steps are positive.
    fn counter(&mut self, module: &Module, block: BlockId) {
        let owner = module.blocks[block].region.and_then(|r| module.regions[r].parent);
        let Some(owner) = owner.filter(|&op| module.ops[op].opcode == Opcode::For) else { return };
        let (&[lo, hi, ..], Some(&counter)) =
            (module.ops[owner].operands.as_slice(), module.blocks[block].args.first())
        else {
            return;
        };
        let (Some(lo), Some(hi)) = (self.of(module, lo), self.of(module, hi)) else { return };
        self.of[counter] = (lo.least < hi.most).then(|| Interval::new(lo.least, hi.most - 1));
    }

    fn results(&mut self, module: &Module, op: OpId) {
        for (index, &result) in module.ops[op].results.iter().enumerate() {
            if let Some(bits) = integer_bits(module.ty(result)) {
                self.of[result] = self.transfer(module, op, index, bits);
            }
        }
    }

    /// A result of so many bits; none where nothing is known.
    fn transfer(&self, module: &Module, op: OpId, index: usize, bits: u32) -> Option<Interval> {
        use Opcode as O;
        let data = &module.ops[op];
        let of = |i: usize| data.operands.get(i).and_then(|&v| self.of(module, v));
        let yields = |region: usize| {
            let end = module.entry(op, region).and_then(|block| module.terminator(block))?;
            self.of(module, *module.ops[end].operands.get(index)?)
        };
        match data.opcode {
            O::Constant => {
                let number = number(module, *data.results.first()?)?;
                Some(Interval::new(number, number))
            }
            O::MakeRange => {
                let bound = |name| module.attr(op, name).and_then(Attr::as_i64).map(i128::from);
                Some(Interval::new(bound("start")?, bound("end")? - 1))
            }
            O::GetProgramId => Some(Interval::new(0, PROGRAMS - 1)),
            O::GetNumPrograms => Some(Interval::new(1, PROGRAMS)),
            O::Splat
            | O::Broadcast
            | O::ExpandDims
            | O::Trans
            | O::Reshape
            | O::Split
            | O::IndexCast
            | O::ExtSI => match data.operands.first() {
                Some(&flag) if *module.ty(flag).elem() == Type::I1 => Some(Interval::new(-1, 0)),
                _ => of(0),
            },
            O::Join => Some(of(0)?.join(of(1)?)),
            O::ExtUI => match *module.ty(*data.operands.first()?).elem() {
                Type::I1 => Some(Interval::new(0, 1)),
                _ => of(0).filter(|x| x.is_natural()).or_else(|| {
                    let from = integer_bits(module.ty(*data.operands.first()?))?;
                    Some(Interval::new(0, (1i128 << from) - 1))
                }),
            },
            O::TruncI => of(0).filter(|x| {
                let all = Interval::of_bits(bits);
                all.least <= x.least && x.most <= all.most
            }),
            O::Select => Some(of(1)?.join(of(2)?)),
            O::If => Some(yields(0)?.join(yields(1)?)),
            opcode if data.operands.len() == 2 && opcode.is_elementwise() => {
                Some(combine(opcode, bits, of(0)?, of(1)?))
            }
            _ => None,
        }
    }
}

/// Bits of integers of 8 bits and more.
fn integer_bits(ty: &Type) -> Option<u32> {
    match ty.elem() {
        Type::Int(bits @ 8..=64, _) => Some(*bits),
        Type::Index => Some(64),
        _ => None,
    }
}
