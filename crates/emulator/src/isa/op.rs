//! The compact form of each instruction.

mod copy;
mod instruction;
mod matrix;
mod operand;

pub(crate) use copy::*;
pub(crate) use instruction::*;
pub(crate) use matrix::*;
pub(crate) use operand::*;
