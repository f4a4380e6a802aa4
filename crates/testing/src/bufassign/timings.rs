//! All timings at once: what no run of random delays can miss (B76b).
//!
//! One event comes before another in *every* timing iff a chain of promised orders leads from it to the
//! other; without a chain the first may be as slow as it likes. So two versions on common cells are safe
//! iff all that ends one of them leads to the issue of the other.

use super::run::{Run, furthest, handshakes, uses};
use super::storage::{InPlace, cells, outlives, stored};
use petgraph::algo::toposort;
use petgraph::graph::DiGraph;
use warploom_bufassign::{Assignment, Problem, RegionKind, ScheduledOp};

/// A version of a value in its slot.
struct Version {
    value: u64,
    class: u64,
    iteration: i64,
    cells: (u8, u64, u64),
    /// Issue of its write; none of an initial version, which is there from the loop's entry.
    begin: Option<usize>,
    ends: Vec<usize>,
    /// It is read behind the loop.
    last: bool,
}

/// Turns up to which every loop is run (B78).
const ALWAYS: u64 = 9;

/// Most events of a run, so that a long loop does not take all memory.
const MOST_EVENTS: usize = 4096;

/// In no timing that keeps the promised orders do two versions own one cell, and nobody waits for ever;
/// for every line, and every loop at every trip count up to twice its deepest ring and a few.
///
/// # Errors
/// The first two versions that nothing orders.
pub fn every_timing(p: &Problem, a: &Assignment) -> Result<(), String> {
    let together = InPlace::new(p);
    for region in &p.regions {
        let ops: Vec<&ScheduledOp> = p.ops.iter().filter(|o| o.region == Some(region.id)).collect();
        let here = stored(p, a, region.id);
        let deepest = here.iter().map(|(_, r)| r.depth).max().unwrap_or(1);
        let most = if region.kind == RegionKind::Loop { (2 * deepest + 4).clamp(ALWAYS, 24) } else { 1 };
        for turns in 1..=most {
            if 2 * ops.len() * turns as usize > MOST_EVENTS {
                break;
            }
            let mut run = Run::new(&ops, turns);
            handshakes(p, a, region.id, &mut run);
            let reach = Reach::of(&run.out)
                .ok_or_else(|| format!("region {}: somebody waits for ever", region.id))?;
            let versions: Vec<Version> = here
                .iter()
                .flat_map(|&(v, r)| (-furthest(p, v)..turns as i64).map(move |i| (v, r, i)))
                .filter_map(|(v, r, i)| {
                    let producer = v.producer?.op;
                    let event = |op, done, turn: i64| run.event(op, done, turn.try_into().ok()?);
                    let mut ends: Vec<usize> = event(producer, true, i).into_iter().collect();
                    // A use behind the last turn does not happen.
                    ends.extend(uses(p, v).filter_map(|(op, d, _)| event(op, true, i + d)));
                    Some(Version {
                        value: v.id,
                        class: r.parent,
                        iteration: i,
                        cells: cells(r, i)?,
                        begin: event(producer, false, i),
                        ends,
                        last: i + 1 == turns as i64 && outlives(p, v),
                    })
                })
                .collect();
            for (n, x) in versions.iter().enumerate() {
                for y in &versions[..n] {
                    let one = together.one((x.value, x.class), (y.value, y.class));
                    let common = x.cells.0 & y.cells.0 != 0 && x.cells.1 < y.cells.2 && y.cells.1 < x.cells.2;
                    let before = |a: &Version, b: &Version| {
                        let begun = |begin: usize| a.ends.iter().all(|&e| reach.leads(e, begin));
                        !a.last && b.begin.is_some_and(begun)
                    };
                    if common && !one && !before(x, y) && !before(y, x) {
                        return Err(format!(
                            "nothing orders value {} of turn {} and value {} of turn {} on one cell",
                            x.value, x.iteration, y.value, y.iteration
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Which events a chain of orders leads to from each event: a row of bits each, in words.
pub(super) struct Reach {
    bits: Vec<u64>,
    words: usize,
}

impl Reach {
    /// `None` if orders form a cycle.
    pub fn of(out: &[Vec<usize>]) -> Option<Reach> {
        let (n, words) = (out.len(), out.len().div_ceil(64));
        let mut events = DiGraph::<(), ()>::new();
        (0..n).for_each(|_| {
            events.add_node(());
        });
        let links = out.iter().enumerate();
        events.extend_with_edges(links.flat_map(|(x, to)| to.iter().map(move |&y| (x as u32, y as u32))));
        let order = toposort(&events, None).ok()?;
        let (mut bits, mut own) = (vec![0; n * words], vec![0u64; words]);
        for x in order.iter().rev() {
            own.fill(0);
            for y in events.neighbors(*x).map(|y| y.index()) {
                own.iter_mut().zip(&bits[y * words..]).for_each(|(a, b)| *a |= b);
                own[y / 64] |= 1 << (y % 64);
            }
            bits[x.index() * words..][..words].copy_from_slice(&own);
        }
        Some(Reach { bits, words })
    }

    pub fn leads(&self, from: usize, to: usize) -> bool {
        self.bits[from * self.words + to / 64] >> (to % 64) & 1 == 1
    }
}
