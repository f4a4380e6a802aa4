//! What a TMA descriptor and a copy through it must keep (T11).

use serde::{Deserialize, Serialize};

use crate::{Element, Swizzle};

/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 5;
/// Greatest extent of a box.
pub const MAX_BOX: u32 = 256;
/// Greatest element stride.
pub const MAX_ELEMENT_STRIDE: u32 = 8;
/// Greatest extent of a tensor.
pub const MAX_EXTENT: u64 = 1 << 32;
/// Strides are less than this, in bytes.
pub const STRIDE_END: u64 = 1 << 40;
/// Addresses, strides and copied rows are multiples of this, in bytes.
pub const GRANULE: u64 = 16;

/// The part of a descriptor that is fixed when code is compiled. Dimensions innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TmaBox {
    /// Element type.
    pub element: Element,
    /// Extents of the box, in elements.
    pub extents: Vec<u32>,
    /// Distance between elements taken, per dimension, in elements; 1 each as a rule.
    pub element_strides: Vec<u32>,
    /// Layout in shared memory.
    pub swizzle: Swizzle,
}

/// The part of a descriptor that comes with the tensor. Dimensions innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TmaTensor {
    /// Global address, bytes.
    pub address: u64,
    /// Extents, in elements.
    pub extents: Vec<u64>,
    /// Strides of all dimensions but the innermost, in bytes.
    pub strides: Vec<u64>,
}

/// Which of the two directions a copy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TmaDirection {
    /// Global to shared memory.
    Load,
    /// Shared to global memory.
    Store,
}

/// One broken rule of T11. Dimensions are counted from 0, the innermost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TmaViolation {
    /// Rank out of range.
    #[error("T11: rank {rank}; TMA takes 1 to 5 dimensions")]
    Rank {
        /// Dimensions given.
        rank: usize,
    },
    /// Lists of different length.
    #[error("T11: {given} {what} for rank {rank}")]
    Count {
        /// What was counted.
        what: String,
        /// How many were given.
        given: usize,
        /// Dimensions of the box or tensor.
        rank: usize,
    },
    /// Box extent out of range.
    #[error(
        "T11: box extent {extent} in dimension {dimension}; 1 to 256 are legal: cut the box into several copies"
    )]
    BoxExtent {
        /// Dimension.
        dimension: usize,
        /// Extent, elements.
        extent: u32,
    },
    /// Inner extent not a multiple of 16 bytes.
    #[error("T11: the box is {bits} bits wide; a multiple of 128 (16 bytes) is needed")]
    BoxWidth {
        /// Bits of one row.
        bits: u64,
    },
    /// Inner extent wider than the swizzle.
    #[error("T9: the box is {bytes} bytes wide, the swizzle {width}: cut it into panels of {width} bytes")]
    SwizzleWidth {
        /// Bytes of one row.
        bytes: u64,
        /// Bytes of a row of the pattern.
        width: u32,
    },
    /// Element stride out of range.
    #[error("T11: element stride {stride} in dimension {dimension}; 1 to 8 are legal")]
    ElementStride {
        /// Dimension.
        dimension: usize,
        /// Stride, elements.
        stride: u32,
    },
    /// Tensor extent out of range.
    #[error("T11: extent {extent} in dimension {dimension}; 1 to 2^32 are legal")]
    Extent {
        /// Dimension.
        dimension: usize,
        /// Extent, elements.
        extent: u64,
    },
    /// Stride not a multiple of 16 bytes, or too large.
    #[error("T11: stride {stride} of dimension {dimension}; multiples of 16 bytes below 2^40 are legal")]
    Stride {
        /// Dimension.
        dimension: usize,
        /// Stride, bytes.
        stride: u64,
    },
    /// Address not aligned.
    #[error("T11: {what} address {address:#x} is not a multiple of {align}")]
    Alignment {
        /// Whose address.
        what: String,
        /// The address, bytes.
        address: u64,
        /// The alignment it needs, bytes.
        align: u64,
    },
    /// Negative coordinate in a store.
    #[error(
        "T11: a store at coordinate {coordinate} of dimension {dimension}; stores need coordinates of at least 0"
    )]
    NegativeStore {
        /// Dimension.
        dimension: usize,
        /// Coordinate, elements.
        coordinate: i64,
    },
}

