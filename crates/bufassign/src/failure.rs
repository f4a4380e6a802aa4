//! What a checker found, as one error.

use std::fmt;
use std::ops::Deref;

/// Everything a checker found, at least one violation: a slice of them, and an error that `?` takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckFailure<V>(Vec<V>);

impl<V> CheckFailure<V> {
    /// `Ok` where nothing was found.
    pub(crate) fn unless_empty(found: Vec<V>) -> Result<(), CheckFailure<V>> {
        if found.is_empty() { Ok(()) } else { Err(CheckFailure(found)) }
    }

    /// The violations, in the order they were found.
    pub fn into_vec(self) -> Vec<V> {
        self.0
    }
}

impl<V> Deref for CheckFailure<V> {
    type Target = [V];
    fn deref(&self) -> &[V] {
        &self.0
    }
}

impl<V> IntoIterator for CheckFailure<V> {
    type Item = V;
    type IntoIter = std::vec::IntoIter<V>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<V: fmt::Display> fmt::Display for CheckFailure<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, violation) in self.0.iter().enumerate() {
            let line = if k == 0 { "" } else { "\n" };
            write!(f, "{line}{violation}")?;
        }
        Ok(())
    }
}

impl<V: fmt::Debug + fmt::Display> std::error::Error for CheckFailure<V> {}
