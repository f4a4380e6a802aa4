//! What one multiplication of mma.sync takes.

use warploom_ir::{FloatKind, Type};

/// What one multiplication takes: 32 bytes of K, however many elements that is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    /// Bytes of an element.
    pub(super) bytes: u64,
    /// The multiplication of 16 x 8 elements.
    pub(super) intrinsic: &'static str,
    /// Whether registers are pairs of halves instead of integers.
    pub(super) halves: bool,
    /// Whether accumulators are `i32`.
    pub(super) whole: bool,
    /// Whether they are pairs of f16.
    pub(super) half_sums: bool,
}

impl Kind {
    /// Elements of K per instruction.
    pub fn k(self) -> u64 {
        32 / self.bytes
    }

    /// Registers of accumulators of a multiplication.
    pub fn sums(self) -> usize {
        if self.half_sums { 2 } else { 4 }
    }
}

/// The tensor core's way with the element types of two operands and of their sums.
pub(super) fn kind(a: &Type, b: &Type, sum: &Type) -> Option<Kind> {
    use FloatKind::{BF16, F8E4M3FN, F8E5M2, F16, F32};
    if let (Type::Int(8, _), Type::Int(8, _), Type::Int(32, _)) = (a.elem(), b.elem(), sum.elem()) {
        let intrinsic = "nvvm.mma.m16n8k32.row.col.s8";
        return Some(Kind { bytes: 1, intrinsic, halves: false, whole: true, half_sums: false });
    }
    let (Type::Float(a), Type::Float(b), Type::Float(sum)) = (a.elem(), b.elem(), sum.elem()) else {
        return None;
    };
    let (bytes, intrinsic) = match (a, b) {
        (F16, F16) if *sum == F16 => (2, "nvvm.mma.m16n8k16.row.col.f16.f16"),
        _ if *sum != F32 => return None,
        (BF16, BF16) => (2, "nvvm.mma.m16n8k16.row.col.bf16"),
        (F16, F16) => (2, "nvvm.mma.m16n8k16.row.col.f32.f32"),
        (F32, F32) => (4, "nvvm.mma.m16n8k8.row.col.tf32"),
        (F8E4M3FN, F8E4M3FN) => (1, "nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
        (F8E4M3FN, F8E5M2) => (1, "nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"),
        (F8E5M2, F8E4M3FN) => (1, "nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32"),
        (F8E5M2, F8E5M2) => (1, "nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32"),
        _ => return None,
    };
    let halves = (a, b) == (&F16, &F16);
    Some(Kind { bytes, intrinsic, halves, whole: false, half_sums: *sum == F16 })
}
