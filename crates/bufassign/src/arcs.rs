//! Half-open arcs on a circle (B23).

/// `len` cycles from `start`, modulo the circle's period; all of it when `len >= period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    pub start: i64,
    pub len: i64,
}

/// Whether two arcs of positive length share no moment on a circle of the given period:
/// la + lb <= P and each starts after the other has ended.
pub(crate) fn disjoint(a: Arc, b: Arc, period: i64) -> bool {
    a.len.saturating_add(b.len) <= period
        && (b.start - a.start).rem_euclid(period) >= a.len
        && (a.start - b.start).rem_euclid(period) >= b.len
}

#[cfg(test)]
mod tests {
    use super::{Arc, disjoint};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_enumeration(p in 1i64..20, a in 0i64..60, la in 1i64..25, b in 0i64..60, lb in 1i64..25) {
            let covered = |s: i64, l: i64, x: i64| (0..l).any(|k| (s + k).rem_euclid(p) == x);
            let apart = (0..p).all(|x| !(covered(a, la, x) && covered(b, lb, x)));
            prop_assert_eq!(disjoint(Arc { start: a, len: la }, Arc { start: b, len: lb }, p), apart);
        }
    }
}
