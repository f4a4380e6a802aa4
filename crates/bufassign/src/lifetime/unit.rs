//! One lifetime: its extent and its depth (B16, B17, B19, B22).

use super::types::{Span, Unit, UnitUse, fail};
use crate::input::Repeat;
use crate::model::{Anchor, Model};
use crate::output::{AssignError, ErrorKind};
use std::collections::BTreeMap;

/// Last completion in each line region.
pub(super) fn horizons(model: &Model<'_>) -> Vec<i64> {
    let mut h = vec![1i64; model.regions.len()];
    for op in &model.ops {
        if let Some(at) = op.at {
            h[at.region] = h[at.region].max(at.t + op.latency.max(1));
        }
    }
    h
}

/// Lifetime and depth of one chain of in-place updates (B16, B17, B19, B22).
pub(super) fn unit(
    model: &Model<'_>,
    values: Vec<usize>,
    uses: &[Vec<UnitUse>],
    horizon: &[i64],
) -> Result<Unit, AssignError> {
    let first = values[0];
    let all: Vec<UnitUse> = values.iter().flat_map(|&v| uses[v].iter().copied()).collect();
    let at = |op: usize| model.ops[op].at;
    let producer = model.values[first].producer.map(|p| p.0);
    let region = producer
        .and_then(at)
        .map(|a| a.region)
        .or_else(|| all.iter().filter_map(|u| at(u.op)).map(|a| a.region).min())
        .unwrap_or(0);
    let here = |u: &&UnitUse| at(u.op).is_some_and(|a| a.region == region);
    let own: Vec<UnitUse> = all.iter().filter(here).copied().collect();
    let carried = carried(model, &values, producer, &own)?;
    let flag = |f: fn(&crate::input::BufferValue) -> bool| values.iter().any(|&v| f(model.values[v].src));
    let live_in = flag(|v| v.live_in);
    let init = flag(|v| v.init);
    let r = &model.regions[region];
    let leaves = flag(|v| v.live_out) || all.iter().any(|u| at(u.op).is_some_and(|a| a.region > region));
    let in_flight = r.early && producer.is_some_and(|p| model.ops[p].is_async);

    let (start, end) = extent(model, first, producer, &own, r.is_loop.then_some(r.ii))?;
    let depth = match (r.is_loop, producer.and_then(at)) {
        (true, Some(p)) if carried => {
            if own.iter().any(|u| !u.carries && slots_for(model, p, u, r.ii) > 1) {
                let why =
                    "a use of the old version completes after the op that overwrites it in place issues";
                return Err(fail(model, ErrorKind::OverwrittenBeforeRead, "B19", first, why));
            }
            1
        }
        (true, Some(p)) => {
            let by_time = ((end - start + r.ii - 1) / r.ii).max(1);
            own.iter().map(|u| slots_for(model, p, u, r.ii)).fold(by_time, i64::max)
        }
        _ => 1,
    };
    let same_time = producer
        .and_then(at)
        .is_none_or(|p| own.iter().all(|u| u.distance == 0 && at(u.op).is_some_and(|a| a.stage == p.stage)));
    // Turns of the loop around a region overlap: what ends in one is not yet ordered before the next (B79).
    let whole = carried || live_in || leaves || init || in_flight || r.inner;
    Ok(Unit {
        elsewhere: elsewhere(model, region, live_in, producer.is_some(), flag(|v| v.live_out), &all, horizon),
        values: values.clone(),
        region,
        producer,
        start,
        end,
        depth,
        carried,
        whole,
        far: all
            .iter()
            .filter_map(|u| at(u.op).map(|a| (a.region, u.op)))
            .filter(|f| f.0 != region)
            .collect(),
        uses: own,
        pipelined: r.is_loop && !(depth == 1 && same_time),
        warp_local: values.iter().all(|&v| model.values[v].src.warp_local),
    })
}

