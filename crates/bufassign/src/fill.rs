//! Spare memory (B81): the rings that help most get more slots, while there is room.
//!
//! A partition that only writes in a loop is held back by its rings alone: it may run ahead of the schedule by
//! D * II - L cycles of the ring that allows least. A copy that takes twice its latency makes its readers wait for what is
//! left of that latency behind the slack up to its first use and the cycles ahead. One step gives a slot more to every
//! ring that would hold the partition back within one II. The step that saves most of that wait for its bytes comes first.

use crate::handshake::Shake;
use crate::lifetime::{Lifetimes, Unit};
use crate::model::Model;
use crate::output::{Class, FillEnd, FillPlan, FillStep, Handshake};
use crate::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};

/// Steps of an answer at most.
const STEPS: usize = 256;

/// A partition in a loop, by their indices.
type Place = (usize, usize);

/// What a partition that only writes could get next.
struct Step {
    place: Place,
    pipes: BTreeSet<usize>,
    says: FillStep,
}

/// Deepens rings of a plan that fits; `again` makes the plan with the slots noted in the model.
pub(crate) fn filled<'m, T>(
    model: &mut Model<'m>,
    mut best: (Plan, T),
    again: impl Fn(&Model<'m>) -> Option<(Plan, T)>,
) -> (Plan, T, FillPlan) {
    let mut steps = Vec::new();
    // Partitions whose next step has no room beside what there is now.
    let mut tight: BTreeSet<Place> = BTreeSet::new();
    let ended = loop {
        if model.is_late() {
            break FillEnd::Late;
        }
        let mut open = next_steps(model, &best.0);
        if open.is_empty() {
            break FillEnd::NothingHelps;
        }
        if steps.len() == STEPS {
            break FillEnd::Steps;
        }
        open.retain(|s| !tight.contains(&s.place));
        let per_byte = |s: &Step| (u128::from(s.says.wait - s.says.left), u128::from(s.says.bytes.max(1)));
        open.sort_by(|a, b| {
            let ((x, of_x), (y, of_y)) = (per_byte(a), per_byte(b));
            (y * of_x).cmp(&(x * of_y)).then(a.place.cmp(&b.place))
        });
        let Some(step) = open.into_iter().next() else { break FillEnd::NoRoom };
        step.pipes.iter().for_each(|&p| model.spare[p] += 1);
        match again(model).filter(|next| next.0.price <= best.0.price) {
            Some(next) => {
                best = next;
                tight.clear();
                steps.push(step.says);
            }
            None => {
                step.pipes.iter().for_each(|&p| model.spare[p] -= 1);
                tight.insert(step.place);
            }
        }
    };
    (best.0, best.1, FillPlan { steps, ended })
}

/// The next step of each partition that one would help.
fn next_steps(model: &Model<'_>, plan: &Plan) -> Vec<Step> {
    let (life, shakes) = (&plan.life, &plan.shakes);
    let waiting = waiting(model);
    let mut writers: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for (k, u) in life.units.iter().enumerate() {
        let Some(p) = u.producer.filter(|_| model.regions[u.region].is_loop) else { continue };
        let place = (u.region, model.ops[p].partition);
        if !waiting.contains(&place) && u.values.iter().any(|&v| is_pair(model, shakes, v)) {
            writers.entry(place).or_default().push(k);
        }
    }
    let roots = roots(model, life);
    let able = |k: usize| {
        let u = &life.units[k];
        let v = u.values[0];
        let stored = matches!(plan.decisions[k].class, Class::Smem | Class::Tmem);
        let own = roots.get(&model.values[v].src.root).is_some_and(|n| *n == 1);
        u.values.len() == 1 && !u.carried && stored && own && model.values[v].layout.is_none()
    };
    writers.into_iter().filter_map(|(place, units)| step(model, life, place, &units, &able)).collect()
}

/// Partitions of regions that wait for what others write or the caller orders: not their rings alone hold them back.
fn waiting(model: &Model<'_>) -> BTreeSet<Place> {
    let uses = model.values.iter().flat_map(|v| &v.uses).map(|u| u.op);
    let ordered = model.edges.iter().map(|e| e.dst);
    let at = |op: usize| Some((model.ops[op].at?.region, model.ops[op].partition));
    uses.chain(ordered).filter_map(at).collect()
}

fn is_pair(model: &Model<'_>, shakes: &[Shake], v: usize) -> bool {
    shakes[model.values[v].pipe].kind == Handshake::Pair
}

/// Lifetimes of each root.
fn roots(model: &Model<'_>, life: &Lifetimes) -> BTreeMap<Option<u64>, usize> {
    let mut all = BTreeMap::new();
    for u in &life.units {
        let of_unit: BTreeSet<_> = u.values.iter().map(|&v| model.values[v].src.root).collect();
        of_unit.into_iter().for_each(|r| *all.entry(r).or_default() += 1);
    }
    all
}

fn step(
    model: &Model<'_>,
    life: &Lifetimes,
    place: Place,
    units: &[usize],
    able: &dyn Fn(usize) -> bool,
) -> Option<Step> {
    let ii = model.regions[place.0].ii;
    let ahead = |k: usize| life.units[k].depth * ii - life.units[k].length();
    let now = units.iter().map(|&k| ahead(k)).min()?;
    let pipe = |k: usize| model.values[life.units[k].values[0]].pipe;
    let pipes: BTreeSet<usize> = units.iter().filter(|&&k| ahead(k) < now + ii).map(|&k| pipe(k)).collect();
    // Rings of one pipe go together, so all of its values must be of this partition and able.
    let owners = pipes.iter().flat_map(|&p| &model.pipes[p].values).filter(|&&v| life.owner[v] == v);
    let values: BTreeSet<usize> = owners.copied().collect();
    let deeper: BTreeSet<usize> = values.iter().map(|&v| life.unit_of[v]).collect();
    if !deeper.iter().all(|&k| units.contains(&k) && able(k)) {
        return None;
    }
    let then = units.iter().map(|&k| ahead(k) + if deeper.contains(&k) { ii } else { 0 }).min()?;
    let wait = |ahead: i64| -> u64 {
        units.iter().map(|&k| stall(model, &life.units[k], ii, ahead)).fold(0, u64::saturating_add)
    };
    let says = FillStep {
        region: model.regions[place.0].id,
        partition: model.partitions[place.1].id,
        values: values.iter().map(|&v| model.values[v].id).collect::<BTreeSet<_>>().into_iter().collect(),
        bytes: values.iter().map(|&v| model.values[v].bytes).fold(0, u64::saturating_add),
        wait: wait(now),
        left: wait(then),
    };
    (says.left < says.wait).then_some(Step { place, pipes, says })
}

/// Cycles that the readers of a copy wait for it, if it takes twice its latency and was issued `ahead` of its time.
fn stall(model: &Model<'_>, u: &Unit, ii: i64, ahead: i64) -> u64 {
    let Some(p) = u.producer.filter(|&p| model.ops[p].is_async) else { return 0 };
    let (Some(at), latency) = (model.ops[p].at, model.ops[p].latency) else { return 0 };
    let first = u.uses.iter().filter_map(|x| Some(model.ops[x.op].at?.t + x.distance * ii)).min();
    first.map_or(0, |first| (latency - (first - at.t - latency) - ahead).max(0).unsigned_abs())
}
