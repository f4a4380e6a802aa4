//! What linearity found out about a program.

use hashbrown::HashMap;
use warploom_alias::AliasError;

use super::program::{NodeId, Part};

/// What linearity found out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) errors: Vec<AliasError>,
    pub(crate) notes: Vec<AliasError>,
    /// Order of a rotated chain (A62): the first operation ends the old buffer, the second makes the new one.
    pub(crate) order: Vec<(NodeId, NodeId)>,
    /// What an operation makes of the buffer that it consumed.
    pub(crate) next: HashMap<Part, Part>,
    /// What it was made of.
    pub(crate) prev: HashMap<Part, Part>,
}

impl Linear {
    pub(crate) fn link(&mut self, before: Part, after: Part) {
        self.prev.insert(after.clone(), before.clone());
        self.next.insert(before, after);
    }
}
