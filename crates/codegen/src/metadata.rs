//! What a launcher must know beside the PTX (C12).

use serde::{Deserialize, Serialize};

/// How to make the tensor map of one descriptor parameter (C12, C13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorDescriptor {
    /// 0..3: none, 32, 64, 128 bytes.
    pub swizzle: u32,
    /// Bytes of an element.
    pub elem_size: u32,
    /// Triton's number of the element type: 0 `u8` and 8-bit floats, 1 `u16`, 2 `u32`, 6 `f16`, 7 `f32`,
    /// 9 `f64`, 10 `bf16`.
    pub elem_type: u32,
    /// Extents of a box in elements, outermost first.
    pub block_size: Vec<u32>,
    /// Whether 4-bit elements are padded to bytes; always false.
    pub fp4_padded: bool,
    /// Whether the map is of the im2col kind; always false.
    pub is_im2col: bool,
}

/// The record beside the PTX, field by field what Triton's launcher reads (C12).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Name of the entry.
    pub name: String,
    /// Warps of a CTA.
    pub num_warps: u32,
    /// CTAs of a cluster.
    pub num_ctas: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u64,
    /// Columns of tensor memory.
    pub tmem_size: u32,
    /// Bytes of global scratch per CTA.
    pub global_scratch_size: u64,
    /// Alignment of it in bytes.
    pub global_scratch_align: u64,
    /// Bytes of profile scratch per CTA.
    pub profile_scratch_size: u64,
    /// Alignment of it in bytes.
    pub profile_scratch_align: u64,
    /// One record per descriptor parameter, in order.
    pub tensordesc_meta: Vec<TensorDescriptor>,
}
