//! Bytes of shared memory that are free.

/// The lowest multiple of `align`, from `start` on, where so many bytes meet none of the spans.
pub(super) fn lowest(start: u64, align: u64, bytes: u64, mut taken: Vec<[u64; 2]>) -> u64 {
    taken.sort_unstable();
    let mut at = start.next_multiple_of(align);
    for [from, to] in taken {
        if at.saturating_add(bytes) > from && at < to {
            at = to.next_multiple_of(align);
        }
    }
    at
}

/// Whether two spans share bytes.
pub(super) fn meet(one: [u64; 2], other: [u64; 2]) -> bool {
    one[0] < other[1] && other[0] < one[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_gap_that_is_large_enough_is_taken() {
        let taken = || vec![[256, 512], [0, 100], [640, 700]];
        assert_eq!(lowest(0, 128, 128, taken()), 128);
        assert_eq!(lowest(0, 128, 129, taken()), 768);
        assert_eq!(lowest(512, 64, 64, taken()), 512);
        assert_eq!(lowest(0, 1, 1, Vec::new()), 0);
        assert!(meet([0, 2], [1, 3]) && !meet([0, 2], [2, 3]));
    }
}
