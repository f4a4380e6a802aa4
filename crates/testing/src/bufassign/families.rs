//! What generated problems are about (B76, B78).

use super::choices::Choices;

/// A family of generated problems. Each reaches for certain what the mixed one reaches now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Family {
    /// Some of everything.
    Mixed,
    /// One partition with many short values of one shape, which share.
    OnePartition,
    /// Two or three partitions, which run apart.
    Partitions,
    /// Copies in the last stage, uses turns later in early stages, values that leave the loop.
    Tails,
    /// Uses two to five turns later, so that several initial versions are there at the loop's entry.
    Distant,
    /// Accumulators in tensor memory, updated in place.
    Accumulators,
    /// Values of one root, which must share a ring.
    Roots,
    /// A machine given as data, with two spaces and semaphores (B82).
    Machine,
    /// Loops in loops (B79).
    Nests,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 9] = [
        Family::Mixed,
        Family::OnePartition,
        Family::Partitions,
        Family::Tails,
        Family::Distant,
        Family::Accumulators,
        Family::Roots,
        Family::Machine,
        Family::Nests,
    ];
}

/// What is drawn of a family once for a problem.
pub(super) struct Leaning {
    pub blackwell: bool,
    pub partitions: u64,
    /// Many versions of the last turns that nobody reads: copies in late stages, uses turns later in early ones, values
    /// that leave the loop.
    pub tails: bool,
    /// Turns that uses come later at least, where they may.
    pub distance: u64,
    /// Every so manieth value of tensor memory is updated in place.
    pub accumulators: u64,
    /// Every so manieth value has the root of the one before.
    pub roots: u64,
}

impl Leaning {
    pub fn of(family: Family, c: &mut Choices<'_>) -> Leaning {
        let blackwell = c.one_in(2) && family != Family::Machine || family == Family::Accumulators;
        let partitions = 1 + c.below(3);
        Leaning {
            blackwell,
            partitions: match family {
                Family::OnePartition => 1,
                Family::Partitions => partitions.max(2),
                _ => partitions,
            },
            tails: matches!(family, Family::Tails | Family::Distant) || c.one_in(3),
            distance: if family == Family::Distant { 1 } else { 0 },
            accumulators: if family == Family::Accumulators { 1 } else { 2 },
            roots: if family == Family::Roots { 3 } else { 60 },
        }
    }
}
