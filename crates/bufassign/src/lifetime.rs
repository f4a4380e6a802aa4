//! Phase 1: who shares storage for certain, how long versions live, how deep rings are
//! (B14..B19, B21, B22).

use crate::input::Repeat;
use crate::model::{Anchor, Model, owner, zero_distance_cycles};
use crate::output::{AssignError, ErrorKind, ValueInfo};
use std::collections::BTreeMap;

const PHASE: &str = "fails to resolve lifetime";

/// One lifetime: a value, or several that update each other in place (B19).
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Values in the order of their updates, views excluded.
    pub values: Vec<usize>,
    pub region: usize,
    /// The op that writes the first version; `None` if live on entry only.
    pub producer: Option<usize>,
    /// Issue of the producer and completion of the last use, in cycles.
    pub start: i64,
    pub end: i64,
    /// Ring slots (B17), the maximum over its pipe (B21).
    pub depth: i64,
    /// Updated in place across iterations (B19).
    pub carried: bool,
    /// Live on the whole circle, or throughout a line, of its region: never shared there.
    pub whole: bool,
    /// Other regions in which the storage is live.
    pub elsewhere: Vec<(usize, Span)>,
    /// Uses in its own region: (op, distance, updates in place across iterations).
    pub uses: Vec<UnitUse>,
    /// Ops that use it in later regions, with the region.
    pub far: Vec<(usize, usize)>,
    pub pipelined: bool,
    /// Every value is `warp_local`.
    pub warp_local: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitUse {
    /// The value (owner) it reads.
    pub value: usize,
    pub op: usize,
    pub distance: i64,
    /// Closes a carried chain: it is itself the write of the next version.
    pub carries: bool,
}

/// When storage is live in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Whole,
    /// `[from, to)` in cycles of a line region.
    Range(i64, i64),
}

impl Unit {
    pub fn length(&self) -> i64 {
        self.end - self.start
    }
}

/// What phase 1 knows.
#[derive(Clone, Debug)]
pub(crate) struct Lifetimes {
    /// Owner of every value: itself unless it is a view.
    pub owner: Vec<usize>,
    /// Offset in the owner.
    pub offset: Vec<u64>,
    /// An owner with its views, ascending; empty for a view.
    pub family: Vec<Vec<usize>>,
    /// Unit of every value (a view's is its owner's).
    pub unit_of: Vec<usize>,
    /// Units in ascending first value.
    pub units: Vec<Unit>,
    /// Last completion in each line region.
    pub horizon: Vec<i64>,
}

pub(crate) fn fail(
    model: &Model<'_>,
    kind: ErrorKind,
    rule: &str,
    v: usize,
    why: impl std::fmt::Display,
) -> AssignError {
    let value = &model.values[v];
    let m = format!("{PHASE}: value {} '{}': {why}", value.id, value.src.name);
    let mut e = AssignError::new(kind, rule, Some(1), m);
    e.value = Some(ValueInfo {
        id: value.id,
        name: value.src.name.clone(),
        start: None,
        end: None,
        length: None,
        depth: None,
    });
    let at = value.producer.and_then(|(p, _)| model.ops[p].at);
    e.in_loop = at.and_then(|a| model.loop_info(a.region));
    e
}

/// Adds what is known of a unit to a failure.
pub(crate) fn describe(model: &Model<'_>, unit: &Unit, e: &mut AssignError) {
    e.in_loop = model.loop_info(unit.region);
    if let Some(v) = &mut e.value {
        v.start = Some(model.stage_cycle(unit.region, unit.start));
        v.end = Some(model.stage_cycle(unit.region, unit.end));
        v.length = Some(unit.length().unsigned_abs());
        v.depth = Some(unit.depth.unsigned_abs());
    }
}

