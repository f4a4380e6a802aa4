//! Mutations of good layouts (M1 to M17, M20): each must break a law that owns it. A mutant that is a legal
//! layout, as brute force over all pairs of ranges says, is not counted.

use super::*;
use warploom_alias::{GroupElement, GroupKind, ReuseGroup, StorageLayout};
use warploom_testing::alias::{Ranges, module};

/// A small deterministic stream of bytes.
pub(super) fn stream(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn options() -> AliasOptions {
    AliasOptions::default().limits(warploom_alias::AliasLimits::default().tmem_columns(u64::MAX))
}

type Mutation = (&'static str, fn(&AliasModule, &mut StorageLayout) -> bool, &'static [&'static str]);

/// Leaves that are children of one distinct group, by position in the storage.
fn distinct_peers(m: &AliasModule, s: &StorageLayout) -> Vec<(usize, usize)> {
    fn visit(g: &ReuseGroup, out: &mut Vec<(LeafId, LeafId)>) {
        let mut own = Vec::new();
        for e in g.elements() {
            match e {
                GroupElement::Leaf(l) => own.push(*l),
                GroupElement::Group(g) => visit(g, out),
            }
        }
        if g.kind() == GroupKind::Distinct {
            out.extend(own.windows(2).map(|w| (w[0], w[1])));
        }
    }
    let mut pairs = Vec::new();
    for o in m.overlaps().iter().filter(|o| o.spec == s.spec) {
        visit(&o.tree, &mut pairs);
    }
    let at = |l: LeafId| s.leaves.iter().position(|x| x.leaf == l);
    pairs.into_iter().filter_map(|(a, b)| Some((at(a)?, at(b)?))).collect()
}

const MUTATIONS: &[Mutation] = &[
    (
        "M1 bases of distinct peers swapped",
        |m, s| {
            let pair = distinct_peers(m, s).into_iter().find(|(a, b)| s.leaves[*a].unit != s.leaves[*b].unit);
            let Some((a, b)) = pair else { return false };
            let (x, y) = (s.leaves[a].map.base, s.leaves[b].map.base);
            (s.leaves[a].map.base, s.leaves[b].map.base) = (y, x);
            true
        },
        &["L2", "L5", "L7", "L8", "L9"],
    ),
    (
        "M2 base and one unit",
        |_, s| {
            s.leaves[0].map.base += 1;
            true
        },
        &["L2", "L5", "L7", "L8"],
    ),
    (
        "M3 B less one alignment",
        |_, s| {
            let step = s.align.min(s.stride);
            restride(s, s.stride - step)
        },
        &["L4", "L5", "L6", "L7", "L9"],
    ),
    ("M4 B more one alignment", |_, s| restride(s, s.stride + s.align), &["L9"]),
    (
        "M5 size less one unit",
        |_, s| {
            s.size -= 1;
            true
        },
        &["L3", "L9"],
    ),
    (
        "M6 radix level dropped",
        |_, s| {
            let Some(l) = s.leaves.iter_mut().find(|l| !l.map.radices.is_empty() && l.count > 1) else {
                return false;
            };
            l.map.radices.pop();
            l.map.strides.pop();
            true
        },
        &["L3", "L7"],
    ),
    (
        "M7 TLX's index formula",
        |_, s| {
            let Some(l) = s.leaves.iter_mut().find(|l| l.map.radices.len() == 1 && l.count > 1) else {
                return false;
            };
            let (k, step) = (l.map.radices[0], l.map.strides[0] / l.map.radices[0]);
            l.map.strides[0] = k * step;
            l.map.strides[1] = step + l.unit;
            true
        },
        &["L1", "L2", "L4", "L5", "L6", "L7"],
    ),
    (
        "M8 strides of two digits swapped",
        |_, s| {
            let used =
                |l: &&mut warploom_alias::LeafLayout| !l.map.radices.is_empty() && l.count > l.map.radices[0];
            let Some(l) = s.leaves.iter_mut().find(used) else { return false };
            l.map.strides.swap(0, 1);
            true
        },
        &["L1", "L4", "L6", "L7"],
    ),
    (
        "M9 inner stride halved",
        |_, s| {
            let Some(l) = s.leaves.iter_mut().find(|l| !l.map.radices.is_empty() && l.count > 1) else {
                return false;
            };
            *l.map.strides.last_mut().unwrap() /= 2;
            true
        },
        &["L1", "L2", "L4", "L5", "L7"],
    ),
    (
        "M10 groups of the first leaf",
        |_, s| {
            let first = &s.leaves[0];
            let inside: u64 = s.cells.iter().map(|c| c.radix).product::<u64>().max(1);
            let groups = first.count.div_ceil(inside);
            if groups == s.groups {
                return false;
            }
            s.groups = groups;
            s.size = groups * s.stride;
            true
        },
        &["L3", "L9"],
    ),
    (
        "M14 alignment lowered",
        |_, s| {
            if s.align == 1 {
                return false;
            }
            s.align /= 2;
            true
        },
        &["L2"],
    ),
    (
        "M15 bytes for columns",
        |_, s| {
            s.leaves[0].unit *= 4;
            true
        },
        &["L1", "L3"],
    ),
    (
        "M16 half the rows",
        |_, s| {
            if s.space != Storage::Tmem || s.rows != 128 {
                return false;
            }
            s.rows = 64;
            true
        },
        &["L1", "L3"],
    ),
];

/// Moves the groups to another distance.
fn restride(s: &mut StorageLayout, stride: u64) -> bool {
    if s.bare || stride == 0 {
        return false;
    }
    for l in &mut s.leaves {
        if l.map.strides[0] == s.stride {
            l.map.strides[0] = stride;
        }
    }
    s.stride = stride;
    s.size = s.groups * stride;
    true
}

/// Rebuilds a tree with node `at` changed.
fn rebuild(
    g: &ReuseGroup,
    at: &mut usize,
    change: &dyn Fn(GroupKind, u64) -> (GroupKind, u64),
) -> ReuseGroup {
    let here = *at == 0;
    *at = at.wrapping_sub(1);
    let elements: Vec<GroupElement> = g
        .elements()
        .iter()
        .map(|e| match e {
            GroupElement::Leaf(l) => GroupElement::Leaf(*l),
            GroupElement::Group(g) => rebuild(g, at, change).into(),
        })
        .collect();
    let (kind, size) = if here { change(g.kind(), g.size()) } else { (g.kind(), g.size()) };
    ReuseGroup::new(kind, elements).unwrap().group_size(size as i64).unwrap()
}

/// Whether all ranges are aligned, inside, and meet only where the tree lets them; by comparing all pairs.
fn brute_force_legal(m: &AliasModule, s: &StorageLayout) -> bool {
    let tree = &m.overlaps().iter().find(|o| o.spec == s.spec).expect("a tree").tree;
    let mut all = Vec::new();
    for l in &s.leaves {
        let foot = warploom_alias::footprint(m.leaf(l.leaf)).unwrap();
        if (l.unit, l.rows, l.count) != (foot.unit, foot.rows, m.leaf(l.leaf).count()) {
            return false;
        }
        for i in 0..l.count {
            let at = l.map.position(i).unwrap();
            if at % foot.align != 0 || at + foot.unit > s.size {
                return false;
            }
            all.push((l.leaf, i, at, at + foot.unit));
        }
    }
    let path = |leaf: LeafId| -> Vec<(*const ReuseGroup, GroupKind, u64)> {
        fn find(g: &ReuseGroup, leaf: LeafId, out: &mut Vec<(*const ReuseGroup, GroupKind, u64)>) -> bool {
            out.push((std::ptr::from_ref(g), g.kind(), g.size()));
            for e in g.elements() {
                let found = match e {
                    GroupElement::Leaf(l) => *l == leaf,
                    GroupElement::Group(g) => find(g, leaf, out),
                };
                if found {
                    return true;
                }
            }
            out.pop();
            false
        }
        let mut out = Vec::new();
        find(tree, leaf, &mut out);
        out
    };
    for (n, a) in all.iter().enumerate() {
        for b in &all[..n] {
            if a.2 >= b.3 || b.2 >= a.3 {
                continue;
            }
            let (x, y) = (path(a.0), path(b.0));
            let common = x.iter().zip(&y).take_while(|(p, q)| p.0 == q.0).count();
            let cell = |p: &[(_, _, u64)], i: u64| i / p[common..].iter().map(|n| n.2).product::<u64>();
            if a.0 == b.0 || x[common - 1].1 == GroupKind::Distinct || cell(&x, a.1) != cell(&y, b.1) {
                return false;
            }
        }
    }
    true
}

/// Counts per mutation: how many mutants were made, and that all illegal ones are caught.
#[test]
fn every_mutant_is_caught() {
    let mut made = vec![0usize; MUTATIONS.len()];
    let limits = CheckOptions::of(&options());
    for seed in 0..400 {
        let m = module(&stream(seed, 120), Ranges::SMALL);
        let Ok(good) = m.layout(&options()) else { continue };
        for (n, (name, mutate, laws)) in MUTATIONS.iter().enumerate() {
            for at in 0..good.storages.len() {
                let mut bad = good.clone();
                if bad.storages[at].bare
                    || m.spec(bad.storages[at].spec).counts() != warploom_alias::Counts::Prefix
                {
                    continue;
                }
                if !mutate(&m, &mut bad.storages[at]) || bad == good {
                    continue;
                }
                match check(&m, &bad, &limits) {
                    Ok(()) => {
                        assert!(brute_force_legal(&m, &bad.storages[at]), "{name} of seed {seed} is missed")
                    }
                    Err(found) => {
                        made[n] += 1;
                        let owned = found.iter().any(|f| laws.contains(&f.law));
                        assert!(owned, "{name} of seed {seed}: only {found:?}");
                    }
                }
            }
        }
    }
    for (count, (name, ..)) in made.iter().zip(MUTATIONS) {
        assert!(*count >= 10, "{name} was made only {count} times");
    }
}

/// M11 to M13: layouts of a tree that is not the author's.
#[test]
fn layouts_of_another_tree_are_caught() {
    type Change = (&'static str, fn(GroupKind, u64) -> (GroupKind, u64), &'static [&'static str]);
    let changes: [Change; 3] = [
        ("M11", |k, s| (k, if k == GroupKind::Distinct { 1 } else { s }), &["L4", "L5", "L7", "L9"]),
        ("M12", |_, s| (GroupKind::Shared, s), &["L5", "L9"]),
        ("M13", |_, s| (GroupKind::Distinct, s), &["L8", "L9"]),
    ];
    let limits = CheckOptions::of(&options());
    let mut made = [0; 3];
    for seed in 0..400 {
        let m = module(&stream(seed, 120), Ranges::SMALL);
        let Ok(good) = m.layout(&options()) else { continue };
        for (n, (name, change, laws)) in changes.iter().enumerate() {
            for node in 0..4 {
                let other = retree(&m, node, change);
                let Ok(mut bad) = other.layout(&options()) else { continue };
                for (bad, good) in bad.storages.iter_mut().zip(&good.storages) {
                    bad.trees.clone_from(&good.trees);
                }
                if bad.storages == good.storages {
                    continue;
                }
                match check(&m, &bad, &limits) {
                    Ok(()) => {
                        let trees = bad.storages.iter().filter(|s| !s.bare);
                        assert!(trees.into_iter().all(|s| brute_force_legal(&m, s)), "{name} of seed {seed}");
                    }
                    Err(found) => {
                        made[n] += 1;
                        let owned = found.iter().any(|f| laws.contains(&f.law) || f.law == "L7");
                        assert!(owned, "{name} of seed {seed}: only {found:?}");
                    }
                }
            }
        }
    }
    assert!(made.iter().all(|n| *n >= 10), "{made:?}");
}

/// The same leaves under trees with node `node` changed.
fn retree(m: &AliasModule, node: usize, change: &dyn Fn(GroupKind, u64) -> (GroupKind, u64)) -> AliasModule {
    let mut out = AliasModule::new();
    for (id, s) in m.specs() {
        let new = out.storage_alias_spec(s.storage(), None).unwrap();
        assert_eq!(new, id);
        out.set_counts(new, s.counts());
        out.name_spec(new, s.name().unwrap_or("s"), None);
    }
    for (_, l) in m.leaves() {
        let mut alloc = Alloc::new(l.name(), l.count(), l.tile(), l.elem()).encoding(l.encoding().clone());
        if let Some(align) = l.align() {
            alloc = alloc.align(align);
        }
        out.local_alloc(alloc.reuse(l.spec().unwrap())).unwrap();
    }
    for o in m.overlaps() {
        let mut at = node;
        out.set_buffer_overlap(o.spec, rebuild(&o.tree, &mut at, change)).unwrap();
    }
    out
}

#[test]
fn m17_slots_less_one() {
    let (m, _) = tables::attention(4, 128);
    let mut layout = laid_out(&m, &AliasOptions::tlx());
    layout.storages[0].leaves[1].slots.as_mut().unwrap().slots -= 1;
    let found = check(&m, &layout, &CheckOptions::default().compat(true)).unwrap_err();
    assert_eq!(found.iter().map(|f| f.law).collect::<Vec<_>>(), ["L12"]);
}

#[test]
fn m20_an_anchor_moved_in_one_phase() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[1, 64], Elem::F32);
    let x = leaf(&mut m, s, "x", &[1, 32], Elem::F32);
    m.set_buffer_overlap_in(s, "one", ReuseGroup::distinct([x, a]).unwrap()).unwrap();
    m.set_buffer_overlap_in(s, "two", ReuseGroup::distinct([x]).unwrap()).unwrap();
    let mut layout = laid_out(&m, &AliasOptions::default());
    layout.storages[0].phases[1].cells[0].base += 128;
    let found = check(&m, &layout, &CheckOptions::default()).unwrap_err();
    assert!(found.iter().any(|f| f.law == "L11"), "{found:?}");
}
