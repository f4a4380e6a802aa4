//! The power of two that divides a scalar, wherever it comes from: parameters, constants, arithmetic, loops.

use warploom_ir::{Attr, OpId, Opcode, ValueDef, ValueId};

use super::types::{Budget, MOST, Runs, pointee, power};

impl Runs<'_> {
    /// The power of two known to divide a scalar; of a pointer, in bytes.
    pub(super) fn divisor(&mut self, value: ValueId, budget: &mut Budget) -> u64 {
        if let Some(&known) = self.divisors.get(&value) {
            return known;
        }
        if budget.open.contains(&value) {
            return MOST;
        }
        if !Self::spend(budget) {
            return 1;
        }
        budget.depth += 1;
        budget.open.push(value);
        let divisor = match self.module.values[value].def {
            ValueDef::Argument { block, index } => self.argument(block, index as usize, budget),
            ValueDef::Result { op, index } => self.scalar(op, index as usize, budget),
        };
        budget.open.pop();
        budget.depth -= 1;
        // What was found while another one was open may lean on it.
        if budget.open.is_empty() && budget.steps > 0 {
            self.divisors.insert(value, divisor);
        }
        divisor
    }

    fn argument(&mut self, block: warploom_ir::BlockId, index: usize, budget: &mut Budget) -> u64 {
        let module = self.module;
        let Some(owner) = module.blocks[block].region.and_then(|r| module.regions[r].parent) else {
            return 1;
        };
        let operands = &module.ops[owner].operands;
        match module.ops[owner].opcode {
            Opcode::Func => {
                let attrs = module.attr(owner, "arg_attrs").and_then(Attr::as_array);
                match attrs.and_then(|list| list.get(index)) {
                    Some(Attr::Dict(dict)) => {
                        let stated = dict.get("tt.divisibility").and_then(Attr::as_i64);
                        stated.filter(|&d| d > 0).map_or(1, |d| power(d.unsigned_abs()))
                    }
                    _ => 1,
                }
            }
            Opcode::For => match (index, operands.as_slice()) {
                (0, [lo, _, step, ..]) => self.divisor(*lo, budget).min(self.divisor(*step, budget)),
                _ => {
                    let last = module.terminator(block).and_then(|y| module.ops[y].operands.get(index - 1));
                    match (operands.get(index + 2), last) {
                        (Some(&first), Some(&next)) => {
                            self.divisor(first, budget).min(self.divisor(next, budget))
                        }
                        _ => 1,
                    }
                }
            },
            Opcode::While => {
                let region = module.blocks[block].region;
                let (before, after) = (module.entry(owner, 0), module.entry(owner, 1));
                if module.ops[owner].regions.first().copied() == region {
                    let last = after.and_then(|after| module.terminator(after));
                    let next = last.and_then(|y| module.ops[y].operands.get(index));
                    match (operands.get(index), next) {
                        (Some(&first), Some(&next)) => {
                            self.divisor(first, budget).min(self.divisor(next, budget))
                        }
                        _ => 1,
                    }
                } else {
                    let passed = before.and_then(|before| self.passed(before, index));
                    passed.map_or(1, |value| self.divisor(value, budget))
                }
            }
            _ => 1,
        }
    }

    /// What `scf.condition` at the end of a block hands on as number `index`.
    fn passed(&self, before: warploom_ir::BlockId, index: usize) -> Option<ValueId> {
        let last = self.module.terminator(before)?;
        self.module.ops[last].operands.get(index + 1).copied()
    }

    fn scalar(&mut self, op: OpId, index: usize, budget: &mut Budget) -> u64 {
        let module = self.module;
        let operands = &module.ops[op].operands;
        let operand = |i: usize| operands.get(i).copied();
        match (module.ops[op].opcode, operand(0), operand(1)) {
            (Opcode::Constant, ..) => module.attr(op, "value").map_or(1, constant),
            (Opcode::AddI | Opcode::SubI | Opcode::OrI, Some(a), Some(b)) => {
                self.divisor(a, budget).min(self.divisor(b, budget))
            }
            (Opcode::MulI, Some(a), Some(b)) => {
                self.divisor(a, budget).saturating_mul(self.divisor(b, budget)).min(MOST)
            }
            (Opcode::AddPtr, Some(a), Some(b)) => {
                let bytes = self.divisor(b, budget).saturating_mul(pointee(module.ty(a)));
                self.divisor(a, budget).min(bytes)
            }
            (Opcode::Select, _, Some(a)) => match operand(2) {
                Some(b) => self.divisor(a, budget).min(self.divisor(b, budget)),
                None => 1,
            },
            (Opcode::ExtSI | Opcode::ExtUI | Opcode::TruncI | Opcode::IndexCast, Some(a), _)
            | (Opcode::IntToPtr | Opcode::PtrToInt | Opcode::Bitcast, Some(a), _) => self.divisor(a, budget),
            (Opcode::For, ..) => {
                let body = module.entry(op, 0);
                let next =
                    body.and_then(|b| module.terminator(b)).and_then(|y| module.ops[y].operands.get(index));
                match (operand(index + 3), next) {
                    (Some(first), Some(&next)) => self.divisor(first, budget).min(self.divisor(next, budget)),
                    _ => 1,
                }
            }
            (Opcode::While, ..) => {
                let passed = module.entry(op, 0).and_then(|before| self.passed(before, index));
                passed.map_or(1, |value| self.divisor(value, budget))
            }
            _ => 1,
        }
    }
}

/// The power of two that divides a constant.
pub(super) fn constant(attr: &Attr) -> u64 {
    match attr {
        Attr::Int { value, .. } => power(u64::try_from(value.unsigned_abs()).unwrap_or(1)),
        Attr::Bool(_) => 1,
        _ => 1,
    }
}
