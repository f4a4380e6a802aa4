//! Where random choices come from.

/// Where random choices come from: a seed, or the bytes of a fuzzer.
#[derive(Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    random: Option<Random>,
}

impl<'a> Source<'a> {
    /// Choices from a fuzzer's bytes; 0 when they run out.
    pub fn bytes(bytes: &'a [u8]) -> Self {
        Source { bytes, random: None }
    }

    /// Choices from a seed.
    pub fn seed(seed: u64) -> Self {
        Source { bytes: &[], random: Some(Random::new(seed)) }
    }

    /// A number below `limit`, or 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        if let Some(random) = &mut self.random {
            return random.below(limit);
        }
        let Some((&low, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        let mut value = u64::from(low);
        if limit > 256
            && let Some((&high, rest)) = self.bytes.split_first()
        {
            self.bytes = rest;
            value |= u64::from(high) << 8;
        }
        value % limit.max(1)
    }

    pub(super) fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): equal seeds give equal loops on every machine.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, or 0.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}
