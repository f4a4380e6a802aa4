//! Text of dialects that are not this crate's: formats given by whoever reads them, and assembly that is kept.
//!
//! [`parse_with`](super::parse_with) reads what [`parse`](super::parse) refuses for want of a table: an operation that the [`Dialect`]
//! knows is read by its format, any other one in custom syntax is kept as it stands, with its operands, regions and
//! results. Both are [`Opcode::Other`](crate::Opcode::Other). [`print_with`](super::print_with) writes them back.

pub use super::item::{Format, Infer, Item};
pub use super::keywords::Keywords;

use cranelift_entity::SecondaryMap;

use crate::entity::OpId;
use crate::module::Module;

/// The formats of operations outside the known dialects.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The format of the operation of this name; `None` leaves its assembly as it is.
    pub format: fn(&str) -> Option<Format>,
}

/// What [`parse_with`](super::parse_with) read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The module. Every value has its name in the text, numbers included.
    pub module: Module,
    /// Of each operation of the text: the byte where its first token begins, and where the first token behind it
    /// does.
    pub spans: SecondaryMap<OpId, (u32, u32)>,
}

/// The property that holds the assembly of an operation that is kept as it stands. Its characters [`OPERAND`],
/// [`ARGUMENT`] and [`REGION`] stand for the next one of each, [`DICTIONARY`] for the attributes.
pub(crate) const ASSEMBLY: &str = "<assembly>";
/// Stands for the next operand.
pub(crate) const OPERAND: char = '\u{1}';
/// Stands for the next argument of the next region's first block.
pub(crate) const ARGUMENT: char = '\u{2}';
/// Stands for the attributes: all of them are hints.
pub(crate) const DICTIONARY: char = '\u{4}';
/// Stands for the next region.
pub(crate) const REGION: char = '\u{3}';
