//! Runs of tiles, from the operations that make them.

use hashbrown::HashMap;
use warploom_ir::{Attr, Module, OpId, Opcode, ValueId};

use super::divisor::constant;
use super::types::{Budget, DEEPEST, MOST, MOST_STEPS, Run, Runs, pointee, power};
use crate::lower::shape::squeezed;

impl<'m> Runs<'m> {
    /// Nothing is known yet.
    pub fn new(module: &'m Module) -> Runs<'m> {
        Runs { module, known: HashMap::new(), divisors: HashMap::new() }
    }

    /// A tile along a dimension.
    pub fn along(&mut self, value: ValueId, dim: usize) -> Run {
        let mut budget = Budget { steps: MOST_STEPS, depth: 0, open: Vec::new() };
        self.run(value, dim, &mut budget)
    }

    pub(super) fn spend(budget: &mut Budget) -> bool {
        let fine = budget.steps > 0 && budget.depth < DEEPEST;
        budget.steps = budget.steps.saturating_sub(1);
        fine
    }

    fn run(&mut self, value: ValueId, dim: usize, budget: &mut Budget) -> Run {
        if let Some(known) = self.known.get(&(value, dim)) {
            return *known;
        }
        if !Self::spend(budget) {
            return Run::UNKNOWN;
        }
        budget.depth += 1;
        let run = self.compute(value, dim, budget);
        budget.depth -= 1;
        if budget.open.is_empty() && budget.steps > 0 {
            self.known.insert((value, dim), run);
        }
        run
    }

    fn compute(&mut self, value: ValueId, dim: usize, budget: &mut Budget) -> Run {
        let module = self.module;
        if !module.ty(value).is_tensor() {
            return Run::constant(self.divisor(value, budget));
        }
        let Some(op) = module.def_op(value) else { return Run::UNKNOWN };
        let operands = &module.ops[op].operands;
        let operand = |i: usize| operands.get(i).copied();
        match (module.ops[op].opcode, operand(0), operand(1)) {
            (Opcode::Constant, ..) => match module.attr(op, "value") {
                Some(Attr::Splat { value, .. }) => Run::constant(constant(value)),
                _ => Run::UNKNOWN,
            },
            (Opcode::MakeRange, ..) => {
                let number = |name| module.attr(op, name).and_then(Attr::as_i64).unwrap_or(1);
                let extent = number("end").saturating_sub(number("start"));
                let consecutive = if extent > 0 { power(extent.unsigned_abs()) } else { 1 };
                Run { consecutive, multiple: power(number("start").unsigned_abs()), ..Run::UNKNOWN }
            }
            (Opcode::Splat, Some(x), _) => Run::constant(self.divisor(x, budget)),
            (Opcode::ExpandDims, Some(x), _) => {
                let axis = module.attr(op, "axis").and_then(Attr::as_i64);
                match axis.and_then(|a| usize::try_from(a).ok()) {
                    Some(axis) if axis == dim => Run::constant(self.each(x, budget)),
                    Some(axis) => self.run(x, if dim > axis { dim - 1 } else { dim }, budget),
                    None => Run::UNKNOWN,
                }
            }
            (Opcode::Broadcast, Some(x), _) => match module.ty(x).shape().get(dim) {
                Some(1) => Run::constant(self.each(x, budget)),
                _ => self.run(x, dim, budget),
            },
            (Opcode::Trans, Some(x), _) => match module.attr(op, "order") {
                Some(Attr::DenseArray { values, .. }) => {
                    let from = values.get(dim).and_then(|&d| usize::try_from(d).ok());
                    from.map_or(Run::UNKNOWN, |from| self.run(x, from, budget))
                }
                _ => Run::UNKNOWN,
            },
            (Opcode::Reshape, Some(x), _) => {
                let (from, to) = (module.ty(x).shape(), module.ty(value).shape());
                if squeezed(from) != squeezed(to) {
                    return Run::UNKNOWN;
                }
                if to.get(dim) == Some(&1) {
                    return Run::constant(self.each(x, budget));
                }
                let number = to.iter().take(dim).filter(|&&n| n != 1).count();
                let mut real = from.iter().enumerate().filter(|(_, n)| **n != 1).map(|(d, _)| d);
                real.nth(number).map_or(Run::UNKNOWN, |from| self.run(x, from, budget))
            }
            (Opcode::ExtSI | Opcode::ExtUI | Opcode::TruncI | Opcode::IndexCast, Some(x), _) => {
                self.run(x, dim, budget)
            }
            (Opcode::AddI | Opcode::AddPtr | Opcode::SubI, Some(a), Some(b)) => {
                let unit = if module.ops[op].opcode == Opcode::AddPtr { pointee(module.ty(a)) } else { 1 };
                let (x, mut y) = (self.run(a, dim, budget), self.run(b, dim, budget));
                y.multiple = y.multiple.saturating_mul(unit).min(MOST);
                let along = match module.ops[op].opcode {
                    Opcode::SubI => x.consecutive.min(y.equal),
                    _ => x.consecutive.min(y.equal).max(x.equal.min(y.consecutive)),
                };
                let multiple = match along {
                    1 => x.each(unit).min(y.each(unit)),
                    group => x.first(group, unit).min(y.first(group, unit)),
                };
                Run { consecutive: along, multiple, equal: x.equal.min(y.equal), prefix: 1 }
            }
            (Opcode::MulI, Some(a), Some(b)) => {
                let (x, y) = (self.run(a, dim, budget), self.run(b, dim, budget));
                let multiple = x.each(1).saturating_mul(y.each(1)).min(MOST);
                let equal = x.equal.min(y.equal);
                match (self.is_one(a), self.is_one(b)) {
                    (true, _) => y,
                    (_, true) => x,
                    _ => Run { multiple, equal, ..Run::UNKNOWN },
                }
            }
            (Opcode::CmpI, Some(a), Some(b)) => {
                let (x, y) = (self.run(a, dim, budget), self.run(b, dim, budget));
                let prefix = match self.ascends_against(op) {
                    Some(0) => x.consecutive.min(x.multiple).min(y.equal),
                    Some(_) => y.consecutive.min(y.multiple).min(x.equal),
                    None => 1,
                };
                Run { equal: self.comparison(op, x, y), prefix, ..Run::UNKNOWN }
            }
            (Opcode::AndI, Some(a), Some(b)) => {
                let (x, y) = (self.run(a, dim, budget), self.run(b, dim, budget));
                let (equal, prefix) = (x.equal.min(y.equal), x.leading().min(y.leading()));
                Run { equal, prefix, ..Run::UNKNOWN }
            }
            (opcode, ..) if opcode.is_elementwise() => {
                let runs = operands.iter().map(|&v| self.run(v, dim, budget));
                let equal = runs.map(|r| r.equal).min().unwrap_or(1);
                Run { equal, ..Run::UNKNOWN }
            }
            _ => Run::UNKNOWN,
        }
    }

    /// Which operand of a strict comparison, ascending against a fixed bound, makes it true first and false then:
    /// `x + i < y` with aligned `x`, which does not wrap around on the way.
    pub fn ascends_against(&self, op: OpId) -> Option<usize> {
        match self.predicate(op) {
            Some(2 | 6) => Some(0),
            Some(4 | 8) => Some(1),
            _ => None,
        }
    }

    /// The number of a comparison's predicate.
    fn predicate(&self, op: OpId) -> Option<usize> {
        match self.module.attr(op, "predicate") {
            Some(Attr::Int { value, .. }) => usize::try_from(*value).ok(),
            Some(other) => {
                let names = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
                names.iter().position(|&n| other.as_str() == Some(n))
            }
            None => None,
        }
    }

    /// How many neighbours of a comparison agree. `x + i < y` with `x` and `y` multiples of g says the same for
    /// all i below g.
    fn comparison(&self, op: OpId, x: Run, y: Run) -> u64 {
        let both = x.equal.min(y.equal);
        let stepped = |run: Run, bound: Run| {
            let group = run.consecutive.min(run.multiple);
            group.min(bound.equal).min(bound.each(1))
        };
        match self.predicate(op) {
            Some(2 | 5 | 6 | 9) => both.max(stepped(x, y)),
            Some(3 | 4 | 7 | 8) => both.max(stepped(y, x)),
            _ => both,
        }
    }

    /// What divides every element of a tile.
    fn each(&mut self, value: ValueId, budget: &mut Budget) -> u64 {
        let ty = self.module.ty(value);
        let unit = pointee(ty);
        match ty.shape().len() {
            0 => self.divisor(value, budget),
            rank => {
                // A dimension along which all elements are alike says nothing about the others.
                let runs = (0..rank).map(|dim| self.run(value, dim, budget).each(unit));
                runs.min().unwrap_or(1)
            }
        }
    }

    fn is_one(&self, value: ValueId) -> bool {
        let Some(op) = self.module.def_op(value) else { return false };
        match (self.module.ops[op].opcode, self.module.ops[op].operands.first()) {
            (Opcode::Constant, _) => match self.module.attr(op, "value") {
                Some(Attr::Splat { value, .. }) => value.as_i64() == Some(1),
                Some(other) => other.as_i64() == Some(1),
                None => false,
            },
            (Opcode::Splat, Some(&x)) if !self.module.ty(x).is_tensor() => {
                self.module.def_op(x).is_some_and(|op| {
                    self.module.ops[op].opcode == Opcode::Constant
                        && self.module.attr(op, "value").and_then(Attr::as_i64) == Some(1)
                })
            }
            _ => false,
        }
    }
}
