//! Classes: legality first, then the size rule (B34..B36).

use super::facts::Facts;
use super::machine::machine;
use super::report::Report;
use super::ways::way;
use crate::input::{AccessRole, Space, element_bits};
use crate::output::{Assignment, Class, Record, Why};
use std::collections::BTreeMap;
use warploom_chips::Feature;

pub(super) fn check(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let mut illegal = false;
    // Chains: owners that had to share from the start (one root, or one layout).
    let mut chains: BTreeMap<(bool, u64), Vec<u64>> = BTreeMap::new();
    for &v in f.life_of.keys() {
        let key = match f.values[&v].layout {
            Some(l) => (true, l.id),
            None => (false, f.values[&v].root.unwrap_or(v)),
        };
        chains.entry(key).or_default().push(v);
    }
    let mut records: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
    for r in &a.records {
        if let Some(owner) = f.owner.get(&r.value) {
            records.entry(owner.0).or_default().push(r);
        }
    }
    for owners in chains.values() {
        let (class, why, wrong) = decide(f, owners);
        illegal |= wrong;
        for &v in owners {
            for r in records.get(&v).into_iter().flatten() {
                let roles = f.roles(v);
                let fits = match r.class {
                    Class::Smem => roles.iter().all(|&x| way(f, x).smem),
                    Class::Tmem => roles.iter().all(|&x| way(f, x).tmem) && f.has_tmem(),
                    Class::Desc | Class::BarrierOnly => true,
                };
                if !fits && !f.preset() {
                    report.add("B34", &[r.value], format!("{:?} is not legal for its roles", r.class));
                } else {
                    report.same("B35", r.value, "class", &r.class, &class);
                }
                if machine(f).is_none() || !matches!(class, Class::Smem) {
                    report.same("B35", r.value, "why", &r.why, &why);
                }
                let stored = matches!(class, Class::Smem | Class::Tmem);
                if !stored && (r.bytes.is_some() || r.offset.is_some() || r.tmem.is_some()) {
                    report.add("B35", &[r.value], "a value without payload has no bytes");
                }
            }
        }
    }
    let slots = a.records.iter().filter_map(|r| r.barrier).all(|b| b.id.is_some());
    let emittable = !illegal && slots;
    if a.emittable != emittable {
        let rule = if illegal { "B36" } else { "B28" };
        report.add(rule, &[], format!("emittable is {}, required is {emittable}", a.emittable));
    }
}

/// Class, reason, and whether a role is illegal there, for a chain.
fn decide(f: &Facts<'_>, owners: &[u64]) -> (Class, Option<Why>, bool) {
    let roles: Vec<AccessRole> = owners.iter().flat_map(|&v| f.roles(v)).collect();
    if owners.iter().all(|&v| f.roles(v).iter().all(|r| *r == AccessRole::Signal)) {
        return (Class::BarrierOnly, None, false);
    }
    if roles.iter().all(|&r| way(f, r).descriptor) {
        return (Class::Desc, Some(Why::Role), false);
    }
    let smem = roles.iter().all(|&r| way(f, r).smem);
    let tmem = roles.iter().all(|&r| way(f, r).tmem);
    let mut bound: Option<(Space, Why)> = None;
    for v in owners.iter().flat_map(|&o| f.family(o)) {
        if let Some(l) = v.layout.and_then(|l| f.problem.layouts.iter().find(|x| x.id == l.id)) {
            bound = Some((l.space, Why::Layout));
        } else if let Some(s) = v.space {
            bound = Some((s, Why::Forced));
        }
    }
    let (may_smem, may_tmem) = match bound {
        Some((Space::Smem, _)) => (smem, false),
        Some((Space::Tmem, _)) => (false, tmem),
        Some((Space::Own(_), _)) => (smem, false),
        None => (smem, tmem),
    };
    let large = large(f, owners);
    if f.preset() {
        let class = if f.has_tmem() && large { Class::Tmem } else { Class::Smem };
        let wrong = if class == Class::Tmem { !may_tmem } else { !may_smem };
        return (class, Some(Why::Preset), wrong);
    }
    let reason = |by_role: bool| if by_role { Why::Role } else { bound.map_or(Why::Role, |b| b.1) };
    match (may_smem, may_tmem) {
        (true, true) if !f.has_tmem() => (Class::Smem, Some(Why::Feature), false),
        (true, true) if large => (Class::Tmem, Some(Why::Size), false),
        (true, true) => (Class::Smem, Some(Why::Size), false),
        (false, true) => (Class::Tmem, Some(reason(!smem)), !f.has_tmem()),
        (true, false) => (Class::Smem, Some(reason(!tmem)), false),
        (false, false) => (Class::Smem, Some(Why::Role), true),
    }
}

/// The size rule: a 2-D tile of at least byte-sized elements above the threshold whose rows fit
/// tensor memory (B35, B42). The largest member of a chain, lowest id on ties, speaks for it.
fn large(f: &Facts<'_>, owners: &[u64]) -> bool {
    let Some(&v) = owners.iter().min_by_key(|&&v| (std::cmp::Reverse(f.stage_bytes(v)), v)) else {
        return false;
    };
    let value = f.values[&v];
    let n = value.shape.len();
    let Some(tmem) = f.target.tmem.as_ref().filter(|_| n >= 2) else { return false };
    let (rows, columns) = (value.shape[n - 2], value.shape[n - 1]);
    let bits = value.element.as_deref().and_then(element_bits).unwrap_or(8);
    let width = u128::from(columns) * u128::from(bits);
    value.shape[..n - 2].iter().all(|&d| d == 1)
        && (rows == u64::from(tmem.lanes) || 2 * rows == u64::from(tmem.lanes))
        && rows > 1
        && columns > 1
        && width <= u128::from(tmem.cell_bits) * u128::from(tmem.columns)
        && bits >= 8
        && f.stage_bytes(v) > f.options.tmem_threshold
}

impl Facts<'_> {
    /// Roles of an owner and its views.
    pub fn roles(&self, owner: u64) -> Vec<AccessRole> {
        let family = self.family(owner);
        family
            .flat_map(|v| v.producer.map(|p| p.role).into_iter().chain(v.consumers.iter().map(|c| c.role)))
            .collect()
    }

    pub fn has_tmem(&self) -> bool {
        self.target.tmem.is_some() && self.target.has(Feature::Tcgen05)
    }

    /// Bytes of one stage (B6).
    pub fn stage_bytes(&self, v: u64) -> u64 {
        let value = self.values[&v];
        let bits = value.element.as_deref().and_then(element_bits).unwrap_or(0);
        let product = value.shape.iter().fold(u128::from(bits), |n, &d| n.saturating_mul(d.into()));
        let computed = if bits == 0 { 0 } else { product.div_ceil(8) };
        value.bytes.unwrap_or(0).max(u64::try_from(computed).unwrap_or(u64::MAX))
    }
}
