//! Shared-memory swizzles, and the three codes each has (T9, T10).

use serde::{Deserialize, Serialize};

/// A permutation of 16-byte (or 32-byte) chunks within a repeating pattern of shared memory, so that
/// rows and columns of a tile both reach all banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Swizzle {
    /// Addresses as they are.
    #[default]
    #[serde(rename = "none")]
    None,
    /// Rows of 32 bytes.
    #[serde(rename = "32")]
    B32,
    /// Rows of 64 bytes.
    #[serde(rename = "64")]
    B64,
    /// Rows of 128 bytes.
    #[serde(rename = "128")]
    B128,
    /// Rows of 128 bytes whose chunks are 32 bytes; from sm_100 on.
    #[serde(rename = "128_atom_32")]
    B128Atom32,
}

impl Swizzle {
    /// Every swizzle, in the order of T9.
    pub const ALL: [Swizzle; 5] =
        [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128, Swizzle::B128Atom32];

    /// Bytes after which the pattern repeats.
    pub fn pattern_bytes(self) -> u32 {
        match self {
            Swizzle::None => 16,
            Swizzle::B32 => 256,
            Swizzle::B64 | Swizzle::B128Atom32 => 512,
            Swizzle::B128 => 1024,
        }
    }

    /// Alignment in bytes that a base needs so that no base offset is needed; for TMA see
    /// [`Swizzle::tma_alignment`].
    pub fn alignment(self) -> u32 {
        match self {
            Swizzle::None => 16,
            Swizzle::B32 => 256,
            Swizzle::B64 => 512,
            Swizzle::B128 | Swizzle::B128Atom32 => 1024,
        }
    }

    /// Alignment in bytes of a tile that TMA reads or writes.
    pub fn tma_alignment(self) -> u32 {
        self.alignment().max(128)
    }

    /// Bytes of a row of the pattern, which the inner extent of a TMA box must not exceed; `None`
    /// without a swizzle, where any legal box fits.
    pub fn width(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B128 | Swizzle::B128Atom32 => Some(128),
        }
    }

    /// Where the byte at `address` of the plain layout is found. An involution on absolute addresses.
    ///
    /// ```
    /// use warploom_chips::Swizzle;
    /// assert_eq!(Swizzle::B128.apply(0x80), 0x90);
    /// assert_eq!(Swizzle::B128.apply(Swizzle::B128.apply(0x1234)), 0x1234);
    /// ```
    pub fn apply(self, address: u32) -> u32 {
        let row = address >> 7;
        match self {
            Swizzle::None => address,
            Swizzle::B32 => address ^ ((row & 1) << 4),
            Swizzle::B64 => address ^ ((row & 3) << 4),
            Swizzle::B128 => address ^ ((row & 7) << 4),
            Swizzle::B128Atom32 => address ^ ((row & 3) << 5),
        }
    }

    /// Code in a TMA descriptor: swizzle mode and atomicity.
    pub fn tma_code(self) -> TmaSwizzle {
        let (mode, atomicity) = match self {
            Swizzle::None => (0, 0),
            Swizzle::B32 => (1, 0),
            Swizzle::B64 => (2, 0),
            Swizzle::B128 => (3, 0),
            Swizzle::B128Atom32 => (3, 1),
        };
        TmaSwizzle { mode, atomicity }
    }

    /// Code in bits 62-63 of a wgmma descriptor; `None` if it has none.
    pub fn wgmma_code(self) -> Option<u8> {
        match self {
            Swizzle::None => Some(0),
            Swizzle::B32 => Some(3),
            Swizzle::B64 => Some(2),
            Swizzle::B128 => Some(1),
            Swizzle::B128Atom32 => None,
        }
    }

    /// Code in bits 61-63 of a tcgen05 descriptor.
    pub fn tcgen05_code(self) -> u8 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 6,
            Swizzle::B64 => 4,
            Swizzle::B128 => 2,
            Swizzle::B128Atom32 => 1,
        }
    }

    /// The swizzle of a TMA code; `None` for a code T9 does not name.
    pub fn from_tma_code(code: TmaSwizzle) -> Option<Swizzle> {
        Swizzle::ALL.into_iter().find(|swizzle| swizzle.tma_code() == code)
    }

    /// The swizzle of a wgmma code; `None` for a code T9 does not name.
    pub fn from_wgmma_code(code: u8) -> Option<Swizzle> {
        Swizzle::ALL.into_iter().find(|swizzle| swizzle.wgmma_code() == Some(code))
    }

    /// The swizzle of a tcgen05 code; `None` for a code T9 does not name.
    pub fn from_tcgen05_code(code: u8) -> Option<Swizzle> {
        Swizzle::ALL.into_iter().find(|swizzle| swizzle.tcgen05_code() == code)
    }

    /// Alignment in bytes of every stage of a ring: the greatest of 16, 128 if TMA touches it, the
    /// swizzle's and the author's (T10).
    pub fn stage_alignment(self, tma: bool, author: u32) -> u32 {
        let own = if tma { self.tma_alignment() } else { self.alignment() };
        own.max(author).max(16)
    }
}

/// Swizzle fields of a TMA descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TmaSwizzle {
    /// `swizzle_mode`.
    pub mode: u8,
    /// `swizzle_atomicity`.
    pub atomicity: u8,
}
