//! The modulo reservation table: which unit is held in which cycle, folded modulo II (S4).

use crate::bounds::repeats_resource;
use crate::problem::{Problem, UnitUse};

/// Rows of at most so many cells are counters when durations are long.
const SMALL_II: i64 = 64;
/// Uses of at most this duration are counted cell by cell.
const SHORT: i64 = 8;
/// At most so many counters in all.
const MOST_CELLS: i64 = 1 << 24;

/// Which operations are placed where, and what they hold.
pub(crate) struct Table<'p> {
    problem: &'p Problem,
    ii: i64,
    rows: Vec<Row>,
    /// Start of every placed operation.
    time: Vec<Option<i64>>,
    complex: Vec<bool>,
}

/// One resource.
struct Row {
    count: i64,
    /// Units held in every cycle by uses of at least II cycles.
    laps: i64,
    cells: Cells,
}

enum Cells {
    /// A counter per residue, and the operations whose hold starts there.
    Counted { load: Vec<u32>, starts: Starts, longest: i64 },
    /// What is held, in any order.
    Listed(Vec<Held>),
}

/// The operations whose hold starts at each residue: linked lists in one array, as a row may have a hundred thousand.
struct Starts {
    first: Vec<u32>,
    links: Vec<Link>,
    unused: u32,
}

#[derive(Clone, Copy)]
struct Link {
    node: u32,
    next: u32,
}

/// The end of a list.
const END: u32 = u32::MAX;

impl Starts {
    fn new(residues: usize) -> Self {
        Starts { first: vec![END; residues], links: Vec::new(), unused: END }
    }

    fn at(&self, residue: usize) -> impl Iterator<Item = u32> + '_ {
        let link = |i: u32| self.links.get(i as usize).copied();
        std::iter::successors(link(self.first[residue]), move |l| link(l.next)).map(|l| l.node)
    }

    fn add(&mut self, residue: usize, node: u32) {
        let link = Link { node, next: self.first[residue] };
        self.first[residue] = match self.links.get_mut(self.unused as usize) {
            Some(unused) => {
                let next = std::mem::replace(unused, link).next;
                std::mem::replace(&mut self.unused, next)
            }
            None => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
        };
    }

    fn remove(&mut self, residue: usize, node: u32) {
        let (mut before, mut i) = (END, self.first[residue]);
        while let Some(&link) = self.links.get(i as usize) {
            if link.node == node {
                match self.links.get_mut(before as usize) {
                    Some(before) => before.next = link.next,
                    None => self.first[residue] = link.next,
                }
                self.links[i as usize].next = self.unused;
                self.unused = i;
                return;
            }
            (before, i) = (i, link.next);
        }
    }
}

/// `len < II` cycles from residue `from` on, and `laps` whole turns.
#[derive(Clone, Copy)]
struct Held {
    from: i64,
    len: i64,
    laps: i64,
    node: u32,
}

impl<'p> Table<'p> {
    pub fn new(problem: &'p Problem, ii: i64) -> Self {
        let mut longest = vec![0i64; problem.count.len()];
        for u in problem.all_uses() {
            let slot = &mut longest[u.resource as usize];
            *slot = u.duration.max(*slot);
        }
        let mut room = MOST_CELLS;
        let rows = problem
            .count
            .iter()
            .zip(&longest)
            .map(|(&count, &longest)| {
                let counted = longest > 0 && ii <= room && (longest <= SHORT || ii <= SMALL_II);
                let cells = if counted {
                    room -= ii;
                    let (load, starts) = (vec![0; ii as usize], Starts::new(ii as usize));
                    Cells::Counted { load, starts, longest: longest.min(ii) }
                } else {
                    Cells::Listed(Vec::new())
                };
                Row { count, laps: 0, cells }
            })
            .collect();
        let complex = (0..problem.n).map(|v| repeats_resource(problem.uses(v))).collect();
        Table { problem, ii, rows, time: vec![None; problem.n], complex }
    }

    pub fn time(&self, node: usize) -> Option<i64> {
        self.time[node]
    }

    /// The first start in `from..=to` at which the operation fits.
    pub fn first_fit(&mut self, node: usize, from: i64, to: i64) -> Option<i64> {
        let mut t = from;
        while t <= to {
            match self.conflict(node, t) {
                None => return Some(t),
                Some(jump) => t += jump,
            }
        }
        None
    }

    /// The last start in `from..=to` at which the operation fits.
    pub fn last_fit(&mut self, node: usize, from: i64, to: i64) -> Option<i64> {
        let mut t = to;
        while t >= from {
            match self.probe::<true>(node, t) {
                None => return Some(t),
                Some(jump) => t -= jump,
            }
        }
        None
    }

