//! Memory through tensor descriptors.

use std::rc::Rc;

use super::access::Combine;
use super::attrs;
use super::data::{Data, int_width, signed, to_bits};
use super::descriptor::{Descriptor, Padding};
use super::error::Fault;
use super::machine::Interpreter;
use super::value::Value;
use crate::entity::{OpId, ValueId};
use crate::types::Type;

/// The combinations of `tt.descriptor_reduce` in the order of their numbers, which start at 1.
const REDUCE: [&str; 9] = ["", "add", "min", "max", "inc", "dec", "and", "or", "xor"];

/// The descriptor operand, its block, the scalar operands and the tile operands.
type Operands<'a> = (Rc<Descriptor>, &'a [u64], Vec<i64>, Vec<ValueId>);

impl<'a> Interpreter<'a> {
    fn int_scalar(&self, id: ValueId) -> Result<i64, Fault> {
        let bits = int_width(self.module.ty(id))?;
        match self.tile(id)?.ints()? {
            [one] => Ok(signed(*one, bits)),
            _ => Err(Fault::Malformed("a tile where a scalar is needed".into())),
        }
    }

    fn int_scalars(&self, ids: &[ValueId]) -> Result<Vec<i64>, Fault> {
        ids.iter().map(|&id| self.int_scalar(id)).collect()
    }

    /// `tt.make_tensor_descriptor base, [extents], [strides]`.
    pub(super) fn make_descriptor(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let Type::TensorDesc { shape: block, elem } = self.result_type(op, 0)? else {
            return Err(Fault::Malformed("tt.make_tensor_descriptor of no descriptor".into()));
        };
        let operands = &self.module.ops[op].operands;
        let rank = block.len();
        let (base, lists) = match operands.split_first() {
            Some((&base, lists)) if lists.len() == 2 * rank => (base, lists),
            _ => return Err(Fault::Malformed("tt.make_tensor_descriptor of another rank".into())),
        };
        let dims = self.int_scalars(lists)?;
        let padding = match attrs::keyword(self.module, op, "padding", &["", "zero", "nan"])? {
            Some(2) => Padding::Nan,
            _ => Padding::Zero,
        };
        let base = match self.tile(base)?.ints()? {
            [one] => *one,
            _ => return Err(Fault::Malformed("tt.make_tensor_descriptor of several pointers".into())),
        };
        let (shape, strides) = dims.split_at(rank);
        let (shape, strides) = (shape.to_vec(), strides.to_vec());
        let descriptor = Descriptor { base, shape, strides, elem: (**elem).clone(), padding };
        Ok(vec![Value::Desc(Rc::new(descriptor))])
    }

