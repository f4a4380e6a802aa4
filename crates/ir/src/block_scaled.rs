//! Formats of block-scaled products (`warploom.dot_block_scaled`).

/// A format of elements. Exhaustive: these are the ones that products of scaled blocks have, and each is lowered in its own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockFormat {
    /// 4 bits of exponent, 3 of fraction.
    E4M3,
    /// 5 bits of exponent, 2 of fraction.
    E5M2,
    /// 2 bits of exponent, 1 of fraction. Beside another format, 16 elements lie in the first half of 16 bytes; beside its
    /// own, two in each byte, the earlier one in the low half.
    E2M1,
}

impl BlockFormat {
    /// The format of this name.
    pub fn named(name: &str) -> Option<BlockFormat> {
        Some(match name {
            "e4m3" => BlockFormat::E4M3,
            "e5m2" => BlockFormat::E5M2,
            "e2m1" => BlockFormat::E2M1,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            BlockFormat::E4M3 => "e4m3",
            BlockFormat::E5M2 => "e5m2",
            BlockFormat::E2M1 => "e2m1",
        }
    }
}
