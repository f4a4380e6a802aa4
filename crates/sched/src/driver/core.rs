//! Why not an II that is smaller by one: a part of the loop that refutes it, and the least changes that allow it (S102).

use crate::bounds::least_ii::{bounds_of, resource_bound};
use crate::bounds::self_fit::next_self_fit;
use crate::driver::session::{HARD, Session};
use crate::exact::ask::{at_ii, crowds_refute};
use crate::exact::verdict::Verdict;
use crate::model::answer::Answer;
use crate::model::core::{CoreMember, LoopCore, LoopRemedy};
use crate::model::error::ScheduleError;
use crate::model::graph::{LoopEdge, LoopGraph};
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::{Problem, own_caps};
use crate::model::validate::{ValidGraph, validate};

/// At most so many remedies are told.
const MOST_REMEDIES: usize = 8;

/// Of more than so many parts of the constraints, more than so many in four are needed: then single ones are asked about.
const FEW_PARTS: usize = 8;
const OFTEN: usize = 3;

/// What keeps a loop whose II is proved from one that is smaller by one: constraints that have no schedule together, and
/// each of which is needed for that; and changes of a single one that would allow it. `None` where the II is 1, is not
/// proved, or the refutation takes more than the steps of the options.
///
/// # Errors
/// [`ScheduleError::Partitions`] for an answer with partitions: ask about the loop of one assignment;
/// [`ScheduleError::Answer`] for a loop with alternatives: ask about it as it is bound.
pub fn loop_core(
    graph: &ValidGraph<'_>,
    answer: &Answer,
    options: &ScheduleOptions,
) -> Result<Option<LoopCore>, ScheduleError> {
    if !answer.partitions.is_empty() {
        let message = "a core is that of a loop whose partitions are given".to_owned();
        return Err(ScheduleError::Partitions(message));
    }
    if graph.whole().has_alternatives() {
        let message =
            "a core is that of a loop whose uses are bound: ask about `LoopGraph::bound`".to_owned();
        return Err(ScheduleError::Answer(message));
    }
    if !answer.optimal || answer.ii <= 1 {
        return Ok(None);
    }
    let mut asker =
        Asker { graph: graph.whole(), ii: answer.ii - 1, options, guard: Guard::new(options), hard: false };
    let members = asker.members();
    if !matches!(asker.ask(&members), Told::Refuted) {
        return Ok(None);
    }
    let (members, witnesses) = asker.shrink(members);
    let minimal = witnesses.iter().all(|w| !w.is_empty());
    let remedies = asker.remedies(&members);
    Ok(Some(LoopCore { ii: answer.ii - 1, members, witnesses, minimal, remedies }))
}

/// What is known of some constraints at the II.
enum Told {
    Schedule(Vec<i64>),
    Refuted,
    Nothing,
}

struct Asker<'a> {
    graph: &'a LoopGraph,
    ii: i64,
    options: &'a ScheduleOptions,
    guard: Guard,
    /// What was refuted last took a search, which is dear, so that crowds are looked at first.
    hard: bool,
}