/// All rules that a box breaks, in order of dimension.
pub fn check_box(tma_box: &TmaBox) -> Vec<TmaViolation> {
    let rank = tma_box.extents.len();
    let mut broken = check_rank(rank);
    check_count(&mut broken, "element strides", tma_box.element_strides.len(), rank);
    for (dimension, &extent) in tma_box.extents.iter().enumerate() {
        if !(1..=MAX_BOX).contains(&extent) {
            broken.push(TmaViolation::BoxExtent { dimension, extent });
        }
    }
    for (dimension, &stride) in tma_box.element_strides.iter().enumerate() {
        if !(1..=MAX_ELEMENT_STRIDE).contains(&stride) {
            broken.push(TmaViolation::ElementStride { dimension, stride });
        }
    }
    let Some(&inner) = tma_box.extents.first() else { return broken };
    let bits = u64::from(inner) * u64::from(tma_box.element.bits());
    if !bits.is_multiple_of(GRANULE * 8) {
        broken.push(TmaViolation::BoxWidth { bits });
    }
    let bytes = bits.div_ceil(8);
    if let Some(width) = tma_box.swizzle.width().filter(|&width| bytes > u64::from(width)) {
        broken.push(TmaViolation::SwizzleWidth { bytes, width });
    }
    broken
}

/// All rules that a tensor breaks, in order of dimension.
pub fn check_tensor(tensor: &TmaTensor) -> Vec<TmaViolation> {
    let rank = tensor.extents.len();
    let mut broken = check_rank(rank);
    check_count(&mut broken, "strides besides the innermost", tensor.strides.len(), rank.saturating_sub(1));
    check_alignment(&mut broken, "global", tensor.address, GRANULE);
    for (dimension, &extent) in tensor.extents.iter().enumerate() {
        if !(1..=MAX_EXTENT).contains(&extent) {
            broken.push(TmaViolation::Extent { dimension, extent });
        }
    }
    for (below, &stride) in tensor.strides.iter().enumerate() {
        if !stride.is_multiple_of(GRANULE) || stride >= STRIDE_END {
            broken.push(TmaViolation::Stride { dimension: below + 1, stride });
        }
    }
    broken
}

/// All rules that a descriptor in memory breaks by its address; `replaced` if `tensormap.replace` writes it.
pub fn check_map_address(address: u64, replaced: bool) -> Vec<TmaViolation> {
    let mut broken = Vec::new();
    check_alignment(&mut broken, "descriptor", address, if replaced { 128 } else { 64 });
    broken
}

/// All rules that one copy breaks by its shared-memory address and tensor coordinates.
pub fn check_copy(
    tma_box: &TmaBox,
    direction: TmaDirection,
    shared_address: u64,
    coordinates: &[i64],
) -> Vec<TmaViolation> {
    let mut broken = Vec::new();
    check_count(&mut broken, "coordinates", coordinates.len(), tma_box.extents.len());
    check_alignment(&mut broken, "shared", shared_address, tma_box.swizzle.tma_alignment().into());
    if direction == TmaDirection::Store {
        for (dimension, &coordinate) in coordinates.iter().enumerate() {
            if coordinate < 0 {
                broken.push(TmaViolation::NegativeStore { dimension, coordinate });
            }
        }
    }
    broken
}

/// Bytes one copy adds to its barrier: the full box, whatever lies outside the tensor; `None` on overflow.
/// With element strides a dimension gives `ceil(extent / stride)` elements.
pub fn copy_bytes(tma_box: &TmaBox) -> Option<u64> {
    let strides = tma_box.element_strides.iter().copied().chain(std::iter::repeat(1));
    let elements = tma_box.extents.iter().zip(strides).try_fold(1_u64, |product, (&extent, stride)| {
        product.checked_mul(u64::from(extent.div_ceil(stride.max(1))))
    })?;
    tma_box.element.bytes(elements)
}

fn check_rank(rank: usize) -> Vec<TmaViolation> {
    if (1..=MAX_RANK).contains(&rank) { Vec::new() } else { vec![TmaViolation::Rank { rank }] }
}

fn check_count(broken: &mut Vec<TmaViolation>, what: &str, given: usize, rank: usize) {
    if given != rank {
        broken.push(TmaViolation::Count { what: what.to_owned(), given, rank });
    }
}

fn check_alignment(broken: &mut Vec<TmaViolation>, what: &str, address: u64, align: u64) {
    if !address.is_multiple_of(align) {
        broken.push(TmaViolation::Alignment { what: what.to_owned(), address, align });
    }
}

/// Whether one `cp.async` can move so many bytes; `.cg` bypasses the first-level cache.
pub fn cp_async_bytes_legal(bytes: u32, cg: bool) -> bool {
    if cg { bytes == 16 } else { matches!(bytes, 4 | 8 | 16) }
}

/// Whether one `cp.async.bulk` can move so many bytes.
pub fn bulk_bytes_legal(bytes: u64) -> bool {
    bytes > 0 && bytes.is_multiple_of(GRANULE)
}
