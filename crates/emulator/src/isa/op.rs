//! The compact form of each instruction.

mod copy;
mod fragment;
mod instruction;
mod matrix;
mod operand;
mod texture;

pub(crate) use copy::*;
pub(crate) use fragment::*;
pub(crate) use instruction::*;
pub(crate) use matrix::*;
pub(crate) use operand::*;
pub(crate) use texture::*;
