//! Asynchronous operations as data: what an instruction hands over to be done later (E8).

mod bulk;
mod cp_async;
mod layout;
mod operand;
mod operation;
mod signal;
mod tensor;
mod tmem;
mod wgmma;

pub(crate) use bulk::{BulkWork, StAsyncWork};
pub(crate) use cp_async::{CpAsyncWork, LaneCopy};
pub(crate) use layout::OperandLayout;
pub(crate) use operand::{Operands, Wanted};
pub(crate) use operation::{Operation, Work};
pub(crate) use signal::SignalWork;
pub(crate) use tensor::TensorWork;
pub(crate) use tmem::{Move, Product, SCALES, Scales, SourceA, TmemCopy, TmemWork};
pub(crate) use wgmma::WgmmaWork;
