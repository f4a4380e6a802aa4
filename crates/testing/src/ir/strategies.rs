//! Strategies for proptest. They shrink towards short modules of simple operations, and towards undamaged text.

use proptest::collection::vec;
use proptest::prelude::*;
use warploom_ir::{Module, print};

use super::choices::Choices;
use super::damage::damaged;
use super::modules::module_of;

/// Bytes of a tape of choices.
fn tapes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..most)
}

/// Modules that verify: every kind of type, attribute and location, nested loops, conditions and reductions,
/// operations of unknown dialects.
pub fn modules() -> impl Strategy<Value = Module> {
    tapes(1500).prop_map(|tape| module_of(&mut Choices::new(&tape)))
}

/// The texts of such modules with a few tokens lost, doubled, swapped or replaced.
pub fn damaged_modules() -> impl Strategy<Value = String> {
    (modules(), tapes(32)).prop_map(|(module, tape)| damaged(&print(&module), &mut Choices::new(&tape)))
}

/// A text of one's own with such damage.
pub fn damaged_text(text: impl Into<String>) -> impl Strategy<Value = String> {
    let text = text.into();
    tapes(32).prop_map(move |tape| damaged(&text, &mut Choices::new(&tape)))
}
