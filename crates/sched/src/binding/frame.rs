//! The uses that have a choice, and the question about bindings and times as one about places (S103).

use crate::exact::split::{Place, Split};
use crate::model::binding::UseBinding;
use crate::model::graph::LoopGraph;

/// Units of one set beyond these are not looked at in all combinations.
const MOST_UNITS: usize = 10;

/// A use with alternatives.
pub(super) struct Choice {
    pub node: usize,
    pub at: usize,
    /// The resources it may take, by position.
    pub resources: Vec<usize>,
    pub duration: u64,
}

/// A loop, and what is to be bound.
pub(super) struct Frame<'a> {
    pub graph: &'a LoopGraph,
    pub choices: Vec<Choice>,
    /// The first resource of the set each is in.
    pub set_of: Vec<usize>,
    /// Whether the resource is one that some use may take instead of another.
    pub free: Vec<bool>,
}

impl<'a> Frame<'a> {
    pub fn new(graph: &'a LoopGraph) -> Self {
        let place = |name: &str| graph.resources.iter().position(|r| r.name == name);
        let mut choices = Vec::new();
        for v in &graph.nodes {
            for (at, u) in v.uses.iter().enumerate().filter(|(_, u)| !u.alternatives.is_empty()) {
                let resources = u.choices().filter_map(place).collect();
                choices.push(Choice { node: v.id, at, resources, duration: u.duration });
            }
        }
        let mut free = vec![false; graph.resources.len()];
        choices.iter().flat_map(|c: &Choice| &c.resources).for_each(|&r| free[r] = true);
        Frame { graph, choices, set_of: graph.connected_resources(), free }
    }

    /// These resources, one for each choice, as bindings.
    pub fn bindings(&self, taken: &[usize]) -> Vec<UseBinding> {
        let named = |(c, &r): (&Choice, &usize)| UseBinding {
            node: c.node,
            at: c.at,
            resource: self.graph.resources.get(r).map(|r| r.name.clone()).unwrap_or_default(),
        };
        self.choices.iter().zip(taken).map(named).collect()
    }

    /// No smaller II has units enough: the uses that only these may take need so many cycles, for all sets of units.
    pub fn capacity_bound(&self) -> i64 {
        // A use does not meet itself on one unit.
        let single = |c: &&Choice| c.resources.iter().all(|&r| self.graph.resources[r].count == 1);
        let mut bound = self.choices.iter().filter(single).map(|c| c.duration).max().unwrap_or(1).max(1);
        for &set in &self.set_of {
            let units: Vec<usize> = (0..self.free.len()).filter(|&r| self.set_of[r] == set).collect();
            if units.len() < 2 || units.len() > MOST_UNITS || units[0] != set {
                continue;
            }
            // Of each use the units it may take, as bits.
            let bits = |resources: &mut dyn Iterator<Item = usize>| -> u32 {
                resources.filter_map(|r| units.iter().position(|&u| u == r)).fold(0, |mask, i| mask | 1 << i)
            };
            let mut uses: Vec<(u32, u64)> = Vec::new();
            for u in self.graph.nodes.iter().flat_map(|v| &v.uses) {
                let named =
                    u.choices().filter_map(|name| self.graph.resources.iter().position(|r| r.name == name));
                uses.push((bits(&mut { named }), u.duration));
            }
            for some in 1u32..1 << units.len() {
                let held = uses.iter().filter(|(mask, _)| *mask != 0 && mask & !some == 0).map(|(_, d)| *d);
                let held = held.fold(0, u64::saturating_add);
                let of = |i: &usize| self.graph.resources.get(units[*i]).map_or(0, |r| r.count);
                let there: u64 = (0..units.len()).filter(|i| some & 1 << i != 0).map(|i| of(&i)).sum();
                bound = bound.max(held.div_ceil(there.max(1)));
            }
        }
        i64::try_from(bound).unwrap_or(i64::MAX)
    }

    /// The question as one about places, each of which is a unit, and the loop without the uses of those units. `None` where
    /// a resource to choose has several units, or an operation uses two of them.
    pub fn split(&self) -> Option<(Split, LoopGraph)> {
        let mut rest = self.graph.clone();
        let n = rest.nodes.len();
        let places: Vec<usize> = (0..self.free.len()).filter(|&r| self.free[r]).collect();
        if places.iter().any(|&r| self.graph.resources[r].count != 1) {
            return None;
        }
        let place_of = |name: &str| places.iter().position(|&r| self.graph.resources[r].name == name);
        // What needs no unit takes a place that is none.
        let nowhere = places.len() as u32;
        let (mut issue, mut offset) = (vec![0i64; n], vec![0i64; n]);
        let mut allowed = vec![vec![nowhere]; n];
        for v in &mut rest.nodes {
            let own = |u: &crate::model::resource_use::ResourceUse| place_of(&u.resource).is_some();
            let mut units = v.uses.extract_if(.., |u| u.duration > 0 && own(u));
            let first = units.next();
            if units.next().is_some() {
                return None;
            }
            drop(units);
            if let Some(u) = first {
                (issue[v.id], offset[v.id]) = (u.duration as i64, u.start as i64);
                let mut may: Vec<u32> = u.choices().filter_map(place_of).map(|p| p as u32).collect();
                may.sort_unstable();
                allowed[v.id] = may;
            }
            // Uses of no cycles are nobody's business.
            v.uses.retain(|u| u.duration > 0);
        }
        let place = |class: u32| Place { class, warps: 0, reg_bytes: 0 };
        let split = Split {
            slice_of: (0..n as u32).collect(),
            allowed,
            places: (0..=nowhere).map(place).collect(),
            alike: false,
            issue,
            offset,
            reg_bytes: vec![0; n],
            most_places: u64::from(u32::MAX),
            most_warps: 0,
            ..Split::default()
        };
        Some((split, rest))
    }

    /// The resource of each choice where operations take these places.
    pub fn taken(&self, place_of: &[u32]) -> Vec<usize> {
        let places: Vec<usize> = (0..self.free.len()).filter(|&r| self.free[r]).collect();
        let of = |c: &Choice| {
            let place = place_of.get(c.node).and_then(|&p| places.get(p as usize)).copied();
            // Uses of no cycles take any.
            place.filter(|r| c.resources.contains(r)).or(c.resources.first().copied()).unwrap_or(0)
        };
        self.choices.iter().map(of).collect()
    }
}
