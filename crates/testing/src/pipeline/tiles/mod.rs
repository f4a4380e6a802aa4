//! Generated kernels of tiles: operations of every kind on tiles of every type, rank and size, in loops and branches
//! nested in each other, with memory that is written and read again.
//!
//! Every number is an integer that its type holds, also of floating point, and sums stay where they are exact: whoever runs
//! such a kernel must come to the same bits.

mod control;
mod elements;
mod maker;
mod memory;
mod shapes;
mod values;

use crate::ir::Choices;
use maker::Maker;

/// What a generated kernel is launched with, in order of its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TileArg {
    /// A buffer of these integers.
    Buffer(Vec<i64>),
    /// A number.
    Number(i64),
}

impl TileArg {
    /// The argument as the command `run` takes it.
    pub fn text(&self) -> String {
        match self {
            TileArg::Buffer(values) => {
                format!("--arg={}", values.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
            }
            TileArg::Number(value) => format!("--arg={value}"),
        }
    }
}

/// A generated kernel of tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileKernel {
    /// Its text, as Triton would print it.
    pub text: String,
    /// Its arguments.
    pub args: Vec<TileArg>,
    /// Programs along x.
    pub programs: u32,
}

impl TileKernel {
    /// The kernel that a string of bytes stands for; every string stands for one.
    pub fn from_bytes(bytes: &[u8]) -> TileKernel {
        let mut choices = Choices::new(bytes);
        Maker::new(&mut choices).kernel()
    }
}
