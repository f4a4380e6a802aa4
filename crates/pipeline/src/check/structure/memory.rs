//! Where slots and barriers lie, in shared and in tensor memory (C15, C20, C27, T8, T14).

use std::collections::BTreeSet;

use warploom_chips::Target;
use warploom_ir::Type;

use crate::check::model::{MAP_BYTES, Model};
use crate::check::report::{Report, Rule};
use crate::check::rings::Ring;

/// Slots and barriers lie inside shared memory and are aligned (C15, C20, T8).
pub(super) fn memory(model: &Model<'_>, target: &Target, report: &mut Report) {
    if model.shared > target.smem.per_cta {
        let text = format!("{} B of the {} B a CTA can have", model.shared, target.smem.per_cta);
        report.add(Rule::Shared, "warploom.shared", text);
    }
    for partition in &model.partitions {
        let Some((start, bytes)) = partition.scratch else { continue };
        if start.saturating_add(bytes) > model.shared || start % 16 != 0 {
            let text = format!("scratch of {bytes} B at {start}, shared memory ends at {}", model.shared);
            report.add(Rule::Shared, format!("@{}", partition.name), text);
        }
    }
    for ring in &model.rings {
        let at = format!("@{}", ring.name);
        for (index, payload) in ring.payloads.iter().enumerate().filter(|_| !ring.tensor) {
            let at = format!("{at} payload {index}");
            let (_, end) = payload.span(ring.depth - 1);
            if end > model.shared {
                report.add(Rule::Shared, &at, format!("ends at {end}, shared memory at {}", model.shared));
            }
            if ring.depth > 1 && payload.stride < payload.bytes {
                report.add(
                    Rule::Overlap,
                    &at,
                    format!("slots of {} B, {} B apart", payload.bytes, payload.stride),
                );
            }
            let align = match payload.swizzle {
                128 => 1024,
                64 => 512,
                32 => 256,
                0 => 128,
                other => {
                    report.add(Rule::Alignment, &at, format!("there is no swizzle of {other} B"));
                    continue;
                }
            };
            if payload.offset % align != 0 || (ring.depth > 1 && payload.stride % align != 0) {
                let text =
                    format!("slots at {} + k*{} need multiples of {align}", payload.offset, payload.stride);
                report.add(Rule::Alignment, &at, text);
            }
        }
        for (name, first) in [("full", ring.full), ("empty", ring.empty)] {
            let Some(first) = first else { continue };
            let end = first.saturating_add(8 * ring.depth);
            if end > model.shared {
                report.add(
                    Rule::Shared,
                    &at,
                    format!("{name} barriers end at {end}, shared memory at {}", model.shared),
                );
            }
            if first % 8 != 0 {
                report.add(Rule::Alignment, &at, format!("{name} barriers at {first}, no multiple of 8"));
            }
        }
    }
}

/// Slots in tensor memory lie inside its allocation, which is a power of two, and its address in shared memory
/// (C20, C27, T14).
pub(super) fn columns(model: &Model<'_>, target: &Target, report: &mut Report) {
    let tensor = model.rings.iter().filter(|r| r.tensor);
    let Some((allocated, slot)) = model.tmem else {
        tensor.for_each(|ring| report.add(Rule::Columns, format!("@{}", ring.name), "nothing is allocated"));
        return;
    };
    let limits = target.tmem.as_ref().map(|t| (u64::from(t.min_alloc), u64::from(t.columns)));
    let legal = limits.is_some_and(|(least, most)| (least..=most).contains(&allocated));
    if !legal || !allocated.is_power_of_two() {
        report.add(Rule::Columns, "warploom.tmem", format!("an allocation of {allocated} columns"));
    }
    if slot % 4 != 0 || slot.saturating_add(4) > model.shared {
        report.add(Rule::Shared, "warploom.tmem_slot", format!("{slot} of {} B", model.shared));
    }
    for ring in tensor {
        for (index, payload) in ring.payloads.iter().enumerate() {
            let (_, end) = payload.span(ring.depth - 1);
            let at = format!("@{} payload {index}", ring.name);
            if end > allocated {
                report.add(Rule::Columns, &at, format!("ends at column {end} of {allocated}"));
            }
            if ring.depth > 1 && payload.stride < payload.bytes {
                let text = format!("slots of {} columns, {} apart", payload.bytes, payload.stride);
                report.add(Rule::Columns, &at, text);
            }
        }
    }
}

/// A range of shared memory: what it is, whether it holds barriers, whether named barriers alone order it.
pub(super) struct Range {
    pub(super) what: String,
    pub(super) ring: usize,
    pub(super) barrier: bool,
    pub(super) staging: bool,
    pub(super) operands: bool,
    /// The slot of products that come one after the other.
    pub(super) products: Option<u64>,
    pub(super) tensor: bool,
    /// Blocks of 128 rows, side by side.
    pub(super) blocks: u64,
    pub(super) span: (u64, u64),
}

impl Range {
    /// The columns of a block.
    fn block(&self, block: u64) -> (u64, u64) {
        let (start, end) = self.span;
        let wide = end.saturating_sub(start) / self.blocks.max(1);
        let from = start.saturating_add(wide.saturating_mul(block));
        (from, from.saturating_add(wide))
    }

