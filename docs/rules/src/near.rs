//! What may have been meant by a code that no page defines.

use crate::page::{Rule, rules};

/// How many are offered.
const OFFERED: usize = 5;

/// The known rules closest to a code: of the same letters the nearest numbers; where the letters are unknown, those
/// of the same number. At most five, closest first; never empty unless the code has neither letters nor a number.
pub fn nearest(code: &str) -> Vec<Rule> {
    let (letters, number) = split(code);
    let same: Vec<Rule> = rules().into_iter().filter(|r| split(r.code).0 == letters).collect();
    let mut close = match (same.is_empty(), number) {
        (false, _) => same,
        (true, Some(number)) => rules().into_iter().filter(|r| split(r.code).1 == Some(number)).collect(),
        (true, None) => Vec::new(),
    };
    close.sort_by_key(|r| split(r.code).1.unwrap_or(0).abs_diff(number.unwrap_or(1)));
    close.truncate(OFFERED);
    close
}

/// The letters of a code in capitals, and its number.
fn split(code: &str) -> (String, Option<u64>) {
    let at = code.find(|c: char| c.is_ascii_digit()).unwrap_or(code.len());
    let (letters, number) = code.split_at(at);
    (letters.to_ascii_uppercase(), number.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    fn codes(code: &str) -> Vec<&'static str> {
        nearest(code).iter().map(|r| r.code).collect()
    }

    #[test]
    fn the_nearest_numbers_of_the_same_letters_come_first() {
        assert_eq!(codes("C94")[..2], ["C93", "C92"]);
        assert_eq!(codes("c19")[0], "C18");
        assert_eq!(codes("HB14")[0], "HB13");
        assert_eq!(codes("S999")[0], "S106");
    }

    #[test]
    fn unknown_letters_are_answered_by_the_number() {
        assert!(codes("Z31").contains(&"C31"));
        assert!(codes("nonsense").is_empty());
        assert!(codes("").is_empty());
    }
}
