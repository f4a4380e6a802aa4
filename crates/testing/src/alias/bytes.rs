//! Choices from bytes: a prefix of the bytes makes a prefix of the choices.

/// Bytes that run out into zeros.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Reads from these.
    pub fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes(bytes)
    }

    /// A number below `n` (at most 2^16); 0 for 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let mut byte = || match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                u64::from(*first)
            }
            None => 0,
        };
        let value = if n > 256 { byte() << 8 | byte() } else { byte() };
        value.checked_rem(n).unwrap_or(0)
    }

    /// One of these; the first when the bytes have run out.
    pub fn pick<T: Copy>(&mut self, of: &[T], default: T) -> T {
        of.get(self.below(of.len() as u64) as usize).copied().unwrap_or(default)
    }
}