    /// Whether rows of different blocks, and so of different warps, have a lane and a column in common.
    fn crosses(&self, other: &Range) -> bool {
        let meet = |a: (u64, u64), b: (u64, u64)| a.0 < b.1 && b.0 < a.1;
        let pairs = (0..self.blocks).flat_map(|i| (0..other.blocks).map(move |k| (i, k)));
        pairs.into_iter().any(|(i, k)| i != k && meet(self.block(i), other.block(k)))
    }
}

/// Blocks of so many rows that a tile takes in tensor memory.
pub(super) fn blocks(tile: &Type, block: u64) -> u64 {
    let shape = tile.shape();
    let rows = shape.len().checked_sub(2).and_then(|at| shape.get(at));
    rows.map_or(1, |rows| rows.div_ceil(block).max(1))
}

/// No two ranges share bytes, but for a staging buffer over tiles (the run decides whether they are ordered).
pub(super) fn overlaps(model: &Model<'_>, report: &mut Report) {
    let mut ranges = Vec::new();
    for (index, ring) in model.rings.iter().enumerate() {
        let staging = ring.is_grouped() || ring.handshake == "none";
        let operands = ring.is_tmem_operands();
        for (number, payload) in ring.payloads.iter().enumerate() {
            for slot in 0..ring.depth {
                let what = format!("@{} payload {number} slot {slot}", ring.name);
                let (span, tensor) = (payload.span(slot), ring.tensor);
                // Tables of scales have no blocks, and columns of their own.
                let table = payload.tile.elem_bits() == Some(8) && ring.is_accumulators();
                let blocks = if ring.tensor && !table { blocks(&payload.tile, ring.rows) } else { 1 };
                ranges.push(Range {
                    what,
                    ring: index,
                    barrier: false,
                    staging,
                    operands,
                    products: (ring.is_accumulators() && !table).then_some(slot),
                    tensor,
                    blocks,
                    span,
                });
            }
        }
        for (name, first) in [("full", ring.full), ("empty", ring.empty)] {
            for slot in 0..first.map_or(0, |_| ring.depth) {
                let start = first.unwrap_or(0).saturating_add(8 * slot);
                let what = format!("@{} {name} barrier {slot}", ring.name);
                let span = (start, start.saturating_add(8));
                ranges.push(Range {
                    what,
                    ring: index,
                    barrier: true,
                    staging: false,
                    operands: false,
                    products: None,
                    tensor: false,
                    blocks: 1,
                    span,
                });
            }
        }
    }
    // Bytes of no ring: nobody else may have them.
    let own = |what: String, start: u64, bytes: u64| Range {
        what,
        ring: usize::MAX,
        barrier: true,
        staging: false,
        operands: false,
        products: None,
        tensor: false,
        blocks: 1,
        span: (start, start.saturating_add(bytes)),
    };
    for partition in &model.partitions {
        let Some((start, bytes)) = partition.scratch else { continue };
        ranges.push(own(format!("the scratch of @{}", partition.name), start, bytes));
    }
    if let Some((_, slot)) = model.tmem {
        ranges.push(own("the address of tensor memory".to_owned(), slot, 4));
    }
    // One warp makes its maps one after the other.
    let made: BTreeSet<_> = model.maps().into_iter().map(|(by, op)| (by, model.staging(op))).collect();
    for (_, staging) in made {
        ranges.push(own("a tensor map being made".to_owned(), staging.unwrap_or(0), MAP_BYTES));
    }
    // Columns and bytes are apart.
    ranges.sort_by_key(|r| (r.tensor, r.span));
    for (at, a) in ranges.iter().enumerate() {
        let near = |b: &&Range| b.tensor == a.tensor && b.span.0 < a.span.1;
        for b in ranges.iter().skip(at + 1).take_while(near) {
            // Staging over tiles, and operands over the products that they are made from: the run decides.
            let aside = a.staging || b.staging || a.operands != b.operands;
            let other = a.ring != b.ring && aside && !(a.tensor && a.crosses(b));
            // Products of one ring come one after the other: the run decides, too.
            let turns = a.ring == b.ring && a.products.is_some() && a.products == b.products;
            let ordered = (other || turns) && !a.barrier && !b.barrier;
            if !ordered && a.span.0 < b.span.1 {
                let (unit, rule) =
                    if a.tensor { ("columns", Rule::Columns) } else { ("bytes", Rule::Overlap) };
                let text =
                    format!("{unit} {}..{} also belong to {}", b.span.0, a.span.1.min(b.span.1), b.what);
                report.add(rule, &a.what, text);
            }
        }
    }
}

/// Whether slots of two rings share columns.
pub(super) fn columns_meet(a: &Ring, b: &Ring) -> bool {
    let spans = |r: &Ring| -> Vec<(u64, u64)> {
        r.payloads.iter().flat_map(|p| (0..r.depth).map(move |slot| p.span(slot))).collect()
    };
    let others = spans(b);
    spans(a).iter().any(|x| others.iter().any(|y| x.0 < y.1 && y.0 < x.1))
}
