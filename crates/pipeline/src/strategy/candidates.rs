//! The ways to split a kernel's loops among partitions: what each costs, and what became of it (S66, S69).

use std::fmt::Write;

use super::price::SplitPrice;
use super::split::PartitionSplit;
use super::tile_cost::TileCost;

/// What became of a split.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SplitVerdict {
    /// The kernel is compiled so.
    Taken,
    /// It costs more.
    Dearer,
    /// There is no code for it, and why.
    Refused(String),
}

/// A split that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SplitCandidate {
    /// The split.
    pub split: PartitionSplit,
    /// Its cost, found when asked for.
    pub price: SplitPrice,
    /// What a tile costs, where a loop over tiles stands around the products.
    pub tile: Option<TileCost>,
    /// What became of it.
    pub verdict: SplitVerdict,
}

/// What was chosen from, as text; nothing where there was no choice.
pub(crate) fn explain(candidates: &[SplitCandidate]) -> String {
    let mut out = String::new();
    if candidates.len() < 2 {
        return out;
    }
    out += "\nchosen by what the loops take together with their partitions' issue streams: II, synchronisation, bytes, length (S65, S69)\n";
    for candidate in candidates {
        let verdict = match &candidate.verdict {
            SplitVerdict::Taken => "taken",
            SplitVerdict::Dearer => "dearer",
            SplitVerdict::Refused(_) => "no code",
        };
        let _ = write!(out, "  {verdict:<7}  {:<30}", candidate.split.name());
        let _ = match candidate.price.cost() {
            Some(c) => {
                write!(
                    out,
                    "  II {}, {} of synchronisation, {} B, length {}",
                    c.ii, c.synchronisation, c.bytes, c.length
                )
            }
            None => write!(out, "  no loop that is priced"),
        };
        if let Some(tile) = candidate.tile {
            let _ = write!(out, ", {} (Q50)", tile.text());
        }
        let _ = match &candidate.verdict {
            SplitVerdict::Refused(why) => writeln!(out, ": {why}"),
            _ => writeln!(out),
        };
    }
    out
}
