//! Strategies and laws for `warploom-ir`.
//!
//! ```
//! use proptest::prelude::*;
//! use warploom_testing::ir::{TextOutcome, damaged_modules, modules, module_reads_back, text_reads_and_prints};
//!
//! proptest!(ProptestConfig::with_cases(8), |(module in modules(), text in damaged_modules())| {
//!     module_reads_back(&module, true).map_err(TestCaseError::fail)?;
//!     text_reads_and_prints(&text).map_err(TestCaseError::fail)?;
//! });
//! assert_eq!(text_reads_and_prints("module {}"), Ok(TextOutcome::Sound));
//! ```

mod attrs;
mod choices;
mod damage;
mod laws;
mod modules;
mod nested;
mod straight;
mod strategies;

pub use choices::{Choices, tape};
pub use damage::damaged;
pub use laws::{
    TextOutcome, bytes_keep_the_laws, interpreter_is_total, module_reads_back, text_reads_and_prints,
};
pub use modules::module_of;
pub use straight::{Shape, StraightLine};
pub use strategies::{damaged_modules, damaged_text, modules};
