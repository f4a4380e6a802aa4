//! The names of inputs and outputs.

use std::fmt;

/// A named input or output of a layout. The order of the variants is the canonical order (G1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Dim {
    /// Number of an element among those that a lane holds in registers.
    Register,
    /// Lane of a warp.
    Lane,
    /// Warp of a CTA, or of a partition.
    Warp,
    /// CTA of a cluster.
    Cta,
    /// Place in shared memory, in elements.
    Offset,
    /// Row (lane) of tensor memory.
    Row,
    /// Column of tensor memory, of 32 bits.
    Column,
    /// Which of several tiles: the two of a join, the two of a split.
    Part,
    /// A dimension of a tile, the slowest first: `Axis(1)` of a matrix counts columns.
    Axis(u8),
}

impl Dim {
    /// The inputs of a distributed layout, in order (G2).
    pub const DISTRIBUTED: [Dim; 4] = [Dim::Register, Dim::Lane, Dim::Warp, Dim::Cta];
}

const NAMES: [(Dim, &str); 8] = [
    (Dim::Register, "register"),
    (Dim::Lane, "lane"),
    (Dim::Warp, "warp"),
    (Dim::Cta, "cta"),
    (Dim::Offset, "offset"),
    (Dim::Row, "row"),
    (Dim::Column, "column"),
    (Dim::Part, "part"),
];

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Dim::Axis(number) = self {
            return write!(f, "dim{number}");
        }
        let name = NAMES.iter().find(|(dim, _)| dim == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl Dim {
    /// The dimension of a name, as it prints.
    pub(crate) fn named(text: &str) -> Option<Dim> {
        if let Some((dim, _)) = NAMES.iter().find(|(_, name)| *name == text) {
            return Some(*dim);
        }
        let number = text.strip_prefix("dim").filter(|n| *n == "0" || !n.starts_with(['0', '+']))?;
        number.parse().ok().map(Dim::Axis)
    }
}