/// Whether a chain is closed by an update at distance 1, and that it closes where it began.
fn carried(
    model: &Model<'_>,
    values: &[usize],
    producer: Option<usize>,
    own: &[UnitUse],
) -> Result<bool, AssignError> {
    let mut carried = false;
    for u in own.iter().filter(|u| u.carries) {
        if producer != Some(u.op) {
            let why = format!(
                "op {} leaves its next version in bytes that op {} writes again",
                model.ops[u.op].id,
                producer.map_or(0, |p| model.ops[p].id)
            );
            return Err(fail(model, ErrorKind::OverwrittenBeforeRead, "B19", values[0], why));
        }
        carried = true;
    }
    Ok(carried)
}

/// [issue of the producer, completion of the last use) (B16).
fn extent(
    model: &Model<'_>,
    first: usize,
    producer: Option<usize>,
    uses: &[UnitUse],
    ii: Option<i64>,
) -> Result<(i64, i64), AssignError> {
    let period = ii.unwrap_or(0);
    match producer.and_then(|p| model.ops[p].at) {
        Some(p) => {
            for u in uses {
                let Some(at) = model.ops[u.op].at else { continue };
                if at.t + model.ops[u.op].latency + u.distance * period <= p.t {
                    let why = format!("op {} is done before its producer issues", model.ops[u.op].id);
                    return Err(fail(model, ErrorKind::EndsBeforeStart, "B15", first, why));
                }
            }
            let own = p.t + producer.map_or(1, |p| model.ops[p].latency.max(1));
            let done = |u: &UnitUse| {
                model.ops[u.op].at.map(|at| at.t + model.ops[u.op].latency + u.distance * period)
            };
            Ok((p.t, uses.iter().filter_map(done).fold(own, i64::max)))
        }
        None => {
            let done = |u: &UnitUse| model.ops[u.op].at.map(|at| at.t + model.ops[u.op].latency.max(1));
            Ok((0, ii.or_else(|| uses.iter().filter_map(done).max()).unwrap_or(1)))
        }
    }
}

/// Ring slots that one use asks for: by its completion, by its place in the kernel row, and by the initial versions that
/// it reads (B17).
fn slots_for(model: &Model<'_>, p: Anchor, u: &UnitUse, ii: i64) -> i64 {
    let Some(at) = model.ops[u.op].at else { return 1 };
    let by_time = (at.t + model.ops[u.op].latency + u.distance * ii - p.t + ii - 1).div_euclid(ii);
    let by_place = u.distance + at.stage - p.stage + i64::from(at.order > p.order);
    // The versions that a use reads before the first write are there from the start, all at once.
    by_time.max(by_place).max(u.distance)
}

/// Where the storage is live outside its own region (B22).
fn elsewhere(
    model: &Model<'_>,
    region: usize,
    live_in: bool,
    written_here: bool,
    live_out: bool,
    uses: &[UnitUse],
    horizon: &[i64],
) -> Vec<(usize, Span)> {
    let mut spans: BTreeMap<usize, Span> = BTreeMap::new();
    let last_use = uses.iter().filter_map(|u| model.ops[u.op].at).map(|a| a.region).max();
    let repeats = model.problem.repeat != Repeat::None;
    let last = if live_out { model.regions.len().saturating_sub(1) } else { last_use.unwrap_or(region) };
    for (r, &line) in horizon.iter().enumerate().take(last + 1).skip(region + 1) {
        let line_end = uses
            .iter()
            .filter_map(|u| model.ops[u.op].at.map(|a| (a, model.ops[u.op].latency)))
            .filter(|(a, _)| a.region == r)
            .map(|(a, latency)| a.t + latency.max(1))
            .max();
        let ends_here = r == last && !live_out && !model.regions[r].is_loop;
        let span = match line_end {
            Some(end) if ends_here => Span::Range(0, end.min(line)),
            _ => Span::Whole,
        };
        spans.insert(r, span);
    }
    // Written before anything here: held from the start, and through every turn of an outer loop.
    if live_in {
        for r in (0..model.regions.len()).filter(|&r| r != region) {
            if r < region || (repeats && !written_here) {
                spans.insert(r, Span::Whole);
            }
        }
    }
    spans.into_iter().collect()
}
