//! Tests of the typed API; those of texts are in files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod api;
mod defects;
mod laws;
mod lowered;
mod mutations;
mod schedule;
mod tables;

use warploom_alias::{
    AliasLayout, AliasModule, AliasOptions, Alloc, CheckOptions, Elem, LeafId, SpecId, Storage, check,
};

/// Lays out and checks.
fn laid_out(m: &AliasModule, options: &AliasOptions) -> AliasLayout {
    let layout = m.layout(options).expect("the module is laid out");
    let findings = check(m, &layout, &CheckOptions::of(options));
    assert_eq!(findings, Ok(()));
    layout
}

fn spec(m: &mut AliasModule, storage: Storage) -> SpecId {
    m.storage_alias_spec(storage, None).expect("a plain spec")
}

fn leaf(m: &mut AliasModule, s: SpecId, name: &str, shape: &[u64], elem: Elem) -> LeafId {
    let (count, tile) = shape.split_first().expect("a shape");
    m.local_alloc(Alloc::new(name, *count, tile, elem).reuse(s)).expect("a plain leaf")
}

fn positions(layout: &AliasLayout, leaf: LeafId) -> Vec<u64> {
    layout.leaf(leaf).expect("the leaf is laid out").1.positions().collect()
}

/// Base and group stride.
fn place(layout: &AliasLayout, leaf: LeafId) -> (u64, u64) {
    let map = &layout.leaf(leaf).expect("the leaf is laid out").1.map;
    (map.base, map.strides[0])
}

fn slots(layout: &AliasLayout, leaf: LeafId) -> u64 {
    layout.leaf(leaf).expect("the leaf").1.slots.as_ref().expect("its slots").slots
}

/// The first error of a refused layout.
fn refusal(m: &AliasModule, options: &AliasOptions) -> warploom_alias::AliasError {
    m.layout(options).expect_err("must be refused").0.swap_remove(0)
}
