//! The initiation intervals a question is about: one, or several at once.
//!
//! Feasibility is not monotone in II (S29), so every II below the least needs a proof. Most fail for the same
//! reason as their neighbours. A question about all IIs from `low` to `high` keeps of each constraint what holds at
//! every one of them: a bound with `k*II` gets the least `k*II` there is. What is refuted so is refuted at each.

/// The IIs from `low` to `high`; products with an integer `k` are known as a range only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub low: i64,
    pub high: i64,
}

impl Span {
    /// This II alone.
    pub fn one(ii: i64) -> Self {
        Span { low: ii, high: ii }
    }

    /// The least `k*II`.
    pub fn least(self, k: i64) -> i64 {
        k * if k < 0 { self.high } else { self.low }
    }

    /// The greatest `k*II`.
    pub fn most(self, k: i64) -> i64 {
        k * if k < 0 { self.low } else { self.high }
    }

    /// The greatest `k` with some `k*II <= x`.
    pub fn floor(self, x: i64) -> i64 {
        x.div_euclid(if x < 0 { self.high } else { self.low })
    }

    /// The least `k` with some `k*II >= x`.
    pub fn ceil(self, x: i64) -> i64 {
        -self.floor(-x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_quotients_agree() {
        for (low, high) in [(1, 1), (7, 7), (7, 9), (10, 25)] {
            let span = Span { low, high };
            for k in -9..=9 {
                let products = (low..=high).map(|ii| k * ii);
                assert_eq!(Some(span.least(k)), products.clone().min());
                assert_eq!(Some(span.most(k)), products.max());
            }
            for x in -60i64..=60 {
                let some = |holds: &dyn Fn(i64) -> bool| (low..=high).any(holds);
                let floor = (-61..=61).rev().find(|&k| some(&|ii| k * ii <= x));
                let ceil = (-61..=61).find(|&k| some(&|ii| k * ii >= x));
                assert_eq!((Some(span.floor(x)), Some(span.ceil(x))), (floor, ceil), "{x} in {low}..={high}");
            }
        }
    }
}