/// Phase 1 without the order questions, which need the graph of the depths found here.
///
/// # Errors
/// All failures of the phase, lowest value id first (B15).
pub(crate) fn resolve(model: &Model<'_>) -> Result<Lifetimes, AssignError> {
    let mut errors = Vec::new();
    let (owner, offset) = owners(model, &mut errors);
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    let uses = uses_by_owner(model, &owner);
    anchors(model, &owner, &uses, &mut errors);
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    let chains = in_place_chains(model, &owner, &uses, &mut errors);
    let horizon = horizons(model);
    let mut units = Vec::new();
    for chain in chains {
        match unit(model, chain, &uses, &horizon) {
            Ok(u) => units.push(u),
            Err(e) => errors.push(e),
        }
    }
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    for u in &mut units {
        if let Err(e) = take_leaf(model, u) {
            errors.push(e);
        }
    }
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    let mut unit_of = vec![0; model.values.len()];
    for (k, u) in units.iter().enumerate() {
        for &v in &u.values {
            unit_of[v] = k;
        }
    }
    for v in 0..unit_of.len() {
        unit_of[v] = unit_of[owner[v]];
    }
    for pipe in &model.pipes {
        let depth = pipe.values.iter().map(|&v| units[unit_of[v]].depth).max().unwrap_or(1);
        for &v in &pipe.values {
            let u = &mut units[unit_of[v]];
            if u.carried || u.depth == depth {
                continue;
            }
            if model.values[u.values[0]].layout.is_some() {
                let why = format!("its pipe has {depth} slots, its layout {}", u.depth);
                return Err(fail(model, ErrorKind::LayoutTooShallow, "B20", v, why));
            }
            u.depth = depth;
        }
    }
    let mut family = vec![Vec::new(); owner.len()];
    owner.iter().enumerate().for_each(|(v, &o)| family[o].push(v));
    Ok(Lifetimes { owner, offset, family, unit_of, units, horizon })
}

/// A value bound to a layout has as many slots as its leaf, at least those its lifetime asks for (B20).
fn take_leaf(model: &Model<'_>, u: &mut Unit) -> Result<(), AssignError> {
    let v = u.values[0];
    let Some((layout, leaf)) = model.values[v].layout else { return Ok(()) };
    let slots = model.layouts[layout].leaves.get(leaf).map_or(0, |l| l.slots) as i64;
    if slots < u.depth {
        let why = format!("its lifetime asks for {} slots, its layout has {slots}", u.depth);
        let mut e = fail(model, ErrorKind::LayoutTooShallow, "B20", v, why);
        describe(model, u, &mut e);
        return Err(e);
    }
    if model.regions[u.region].is_loop && !u.carried {
        u.depth = slots;
    }
    Ok(())
}

/// Follows `view_of` to a value with a root and adds up offsets (B14).
fn owners(model: &Model<'_>, errors: &mut Vec<AssignError>) -> (Vec<usize>, Vec<u64>) {
    let n = model.values.len();
    let (mut owners, mut offsets) = ((0..n).collect::<Vec<_>>(), vec![0u64; n]);
    for v in 0..n {
        let Some(o) = owner(model, v) else {
            errors.push(fail(model, ErrorKind::CyclicChain, "B15", v, "its view_of links loop"));
            continue;
        };
        owners[v] = o;
        if model.values[o].src.root.is_none() {
            let why = format!("no root at the end of its back-cone (value {})", model.values[o].id);
            errors.push(fail(model, ErrorKind::Unanchored, "B15", v, why));
            continue;
        }
        let (mut at, mut sum) = (v, Some(0u64));
        while let Some(next) = model.values[at].view_of {
            sum = sum.and_then(|s| s.checked_add(model.values[at].src.byte_offset));
            at = next;
        }
        let end = sum.and_then(|s| s.checked_add(model.values[v].bytes));
        match (sum, end) {
            (Some(s), Some(end)) if end <= model.values[o].bytes || v == o => offsets[v] = s,
            _ => {
                let why = format!(
                    "the view ends at byte {} of an owner of {} bytes (value {})",
                    end.unwrap_or(u64::MAX),
                    model.values[o].bytes,
                    model.values[o].id
                );
                errors.push(fail(model, ErrorKind::ViewOutOfBounds, "B14", v, why));
            }
        }
    }
    (owners, offsets)
}

/// Uses of an owner, those through its views included; a write through a view is a use too.
fn uses_by_owner(model: &Model<'_>, owner: &[usize]) -> Vec<Vec<UnitUse>> {
    let mut uses: Vec<Vec<UnitUse>> = vec![Vec::new(); model.values.len()];
    for (v, value) in model.values.iter().enumerate() {
        let o = owner[v];
        for u in &value.uses {
            uses[o].push(UnitUse {
                value: v,
                op: u.op,
                distance: u.distance,
                carries: u.in_place && u.distance == 1,
            });
        }
        if let Some((p, _)) = value.producer.filter(|_| v != o)
            && model.values[o].producer.map(|x| x.0) != Some(p)
        {
            uses[o].push(UnitUse { value: v, op: p, distance: 0, carries: false });
        }
    }
    uses
}

