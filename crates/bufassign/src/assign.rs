//! `assign`: from a problem to an [`Assignment`] or an [`AssignError`] (B9).

use crate::advice;
use crate::classify::{self, SMEM, TMEM};
use crate::descriptors::{self, Descriptors};
use crate::fill::filled;
use crate::input::{AssignOptions, Problem};
use crate::mbarriers::semaphores;
use crate::model::{self, Model};
use crate::nest::{self, Flat};
use crate::output::{AssignError, Assignment, Class, ErrorKind, PackVerdict};
use crate::packed::smem_limit;
use crate::plan::{Plan, plan};
use crate::price::Price;
use crate::records;
use std::time::Instant;

/// Assigns every value a buffer and a handshake, or says why not (B9).
///
/// Pure: no I/O, no clock, equal input gives equal output. In debug builds the result is verified
/// by the independent [`check`](crate::check::check) (B75).
///
/// # Errors
/// One [`AssignError`]; nothing is committed before all phases have succeeded. It names the phase,
/// the value, what is needed and what there is, and steps that would help.
pub fn assign(problem: &Problem, options: &AssignOptions) -> Result<Assignment, AssignError> {
    answer(problem, options, None)
}

/// Assigns by a moment. Behind it nothing more is shared and nothing searched: what has been found so far, at worst every
/// value in bytes of its own, is the answer, or does not fit. It then depends on the machine, and a note says so.
///
/// # Errors
/// As [`assign`].
pub fn assign_within(
    problem: &Problem,
    options: &AssignOptions,
    deadline: Instant,
) -> Result<Assignment, AssignError> {
    answer(problem, options, Some(deadline))
}

fn answer(
    problem: &Problem,
    options: &AssignOptions,
    deadline: Option<Instant>,
) -> Result<Assignment, AssignError> {
    let flat = nest::flat(problem)?;
    let mut model = Model { deadline, ..levels(problem, flat.as_ref(), options)? };
    Ok(planned(problem, &mut model)?.0)
}

/// The model of a problem, of its levels where its loops nest; ops keep their own ids.
pub(crate) fn levels<'a>(
    problem: &'a Problem,
    flat: Option<&'a Flat>,
    options: &'a AssignOptions,
) -> Result<Model<'a>, AssignError> {
    let Some(flat) = flat else { return model::build(problem, options) };
    let mut model = model::build(&flat.problem, options)?;
    for op in &mut model.ops {
        op.id = flat.origin.get(&op.id).copied().unwrap_or(op.id);
    }
    Ok(model)
}

/// A plan and its descriptor slots.
type Laid = (Plan, Descriptors);

/// The plan of a model, whether it fits or not.
fn laid(model: &Model<'_>) -> Result<Laid, AssignError> {
    let plan = plan(model)?;
    let desc = descriptors::assign(model, &plan)?;
    limits(model, &plan)?;
    Ok((plan, desc))
}

/// The plan of a model, and its price beside memory: waits that tie partitions, waits.
pub(crate) fn planned(problem: &Problem, model: &mut Model<'_>) -> Result<(Assignment, Price), AssignError> {
    let (mut plan, mut desc) = laid(model)?;
    if let Some(mut e) = over_capacity(model, &plan) {
        e.advice = Some(advice::advise(model, &plan));
        return Err(e);
    }
    let mut fill = None;
    if model.options.fill {
        let again = |model: &Model<'_>| laid(model).ok().filter(|l| over_capacity(model, &l.0).is_none());
        let (deeper, slots, steps) = filled(model, (plan, desc), again);
        (plan, desc, fill) = (deeper, slots, Some(steps));
    }
    let mut assignment = records::assemble(model, &plan, desc);
    assignment.fill = fill;
    if cfg!(debug_assertions)
        && let Err(violations) = crate::check::check_with(problem, model.options, &assignment)
    {
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let m =
            format!("the checker refused the answer, which is a bug of the assigner: {}", list.join("; "));
        return Err(AssignError::new(ErrorKind::Internal, "B75", None, m));
    }
    Ok((assignment, plan.price))
}

/// Reads a problem as JSON and assigns it with the options it carries: what the command does.
///
/// # Errors
/// As [`Problem::from_json`] and [`assign`].
pub fn assign_json(text: &str) -> Result<Assignment, AssignError> {
    let problem = Problem::from_json(text)?;
    assign(&problem, &problem.options)
}

