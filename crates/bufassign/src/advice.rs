//! What would help when a plan does not fit (B66).

use crate::input::{Problem, ScheduledOp, Sharing};
use crate::lifetime::Unit;
use crate::model::{self, Model};
use crate::output::{Class, Remedy};
use crate::pack::TimeSegment;
use crate::packed::smem_limit;
use crate::plan::{Plan, plan};
use std::collections::BTreeSet;

/// Steps tried in full; more would only lengthen the list.
const MOST: usize = 64;

/// Steps that would help, best first.
pub(crate) fn advise(model: &Model<'_>, plan: &Plan) -> Vec<Remedy> {
    let mut shallower: Vec<(u128, u64, Remedy)> = Vec::new();
    let mut seen_pipes = BTreeSet::new();
    let mut candidates: Vec<usize> = (0..plan.life.units.len()).filter(|&k| plan.depth[k] > 1).collect();
    candidates.sort_by_key(|&k| std::cmp::Reverse(model.values[plan.life.units[k].values[0]].bytes));
    for k in candidates.into_iter().take(MOST) {
        let unit = &plan.life.units[k];
        let v = unit.values.iter().map(|&v| model.values[v].id).min().unwrap_or(0);
        let pipe = model.values[unit.values[0]].pipe;
        if !seen_pipes.insert(pipe) {
            continue;
        }
        let Some(ii) = next_ii(model, plan, pipe) else { continue };
        let now = model.regions[unit.region].ii;
        let problem = at_ii(model, unit.region, ii);
        let Some((saves, fits)) = evaluate(model, plan, &problem, &model.options.clone()) else { continue };
        if saves == 0 {
            continue;
        }
        let depth = plan.depth[k].unsigned_abs();
        let added = u128::from((ii - now).unsigned_abs()) * (1 << 40) / u128::from(saves);
        let step = Remedy::Shallower { value: v, depth, to: depth - 1, saves, ii: ii.unsigned_abs(), fits };
        shallower.push((added, v, step));
    }
    shallower.sort_by_key(|s| (s.0, s.1));
    let mut out: Vec<Remedy> = shallower.into_iter().map(|s| s.2).collect();
    let untried: &[Sharing] = match model.options.effective_sharing() {
        Sharing::Off => &[Sharing::Implied, Sharing::Always],
        Sharing::Implied => &[Sharing::Always],
        Sharing::WhenNeeded | Sharing::Always => &[],
    };
    for &sharing in untried {
        let options = crate::input::AssignOptions { sharing, ..model.options.clone() };
        if let Some((saves, fits)) = evaluate(model, plan, model.problem, &options).filter(|e| e.0 > 0) {
            out.push(Remedy::Share { sharing, saves, fits });
        }
    }
    let mut classes: Vec<(u64, u64)> = plan.plots.iter().map(|p| (p.bytes(), p.id)).collect();
    classes.sort_by_key(|&(bytes, id)| (std::cmp::Reverse(bytes), id));
    out.extend(classes.iter().take(3).map(|&(bytes, class)| Remedy::Largest { class, bytes }));
    let padding = plan.plots.iter().filter(|p| p.layout.is_none()).fold(0u64, |n, p| {
        n.saturating_add(p.bytes().saturating_sub(p.size.saturating_mul(p.ring.depth.unsigned_abs())))
    });
    if padding > 0 {
        out.push(Remedy::Padding { padding });
    }
    out
}

/// The least II at which every member of a pipe needs a slot less, times kept: a use at distance
/// delta asks for ceil((t(u) + latency(u) - t(p)) / (D' - delta)).
fn next_ii(model: &Model<'_>, plan: &Plan, pipe: usize) -> Option<i64> {
    let mut ii = 0;
    for &v in &model.pipes[pipe].values {
        let k = plan.life.unit_of[v];
        let unit: &Unit = &plan.life.units[k];
        let region = &model.regions[unit.region];
        let p = unit.producer?;
        let start = model.ops[p].at?.t;
        let to = plan.depth[k] - 1;
        let one = |span: i64, room: i64| {
            (room > 0).then(|| span.div_euclid(room) + i64::from(span.rem_euclid(room) != 0))
        };
        ii = ii.max(one(model.ops[p].latency.max(1), to)?).max(region.ii);
        for u in &unit.uses {
            let end = model.ops[u.op].at?.t + model.ops[u.op].latency;
            ii = ii.max(one(end - start, to - u.distance)?);
        }
    }
    let now = model.regions[plan.life.units[plan.life.unit_of[*model.pipes[pipe].values.first()?]].region].ii;
    (ii > now).then_some(ii)
}

