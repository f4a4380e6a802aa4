//! Fences for tensor maps that were executed (E34).

use crate::race::clock::Clock;
use std::rc::Rc;

/// One `fence.proxy.tensormap` that acquires: who executed it, and what they knew.
#[derive(Clone, Debug)]
pub(crate) struct MapFence {
    /// The map, by its address in global memory.
    pub map: u64,
    pub warp: u32,
    pub lanes: u32,
    pub time: u32,
    pub clock: Rc<Clock>,
}
