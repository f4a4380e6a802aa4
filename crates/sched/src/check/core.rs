//! S102: a core refutes its II, and less of it does not.
//!
//! The refutation is found again, by a search of its own: earliest times of the members' differences, and of those that many
//! uses between two operations make; where more units are held than there are, one of two uses must be moved past the other,
//! and every way is tried. A member that is needed comes
//! with a schedule of the others, which is replayed.

use super::crowds::{Difference, Hold, crowds};
use super::exits::waited;
use super::report::Report;
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use crate::model::core::{CoreMember, LoopCore};
use crate::model::graph::{LoopGraph, LoopResource};
use std::collections::BTreeMap;

/// Looks at a difference after which a refutation counts as not found: some seconds.
const MOST_LOOKS: u64 = 1 << 33;

/// Checks that the members of a core have no schedule at its II, and that every witness is one of the others.
///
/// # Errors
/// All violations found. Remedies are not checked: schedule the changed loop.
pub fn core(graph: &LoopGraph, core: &LoopCore) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let graph = &*waited(graph);
    let ii = i128::from(core.ii);
    let known = core.members.iter().all(|m| constraint(graph, *m, ii).is_some());
    let sizes = core.witnesses.len() == core.members.len()
        && core.witnesses.iter().all(|w| w.is_empty() || w.len() == graph.nodes.len());
    if ii < 1 || !known || !sizes {
        report.add(
            Kind::Shape,
            "core",
            "members of this loop, a witness for each, and an II of at least 1 are expected",
        );
        return report.verdict();
    }
    let unproved = core.witnesses.iter().filter(|w| w.is_empty()).count();
    if core.minimal != (unproved == 0) {
        let message = format!("minimal is {}, and {unproved} members have no witness", core.minimal);
        report.add(Kind::Core, "minimal", message);
    }
    for (i, times) in core.witnesses.iter().enumerate().filter(|(_, w)| !w.is_empty()) {
        let others: Vec<CoreMember> =
            core.members.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, m)| *m).collect();
        if let Some(broken) = broken(graph, &others, ii, times) {
            let message = format!("its witness breaks {broken:?}, so that it may not be needed");
            report.add(Kind::Core, format!("member {i}"), message);
        }
    }
    let mut refuter = Refuter::new(graph, core);
    match if refuter.too_much() || refuter.crowded() { Some(true) } else { refuter.refutes() } {
        Some(true) => {}
        Some(false) => report.add(Kind::Core, "members", format!("they have a schedule at II {ii}")),
        None => report.add(
            Kind::Core,
            "members",
            format!("not refuted within {MOST_LOOKS} looks at a difference at II {ii}"),
        ),
    }
    report.verdict()
}

enum Constraint<'g> {
    Difference(Difference),
    Hold(Hold<'g>),
}

/// What a member says at this II; nodes are counted from 1.
fn constraint(graph: &LoopGraph, member: CoreMember, ii: i128) -> Option<Constraint<'_>> {
    let wait = |src: usize, dst: usize, latency: i128, distance: i128| {
        let known = src < graph.nodes.len() && dst < graph.nodes.len();
        let least = latency - ii * distance;
        known.then_some(Constraint::Difference(Difference { src: src + 1, dst: dst + 1, least }))
    };
    match member {
        CoreMember::Edge(i) => {
            let e = graph.edges.get(i)?;
            wait(e.src, e.dst, e.latency.into(), e.distance.into())
        }
        CoreMember::Read(i, j) => {
            let v = graph.values.get(i)?;
            let u = v.uses.get(j)?;
            wait(v.def, u.node, v.start.into(), u.distance.into())
        }
        CoreMember::Slot(i, j) => {
            let v = graph.values.get(i)?;
            let u = v.uses.get(j)?;
            let peers =
                graph.values.iter().filter(|w| w.id == v.id || w.group.is_some() && w.group == v.group);
            let slots = peers.filter_map(|w| w.max_depth).min()?;
            wait(
                u.node,
                v.def,
                i128::from(u.end) - i128::from(v.start),
                i128::from(slots) - i128::from(u.distance),
            )
        }
        CoreMember::Use(node, j) => {
            let u = graph.nodes.get(node)?.uses.get(j)?;
            let (start, duration) = (i128::from(u.start), i128::from(u.duration));
            Some(Constraint::Hold(Hold { node: node + 1, resource: &u.resource, start, duration }))
        }
    }
}

