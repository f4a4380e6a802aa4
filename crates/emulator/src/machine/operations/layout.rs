//! Matrix operands in shared memory, as descriptors say (E39, E40, E45).

use crate::machine::tensormap::swizzle;

/// Which descriptor layout an operand has; tcgen05 shares it with other codes (E45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperandLayout {
    pub start: u64,
    /// Leading and stride byte offsets.
    pub lbo: u64,
    pub sbo: u64,
    /// T9 code: 0 none, 1 32 B, 2 64 B, 3 128 B; 4 is 128 B with 32-byte atoms.
    pub swizzle: u8,
    /// M or N is contiguous, not K.
    pub mn_major: bool,
}

impl OperandLayout {
    /// A wgmma descriptor (E39). `Err` says what is illegal.
    pub(crate) fn wgmma(desc: u64, mn_major: bool) -> Result<OperandLayout, String> {
        // Without a swizzle there is no pattern that it could be the place of.
        if desc >> 49 & 7 != 0 && desc >> 62 != 0 {
            return Err(format!("base offset {} in descriptor {desc:#x} is not supported", desc >> 49 & 7));
        }
        let code = match desc >> 62 {
            0 => 0,
            1 => 3,
            2 => 2,
            _ => 1,
        };
        Ok(OperandLayout::fields(desc, code, mn_major))
    }

    fn fields(desc: u64, swizzle: u8, mn_major: bool) -> OperandLayout {
        OperandLayout {
            start: (desc & 0x3fff) << 4,
            lbo: (desc >> 16 & 0x3fff) << 4,
            sbo: (desc >> 32 & 0x3fff) << 4,
            swizzle,
            mn_major,
        }
    }

    /// A tcgen05 descriptor (E45).
    pub(crate) fn tcgen(desc: u64, mn_major: bool) -> Result<OperandLayout, String> {
        if desc >> 46 & 7 != 1 {
            return Err(format!("bits 46-48 of descriptor {desc:#x} must be 0b001"));
        }
        if desc >> 49 & 7 != 0 && desc >> 61 != 0 || desc >> 52 & 1 != 0 {
            return Err(format!("base offset or LBO mode in descriptor {desc:#x} is not supported"));
        }
        let code = match desc >> 61 {
            0 => 0,
            1 => 4,
            2 => 3,
            4 => 2,
            6 => 1,
            other => return Err(format!("swizzle code {other} in descriptor {desc:#x}")),
        };
        Ok(OperandLayout::fields(desc, code, mn_major))
    }

    /// Address of the 16-byte chunk that holds element (r along M or N, k), `e` bytes each (E40).
    pub(crate) fn address(&self, r: u64, k: u64, e: u64) -> u64 {
        let width = 16_u64 << self.swizzle.min(3);
        let linear = match (self.mn_major, self.swizzle) {
            (false, 0) => {
                self.start + (r % 8) * 16 + (r / 8) * self.sbo + (k * e) % 16 + (k * e / 16) * self.lbo
            }
            (false, _) => self.start + (r % 8) * width + (r / 8) * self.sbo + k * e,
            (true, 0) => {
                self.start + (r * e) % 16 + (r * e / 16) * self.sbo + (k % 8) * 16 + (k / 8) * self.lbo
            }
            (true, _) => {
                self.start
                    + (r * e) % width
                    + (r * e / width) * self.lbo
                    + (k % 8) * width
                    + (k / 8) * self.sbo
            }
        };
        if self.swizzle == 4 { swizzle(linear, 3, 1) } else { swizzle(linear, self.swizzle, 0) }
    }
}
