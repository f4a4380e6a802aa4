//! Where random choices come from.

/// A deterministic source of choices: bytes first, then a generator seeded by them.
#[derive(Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Choices<'a> {
    /// Choices from fuzzer input.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        let state = bytes
            .iter()
            .fold(0x9E37_79B9_7F4A_7C15u64, |s, &b| (s ^ u64::from(b)).wrapping_mul(0x100_0000_01B3));
        Choices { bytes, state: state | 1 }
    }

    /// Choices from a number alone.
    pub fn seeded(seed: u64) -> Choices<'static> {
        Choices { bytes: &[], state: (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 }
    }

    /// A number below `n` (0 for n = 0).
    pub fn below(&mut self, n: u64) -> u64 {
        if let [a, b, rest @ ..] = self.bytes {
            self.bytes = rest;
            return u64::from(u16::from_le_bytes([*a, *b])).checked_rem(n).unwrap_or(0);
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11).checked_rem(n).unwrap_or(0)
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T], default: T) -> T {
        let k = self.below(of.len() as u64) as usize;
        of.get(k).copied().unwrap_or(default)
    }
}
