//! Which words of a text are codes of rules.
//!
//! A code is a whole word of the shape of one that stands in prose: anywhere on a page, in the comments
//! and strings of a source file. Names of code are no prose: `S32` is an integer type of the PTX machine there, a rule
//! in a comment beside it. A few words have the shape and mean something else; [`OTHER`] lists them with the reason.

use crate::page::rules;
use crate::pieces::{Piece, pieces};
use std::collections::BTreeSet;

/// Words that look like codes and are none.
pub const OTHER: [(&str, &str); 6] = [
    ("A100", "a chip of NVIDIA"),
    ("B128", "an operand size of PTX"),
    ("B200", "a chip of NVIDIA"),
    ("B300", "a chip of NVIDIA"),
    ("E0", "the number of elements that published costs are for"),
    ("E402", "a lint of Python"),
];

/// How a file is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// All of it is prose: pages, tables, data with remarks.
    Prose,
    /// Rust: comments and strings are prose, and names of tests that begin with a code (`fn a12_...`).
    Rust,
}

/// A citation: a code and the line it stands on, from 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Citation {
    /// As `C31`.
    pub code: String,
    /// From 1.
    pub line: usize,
}

/// Letters and digits of a word that has the shape of a code: one or two capitals, then one to three digits; a leading
/// zero only as in `R01`.
fn shape(word: &str) -> Option<(&str, &str)> {
    let at = word.find(|c: char| !c.is_ascii_uppercase())?;
    let (letters, digits) = word.split_at(at);
    let plain = !digits.starts_with('0') && digits.len() <= 3;
    let finding = letters.len() == 1 && digits.len() == 2 && digits.starts_with('0') && digits != "00";
    let right = (1..=2).contains(&letters.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    (right && (plain || finding)).then_some((letters, digits))
}

/// Finds the codes that texts cite, defined or not.
#[derive(Clone, Debug)]
pub struct Citer {
    /// What begins a code with a plain number.
    plain: BTreeSet<&'static str>,
    /// What begins a finding; `R24` is a register, no code.
    findings: BTreeSet<&'static str>,
    known: BTreeSet<&'static str>,
}

impl Default for Citer {
    /// With the codes of the pages.
    fn default() -> Self {
        let known: BTreeSet<_> = rules().iter().map(|r| r.code).collect();
        let shapes = || known.iter().filter_map(|code| shape(code));
        let finding = |digits: &str| digits.starts_with('0');
        let plain = shapes().filter(|(_, d)| !finding(d)).map(|(letters, _)| letters).collect();
        let findings = shapes().filter(|(_, d)| finding(d)).map(|(letters, _)| letters).collect();
        Citer { plain, findings, known }
    }
}

impl Citer {
    /// Whether a page defines the code.
    pub fn defined(&self, code: &str) -> bool {
        self.known.contains(code)
    }

    /// The citations of a text, in order. `C24..C28` and `S61-S63` cite every defined code between.
    pub fn codes(&self, text: &str, kind: Kind) -> Vec<Citation> {
        let mut found = Vec::new();
        match kind {
            Kind::Prose => self.prose(text, 1, &mut found),
            Kind::Rust => {
                for piece in pieces(text) {
                    match piece {
                        Piece::Prose(text, line) => self.prose(text, line, &mut found),
                        Piece::Name(name, line) => self.name(name, line, &mut found),
                    }
                }
            }
        }
        found
    }

    fn prose(&self, text: &str, first: usize, found: &mut Vec<Citation>) {
        for (n, line) in text.lines().enumerate() {
            let line_number = first + n;
            let mut last: Option<(&str, usize)> = None;
            for (start, word) in words(line) {
                if !self.is_code(word) || foreign(line, start, word) {
                    continue;
                }
                let between = last.map(|(_, end)| line.get(end..start).unwrap_or_default());
                if let (Some((from, _)), Some("-" | ".." | " to " | "–")) = (last, between) {
                    found.extend(self.between(from, word).map(|c| Citation { code: c, line: line_number }));
                }
                found.push(Citation { code: word.to_owned(), line: line_number });
                last = Some((word, start + word.len()));
            }
        }
    }

    fn is_code(&self, word: &str) -> bool {
        let Some((letters, digits)) = shape(word) else { return false };
        let set = if digits.starts_with('0') { &self.findings } else { &self.plain };
        set.contains(letters) && !OTHER.iter().any(|(w, _)| *w == word)
    }

    /// Defined codes strictly between two of the same letters.
    fn between(&self, from: &str, to: &str) -> impl Iterator<Item = String> {
        let ends = (shape(from), shape(to));
        let range = match ends {
            (Some((a, m)), Some((b, n))) if a == b => {
                m.parse::<u32>().ok().zip(n.parse::<u32>().ok()).map(|(m, n)| (a, m.saturating_add(1)..n))
            }
            _ => None,
        };
        let (letters, numbers) = range.unwrap_or(("", 0..0));
        numbers.map(move |n| format!("{letters}{n}")).filter(|code| self.defined(code))
    }

    /// A test named after a rule, `fn d3_rows_fold`. Other names may begin alike, so only defined codes count.
    fn name(&self, name: &str, line: usize, found: &mut Vec<Citation>) {
        let code = name.split('_').next().unwrap_or_default().to_ascii_uppercase();
        if code.len() < name.len() && self.defined(&code) {
            found.push(Citation { code, line });
        }
    }
}

/// Cache levels of PTX (`L2::cache_hint`) and variables of FileCheck (`[[C2]]`).
fn foreign(line: &str, start: usize, word: &str) -> bool {
    let (before, after) = (line.get(..start), line.get(start + word.len()..));
    before.is_some_and(|b| b.trim_end_matches('$').ends_with("[["))
        || after.is_some_and(|a| a.starts_with("::"))
}

/// The words of a line (letters, digits, underscores), each with the place where it begins.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line.get(at..)?.find(inner)?;
        let rest = line.get(start..)?;
        at = start + rest.find(|c| !inner(c)).unwrap_or(rest.len());
        Some((start, line.get(start..at)?))
    })
}

