//! Where the bytes of a tile lie: swizzles, panels, wgmma operands (C14, C60..C64, T9).

use warploom_ir::diag::Code;

use crate::error::{Result, refuse};

/// How TMA permutes the 16-byte chunks of a row, named by the bytes a pattern row covers (T9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Swizzle {
    /// Rows as they are.
    None,
    /// 32-byte rows.
    B32,
    /// 64-byte rows.
    B64,
    /// 128-byte rows.
    B128,
}

impl Swizzle {
    /// The swizzle of this many bytes; 0 is none.
    pub fn from_bytes(bytes: i64) -> Option<Swizzle> {
        Some(match bytes {
            0 => Swizzle::None,
            32 => Swizzle::B32,
            64 => Swizzle::B64,
            128 => Swizzle::B128,
            _ => return None,
        })
    }

    /// Bytes of one row of the pattern, 0 for none.
    pub fn bytes(self) -> u64 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 => 128,
        }
    }

    /// Which bits of `address >> 7` are xored into the chunk number (C60).
    pub fn mask(self) -> u64 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 1,
            Swizzle::B64 => 3,
            Swizzle::B128 => 7,
        }
    }

    /// Alignment of a slot in bytes: the pattern's period, and TMA's own 128 (T9, T10, C15).
    pub fn align(self) -> u64 {
        match self {
            Swizzle::None => 128,
            Swizzle::B32 => 256,
            Swizzle::B64 => 512,
            Swizzle::B128 => 1024,
        }
    }

    /// The code in a tensor map (C13).
    pub fn tensor_map_code(self) -> u32 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 1,
            Swizzle::B64 => 2,
            Swizzle::B128 => 3,
        }
    }

    /// The code in a wgmma matrix descriptor (C62).
    pub fn wgmma_code(self) -> u64 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 3,
            Swizzle::B64 => 2,
            Swizzle::B128 => 1,
        }
    }

    /// The code in a tcgen05 matrix descriptor (C62).
    pub fn tcgen05_code(self) -> u64 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 6,
            Swizzle::B64 => 4,
            Swizzle::B128 => 2,
        }
    }
}

/// Which instruction a matrix descriptor is for: the codes differ (T10).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// wgmma of sm_90a.
    Wgmma,
    /// tcgen05.mma of sm_100a and its kin.
    Tcgen05,
}

/// A tile in shared memory as its copies lay it down: panels of `panel` bytes per row, one after the
/// other (C14). Outer extents count as rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TileLayout {
    /// Product of all extents but the innermost.
    pub rows: u64,
    /// Innermost extent in elements.
    pub cols: u64,
    /// Bytes of an element.
    pub elem: u64,
    /// Swizzle of its copies.
    pub swizzle: Swizzle,
    /// Bytes of one row of a panel.
    pub panel: u64,
}

impl TileLayout {
    /// The layout of C14 for a tile of `rows x cols` elements of `elem` bytes under a swizzle.
    pub fn new(rows: u64, cols: u64, elem: u64, swizzle: Swizzle) -> Result<TileLayout> {
        let inner = cols * elem;
        let panel = match swizzle.bytes() {
            0 => inner.min(256 * elem),
            bytes => bytes,
        };
        if !panel.is_power_of_two() || !inner.is_multiple_of(panel) || panel < 16 {
            let text = format!("rows of {inner} B cannot be cut into panels of {} B", panel.max(16));
            let fix = "choose a swizzle that divides the innermost extent; it must be a multiple of 16 B";
            return Err(refuse(Code::Desc, text).rule("C14").note("instead", fix).into());
        }
        Ok(TileLayout { rows, cols, elem, swizzle, panel })
    }

    /// Bytes of one panel.
    pub fn panel_bytes(&self) -> u64 {
        self.rows * self.panel
    }

    /// Bytes of the tile.
    pub fn bytes(&self) -> u64 {
        self.rows * self.cols * self.elem
    }
}

/// How wgmma and tcgen05.mma read an operand from shared memory (C62, C63).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operand {
    /// The tile as it was loaded.
    pub tile: TileLayout,
    /// Whether K is the outer dimension of the loaded tile ("MN-major", "transposed").
    pub mn_major: bool,
}

impl Operand {
    /// The descriptor's bits above the address: byte offsets and swizzle code.
    pub fn descriptor(&self, engine: Engine) -> u64 {
        let stride = 8 * self.tile.panel;
        let leading = if self.mn_major { self.tile.panel_bytes() } else { 0 };
        let code = match engine {
            Engine::Wgmma => self.tile.swizzle.wgmma_code() << 62,
            Engine::Tcgen05 => 1 << 46 | self.tile.swizzle.tcgen05_code() << 61,
        };
        ((leading >> 4) & 0x3fff) << 16 | ((stride >> 4) & 0x3fff) << 32 | code
    }