/// The first of these members that the times break; a use where its resource is held too often.
fn broken(graph: &LoopGraph, members: &[CoreMember], ii: i128, times: &[i64]) -> Option<CoreMember> {
    let at = |node: usize| i128::from(times[node - 1]);
    let mut holds: Vec<(CoreMember, Hold<'_>)> = Vec::new();
    for &member in members {
        match constraint(graph, member, ii)? {
            Constraint::Difference(d) if at(d.dst) - at(d.src) < d.least => return Some(member),
            Constraint::Difference(_) => {}
            Constraint::Hold(hold) => holds.push((member, hold)),
        }
    }
    let all: Vec<&Hold<'_>> = holds.iter().map(|(_, h)| h).collect();
    if let Some(r) = graph.resources.iter().find(|r| too_many(&all, r, ii)) {
        return holds.iter().find(|(_, h)| h.resource == r.name).map(|(m, _)| *m);
    }
    overload(graph, &all, ii, &|node| at(node)).and_then(|clique| Some(holds.get(clique.first()?.0)?.0))
}

/// Uses, by their places in the list, that are held in one cycle and are more than there are units, whole turns counted;
/// and for each how long before that cycle its hold began.
type Clique = Vec<(usize, i128)>;

fn overload(graph: &LoopGraph, holds: &[&Hold<'_>], ii: i128, at: &dyn Fn(usize) -> i128) -> Option<Clique> {
    for r in graph.resources.iter().filter(|r| !r.interleaved) {
        let own = || holds.iter().enumerate().filter(|(_, h)| h.resource == r.name && h.duration > 0);
        let whole: i128 = own().map(|(_, h)| h.duration / ii).sum();
        let room = i128::from(r.count) - whole;
        for (i, first) in own() {
            let cycle = at(first.node) + first.start;
            let since = |h: &Hold<'_>| (cycle - at(h.node) - h.start).rem_euclid(ii);
            let meet = own().filter(|(_, h)| since(h) < h.duration % ii).map(|(i, h)| (i, since(h)));
            let mut meet: Clique = meet.collect();
            if meet.len() as i128 > room {
                // Where whole turns alone are too many, any use stands for them.
                meet.truncate(usize::try_from(room.max(0)).unwrap_or(usize::MAX).saturating_add(1));
                return Some(if meet.is_empty() { vec![(i, 0)] } else { meet });
            }
        }
    }
    None
}

/// Whether a resource is held for more cycles than it has: all that is asked of one that is interleaved.
fn too_many(holds: &[&Hold<'_>], r: &LoopResource, ii: i128) -> bool {
    let own = holds.iter().filter(|h| h.resource == r.name);
    own.map(|h| h.duration).sum::<i128>() > ii * i128::from(r.count)
}

struct Refuter<'g> {
    graph: &'g LoopGraph,
    ii: i128,
    differences: Vec<Difference>,
    holds: Vec<Hold<'g>>,
    looks: u64,
}

impl<'g> Refuter<'g> {
    /// The members, with one operation of each set that is connected in [0, II): a set may be moved by whole turns.
    fn new(graph: &'g LoopGraph, core: &LoopCore) -> Self {
        let ii = i128::from(core.ii);
        let (mut differences, mut holds) = (Vec::new(), Vec::new());
        for &member in &core.members {
            match constraint(graph, member, ii) {
                Some(Constraint::Difference(d)) => differences.push(d),
                Some(Constraint::Hold(h)) => holds.push(h),
                None => {}
            }
        }
        // Dependences between sets on no common circle forbid nothing: either set moves by whole turns.
        let set = strong(graph.nodes.len() + 1, &differences);
        differences.retain(|d| set[d.src] == set[d.dst]);
        let roots: BTreeMap<usize, usize> = (1..=graph.nodes.len()).rev().map(|v| (set[v], v)).collect();
        for &root in roots.values() {
            differences.push(Difference { src: 0, dst: root, least: 0 });
            differences.push(Difference { src: root, dst: 0, least: 1 - ii });
        }
        Refuter { graph, ii, differences, holds, looks: 0 }
    }

    /// Whether some resource is held for more cycles than it has.
    fn too_much(&self) -> bool {
        let holds: Vec<&Hold<'_>> = self.holds.iter().collect();
        self.graph.resources.iter().any(|r| too_many(&holds, r, self.ii))
    }

    /// Whether many uses between two operations say that there is no schedule; what else they say is kept.
    fn crowded(&mut self) -> bool {
        let rows = self.graph.resources.iter().filter(|r| !r.interleaved);
        let units = rows.map(|r| (r.name.as_str(), i128::from(r.count))).collect();
        match crowds(&self.differences, &self.holds, &units, self.ii) {
            Some(more) => self.differences.extend(more),
            None => return true,
        }
        false
    }

    /// Whether there is no schedule; `None` when that takes too long.
    fn refutes(&mut self) -> Option<bool> {
        if self.looks > MOST_LOOKS {
            return None;
        }
        let nodes = self.graph.nodes.len() + 1;
        let Some(time) = earliest(nodes, &self.differences, &mut self.looks) else { return Some(true) };
        let holds: Vec<&Hold<'_>> = self.holds.iter().collect();
        let Some(clique) = overload(self.graph, &holds, self.ii, &|node| time[node]) else {
            return Some(false);
        };
        // Not all of these meet as they do here: some pair is further apart, in one direction or the other. What is refuted
        // does not hold from then on, so that no two ways share a schedule.
        let known = self.differences.len();
        let mut verdict = Some(true);
        for way in self.ways(&clique, &time) {
            self.differences.push(way);
            verdict = self.refutes();
            self.differences.pop();
            if verdict != Some(true) {
                break;
            }
            self.differences.push(Difference { src: way.dst, dst: way.src, least: 1 - way.least });
        }
        self.differences.truncate(known);
        verdict
    }

    /// For each pair of a clique the two differences of which one holds where they do not meet as at these times.
    fn ways(&self, clique: &Clique, time: &[i128]) -> Vec<Difference> {
        let mut ways = Vec::new();
        for (n, &(j, since_b)) in clique.iter().enumerate() {
            for &(i, since_a) in &clique[..n] {
                let (a, b) = (&self.holds[i], &self.holds[j]);
                let (held_a, held_b) = (a.duration % self.ii, b.duration % self.ii);
                let offset = b.start - a.start;
                let x = time[b.node] - time[a.node] + offset;
                // They meet around this multiple of the II.
                let turn = x - (since_a - since_b);
                let both = [
                    Difference { src: a.node, dst: b.node, least: turn + held_a - offset },
                    Difference { src: b.node, dst: a.node, least: held_b - turn + offset },
                ];
                ways.extend(both.into_iter().filter(|w| w.src != w.dst));
            }
        }
        ways
    }
}

/// Longest paths from the origin; `None` where they do not end.
fn earliest(nodes: usize, differences: &[Difference], looks: &mut u64) -> Option<Vec<i128>> {
    let mut far: Vec<Option<i128>> = vec![None; nodes];
    far[0] = Some(0);
    for _ in 0..=nodes {
        *looks += differences.len() as u64;
        let mut moved = false;
        for d in differences {
            if let Some(reach) = far[d.src].map(|t| t + d.least)
                && far[d.dst].is_none_or(|t| t < reach)
            {
                far[d.dst] = Some(reach);
                moved = true;
            }
        }
        if far[0].is_some_and(|t| t > 0) {
            return None;
        }
        if !moved {
            return Some(far.into_iter().map(|t| t.unwrap_or(0)).collect());
        }
    }
    None
}

/// The least node of each node's circle: nodes reach each other or not, by a closure of Warshall on those that matter.
fn strong(nodes: usize, differences: &[Difference]) -> Vec<usize> {
    let touched: Vec<usize> = {
        let mut all: Vec<usize> = differences.iter().flat_map(|d| [d.src, d.dst]).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let place = |v: usize| touched.binary_search(&v).unwrap_or(0);
    let n = touched.len();
    let mut reaches = vec![false; n * n];
    differences.iter().for_each(|d| reaches[place(d.src) * n + place(d.dst)] = true);
    for k in 0..n {
        for i in (0..n).filter(|i| *i != k) {
            if reaches[i * n + k] {
                (0..n).for_each(|j| reaches[i * n + j] |= reaches[k * n + j]);
            }
        }
    }
    let mut set: Vec<usize> = (0..nodes).collect();
    for (j, &v) in touched.iter().enumerate() {
        let first = (0..j).find(|&i| reaches[i * n + j] && reaches[j * n + i]);
        set[v] = first.map_or(v, |i| touched[i]);
    }
    set
}
