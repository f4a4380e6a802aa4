//! Loops in loops: a problem whose regions nest, written level by level (B79).
//!
//! A value belongs to the innermost loop that holds its producer and all of its uses; its ring turns with the
//! iterations of that loop. An op deeper than that is seen from there as one op that stands where its region stands, is
//! issued when its partition comes to that region, and completes when all of its instances of that turn have: so a slot
//! is acquired before the inner loop and released behind it. What is left is a problem in which every value and
//! everything that touches it are in one region, or in regions one after the other, as before.
//!
//! A partition that waits for an op waits, of an inner region, for the last instance: the ops of a partition outside
//! such a region come behind all instances of it in the turns before, which is written as an edge of the caller's.

use crate::input::{BufferValue, CallerEdge, Exit, Inside, Problem, RegionKind, Repeat, ScheduledOp};
use crate::model::MAX_TIME;
use crate::output::AssignError;
use std::collections::{BTreeMap, BTreeSet};

/// A problem without nesting, and what its new ops are in the one with it.
pub(crate) struct Flat {
    pub problem: Problem,
    pub origin: BTreeMap<u64, u64>,
}

/// The problem level by level; `None` where no region stands inside another.
///
/// # Errors
/// Regions that do not nest, and what nests have no form for, with the field at fault.
pub(crate) fn flat(problem: &Problem) -> Result<Option<Flat>, AssignError> {
    if problem.regions.iter().all(|r| r.inside.is_none()) {
        return Ok(None);
    }
    let mut nest = Nest {
        chains: chains(problem)?,
        ops: problem.ops.iter().enumerate().map(|(k, o)| (o.id, k)).collect(),
        regions: problem.regions.iter().enumerate().map(|(k, r)| (r.id, k)).collect(),
        seen: BTreeMap::new(),
        next: problem.ops.iter().map(|o| o.id).max().unwrap_or(0),
        problem,
    };
    let homes = nest.homes();
    let mut values = Vec::with_capacity(problem.values.len());
    for v in &problem.values {
        values.push(nest.value(v, homes.get(&v.id).map_or(&[], Vec::as_slice))?);
    }
    nest.one_writer(&homes)?;
    let mut edges = Vec::with_capacity(problem.edges.len());
    for (k, e) in problem.edges.iter().enumerate() {
        edges.push(nest.edge(k, e)?);
    }
    Ok(Some(nest.finish(values, edges)))
}

/// The regions around an op, from the top of the kernel to its own.
type Chain = Vec<usize>;

struct Nest<'a> {
    problem: &'a Problem,
    /// Regions around each region, itself last.
    chains: Vec<Chain>,
    ops: BTreeMap<u64, usize>,
    regions: BTreeMap<u64, usize>,
    /// Op and region that sees it: the op there, and the region of its body that holds the op.
    seen: BTreeMap<(u64, usize), (u64, usize)>,
    /// The last id in use.
    next: u64,
}

fn refuse(region: u64, field: &str, why: impl std::fmt::Display) -> AssignError {
    AssignError::invalid(format!("regions[id={region}].{field}"), format!("{why} (B79)"))
}

/// The regions around each region, itself last (B79).
fn chains(problem: &Problem) -> Result<Vec<Chain>, AssignError> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut ranks: BTreeSet<(u64, u64)> =
        problem.ops.iter().filter_map(|o| Some((o.region?, o.order?))).collect();
    for (k, r) in problem.regions.iter().enumerate() {
        let Some(Inside { region, stage, cycle, order, latency }) = r.inside else {
            chains.push(vec![k]);
            continue;
        };
        if problem.repeat != Repeat::None {
            return Err(AssignError::invalid(
                "repeat",
                "with loops in loops, write the outermost loop too (B79)",
            ));
        }
        let outer = problem.regions[..k].iter().position(|o| o.id == region);
        let around = outer.filter(|o| chains[k - 1].contains(o));
        let Some(outer) = around else {
            return Err(refuse(
                r.id,
                "inside.region",
                "a region stands right behind the loop around it, or behind others of its body",
            ));
        };
        let o = &problem.regions[outer];
        if o.kind != RegionKind::Loop {
            return Err(refuse(r.id, "inside.region", format!("region {} is no loop", o.id)));
        }
        if o.ii.is_some_and(|ii| cycle >= ii) {
            return Err(refuse(r.id, "inside.cycle", "not below the II of the loop around it"));
        }
        if o.stages.is_some_and(|s| stage >= s) {
            return Err(refuse(r.id, "inside.stage", "not below the stages of the loop around it"));
        }
        // Here, where the field has a name: further on it is the latency of an operation that nobody wrote.
        if latency > MAX_TIME {
            let message = format!("{latency} cycles are more than {MAX_TIME}");
            return Err(refuse(r.id, "inside.latency", message));
        }
        if !ranks.insert((region, order)) {
            return Err(refuse(r.id, "inside.order", "an op or a region of that loop has this rank"));
        }
        if r.exit == Exit::Early {
            return Err(refuse(r.id, "exit", "a loop in a loop does not stop with copies in flight"));
        }
        let mut chain = chains[outer].clone();
        chain.push(k);
        chains.push(chain);
    }
    Ok(chains)
}

