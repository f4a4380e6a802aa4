//! A search that learns from its dead ends (B60, B85).
//!
//! For every two blocks that meet one is below the other: a literal. A set of literals bounds every block from both ends: it
//! lies above all that are below it, and below all that are above it. Where the bounds leave no room, the literals
//! behind them are a conflict, and what a conflict says is kept as a clause (Marques-Silva and Sakallah 1999): so a wrong
//! decision is taken back at once, however many others came between it and the dead end. For disjunctive
//! scheduling this is lazy clause generation (Ohrimenko, Stuckey and Codish 2009) with order literals only.
//!
//! Both ends are one code: side 0 counts bytes from the ground, side 1 from the capacity down.

mod analyze;
mod bounds;
mod clauses;
mod literals;
#[cfg(test)]
mod tests;

use super::PackOptions;
use super::cliques::cliques;
use super::prepare::Prepared;
use super::restarts::luby;
use clauses::{Clauses, Literal};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;
/// Blocks, pairs, and intervals that pairs share, at most: there are tables of them.
const MOST: (usize, usize, usize) = (1000, 1 << 16, 1 << 22);
/// A decision, or a conflict, counts as so many nodes of the other searches, and one more for so many pairs: about what it
/// takes them in time.
const NODES: (u64, u64) = (4, 512);
/// Conflicts between restarts, times Luby's sequence.
const UNIT: u64 = 128;
/// Clauses kept at first; so many more each time.
const KEPT: (usize, usize) = (4000, 500);

/// Why a literal holds.
#[derive(Clone, Copy)]
enum Why {
    Decision,
    /// All others of a clause are false.
    Clause(u32),
    /// It is below what is below.
    Between(u32),
    /// The other way round has no room, by the first so many events.
    Room(u32),
    /// Nothing else can be the outermost of an interval on a side, by the first so many events.
    Only(u32, usize, u32),
}

/// A raised bound.
struct Event {
    side: usize,
    block: u32,
    value: u64,
    /// The event before of the same bound.
    before: u32,
    /// The blocks that lie between the block and its side, in the list of sets, and their bytes.
    set: (u32, u32),
    bytes: u64,
}

/// One component of the conflict graph without obstacles.
pub(super) struct Learner<'a> {
    options: PackOptions<'a>,
    capacity: u64,
    ids: Vec<u32>,
    size: Vec<u64>,
    align: Vec<u64>,
    sections: Vec<Vec<u32>>,
    members: Vec<Vec<u32>>,
    /// What an interval leaves free.
    slack: Vec<u64>,
    near: Vec<Vec<u32>>,
    /// The pair of two blocks.
    pair: Vec<u32>,
    ends: Vec<(u32, u32)>,
    /// The intervals that the two blocks of a pair share, and where those of each pair start in there.
    common: Vec<u32>,
    common_at: Vec<u32>,
    /// Bytes by interval, and blocks with their bounds, while a bound is looked at.
    sums: Vec<u64>,
    under: Vec<(u64, u32)>,
    /// Whether the block of the row is below (1) that of the column, or above (-1).
    order: Vec<i8>,
    /// Of pairs.
    level: Vec<u32>,
    why: Vec<Why>,
    activity: Vec<f64>,
    /// The same, of open pairs only: one list to look through.
    open: Vec<f64>,
    phase: Vec<bool>,
    step: f64,
    trail: Vec<Literal>,
    handled: usize,
    /// Length of the trail and of the events where each level starts.
    marks: Vec<(usize, usize)>,
    /// By side and block.
    bound: [Vec<u64>; 2],
    head: [Vec<u32>; 2],
    events: Vec<Event>,
    sets: Vec<u32>,
    /// Bounds to look at, the least first, since the others rest on them: as they were when that was noted, side, block.
    dirty: BinaryHeap<Reverse<(u64, usize, u32)>>,
    is_dirty: [Vec<bool>; 2],
    watch: Vec<u32>,
    is_watched: Vec<bool>,
    clauses: Clauses,
    most: usize,
    restarts: u64,
    /// Literals that cannot all hold.
    conflict: Vec<Literal>,
    seen: Vec<bool>,
}

