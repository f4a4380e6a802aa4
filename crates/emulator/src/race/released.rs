//! What releases leave at addresses for acquires to find (E61, E99).

use super::clock::{ByScope, Clock, join};
use super::scope::{CtaOf, Scope};
use std::collections::BTreeMap;

/// What was released at one address since the last store there that released nothing.
#[derive(Debug, Default)]
struct Place {
    /// By releases of gpu scope.
    all: Option<Clock>,
    /// By each CTA, with cta and with cluster scope at least.
    near: BTreeMap<CtaOf, [Option<Clock>; 2]>,
}

/// Releases by address.
#[derive(Debug, Default)]
pub(crate) struct Released {
    places: BTreeMap<(u32, u64), Place>,
}

impl Released {
    /// A store overwrites what releases left. Atomics read what they write over, so they carry it on.
    pub(crate) fn overwrite(&mut self, key: (u32, u64)) {
        if !self.places.is_empty() {
            self.places.remove(&key);
        }
    }

    /// A strong write of `scope` by a thread of `cta` publishes what each of its releases covers.
    pub(crate) fn publish(&mut self, key: (u32, u64), cta: CtaOf, scope: Scope, clocks: &ByScope) {
        let [narrow, cluster, gpu] = clocks;
        let place = self.places.entry(key).or_default();
        let near = place.near.entry(cta).or_default();
        if let Some(c) = narrow {
            join(&mut near[0], c);
        }
        if let Some(c) = cluster.as_ref().filter(|_| scope >= Scope::Cluster) {
            join(&mut near[1], c);
        }
        if let Some(c) = gpu.as_ref().filter(|_| scope >= Scope::Gpu) {
            join(&mut place.all, c);
        }
    }

    /// What a strong read of `scope` by a thread of `cta` finds, by the scope that an acquire of it needs.
    pub(crate) fn find(&self, key: (u32, u64), cta: CtaOf, scope: Scope, found: &mut ByScope) {
        let Some(place) = self.places.get(&key) else { return };
        if let Some(c) = place.near.get(&cta).and_then(|n| n[0].as_ref()) {
            join(&mut found[0], c);
        }
        if scope >= Scope::Cluster {
            let cluster = place.near.range((cta.0, 0)..=(cta.0, u32::MAX));
            cluster.filter_map(|(_, n)| n[1].as_ref()).for_each(|c| join(&mut found[1], c));
        }
        if let Some(c) = place.all.as_ref().filter(|_| scope >= Scope::Gpu) {
            join(&mut found[2], c);
        }
    }
}
