//! What the spaces and roles of a machine given as data ask of an answer (B82).

use super::description::{Range, ranges, role};
use super::facts::Facts;
use super::report::Report;
use crate::input::{Access, AccessRole, MachineSpec, OwnName, Space, TargetSpec};
use crate::output::{Assignment, Class, MergeClass, Why};
use std::collections::BTreeMap;

/// The machine of a problem, if its target is one with spaces and semaphores of its own.
pub(super) fn machine<'a>(f: &Facts<'a>) -> Option<&'a MachineSpec> {
    described(f).filter(|spec| spec.block.is_none())
}

/// The description of a problem's target, if it has one.
fn described<'a>(f: &Facts<'a>) -> Option<&'a MachineSpec> {
    match &f.problem.target {
        TargetSpec::Machine(spec) => Some(spec),
        _ => None,
    }
}

/// Alignment of the memory of a described block.
pub(super) fn align(f: &Facts<'_>) -> u64 {
    let block = described(f).filter(|spec| spec.block.is_some());
    block.and_then(|spec| spec.spaces.iter().find(|s| s.columns.is_none())).map_or(1, |s| s.align)
}

/// Every class lies in the space that its values are due, aligned for it.
pub(super) fn check(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    if let Some(spec) = described(f) {
        allowed(f, spec, report);
    }
    let Some(spec) = machine(f) else {
        for r in a.records.iter().filter(|r| r.space.is_some()) {
            report.add("B82", &[r.value], "a chip has no spaces of its own");
        }
        return;
    };
    let all = ranges(spec);
    // All of a root decide together.
    let mut chains: BTreeMap<Option<u64>, Vec<u64>> = BTreeMap::new();
    for &v in f.life_of.keys() {
        chains.entry(f.values[&v].root).or_default().push(v);
    }
    for m in &a.merge {
        class(f, a, (spec, &all), m, &chains, report);
    }
}

/// Every role is one of the machine's, and does what it is used for.
fn allowed(f: &Facts<'_>, spec: &MachineSpec, report: &mut Report) {
    for v in &f.problem.values {
        for (r, writes) in
            v.producer.iter().map(|p| (p.role, true)).chain(v.consumers.iter().map(|c| (c.role, false)))
        {
            let able = r == AccessRole::Signal
                || role(spec, r)
                    .is_some_and(|r| r.access == Access::Both || (r.access == Access::Write) == writes);
            if !able {
                report.add("B82", &[v.id], format!("the machine has no role {r} for this"));
            }
        }
    }
}

fn class(
    f: &Facts<'_>,
    a: &Assignment,
    (spec, all): (&MachineSpec, &[Range]),
    m: &MergeClass,
    chains: &BTreeMap<Option<u64>, Vec<u64>>,
    report: &mut Report,
) {
    for &v in &m.members {
        let Some(r) = a.record(v).filter(|r| r.class == Class::Smem) else { continue };
        let family: Vec<_> = chains[&f.values[&v].root].iter().flat_map(|&w| f.family(w)).collect();
        let roles: Vec<AccessRole> = family
            .iter()
            .flat_map(|x| x.producer.map(|p| p.role).into_iter().chain(x.consumers.iter().map(|c| c.role)))
            .collect();
        let reaches =
            |s: &OwnName| roles.iter().all(|&r| role(spec, r).is_some_and(|r| r.spaces.contains(s)));
        let legal: Vec<OwnName> = all.iter().map(|s| s.name).filter(|s| reaches(s)).collect();
        let layout = family
            .iter()
            .find_map(|x| f.problem.layouts.iter().find(|l| Some(l.id) == x.layout.map(|l| l.id)));
        let bound = match (layout, family.iter().find_map(|x| x.space)) {
            (Some(l), _) => Some((l.space, Why::Layout)),
            (None, Some(s)) => Some((s, Why::Forced)),
            (None, None) => None,
        };
        let due = match bound {
            Some((Space::Own(s), why)) if legal.contains(&s) => Some((s, why)),
            Some(_) => None,
            None => legal.first().map(|&s| (s, if legal.len() == 1 { Why::Role } else { Why::First })),
        };
        if (r.space, r.why) != (due.map(|d| d.0), due.map(|d| d.1)) {
            report.add("B82", &[v], format!("it is due in {:?}, not in {:?}", due.map(|d| d.0), r.space));
        }
        let Some(range) = all.iter().find(|s| Some(s.name) == r.space) else { continue };
        let slots = r.stride.unwrap_or(0).saturating_mul(r.depth.max(1) - 1);
        let end = r.offset.unwrap_or(0).saturating_add(slots).saturating_add(r.stage_bytes.unwrap_or(0));
        if r.offset.is_none_or(|o| o < range.base) || end > range.base.saturating_add(range.bytes) {
            report.add("B82", &[v], format!("it does not lie in space {}", range.name));
        }
        let aligned = r.align.is_some_and(|x| x % range.align == 0);
        if !aligned {
            report.add("B82", &[v], format!("its alignment is less than that of space {}", range.name));
        }
    }
}
