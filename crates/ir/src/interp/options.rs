//! Options of an interpretation.

/// In what sums and products of `f32` are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Accumulate {
    /// Every `f32` value is rounded to `f32`, as the kernel says.
    #[default]
    F32,
    /// `f32` values are held unrounded in `f64` until they are stored, cast to another type or looked at as
    /// bits: a reference of higher precision for the same kernel.
    F64,
}

/// Precision and limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// Precision of `f32` values.
    pub accumulate: Accumulate,
    /// Most element operations of the whole run: one for each operation, one for each element of its operands and
    /// results, one for each product of a dot.
    pub max_work: u64,
    /// Most bytes that the values of one program may take (8 bytes for each element).
    pub max_tile_bytes: u64,
}

impl Default for Options {
    /// `f32`, 2^40 element operations, 4 GiB.
    fn default() -> Options {
        Options { accumulate: Accumulate::F32, max_work: 1 << 40, max_tile_bytes: 1 << 32 }
    }
}
