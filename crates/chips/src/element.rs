//! Element types of tiles and tensor-core operands.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! elements {
    ($($(#[$doc:meta])* $name:ident = $key:literal, $bits:literal;)*) => {
        /// An element type, as far as costs, copies and tensor cores tell types apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Element {
            $($(#[$doc])* #[serde(rename = $key)] $name,)*
        }

        impl Element {
            /// Every element type.
            pub const ALL: &[Element] = &[$(Element::$name,)*];

            /// Name in data files, diagnostics and PTX.
            pub fn key(self) -> &'static str {
                match self {
                    $(Element::$name => $key,)*
                }
            }

            /// Bits of storage.
            pub fn bits(self) -> u32 {
                match self {
                    $(Element::$name => $bits,)*
                }
            }
        }
    };
}

elements! {
    /// IEEE double precision.
    F64 = "f64", 64;
    /// IEEE single precision.
    F32 = "f32", 32;
    /// f32 of which a tensor core reads 19 bits; 32 bits in memory.
    Tf32 = "tf32", 32;
    /// IEEE half precision.
    F16 = "f16", 16;
    /// bfloat16.
    Bf16 = "bf16", 16;
    /// 8-bit float, 4 exponent bits (e4m3fn).
    E4m3 = "e4m3", 8;
    /// 8-bit float, 5 exponent bits.
    E5m2 = "e5m2", 8;
    /// 6-bit float, 2 exponent bits.
    E2m3 = "e2m3", 6;
    /// 6-bit float, 3 exponent bits.
    E3m2 = "e3m2", 6;
    /// 4-bit float.
    E2m1 = "e2m1", 4;
    /// Integer of 64 bits.
    I64 = "i64", 64;
    /// Integer of 32 bits.
    I32 = "i32", 32;
    /// Integer of 16 bits.
    I16 = "i16", 16;
    /// Signed integer of 8 bits.
    S8 = "s8", 8;
    /// Unsigned integer of 8 bits.
    U8 = "u8", 8;
    /// Signed integer of 4 bits.
    S4 = "s4", 4;
    /// Unsigned integer of 4 bits.
    U4 = "u4", 4;
    /// One bit.
    B1 = "b1", 1;
}

impl Element {
    /// Bytes of `count` packed elements, rounded up once at the end (B6); `None` on overflow.
    pub fn bytes(self, count: u64) -> Option<u64> {
        count.checked_mul(u64::from(self.bits())).map(|bits| bits.div_ceil(8))
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// No element type has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no element type is called `{0}`")]
pub struct UnknownElement(String);

impl FromStr for Element {
    type Err = UnknownElement;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Element::ALL
            .iter()
            .copied()
            .find(|element| element.key() == text)
            .ok_or_else(|| UnknownElement(text.to_owned()))
    }
}
