//! The pipelines of a program in words (C22, C24).

use std::fmt::Write;

use crate::layout::{ProgramLayout, Ring, RingUse};

/// One line for each pipeline and named barrier.
pub(super) fn pipelines(out: &mut String, layout: &ProgramLayout) {
    if layout.rings.is_empty() {
        return;
    }
    let _ = writeln!(out, "\npipelines");
    for ring in &layout.rings {
        let tiles: Vec<String> = ring
            .payloads
            .iter()
            .map(|p| format!("{} {} ({} B swizzle)", p.name, p.tile, p.swizzle))
            .collect();
        let _ =
            writeln!(out, "  @{}: {} x {}; {}", ring.name, ring.depth, tiles.join(" + "), handshake(ring));
    }
    for barrier in &layout.barriers {
        let _ = writeln!(
            out,
            "  named barrier @{}: id {}, {} threads",
            barrier.name, barrier.id, barrier.threads
        );
    }
}

/// The row of C24 that a pipeline uses, with its counts.
fn handshake(ring: &Ring) -> String {
    match ring.usage {
        RingUse::Ring(_) | RingUse::Late(_) if ring.handshake == "cp_async" => {
            "cp.async in groups, one for each iteration, then a barrier (C24)".to_owned()
        }
        RingUse::Ring(_) if ring.handshake == "cp_async_to_mma" => {
            "cp.async to tcgen05.mma: groups, then a barrier; empty 1 arrival, by the commit of the products that read it"
                .to_owned()
        }
        RingUse::Ring(_) if ring.empty.is_some() => {
            let (engines, full, bytes, empty) =
                (engines(ring), ring.arrive_full, ring.bytes, ring.arrive_empty);
            let empty = match ring.handshake {
                "tma_to_mma" => format!("{empty} arrival, by the commit of the products that read it"),
                _ => format!("{empty} arrivals, one per computing warp"),
            };
            format!("{engines}: full {full} arrival and {bytes} B, empty {empty}")
        }
        RingUse::Ring(_) => {
            format!("{}: full {} arrival and {} B, written once", engines(ring), ring.arrive_full, ring.bytes)
        }
        RingUse::Late(_) => "in turns with the tiles of the ring in front of it, on barriers of its own".to_owned(),
        RingUse::InPlace(_) => "copied to shared memory where it is read (C24)".to_owned(),
        RingUse::Stored(_) => "stored to shared memory in front of the product that reads it (C67)".to_owned(),
        RingUse::Once(_) => format!("{}: full 1 arrival and {} B, written once", engines(ring), ring.bytes),
        RingUse::Staging(_) => "staging, between named barriers".to_owned(),
        RingUse::Operand(_) => format!(
            "written into tensor memory for products: full {} arrivals, empty by a commit",
            ring.arrive_full
        ),
        RingUse::Accumulator(_) => match ring.empty {
            Some(_) => {
                format!("products to tensor memory: full by a commit, empty {} arrivals", ring.arrive_empty)
            }
            None if ring.under.is_some() => {
                "products to tensor memory: full by a commit, given back with the operand over it".to_owned()
            }
            None => "products to tensor memory: full by a commit; written once, or all meet before it is written again".to_owned(),
        },
    }
}

/// The row of C24.
fn engines(ring: &Ring) -> &'static str {
    match ring.handshake {
        "tma_to_wgmma" => "TMA to wgmma",
        "tma_to_mma" => "TMA to tcgen05.mma",
        _ => "TMA to generic reads",
    }
}
