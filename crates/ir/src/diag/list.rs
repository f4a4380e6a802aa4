//! Everything that is wrong with an input, as one error.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::diagnostic::Diagnostic;
use super::render::render;

/// The refusals of an input, in its order: what functions return that refuse one.
///
/// It is an error, so `?` takes it wherever `Box<dyn Error>` or the like is returned; it reads like a slice, and
/// [`Diagnostics::render`] shows the lines of the text that it speaks of.
///
/// ```
/// use warploom_ir::{Diagnostics, parse};
///
/// fn main_operations(text: &str) -> Result<usize, Box<dyn std::error::Error>> {
///     let module = parse(text)?;
///     Ok(module.blocks[module.body()].ops.len())
/// }
/// assert_eq!(main_operations("module {}").ok(), Some(0));
/// let refused = main_operations("module {").map_err(|e| e.to_string());
/// assert!(refused.is_err_and(|text| text.starts_with("error[parse]")));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// As text for people, each with the line it speaks of under a caret.
    pub fn render(&self, file_name: &str, text: &str) -> String {
        render(&self.list, file_name, text)
    }

    /// Adds one more.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }
}

impl fmt::Display for Diagnostics {
    /// One after the other, each from a new line on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list.iter().enumerate().try_for_each(|(n, diagnostic)| {
            let separator = if n > 0 { "\n" } else { "" };
            write!(f, "{separator}{diagnostic}")
        })
    }
}

impl std::error::Error for Diagnostics {}

impl Deref for Diagnostics {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.list
    }
}

impl DerefMut for Diagnostics {
    fn deref_mut(&mut self) -> &mut [Diagnostic] {
        &mut self.list
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { list }
    }
}

impl From<Diagnostics> for Vec<Diagnostic> {
    fn from(diagnostics: Diagnostics) -> Vec<Diagnostic> {
        diagnostics.list
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![one] }
    }
}

impl From<Box<Diagnostic>> for Diagnostics {
    fn from(one: Box<Diagnostic>) -> Diagnostics {
        Diagnostics::from(*one)
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Diagnostics {
        Diagnostics { list: iter.into_iter().collect() }
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        self.list.extend(iter);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
