//! InterpOptions of an interpretation.

use std::sync::Arc;

use super::assembly::Assembly;

/// In what sums and products of `f32` are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct InterpOptions {
    /// Precision of `f32` values.
    pub accumulate: Accumulate,
    /// Most element operations of the whole run: one for each operation, one for each element of its operands and
    /// results, one for each product of a dot.
    pub max_work: u64,
    /// Most bytes that the values of one program may take (8 bytes for each element).
    pub max_tile_bytes: u64,
    /// What runs the assembly of `tt.elementwise_inline_asm`; without it, few instructions are known.
    pub assembly: Option<Arc<dyn Assembly>>,
}

impl Default for InterpOptions {
    /// `f32`, 2^40 element operations, 4 GiB, no assembly.
    fn default() -> InterpOptions {
        InterpOptions {
            accumulate: Accumulate::F32,
            max_work: 1 << 40,
            max_tile_bytes: 1 << 32,
            assembly: None,
        }
    }
}

impl InterpOptions {
    /// Precision of `f32` values.
    pub fn accumulate(mut self, accumulate: Accumulate) -> InterpOptions {
        self.accumulate = accumulate;
        self
    }

    /// Most element operations of the whole run.
    pub fn max_work(mut self, max_work: u64) -> InterpOptions {
        self.max_work = max_work;
        self
    }

    /// Most bytes that the values of one program may take.
    pub fn max_tile_bytes(mut self, max_tile_bytes: u64) -> InterpOptions {
        self.max_tile_bytes = max_tile_bytes;
        self
    }

    /// What runs the assembly of `tt.elementwise_inline_asm`.
    pub fn assembly(mut self, assembly: Arc<dyn Assembly>) -> InterpOptions {
        self.assembly = Some(assembly);
        self
    }
}
