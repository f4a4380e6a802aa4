//! Generated kernels of tiles: operations of every kind on tiles of every type, rank and size, in loops and branches
//! nested in each other, with memory that is written and read again.
//!
//! Every number is an integer that its type holds, also of floating point, and sums stay where they are exact: whoever runs
//! such a kernel must come to the same bits.

mod control;
mod elements;
mod kernel;
mod maker;
mod memory;
mod shapes;
mod values;

use crate::ir::Choices;
pub use kernel::{TileArg, TileKernel};
use maker::Maker;

impl TileKernel {
    /// The kernel that a string of bytes stands for; every string stands for one.
    pub fn from_bytes(bytes: &[u8]) -> TileKernel {
        let mut choices = Choices::new(bytes);
        Maker::new(&mut choices).kernel()
    }
}
