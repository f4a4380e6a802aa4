//! Schedules, depths and places of the rings of a kernel that one partition runs (S51-S57, B65-B67, C24).

use warploom_bufassign::Assignment;
use warploom_ir::diag::{Code, Diagnostic};

use crate::buffers::depth::{DepthBound, RingDepth};
use crate::buffers::draft::scheduled;
use crate::buffers::draft::{Draft, LEAST, Wanted, law};
use crate::buffers::fit::{Misfit, fit, too_big};
use crate::buffers::given::Given;
use crate::buffers::planned::{Beside, Planned};
use crate::place::refuse;
use crate::transports::engine::Engine;
use crate::transports::find::Found;
use crate::transports::turns;

/// Schedules every loop and finds rings that fit: what the depth law asks for, then one slot less where most bytes
/// are, then slots in turns, until everything fits.
pub(crate) fn plan(
    wanted: &Wanted<'_>,
    found: Vec<Found>,
    mut beside: Beside,
) -> Result<(Planned, Vec<RingDepth>), Vec<Diagnostic>> {
    let mut drafts = Vec::new();
    let mut errors = Vec::new();
    let mut first = 0;
    for (number, found) in found.into_iter().enumerate() {
        let tiles = found.tiles.len() as u64;
        match draft(wanted, found, number, first) {
            Ok(draft) => drafts.push(draft),
            Err(found) => errors.extend(found),
        }
        first += tiles;
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if drafts.is_empty() {
        let limit = wanted.options.smem_limit.unwrap_or(wanted.target.smem.per_cta);
        if wanted.taken > limit {
            return Err(vec![too_big(wanted, &drafts, wanted.taken, limit)]);
        }
        let (loops, schedules) = (Vec::new(), Vec::new());
        return Ok((Planned { loops, schedules, beside, shared: wanted.taken, buffers: None }, Vec::new()));
    }
    loop {
        let fitted = fit(wanted, &drafts).and_then(|buffers| {
            let shared = lay_stores(wanted, &mut beside.engine, &buffers.1)?;
            Ok((buffers, shared))
        });
        match fitted {
            Ok(((problem, mut assignment), mut shared)) => {
                if let Some(given) = &wanted.given {
                    assignment = given.assignment(&problem, assignment, wanted.target)?;
                    shared = match lay_stores(wanted, &mut beside.engine, &assignment) {
                        Ok(shared) => shared,
                        Err(Misfit::Other(error)) => return Err(vec![*error]),
                        Err(Misfit::Capacity { need, limit }) => {
                            return Err(vec![too_big(wanted, &drafts, need, limit)]);
                        }
                    };
                }
                let buffers = (problem, assignment);
                drafts.iter_mut().for_each(|draft| draft.tried(None));
                let (mut loops, mut schedules, mut depths) = (Vec::new(), Vec::new(), Vec::new());
                for (loads, schedule, depth) in drafts.into_iter().map(|d| d.done(wanted.options.slack_slots))
                {
                    loops.push(loads);
                    schedules.push(schedule);
                    depths.push(depth);
                }
                return Ok((Planned { loops, schedules, beside, shared, buffers: Some(buffers) }, depths));
            }
            Err(Misfit::Other(error)) => return Err(vec![*error]),
            Err(Misfit::Capacity { need, limit }) => {
                drafts.iter_mut().for_each(|draft| draft.tried(Some(need)));
                if !shrink(wanted, &mut drafts).map_err(|error| vec![*error])? {
                    return Err(vec![too_big(wanted, &drafts, need, limit)]);
                }
            }
        }
    }
}

/// Places what is stored behind the loops over their rings; where shared memory ends then.
fn lay_stores(wanted: &Wanted<'_>, engine: &mut Engine, assignment: &Assignment) -> Result<u64, Misfit> {
    let used = assignment.smem.used.max(wanted.taken);
    let barriers = assignment.records.iter().filter_map(|r| r.full).min().unwrap_or(used);
    let need = engine.lay_stores(wanted.taken, barriers, used);
    let limit = wanted.options.smem_limit.unwrap_or(wanted.target.smem.per_cta);
    if need > limit { Err(Misfit::Capacity { need, limit }) } else { Ok(need) }
}

/// Takes a slot from the loop with most bytes; `false` where nothing can be taken.
fn shrink(wanted: &Wanted<'_>, drafts: &mut [Draft]) -> Result<bool, Box<Diagnostic>> {
    if wanted.options.depth.is_some() || wanted.given.as_ref().is_some_and(Given::assigned) {
        return Ok(false);
    }
    let late = |d: &Draft| match d.pipelined.pending {
        0 if !d.given_back(wanted) => turns::late(wanted.kernel, d.found.scf_for, &d.found.tiles),
        // Slots of the trip before are still read.
        _ => None,
    };
    if let Some(deepest) = drafts.iter_mut().filter(|d| d.depth > d.least()).max_by_key(|d| d.bytes()) {
        deepest.depth -= 1;
        (deepest.cap, deepest.bound) = (Some(deepest.depth), DepthBound::Capacity);
        return deepest.reschedule(wanted).map(|()| true);
    }
    // Then tiles in turns, and where none can, all tiles in one slot: no load is pipelined.
    let two = || drafts.iter().enumerate().filter(|(_, d)| d.depth == LEAST);
    let widest = |turns: bool| {
        two().filter(|(_, d)| !turns || late(d).is_some()).max_by_key(|(_, d)| d.bytes()).map(|(n, _)| n)
    };
    // Asynchronous products gain nothing then.
    let alone = || widest(false).filter(|_| !wanted.shape.asynchronous());
    let Some(widest) = widest(true).or_else(alone).and_then(|n| drafts.get_mut(n)) else {
        return Ok(false);
    };
    widest.late = Some(turns::turns(wanted.kernel, widest.found.scf_for, &widest.found.tiles));
    (widest.depth, widest.bound) = (1, DepthBound::Capacity);
    widest.reschedule(wanted).map(|()| true)
}

/// A loop at the depth that is wanted.
fn draft(wanted: &Wanted<'_>, found: Found, number: usize, first: u64) -> Result<Draft, Vec<Diagnostic>> {
    let (kernel, options) = (wanted.kernel, wanted.options);
    let kernel_name = kernel
        .functions()
        .find(|&f| crate::nest::is_inside(kernel, found.scf_for, f))
        .and_then(|f| kernel.symbol_name(f))
        .unwrap_or("kernel")
        .to_owned();
    let name = format!("{kernel_name}/loop{number}");
    if options.depth.is_some_and(|depth| depth < LEAST) {
        let text = "a ring of one slot cannot hold pipelined loads";
        let error = refuse(kernel, found.scf_for, Code::Loop, text);
        return Err(vec![error.rule("C24").note("instead", "a depth of 2 or more")]);
    }
    if let Some(given) = &wanted.given {
        return given.draft(wanted, found, &name, first);
    }
    let cap = wanted.cap(&found);
    let at_most = |slots| scheduled(wanted, found.scf_for, &name, slots).map_err(|error| vec![*error]);
    let free = at_most(None)?;
    let least = LEAST + free.0.pending;
    let law = law(&free.0, &free.1, &found).max(least);
    let depth = wanted.depth(law, cap);
    if depth < least {
        let text =
            format!("a ring of {depth} slots cannot hold pipelined loads beside an unfinished product");
        return Err(vec![refuse(kernel, found.scf_for, Code::Loop, text).rule("C30")]);
    }
    let (bound, unlimited_ii) = (wanted.bound(&found, (depth, law)), free.1.ii);
    let (pipelined, answer) = if depth < law { at_most(Some(depth))? } else { free };
    let rounds = Vec::new();
    Ok(Draft { found, cap, pipelined, answer, law, depth, bound, unlimited_ii, rounds, late: None })
}
