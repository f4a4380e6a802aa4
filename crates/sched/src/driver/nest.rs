//! Loops around loops, the inner ones first (S104).

use crate::check;
use crate::driver::schedule::schedule;
use crate::model::answer::Answer;
use crate::model::error::ScheduleError;
use crate::model::graph::{LoopGraph, LoopNode, LoopResource, is_interleaved};
use crate::model::graph_error::{GraphError, GraphErrorKind as Kind, GraphErrors};
use crate::model::inner::InnerLoop;
use crate::model::nest::{InnerRun, NestAnswer};
use crate::model::options::ScheduleOptions;
use crate::model::resource_use::ResourceUse;
use crate::model::start::StartSchedule;
use crate::model::validate::validate;
use std::collections::BTreeMap;
use std::time::Instant;

/// Loops inside each other.
const MOST_LEVELS: usize = 32;
/// Starts of operations in an iteration of the outermost loop.
const MOST_STARTS: u64 = 1 << 20;

/// Schedules a loop of the slice and those inside it, which its operations name (S104). Every inner loop is scheduled first;
/// in the outer one it then is an operation that holds, from the first start to the last end on each resource, as many units as
/// its own schedule ever does. Bounds and proofs of the outer II are of that.
///
/// `min_ii`, `max_ii` and `start` are for the loop at `at` alone, the time limit is for all together.
///
/// # Errors
/// Those of [`schedule`]; [`ScheduleError::Graph`] where an inner loop is not there, is there twice, contains itself, or
/// cannot be stretched; [`ScheduleError::BadOption`] for partitions, which are not searched for in nests.
pub fn schedule_nest(
    loops: &[LoopGraph],
    at: usize,
    options: &ScheduleOptions,
) -> Result<NestAnswer, ScheduleError> {
    let machine = loops.iter().any(|g| g.partition_model.is_some());
    if options.partition.is_some() || (machine && loops.get(at).is_some_and(LoopGraph::has_inner_loops)) {
        let message = "partitions are not searched for in nests: schedule the inner loop alone".to_owned();
        return Err(ScheduleError::BadOption { option: "partition", message });
    }
    let mut nests = Nests { loops, options, begun: Instant::now(), path: Vec::new(), known: BTreeMap::new() };
    let (nest, _) = nests.solve(at, 0)?;
    // Stretched schedules are judged with it.
    let verdict = check::nest(loops, at, &nest);
    let first = |v: check::ScheduleViolations| v.first().map(ToString::to_string).unwrap_or_default();
    verdict.map_err(|v| ScheduleError::Check(first(v))).map(|()| nest)
}

struct Nests<'l> {
    loops: &'l [LoopGraph],
    options: &'l ScheduleOptions,
    begun: Instant,
    /// The loops around the one at hand.
    path: Vec<usize>,
    /// What has been scheduled, and the starts of operations in one iteration of it.
    known: BTreeMap<usize, (NestAnswer, u64)>,
}

