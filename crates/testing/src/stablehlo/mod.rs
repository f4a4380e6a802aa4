//! Strategies and laws for `warploom-stablehlo`.

mod text;

use proptest::prelude::*;
use warploom_stablehlo::{StablehloOptions, lower_text};

pub use text::function;

/// Functions with pins, calls and loops: well-formed, not always legal. They shrink to fewer operations.
pub fn functions() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 0..120).prop_map(|bytes| function(&bytes))
}

/// A text is refused, or its storage obeys L16 and what is printed lowers to itself.
///
/// # Errors
/// The text whose storage is wrong, or the lowered text that lowers to another.
pub fn storage_is_right(text: &str) -> Result<(), String> {
    let options = StablehloOptions::default();
    let out = lower_text(text, &options);
    if out.diagnostics.iter().any(|d| d.code == "L16") {
        return Err(text.to_owned());
    }
    if out.failed {
        return Ok(());
    }
    let again = lower_text(&out.text, &options);
    match !again.failed && again.text == out.text {
        true => Ok(()),
        false => Err(out.text),
    }
}
