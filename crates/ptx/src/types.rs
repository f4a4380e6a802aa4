//! Sizes of types.

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterClass {
    /// One bit per lane.
    Predicate,
    /// Bits: 8, 16, 32, 64 or 128.
    Bits(u8),
    /// A type of unknown size, e.g. `.texref`.
    Other,
}

impl RegisterClass {
    /// The class of a type with its dot.
    pub fn of(ty: &str) -> RegisterClass {
        if ty == ".pred" {
            return RegisterClass::Predicate;
        }
        let bits = type_bytes(ty).and_then(|b| u8::try_from(b * 8).ok());
        bits.map_or(RegisterClass::Other, RegisterClass::Bits)
    }
}

/// Bytes of a fundamental type with its dot, e.g. 4 for `.u32`.
pub fn type_bytes(ty: &str) -> Option<u64> {
    Some(match ty.strip_prefix('.')? {
        "b8" | "u8" | "s8" | "e4m3" | "e5m2" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32" => 4,
        "b64" | "u64" | "s64" | "f64" | "f32x2" => 8,
        "b128" => 16,
        _ => return None,
    })
}
