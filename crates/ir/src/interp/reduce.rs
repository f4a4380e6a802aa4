//! `tt.reduce` and `tt.scan`: combining along an axis with a region.
//!
//! The region is evaluated for all rows at once, on vectors with one element for each; so it may hold
//! element-wise operations only, which is all that Triton puts there. Elements combine in order of their
//! index, first to last (`reverse`: last to first); Triton leaves the order of a reduction open.

use std::rc::Rc;

use cranelift_entity::SecondaryMap;

use super::attrs;
use super::data::Data;
use super::elementwise;
use super::error::Fault;
use super::machine::Interpreter;
use super::value::Value;
use crate::entity::{OpId, ValueId};
use crate::opcode::Opcode;

/// The values inside a combining region.
type Locals = SecondaryMap<ValueId, Option<Rc<Data>>>;

/// A tile shape seen from one of its axes.
struct Axis {
    outer: usize,
    len: usize,
    inner: usize,
}

impl Axis {
    fn rows(&self) -> usize {
        self.outer.saturating_mul(self.inner)
    }

    /// Positions of the elements with this index along the axis.
    fn slice(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let (len, inner) = (self.len, self.inner);
        (0..self.outer).flat_map(move |o| (0..inner).map(move |i| (o * len + index) * inner + i))
    }
}

impl Interpreter<'_> {
    /// Operand data and the axis that they share.
    fn along(&self, op: OpId) -> Result<(Vec<Rc<Data>>, Axis), Fault> {
        let operands = &self.module.ops[op].operands;
        let shape = operands.first().map_or(&[][..], |&v| self.module.ty(v).shape());
        if operands.iter().any(|&v| self.module.ty(v).shape() != shape) {
            return Err(Fault::Malformed(format!("{} of different shapes", self.module.op_name(op))));
        }
        let axis = attrs::axis(self.module, op, shape.len())?;
        // Too large only beside an extent of zero.
        let product = |dims: &[u64]| dims.iter().fold(1usize, |n, &d| n.saturating_mul(d as usize));
        let (outer, rest) = shape.split_at(axis);
        let axis = match rest {
            [len, inner @ ..] if *len > 0 => {
                Axis { outer: product(outer), len: *len as usize, inner: product(inner) }
            }
            _ => return Err(Fault::Malformed("an axis without elements".into())),
        };
        Ok((self.tiles(operands)?, axis))
    }

    pub(super) fn reduce(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let (operands, axis) = self.along(op)?;
        let slice = |index: usize| -> Result<Vec<Data>, Fault> {
            operands.iter().map(|data| data.pick(axis.slice(index))).collect()
        };
        let mut locals = Locals::new();
        let mut sums = slice(0)?;
        for index in 1..axis.len {
            sums = self.combine(op, &mut locals, sums, slice(index)?, axis.rows())?;
        }
        Ok(sums.into_iter().map(Value::from).collect())
    }

    pub(super) fn scan(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let (operands, axis) = self.along(op)?;
        let reverse = attrs::flag(self.module, op, "reverse");
        let mut locals = Locals::new();
        let mut slices: Vec<Vec<Data>> = Vec::with_capacity(axis.len);
        for step in 0..axis.len {
            let index = if reverse { axis.len - 1 - step } else { step };
            let next =
                operands.iter().map(|data| data.pick(axis.slice(index))).collect::<Result<Vec<_>, _>>()?;
            let sums = match slices.last() {
                Some(sums) => self.combine(op, &mut locals, sums.clone(), next, axis.rows())?,
                None => next,
            };
            slices.push(sums);
        }
        if reverse {
            slices.reverse();
        }
        // Behind each other the slices have the axis outermost; the elements go back to their places.
        let rows = axis.rows();
        let (len, inner) = (axis.len, axis.inner);
        let back = (0..rows * len).map(|p| (p / inner % len) * rows + p / (inner * len) * inner + p % inner);
        let result = |n: usize| -> Result<Value, Fault> {
            let all = Data::concat(slices.iter().filter_map(|s| s.get(n)))?;
            let all = all.ok_or_else(|| Fault::Malformed("tt.scan of nothing".into()))?;
            Ok(all.pick(back.clone())?.into())
        };
        (0..operands.len()).map(result).collect()
    }

    /// The region of `op` on `rows` pairs at once.
    fn combine(
        &mut self,
        op: OpId,
        values: &mut Locals,
        x: Vec<Data>,
        y: Vec<Data>,
        rows: usize,
    ) -> Result<Vec<Data>, Fault> {
        let module = self.module;
        let block =
            module.entry(op, 0).ok_or_else(|| Fault::Malformed("a reduction without a region".into()))?;
        let block = &module.blocks[block];
        if block.args.len() != x.len() + y.len() {
            return Err(Fault::Malformed("a reduction region with the wrong number of arguments".into()));
        }
        let wanted = x.len();
        for (&arg, data) in block.args.iter().zip(x.into_iter().chain(y)) {
            if !data.holds(module.ty(arg)) {
                return Err(Fault::Malformed(format!("a reduction argument that is not {}", module.ty(arg))));
            }
            values[arg] = Some(Rc::new(data));
        }
        for &inner in &block.ops {
            let operation = &module.ops[inner];
            let operands = operation.operands.iter().map(|&v| match values.get(v) {
                Some(Some(data)) => Ok(data.clone()),
                // From outside the region: the same scalar for every row.
                _ => Ok(Rc::new(attrs::repeat((*self.tile(v)?).clone(), rows))),
            });
            let operands = operands.collect::<Result<Vec<Rc<Data>>, Fault>>()?;
            if matches!(operation.opcode, Opcode::ReduceReturn | Opcode::ScanReturn) {
                let results = operands.into_iter().map(Rc::unwrap_or_clone).collect::<Vec<_>>();
                return match results.len() == wanted {
                    true => Ok(results),
                    false => {
                        Err(Fault::Malformed("a reduction that returns the wrong number of values".into()))
                    }
                };
            }
            if operation.opcode == Opcode::Assert {
                self.claimed(inner, operands.first().map(Rc::as_ref))?;
                continue;
            }
            if !elementwise::is_elementwise(operation.opcode) {
                let name = module.op_name(inner);
                return Err(Fault::Unsupported(format!("{name} in the region of {}", module.op_name(op))));
            }
            self.spend(1 + rows as u64)?;
            let operands: Vec<&Data> = operands.iter().map(Rc::as_ref).collect();
            let data = elementwise::eval(self.context(), inner, &operands, rows)?;
            if let Some(&result) = operation.results.first() {
                values[result] = Some(Rc::new(data));
            }
        }
        Err(Fault::Malformed("a reduction region without a return".into()))
    }
}
