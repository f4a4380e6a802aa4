//! How deep the rings are, in words (S51-S57, B65-B67).

use std::fmt::Write;

use crate::buffers::depth::DepthBound;
use crate::compiled::Compiled;

/// Slots of each ring, and what decided about them.
pub(super) fn depths(out: &mut String, compiled: &Compiled) {
    let written_once = |ring: usize| {
        let ring = compiled.selection().and_then(|s| s.rings.get(ring));
        ring.is_some_and(|ring| !ring.looped)
    };
    let looped = compiled.depths.iter().enumerate().filter(|(ring, _)| !written_once(*ring));
    let several = looped.clone().count() > 1;
    for (index, depth) in looped {
        let which = if several { format!("@p{index}: ") } else { String::new() };
        let _ = write!(out, "{which}ring depth {}: ", depth.slots);
        let _ = match depth.bound {
            DepthBound::Law if depth.slack > 0 => {
                writeln!(out, "the depth law asks for {}, {} added", depth.law, depth.slack)
            }
            DepthBound::Law => writeln!(out, "what the depth law asks for"),
            DepthBound::Capacity => writeln!(
                out,
                "the most that fits; the depth law asks for {} at II {}",
                depth.law, depth.unlimited_ii
            ),
            DepthBound::NumStages => writeln!(out, "tt.num_stages; the depth law asks for {}", depth.law),
            DepthBound::Author => {
                writeln!(out, "the buffers of the author's leaf; the depth law asks for {}", depth.law)
            }
            DepthBound::Asked => writeln!(out, "as asked; the depth law asks for {}", depth.law),
        };
    }
    for round in compiled.depths.first().map(|d| d.rounds.as_slice()).unwrap_or_default() {
        let _ = match round.need {
            Some(need) => writeln!(out, "  {} slots at II {}: {need} B, does not fit", round.depth, round.ii),
            None => writeln!(out, "  {} slots at II {}: fits", round.depth, round.ii),
        };
    }
}
