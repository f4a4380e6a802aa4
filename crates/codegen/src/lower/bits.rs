//! Sums over the bits of a number (G1).

/// The sum (xor) of those masks whose bit of `number` is set.
pub(super) fn sum(masks: impl IntoIterator<Item = u64>, number: u64) -> u64 {
    let set = masks.into_iter().enumerate().filter(|(bit, _)| number >> bit & 1 == 1);
    set.fold(0, |sum, (_, mask)| sum ^ mask)
}
