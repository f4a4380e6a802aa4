//! Sizes of storages and of kernels (L9, L10).

use super::derive;
use super::finding::AliasFindings;
use super::view::{CheckOptions, View, columns};
use crate::layout::{AliasLayout, AliasLimits, StorageLayout};
use crate::model::AliasModule;
use crate::types::Storage;

/// L9 of a storage: `G * B`, the explicit size, or what its bare leaves need.
pub(super) fn storage(
    m: &AliasModule,
    s: &StorageLayout,
    views: &[View<'_>],
    options: &CheckOptions,
    findings: &mut AliasFindings,
) {
    let spec = m.spec(s.spec);
    if s.space != spec.storage() {
        findings.add("L1", format!("storage {} is not in the memory of its spec", s.name));
    }
    let phases = s.phases.iter().map(|p| p.groups.saturating_mul(p.stride)).max();
    let tree = if s.bare { 0 } else { phases.unwrap_or(s.groups.saturating_mul(s.stride)) };
    let rows: u64 = match (options.compat, views.iter().map(|v| v.need.rows).max()) {
        (false, Some(rows)) => u64::from(rows),
        _ => u64::from(s.rows),
    };
    let tlx = options.compat && columns(s);
    let reach = views.iter().flat_map(|v| v.at.iter().map(|(_, at)| at.saturating_add(v.need.unit))).max();
    let need = match (s.bare, options.compat) {
        (true, _) if tlx => tlx_columns(views),
        (true, _) => reach.unwrap_or(0),
        (false, true) if tlx => tree.max(tlx_columns(views)),
        (false, true) => tree.max(reach.unwrap_or(0)),
        (false, false) => tree,
    };
    let expected = match spec.size_bytes() {
        Some(bytes) if columns(s) => bytes / (4 * rows.max(1)),
        Some(bytes) => bytes,
        None => need,
    };
    if s.size != expected || need > s.size {
        findings.add("L9", format!("storage {} has {} units, not {expected} (needs {need})", s.name, s.size));
    }
    if columns(s) && u64::from(s.rows) != rows {
        findings.add("L3", format!("storage {} has {} rows, not {rows}", s.name, s.rows));
    }
}

/// The largest width in TLX's count: leading dimensions folded into columns of 32 bits (A37).
fn tlx_columns(views: &[View<'_>]) -> u64 {
    let widths = views.iter().filter_map(|v| match v.leaf.tile() {
        [folded @ .., _, n] => {
            let all = folded.iter().fold(v.leaf.count().saturating_mul(*n), |p, d| p.saturating_mul(*d));
            u64::try_from((u128::from(all) * u128::from(v.leaf.elem().bits())).div_ceil(32)).ok()
        }
        _ => None,
    });
    widths.max().unwrap_or(0)
}

/// L10: the sums fit the chip, and one allocation of tensor memory can hold them.
pub(super) fn capacity(
    m: &AliasModule,
    layout: &AliasLayout,
    limits: &AliasLimits,
    findings: &mut AliasFindings,
) {
    let total = |space: Storage| -> u128 {
        let storages = layout.storages.iter().filter(|s| s.space == space).map(|s| u128::from(s.size));
        let plain = m.leaves().filter(|(_, l)| l.spec().is_none() && l.storage() == space).map(|(_, l)| {
            derive::need(l).map_or(u128::MAX >> 8, |n| u128::from(n.unit) * u128::from(l.count()))
        });
        storages.chain(plain).sum()
    };
    let tensor = total(Storage::Tmem);
    if tensor > u128::from(limits.tmem_columns) {
        findings.add("L10", format!("{tensor} columns of tensor memory of {}", limits.tmem_columns));
    }
    if let Some(bytes) = limits.smem_bytes {
        let shared = total(Storage::Smem) + u128::from(limits.barrier_bytes);
        if shared > u128::from(bytes) {
            findings.add("L10", format!("{shared} bytes of shared memory of {bytes}"));
        }
    }
}