impl Asker<'_> {
    /// All constraints of the loop.
    fn members(&self) -> Vec<CoreMember> {
        let g = self.graph;
        let caps = own_caps(g);
        let uses = g.nodes.iter().flat_map(|v| (0..v.uses.len()).map(move |u| CoreMember::Use(v.id, u)));
        let values = || (0..).zip(&g.values).flat_map(|(i, v)| (0..v.uses.len()).map(move |u| (i, u)));
        let slots = values().filter(|(i, _): &(usize, usize)| caps.get(*i).copied().flatten().is_some());
        (0..g.edges.len())
            .map(CoreMember::Edge)
            .chain(values().map(|(i, u)| CoreMember::Read(i, u)))
            .chain(slots.map(|(i, u)| CoreMember::Slot(i, u)))
            .chain(uses)
            .collect()
    }

    /// The loop with these constraints alone. A slot's edge of negative distance is kept by its value.
    fn part(&self, members: &[CoreMember]) -> LoopGraph {
        let g = self.graph;
        let caps = own_caps(g);
        let mut part = LoopGraph {
            name: g.name.clone(),
            resources: g.resources.clone(),
            nodes: g.nodes.clone(),
            ..LoopGraph::default()
        };
        part.nodes.iter_mut().for_each(|v| (v.uses, v.partition) = (Vec::new(), None));
        for member in members {
            match *member {
                CoreMember::Edge(e) => part.edges.extend(g.edges.get(e).cloned()),
                CoreMember::Use(v, u) => {
                    let wanted = g.nodes.get(v).and_then(|node| node.uses.get(u)).cloned();
                    part.nodes.get_mut(v).into_iter().for_each(|node| node.uses.extend(wanted.clone()));
                }
                CoreMember::Read(i, u) | CoreMember::Slot(i, u) => {
                    let (Some(v), cap) = (g.values.get(i), caps.get(i).copied().flatten()) else { continue };
                    let Some(read) = v.uses.get(u) else { continue };
                    part.edges.push(match (member, cap) {
                        (CoreMember::Slot(..), Some(cap)) => LoopEdge {
                            src: read.node,
                            dst: v.def,
                            latency: read.end - v.start,
                            distance: cap.slots as i64 - read.distance,
                        },
                        _ => {
                            LoopEdge { src: v.def, dst: read.node, latency: v.start, distance: read.distance }
                        }
                    });
                }
            }
        }
        part
    }

    fn ask(&mut self, members: &[CoreMember]) -> Told {
        let part = self.part(members);
        self.ask_of(&part)
    }

    /// Is there a schedule of this loop at the II?
    fn ask_of(&mut self, part: &LoopGraph) -> Told {
        let problem = Problem::new(part, &[]);
        if problem.dependences.arcs.iter().all(|a| a.distance >= 0) {
            match validate(part) {
                Ok(valid) if bounds_of(&valid.problem).mii > self.ii => return Told::Refuted,
                Ok(_) => {}
                Err(_) => return Told::Nothing,
            }
        } else if resource_bound(&problem).0 > self.ii
            || crate::model::paths::heads(&problem, self.ii).is_none()
        {
            return Told::Refuted;
        }
        // An II at which an operation alone has no room is no question for a search (S14).
        if next_self_fit(&problem, self.ii) != self.ii {
            return Told::Refuted;
        }
        let mut session = Session::new(&problem, self.options, &mut self.guard);
        session.last_question();
        if self.hard && crowds_refute(&problem, self.ii, &mut session.budget) {
            return Told::Refuted;
        }
        if let Some(time) = session.heuristic(&problem, self.ii) {
            return Told::Schedule(time);
        }
        let before = session.budget.nodes;
        match at_ii(&problem, self.ii, self.options.seed, &mut session.budget, session.guard) {
            Verdict::Found(time) => Told::Schedule(time),
            Verdict::Refuted => {
                self.hard = before - session.budget.nodes > HARD;
                Told::Refuted
            }
            Verdict::Undecided => Told::Nothing,
        }
    }

    /// Leaves out what is not needed: halves first, then smaller parts as long as they are often not needed, then single ones.
    fn shrink(&mut self, mut members: Vec<CoreMember>) -> (Vec<CoreMember>, Vec<Vec<i64>>) {
        let mut part = members.len().div_ceil(2);
        while part > 1 {
            let (mut at, mut needed) = (0, 0);
            let parts = members.len().div_ceil(part);
            while at < members.len() {
                let rest: Vec<CoreMember> = members
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| !(at..at + part).contains(i))
                    .map(|(_, m)| *m)
                    .collect();
                if matches!(self.ask(&rest), Told::Refuted) {
                    members = rest;
                } else {
                    at += part;
                    needed += 1;
                }
            }
            part = if parts > FEW_PARTS && needed * 4 > parts * OFTEN {
                1
            } else {
                part.div_ceil(2).min(part - 1)
            };
        }
        let (mut witnesses, mut at) = (Vec::new(), 0);
        while at < members.len() {
            let mut rest = members.clone();
            rest.remove(at);
            match self.ask(&rest) {
                Told::Refuted => members = rest,
                Told::Schedule(time) => {
                    // The times of a schedule may be negative.
                    let least = time.iter().copied().min().unwrap_or(0);
                    witnesses.push(time.iter().map(|t| t - least).collect());
                    at += 1;
                }
                Told::Nothing => {
                    witnesses.push(Vec::new());
                    at += 1;
                }
            }
        }
        (members, witnesses)
    }

    /// Single changes of members that allow the II for the whole loop, the fewest cycles first.
    fn remedies(&mut self, members: &[CoreMember]) -> Vec<LoopRemedy> {
        let whole = self.part(&self.members());
        let mut found: Vec<(i64, LoopRemedy)> = Vec::new();
        let mut resources: Vec<&str> = Vec::new();
        for member in members {
            match *member {
                CoreMember::Edge(edge) => {
                    let change = |g: &mut LoopGraph, cycles| g.edges[edge].latency -= cycles;
                    let most = self.graph.edges[edge].latency.max(1);
                    if let Some(cycles) = self.least(&whole, most, &change) {
                        found.push((cycles, LoopRemedy::Latency { edge, cycles }));
                    }
                }
                CoreMember::Use(node, at) => {
                    let u = &self.graph.nodes[node].uses[at];
                    if !resources.contains(&u.resource.as_str()) {
                        resources.push(&u.resource);
                    }
                    let change =
                        |g: &mut LoopGraph, cycles: i64| g.nodes[node].uses[at].duration -= cycles as u64;
                    if let Some(cycles) = self.least(&whole, u.duration as i64, &change) {
                        found.push((cycles, LoopRemedy::Hold { node, at, cycles }));
                    }
                }
                CoreMember::Read(..) | CoreMember::Slot(..) => {}
            }
        }
        for resource in resources {
            let more = |g: &mut LoopGraph, _| {
                g.resources.iter_mut().filter(|r| r.name == resource).for_each(|r| r.count += 1);
            };
            if self.least(&whole, 1, &more).is_some() {
                found.push((i64::MAX, LoopRemedy::Unit { resource: resource.to_owned() }));
            }
        }
        found.sort_by_key(|(cycles, _)| *cycles);
        found.into_iter().map(|(_, remedy)| remedy).take(MOST_REMEDIES).collect()
    }

    /// The least number of cycles up to `most` by which a change must be made; less never helps where more does not.
    fn least(&mut self, whole: &LoopGraph, most: i64, change: &dyn Fn(&mut LoopGraph, i64)) -> Option<i64> {
        let mut suffices = |cycles: i64| {
            let mut g = whole.clone();
            change(&mut g, cycles);
            matches!(self.ask_of(&g), Told::Schedule(_))
        };
        if most < 1 || !suffices(most) {
            return None;
        }
        let (mut low, mut high) = (1, most);
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if suffices(middle) { (low, middle) } else { (middle + 1, high) };
        }
        Some(high)
    }
}
