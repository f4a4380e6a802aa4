//! Panels of operands whose columns warpgroups share (C62): where N is contiguous, the descriptor of each warpgroup begins at a
//! panel, so that a panel is no wider than the part of one warpgroup.

use std::collections::BTreeMap;

use warploom_ir::{Module, ValueId};

use crate::engines::{PartitionShape, RegisterLayout};
use crate::transports::operands::DotOperand;
use crate::views::non_unit;

/// Bytes of the narrowest panel.
const NARROWEST: u64 = 32;

/// Whether panels of `swizzle` bytes can be made so narrow that parts of so many bytes are whole ones.
pub(crate) fn divide(part: u64, swizzle: u32) -> bool {
    part.is_multiple_of(u64::from(swizzle)) || (part.is_power_of_two() && part >= NARROWEST)
}

/// The widest panels of tiles whose columns the warpgroups of a partition share, in bytes.
pub(crate) fn widest(
    module: &Module,
    operands: &[DotOperand],
    shape: &PartitionShape,
) -> BTreeMap<ValueId, u32> {
    let mut widest = BTreeMap::new();
    let RegisterLayout::Wgmma { columns } = shape.layout else { return widest };
    for operand in operands.iter().filter(|f| columns > 1 && f.index == 1 && !f.seen.transposed()) {
        let ty = module.ty(operand.seen.base);
        let (Some(cols), Some(bits)) = (non_unit(ty.shape()).last().copied(), ty.elem_bits()) else {
            continue;
        };
        let part = cols.saturating_mul(u64::from(bits)) / 8 / columns;
        if let Ok(part) = u32::try_from(part) {
            let bytes = widest.entry(operand.seen.base).or_insert(part);
            *bytes = part.min(*bytes);
        }
    }
    widest
}