    fn descriptor_operands(&self, op: OpId) -> Result<Operands<'a>, Fault> {
        let module = self.module;
        let id = self.operand(op, 0)?;
        let rest = module.ops[op].operands.iter().skip(1).copied();
        let (tiles, scalars): (Vec<_>, Vec<_>) = rest.partition(|&v| module.ty(v).is_tensor());
        Ok((self.descriptor(id)?, module.ty(id).shape(), self.int_scalars(&scalars)?, tiles))
    }

    /// `tt.descriptor_load desc[indices]`.
    pub(super) fn descriptor_load(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let (descriptor, block, start, _) = self.descriptor_operands(op)?;
        let count = self.block_size(block, self.result_type(op, 0)?)?;
        Ok(vec![descriptor.load(self.memory, &start, block, count)?.into()])
    }

    /// `tt.descriptor_store desc[indices], tile`.
    pub(super) fn descriptor_store(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let module = self.module;
        let (descriptor, block, start, tiles) = self.descriptor_operands(op)?;
        let source = one(&tiles)?;
        self.block_size(block, module.ty(source))?;
        let patterns = to_bits(&descriptor.elem, &*self.tile(source)?)?;
        descriptor.store(self.memory, &start, block, &patterns)?;
        Ok(Vec::new())
    }

    /// `tt.descriptor_reduce kind, desc[indices], tile`: memory becomes the combination of itself and a tile.
    pub(super) fn descriptor_reduce(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let module = self.module;
        let (descriptor, block, start, tiles) = self.descriptor_operands(op)?;
        let source = one(&tiles)?;
        let count = self.block_size(block, module.ty(source))?;
        let unsigned = matches!(descriptor.elem, Type::Int(_, crate::types::Signedness::Unsigned));
        let combine = match attrs::required(module, op, "kind", &REDUCE)? {
            1 => Combine::Add,
            2 if unsigned => Combine::UMin,
            2 => Combine::Min,
            3 if unsigned => Combine::UMax,
            3 => Combine::Max,
            6 => Combine::And,
            7 => Combine::Or,
            8 => Combine::Xor,
            other => {
                let name = REDUCE.get(other).unwrap_or(&"?");
                return Err(Fault::Unsupported(format!("tt.descriptor_reduce of kind `{name}`")));
            }
        };
        let elem = &descriptor.elem;
        let old = to_bits(elem, &descriptor.load(self.memory, &start, block, count)?)?;
        let new = to_bits(elem, &*self.tile(source)?)?;
        let sums = old.into_iter().zip(new).map(|(old, new)| combine.apply(elem, old, new));
        descriptor.store(self.memory, &start, block, &sums.collect::<Result<Vec<_>, _>>()?)?;
        Ok(Vec::new())
    }

    /// `tt.descriptor_gather desc[rows, column]`: one row of the block for each row number.
    pub(super) fn descriptor_gather(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let (descriptor, block, column, tiles) = self.descriptor_operands(op)?;
        let rows = self.row_numbers(one(&tiles)?)?;
        let [1, width] = *block else { return Err(wrong_rows(block)) };
        let mut parts = Vec::with_capacity(rows.len());
        for row in rows {
            parts.push(descriptor.load(self.memory, &start(row, &column)?, block, width as usize)?);
        }
        let all = Data::concat(parts.iter())?.ok_or_else(|| wrong_rows(block))?;
        Ok(vec![all.into()])
    }

    /// `tt.descriptor_scatter desc[rows, column], tile`.
    pub(super) fn descriptor_scatter(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let module = self.module;
        let (descriptor, block, column, tiles) = self.descriptor_operands(op)?;
        let (rows, source): (Vec<_>, Vec<_>) = tiles.iter().partition(|&&v| module.ty(v).shape().len() == 1);
        let (rows, source) = (self.row_numbers(one(&rows)?)?, self.tile(one(&source)?)?);
        let [1, width] = *block else { return Err(wrong_rows(block)) };
        let patterns = to_bits(&descriptor.elem, &source)?;
        if patterns.len() as u64 != width.saturating_mul(rows.len() as u64) {
            return Err(wrong_rows(block));
        }
        for (row, patterns) in rows.into_iter().zip(patterns.chunks(width.max(1) as usize)) {
            descriptor.store(self.memory, &start(row, &column)?, block, patterns)?;
        }
        Ok(Vec::new())
    }

    fn row_numbers(&self, id: ValueId) -> Result<Vec<i64>, Fault> {
        let bits = int_width(self.module.ty(id).elem())?;
        Ok(self.tile(id)?.ints()?.iter().map(|&v| signed(v, bits)).collect())
    }

    /// Elements of a block, which must be those of the tile.
    fn block_size(&self, block: &[u64], tile: &Type) -> Result<usize, Fault> {
        let elements = block.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        match (elements, tile.elements()) {
            (Some(n), Some(m)) if n == m => Ok(n as usize),
            _ => Err(Fault::Malformed(format!("a block of {block:?} as {tile}"))),
        }
    }
}

fn one(ids: &[ValueId]) -> Result<ValueId, Fault> {
    match ids {
        [one] => Ok(*one),
        _ => Err(Fault::Malformed(format!("{} tiles where one is needed", ids.len()))),
    }
}

fn start(row: i64, column: &[i64]) -> Result<[i64; 2], Fault> {
    match column {
        [column] => Ok([row, *column]),
        _ => Err(Fault::Malformed("rows of a descriptor need one column".into())),
    }
}

fn wrong_rows(block: &[u64]) -> Fault {
    Fault::Malformed(format!("rows of a descriptor with block {block:?}"))
}
