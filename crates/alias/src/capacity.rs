//! Whether the storages of a kernel fit the chip (A51).

use crate::error::AliasError;
use crate::footprint::{footprint, up};
use crate::layout::{AliasLayout, AliasLimits};
use crate::model::AliasModule;
use crate::types::Storage;

/// One thing that takes room: its name, size and alignment.
struct Taker {
    name: String,
    size: u64,
    align: u64,
}

/// Everything of one space: storages, then plain allocations.
fn takers(m: &AliasModule, layout: &AliasLayout, space: Storage) -> Result<Vec<Taker>, AliasError> {
    let mut out = Vec::new();
    for s in layout.storages.iter().filter(|s| s.space == space) {
        out.push(Taker { name: s.name.clone(), size: s.size, align: s.align });
    }
    for (_, leaf) in m.leaves().filter(|(_, l)| l.spec().is_none() && l.storage() == space) {
        let foot = footprint(leaf)?;
        let size = foot.unit.checked_mul(leaf.count()).ok_or_else(|| AliasError::overflow(leaf.name()))?;
        out.push(Taker { name: leaf.name().to_owned(), size, align: foot.align });
    }
    Ok(out)
}

fn list(takers: &[Taker]) -> String {
    let mut parts: Vec<String> = takers.iter().take(8).map(|t| format!("%{} {}", t.name, t.size)).collect();
    if takers.len() > 8 {
        parts.push(format!("and {} more", takers.len() - 8));
    }
    parts.join(", ")
}

/// The number of columns that one `tcgen05.alloc` takes for this many: a power of two, at least 32.
pub fn allocated_columns(columns: u64) -> u64 {
    columns.checked_next_power_of_two().unwrap_or(u64::MAX).max(32)
}

/// A51 for tensor memory and, when it is limited, shared memory.
pub(crate) fn capacity(m: &AliasModule, layout: &AliasLayout, limits: &AliasLimits) -> Vec<AliasError> {
    let mut errors = Vec::new();
    match takers(m, layout, Storage::Tmem) {
        Ok(list) => errors.extend(tensor(m, layout, &list, limits)),
        Err(e) => errors.push(e),
    }
    if let Some(bytes) = limits.smem_bytes {
        match takers(m, layout, Storage::Smem) {
            Ok(list) => errors.extend(shared(layout, &list, bytes, limits.barrier_bytes)),
            Err(e) => errors.push(e),
        }
    }
    errors
}

fn tensor(
    m: &AliasModule,
    layout: &AliasLayout,
    takers: &[Taker],
    limits: &AliasLimits,
) -> Option<AliasError> {
    let sum = takers.iter().fold(0u64, |s, t| s.saturating_add(t.size));
    if sum <= limits.tmem_columns {
        return None;
    }
    let message = format!("tensor memory needs {sum} columns of {}: {}", limits.tmem_columns, list(takers));
    let missing = sum - limits.tmem_columns;
    let help = crate::underuse::saving(m, layout, missing)
        .unwrap_or_else(|| format!("{missing} columns are missing; share storage, or use smaller tiles"));
    let map = crate::render::render_space(layout, Storage::Tmem);
    Some(AliasError::new("A51", message).related(format!("the layout is\n{map}"), None).help(help))
}

fn shared(layout: &AliasLayout, takers: &[Taker], limit: u64, barriers: u64) -> Option<AliasError> {
    let sum = takers.iter().fold(barriers, |s, t| s.saturating_add(t.size));
    let map = crate::render::render_space(layout, Storage::Smem);
    if sum > limit {
        let message = format!("shared memory needs {sum} bytes of {limit}: {}", list(takers));
        return Some(
            AliasError::new("A51", message)
                .related(format!("the layout is\n{map}"), None)
                .help(format!("{} bytes are missing in any order", sum - limit)),
        );
    }
    // Largest alignment first leaves no gaps between powers of two unless sizes do.
    let mut order: Vec<&Taker> = takers.iter().collect();
    order.sort_by(|a, b| b.align.cmp(&a.align).then(b.size.cmp(&a.size)));
    let end = order.iter().try_fold(0u64, |at, t| up(at, t.align)?.checked_add(t.size));
    let end = end.and_then(|end| end.checked_add(barriers));
    if end.is_some_and(|end| end <= limit) {
        return None;
    }
    let message = format!("no place was found for {sum} bytes in {limit} of shared memory: {}", list(takers));
    Some(
        AliasError::new("A51", message)
            .related(format!("the layout is\n{map}"), None)
            .help("the sum fits, alignment gaps do not; reorder or lower warploom.align"),
    )
}