/// Hardware limits other than capacity (B39).
fn limits(model: &Model<'_>, plan: &Plan) -> Result<(), AssignError> {
    let (taken, there) = (semaphores(model, &plan.life, &plan.shakes), model.limits.free_ids.len());
    if model.limits.machine.is_some() && taken > there {
        let m = format!("the rings of {} need {taken} semaphores, it has {there}", model.limits.name);
        let mut e = AssignError::new(ErrorKind::Limit, "B82", Some(3), m);
        (e.need, e.limit) = (Some(taken as u64), Some(there as u64));
        return Err(e);
    }
    let most = model.limits.mbarrier_tx;
    for (pipe, p) in model.pipes.iter().enumerate() {
        let tx = records::tx_bytes(model, plan, pipe).unwrap_or(0);
        if tx > most {
            let v = p.values[0];
            let why = format!("its pipe brings {tx} bytes per phase, an mbarrier counts to {most}");
            let mut e = classify::fail(model, &plan.life, &[v], v, ErrorKind::Limit, "B39", SMEM, &why);
            (e.need, e.limit) = (Some(tx), Some(most));
            return Err(e);
        }
    }
    Ok(())
}

/// The verdict on the packed totals (B47).
fn over_capacity(model: &Model<'_>, plan: &Plan) -> Option<AssignError> {
    let limit = smem_limit(model);
    let columns = model.limits.tmem.map_or(0, |t| t.columns);
    let load = records::smem_load_bound(model, plan);
    let over = plan
        .smem
        .over
        .and_then(|(k, need)| Some((need, model.limits.machine.as_ref()?.spaces.get(k)?.bytes)));
    let (phase, class, need, limit, bound, infeasible) = if let Some((need, bytes)) = over {
        (SMEM, Class::Smem, need, bytes, load, plan.smem.infeasible)
    } else if plan.mbarriers.used > limit {
        let infeasible = plan.smem.infeasible || load > limit;
        (SMEM, Class::Smem, plan.mbarriers.used, limit, load, infeasible)
    } else if plan.tmem.peak > columns {
        let bound = plan.tmem.load_bound;
        (TMEM, Class::Tmem, plan.tmem.peak, columns, bound, plan.tmem.infeasible || bound > columns)
    } else {
        return None;
    };
    let plot = advice::largest_at_peak(model, plan, class).and_then(|k| plan.plots.get(k));
    let (values, v) = match plot {
        Some(p) => {
            let units = &p.ring.units;
            let values: Vec<usize> =
                (0..model.values.len()).filter(|&v| units.contains(&plan.life.unit_of[v])).collect();
            let v = values.iter().copied().find(|&v| model.values[v].id == p.id).unwrap_or(values[0]);
            (values, v)
        }
        // Only mbarriers are left to blame.
        None => ((0..model.values.len().min(1)).collect(), 0),
    };
    let unit = if class == Class::Smem { "bytes" } else { "columns" };
    let mut why = format!("the plan needs {need} {unit}, the block has {limit}");
    if let (Some((space, need)), Some(machine)) = (plan.smem.over, &model.limits.machine) {
        let space = &machine.spaces[space];
        why = format!("the plan needs {need} bytes of space {}, which has {}", space.name, space.bytes);
    }
    let mut e = match model.values.get(v) {
        Some(_) => classify::fail(model, &plan.life, &values, v, ErrorKind::Capacity, "B47", phase, &why),
        None => AssignError::new(ErrorKind::Capacity, "B47", Some(3), format!("{phase}: {why}")),
    };
    if let Some(&u) = plan.life.unit_of.get(v) {
        if let Some(info) = &mut e.value {
            info.depth = Some(plan.depth[u].unsigned_abs());
        }
        e.classification = Some(classify::classification(model, &values, v, Some(&plan.decisions[u])));
    }
    e.outcome = Some(if infeasible { PackVerdict::ProvedInfeasible } else { PackVerdict::GaveUp });
    (e.need, e.limit, e.load_bound) = (Some(need), Some(limit), Some(bound));
    e.smem_map = Some(records::smem_map(model, plan));
    e.tmem_map = Some(records::tmem_map(model, plan));
    e.barrier_pool = Some(records::pool(model, plan));
    Some(e)
}