    /// `None` if the operation fits at `t`; otherwise by how much later its start must be before it can fit.
    pub fn conflict(&mut self, node: usize, t: i64) -> Option<i64> {
        self.probe::<false>(node, t)
    }

    /// As [`conflict`](Self::conflict), towards earlier starts when `BACK`.
    fn probe<const BACK: bool>(&mut self, node: usize, t: i64) -> Option<i64> {
        let uses = self.problem.uses(node);
        if !self.complex[node] {
            let jumps =
                uses.iter().filter_map(|u| self.rows[u.resource as usize].conflict::<BACK>(u, t, self.ii));
            return jumps.max();
        }
        // Uses of one resource add up: hold them one after the other, then let go again.
        let mut jump = None;
        let mut held = 0;
        for u in uses {
            let row = &mut self.rows[u.resource as usize];
            if row.conflict::<BACK>(u, t, self.ii).is_some() {
                jump = Some(1);
                break;
            }
            row.hold(u, t, node as u32, self.ii);
            held += 1;
        }
        for u in uses[..held].iter().rev() {
            self.rows[u.resource as usize].release(u, t, node as u32, self.ii);
        }
        jump
    }

    /// Places an operation, whether it fits or not.
    pub fn place(&mut self, node: usize, t: i64) {
        for u in self.problem.uses(node) {
            self.rows[u.resource as usize].hold(u, t, node as u32, self.ii);
        }
        self.time[node] = Some(t);
    }

    /// Takes an operation out again.
    pub fn remove(&mut self, node: usize) {
        if let Some(t) = self.time[node].take() {
            for u in self.problem.uses(node) {
                self.rows[u.resource as usize].release(u, t, node as u32, self.ii);
            }
        }
    }

