//! Integer and pointer arithmetic along a dimension.

use super::number::number;
use super::run::{MOST, Run, power, unit};
use super::state::State;
use crate::attr::Attr;
use crate::entity::{OpId, ValueId};
use crate::opcode::Opcode;

impl State<'_> {
    /// `a + b`, `a - b` or a pointer moved on; `along` says how many elements each moves in bytes.
    pub fn sum(&self, op: OpId, (a, x): (ValueId, Run), mut y: Run) -> Run {
        let opcode = self.module.ops[op].opcode;
        let unit = if opcode == Opcode::AddPtr { unit(self.module.ty(a)) } else { 1 };
        y.multiple = y.multiple.saturating_mul(unit).min(MOST);
        let along = match opcode {
            Opcode::SubI => x.consecutive.min(y.equal),
            _ => x.consecutive.min(y.equal).max(x.equal.min(y.consecutive)),
        };
        let multiple = match along {
            1 => x.each(unit).min(y.each(unit)),
            group => x.first(group, unit).min(y.first(group, unit)),
        };
        Run { consecutive: along, multiple, equal: x.equal.min(y.equal), prefix: 1 }
    }

    pub fn product(&self, (a, x): (ValueId, Run), (b, y): (ValueId, Run)) -> Run {
        match (number(self.module, a), number(self.module, b)) {
            (Some(1), _) => y,
            (_, Some(1)) => x,
            _ => {
                let multiple = x.each(1).saturating_mul(y.each(1)).min(MOST);
                Run { multiple, ..Run::equals(x.equal.min(y.equal)) }
            }
        }
    }

    /// `a mod b`: a group of consecutive numbers that starts at a multiple of its size stays together where that divides
    /// `b` (G20). Of negative numbers that is so but for the multiples of `b`, which are not looked for.
    pub fn remainder(&self, x: Run, y: Run) -> Run {
        let group = x.consecutive.min(x.multiple).min(y.each(1)).min(y.equal);
        let both = Run { multiple: x.each(1).min(y.each(1)), ..Run::equals(x.equal.min(y.equal)) };
        match group {
            0 | 1 => both,
            _ => Run { consecutive: group, multiple: x.first(group, 1).min(y.each(1)), ..both },
        }
    }

    /// `a / b`: equal within groups that start at a multiple of their size, where that divides `b`, and `a` is not
    /// negative; multiples of a constant power of two are divided.
    pub fn quotient(&self, a: ValueId, x: Run, (b, y): (ValueId, Run), signed: bool) -> Option<Run> {
        let both = x.equal.min(y.equal);
        let group = x.consecutive.min(x.multiple).min(y.each(1)).min(y.equal);
        let equal = match group > both && (!signed || self.signs[a]?) {
            true => group,
            false => both,
        };
        let divisor =
            number(self.module, b).and_then(|n| u64::try_from(n).ok()).filter(|n| n.is_power_of_two());
        let multiple = divisor.map_or(1, |n| (x.each(1) / n).max(1));
        Some(Run { multiple, ..Run::equals(equal) })
    }

    /// A shift to the right by a constant, which rounds down whatever the sign.
    pub fn shifted_right(&self, x: Run, (b, y): (ValueId, Run)) -> Run {
        let both = x.equal.min(y.equal);
        let Some(by) = self.shift(b) else { return Run::equals(both) };
        let group = x.consecutive.min(x.multiple).min(by);
        Run { multiple: (x.each(1) / by).max(1), ..Run::equals(both.max(group)) }
    }

    /// A shift to the left.
    pub fn shifted_left(&self, x: Run, (b, y): (ValueId, Run)) -> Run {
        let by = self.shift(b).unwrap_or(1);
        Run { multiple: x.each(1).saturating_mul(by).min(MOST), ..Run::equals(x.equal.min(y.equal)) }
    }

    /// The factor of a shift by a constant.
    fn shift(&self, by: ValueId) -> Option<u64> {
        let by = number(self.module, by)?;
        u32::try_from(by).ok().filter(|&n| n < 30).map(|n| 1 << n)
    }

    /// `a & b`: a mask of low bits is a remainder that rounds down; multiples stay multiples; of truth values those
    /// that come first in both.
    pub fn conjunction(&self, x: Run, (b, y): (ValueId, Run)) -> Run {
        let mut run = Run {
            multiple: x.each(1).max(y.each(1)),
            prefix: x.leading().min(y.leading()),
            ..Run::equals(x.equal.min(y.equal))
        };
        let low = number(self.module, b).and_then(|n| u64::try_from(n).ok()).and_then(|n| n.checked_add(1));
        if let Some(size) = low.filter(|n| n.is_power_of_two()) {
            let group = x.consecutive.min(x.multiple).min(size);
            if group > 1 {
                run = Run { consecutive: group, multiple: x.first(group, 1), ..run };
            }
        }
        run
    }

    /// A comparison of integers.
    pub fn comparison(&self, op: OpId, x: Run, y: Run) -> Run {
        let prefix = match ascends_against(self.module.attr(op, "predicate")) {
            Some(0) => x.consecutive.min(x.multiple).min(y.equal),
            Some(_) => y.consecutive.min(y.multiple).min(x.equal),
            None => 1,
        };
        let both = x.equal.min(y.equal);
        // `x + i < y` with `x` and `y` multiples of g says the same for all i below g.
        let stepped = |run: Run, bound: Run| {
            let group = run.consecutive.min(run.multiple);
            group.min(bound.equal).min(bound.each(1))
        };
        let equal = match predicate(self.module.attr(op, "predicate")) {
            Some(2 | 5 | 6 | 9) => both.max(stepped(x, y)),
            Some(3 | 4 | 7 | 8) => both.max(stepped(y, x)),
            _ => both,
        };
        Run { prefix, ..Run::equals(equal) }
    }
}

/// Which operand of a strict comparison, ascending against a fixed bound, makes it true first and false then:
/// `x + i < y` with aligned `x`, which does not wrap around on the way.
pub(super) fn ascends_against(attr: Option<&Attr>) -> Option<usize> {
    match predicate(attr) {
        Some(2 | 6) => Some(0),
        Some(4 | 8) => Some(1),
        _ => None,
    }
}

/// The number of a comparison's predicate.
pub(super) fn predicate(attr: Option<&Attr>) -> Option<usize> {
    match attr? {
        Attr::Int { value, .. } => usize::try_from(*value).ok(),
        other => {
            let names = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
            names.iter().position(|&n| other.as_str() == Some(n))
        }
    }
}

/// What divides a constant.
pub(super) fn divides(number: i128) -> u64 {
    power(u64::try_from(number.unsigned_abs()).unwrap_or(1))
}
