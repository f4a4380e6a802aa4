//! Operations that move elements about and compute nothing.

use super::attrs;
use super::data::{Data, signed, wrap};
use super::error::Fault;
use super::machine::Interpreter;
use super::value::Value;
use crate::entity::OpId;
use crate::opcode::Opcode;

/// Distances of neighbours in a row-major tile of this shape.
fn row_major(shape: &[u64]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for d in (1..shape.len()).rev() {
        // Wraps only beside an extent of zero, where no stride is used.
        strides[d - 1] = usize::wrapping_mul(strides[d], shape[d] as usize);
    }
    strides
}

/// For each element of a tile of this shape, row-major, the sum of its indices times `strides`.
fn positions(shape: &[u64], strides: &[usize]) -> Vec<usize> {
    shape.iter().zip(strides).fold(vec![0], |outer, (&extent, &stride)| {
        outer.iter().flat_map(|&at| (0..extent as usize).map(move |i| at + i * stride)).collect()
    })
}

impl Interpreter<'_> {
    /// `tt.make_range`, `tt.splat`, `tt.broadcast`, `tt.trans` and their like.
    pub(super) fn rearrange(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let opcode = self.module.ops[op].opcode;
        let data = match opcode {
            Opcode::MakeRange => self.make_range(op)?,
            Opcode::Splat => self.splat(op)?,
            // Row-major order is all there is.
            Opcode::ExpandDims | Opcode::Reshape | Opcode::Unsplat => {
                (*self.tile(self.operand(op, 0)?)?).clone()
            }
            Opcode::Broadcast => self.broadcast(op)?,
            Opcode::Trans => self.trans(op)?,
            Opcode::Cat => {
                let parts = self.tiles(&self.module.ops[op].operands)?;
                Data::concat(parts.iter().map(AsRef::as_ref))?.ok_or_else(|| self.malformed(op))?
            }
            Opcode::Join => self.join(op)?,
            Opcode::Split => return self.split(op),
            Opcode::Gather => self.gather(op)?,
            Opcode::Histogram => self.histogram(op)?,
            _ => return Err(Fault::Unsupported(self.module.op_name(op).to_owned())),
        };
        Ok(vec![data.into()])
    }

    fn malformed(&self, op: OpId) -> Fault {
        let types =
            |ids: &[_]| ids.iter().map(|&v| self.module.ty(v).to_string()).collect::<Vec<_>>().join(", ");
        let operation = &self.module.ops[op];
        let (from, to) = (types(&operation.operands), types(&operation.results));
        Fault::Malformed(format!("{} of ({from}) to ({to})", self.module.op_name(op)))
    }

    fn make_range(&self, op: OpId) -> Result<Data, Fault> {
        let (start, end) = (attrs::int(self.module, op, "start")?, attrs::int(self.module, op, "end")?);
        match end.checked_sub(start).and_then(|n| u64::try_from(n).ok()) {
            Some(n) if Some(n) == self.result_type(op, 0)?.elements() => {
                Ok(Data::Int((start..end).map(|i| wrap(i as u64, 32)).collect()))
            }
            _ => Err(self.malformed(op)),
        }
    }

    fn splat(&self, op: OpId) -> Result<Data, Fault> {
        let scalar = self.tile(self.operand(op, 0)?)?;
        match self.result_type(op, 0)?.elements() {
            Some(count) if scalar.len() == 1 => Ok(attrs::repeat((*scalar).clone(), count as usize)),
            _ => Err(self.malformed(op)),
        }
    }

    fn broadcast(&self, op: OpId) -> Result<Data, Fault> {
        let operand = self.operand(op, 0)?;
        let (from, to) = (self.module.ty(operand).shape(), self.result_type(op, 0)?.shape());
        let mut strides = row_major(from);
        if from.len() != to.len() {
            return Err(self.malformed(op));
        }
        for ((stride, &n), &m) in strides.iter_mut().zip(from).zip(to) {
            match n {
                n if n == m => {}
                1 => *stride = 0,
                _ => return Err(self.malformed(op)),
            }
        }
        self.tile(operand)?.pick(positions(to, &strides).into_iter())
    }

    fn trans(&self, op: OpId) -> Result<Data, Fault> {
        let operand = self.operand(op, 0)?;
        let from = self.module.ty(operand).shape();
        let old = row_major(from);
        let order = attrs::ints(self.module, op, "order")?;
        let mut seen = vec![false; from.len()];
        let (mut shape, mut strides) = (Vec::new(), Vec::new());
        for dim in order {
            let dim = usize::try_from(dim).ok().filter(|&d| d < from.len() && !seen[d]);
            let dim = dim.ok_or_else(|| self.malformed(op))?;
            seen[dim] = true;
            shape.push(from[dim]);
            strides.push(old[dim]);
        }
        if shape != self.result_type(op, 0)?.shape() {
            return Err(self.malformed(op));
        }
        self.tile(operand)?.pick(positions(&shape, &strides).into_iter())
    }

    /// `tt.join`: two tiles become the innermost dimension.
    fn join(&self, op: OpId) -> Result<Data, Fault> {
        let (x, y) = (self.tile(self.operand(op, 0)?)?, self.tile(self.operand(op, 1)?)?);
        if x.len() != y.len() {
            return Err(self.malformed(op));
        }
        let n = x.len();
        let both = Data::concat([&*x, &*y].into_iter())?.ok_or_else(|| self.malformed(op))?;
        both.pick((0..n).flat_map(|i| [i, i + n]))
    }

    /// `tt.split`: the innermost dimension of two becomes two tiles.
    fn split(&self, op: OpId) -> Result<Vec<Value>, Fault> {
        let operand = self.operand(op, 0)?;
        if self.module.ty(operand).shape().last() != Some(&2) {
            return Err(self.malformed(op));
        }
        let both = self.tile(operand)?;
        let half = |first: usize| both.pick((first..both.len()).step_by(2)).map(Value::from);
        Ok(vec![half(0)?, half(1)?])
    }

    /// `tt.gather`: each index names an element along the axis, in the row of its own place.
    fn gather(&self, op: OpId) -> Result<Data, Fault> {
        let (source, indices) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let (from, to) = (self.module.ty(source).shape(), self.module.ty(indices).shape());
        let axis = attrs::axis(self.module, op, from.len())?;
        let same = from.len() == to.len() && (0..from.len()).all(|d| d == axis || from[d] >= to[d]);
        let bits = self.module.ty(indices).elem_bits().unwrap_or(64);
        if !same || self.result_type(op, 0)?.shape() != to {
            return Err(self.malformed(op));
        }
        let mut strides = row_major(from);
        let along = std::mem::replace(&mut strides[axis], 0);
        let extent = from[axis];
        let indices = self.tile(indices)?;
        let rows = positions(to, &strides);
        let at = rows.iter().zip(indices.ints()?).map(|(&row, &index)| {
            let index = signed(index, bits);
            match u64::try_from(index) {
                Ok(i) if i < extent => Ok(row + i as usize * along),
                _ => Err(Fault::Index { index, extent }),
            }
        });
        let at = at.collect::<Result<Vec<_>, _>>()?;
        self.tile(source)?.pick(at.into_iter())
    }

    /// `tt.histogram`: how often each number occurs, of those that the mask keeps.
    fn histogram(&self, op: OpId) -> Result<Data, Fault> {
        let values = self.tile(self.operand(op, 0)?)?;
        let mask = self.module.ops[op].operands.get(1).map(|&m| self.tile(m)).transpose()?;
        let extent = self.result_type(op, 0)?.elements().unwrap_or(0);
        let mut bins = vec![0u64; extent as usize];
        for (i, &value) in values.ints()?.iter().enumerate() {
            let kept = match &mask {
                Some(mask) => mask.ints()?.get(i) == Some(&1),
                None => true,
            };
            if kept {
                let bin = usize::try_from(value).ok().and_then(|v| bins.get_mut(v));
                *bin.ok_or(Fault::Index { index: value as i64, extent })? += 1;
            }
        }
        Ok(Data::Int(bins))
    }
}
