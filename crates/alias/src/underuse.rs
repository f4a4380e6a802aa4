//! Sharing that could be given up, and sharing that saves nothing (A53).

use hashbrown::HashSet;

use crate::error::{AliasError, AliasNote};
use crate::footprint::{footprint, plain};
use crate::group::{GroupElement, GroupKind, ReuseGroup};
use crate::layout::{AliasLayout, AliasOptions, StorageLayout};
use crate::model::{AliasModule, LeafId};
use crate::types::Storage;

/// Trees with more candidates than this are not searched.
const MOST_CANDIDATES: usize = 24;

/// A part of a tree that shares: its leaves and what they share with.
#[derive(Clone)]
struct Candidate {
    element: GroupElement,
    leaves: Vec<LeafId>,
    with: Vec<LeafId>,
    /// Product of the group sizes around it.
    around: u64,
}

/// What a kernel takes of tensor memory: its storages and plain allocations, in columns.
pub fn used_columns(m: &AliasModule, layout: &AliasLayout) -> u64 {
    let storages = layout.storages.iter().filter(|s| s.space == Storage::Tmem).map(|s| s.size);
    let plain = plain(m, Storage::Tmem).map(|id| {
        let leaf = m.leaf(id);
        footprint(leaf).map_or(u64::MAX, |f| f.unit.saturating_mul(leaf.count()))
    });
    storages.chain(plain).fold(0, u64::saturating_add)
}

/// For every storage of one space: which leaves could stop sharing within `slack` unused units, cheapest
/// first, and trees that save nothing.
pub fn under_use(m: &AliasModule, layout: &AliasLayout, space: Storage, slack: u64) -> Vec<AliasNote> {
    let mut notes = Vec::new();
    for storage in layout.storages.iter().filter(|s| s.space == space && !s.bare && s.phases.is_empty()) {
        let Some(tree) = tree_of(m, storage) else { continue };
        notes.extend(sets(m, storage, tree, slack));
        if let Some(note) = idle(m, storage) {
            notes.push(note);
        }
    }
    notes
}

fn tree_of<'m>(m: &'m AliasModule, storage: &StorageLayout) -> Option<&'m ReuseGroup> {
    let mut errors = Vec::new();
    let trees = crate::infer::trees(m, &AliasOptions::default(), &mut errors);
    trees.get(storage.spec.index())?.first().map(|s| s.tree)
}

/// The maximal sets that may become distinct, cheapest first.
fn sets(m: &AliasModule, storage: &StorageLayout, tree: &ReuseGroup, slack: u64) -> Vec<AliasNote> {
    let mut candidates = Vec::new();
    gather(tree, tree.size(), &mut candidates);
    if candidates.len() > MOST_CANDIDATES {
        return Vec::new();
    }
    let cost = |set: &[usize]| cost(m, storage, tree, &candidates, set);
    let mut found: Vec<(u64, Vec<usize>)> = Vec::new();
    for start in 0..candidates.len() {
        let Some(mut price) = cost(&[start]).filter(|c| *c <= slack) else { continue };
        let mut set = vec![start];
        loop {
            let mut best: Option<(u64, usize)> = None;
            for next in 0..candidates.len() {
                if set.iter().any(|s| overlap(&candidates, *s, next)) {
                    continue;
                }
                let mut grown = set.clone();
                grown.push(next);
                if let Some(c) = cost(&grown).filter(|c| *c <= slack)
                    && best.is_none_or(|(b, _)| c < b)
                {
                    best = Some((c, next));
                }
            }
            let Some((c, next)) = best else { break };
            price = c;
            set.push(next);
        }
        set.sort_unstable();
        found.push((price, set));
    }
    let leaves_of = |set: &[usize]| -> HashSet<LeafId> {
        set.iter().filter_map(|s| candidates.get(*s)).flat_map(|c| c.leaves.iter().copied()).collect()
    };
    let mut notes: Vec<(u64, HashSet<LeafId>, Vec<usize>)> = Vec::new();
    for (price, set) in found {
        let leaves = leaves_of(&set);
        if notes.iter().any(|(_, other, _)| leaves.is_subset(other)) {
            continue;
        }
        notes.retain(|(_, other, _)| !other.is_subset(&leaves));
        notes.push((price, leaves, set));
    }
    notes.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.2.cmp(&b.2)));
    let unit = storage.space.unit();
    notes
        .iter()
        .map(|(price, leaves, set)| {
            let mut with: Vec<LeafId> =
                set.iter().filter_map(|s| candidates.get(*s)).flat_map(|c| c.with.iter().copied()).collect();
            with.sort_unstable();
            with.dedup();
            with.retain(|l| !leaves.contains(l));
            let mut own: Vec<LeafId> = leaves.iter().copied().collect();
            own.sort_unstable();
            let message = format!(
                "sharing {} with {} saves {price} {unit}; {slack} are unused",
                names(m, &own),
                names(m, &with)
            );
            AliasError::warning("A53", message)
                .at(tree.at())
                .help(format!("make {} distinct from the rest: no need to order their uses", names(m, &own)))
        })
        .collect()
}

