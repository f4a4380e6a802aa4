//! The independent checker: is a layout right (L1 to L12)?
//!
//! It takes the module and the layout, derives unit sizes and alignments from the types once more, evaluates
//! the position of every index from `base`, `radices` and `strides`, and compares intervals. It shares no code
//! with what made the layout. What it does not check: whether uses are ordered (L15 is [`schedule`]), and
//! leaves of more than 65,536 buffers beyond their first ones and the last.
//!
//! [`schedule`]: crate::schedule

mod carried;
mod derive;
mod finding;
mod intervals;
mod lowered;
mod phases;
mod shape;
mod sizes;
mod tree;
mod view;

pub use finding::{AliasFinding, AliasFindings};
pub use lowered::check_lowered;
pub use view::CheckOptions;

use hashbrown::HashMap;

use crate::layout::{AliasLayout, LeafLayout, StorageLayout};
use crate::model::{AliasModule, LeafId};
use view::{View, columns};

/// Indices of one leaf that are looked at.
const MOST_INDICES: u64 = 65_536;

/// Checks the laws L1 to L12.
///
/// # Errors
/// Every broken law, at most 100.
pub fn check(m: &AliasModule, layout: &AliasLayout, options: &CheckOptions) -> Result<(), AliasFindings> {
    let mut findings = AliasFindings::default();
    membership(m, layout, &mut findings);
    for storage in &layout.storages {
        check_storage(m, storage, options, &mut findings);
    }
    if !options.compat {
        sizes::capacity(m, layout, &options.limits, &mut findings);
    }
    findings.into_result()
}

/// L1: leaves of the layout are the leaves of the input, once each.
fn membership(m: &AliasModule, layout: &AliasLayout, findings: &mut AliasFindings) {
    let mut seen: HashMap<LeafId, usize> = HashMap::new();
    for storage in &layout.storages {
        for leaf in &storage.leaves {
            *seen.entry(leaf.leaf).or_default() += 1;
            if m.leaf(leaf.leaf).spec() != Some(storage.spec) {
                findings.add("L1", format!("%{} is not of the storage {}", leaf.name, storage.name));
            }
        }
    }
    for (id, leaf) in m.leaves() {
        let times = seen.get(&id).copied().unwrap_or(0);
        if times != usize::from(leaf.spec().is_some()) {
            findings.add("L1", format!("{} is laid out {times} times", leaf.shown()));
        }
    }
    let mut specs: Vec<_> = layout.storages.iter().map(|s| s.spec).collect();
    specs.sort_unstable();
    if specs.windows(2).any(|w| w.first() == w.last()) {
        findings.add("L1", "a spec has two storages".to_owned());
    }
}

fn check_storage(m: &AliasModule, s: &StorageLayout, options: &CheckOptions, findings: &mut AliasFindings) {
    let mut views = Vec::new();
    for layout in &s.leaves {
        let leaf = m.leaf(layout.leaf);
        let Some(need) = derive::need(leaf) else {
            findings.add("L1", format!("the size of {} does not fit 64 bits", leaf.shown()));
            continue;
        };
        let mut at = Vec::new();
        let last = leaf.count().saturating_sub(1);
        for i in (0..leaf.count().min(MOST_INDICES)).chain((last >= MOST_INDICES).then_some(last)) {
            match position(layout, i) {
                Some(p) => at.push((i, p)),
                None => {
                    findings.add("L1", format!("{}[{i}] has no position", leaf.shown()));
                    break;
                }
            }
        }
        views.push(View { id: layout.leaf, leaf, layout, need, at });
    }
    for view in &views {
        one_leaf(s, view, options, findings);
    }
    sizes::storage(m, s, &views, options, findings);
    match s.phases.is_empty() {
        true => phases::one(m, s, &views, options, findings),
        false => phases::all(m, s, &views, options, findings),
    }
}

