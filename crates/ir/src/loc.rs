//! Source locations: where in the kernel's own source an operation comes from.

use crate::entity::LocId;

/// Parts of a location that are followed at least, however few locations a module has: a part that several share counts
/// as often as it is met, and what leads back to itself has no end.
pub(crate) const MIN_PARTS: usize = 1 << 12;

/// A location as MLIR writes it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Loc {
    /// `unknown`, and everything in files without locations.
    Unknown,
    /// `"file":line:column`, both from 1.
    File {
        /// File name as written.
        file: String,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
    /// `"name"(child)`: a name, and where it was given.
    Name {
        /// The name.
        name: String,
        /// The place behind it, if any.
        child: Option<LocId>,
    },
    /// `callsite(callee at caller)`.
    CallSite {
        /// Inside the called function.
        callee: LocId,
        /// Where it was called.
        caller: LocId,
    },
    /// `fused[a, b]`, with its metadata text if any.
    Fused {
        /// `<..>` text before the list, without the angle brackets.
        metadata: Option<String>,
        /// The fused places.
        parts: Vec<LocId>,
    },
    /// `#loc3`: a reference to an alias of the module, kept by name.
    Alias(String),
}