fn names(m: &AliasModule, leaves: &[LeafId]) -> String {
    leaves.iter().map(|l| m.leaf(*l).shown()).collect::<Vec<_>>().join(", ")
}

fn overlap(candidates: &[Candidate], a: usize, b: usize) -> bool {
    match (candidates.get(a), candidates.get(b)) {
        (Some(a), Some(b)) => a.leaves.iter().any(|l| b.leaves.contains(l)),
        _ => true,
    }
}

fn leaves_of(element: &GroupElement) -> Vec<LeafId> {
    match element {
        GroupElement::Leaf(leaf) => vec![*leaf],
        GroupElement::Group(group) => group.leaves(),
    }
}

/// Children of shared nodes, and of distinct children of shared nodes. Depth is bounded by A8.
fn gather(group: &ReuseGroup, around: u64, out: &mut Vec<Candidate>) {
    for (n, element) in group.elements().iter().enumerate() {
        if group.kind() == GroupKind::Shared && group.elements().len() > 1 {
            let others = group.elements().iter().enumerate().filter(|(k, _)| *k != n);
            let with: Vec<LeafId> = others.flat_map(|(_, e)| leaves_of(e)).collect();
            let candidate = |element: &GroupElement, around| Candidate {
                element: element.clone(),
                leaves: leaves_of(element),
                with: with.clone(),
                around,
            };
            out.push(candidate(element, around));
            if let GroupElement::Group(inner) = element
                && inner.kind() == GroupKind::Distinct
                && inner.elements().len() > 1
            {
                let around = around.saturating_mul(inner.size());
                out.extend(inner.elements().iter().map(|e| candidate(e, around)));
            }
        }
        if let GroupElement::Group(inner) = element {
            gather(inner, around.saturating_mul(inner.size()), out);
        }
    }
}

/// Growth of the storage when a set becomes distinct from the rest.
fn cost(
    m: &AliasModule,
    storage: &StorageLayout,
    tree: &ReuseGroup,
    candidates: &[Candidate],
    set: &[usize],
) -> Option<u64> {
    let taken: Vec<&Candidate> = set.iter().filter_map(|s| candidates.get(*s)).collect();
    let out: HashSet<LeafId> = taken.iter().flat_map(|c| c.leaves.iter().copied()).collect();
    let mut parts: Vec<GroupElement> = without(tree, &out).map(GroupElement::Group).into_iter().collect();
    for candidate in taken {
        let around = i64::try_from(candidate.around).ok()?;
        parts.push(match candidate.around {
            1 => candidate.element.clone(),
            _ => ReuseGroup::shared([candidate.element.clone()]).ok()?.group_size(around).ok()?.into(),
        });
    }
    let tree = ReuseGroup::distinct(parts).ok()?;
    let size = crate::arrange::size_with(m, storage.spec, &tree).ok()?;
    Some(size.saturating_sub(storage.size))
}

/// The tree without some leaves; `None` when nothing is left.
fn without(group: &ReuseGroup, out: &HashSet<LeafId>) -> Option<ReuseGroup> {
    let mut kept = Vec::new();
    for element in group.elements() {
        match element {
            GroupElement::Leaf(leaf) if out.contains(leaf) => {}
            GroupElement::Leaf(leaf) => kept.push(GroupElement::Leaf(*leaf)),
            GroupElement::Group(inner) => kept.extend(without(inner, out).map(GroupElement::Group)),
        }
    }
    ReuseGroup::new(group.kind(), kept).ok()?.group_size(i64::try_from(group.size()).ok()?).ok()
}

/// A tree that takes as much as its leaves side by side.
fn idle(m: &AliasModule, storage: &StorageLayout) -> Option<AliasNote> {
    let sum = storage.leaves.iter().try_fold(0u64, |s, l| s.checked_add(l.unit.checked_mul(l.count)?))?;
    if sum > storage.size || storage.leaves.len() < 2 {
        return None;
    }
    let unit = storage.space.unit();
    let message =
        format!("the overlap of {} saves nothing: its leaves need {sum} {unit} apart", storage.name);
    Some(AliasError::note("A53", message).at(m.spec(storage.spec).at).help("use plain allocations"))
}

/// Two allocations that, sharing, would save what is missing (the remedy of A51).
pub(crate) fn saving(m: &AliasModule, layout: &AliasLayout, missing: u64) -> Option<String> {
    let mut takers: Vec<(String, u64)> = layout
        .storages
        .iter()
        .filter(|s| s.space == Storage::Tmem)
        .map(|s| (s.name.clone(), s.size))
        .collect();
    for id in plain(m, Storage::Tmem) {
        let leaf = m.leaf(id);
        takers.push((leaf.name().to_owned(), footprint(leaf).ok()?.unit.checked_mul(leaf.count())?));
    }
    takers.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    let at = takers.iter().position(|t| t.1 >= missing)?;
    let (small, large) = (takers.get(at)?, takers.get(at + 1)?);
    Some(format!("sharing %{} with %{} would save {} columns", small.0, large.0, small.1))
}
