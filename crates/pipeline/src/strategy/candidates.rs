//! The ways to split a kernel's loops among partitions: what each costs, and what became of it (S66, S69).

use std::fmt::Write;

use warploom_chips::mma::MmaInstruction;

use super::price::SplitPrice;
use super::tile_cost::TileCost;

/// A split of a kernel's loops among partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PartitionSplit {
    /// One partition copies, multiplies and computes; otherwise copies have a partition of their own, and so have
    /// products into tensor memory.
    pub one_partition: bool,
    /// Two computing partitions take the trips of a loop over tiles in turn (Q50).
    pub turns: bool,
    /// How it multiplies; none where the kernel does not.
    pub instruction: Option<MmaInstruction>,
}

/// What a split costs: the sums over all loops of what S69 compares, most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct SplitCost {
    /// Cycles between the starts of two trips.
    pub ii: i64,
    /// Cycles of synchronisation between partitions in each trip.
    pub synchronisation: i64,
    /// Bytes of everything that lives from operation to operation.
    pub bytes: u64,
    /// Cycles of a trip alone.
    pub length: i64,
}

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

impl PartitionSplit {
    /// The split as text.
    pub fn name(&self) -> String {
        let by = self.instruction.map_or(String::new(), |mma| format!(" by {}", mma.name()));
        match (self.one_partition, self.instruction) {
            (true, _) => format!("one partition{by}"),
            (false, Some(MmaInstruction::Tcgen05)) => format!("load, mma, math{by}"),
            (false, _) if self.turns => format!("load, math in turns{by}"),
            (false, _) => format!("load, math{by}"),
        }
    }
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