impl Nests<'_> {
    fn solve(&mut self, at: usize, level: usize) -> Result<(NestAnswer, u64), ScheduleError> {
        if let Some(known) = self.known.get(&at) {
            return Ok(known.clone());
        }
        let graph = self.loops.get(at).ok_or_else(|| refused(String::new(), Kind::EmptyGraph))?;
        let (mut outer, mut inner) = (graph.clone(), Vec::new());
        let mut starts = graph.nodes.len() as u64;
        self.path.push(at);
        for (id, node) in graph.nodes.iter().enumerate() {
            let Some(told) = &node.inner else { continue };
            let place = || format!("nodes[{id}].inner");
            let found = self.find(told, level).map_err(|kind| refused(place(), kind))?;
            let (nest, each) = self.solve(found, level + 1)?;
            starts = starts.saturating_add(each.saturating_mul(told.trips));
            if starts > MOST_STARTS {
                let what = "the number of starts in one iteration";
                let (value, limit) = (starts.into(), MOST_STARTS.into());
                return Err(refused(place(), Kind::TooLarge { what, value, limit }));
            }
            let run = replace(&mut outer, id, told, nest).map_err(|kind| refused(place(), kind))?;
            inner.push(run);
        }
        self.path.pop();
        if let Some((place, reason)) = self.unstretchable(graph, level) {
            return Err(refused(place, Kind::NotStretchable(reason)));
        }
        let mut options = self.options.clone();
        let spent = self.begun.elapsed();
        options.time_limit = options.time_limit.map(|limit| limit.saturating_sub(spent));
        if level > 0 {
            options = options.min_ii(1).max_ii(None).start(None);
        }
        let valid = validate(&outer).map_err(|errors| ScheduleError::Graph(placed(graph, errors)))?;
        let answer = schedule(&valid, &options)?;
        for run in &mut inner {
            run.grows_at = grows_at(graph, run, &answer);
        }
        let nest = NestAnswer { answer, inner, outer };
        self.known.insert(at, (nest.clone(), starts));
        Ok((nest, starts))
    }

    /// The loop that is meant.
    fn find(&self, told: &InnerLoop, level: usize) -> Result<usize, Kind> {
        let mut named = self.loops.iter().enumerate().filter(|(_, g)| g.name == told.name).map(|(i, _)| i);
        let Some(found) = named.next() else { return Err(Kind::UnknownLoop(told.name.clone())) };
        if named.next().is_some() {
            return Err(Kind::DuplicateLoop(told.name.clone()));
        }
        if self.path.contains(&found) {
            return Err(Kind::LoopInItself(told.name.clone()));
        }
        if told.trips == 0 {
            return Err(Kind::NoTrip);
        }
        if level + 1 >= MOST_LEVELS {
            let (value, limit) = (level as i128 + 2, MOST_LEVELS as i128);
            return Err(Kind::TooLarge { what: "the number of loops inside each other", value, limit });
        }
        Ok(found)
    }

    /// Why a loop with an unknown number of inner iterations cannot be stretched: what would have to stay together, or is
    /// itself inside a loop.
    fn unstretchable(&self, graph: &LoopGraph, level: usize) -> Option<(String, &'static str)> {
        let open = graph.nodes.iter().position(|v| v.inner.as_ref().is_some_and(|i| i.or_more))?;
        if level > 0 {
            return Some((format!("nodes[{open}].inner"), "the loop around it is inside another one"));
        }
        if let Some(i) = graph.edges.iter().position(|e| e.latency < 0) {
            return Some((format!("edges[{i}]"), "a negative latency keeps operations together"));
        }
        for (i, v) in graph.nodes.iter().enumerate() {
            if let Some(j) = v.uses.iter().position(|u| u.start > 0) {
                let place = format!("nodes[{i}].uses[{j}]");
                return Some((place, "a use that begins after its operation cannot grow away from it"));
            }
        }
        let early = |v: &crate::model::graph::LoopValue| v.start != 0 || v.uses.iter().any(|u| u.end < 0);
        let i = graph.values.iter().position(early)?;
        Some((
            format!("values[{i}]"),
            "a value is not written from the start of its operation, or free before a read",
        ))
    }
}

fn refused(at: String, kind: Kind) -> ScheduleError {
    GraphErrors::of(vec![GraphError { at, kind }])
        .map_or(ScheduleError::GaveUp { lower_bound: 1 }, ScheduleError::Graph)
}

/// The reasons of the outer loop, at places that the graph has: the holds of inner loops stand nowhere in it.
fn placed(graph: &LoopGraph, errors: GraphErrors) -> GraphErrors {
    let moved = errors.iter().map(|e| {
        let node = e.at.strip_prefix("nodes[").and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        let inner = node.filter(|&n| graph.nodes.get(n).is_some_and(|v| v.inner.is_some()));
        let at = inner.map_or_else(|| e.at.clone(), |n| format!("nodes[{n}].inner"));
        GraphError { at, kind: e.kind.clone() }
    });
    GraphErrors::of(moved.collect()).unwrap_or(errors)
}

/// Makes the operation of the outer loop hold what the inner one does.
fn replace(outer: &mut LoopGraph, id: usize, told: &InnerLoop, nest: NestAnswer) -> Result<InnerRun, Kind> {
    let within = |value: i128| match i64::try_from(value).ok().filter(|v| *v < 1 << 31) {
        Some(value) => Ok(value),
        None => Err(Kind::TooLarge { what: "the run of the loop", value, limit: (1 << 31) - 1 }),
    };
    let turns = i128::from(nest.answer.ii) * (i128::from(told.trips) - 1);
    // What is stretched takes a cycle at least, so that there is one before whose end it grows.
    let length = if told.or_more { nest.answer.length.max(1) } else { nest.answer.length };
    let run = within(turns + i128::from(length))?;
    let holds = holds(&nest);
    // What is stretched is held from its start to its end.
    let last = holds.values().map(|h| h.end).max().unwrap_or(0);
    let end = |end: i64| within(turns + i128::from(if told.or_more { last.max(length) } else { end }));
    let mut uses = Vec::new();
    for (name, hold) in &holds {
        let Some(resource) = outer.resources.iter().find(|r| r.name == *name) else {
            return Err(Kind::UnknownResource(name.clone()));
        };
        if resource.interleaved != hold.taken.is_some() {
            return Err(Kind::InterleavedElsewhere(name.clone()));
        }
        if let Some(taken) = hold.taken {
            // Of more units in the inner loop an iteration may take more than its cycles bring here.
            if told.or_more && i128::from(taken) > i128::from(resource.count) * i128::from(nest.answer.ii) {
                let reason =
                    "one more iteration takes more in turn than the units of this loop give in its II";
                return Err(Kind::NotStretchable(reason));
            }
            let duration = within(i128::from(taken) * i128::from(told.trips))? as u64;
            uses.push(ResourceUse { resource: name.clone(), duration, ..ResourceUse::default() });
            continue;
        }
        let start = if told.or_more { 0 } else { hold.start };
        let one = ResourceUse {
            resource: name.clone(),
            start: start as u64,
            duration: (end(hold.end)? - start) as u64,
            ..ResourceUse::default()
        };
        uses.extend(std::iter::repeat_n(one, hold.units));
    }
    for e in outer.edges.iter_mut().filter(|e| e.src == id) {
        e.latency = e.latency.saturating_add(run);
    }
    for u in outer.values.iter_mut().flat_map(|v| &mut v.uses).filter(|u| u.node == id) {
        u.end = u.end.saturating_add(run);
    }
    let LoopGraph { nodes, resources, .. } = outer;
    if let Some(node) = nodes.get_mut(id) {
        lengthen(node, resources, run);
        node.uses.append(&mut uses);
    }
    Ok(InnerRun { node: id, trips: told.trips, run, grows_at: None, nest })
}

