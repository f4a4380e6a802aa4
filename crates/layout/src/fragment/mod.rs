//! Instructions as constant layouts (G13, G14, G31): what the PTX ISA fixes, the same on every chip that has the
//! instruction. Which chip has which shape is data of `warploom-chips`.
//!
//! Registers count elements, not 32-bit registers: with 16-bit elements, elements 0 and 1 share the first. Operand A is
//! M x K, B is K x N, C and D are M x N, rows in `dim0`.

pub mod descriptor;
pub mod ldmatrix;
pub mod mma_sync;
pub mod tcgen05;
pub mod tma;
pub mod wgmma;

use crate::dim::Dim;

const ROW: Dim = Dim::Axis(0);
const COL: Dim = Dim::Axis(1);
