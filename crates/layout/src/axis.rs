//! Reductions and scans along one dimension (G15): which bits of registers, lanes, warps and CTAs hold it.

use crate::bits::{Echelon, kernel};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// How far a step reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Level {
    /// Registers of one lane.
    Registers,
    /// Lanes of one warp: a shuffle.
    Lanes,
    /// Warps of one CTA: through shared memory.
    Warps,
    /// CTAs of one cluster.
    Ctas,
}

/// One step: each place meets the place whose numbers differ (xor) by these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AxisStep {
    /// How far it reaches.
    pub level: Level,
    /// Difference of the registers' numbers.
    pub register: u64,
    /// Difference of the lanes'.
    pub lane: u64,
    /// Difference of the warps'.
    pub warp: u64,
    /// Difference of the CTAs'.
    pub cta: u64,
    /// Difference of the coordinate along the axis; in a scan a single bit.
    pub axis: u64,
}

/// The steps of a reduction along `axis`, nearest first: after a step both places have the combination of what they
/// had, after all of them every place has that of its whole slice, each element counted once, whatever copies there
/// are. Registers that differ by a step's `register` alone are equal from then on, and one of them is enough.
///
/// ```
/// use warploom_layout::{Dim, Level, fragment::wgmma, reduction};
/// // A row of an accumulator: fold the lane's own, then lanes 1 and 2 away.
/// let steps = reduction(&wgmma::accumulator(64)?, Dim::Axis(1))?;
/// let (fold, shuffles) = steps.split_at(4);
/// assert!(fold.iter().all(|step| step.level == Level::Registers));
/// assert_eq!(shuffles.iter().map(|step| step.lane).collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), warploom_layout::LayoutError>(())
/// ```
pub fn reduction(layout: &Layout, axis: Dim) -> Result<Vec<AxisStep>> {
    let along = layout.outputs.mask(axis);
    let others: Vec<u64> = layout.images.iter().map(|image| image & !along).collect();
    let mut held = Echelon::new();
    let mut steps = Vec::new();
    // Bits of registers come first, then those of lanes, warps and CTAs: the nearest places that will do.
    let mut reach = 0;
    for dim in Dim::DISTRIBUTED {
        reach += layout.inputs.bits(dim) as usize;
        for place in kernel(&others[..reach]) {
            let difference = layout.point(place);
            if held.insert(difference, 0).is_none() {
                steps.push(step(layout, axis, place, difference));
            }
        }
    }
    whole(layout, axis, steps)
}

/// The steps of a scan along `axis`, lowest bit of the coordinate first, in either direction.
///
/// Every place keeps a prefix and a total, both its element at first. In a step the places of the two halves of a block
/// meet: the one with the bit set (cleared, in a scan from the end) takes the other's total before its prefix (behind
/// it), and both join their totals in the order of the axis. Places that differ in copies alone have equal values
/// throughout.
pub fn scan(layout: &Layout, axis: Dim) -> Result<Vec<AxisStep>> {
    let echelon = layout.echelon();
    let bits = (0..layout.outputs.bits(axis)).map(|bit| 1u64 << (layout.outputs.shift(axis) + bit));
    let steps = bits.filter_map(|bit| Some(step(layout, axis, echelon.solve(bit)?, bit))).collect();
    whole(layout, axis, steps)
}

/// Refuses layouts that do not hold the whole axis, and inputs that are not registers or threads.
fn whole(layout: &Layout, axis: Dim, steps: Vec<AxisStep>) -> Result<Vec<AxisStep>> {
    if let Some((input, _)) = layout.inputs.iter().find(|(dim, _)| !Dim::DISTRIBUTED.contains(dim)) {
        return Err(LayoutError::Shape { what: format!("{input} is neither register nor thread") });
    }
    if steps.len() < layout.outputs.bits(axis) as usize {
        return Err(LayoutError::NotHeld { input: axis });
    }
    Ok(steps)
}

fn step(layout: &Layout, axis: Dim, place: u64, difference: u64) -> AxisStep {
    let part = |dim| layout.inputs.part(place, dim);
    let [register, lane, warp, cta] = Dim::DISTRIBUTED.map(part);
    let level = match (lane, warp, cta) {
        (0, 0, 0) => Level::Registers,
        (_, 0, 0) => Level::Lanes,
        (_, _, 0) => Level::Warps,
        _ => Level::Ctas,
    };
    AxisStep { level, register, lane, warp, cta, axis: layout.outputs.part(difference, axis) }
}