/// The problem with one region at another II and every time kept.
fn at_ii(model: &Model<'_>, region: usize, ii: i64) -> Problem {
    let mut problem = model.problem.clone();
    let id = model.regions[region].id;
    let mut last = 0;
    let mut moved: Vec<(u64, u64, u64, usize)> = Vec::new();
    let old = model.regions[region].ii.unsigned_abs();
    let new = ii.unsigned_abs().max(1);
    for (k, op) in problem.ops.iter_mut().enumerate() {
        let ScheduledOp { region: Some(r), cycle: Some(cycle), order: Some(order), .. } = op else {
            continue;
        };
        if *r != id {
            continue;
        }
        let t = op.stage * old + *cycle;
        op.stage = t / new;
        *cycle = t % new;
        last = last.max(op.stage);
        moved.push((*cycle, *order, op.id, k));
    }
    moved.sort_unstable();
    for (rank, m) in moved.iter().enumerate() {
        if let Some(op) = problem.ops.get_mut(m.3) {
            op.order = Some(rank as u64);
        }
    }
    for r in problem.regions.iter_mut().filter(|r| r.id == id) {
        (r.ii, r.stages) = (Some(new), Some(last + 1));
    }
    problem
}

/// Data bytes saved by another problem or other options, and whether the plan then fits.
fn evaluate(
    model: &Model<'_>,
    now: &Plan,
    problem: &Problem,
    options: &crate::input::AssignOptions,
) -> Option<(u64, bool)> {
    let other = Model { thorough: false, ..model::build(problem, options).ok()? };
    let then = plan(&other).ok()?;
    let columns = model.limits.tmem.map_or(0, |t| t.columns);
    let fits = then.mbarriers.used <= smem_limit(model) && then.tmem.peak <= columns;
    let bytes = |p: &Plan| {
        let over_smem = now.mbarriers.used > smem_limit(model);
        if over_smem { p.smem.peak } else { p.tmem.peak }
    };
    Some((bytes(now).saturating_sub(bytes(&then)), fits))
}

/// The largest class live at the most loaded moment of a space, lowest id on ties (B47).
pub(crate) fn largest_at_peak(model: &Model<'_>, plan: &Plan, class: Class) -> Option<usize> {
    let plots = plan.of_class(class);
    let problem = crate::place::problem_of(
        model,
        &plan.life,
        &plots.iter().map(|&k| &plan.plots[k]).collect::<Vec<_>>(),
    );
    let live = |k: usize, segment: usize, t: i64| {
        problem.items[k].live.iter().any(|s| {
            s.segment == segment
                && match problem.segments[segment] {
                    TimeSegment::Linear => s.start <= t && t < s.start + s.len,
                    TimeSegment::Circular(p) => (t - s.start).rem_euclid(p) < s.len,
                }
        })
    };
    let mut best: Option<(u64, Vec<usize>)> = None;
    for s in problem.items.iter().flat_map(|i| &i.live) {
        let here: Vec<usize> = (0..plots.len()).filter(|&k| live(k, s.segment, s.start)).collect();
        let load = here.iter().map(|&k| problem.items[k].size).fold(0, u64::saturating_add);
        if best.as_ref().is_none_or(|b| load > b.0) {
            best = Some((load, here));
        }
    }
    let (_, here) = best?;
    let widest = here
        .into_iter()
        .min_by_key(|&k| (std::cmp::Reverse(problem.items[k].size), plan.plots[plots[k]].id))?;
    plots.get(widest).copied()
}
