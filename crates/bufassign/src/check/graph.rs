//! The order graph, by plain relaxation and search (B24..B26).

use super::facts::Facts;
use super::ways::way;
use crate::output::{Assignment, Handshake};
use std::collections::BTreeMap;

/// Issue and completion nodes of one region's ops, and every edge with its distance.
pub(super) struct Graph {
    index: BTreeMap<u64, usize>,
    edges: Vec<Vec<(usize, i128)>>,
    /// Of each op: its partition, stage and order, and whether the partition waits for its completion.
    seats: Vec<(u64, i128, u64, bool)>,
    /// Runs of a few turns.
    runs: std::cell::RefCell<BTreeMap<i128, Run>>,
}

/// What comes after what in a run.
struct Run {
    /// Place of each event in the program of its op's partition.
    place: Vec<u32>,
    /// By partition: the first place in its program that each event comes before.
    first: BTreeMap<u64, Vec<u32>>,
}

/// No place of a program.
const NOWHERE: u32 = u32::MAX;

/// Turns back beyond which nothing counts as ordered; later than that, only what was so already.
const FURTHEST: i128 = 32;

impl Graph {
    /// The graph at the depths of the records, with the listed edges that are not implied;
    /// `without` leaves out the release edges of one life.
    pub fn new(f: &Facts<'_>, a: &Assignment, region: usize, without: Option<usize>) -> Graph {
        let here: Vec<u64> = f.at.iter().filter(|(_, at)| at.region == region).map(|(&o, _)| o).collect();
        let index: BTreeMap<u64, usize> = here.iter().enumerate().map(|(k, &o)| (o, k)).collect();
        let mut g = Graph {
            edges: vec![Vec::new(); 2 * here.len()],
            seats: here.iter().map(|o| seat(f, *o)).collect(),
            index,
            runs: Default::default(),
        };
        g.program_order(f, region);
        for (k, life) in f.lives.iter().enumerate().filter(|(_, l)| l.region == region) {
            let depth = depth_of(f, a, k);
            for u in &life.uses {
                let owner = f.owner.get(&u.value).map_or(u.value, |o| o.0);
                if let Some(p) = f.values.get(&owner).and_then(|v| v.producer) {
                    let forwarded = u.in_place && accumulates(f, p.op, owner, u.op);
                    g.edge(p.op, !forwarded, u.op, u.distance);
                }
                let carries = u.in_place && u.distance == 1;
                if let (Some(p), false, false) = (life.producer, carries, without == Some(k)) {
                    g.edge(u.op, true, p, depth - u.distance);
                }
            }
        }
        for e in &f.problem.edges {
            g.edge(e.src, true, e.dst, e.distance.into());
        }
        for e in a.merge.iter().flat_map(|m| &m.edges).filter(|e| !e.implied) {
            for (x, y, d) in waits(f, e.from, e.to, e.distance.into()) {
                g.edge(x, true, y, d);
            }
        }
        g
    }

    fn program_order(&mut self, f: &Facts<'_>, region: usize) {
        let mut partitions: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for &o in self.index.keys() {
            partitions.entry(f.ops[&o].partition).or_default().push((f.at[&o].order, o));
        }
        for o in self.index.keys().copied().collect::<Vec<_>>() {
            let x = self.index[&o];
            self.edges[2 * x].push((2 * x + 1, 0));
        }
        for ops in partitions.values_mut() {
            ops.sort_unstable();
            let successor = |k: usize| match ops.get(k + 1) {
                Some(&(_, y)) => Some((y, 0)),
                None => f.ii(region).map(|_| (ops[0].1, 1)),
            };
            for (k, &(_, x)) in ops.iter().enumerate() {
                let Some((y, turn)) = successor(k) else { continue };
                let d = f.at[&x].stage - f.at[&y].stage + turn;
                self.edge(x, false, y, d);
                if !f.ops[&x].is_async {
                    self.edge(x, true, y, d);
                }
            }
        }
    }

    fn edge(&mut self, from: u64, completed: bool, to: u64, d: i128) {
        if let (Some(&x), Some(&y)) = (self.index.get(&from), self.index.get(&to)) {
            self.edges[2 * x + usize::from(completed)].push((2 * y, d));
        }
    }

    /// Every cycle has a total distance of at least 1 (B25): with each distance scaled by more
    /// than the length of any cycle, less one per edge, none is negative.
    pub fn is_sound(&self) -> bool {
        let n = self.edges.len();
        let scale = n as i128 + 1;
        let mut best = vec![0i128; n];
        for _ in 0..=n {
            let mut changed = false;
            for x in 0..n {
                for &(y, d) in &self.edges[x] {
                    let through = best[x] + d * scale - 1;
                    if through < best[y] {
                        best[y] = through;
                        changed = true;
                    }
                }
            }
            if !changed {
                return true;
            }
        }
        n == 0
    }

    /// Whether the completion of `from` in iteration i precedes the issue of `to` in i + d, in the shortest
    /// run that has both: iterations that a run lacks order nothing. The graph must be sound.
    pub fn implied(&self, from: u64, to: u64, d: i128) -> bool {
        let (Some(&x), Some(&y)) = (self.index.get(&from), self.index.get(&to)) else { return false };
        if d < -FURTHEST {
            return false;
        }
        // Program order: `to` comes after its own earlier turns.
        let d = if self.directly(x, y, d) { return true } else { d.min(FURTHEST) };
        let event = |node: usize, turn: i128| turn as usize * self.edges.len() + node;
        let mut runs = self.runs.borrow_mut();
        let run = runs.entry(d.abs() + 1).or_insert_with(|| self.run(d.abs() + 1));
        let first = run.first.get(&self.seats[y].0).map_or(NOWHERE, |f| f[event(2 * x + 1, (-d).max(0))]);
        first != NOWHERE && first <= run.place[event(2 * y, d.max(0))]
    }