/// Where an index lies, from the numbers of the layout alone (A31).
fn position(layout: &LeafLayout, index: u64) -> Option<u64> {
    let map = &layout.map;
    if map.strides.len() != map.radices.len() + 1 {
        return None;
    }
    let inside = map.radices.iter().try_fold(1u64, |p, k| p.checked_mul(*k))?;
    let mut at = map.base.checked_add(index.checked_div(inside)?.checked_mul(*map.strides.first()?)?)?;
    let mut below = inside;
    for (radix, stride) in map.radices.iter().zip(map.strides.get(1..)?) {
        below = below.checked_div(*radix)?;
        at = at.checked_add((index / below % radix).checked_mul(*stride)?)?;
    }
    Some(at)
}

/// L1 to L4 and L12 of one leaf.
fn one_leaf(s: &StorageLayout, view: &View<'_>, options: &CheckOptions, findings: &mut AliasFindings) {
    let name = view.leaf.shown();
    let layout = view.layout;
    if (layout.unit, layout.rows, layout.count) != (view.need.unit, view.need.rows, view.leaf.count()) {
        findings.add(
            "L1",
            format!(
                "{name} is {} buffers of {} units and {} rows, not {} of {} and {}",
                view.leaf.count(),
                view.need.unit,
                view.need.rows,
                layout.count,
                layout.unit,
                layout.rows
            ),
        );
    }
    let map = &layout.map;
    let normal = map.radices.iter().all(|k| *k > 1)
        && (1..map.strides.len()).all(|n| {
            let inner = map.strides.get(n).zip(map.radices.get(n - 1));
            inner.and_then(|(s, k)| s.checked_mul(*k)) != map.strides.get(n - 1).copied()
        });
    if !normal {
        findings.add("L1", format!("the index map of {name} is not in normal form"));
    }
    // A bare leaf lies as its author laid it; only its start is aligned (A14).
    if !options.compat {
        for (i, at) in view.at.iter().take(if s.bare { 1 } else { usize::MAX }) {
            if at % view.need.align != 0 {
                let align = view.need.align;
                findings.add("L2", format!("{name}[{i}] at {at} is not aligned to {align}"));
                break;
            }
        }
        if !s.align.is_multiple_of(view.need.align) {
            findings.add("L2", format!("storage {} is aligned to {}, {name} needs more", s.name, s.align));
        }
    }
    // TLX's bare size of tensor memory may be too small (D3, D11); `compat` keeps it.
    let tlx = options.compat && columns(s) && s.bare;
    for (i, at) in view.at.iter().filter(|_| !tlx) {
        if at.checked_add(view.need.unit).is_none_or(|end| end > s.size) {
            findings.add("L3", format!("{name}[{i}] at {at} reaches beyond the storage of {}", s.size));
            break;
        }
    }
    if !options.compat && s.rows < view.need.rows {
        findings.add("L3", format!("{name} has {} rows, its storage {}", view.need.rows, s.rows));
    }
    let mut sorted = view.at.clone();
    sorted.sort_unstable_by_key(|(_, at)| *at);
    for pair in sorted.windows(2) {
        if let [(i, a), (j, b)] = pair
            && b - a < view.need.unit
        {
            findings.add("L4", format!("{name}[{i}] at {a} and {name}[{j}] at {b} have a unit in common"));
            break;
        }
    }
    slots(view, findings);
}

/// L12: the slot form addresses what the map says.
fn slots(view: &View<'_>, findings: &mut AliasFindings) {
    let Some(slots) = &view.layout.slots else { return };
    let mut largest = 0;
    for (i, at) in &view.at {
        let copy = LeafLayout {
            map: crate::IndexMap {
                base: slots.offset,
                radices: slots.radices.clone(),
                strides: slots.steps.clone(),
            },
            ..view.layout.clone()
        };
        let slot = position(&copy, *i);
        largest = largest.max(slot.unwrap_or(u64::MAX));
        if slot.and_then(|s| s.checked_mul(view.need.unit)) != Some(*at) {
            let slot = slot.unwrap_or(u64::MAX);
            findings.add("L12", format!("slot {slot} of {}[{i}] is not at {at}", view.leaf.shown()));
            return;
        }
    }
    if slots.slots != largest.saturating_add(1) {
        let message = format!("{} slots of {} are not {}", slots.slots, view.leaf.shown(), largest + 1);
        findings.add("L12", message);
    }
}
