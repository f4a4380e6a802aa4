//! The fixed point: sweeps over a function until nothing changes.

use cranelift_entity::SecondaryMap;

use super::hints;
use super::integers::ascends_against;
use super::run::{Run, Runs, power, unit};
use super::state::State;
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::walk::{Event, events};

/// Sweeps after which nothing more is expected of what loops carry: numbers that are halved in each trip, say.
const SWEEPS: usize = 12;

/// What is known of the values of a function.
#[derive(Clone, Debug)]
pub struct AxisFacts {
    runs: SecondaryMap<ValueId, Option<Runs>>,
}

impl AxisFacts {
    /// A value along a dimension; a scalar is the same along all.
    pub fn along(&self, module: &Module, value: ValueId, dim: usize) -> Run {
        let known = self.runs[value].as_ref();
        match module.ty(value).is_tensor() {
            true => known.and_then(|runs| runs.get(dim)).copied().unwrap_or(Run::UNKNOWN),
            false => Run::constant(known.and_then(|runs| runs.first()).map_or(1, |run| run.multiple)),
        }
    }

    /// Which operand of a strict comparison, ascending against a fixed bound, makes it true first and false then:
    /// `x + i < y` with aligned `x`, which does not wrap around on the way.
    pub fn ascends_against(module: &Module, op: OpId) -> Option<usize> {
        ascends_against(module.attr(op, "predicate"))
    }
}

/// Analyses a function.
pub fn facts(module: &Module, func: OpId) -> AxisFacts {
    let (runs, signs) = (SecondaryMap::new(), SecondaryMap::new());
    let mut solver = Solver { state: State { module, runs, signs }, changed: true, given_up: false };
    let mut sweeps = 0;
    while solver.changed {
        solver.given_up = sweeps >= SWEEPS;
        solver.changed = false;
        for event in events(module, func) {
            match event {
                Event::Block(block) => solver.arguments(block),
                Event::Done(op) if op != func => solver.results(op),
                _ => {}
            }
        }
        sweeps += 1;
    }
    AxisFacts { runs: solver.state.runs }
}

struct Solver<'m> {
    state: State<'m>,
    changed: bool,
    /// Nothing is known of what loops carry any more.
    given_up: bool,
}

impl Solver<'_> {
    fn set(&mut self, value: ValueId, runs: Option<Runs>, sign: Option<bool>) {
        if self.state.runs[value] != runs || self.state.signs[value] != sign {
            self.state.runs[value] = runs;
            self.state.signs[value] = sign;
            self.changed = true;
        }
    }

    /// What is known of values of which a value is one; those of which nothing is known yet do not count.
    fn meet(&mut self, value: ValueId, of: &[ValueId]) {
        let (mut all, mut sign): (Option<Runs>, Option<bool>) = (None, None);
        let unit = unit(self.state.module.ty(value));
        for &one in of {
            if let Some(runs) = &self.state.runs[one] {
                all = Some(match all {
                    None => runs.clone(),
                    Some(all) => all.iter().zip(runs).map(|(a, &b)| a.meet(b, u64::MAX, unit)).collect(),
                });
            }
            if let Some(other) = self.state.signs[one] {
                sign = Some(sign.unwrap_or(true) && other);
            }
        }
        self.set(value, all, sign);
    }

    fn give_up(&mut self, value: ValueId) {
        let unknown = self.state.unknown(value);
        self.set(value, Some(unknown), Some(false));
    }

    /// The arguments of a block.
    fn arguments(&mut self, block: BlockId) {
        let module = self.state.module;
        let region = module.blocks[block].region;
        let Some(owner) = region.and_then(|r| module.regions[r].parent) else { return };
        let operands = module.ops[owner].operands.as_slice();
        let first = module.ops[owner].regions.first().copied() == region;
        for (index, &value) in module.blocks[block].args.iter().enumerate() {
            match module.ops[owner].opcode {
                Opcode::Func => self.parameter(owner, index, value),
                Opcode::For | Opcode::While if self.given_up => self.give_up(value),
                Opcode::For if index == 0 => self.counter(value, operands),
                Opcode::For => {
                    let last = operand(module, module.terminator(block), index - 1);
                    self.meet(value, &both(operands.get(index + 2).copied(), last));
                }
                Opcode::While if first => {
                    let after = module.entry(owner, 1).and_then(|after| module.terminator(after));
                    self.meet(value, &both(operands.get(index).copied(), operand(module, after, index)));
                }
                Opcode::While => {
                    let passed = module.entry(owner, 0).and_then(|before| module.terminator(before));
                    self.meet(value, &both(operand(module, passed, index + 1), None));
                }
                _ => self.give_up(value),
            }
        }
    }

    fn parameter(&mut self, func: OpId, index: usize, value: ValueId) {
        let module = self.state.module;
        let attrs = module.attr(func, "arg_attrs").and_then(Attr::as_array);
        let stated = match attrs.and_then(|list| list.get(index)) {
            Some(Attr::Dict(dict)) => dict.get("tt.divisibility").and_then(Attr::as_i64),
            _ => None,
        };
        let multiple = stated.filter(|&d| d > 0).map_or(1, |d| power(d.unsigned_abs()));
        self.set(value, Some(Runs::from_elem(Run::constant(multiple), 1)), Some(false));
    }

    /// The counter of a loop: its start and a number of steps.
    fn counter(&mut self, value: ValueId, operands: &[ValueId]) {
        let (Some(&lo), Some(&step)) = (operands.first(), operands.get(2)) else {
            return self.give_up(value);
        };
        let multiple = [lo, step].iter().filter_map(|&v| self.state.each(v)).min();
        let runs = multiple.map(|multiple| Runs::from_elem(Run::constant(multiple), 1));
        // Steps are positive.
        self.set(value, runs, self.state.signs[lo]);
    }

    /// The results of an operation.
    fn results(&mut self, op: OpId) {
        let module = self.state.module;
        let data = &module.ops[op];
        for (index, &result) in data.results.iter().enumerate() {
            let end = |region: usize| module.entry(op, region).and_then(|block| module.terminator(block));
            match data.opcode {
                Opcode::For => {
                    let first = data.operands.get(index + 3).copied();
                    self.meet(result, &both(first, operand(module, end(0), index)));
                }
                Opcode::While => self.meet(result, &both(operand(module, end(0), index + 1), None)),
                Opcode::If => {
                    self.meet(result, &both(operand(module, end(0), index), operand(module, end(1), index)));
                }
                _ => {
                    let mut runs = self.state.transfer(op, result);
                    if let Some(runs) = &mut runs {
                        hints::apply(module, op, runs, unit(module.ty(result)));
                    }
                    let sign = self.state.sign(op);
                    self.set(result, runs, sign);
                }
            }
        }
    }
}

fn operand(module: &Module, op: Option<OpId>, index: usize) -> Option<ValueId> {
    module.ops[op?].operands.get(index).copied()
}

fn both(a: Option<ValueId>, b: Option<ValueId>) -> Vec<ValueId> {
    a.into_iter().chain(b).collect()
}
