//! Which of several resources a use takes (S103).

use crate::model::graph::{LoopGraph, LoopResource};
use petgraph::unionfind::UnionFind;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The resource that a use with alternatives takes, in every iteration (S103).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseBinding {
    /// The operation.
    pub node: usize,
    /// The position of the use in its list.
    pub at: usize,
    /// The resource taken.
    pub resource: String,
}

impl LoopGraph {
    /// Whether some use may take one of several resources.
    pub(crate) fn has_alternatives(&self) -> bool {
        self.nodes.iter().flat_map(|v| &v.uses).any(|u| !u.alternatives.is_empty())
    }

    /// The loop with uses that take these resources. What is not named keeps its alternatives.
    #[must_use]
    pub fn bound(&self, bindings: &[UseBinding]) -> LoopGraph {
        let mut bound = self.clone();
        for b in bindings {
            if let Some(u) = bound.nodes.get_mut(b.node).and_then(|v| v.uses.get_mut(b.at)) {
                u.resource.clone_from(&b.resource);
                u.alternatives.clear();
            }
        }
        bound
    }

    /// The same, without a copy where there is nothing to bind.
    pub(crate) fn bound_by<'a>(&'a self, bindings: &[UseBinding]) -> Cow<'a, LoopGraph> {
        if self.has_alternatives() { Cow::Owned(self.bound(bindings)) } else { Cow::Borrowed(self) }
    }

    /// The loop whose resources are one where alternatives connect them: no II that it refutes suits any binding.
    pub(crate) fn merged(&self) -> Cow<'_, LoopGraph> {
        if !self.has_alternatives() {
            return Cow::Borrowed(self);
        }
        let set_of = self.connected_resources();
        let name = |set: usize| {
            let own =
                self.resources.iter().zip(&set_of).filter(|(_, s)| **s == set).map(|(r, _)| r.name.as_str());
            own.collect::<Vec<&str>>().join("|")
        };
        let names: BTreeMap<usize, String> = set_of.iter().map(|&set| (set, name(set))).collect();
        let by_name: BTreeMap<&str, usize> =
            self.resources.iter().zip(&set_of).map(|(r, &set)| (r.name.as_str(), set)).collect();
        let mut merged = self.clone();
        merged.resources.clear();
        for (&set, name) in &names {
            let own = || self.resources.iter().zip(&set_of).filter(|(_, s)| **s == set).map(|(r, _)| r);
            merged.resources.push(LoopResource {
                name: name.clone(),
                count: own().map(|r| r.count).fold(0, u64::saturating_add),
                // None of several is: that is refused.
                interleaved: own().any(|r| r.interleaved),
            });
        }
        for u in merged.nodes.iter_mut().flat_map(|v| &mut v.uses) {
            u.alternatives.clear();
            if let Some(name) = by_name.get(u.resource.as_str()).and_then(|set| names.get(set)) {
                u.resource.clone_from(name);
            }
        }
        Cow::Owned(merged)
    }

    /// Of each resource the first one that alternatives connect it to.
    pub(crate) fn connected_resources(&self) -> Vec<usize> {
        let place: BTreeMap<&str, usize> =
            self.resources.iter().enumerate().map(|(i, r)| (r.name.as_str(), i)).collect();
        let mut sets: UnionFind<usize> = UnionFind::new(self.resources.len());
        for u in self.nodes.iter().flat_map(|v| &v.uses) {
            let known: Vec<usize> = u.choices().filter_map(|name| place.get(name).copied()).collect();
            known.windows(2).for_each(|two| _ = sets.union(two[0], two[1]));
        }
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        (0..self.resources.len()).map(|i| *first.entry(sets.find(i)).or_insert(i)).collect()
    }
}
