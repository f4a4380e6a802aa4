//! MLIR text: reading with [`parse()`], writing with [`print()`].
//!
//! Known operations are written in the custom assembly that Triton 3.9 prints (C5), everything else in
//! generic form; both are read for every operation. Names and locations are kept (C1). Each operation has one
//! line in the table of formats; the few with an irregular format have a routine.
//!
//! # How text lies in memory
//!
//! Operands stand in the order of the generic form, which is not always that of the custom form:
//!
//! | operation | operands |
//! |---|---|
//! | `scf.for` | low, high, step, initial values |
//! | `tt.load` | pointer, mask, value of masked elements (as many as given) |
//! | `tt.store` | pointer, value, mask |
//! | `tt.descriptor_load` | descriptor, indices |
//! | `tt.descriptor_store`, `tt.descriptor_reduce` | descriptor, value, indices |
//! | `tt.descriptor_gather`, `tt.descriptor_scatter` | descriptor, rows, column, (value) |
//! | `tt.make_tensor_descriptor` | pointer, extents, strides |
//! | `tt.dot_scaled` | a, b, sum, scale of a, scale of b (as `operandSegmentSizes` says) |
//! | `warploom.tma_load`, `warploom.tma_store` | slot, descriptor, indices |
//! | `warploom.tile_store` | tile, slot |
//! | other ring operations | slot, phase |
//!
//! Attributes without a dialect in their name belong to the meaning ([`Operation::props`]), the others are
//! hints ([`Operation::attrs`]); of functions and modules only the symbol name, visibility, type and the
//! attributes of arguments and results are properties. What the custom form writes as a keyword
//! (`predicate`, `axis`, `inputPrecision`, `sem`, ..) is `Attr::Opaque` with that keyword, also where the
//! generic form wrote a number. Flags are texts as `#arith.overflow<nsw>`. A name in the operation's own
//! format is a property: `sym_name` (a string) of functions, pipelines, barriers and partitions, `callee`,
//! `pipeline` and `barrier` (symbols) where others name them. `scf.if` always has two regions, the second
//! one without blocks where the text has no `else`; a region whose `scf.yield` the text leaves out has one
//! in memory.
//!
//! [`Operation::props`]: crate::Operation::props
//! [`Operation::attrs`]: crate::Operation::attrs

pub mod dialect;
pub(crate) mod format;
mod item;
pub(crate) mod keywords;
mod lexer;
mod parser;
mod printer;

pub use parser::{MAX_ERRORS, MAX_NESTING, MAX_REGIONS, parse, parse_with};
pub use printer::{OpPrinter, print, print_op, print_with};
