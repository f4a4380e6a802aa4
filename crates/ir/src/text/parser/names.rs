//! Names of values: which are visible, and which were used before their definition.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use crate::entity::{OpId, ValueId};
use crate::types::Type;

/// Names before the `=`: name, number of results, place.
pub(super) type ResultNames<'a> = SmallVec<[(&'a str, usize, usize); 2]>;

/// An operand: the value and the place of its use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) value: ValueId,
    pub(super) at: usize,
}

/// A label that a branch names, to be found when its region has been read.
#[derive(Clone, Copy)]
pub(super) struct Label<'a> {
    pub(super) op: OpId,
    pub(super) name: &'a str,
    pub(super) at: usize,
}

#[derive(Debug)]
pub(super) enum Entry {
    /// Defined at this place.
    Defined { values: SmallVec<[ValueId; 2]>, at: usize },
    /// Used before its definition: result number, stand-in value, first place.
    Forward(Vec<(u32, ValueId, usize)>),
    /// Its operation was not understood; uses are not complained about.
    Poisoned,
}

/// Names visible in one isolated region, and which of them each open region defined.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    pub(super) entries: HashMap<&'a str, Entry>,
    pub(super) regions: Vec<Vec<&'a str>>,
}

#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) scopes: Vec<Scope<'a>>,
    /// Stand-ins for values that are not defined yet.
    pub(super) unresolved: HashSet<ValueId>,
    /// Uses of stand-ins as a type, to be compared when all is known.
    pub(super) deferred: Vec<(ValueId, Type, usize)>,
}

/// More uses of one name before its definition than anyone writes.
pub(super) const MAX_FORWARD: usize = 1024;

impl<'a> Names<'a> {
    pub(super) fn push_isolated(&mut self) {
        self.scopes.push(Scope { entries: HashMap::new(), regions: vec![Vec::new()] });
    }

    pub(super) fn push_region(&mut self) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.regions.push(Vec::new());
        }
    }

    pub(super) fn pop_region(&mut self) {
        if let Some(scope) = self.scopes.last_mut() {
            for name in scope.regions.pop().unwrap_or_default() {
                scope.entries.remove(name);
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        self.scopes.last()?.entries.get(name)
    }

    pub(super) fn set(&mut self, name: &'a str, entry: Entry) {
        if let Some(scope) = self.scopes.last_mut() {
            if !matches!(entry, Entry::Forward(_))
                && let Some(region) = scope.regions.last_mut()
            {
                region.push(name);
            }
            scope.entries.insert(name, entry);
        }
    }
}
