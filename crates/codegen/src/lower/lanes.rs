//! Where the lanes of a partition stand in a tile, as code.

use inkwell::values::IntValue;

use super::Lower;
use crate::error::Result;
use crate::family::{Axis, Blocked, Family, Group, MmaSync, Rows, Wgmma};

impl Group {
    /// The first of a warp's group: the number of the warp in its partition, less its place in the group.
    pub fn first<'c>(self, lower: &Lower<'c, '_>, warp: IntValue<'c>) -> Result<IntValue<'c>> {
        let ir = &lower.ir;
        let place = ir.remainder(ir.quotient(warp, self.stride)?, self.count)?;
        ir.sub(warp, ir.scale(place, self.stride)?)
    }
}

impl Family {
    /// The lane's own first row or column, as code.
    pub fn first<'c>(self, lower: &Lower<'c, '_>, axis: Axis) -> Result<IntValue<'c>> {
        match self {
            Family::Wgmma(family) => family.first(lower, axis),
            Family::MmaSync(family) => family.first(lower, axis),
            Family::Blocked(family) => family.first(lower, axis),
            Family::Rows(family) => family.first(lower, axis),
        }
    }
}

impl Wgmma {
    /// First row of the lane's warp, as code.
    pub fn warp_row<'c>(self, lower: &Lower<'c, '_>) -> Result<IntValue<'c>> {
        let ir = &lower.ir;
        let warp = ir.shr(ir.sub(lower.thread, ir.c32(32 * u64::from(self.warp)))?, 5)?;
        if !self.shared {
            let warp = if self.columns > 1 { ir.remainder(warp, self.warps_down())? } else { warp };
            return ir.shl(warp, 4);
        }
        let (quarter, second) = (ir.shl(ir.and(warp, 3)?, 5)?, ir.shl(ir.and(ir.shr(warp, 2)?, 1)?, 4)?);
        let row = ir.or(quarter, second)?;
        if self.groups() == 2 { Ok(row) } else { ir.or(row, ir.shl(ir.shr(warp, 3)?, 7)?) }
    }

    pub fn first<'c>(self, lower: &Lower<'c, '_>, axis: Axis) -> Result<IntValue<'c>> {
        let ir = &lower.ir;
        match axis {
            Axis::Row => ir.or(self.warp_row(lower)?, ir.and(ir.shr(lower.thread, 2)?, 7)?),
            Axis::Col => ir.add(self.part_first(lower)?, ir.shl(ir.and(lower.thread, 3)?, 1)?),
        }
    }

    /// Number of the lane's warpgroup among those that stand side by side.
    pub fn column<'c>(self, lower: &Lower<'c, '_>) -> Result<IntValue<'c>> {
        let ir = &lower.ir;
        match self.columns {
            0 | 1 => Ok(ir.c32(0)),
            _ => ir.quotient(ir.sub(lower.warp, ir.c32(u64::from(self.warp)))?, self.warps_down()),
        }
    }

    /// First column of its part.
    pub fn part_first<'c>(self, lower: &Lower<'c, '_>) -> Result<IntValue<'c>> {
        lower.ir.scale(self.column(lower)?, self.part_step())
    }
}

impl MmaSync {
    /// Number of the lane's warp along a dimension.
    pub fn warp<'c>(self, lower: &Lower<'c, '_>, axis: Axis) -> Result<IntValue<'c>> {
        let ir = &lower.ir;
        let own = ir.sub(lower.warp, ir.c32(u64::from(self.warp)))?;
        match axis {
            Axis::Row => ir.and(own, u64::from(self.m) - 1),
            Axis::Col => ir.shr(own, u64::from(self.m.trailing_zeros())),
        }
    }

    /// The lane's own first row or column.
    pub fn first<'c>(self, lower: &Lower<'c, '_>, axis: Axis) -> Result<IntValue<'c>> {
        let warp = self.warp(lower, axis)?;
        let ir = &lower.ir;
        match axis {
            Axis::Row => ir.or(ir.shl(warp, 4)?, ir.and(ir.shr(lower.thread, 2)?, 7)?),
            Axis::Col => ir.or(ir.shl(warp, 3)?, ir.shl(ir.and(lower.thread, 3)?, 1)?),
        }
    }
}

impl Blocked {
    /// Number of the lane in its partition.
    pub fn lane<'c>(self, lower: &Lower<'c, '_>) -> Result<IntValue<'c>> {
        lower.ir.sub(lower.thread, lower.ir.c32(32 * u64::from(self.warp)))
    }

    /// The lane's own first row or column.
    pub fn first<'c>(self, lower: &Lower<'c, '_>, axis: Axis) -> Result<IntValue<'c>> {
        let lane = self.lane(lower)?;
        let ir = &lower.ir;
        match axis {
            Axis::Row => ir.shr(lane, u64::from(self.across.trailing_zeros())),
            Axis::Col => {
                let place = ir.and(lane, u64::from(self.across) - 1)?;
                ir.shl(place, u64::from(self.vector.trailing_zeros()))
            }
        }
    }
}

impl Rows {
    pub fn first<'c>(self, lower: &Lower<'c, '_>, axis: Axis) -> Result<IntValue<'c>> {
        match axis {
            // 128 * warpgroup + 32 * (warp % 4) + lane: the number of the thread in the partition.
            Axis::Row => lower.ir.sub(lower.thread, lower.ir.c32(32 * u64::from(self.warp))),
            Axis::Col => Ok(lower.ir.c32(0)),
        }
    }

    /// Where the lanes of this warp find their rows of a tile of `cols` columns in tensor memory: their quarter
    /// of the lanes, and the columns of their warpgroup's first block (C66).
    pub fn tensor_offset<'c>(self, lower: &Lower<'c, '_>, cols: u64) -> Result<IntValue<'c>> {
        let ir = &lower.ir;
        let warp = ir.sub(lower.warp, ir.c32(u64::from(self.warp)))?;
        let quarter = ir.shl(ir.and(warp, 3)?, 21)?;
        match self.groups() {
            1 => Ok(quarter),
            _ => ir.add(quarter, ir.scale(ir.shr(warp, 2)?, cols)?),
        }
    }
}