/// The operation as one that takes this long, with its own latency and uses after that.
fn lengthen(node: &mut LoopNode, resources: &[LoopResource], run: i64) {
    node.inner = None;
    node.latency = node.latency.saturating_add(run);
    for u in node.uses.iter_mut().filter(|u| !is_interleaved(resources, &u.resource)) {
        u.duration = u.duration.saturating_add(run as u64).saturating_sub(u.start);
    }
}

/// What one iteration holds of a resource, and how much of it the iterations hold together.
struct Hold {
    start: i64,
    end: i64,
    units: usize,
    /// The cycles that one iteration takes in turn, of an interleaved resource.
    taken: Option<i64>,
}

fn holds(nest: &NestAnswer) -> BTreeMap<String, Hold> {
    let ii = nest.answer.ii.max(1);
    let time = StartSchedule::from(&nest.answer).times();
    let bound: BTreeMap<(usize, usize), &str> =
        nest.answer.bindings.iter().map(|b| ((b.node, b.at), b.resource.as_str())).collect();
    // Per resource, the stretches of one iteration, and the changes around the table.
    let mut all: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
    for v in &nest.outer.nodes {
        for (at, u) in v.uses.iter().enumerate().filter(|(_, u)| u.duration > 0) {
            let start = time.get(v.id).copied().unwrap_or(0) + u.start as i64;
            let name = bound.get(&(v.id, at)).copied().unwrap_or(&u.resource);
            all.entry(name).or_default().push((start, start + u.duration as i64));
        }
    }
    let one = |(name, list): (&str, Vec<(i64, i64)>)| {
        let start = list.iter().map(|s| s.0).min().unwrap_or(0);
        let end = list.iter().map(|s| s.1).max().unwrap_or(0);
        let in_turn = is_interleaved(&nest.outer.resources, name);
        let taken = list.iter().fold(0i64, |sum, (start, end)| sum.saturating_add(end - start));
        let units = if in_turn { 0 } else { most_at_once(&list, ii) };
        (name.to_owned(), Hold { start, end, units, taken: in_turn.then_some(taken) })
    };
    all.into_iter().map(one).collect()
}

/// The greatest number of stretches at one cycle of the table.
fn most_at_once(list: &[(i64, i64)], ii: i64) -> usize {
    let (mut everywhere, mut change) = (0, BTreeMap::<i64, i64>::new());
    for &(start, end) in list {
        let (from, rest) = (start.rem_euclid(ii), (end - start) % ii);
        everywhere += (end - start) / ii;
        *change.entry(from).or_default() += i64::from(rest > 0);
        *change.entry((from + rest) % ii).or_default() -= i64::from(rest > 0);
        *change.entry(0).or_default() += i64::from(rest > 0 && from + rest >= ii);
    }
    let loads = change.values().scan(everywhere, |load, step| {
        *load += step;
        Some(*load)
    });
    loads.max().unwrap_or(0).max(0) as usize
}

/// Where the table is cut for more iterations: when the inner loop, as known, is over.
fn grows_at(graph: &LoopGraph, run: &InnerRun, answer: &Answer) -> Option<i64> {
    graph.nodes.get(run.node)?.inner.as_ref().filter(|i| i.or_more)?;
    let start = answer.nodes.iter().find(|v| v.id == run.node)?.time;
    Some((start + run.run).rem_euclid(answer.ii.max(1)))
}