impl Nest<'_> {
    fn op(&self, id: u64) -> Option<&ScheduledOp> {
        self.ops.get(&id).map(|&k| &self.problem.ops[k])
    }

    /// Regions around an op; empty where it has no place.
    fn chain(&self, op: u64) -> &[usize] {
        let region = self.op(op).and_then(|o| o.region).and_then(|r| self.regions.get(&r));
        region.map_or(&[], |&r| self.chains[r].as_slice())
    }

    /// The regions that hold all ops of each value and of those that share its storage, outermost first.
    fn homes(&self) -> BTreeMap<u64, Chain> {
        let by_id: BTreeMap<u64, &BufferValue> = self.problem.values.iter().map(|v| (v.id, v)).collect();
        let root = |v: &BufferValue| {
            let mut at = v;
            for _ in 0..self.problem.values.len() {
                match at.view_of.and_then(|o| by_id.get(&o)) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            at.root.map_or((1, at.id), |r| (0, r))
        };
        let mut common: BTreeMap<(u8, u64), Option<Chain>> = BTreeMap::new();
        for v in &self.problem.values {
            let home = common.entry(root(v)).or_insert(None);
            let ops = v.producer.iter().map(|p| p.op).chain(v.consumers.iter().map(|c| c.op));
            for chain in ops.map(|op| self.chain(op)) {
                let home = home.get_or_insert_with(|| chain.to_vec());
                home.truncate(shared(home, chain));
            }
            // What is there before the kernel's regions is there in every turn of every loop.
            if v.live_in
                && let Some(home) = home
            {
                home.clear();
            }
        }
        let of = |v: &BufferValue| common.get(&root(v)).cloned().flatten().unwrap_or_default();
        self.problem.values.iter().map(|v| (v.id, of(v))).collect()
    }

    /// An op as it is seen from a value's home, and how many regions of its chain are those of the home.
    fn project(&mut self, op: u64, home: &[usize]) -> (u64, usize) {
        let chain = self.chain(op).to_vec();
        // Outside of all loops, what a nest holds is seen from its outermost loop.
        let depth = home.len().max(1);
        let (Some(&sees), Some(&body)) = (chain.get(depth - 1), chain.get(depth)) else { return (op, depth) };
        let next = &mut self.next;
        let seen = self.seen.entry((op, sees)).or_insert_with(|| {
            *next += 1;
            (*next, body)
        });
        (seen.0, depth)
    }

    /// A value with its ops as its home sees them.
    fn value(&mut self, v: &BufferValue, home: &[usize]) -> Result<BufferValue, AssignError> {
        let field = |f: &str, why: &str| {
            Err(AssignError::invalid(format!("values[id={}].{f}", v.id), format!("{why} (B79)")))
        };
        let mut out = v.clone();
        if home.len() > 1 {
            if v.live_out {
                return field("live_out", "in a loop in a loop, name the op that reads it");
            }
            if v.consumers.iter().any(|c| c.distance > 0 && !c.in_place) {
                return field(
                    "consumers",
                    "in a loop in a loop only updates in place reach further than their iteration: nothing writes the \
                     initial versions of each turn",
                );
            }
        }
        let writer = v.producer.map(|p| (p.op, self.chain(p.op).to_vec()));
        if let Some(p) = &mut out.producer {
            p.op = self.project(p.op, home).0;
        }
        out.consumers.clear();
        for (i, c) in v.consumers.iter().enumerate() {
            let (op, depth) = self.project(c.op, home);
            let deeper = writer.as_ref().filter(|(_, chain)| shared(chain, self.chain(c.op)) > depth);
            match deeper {
                // All updates of one turn are one write of it.
                Some((p, _)) if c.in_place && *p == c.op => continue,
                Some(_) => {
                    return field(
                        &format!("consumers[{i}]"),
                        "it is read in the inner region that writes it, and outside of it: give what is read inside a \
                         value of its own",
                    );
                }
                None => out.consumers.push(crate::input::Consumer { op, ..*c }),
            }
        }
        out.init &= out.consumers.iter().any(|c| c.distance > 0);
        Ok(out)
    }

    /// Of the values that share storage over the turns of a loop, one at most is written in an inner region.
    fn one_writer(&self, homes: &BTreeMap<u64, Chain>) -> Result<(), AssignError> {
        let mut written: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
        for v in &self.problem.values {
            let (Some(root), Some(p), Some(home)) = (v.root, v.producer, homes.get(&v.id)) else { continue };
            let inner = self.chain(p.op).len() > home.len().max(1);
            let before = written.insert(root, (v.id, inner));
            if let Some((other, _)) = before.filter(|other| inner || other.1) {
                let why = format!(
                    "values {other} and {} have one root, and an inner region writes one for the loop around it: make them \
                     one value that all of these ops update, ordered by signals (B79)",
                    v.id
                );
                return Err(AssignError::invalid(format!("values[id={}].root", v.id), why));
            }
        }
        Ok(())
    }

    fn edge(&mut self, k: usize, e: &CallerEdge) -> Result<CallerEdge, AssignError> {
        let common = shared(self.chain(e.src), self.chain(e.dst));
        let home = self.chain(e.src)[..common].to_vec();
        if home.len() > 1 && e.distance > 0 {
            let why = "in a loop in a loop an edge joins ops of one iteration (B79)";
            return Err(AssignError::invalid(format!("edges[{k}].distance"), why));
        }
        let [src, dst] = [e.src, e.dst].map(|op| self.project(op, &home).0);
        Ok(CallerEdge { src, dst, ..*e })
    }

    /// The flat problem: the ops that loops see of their bodies, ranked among their own.
    fn finish(self, values: Vec<BufferValue>, mut edges: Vec<CallerEdge>) -> Flat {
        let mut problem = Problem { values, edges: Vec::new(), ..self.problem.clone() };
        let mut origin = BTreeMap::new();
        let mut by_region: BTreeMap<usize, Vec<Seen>> = BTreeMap::new();
        for (&(op, sees), &(id, body)) in &self.seen {
            let (Some(o), Some(at)) = (self.op(op), self.problem.regions[body].inside) else { continue };
            origin.insert(id, op);
            let chain = self.chain(op);
            let inside = |r: &usize| self.problem.regions[*r].inside.map_or(0, |i| i.order);
            let from = chain.iter().position(|r| *r == body).unwrap_or(0);
            let mut rank: Vec<u64> = chain[from..].iter().map(inside).collect();
            rank.push(o.order.unwrap_or(0));
            by_region.entry(sees).or_default().push(Seen {
                op: ScheduledOp {
                    id,
                    region: Some(self.problem.regions[sees].id),
                    stage: at.stage,
                    cycle: Some(at.cycle),
                    latency: at.latency,
                    is_async: true,
                    ..o.clone()
                },
                rank,
                body: Some(body),
                waited: !o.is_async,
            });
        }
        for (region, mut all) in by_region {
            let id = self.problem.regions[region].id;
            let own = problem.ops.iter().filter(|o| o.region == Some(id) && o.order.is_some());
            all.extend(own.map(|o| Seen {
                op: o.clone(),
                rank: vec![o.order.unwrap_or(0)],
                body: None,
                waited: false,
            }));
            problem.ops.retain(|o| o.region != Some(id) || o.order.is_none());
            all.sort_by(|a, b| (&a.rank, a.op.id).cmp(&(&b.rank, b.op.id)));
            for (rank, s) in all.iter_mut().enumerate() {
                s.op.order = Some(rank as u64);
            }
            edges.extend(behind(&all));
            problem.ops.extend(all.into_iter().map(|s| s.op));
        }
        problem.edges = edges;
        Flat { problem, origin }
    }
}

/// An op as a loop sees it.
struct Seen {
    op: ScheduledOp,
    rank: Vec<u64>,
    /// The region of the loop's body that it stands in, if it is not the loop's own.
    body: Option<usize>,
    /// Its partition waits for it, in that region.
    waited: bool,
}

/// A partition has waited for all instances of an op of an inner region when it goes on behind that region.
fn behind(all: &[Seen]) -> Vec<CallerEdge> {
    let mut out = Vec::new();
    for x in all.iter().filter(|x| x.waited) {
        for y in all.iter().filter(|y| y.op.partition == x.op.partition) {
            // The next turn's region comes behind all of this turn's.
            let turn = i64::from(x.body == y.body || y.op.order < x.op.order);
            let distance = x.op.stage as i64 - y.op.stage as i64 + turn;
            out.push(CallerEdge { src: x.op.id, dst: y.op.id, distance: distance.max(0) });
        }
    }
    out
}

/// How many regions two chains have in common.
fn shared(a: &[usize], b: &[usize]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}