/// The failures that concern one value alone (B15).
fn anchors(model: &Model<'_>, owner: &[usize], uses: &[Vec<UnitUse>], errors: &mut Vec<AssignError>) {
    let cyclic = zero_distance_cycles(model);
    for (v, value) in model.values.iter().enumerate() {
        let o = owner[v];
        let producer = model.values[o].producer.map(|p| p.0);
        let looped =
            producer.filter(|&p| cyclic[p] && value.uses.iter().any(|u| u.distance == 0 && cyclic[u.op]));
        if let Some(p) = looped {
            let why = format!("op {} needs its own result in the same iteration", model.ops[p].id);
            errors.push(fail(model, ErrorKind::CyclicChain, "B15", v, why));
            continue;
        }
        let own = value.producer.iter().map(|p| p.0).chain(value.uses.iter().map(|u| u.op));
        if let Some(op) = own.into_iter().find(|&op| model.ops[op].at.is_none()) {
            let why = format!("op {} has no region, stage or cycle", model.ops[op].id);
            errors.push(fail(model, ErrorKind::NoAnchor, "B15", v, why));
            continue;
        }
        let far = value.uses.iter().find(|u| u.distance > 0);
        if let Some(u) = far.filter(|_| !value.src.init && !model.values[o].src.init) {
            let why = format!(
                "op {} reads it {} iterations later and no init covers the first ones",
                model.ops[u.op].id, u.distance
            );
            errors.push(fail(model, ErrorKind::NoAnchor, "B15", v, why));
            continue;
        }
        if o == v && uses[v].is_empty() && !value.src.live_out {
            errors.push(fail(model, ErrorKind::NoConsumer, "B15", v, "nobody reads it"));
        }
    }
}

/// Groups values that update each other in place; every group in order of its updates (B19).
fn in_place_chains(
    model: &Model<'_>,
    owner: &[usize],
    uses: &[Vec<UnitUse>],
    errors: &mut Vec<AssignError>,
) -> Vec<Vec<usize>> {
    let n = model.values.len();
    let mut by_producer: BTreeMap<(usize, Option<u64>), usize> = BTreeMap::new();
    for v in (0..n).filter(|&v| owner[v] == v) {
        if let Some((p, _)) = model.values[v].producer {
            by_producer.entry((p, model.values[v].src.root)).or_insert(v);
        }
    }
    let mut next: Vec<Option<usize>> = vec![None; n];
    let mut linked = vec![false; n];
    for v in (0..n).filter(|&v| owner[v] == v) {
        let in_place = |u: &UnitUse| {
            model.values[u.value].uses.iter().any(|m| m.in_place && m.op == u.op && m.distance == u.distance)
        };
        for u in uses[v].iter().filter(|u| in_place(u)) {
            let target = by_producer.get(&(u.op, model.values[v].src.root)).copied();
            let problem = match target {
                Some(w) if u.distance == 0 && w != v => {
                    if next[v].is_some() || linked[w] {
                        Some("two ops update one version in place")
                    } else {
                        (next[v], linked[w]) = (Some(w), true);
                        None
                    }
                }
                None if u.distance > 0 => {
                    Some("the op that updates it in place produces no value of its root")
                }
                _ => None,
            };
            if let Some(why) = problem {
                let why = format!("{why} (op {})", model.ops[u.op].id);
                errors.push(fail(model, ErrorKind::OverwrittenBeforeRead, "B19", v, why));
            }
        }
    }
    let mut chains = Vec::new();
    for v in (0..n).filter(|&v| owner[v] == v && !linked[v]) {
        let mut chain = vec![v];
        let mut at = v;
        while let Some(w) = next[at] {
            chain.push(w);
            at = w;
        }
        chains.push(chain);
    }
    chains.sort_by_key(|c| c.iter().min().copied());
    chains
}

/// Last completion in each line region.
fn horizons(model: &Model<'_>) -> Vec<i64> {
    let mut h = vec![1i64; model.regions.len()];
    for op in &model.ops {
        if let Some(at) = op.at {
            h[at.region] = h[at.region].max(at.t + op.latency.max(1));
        }
    }
    h
}

/// Lifetime and depth of one chain of in-place updates (B16, B17, B19, B22).
fn unit(
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
    let flag = |f: fn(&crate::input::Value) -> bool| values.iter().any(|&v| f(model.values[v].src));
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
    let whole = carried || live_in || leaves || init || in_flight;
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

/// Ring slots that one use asks for: by its completion and by its place in the kernel row (B17).
fn slots_for(model: &Model<'_>, p: Anchor, u: &UnitUse, ii: i64) -> i64 {
    let Some(at) = model.ops[u.op].at else { return 1 };
    let by_time = (at.t + model.ops[u.op].latency + u.distance * ii - p.t + ii - 1).div_euclid(ii);
    let by_place = u.distance + at.stage - p.stage + i64::from(at.order > p.order);
    by_time.max(by_place)
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
