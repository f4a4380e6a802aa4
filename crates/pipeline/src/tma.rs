//! How a tile is cut into TMA boxes: swizzle, panels, alignment (C13-C15, T9-T11).

use std::fmt;

use warploom_chips::{Swizzle, Target};
use warploom_ir::{FloatKind, Signedness, Type};

/// How one descriptor's block is copied. The kernel and the host's tensor map must agree on it (C14).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TilePlan {
    /// Extents of the whole block, outermost first, in elements.
    pub block: Vec<u64>,
    /// Extents of one box, outermost first, in elements: what a single copy moves.
    pub box_extents: Vec<u64>,
    /// Swizzle span in bytes: 0, 32, 64 or 128.
    pub swizzle: u32,
    /// The element type as the kernel writes it.
    pub element: String,
    /// Bytes of one element.
    pub element_bytes: u64,
    /// Bytes of the whole block.
    pub bytes: u64,
    /// The driver-independent number of the element type (C13).
    pub element_code: u32,
}

/// Why a block cannot be copied by TMA.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BoxError {
    /// The rule that is broken.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub needs: String,
}

impl fmt::Display for BoxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]; needs {}", self.message, self.rule, self.needs)
    }
}

impl std::error::Error for BoxError {}

fn broken(rule: &'static str, message: String, needs: &str) -> BoxError {
    BoxError { rule, message, needs: needs.to_owned() }
}

impl TilePlan {
    /// The plan for a descriptor type: the largest swizzle that divides the inner extent, boxes of at most
    /// 256 per dimension, the inner one as wide as the swizzle (C14).
    ///
    /// # Errors
    /// The first TMA rule that the block breaks (C15, T11).
    pub fn new(descriptor: &Type, target: &Target) -> Result<TilePlan, BoxError> {
        let block = descriptor.shape().to_vec();
        let Some(code) = element_code(descriptor.elem()) else {
            let message = format!("descriptor elements of type {}", descriptor.elem());
            return Err(broken("C13", message, "8-, 16-, 32- or 64-bit integers or floats"));
        };
        let element_bytes = u64::from(descriptor.elem_bits().unwrap_or(8)) / 8;
        let (Some(bytes), Some(&inner)) = (descriptor.bytes(), block.last()) else {
            return Err(broken("C15", format!("a block of rank {}", block.len()), "rank 1 to 5"));
        };
        if block.len() > 5 || block.contains(&0) {
            return Err(broken(
                "C15",
                format!("a block of rank {}", block.len()),
                "rank 1 to 5, no extent 0",
            ));
        }
        let inner_bytes = inner * element_bytes;
        let swizzle = swizzle(&block, inner_bytes);
        let mut box_extents: Vec<u64> = block.iter().map(|&extent| extent.min(256)).collect();
        if let (Some(last), true) = (box_extents.last_mut(), swizzle != 0) {
            *last = u64::from(swizzle) / element_bytes;
        }
        let box_inner = box_extents.last().map_or(0, |extent| extent * element_bytes);
        if box_inner < 16 || !box_inner.is_multiple_of(16) {
            let message = format!("the box is {box_inner} B wide");
            return Err(broken("T11", message, "an inner box that is a multiple of 16 B"));
        }
        let limit = u64::from(target.barriers.mbarrier_tx_bytes);
        if bytes > limit {
            let message = format!("a block of {bytes} B");
            return Err(broken("C15", message, "at most 1048575 B per barrier phase"));
        }
        let element = descriptor.elem().to_string();
        Ok(TilePlan { block, box_extents, swizzle, element, element_bytes, bytes, element_code: code })
    }

    /// The swizzle as the target knows it.
    pub fn target_swizzle(&self) -> Swizzle {
        match self.swizzle {
            128 => Swizzle::B128,
            64 => Swizzle::B64,
            32 => Swizzle::B32,
            _ => Swizzle::None,
        }
    }

    /// Alignment of a slot in shared memory, in bytes: TMA's 128, and the swizzle's pattern (T9, T10).
    pub fn align(&self) -> u64 {
        u64::from(self.target_swizzle().stage_alignment(true, 1))
    }

    /// The number of the swizzle in `tensordesc_meta` (C13).
    pub fn swizzle_code(&self) -> u32 {
        u32::from(self.target_swizzle().tma_code().mode)
    }

    /// Number of copies that move the block.
    pub fn copies(&self) -> u64 {
        let per_dim = self.block.iter().zip(&self.box_extents).map(|(b, x)| b.div_ceil((*x).max(1)));
        per_dim.product()
    }

    /// Extents without those of 1, outermost first: the tile as the kernel computes with it.
    pub fn tile(&self) -> Vec<u64> {
        self.block.iter().copied().filter(|&extent| extent != 1).collect()
    }

    /// The tile as it lies in a slot: rows one behind the other are a matrix.
    pub fn matrix(&self) -> Vec<u64> {
        let tile = self.tile();
        match tile.as_slice() {
            [outer @ .., cols] if outer.len() > 1 => vec![outer.iter().product(), *cols],
            _ => tile,
        }
    }
}

/// The largest of 128, 64, 32 that divides the inner bytes; none for rank 1, for fewer than 8 rows, and for several
/// matrices of fewer than 8 rows (C14).
fn swizzle(block: &[u64], inner_bytes: u64) -> u32 {
    let rows: u64 = block.iter().rev().skip(1).fold(1, |n, &d| n.saturating_mul(d));
    let extents: Vec<u64> = block.iter().copied().filter(|&extent| extent != 1).collect();
    // Matrices of fewer rows, one behind the other, are no operand whose rows a swizzle spreads.
    let flat = matches!(extents.as_slice(), [_, .., rows, _] if *rows < 8);
    if block.len() < 2 || rows < 8 || flat {
        return 0;
    }
    [128u32, 64, 32].into_iter().find(|&s| inner_bytes.is_multiple_of(u64::from(s))).unwrap_or(0)
}

/// Numbers of the element types in `tensordesc_meta` (C13; those it does not list as in `tensormap.replace`).
fn element_code(elem: &Type) -> Option<u32> {
    Some(match elem {
        Type::Int(8, _) | Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2) => 0,
        Type::Int(16, _) => 1,
        Type::Int(32, Signedness::Signed) => 3,
        Type::Int(32, _) => 2,
        Type::Int(64, Signedness::Signed) => 5,
        Type::Int(64, _) => 4,
        Type::Float(FloatKind::F16) => 6,
        Type::Float(FloatKind::F32) => 7,
        Type::Float(FloatKind::F64) => 9,
        Type::Float(FloatKind::BF16) => 10,
        _ => return None,
    })
}

/// The elements of a tile that a descriptor moves: descriptors may name a sign that tiles do not carry (C4).
pub(crate) fn tile_elem(descriptor: &Type) -> Type {
    match descriptor.elem() {
        Type::Int(bits, _) => Type::int(*bits),
        other => other.clone(),
    }
}

pub(crate) fn padded(plan: &TilePlan) -> u64 {
    plan.bytes.next_multiple_of(plan.align())
}
