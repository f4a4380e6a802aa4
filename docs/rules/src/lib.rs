//! The numbered rules of Warploom: what each says, how it is known, who checks it, which error it gives.
//!
//! Errors, checkers and tests of the other crates cite rules by code: `C31` for the registers of a kernel, `S74` for
//! a resource that a schedule overbooks, `R01` for a race that the emulator finds. Here a code leads somewhere:
//!
//! ```
//! let rule = warploom_rules::rule("C31").ok_or("no such rule")?;
//! assert_eq!(rule.title, "Registers");
//! assert!(rule.statement.contains("setmaxnreg"));
//! assert!(rule.error.contains("error[registers]"));
//! assert!(warploom_rules::rule("C999").is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The texts are the pages beside this crate, one for each letter, embedded here. [`pages`] lists them, [`rules`] gives
//! every rule in the order of the pages, [`nearest`] what may have been meant by a code that does not exist, and
//! [`cite::Citer`] which codes a text cites. No dependencies; nothing is read from disk.
//!
//! What makes a code: the letters of a page followed by a number without leading zero, or, for findings of the
//! emulator, one letter and two digits of which the first is 0. `A1` (an alias rule) and `A01` (an address that a
//! kernel must not touch) are different codes.

pub mod cite;
mod near;
mod page;
mod pieces;

pub use near::nearest;
pub use page::{Fault, Page, Rule, pages, rules};

/// The rule of this code; letters may be small. `None` if there is none: [`nearest`] then says what is close.
pub fn rule(code: &str) -> Option<Rule> {
    rules().into_iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}
