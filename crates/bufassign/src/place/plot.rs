//! A storage class on its way to a place, and a packed space.

use crate::lifetime::Unit;
use crate::orders::SlotOrder;
use crate::output::Class;
use crate::ring::Ring;

/// A storage class on its way to a place. Sizes are bytes in SMEM, columns in TMEM.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// Lowest value id.
    pub id: u64,
    pub class: Class,
    /// Which of a machine's spaces.
    pub space: usize,
    pub ring: Ring,
    pub layout: Option<usize>,
    /// Size of the whole layout, which is placed as one.
    pub layout_size: u64,
    pub slot_orders: Vec<SlotOrder>,
    /// One stage, unpadded.
    pub size: u64,
    pub align: u64,
    pub half_lanes: bool,
}

impl Plot {
    /// From one slot to the next (B38).
    pub fn stride(&self) -> u64 {
        self.size.div_ceil(self.align) * self.align
    }

    /// The whole class; saturates where no space could hold it.
    pub fn bytes(&self) -> u64 {
        if self.layout.is_some() {
            return self.layout_size;
        }
        self.stride().saturating_mul(self.ring.depth.unsigned_abs()).min(1 << 50)
    }
}

/// Whether a unit's storage is live anywhere in a region.
pub(crate) fn live_in(unit: &Unit, region: usize) -> bool {
    unit.region == region || unit.elsewhere.iter().any(|e| e.0 == region)
}

/// A packed space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    /// Offsets of the plots, in their order.
    pub offsets: Vec<u64>,
    /// The upper lane set was taken, per plot.
    pub upper: Vec<bool>,
    pub peak: u64,
    pub load_bound: u64,
    pub optimal: bool,
    /// No plan within the capacity exists.
    pub infeasible: bool,
    /// A machine's space that does not hold what lies in it, and the bytes that it would need.
    pub over: Option<(usize, u64)>,
    /// Orders that overlays of unequal classes rely on (B57).
    pub overlays: Vec<SlotOrder>,
}
