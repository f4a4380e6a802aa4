//! Whether computing partitions take turns by tiles (Q50): what a tile costs where one partition multiplies and stores, and
//! where the products of a tile run beside the stores of another.

use warploom_ir::diag::Diagnostic;

use super::candidates::{PartitionSplit, SplitCandidate, SplitVerdict};
use super::plan::{Plan, Work};
use super::price::cost_of;
use super::source::Source;
use super::specialized;
use super::types::Strategy;
use crate::loops::beside;
use crate::select::over_tiles;

/// What a tile of a loop over tiles costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TileCost {
    /// Cycles of a trip of each loop that multiplies, together.
    pub ii: i64,
    /// Cycles of everything else that a computing partition does for the tile.
    pub beside: i64,
    /// Whether two partitions take turns.
    pub turns: bool,
}

impl TileCost {
    /// Cycles of a tile with so many trips of each loop.
    pub fn of(self, trips: i64) -> i64 {
        let products = self.ii.saturating_mul(trips);
        let alone = products.saturating_add(self.beside);
        if self.turns { products.max(alone / 2 + alone % 2) } else { alone }
    }

    /// The cost of n trips, as text.
    pub fn text(self) -> String {
        let TileCost { ii, beside, turns } = self;
        match turns {
            false => format!("a tile of n trips {ii} n + {beside}"),
            true => format!("a tile of n trips max({ii} n, ({ii} n + {beside}) / 2)"),
        }
    }

    /// The cost of a tile by a plan; none where no loop over tiles stands around its products.
    fn by(plan: &Plan, source: &Source<'_>) -> Option<TileCost> {
        let Work::Specialized(selection) = &plan.work else { return None };
        let outer = over_tiles(&plan.kernel, selection).filter(|_| selection.accumulators.is_empty())?;
        let rest = beside(&plan.kernel, outer, &selection.loops, source.target).ok()?;
        Some(TileCost {
            ii: plan.loops.iter().map(|l| l.answer.ii).fold(0, i64::saturating_add),
            beside: i64::try_from(rest).unwrap_or(i64::MAX),
            turns: plan.strategy.turns,
        })
    }
}

/// The plan whose tiles cost less, whatever the trips: the given one, or that whose computing partitions take turns. What
/// is in `out` gave programs that our own checkers refuse.
pub(super) fn weigh(
    source: &Source<'_>,
    out: &[Strategy],
    (plan, mut candidates): (Plan, Vec<SplitCandidate>),
) -> (Plan, Vec<SplitCandidate>) {
    let Some(together) = TileCost::by(&plan, source) else { return (plan, candidates) };
    let native = Some(source.target.mma_instruction());
    let split = |turns: bool| PartitionSplit { one_partition: false, turns, instruction: native };
    let of = |plan: &Plan, tile: TileCost| SplitCandidate {
        split: split(tile.turns),
        cost: cost_of(plan, source.options),
        tile: Some(tile),
        verdict: SplitVerdict::Dearer,
    };
    let rival = match () {
        () if source.places_bound() => Err("the author gave its buffers their places".to_owned()),
        () if out.contains(&Strategy::IN_TURNS) => Err("it gave a broken program".to_owned()),
        () => specialized::plan(source, true).map_err(first),
    };
    let rival = rival.and_then(|rival| match TileCost::by(&rival, source) {
        Some(tile) => Ok((rival, tile)),
        None => Err("a tile has no cost".to_owned()),
    });
    candidates.retain(|c| c.split != split(false));
    let before = of(&plan, together);
    let (taken, mut won, lost) = match rival {
        Ok((rival, tile)) if tile.ii <= together.ii && together.beside > 0 => {
            let won = of(&rival, tile);
            (rival, won, before)
        }
        Ok((rival, tile)) => {
            let lost = of(&rival, tile);
            (plan, before, lost)
        }
        Err(why) => {
            let verdict = SplitVerdict::Refused(why);
            let lost = SplitCandidate { split: split(true), cost: None, tile: None, verdict };
            (plan, before, lost)
        }
    };
    won.verdict = SplitVerdict::Taken;
    candidates.splice(0..0, [won, lost]);
    (taken, candidates)
}

fn first(refused: Vec<Diagnostic>) -> String {
    refused.into_iter().next().map(|d| d.message).unwrap_or_default()
}