impl<'a> Learner<'a> {
    /// `None` where some blocks are fixed, there are too many or too large ones, or the fullest interval has no room.
    pub fn new(p: &Prepared, part: &[u32], capacity: u64, options: PackOptions<'a>) -> Option<Learner<'a>> {
        let n = part.len();
        let fixed = |&b: &u32| p.blocks[b as usize].fixed.is_some();
        // Sums of a few bounds have to fit into a number.
        if n > MOST.0 || capacity > u64::MAX / 4 || !p.reserved.is_empty() || part.iter().any(fixed) {
            return None;
        }
        let mut local = vec![NONE; p.blocks.len()];
        part.iter().enumerate().for_each(|(k, &b)| local[b as usize] = k as u32);
        let near = part.iter().map(|&b| p.conflicts[b as usize].iter().map(|&o| local[o as usize]));
        let near: Vec<Vec<u32>> = near.map(|all| all.filter(|&o| o != NONE).collect()).collect();
        let members = cliques(p, part, &local, &near).members;
        let mut sections = vec![Vec::new(); n];
        for (s, m) in members.iter().enumerate() {
            m.iter().for_each(|&k| sections[k as usize].push(s as u32));
        }
        let size: Vec<u64> = part.iter().map(|&b| p.blocks[b as usize].size).collect();
        if size.iter().any(|&s| s > capacity) {
            return None;
        }
        let align: Vec<u64> = part.iter().map(|&b| p.blocks[b as usize].align).collect();
        let (mut pair, mut ends) = (vec![NONE; n * n], Vec::new());
        for (i, list) in near.iter().enumerate() {
            for &j in list.iter().filter(|&&j| j as usize > i) {
                (pair[i * n + j as usize], pair[j as usize * n + i]) = (ends.len() as u32, ends.len() as u32);
                ends.push((i as u32, j));
            }
        }
        let (mut common, mut common_at) = (Vec::new(), vec![0]);
        for &(i, j) in &ends {
            if ends.len() > MOST.1 || common.len() > MOST.2 {
                return None;
            }
            let (a, b) = (&sections[i as usize], &sections[j as usize]);
            common.extend(a.iter().copied().filter(|s| b.binary_search(s).is_ok()));
            common_at.push(common.len() as u32);
        }
        let load = |m: &Vec<u32>| m.iter().map(|&k| size[k as usize]).fold(0, u64::saturating_add);
        let slack: Option<Vec<u64>> = members.iter().map(|m| capacity.checked_sub(load(m))).collect();
        let vars = ends.len();
        let area = |k: u32| size[k as usize] as f64 / capacity as f64 * sections[k as usize].len() as f64;
        let top = 1.0 + (0..n as u32).map(area).fold(0.0, f64::max);
        let activity: Vec<f64> = ends.iter().map(|&(i, j)| area(i).min(area(j)) / top).collect();
        let phase = ends.iter().map(|&(i, j)| area(i) >= area(j)).collect();
        Some(Learner {
            options,
            capacity,
            ids: part.to_vec(),
            slack: slack?,
            near,
            pair,
            common,
            common_at,
            sums: vec![0; members.len()],
            under: Vec::new(),
            order: vec![0; n * n],
            level: vec![0; vars],
            why: vec![Why::Decision; vars],
            open: activity.clone(),
            activity,
            phase,
            step: 0.1,
            trail: Vec::new(),
            handled: 0,
            marks: Vec::new(),
            bound: [vec![0; n], vec![0; n]],
            head: [vec![NONE; n], vec![NONE; n]],
            events: Vec::new(),
            sets: Vec::new(),
            dirty: (0..n as u32).flat_map(|k| [Reverse((0, 0, k)), Reverse((0, 1, k))]).collect(),
            is_dirty: [vec![true; n], vec![true; n]],
            watch: (0..members.len() as u32).collect(),
            is_watched: vec![true; members.len()],
            clauses: Clauses::new(vars),
            most: KEPT.0,
            restarts: 0,
            conflict: Vec::new(),
            seen: vec![false; vars],
            size,
            align,
            sections,
            members,
            ends,
        })
    }

    /// Block index and offset of every block, after a plan was found.
    pub fn offsets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.ids.iter().zip(&self.bound[0]).map(|(&b, &at)| (b as usize, at))
    }

    /// Goes on for about so many nodes: a plan was found, there is none, or neither; and the nodes that it took.
    pub fn step(&mut self, most: u64) -> (Option<bool>, u64) {
        self.restarts += 1;
        let each = NODES.0 + self.ends.len() as u64 / NODES.1;
        let (mut nodes, mut conflicts) = (0, UNIT * luby(self.restarts));
        self.back(0);
        while nodes < most {
            nodes += each;
            if nodes.is_multiple_of(64 * each) && self.options.is_late() {
                break;
            }
            if self.propagate() {
                match self.choose() {
                    Some(l) => self.decide(l),
                    None => return (Some(true), nodes),
                }
                continue;
            }
            if !self.learn() {
                return (Some(false), nodes);
            }
            conflicts -= 1;
            if conflicts == 0 {
                break;
            }
        }
        self.back(0);
        if self.clauses.len() > self.most {
            // What holds on the ground level needs no reason any more.
            self.trail.iter().for_each(|&l| self.why[l as usize / 2] = Why::Decision);
            self.clauses.forget();
            self.most += KEPT.1;
        }
        (None, nodes)
    }

    /// The pair that took part in most conflicts lately.
    fn choose(&self) -> Option<Literal> {
        let mut best = (0, f64::NEG_INFINITY);
        for (v, &activity) in self.open.iter().enumerate() {
            if activity > best.1 {
                best = (v, activity);
            }
        }
        let v = best.0;
        (best.1 >= 0.0).then(|| 2 * v as u32 + u32::from(!self.phase[v]))
    }
}
