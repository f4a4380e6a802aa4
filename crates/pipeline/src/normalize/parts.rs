//! Numbers of up to 16 bits as the sum of two of bf16, so that two products of bf16 are as exact as one of f32, which
//! tensor cores round to tf32 (C68). What the rest adds to sums below 2^-118 may be lost: its product is no normal number.

use warploom_ir::{FloatKind, Opcode, Type, ValueId};

use crate::emit::Emit;

/// Bits of f32 that bf16 has too.
const HIGH: u64 = 0xffff_0000;
const HALF: u64 = 0x3f00_0000;

impl Emit<'_> {
    /// A tile of f32 whose numbers have at most 16 bits, and are no smaller than those of f16, as two tiles of bf16: what the
    /// high bits say, and the rest. Where nothing is left over, each is one half: both have the sign of the number, so
    /// that products with infinite numbers are what they were.
    pub(super) fn in_two(&mut self, tile: ValueId) -> [ValueId; 2] {
        let ty = self.out.ty(tile).clone();
        let bits = self.value(Opcode::ArithBitcast, &[tile], &ty.with_elem(Type::I32));
        let high = self.with(Opcode::AndI, bits, HIGH);
        let high = self.value(Opcode::ArithBitcast, &[high], &ty);
        let rest = self.same(Opcode::SubF, tile, high);
        let half = self.with(Opcode::MulF, tile, HALF);
        let none = self.like(tile, 0);
        // Neither for zero nor for what infinite numbers leave over.
        let some = self.compare_floats("one", rest, none);
        let narrow = ty.with_elem(Type::Float(FloatKind::BF16));
        [high, rest].map(|part| {
            let part = self.value(Opcode::Select, &[some, part, half], &ty);
            self.value(Opcode::TruncF, &[part], &narrow)
        })
    }
}
