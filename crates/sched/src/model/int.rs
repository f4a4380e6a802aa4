//! Whole numbers.

/// `ceil(a / b)` for positive `b`.
pub(crate) fn div_ceil(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)
}

/// The greatest common divisor, at least 1.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding() {
        assert_eq!((div_ceil(7, 2), div_ceil(-7, 2), div_ceil(8, 2)), (4, -3, 4));
        assert_eq!((gcd(12, 18), gcd(0, 0)), (6, 1));
    }
}
