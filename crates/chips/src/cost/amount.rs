//! Exact decimals for rates and clocks, so that costs are the same on every machine.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A non-negative decimal number with at most three places, kept in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount {
    thousandths: u64,
}

impl Amount {
    /// The greatest whole number an amount can be; more is refused in files.
    pub const MAX_WHOLE: u64 = 1_000_000_000_000;

    /// A whole number, at most [`Amount::MAX_WHOLE`].
    pub const fn whole(number: u64) -> Amount {
        let number = if number > Amount::MAX_WHOLE { Amount::MAX_WHOLE } else { number };
        Amount { thousandths: number * 1000 }
    }

    /// Whether this is zero.
    pub fn is_zero(self) -> bool {
        self.thousandths == 0
    }

    /// `ceil(work / self)`, the whole clocks that `work` takes at this rate; `None` for rate 0.
    pub fn clocks_for(self, work: u64) -> Option<u64> {
        let rate = u128::from(self.thousandths);
        let scaled = u128::from(work) * 1000;
        if rate == 0 { None } else { Some(saturate(scaled.div_ceil(rate))) }
    }

    /// `ceil(self * number / divisor)`; 0 for divisor 0.
    pub fn scaled(self, number: u64, divisor: u64) -> u64 {
        let divisor = u128::from(divisor) * 1000;
        let product = u128::from(self.thousandths) * u128::from(number);
        if divisor == 0 { 0 } else { saturate(product.div_ceil(divisor)) }
    }

    /// The nearest double, for tables that people read.
    pub fn to_f64(self) -> f64 {
        self.thousandths as f64 / 1000.0
    }
}

/// The number, or the greatest that fits.
fn saturate(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_f64())
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.thousandths.is_multiple_of(1000) {
            serializer.serialize_u64(self.thousandths / 1000)
        } else {
            serializer.serialize_f64(self.to_f64())
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number from 0 to {} with at most three decimals", Amount::MAX_WHOLE)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Amount, E> {
        if number > Amount::MAX_WHOLE {
            return Err(E::invalid_value(de::Unexpected::Unsigned(number), &self));
        }
        Ok(Amount::whole(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Amount, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Amount, E> {
        let thousandths = (number * 1000.0).round();
        let in_range = (0.0..=(Amount::MAX_WHOLE as f64) * 1000.0).contains(&thousandths);
        let exact = (number * 1000.0 - thousandths).abs() <= thousandths.abs() * 1e-12;
        if in_range && exact {
            Ok(Amount { thousandths: thousandths as u64 })
        } else {
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up_and_never_overflows() {
        let sixteen = Amount { thousandths: 16_100 };
        assert_eq!(sixteen.scaled(10_240, 1024), 161);
        assert_eq!(sixteen.scaled(10_241, 1024), 162);
        assert_eq!(Amount::whole(128).clocks_for(129), Some(2));
        assert_eq!(Amount::default().clocks_for(1), None);
        assert_eq!(Amount::whole(u64::MAX).scaled(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn reads_exact_decimals_only() {
        for (text, read) in [("16.1", Some(16_100)), ("0", Some(0)), ("3", Some(3000)), ("0.0001", None)] {
            let got = serde_json::from_str::<Amount>(text).ok().map(|amount| amount.thousandths);
            assert_eq!(got, read, "{text}");
        }
        for text in ["-1", "-0.5", "1e30", "\"1\""] {
            assert!(serde_json::from_str::<Amount>(text).is_err(), "{text}");
        }
    }
}
