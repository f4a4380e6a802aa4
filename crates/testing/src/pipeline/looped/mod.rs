//! Generated loops that multiply: operands that come in every way there is, several products, what is done with their
//! results in the loop and behind it.

mod behind;
mod body;
mod maker;
mod operands;

use super::TileKernel;
use crate::ir::Choices;
use maker::Maker;

impl TileKernel {
    /// The kernel with a loop of products that a string of bytes stands for; every string stands for one.
    pub fn looped(bytes: &[u8]) -> TileKernel {
        let mut choices = Choices::new(bytes);
        Maker::new(&mut choices, false).kernel()
    }

    /// The same, with operands by descriptors alone, which partitions of their own copy, and with more behind the loop.
    pub fn piped(bytes: &[u8]) -> TileKernel {
        let mut choices = Choices::new(bytes);
        Maker::new(&mut choices, true).kernel()
    }
}
