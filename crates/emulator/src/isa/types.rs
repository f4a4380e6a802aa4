//! Types of instructions.

/// The type an instruction gives to the bits of its registers (E19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    TF32,
    F32,
    F32x2,
    F64,
    E4M3,
    E5M2,
    E4M3x2,
    E5M2x2,
    E2M1x2,
    E2M3x2,
    E3M2x2,
    /// Two scales: powers of two.
    UE8M0x2,
    U16x2,
    S16x2,
}

impl Ty {
    /// The type of a modifier without its dot.
    pub(crate) fn of(word: &str) -> Option<Ty> {
        Some(match word {
            "pred" => Ty::Pred,
            "b8" => Ty::B8,
            "b16" => Ty::B16,
            "b32" => Ty::B32,
            "b64" => Ty::B64,
            "b128" => Ty::B128,
            "u8" => Ty::U8,
            "u16" => Ty::U16,
            "u32" => Ty::U32,
            "u64" => Ty::U64,
            "s8" => Ty::S8,
            "s16" => Ty::S16,
            "s32" => Ty::S32,
            "s64" => Ty::S64,
            "f16" => Ty::F16,
            "f16x2" => Ty::F16x2,
            "bf16" => Ty::BF16,
            "bf16x2" => Ty::BF16x2,
            "tf32" => Ty::TF32,
            "f32" => Ty::F32,
            "f32x2" => Ty::F32x2,
            "f64" => Ty::F64,
            "e4m3" => Ty::E4M3,
            "e5m2" => Ty::E5M2,
            "e4m3x2" => Ty::E4M3x2,
            "e5m2x2" => Ty::E5M2x2,
            "e2m1x2" => Ty::E2M1x2,
            "e2m3x2" => Ty::E2M3x2,
            "e3m2x2" => Ty::E3M2x2,
            "ue8m0x2" => Ty::UE8M0x2,
            "u16x2" => Ty::U16x2,
            "s16x2" => Ty::S16x2,
            _ => return None,
        })
    }

    /// Width in bits; a predicate has one.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Ty::Pred => 1,
            Ty::B8 | Ty::U8 | Ty::S8 | Ty::E4M3 | Ty::E5M2 | Ty::E2M1x2 => 8,
            Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 => 16,
            Ty::E4M3x2 | Ty::E5M2x2 | Ty::E2M3x2 | Ty::E3M2x2 | Ty::UE8M0x2 => 16,
            Ty::B32
            | Ty::U32
            | Ty::S32
            | Ty::F32
            | Ty::F16x2
            | Ty::BF16x2
            | Ty::TF32
            | Ty::U16x2
            | Ty::S16x2 => 32,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 | Ty::F32x2 => 64,
            Ty::B128 => 128,
        }
    }

    /// Width in bytes.
    pub(crate) fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// A signed integer.
    pub(crate) fn signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// An integer or plain bits.
    pub(crate) fn integer(self) -> bool {
        matches!(self, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64 | Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64)
            || self.signed()
    }
}

/// The low `bits` bits.
pub(crate) fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Sign-extends the low `bits` bits.
pub(crate) fn sign_extend(x: u64, bits: u32) -> u64 {
    if bits >= 64 || bits == 0 {
        return x;
    }
    (((x << (64 - bits)) as i64) >> (64 - bits)) as u64
}