    /// Bytes from the start of the tile to the part that multiplication number `step` along K reads;
    /// each takes 32 bytes of a K-major row, or as many rows of an MN-major tile.
    pub fn along_k(&self, step: u64) -> u64 {
        if self.mn_major {
            return step * 32 / self.tile.elem * self.tile.panel;
        }
        let byte = step * 32;
        byte / self.tile.panel * self.tile.panel_bytes() + byte % self.tile.panel
    }

    /// Bytes from one part of so many rows (or columns) of M or N to the next; `None` where parts begin inside of panels.
    pub fn part_step(&self, part: u64) -> Option<u64> {
        match self.mn_major {
            false => part.is_multiple_of(8).then_some(part * self.tile.panel),
            true => {
                let byte = part * self.tile.elem;
                let whole = byte.is_multiple_of(self.tile.panel);
                whole.then_some(byte / self.tile.panel * self.tile.panel_bytes())
            }
        }
    }

    /// Bytes from the start of the tile to rows (or columns) `64 * block` of M or N.
    pub fn along_mn(&self, block: u64) -> u64 {
        if self.mn_major {
            let byte = block * 64 * self.tile.elem;
            byte / self.tile.panel * self.tile.panel_bytes() + byte % self.tile.panel
        } else {
            block * 64 * self.tile.panel
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(rows: u64, cols: u64, elem: u64, swizzle: i64) -> TileLayout {
        TileLayout::new(rows, cols, elem, Swizzle::from_bytes(swizzle).unwrap()).unwrap()
    }

    #[test]
    fn descriptors_of_the_worked_example_c62() {
        // 128-byte swizzle, K-major: SBO 1024, high word 0x40000040.
        let a = Operand { tile: tile(128, 64, 2, 128), mn_major: false };
        assert_eq!(a.descriptor(Engine::Wgmma), 0x4000_0040_0000_0000);
        assert_eq!(a.descriptor(Engine::Tcgen05), 0x4000_4040_0000_0000);
        assert_eq!((0..4).map(|k| a.along_k(k) >> 4).collect::<Vec<_>>(), [0, 2, 4, 6]);
        assert_eq!(a.along_mn(1) >> 4, 512);
        // two panels of K: the next panel is R*128/16 further.
        let wide = Operand { tile: tile(128, 128, 2, 128), mn_major: false };
        assert_eq!(wide.along_k(4) >> 4, 128 * 128 / 16);
        // MN-major: LBO = BK*128, advance of 16 along K +128, next 64 of M one panel.
        let b = Operand { tile: tile(64, 256, 2, 128), mn_major: true };
        assert_eq!(b.descriptor(Engine::Wgmma), 0x4000_0040_0000_0000 | (64 * 128 / 16) << 16);
        assert_eq!(b.along_k(1) >> 4, 128);
        assert_eq!(b.along_mn(1), 64 * 128);
    }

    #[test]
    fn swizzles_are_permutations_of_their_pattern_t9() {
        for swizzle in [Swizzle::B32, Swizzle::B64, Swizzle::B128] {
            let period = swizzle.align();
            let apply = |byte: u64| byte ^ (((byte >> 7) & swizzle.mask()) << 4);
            let mut seen: Vec<u64> = (0..period).map(apply).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..period).collect::<Vec<_>>());
            for byte in 0..period {
                assert_eq!(apply(byte) / swizzle.bytes(), byte / swizzle.bytes());
                assert_eq!(apply(byte) % 16, byte % 16);
            }
        }
        assert_eq!(Swizzle::None.mask(), 0);
    }

    #[test]
    fn codes_differ_between_users_t10() {
        let codes = |s: Swizzle| (s.tensor_map_code(), s.wgmma_code(), s.tcgen05_code());
        let expected = [(0, 0, 0), (1, 3, 6), (2, 2, 4), (3, 1, 2)];
        let all = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
        assert_eq!(all.map(codes), expected);
    }

    #[test]
    fn tiles_that_cannot_be_cut_are_refused_c14() {
        assert!(TileLayout::new(64, 24, 2, Swizzle::B32).is_err());
        assert!(TileLayout::new(64, 4, 2, Swizzle::None).is_err());
        let two = tile(256, 512, 1, 0);
        assert_eq!(two.bytes() / two.panel_bytes(), 2);
        assert!(TileLayout::new(64, 24, 2, Swizzle::None).is_err());
    }
}