    /// Both belong to one partition, which waits for `x` and issues `y` later.
    fn directly(&self, x: usize, y: usize, d: i128) -> bool {
        let (a, b) = (self.seats[x], self.seats[y]);
        a.0 == b.0 && a.3 && (a.1, a.2) < (b.1 + d, b.2)
    }

    /// The events of a run and what each comes before: by edges of the graph whose turns both exist, and by
    /// each partition's program through the instances that exist.
    fn run(&self, turns: i128) -> Run {
        let nodes = self.edges.len();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); nodes * turns as usize];
        for turn in 0..turns {
            for (x, out) in self.edges.iter().enumerate() {
                for &(y, d) in out.iter().filter(|(_, d)| (0..turns).contains(&(turn + d))) {
                    before[(turn + d) as usize * nodes + y].push((turn as usize * nodes + x) as u32);
                }
            }
        }
        let mut programs: BTreeMap<u64, Vec<(i128, u64, usize, bool)>> = BTreeMap::new();
        for (op, &(partition, stage, order, waits)) in self.seats.iter().enumerate() {
            let all = (0..turns).map(|t| (t + stage, order, t as usize * nodes + 2 * op, waits));
            programs.entry(partition).or_default().extend(all);
        }
        let mut place = vec![NOWHERE; before.len()];
        for program in programs.values_mut() {
            program.sort_unstable();
            for (k, x) in program.iter().enumerate() {
                place[x.2] = k as u32;
            }
            for (x, y) in program.iter().zip(program.iter().skip(1)) {
                before[y.2].push(x.2 as u32);
                if x.3 {
                    before[y.2].push(x.2 as u32 + 1);
                }
            }
        }
        let first =
            programs.iter().map(|(&partition, program)| (partition, reaching(&before, program))).collect();
        Run { place, first }
    }
}

/// The first place of a program that each event comes before. What comes before an early place is found
/// first and never looked at again.
fn reaching(before: &[Vec<u32>], program: &[(i128, u64, usize, bool)]) -> Vec<u32> {
    let mut first = vec![NOWHERE; before.len()];
    let mut open: Vec<u32> = Vec::new();
    for (place, at) in program.iter().enumerate() {
        open.push(at.2 as u32);
        while let Some(x) = open.pop() {
            let known = &mut first[x as usize];
            if *known == NOWHERE {
                *known = place as u32;
                open.extend(&before[x as usize]);
            }
        }
    }
    first
}

fn seat(f: &Facts<'_>, op: u64) -> (u64, i128, u64, bool) {
    let (o, at) = (f.ops[&op], f.at[&op]);
    (o.partition, at.stage, at.order, !o.is_async)
}

/// The distances at which two versions on common bytes must be ordered: from the least one, `step` apart, all
/// that lead back and the first that does not; a turn that a distance leads back to may not exist.
pub(super) fn distances(least: i128, step: i128) -> Vec<i128> {
    let mut all = vec![least];
    while let Some(&d) = all.last().filter(|d| (-FURTHEST..0).contains(*d)) {
        all.push(d + step.max(1));
    }
    all
}

/// An accumulator that the tensor core of one partition updates in place: the hardware keeps order.
fn accumulates(f: &Facts<'_>, p: u64, owner: u64, u: u64) -> bool {
    let Some(written) = f.values.get(&owner).and_then(|v| v.producer).map(|x| x.role) else { return false };
    let read =
        f.family(owner).flat_map(|v| &v.consumers).any(|c| c.op == u && c.in_place && c.role == written);
    let partition = |o: u64| f.ops.get(&o).map(|o| o.partition);
    way(f, written).accumulates && read && partition(p) == partition(u)
}

/// Depth that a life's record claims.
pub(super) fn depth_of(f: &Facts<'_>, a: &Assignment, life: usize) -> i128 {
    f.lives[life].members.first().and_then(|v| a.record(*v)).map_or(1, |r| r.depth.into())
}

/// Completions and issues that handing storage over from one value's life to another's takes.
pub(super) fn waits(f: &Facts<'_>, from: u64, to: u64, d: i128) -> Vec<(u64, u64, i128)> {
    let (Some(u), Some(v)) = (f.life_of.get(&from), f.life_of.get(&to)) else { return Vec::new() };
    let (u, v) = (&f.lives[*u], &f.lives[*v]);
    let Some(p) = v.producer else { return Vec::new() };
    if u.region != v.region {
        return u.far.iter().filter(|x| x.0 == v.region).map(|x| (x.1, p, d)).collect();
    }
    let mut all: Vec<_> = u.uses.iter().map(|x| (x.op, p, d - x.distance)).collect();
    // Where the turn of every use may be missing, the write is all there is to wait for.
    if !u.uses.iter().any(|x| x.distance == 0 || x.distance <= d) {
        all.extend(u.producer.map(|x| (x, p, d)));
    }
    all
}

/// Whether program order may guard the later value's bytes (B26).
pub(super) fn acquires(f: &Facts<'_>, a: &Assignment, from: u64, to: u64) -> bool {
    let (Some(u), Some(v)) = (f.life_of.get(&from), f.life_of.get(&to)) else { return false };
    let (u, v) = (&f.lives[*u], &f.lives[*v]);
    let one_warp = v.producer.and_then(|p| f.ops.get(&p)).and_then(|o| f.warps.get(&o.partition)) == Some(&1);
    let barrier = a
        .record(to)
        .is_some_and(|r| matches!(r.handshake, Handshake::Named | Handshake::Full | Handshake::Pair));
    one_warp || barrier || (u.warp_local && v.warp_local)
}