#[cfg(test)]
mod tests {
    use super::{Citer, Kind};

    fn undefined(text: &str, kind: Kind) -> Vec<String> {
        let citer = Citer::default();
        let all = citer.codes(text, kind).into_iter().map(|c| c.code);
        all.filter(|code| !citer.defined(code)).collect()
    }

    fn cited(text: &str, kind: Kind) -> Vec<String> {
        Citer::default().codes(text, kind).into_iter().map(|c| c.code).collect()
    }

    #[test]
    fn an_invented_code_is_reported() {
        assert_eq!(undefined("as C999 says", Kind::Prose), ["C999"]);
        assert_eq!(undefined("// (C31, S999)", Kind::Rust), ["S999"]);
        assert_eq!(undefined("let e = refuse(\"B900\");", Kind::Rust), ["B900"]);
        assert_eq!(undefined("error[R09], HT77 and M0x", Kind::Prose), ["R09", "HT77"]);
        assert!(undefined("C31, HB13, S74, R01 and A1", Kind::Prose).is_empty());
    }

    #[test]
    fn names_of_code_and_chips_are_no_codes() {
        let code = "enum T { S999, B128 } fn f<'a>(x: &'a C999) -> char { 'x' }";
        assert!(cited(code, Kind::Rust).is_empty());
        assert!(
            cited("A100, B200, H100, R24, UR4, sm_90a, f8E4M3FN, C7508, x_C999, TF32", Kind::Prose)
                .is_empty()
        );
    }

    #[test]
    fn comments_strings_and_named_tests_are_read() {
        assert_eq!(
            cited("let c = '\"'; // S74\nlet d = r#\"B17 \" C31\"#;", Kind::Rust),
            ["S74", "B17", "C31"]
        );
        assert_eq!(cited("/* C24 /* C26 */ C31 */ C32", Kind::Rust), ["C24", "C26", "C31"]);
        assert_eq!(cited("fn d3_rows_fold() {} fn f16_is_wide() {}", Kind::Rust), ["D3"]);
        let lines: Vec<_> = Citer::default().codes("a\n\"x\ny\"\n// C31", Kind::Rust);
        assert_eq!(lines[0].line, 4);
    }

    #[test]
    fn ranges_cite_what_is_between() {
        assert_eq!(cited("S61-S63", Kind::Prose), ["S61", "S62", "S63"]);
        assert_eq!(cited("C24..C26 and C40", Kind::Prose), ["C24", "C25", "C26", "C40"]);
        assert_eq!(cited("B16 to B19", Kind::Prose), ["B16", "B17", "B18", "B19"]);
    }
}
