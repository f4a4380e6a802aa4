//! Whether computing partitions take turns by tiles (Q50): what a tile costs where one partition multiplies and stores, and
//! where the products of a tile run beside the stores of another.

use warploom_ir::diag::Diagnostic;

use super::candidates::{SplitCandidate, SplitVerdict};
use super::plan::{Plan, Work};
use super::price::{SplitPrice, cost_of};
use super::source::Source;
use super::specialized;
use super::split::PartitionSplit;
use super::tile_cost::TileCost;
use super::types::Strategy;
use crate::loops::beside;
use crate::select::over_tiles;

/// The cost of a tile by a plan; none where no loop over tiles stands around its products.
fn cost_by(plan: &Plan, source: &Source<'_>) -> Option<TileCost> {
    let Work::Specialized(selection) = &plan.work else { return None };
    let outer = over_tiles(&plan.kernel, selection).filter(|_| selection.accumulators.is_empty())?;
    let rest = beside(&plan.kernel, outer, &selection.loops, source.target).ok()?;
    Some(TileCost {
        ii: plan.loops.iter().map(|l| l.answer.ii).fold(0, i64::saturating_add),
        beside: i64::try_from(rest).unwrap_or(i64::MAX),
        turns: plan.strategy.turns,
    })
}

/// The plan whose tiles cost less, whatever the trips: the given one, or that whose computing partitions take turns. What
/// is in `out` gave programs that our own checkers refuse.
pub(super) fn weigh(
    source: &Source<'_>,
    out: &[Strategy],
    (plan, mut candidates): (Plan, Vec<SplitCandidate>),
) -> (Plan, Vec<SplitCandidate>) {
    let Some(together) = cost_by(&plan, source) else { return (plan, candidates) };
    let native = Some(source.target.mma_instruction());
    let split = |turns: bool| PartitionSplit { one_partition: false, turns, instruction: native };
    let of = |plan: &Plan, tile: TileCost| SplitCandidate {
        split: split(tile.turns),
        price: cost_of(plan, source.options),
        tile: Some(tile),
        verdict: SplitVerdict::Dearer,
    };
    let rival = match () {
        () if source.places_bound() => Err("the author gave its buffers their places".to_owned()),
        () if out.contains(&Strategy::IN_TURNS) => Err("it gave a broken program".to_owned()),
        () => specialized::plan(source, true).map_err(first),
    };
    let rival = rival.and_then(|rival| match cost_by(&rival, source) {
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
            let lost = SplitCandidate { split: split(true), price: SplitPrice::none(), tile: None, verdict };
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
