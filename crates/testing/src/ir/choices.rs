//! A tape of choices: what a generator decides, as bytes.
//!
//! A shorter tape, and one of smaller bytes, makes a smaller and simpler thing: behind its end every choice is the
//! first one. So whoever shrinks the bytes, as proptest and a fuzzer do, shrinks what is made of them.

/// A tape of `len` bytes that follow from a seed: SplitMix64 (Steele, Lea, Flood 2014).
pub fn tape(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)).to_le_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

/// Choices that follow from bytes.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    left: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The choices of this tape.
    pub fn new(tape: &'a [u8]) -> Choices<'a> {
        Choices { left: tape }
    }

    fn byte(&mut self) -> u8 {
        match self.left {
            [first, rest @ ..] => {
                self.left = rest;
                *first
            }
            [] => 0,
        }
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        (0..8).fold(0, |bits, _| bits << 8 | u64::from(self.byte()))
    }

    /// A number below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let mut number = usize::from(self.byte());
        if n > 256 {
            number = number << 8 | usize::from(self.byte());
        }
        number.checked_rem(n).unwrap_or(0)
    }

    /// True once in `n` times; true behind the end of the tape.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        let at = self.below(items.len());
        items.get(at)
    }
}
