//! Bytes there are per memory space, and what depths take of them (S57, S59).

use crate::model::graph::LoopGraph;
use std::collections::BTreeMap;
use std::fmt;

/// Prices depths: from the depth of every value, in the graph's order, to bytes per space.
pub type DepthPricing<'a> = &'a dyn Fn(&[u64]) -> BTreeMap<String, u64>;

/// Bytes there are per memory space.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct MemoryBudget<'a> {
    /// Bytes per space.
    pub spaces: BTreeMap<String, u64>,
    /// Every slot is rounded up to a multiple of so many bytes. Default: 1.
    pub align: u64,
    /// Prices depths where slots are shared (S59); must not fall when a depth rises. Default: the sum of all
    /// slots and what the graph reserves.
    pub footprint: Option<DepthPricing<'a>>,
}

impl<'a> MemoryBudget<'a> {
    /// The budgets that the graph itself names.
    pub fn of(graph: &LoopGraph) -> Self {
        MemoryBudget { spaces: graph.budgets.clone(), align: 1, footprint: None }
    }

    /// Sets the bytes of one space.
    #[must_use]
    pub fn space(mut self, name: impl Into<String>, bytes: u64) -> Self {
        self.spaces.insert(name.into(), bytes);
        self
    }

    /// Sets the alignment of slots, bytes.
    #[must_use]
    pub fn align(mut self, bytes: u64) -> Self {
        self.align = bytes;
        self
    }

    /// Sets the pricing of depths.
    #[must_use]
    pub fn footprint(mut self, price: DepthPricing<'a>) -> Self {
        self.footprint = Some(price);
        self
    }

    pub(crate) fn price(&self, graph: &LoopGraph, depths: &[u64]) -> BTreeMap<String, u64> {
        if let Some(price) = self.footprint {
            return price(depths);
        }
        let align = self.align.max(1);
        let mut used: BTreeMap<String, u64> = graph.reserved.clone();
        for (v, d) in graph.values.iter().zip(depths) {
            let slot = v.bytes.div_ceil(align).saturating_mul(align);
            let sum = used.entry(v.space.clone()).or_default();
            *sum = sum.saturating_add(slot.saturating_mul(*d));
        }
        used
    }

    /// The first space that these depths overfill, with the bytes needed.
    pub(crate) fn overfilled(&self, graph: &LoopGraph, depths: &[u64]) -> Option<(String, u64, u64)> {
        let used = self.price(graph, depths);
        let over = self.spaces.iter().find(|(space, have)| used.get(*space).is_some_and(|u| u > have));
        over.map(|(space, have)| (space.clone(), used.get(space).copied().unwrap_or(0), *have))
    }
}

impl fmt::Debug for MemoryBudget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("MemoryBudget");
        debug.field("spaces", &self.spaces).field("align", &self.align);
        debug.field("footprint", &self.footprint.is_some()).finish()
    }
}
