//! Where the elements of a thread begin, as numbers: the same as `first`, which writes code.

use super::blocked::Blocked;
use super::layout::Family;

impl Family {
    /// Row and column of the first element of thread number `thread` of the partition. Linear in the bits of the number.
    pub fn first_of(self, thread: u64) -> (u64, u64) {
        let (warp, lane) = (thread / 32, thread % 32);
        match self {
            Family::Wgmma(family) => (family.row_of(warp) + lane / 4, family.col_of(warp) + 2 * (lane % 4)),
            Family::MmaSync(family) => {
                let (m, quad) = (u64::from(family.m), lane % 4);
                (16 * (warp % m) + lane / 4, 8 * (warp / m) + 2 * quad)
            }
            Family::Blocked(Blocked { vector, across, .. }) => {
                let across = u64::from(across);
                (thread / across, thread % across * u64::from(vector))
            }
            Family::Rows(_) => (thread, 0),
        }
    }
}
