//! The order of a loop whose computing partition works on tensor memory: what it does in a trip, in the order of the
//! schedule, and which products of which trip the issuing partition starts in one (C28, C29).
//!
//! The computing partition is one row of operations per trip: what overlaps it runs in the other partitions. The
//! issuing partition starts the product of the next trip before that of this one where the schedule does, so that the
//! tensor core works while the computing partition makes the operand.

use std::collections::BTreeMap;

use warploom_ir::{Module, OpId};

use crate::buffers::depth::ScheduledLoop;
use crate::loops::{Part, PartitionRole};
use crate::select::Selection;
use crate::specialize::shape::{LoopShape, Step};

/// What the computing partition does in one trip.
pub(crate) fn computing(scheduled: &ScheduledLoop) -> LoopShape {
    let own = |part: Part| matches!(part, Part::Whole | Part::TmemStore);
    let timed = timed(scheduled, PartitionRole::Math, own);
    let steps = timed.into_iter().map(|(.., op, part)| Step { op, part, stage: 0 }).collect();
    LoopShape { stages: 1, steps, crossing: Vec::new() }
}

/// The products of the issuing partition, in two stages where the schedule starts some of them a trip ahead of the
/// others.
pub(crate) fn issuing(module: &Module, scheduled: &ScheduledLoop, selection: &Selection) -> LoopShape {
    let timed = timed(scheduled, PartitionRole::Mma, |part| part == Part::Whole);
    let ii = scheduled.answer.ii.max(1);
    let start = timed.first().map_or(0, |&(time, ..)| time);
    let stage = |time: i64| (time - start).div_euclid(ii);
    let stages = timed.iter().map(|&(time, ..)| stage(time)).max().unwrap_or(0) + 1;
    if stages == 2 && tiles_in_one_stage(scheduled, selection, stage) {
        let mut keyed: Vec<(i64, Step)> = timed
            .iter()
            .map(|&(time, _, op, part)| {
                ((time - start).rem_euclid(ii), Step { op, part, stage: stage(time) })
            })
            .collect();
        keyed.sort_by_key(|(cycle, _)| *cycle);
        let steps = keyed.into_iter().map(|(_, step)| step).collect();
        return LoopShape { stages, steps, crossing: Vec::new() };
    }
    let body = module.entry(scheduled.pipelined.scf_for, 0);
    let order = body.map(|b| module.blocks[b].ops.as_slice()).unwrap_or_default();
    let mut ops: Vec<OpId> = timed.into_iter().map(|(_, _, op, _)| op).collect();
    let places: BTreeMap<OpId, usize> = order.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    ops.sort_by_key(|op| places.get(op));
    let steps = ops.into_iter().map(|op| Step { op, part: Part::Whole, stage: 0 }).collect();
    LoopShape { stages: 1, steps, crossing: Vec::new() }
}

/// Whether the products that read a tile of the loop all stand in one stage: a slot has one place in the ring's order.
fn tiles_in_one_stage(scheduled: &ScheduledLoop, selection: &Selection, stage: impl Fn(i64) -> i64) -> bool {
    let mut seen: BTreeMap<usize, i64> = BTreeMap::new();
    selection.dots.iter().all(|dot| {
        let node = scheduled.pipelined.node(dot.op, Part::Whole);
        let Some(place) = node.and_then(|n| scheduled.answer.nodes.get(n)) else { return true };
        let own = |l: &usize| {
            let load = selection.loads.get(*l).map(|l| l.op);
            dot.reads(*l) && scheduled.pipelined.copies.contains(&load)
        };
        let mut loads = (0..selection.loads.len()).filter(own);
        loads.all(|load| *seen.entry(load).or_insert(stage(place.time)) == stage(place.time))
    })
}

/// Time, order, operation and part of a partition's nodes, by time.
fn timed(
    scheduled: &ScheduledLoop,
    role: PartitionRole,
    part: impl Fn(Part) -> bool,
) -> Vec<(i64, usize, OpId, Part)> {
    let nodes = scheduled.pipelined.nodes.iter().enumerate();
    let own = nodes.filter(|(_, n)| n.role == role && part(n.part));
    let mut timed: Vec<(i64, usize, OpId, Part)> = own
        .filter_map(|(id, n)| scheduled.answer.nodes.get(id).map(|p| (p.time, p.order, n.op, n.part)))
        .collect();
    timed.sort();
    timed
}