    /// The placed operations that hold something the operation would hold at `t`.
    pub fn blockers(&self, node: usize, t: i64) -> Vec<u32> {
        let mut found = Vec::new();
        for u in self.problem.uses(node) {
            self.rows[u.resource as usize].holders(u, t, self.ii, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Row {
    fn fold(u: &UnitUse, t: i64, ii: i64) -> (i64, i64, i64) {
        ((t + u.start).rem_euclid(ii), u.duration % ii, u.duration / ii)
    }

    fn hold(&mut self, u: &UnitUse, t: i64, node: u32, ii: i64) {
        let (from, len, laps) = Self::fold(u, t, ii);
        self.laps += laps;
        match &mut self.cells {
            Cells::Counted { load, starts, .. } => {
                step_cells(load, from, len, 1);
                starts.add(from as usize, node);
            }
            Cells::Listed(held) => held.push(Held { from, len, laps, node }),
        }
    }

    fn release(&mut self, u: &UnitUse, t: i64, node: u32, ii: i64) {
        let (from, len, laps) = Self::fold(u, t, ii);
        self.laps -= laps;
        match &mut self.cells {
            Cells::Counted { load, starts, .. } => {
                step_cells(load, from, len, u32::MAX);
                starts.remove(from as usize, node);
            }
            Cells::Listed(held) => {
                let same = |h: &Held| h.node == node && h.from == from && h.len == len && h.laps == laps;
                if let Some(i) = held.iter().rposition(same) {
                    held.swap_remove(i);
                }
            }
        }
    }

    /// How far the start must move at least, or `None` if the use fits.
    fn conflict<const BACK: bool>(&self, u: &UnitUse, t: i64, ii: i64) -> Option<i64> {
        let (from, len, laps) = Self::fold(u, t, ii);
        let free = self.count - self.laps - laps;
        if free < 0 || (laps > 0 && !self.fits_everywhere(free, ii)) {
            return Some(1);
        }
        match &self.cells {
            Cells::Counted { load, .. } => {
                let full = |off: &i64| {
                    let cell = from + off;
                    i64::from(load[(if cell < ii { cell } else { cell - ii }) as usize]) >= free
                };
                if BACK {
                    (0..len).find(full).map(|off| len - off)
                } else {
                    (0..len).rev().find(full).map(|off| off + 1)
                }
            }
            Cells::Listed(_) if len == 0 => None,
            Cells::Listed(held) if self.count == 1 && free > 0 => {
                let jumps = held.iter().filter(|h| h.len > 0).filter_map(|h| {
                    let gap = (h.from - from).rem_euclid(ii);
                    let end = gap + h.len;
                    if gap < len {
                        Some(if BACK { len - gap } else { end })
                    } else {
                        (end > ii).then_some(if BACK { len + ii - gap } else { end - ii })
                    }
                });
                jumps.max()
            }
            Cells::Listed(held) => {
                let (first, last) = overload(held, from, len, free, ii)?;
                Some(if BACK { len - first } else { last + 1 })
            }
        }
    }

    /// Whether no cell holds more than `free` units, whole turns aside.
    fn fits_everywhere(&self, free: i64, ii: i64) -> bool {
        match &self.cells {
            Cells::Counted { load, .. } => load.iter().all(|&l| i64::from(l) <= free),
            Cells::Listed(held) => overload(held, 0, ii, free + 1, ii).is_none(),
        }
    }

    fn holders(&self, u: &UnitUse, t: i64, ii: i64, found: &mut Vec<u32>) {
        let (from, len, laps) = Self::fold(u, t, ii);
        match &self.cells {
            Cells::Counted { starts, longest, .. } => {
                if laps > 0 || self.laps > 0 || longest + len > ii {
                    (0..ii).for_each(|cell| found.extend(starts.at(cell as usize)));
                } else {
                    for off in 1 - longest..len {
                        found.extend(starts.at((from + off).rem_euclid(ii) as usize));
                    }
                }
            }
            Cells::Listed(held) => {
                let meets = |h: &&Held| {
                    let gap = (h.from - from).rem_euclid(ii);
                    laps > 0 || h.laps > 0 || (h.len > 0 && (gap < len || (len > 0 && gap + h.len > ii)))
                };
                found.extend(held.iter().filter(meets).map(|h| h.node));
            }
        }
    }
}

fn step_cells(load: &mut [u32], from: i64, len: i64, step: u32) {
    let (ii, from, len) = (load.len(), from as usize, len as usize);
    for cell in from..from + len {
        let slot = &mut load[if cell < ii { cell } else { cell - ii }];
        *slot = slot.wrapping_add(step);
    }
}

/// Offsets of the first and the last of `len` cells from `from` on that at least `free` units are held in.
fn overload(held: &[Held], from: i64, len: i64, free: i64, ii: i64) -> Option<(i64, i64)> {
    if free <= 0 {
        return Some((0, len - 1));
    }
    let mut events: Vec<(i64, i64)> = Vec::new();
    for h in held.iter().filter(|h| h.len > 0) {
        let gap = (h.from - from).rem_euclid(ii);
        let end = gap + h.len;
        if gap < len {
            events.push((gap, 1));
            events.push((end.min(len), -1));
        }
        if end > ii {
            events.push((0, 1));
            events.push(((end - ii).min(len), -1));
        }
    }
    events.sort_unstable();
    let (mut load, mut found) = (0, None);
    for (i, &(at, step)) in events.iter().enumerate() {
        load += step;
        let until = events.get(i + 1).map_or(len, |e| e.0);
        if load >= free && until > at {
            found = Some((found.map_or(at, |(first, _)| first), until - 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::LoopGraph;

    fn table_test(count: u64, ii: i64, duration: u64, placed: &[i64], expect: &[i64]) {
        let mut g = LoopGraph::new("t");
        g.add_resource("U", count);
        for _ in 0..=placed.len() {
            g.add_node("x", 1, &[("U", 0, duration)]);
        }
        let p = Problem::new(&g, &[]);
        let mut table = Table::new(&p, ii);
        for (v, &t) in placed.iter().enumerate() {
            table.place(v + 1, t);
        }
        let fits: Vec<i64> = (0..ii).filter(|&t| table.conflict(0, t).is_none()).collect();
        assert_eq!(fits, expect);
        let first = table.first_fit(0, 0, ii - 1);
        assert_eq!(first, expect.first().copied());
        assert_eq!(table.last_fit(0, 0, ii - 1), expect.last().copied());
    }

    #[test]
    fn counted_and_listed_rows_agree() {
        table_test(1, 8, 3, &[0], &[3, 4, 5]);
        table_test(1, 100, 30, &[80], &(10..=50).collect::<Vec<i64>>());
        table_test(2, 100, 60, &[0, 30], &(60..=70).collect::<Vec<i64>>());
        table_test(2, 3, 5, &[], &[0, 1, 2]);
        table_test(2, 3, 2, &[0, 2], &[1]);
    }

    #[test]
    fn lists_of_starts_keep_what_is_not_removed() {
        let mut starts = Starts::new(3);
        for node in 0..6 {
            starts.add(node as usize % 2, node);
        }
        starts.remove(0, 2);
        starts.remove(0, 7);
        starts.remove(1, 5);
        starts.add(2, 9);
        let mut at: Vec<Vec<u32>> = (0..3).map(|r| starts.at(r).collect()).collect();
        at.iter_mut().for_each(|list| list.sort_unstable());
        assert_eq!(at, [vec![0, 4], vec![1, 3], vec![9]]);
        assert_eq!(starts.links.len(), 6);
    }
}
