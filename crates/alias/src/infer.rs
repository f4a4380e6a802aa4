//! The tree of each spec: declared, or inferred from its reuse groups alone (A39).

use hashbrown::HashMap;

use crate::error::AliasError;
use crate::group::ReuseGroup;
use crate::layout::AliasOptions;
use crate::model::{AliasModule, SpecId};

/// A tree and its phase.
pub(crate) struct Scheme<'m> {
    pub(crate) phase: Option<&'m str>,
    pub(crate) tree: &'m ReuseGroup,
}

/// The trees of every spec, by number of the spec.
pub(crate) fn trees<'m>(
    m: &'m AliasModule,
    options: &AliasOptions,
    errors: &mut Vec<AliasError>,
) -> Vec<Vec<Scheme<'m>>> {
    let mut out: Vec<Vec<Scheme<'m>>> = Vec::new();
    out.resize_with(m.specs().count(), Vec::new);
    for overlap in m.overlaps() {
        if let Some(list) = out.get_mut(overlap.spec.index()) {
            list.push(Scheme { phase: overlap.phase.as_deref(), tree: &overlap.tree });
        }
    }
    if options.compat {
        return out;
    }
    // Groups of one spec, those without an overlap definition. Elements of another group are inside it.
    let mut found: HashMap<SpecId, &ReuseGroup> = HashMap::new();
    let mut torn: Vec<SpecId> = Vec::new();
    for group in m.groups() {
        let leaves = group.leaves();
        let Some(spec) = leaves.first().and_then(|l| m.leaf(*l).spec()) else { continue };
        if leaves.iter().any(|l| m.leaf(*l).spec() != Some(spec)) {
            continue;
        }
        if out.get(spec.index()).is_none_or(|list| !list.is_empty()) {
            continue;
        }
        let contains = |a: &ReuseGroup, b: &ReuseGroup| {
            let inner = b.leaves();
            let outer = a.leaves();
            inner.iter().all(|l| outer.contains(l))
        };
        match found.get(&spec) {
            None => {
                found.insert(spec, group);
            }
            Some(other) if contains(other, group) => {}
            Some(other) if contains(group, other) => {
                found.insert(spec, group);
            }
            Some(other) => {
                torn.push(spec);
                let name = |g: &ReuseGroup| g.name().unwrap_or("group").to_owned();
                errors.push(
                    AliasError::new(
                        "A39",
                        format!(
                            "storage_alias_spec has two unrelated reuse_groups, %{} and %{}, and no \
                             set_buffer_overlap; call it, or give each a warploom.phase",
                            name(other),
                            name(group)
                        ),
                    )
                    .at(group.at())
                    .related("the other one", other.at())
                    .help("put both in one group, and that in tlx.set_buffer_overlap"),
                );
            }
        }
    }
    // Which of two unrelated groups is meant is not guessed.
    found.retain(|spec, _| !torn.contains(spec));
    for (spec, tree) in found {
        if let Some(list) = out.get_mut(spec.index()) {
            list.push(Scheme { phase: None, tree });
        }
    }
    out
}
