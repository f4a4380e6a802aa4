//! `warploom.dot_block_scaled`: products of narrow floats with scales of blocks, both as tensor cores read them.

use super::attrs;
use super::data::{Data, to_bits};
use super::dot::{Extents, multiply};
use super::dot_scaled::{e2m1, e8m0};
use super::error::Fault;
use super::float::decode;
use super::machine::Interpreter;
use super::value::Value;
use crate::attr::Attr;
use crate::block_scaled::BlockFormat;
use crate::entity::{OpId, ValueId};
use crate::types::FloatKind;

/// An operand: its tile, and the scales of its rows.
struct Operand {
    format: BlockFormat,
    tile: ValueId,
    scales: ValueId,
    /// Whether the tile is stored [K, rows].
    columns: bool,
}

impl Interpreter<'_> {
    pub(super) fn dot_block_scaled(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let operand = |n| self.operand(op, n);
        let (a, b, c) = (operand(0)?, operand(1)?, operand(2)?);
        let (sa, sb) = (operand(3)?, operand(4)?);
        let format = |name: &str| {
            let format = self.module.attr(op, name).and_then(Attr::as_str).and_then(BlockFormat::named);
            format.ok_or_else(|| Fault::Malformed(format!("warploom.dot_block_scaled without {name}")))
        };
        let (fa, fb) = (format("a_elem_type")?, format("b_elem_type")?);
        let block = attrs::int(self.module, op, "block")?;
        let result = self.result_type(op, 0)?;
        let (&[m, n], &[_, bytes]) = (result.shape(), self.module.ty(a).shape()) else {
            return Err(Fault::Malformed("warploom.dot_block_scaled of tiles that are no matrices".into()));
        };
        let packed = fa == BlockFormat::E2M1 && fb == BlockFormat::E2M1;
        let k = if packed { bytes.saturating_mul(2) } else { bytes };
        self.spend(m.saturating_mul(n).saturating_mul(k))?;
        let extents = Extents { batch: 1, m: m as usize, n: n as usize, k: k as usize };
        let block = usize::try_from(block).ok().filter(|&n| n > 0 && extents.k.is_multiple_of(n));
        let block = block.ok_or_else(|| Fault::Malformed("blocks that do not divide K".into()))?;
        let left = Operand { format: fa, tile: a, scales: sa, columns: false };
        let right = Operand { format: fb, tile: b, scales: sb, columns: true };
        let x = self.decoded(&left, (extents.m, extents.k), block, packed)?;
        let y = self.decoded(&right, (extents.n, extents.k), block, packed)?;
        // The right operand goes back to [K, N].
        let y: Vec<f64> = (0..extents.k).flat_map(|l| y.iter().skip(l).step_by(extents.k)).copied().collect();
        let mut sums = self.tile(c)?.floats()?.to_vec();
        multiply(extents, &x, &y, &mut sums);
        let cx = self.context();
        Ok(vec![Data::Float(sums.into_iter().map(|v| cx.round(FloatKind::F32, v)).collect()).into()])
    }

    /// The values of an operand, row by row, scaled.
    fn decoded(
        &self,
        operand: &Operand,
        (rows, k): (usize, usize),
        block: usize,
        packed: bool,
    ) -> Result<Vec<f64>, Fault> {
        let bytes = to_bits(self.module.ty(operand.tile).elem(), &*self.tile(operand.tile)?)?;
        let table = self.tile(operand.scales)?;
        let stored = if packed { k / 2 } else { k };
        let blocks = (k / block).div_ceil(4);
        let mut values = Vec::with_capacity(rows.saturating_mul(k));
        for row in 0..rows {
            for l in 0..k {
                let (byte, half) = match operand.format {
                    BlockFormat::E2M1 if packed => (l / 2, l % 2),
                    BlockFormat::E2M1 => (l / 16 * 16 + l % 16 / 2, l % 2),
                    _ => (l, 0),
                };
                let at = if operand.columns { byte * rows + row } else { row * stored + byte };
                let group = l / block;
                let part = row / 128 * blocks + group / 4;
                let place = part * 512 + row % 32 * 16 + row / 32 % 4 * 4 + group % 4;
                let missing = || Fault::Malformed("warploom.dot_block_scaled of too small tiles".into());
                let bits = *bytes.get(at).ok_or_else(missing)?;
                let scale = match &*table {
                    Data::Int(codes) => codes.get(place).map(|&code| e8m0(code)),
                    Data::Float(scales) => scales.get(place).map(|scale| scale.abs()),
                };
                let value = match operand.format {
                    BlockFormat::E4M3 => decode(FloatKind::F8E4M3FN, bits),
                    BlockFormat::E5M2 => decode(FloatKind::F8E5M2, bits),
                    BlockFormat::E2M1 => e2m1(bits >> (4 * half)),
                };
                values.push(value * scale.ok_or_else(missing)?);
            }
        }
        Ok(values)
    }
}
