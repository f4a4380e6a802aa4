//! One storage: sizes (A25, A26), offsets (A28 to A30), phases (A40), counts (A41).

use hashbrown::HashSet;

use crate::counts::groups_of;
use crate::error::{AliasError, AliasNote, Result};
use crate::footprint::{Footprint, footprint, up};
use crate::index::{IndexMap, SlotMap};
use crate::infer::Scheme;
use crate::layout::{AliasOptions, LeafLayout, PhaseLayout, StorageLayout};
use crate::model::{AliasModule, LeafId, SpecId, StorageAliasSpec};
use crate::place::{Alignment, Facts, Placed, Tree};
use crate::types::Storage;

/// One tree with its groups.
struct Arranged {
    phase: Option<String>,
    tree: Tree,
    groups: u64,
    stride: u64,
    end: u64,
}

/// Where a leaf lies before its slots are known.
struct Spot {
    leaf: LeafId,
    foot: Footprint,
    map: IndexMap,
    stride: u64,
    path: Vec<(u64, u64)>,
}

/// Lays one spec out; every error of one step, and none of later steps.
pub(crate) fn arrange(
    m: &AliasModule,
    id: SpecId,
    leaves: &[LeafId],
    schemes: &[Scheme<'_>],
    options: &AliasOptions,
    notes: &mut Vec<AliasNote>,
) -> Result<StorageLayout, Vec<AliasError>> {
    let spec = m.spec(id);
    let mut feet = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        feet.push(footprint(m.leaf(*leaf)).map_err(|e| vec![e])?);
    }
    let mut trees = Vec::new();
    for scheme in schemes {
        trees.push(arranged(m, spec, scheme, options, notes).map_err(|e| vec![e.at(spec.at)])?);
    }
    let spots = spots(m, id, leaves, &feet, &trees, options)?;
    let size = size(m, spec, &spots, &trees, options, notes).map_err(|e| vec![e])?;
    let mut errors = Vec::new();
    for spot in &spots {
        errors.extend(pins(m, spot, &trees, options));
    }
    let mut out = Vec::new();
    for spot in spots {
        let leaf = m.leaf(spot.leaf);
        let mut slots = None;
        if options.slots() {
            match SlotMap::new(&spot.map, spot.stride, &spot.path, spot.foot.unit, leaf.count()) {
                Ok(map) => slots = Some(map),
                Err(e) => errors.push(e.at(leaf.at())),
            }
        }
        out.push(LeafLayout {
            leaf: spot.leaf,
            name: leaf.name().to_owned(),
            unit: spot.foot.unit,
            rows: spot.foot.rows,
            count: leaf.count(),
            map: spot.map,
            slots,
        });
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let largest = trees.iter().max_by_key(|t| t.groups.saturating_mul(t.stride));
    Ok(StorageLayout {
        spec: id,
        name: spec.name.clone().unwrap_or_else(|| format!("spec{}", id.index())),
        space: spec.storage(),
        align: feet.iter().map(|f| f.align).max().unwrap_or(1),
        rows: rows(m, spec, leaves, &feet, options),
        size,
        groups: largest.map_or(1, |t| t.groups),
        stride: largest.map_or(size, |t| t.stride),
        cells: largest.map_or_else(Vec::new, |t| t.tree.cells()),
        phases: trees.iter().filter_map(phase).collect(),
        leaves: out,
        bare: trees.is_empty(),
        trees: schemes.iter().map(|s| s.tree.clone()).collect(),
    })
}

/// Flattens, counts groups and places one tree.
fn arranged(
    m: &AliasModule,
    spec: &StorageAliasSpec,
    scheme: &Scheme<'_>,
    options: &AliasOptions,
    notes: &mut Vec<AliasNote>,
) -> Result<Arranged> {
    let rule = match options.compat {
        true => Alignment::Tlx(spec.storage()),
        false => Alignment::PerLeaf,
    };
    let mut tree = Tree::new(scheme.tree, rule, &|leaf| {
        let l = m.leaf(leaf);
        Ok(Facts {
            foot: footprint(l)?,
            count: l.count(),
            elem_bytes: l.elem().bytes(),
            pin: scheme.phase.and(l.pinned_offset()),
        })
    })?;
    let groups = groups_of(m, spec.counts, &mut tree, notes)?;
    let end = tree.place()?;
    let mut stride = up(end, tree.align()).ok_or_else(|| AliasError::overflow("the storage"))?;
    if options.lint && !options.compat {
        crate::lint::order(&tree, end, notes);
    }
    if !options.compat {
        stride = raised(m, &tree, stride, end)?;
    }
    Ok(Arranged { phase: scheme.phase.map(str::to_owned), tree, groups, stride, end })
}

/// A30: `bytes_between_buffers` of a leaf that has one buffer a group sets the group stride.
fn raised(m: &AliasModule, tree: &Tree, computed: u64, end: u64) -> Result<u64> {
    let mut chosen: Option<(u64, &Placed)> = None;
    for placed in &tree.leaves {
        let leaf = m.leaf(placed.leaf);
        let Some(own) = leaf.pinned_stride() else { continue };
        let at = leaf.at();
        if tree.indices(placed) != Some(1) {
            let (_, inner) = tree.path(placed).pop().unwrap_or((1, computed));
            if inner != own {
                let message = format!(
                    "bytes_between_buffers of {} is {own}, but its group_size puts its buffers {inner} apart",
                    leaf.shown()
                );
                return Err(AliasError::new("A30", message).at(at).help("leave it out inside a group_size"));
            }
            continue;
        }
        if own < end {
            let unit = leaf.storage().unit();
            let message =
                format!("not enough space for distinct allocations: need {end} {unit}, have {own} {unit}");
            let root = tree.nodes.first().and_then(|n| n.at);
            return Err(AliasError::new("A30", message)
                .at(root.or(at))
                .related(format!("bytes_between_buffers of {} is {own}", leaf.shown()), at)
                .help(format!("write at least {computed}, or leave it out")));
        }
        if own % tree.align() != 0 {
            let message = format!(
                "bytes_between_buffers of {} is {own}, no multiple of {}, the largest alignment in its tree",
                leaf.shown(),
                tree.align()
            );
            return Err(AliasError::new("A30", message).at(at).help(format!("write {computed} or more")));
        }
        match chosen {
            Some((other, who)) if other != own => {
                let message = format!(
                    "bytes_between_buffers of {} is {own}, that of {} is {other}; one tree has one distance",
                    leaf.shown(),
                    m.leaf(who.leaf).shown()
                );
                return Err(AliasError::new("A30", message).at(at).help("make them equal"));
            }
            _ => chosen = Some((own, placed)),
        }
    }
    Ok(chosen.map_or(computed, |(own, _)| own))
}

/// Index maps of all leaves, A13 and anchors included.
fn spots(
    m: &AliasModule,
    id: SpecId,
    leaves: &[LeafId],
    feet: &[Footprint],
    trees: &[Arranged],
    options: &AliasOptions,
) -> Result<Vec<Spot>, Vec<AliasError>> {
    let mut placed: hashbrown::HashMap<LeafId, Vec<(&Arranged, &Placed)>> = hashbrown::HashMap::new();
    for tree in trees {
        for leaf in &tree.tree.leaves {
            placed.entry(leaf.leaf).or_default().push((tree, leaf));
        }
    }
    let mut errors = Vec::new();
    let mut out = Vec::with_capacity(leaves.len());
    for (&leaf, &foot) in leaves.iter().zip(feet) {
        let l = m.leaf(leaf);
        let found = placed.get(&leaf).map_or(&[][..], Vec::as_slice);
        let Some(((first, here), rest)) = found.split_first() else {
            if !trees.is_empty() && !options.compat {
                let message =
                    format!("allocation {} of this storage_alias_spec is not in its overlap tree", l.shown());
                errors.push(
                    AliasError::new("A13", message)
                        .at(l.at())
                        .related("the spec is here", m.spec(id).at)
                        .help("add it to the tree, or give it a spec of its own"),
                );
                continue;
            }
            match bare(m, leaf, foot, options) {
                Ok(spot) => out.push(spot),
                Err(e) => errors.push(e),
            }
            continue;
        };
        let path = first.tree.path(here);
        let map = IndexMap::new(here.base, first.stride, &path);
        for (other, there) in rest {
            let theirs = IndexMap::new(there.base, other.stride, &other.tree.path(there));
            let differ = (0..l.count()).find(|i| map.position(*i) != theirs.position(*i));
            if let Some(i) = differ {
                let name = |a: &Arranged| a.phase.clone().unwrap_or_default();
                let message = format!(
                    "leaf {} is placed at {} in phase {} and at {} in phase {}; pin it with buffer_offset",
                    l.shown(),
                    map.position(i).unwrap_or(0),
                    name(first),
                    theirs.position(i).unwrap_or(0),
                    name(other)
                );
                errors.push(AliasError::new("A40", message).at(l.at()).help(
                    "buffer_offset moves its base, bytes_between_buffers on a leaf beside it the distance",
                ));
            }
        }
        out.push(Spot { leaf, foot, map, stride: first.stride, path });
    }
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

/// A14, A30: the author's own base and stride, else 0 and the size of a buffer.
fn bare(m: &AliasModule, leaf: LeafId, foot: Footprint, options: &AliasOptions) -> Result<Spot> {
    let l = m.leaf(leaf);
    let (mut base, mut stride) = (0, foot.unit);
    if !options.compat {
        base = l.pinned_offset().unwrap_or(0);
        stride = l.pinned_stride().unwrap_or(foot.unit);
    }
    if base % foot.align != 0 {
        let message = format!(
            "buffer_offset {base} of {} is not a multiple of its alignment {}",
            l.shown(),
            foot.align
        );
        return Err(AliasError::new("A30", message).at(l.at()).help("round it up"));
    }
    if stride < foot.unit && l.count() > 1 {
        let message =
            format!("bytes_between_buffers {stride} of {} is less than one buffer, {}", l.shown(), foot.unit);
        return Err(AliasError::new("A30", message).at(l.at()).help("buffers of one leaf may not overlap"));
    }
    Ok(Spot { leaf, foot, map: IndexMap::new(base, stride, &[]), stride, path: Vec::new() })
}

/// A30: a pin inside a tree says what the tree says.
fn pins(m: &AliasModule, spot: &Spot, trees: &[Arranged], options: &AliasOptions) -> Option<AliasError> {
    let l = m.leaf(spot.leaf);
    let pin = l.pinned_offset()?;
    if trees.is_empty() || options.compat || pin == spot.map.base {
        return None;
    }
    let message = format!(
        "buffer_offset {pin} of {} is not its place in the overlap tree, {}",
        l.shown(),
        spot.map.base
    );
    Some(AliasError::new("A30", message).at(l.at()).help("leave it out, or change the tree"))
}

/// A25, A26 and the sizes of A37.
fn size(
    m: &AliasModule,
    spec: &StorageAliasSpec,
    spots: &[Spot],
    trees: &[Arranged],
    options: &AliasOptions,
    notes: &mut Vec<AliasNote>,
) -> Result<u64> {
    let overflow = || AliasError::overflow("the storage").at(spec.at);
    let mut size = 0u64;
    for tree in trees {
        size = size.max(tree.groups.checked_mul(tree.stride).ok_or_else(overflow)?);
    }
    let in_tree: HashSet<LeafId> = trees.iter().flat_map(|t| t.tree.leaves.iter().map(|l| l.leaf)).collect();
    for spot in spots.iter().filter(|s| !in_tree.contains(&s.leaf)) {
        let last = m.leaf(spot.leaf).count() - 1;
        let end = spot.map.position(last).and_then(|p| p.checked_add(spot.foot.unit));
        size = size.max(end.ok_or_else(overflow)?);
    }
    if options.compat && spec.storage() == Storage::Tmem {
        size = tlx_columns(m, spots).ok_or_else(overflow)?.max(match trees.is_empty() {
            true => 0,
            false => size,
        });
    }
    if size > i64::MAX as u64 / 512 {
        return Err(overflow());
    }
    let Some(own) = spec.size_bytes() else { return Ok(size) };
    let leaves: Vec<LeafId> = spots.iter().map(|s| s.leaf).collect();
    let feet: Vec<Footprint> = spots.iter().map(|s| s.foot).collect();
    let per_unit = match spec.storage() {
        Storage::Tmem => 4 * u64::from(rows(m, spec, &leaves, &feet, options)),
        _ => 1,
    };
    let need = size.checked_mul(per_unit).ok_or_else(overflow)?;
    if own < need {
        let message = format!(
            "storage_alias_spec buffer_size_bytes {own} is too small for computed shape, \
             requires at least {need} bytes"
        );
        let mut error = AliasError::new("A26", message).at(spec.at);
        if let (Some(tree), false) = (trees.first(), options.compat) {
            let unit = spec.storage().unit();
            let message = format!(
                "not enough space for distinct allocations: need {} {unit}, have {} {unit}",
                tree.end,
                own / per_unit / tree.groups.max(1)
            );
            error = error.related(message, tree.tree.nodes.first().and_then(|n| n.at));
        }
        return Err(error.help(format!("write {need}, or leave the size out")));
    }
    if spec.storage() == Storage::Tmem && own % per_unit != 0 && !options.compat {
        let message = format!("buffer_size_bytes {own} leaves {} bytes of a column unused", own % per_unit);
        notes.push(AliasError::note("A26", message).at(spec.at));
    }
    Ok(own / per_unit)
}

/// TLX's bare size of tensor memory: the largest N, leading dimensions folded, in 32-bit columns (A37).
fn tlx_columns(m: &AliasModule, spots: &[Spot]) -> Option<u64> {
    let mut columns = 0u64;
    for spot in spots {
        let leaf = m.leaf(spot.leaf);
        let [leading @ .., _, n] = leaf.tile() else { continue };
        let folded = leading.iter().try_fold(n.checked_mul(leaf.count())?, |p, d| p.checked_mul(*d))?;
        columns = columns.max(folded.checked_mul(u64::from(leaf.elem().bits()))?.div_ceil(32));
    }
    Some(columns)
}

/// Rows of a storage in tensor memory.
fn rows(
    m: &AliasModule,
    spec: &StorageAliasSpec,
    leaves: &[LeafId],
    feet: &[Footprint],
    options: &AliasOptions,
) -> u32 {
    if options.compat && spec.storage() == Storage::Tmem {
        let tallest =
            leaves.iter().filter_map(|l| m.leaf(*l).tile().iter().rev().nth(1).copied()).max().unwrap_or(128);
        return if tallest <= 64 { 64 } else { 128 };
    }
    feet.iter().map(|f| f.rows).max().unwrap_or(1)
}

fn phase(tree: &Arranged) -> Option<PhaseLayout> {
    Some(PhaseLayout {
        name: tree.phase.clone()?,
        groups: tree.groups,
        stride: tree.stride,
        cells: tree.tree.cells(),
        leaves: tree.tree.leaves.iter().map(|l| l.leaf).collect(),
    })
}

/// The size of a spec if it had this tree.
pub(crate) fn size_with(m: &AliasModule, id: SpecId, tree: &crate::ReuseGroup) -> Result<u64> {
    let scheme = Scheme { phase: None, tree };
    let tree = arranged(m, m.spec(id), &scheme, &AliasOptions::default(), &mut Vec::new())?;
    tree.groups.checked_mul(tree.stride).ok_or_else(|| AliasError::overflow("the storage"))
}
