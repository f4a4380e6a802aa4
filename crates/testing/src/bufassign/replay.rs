//! Brute-force oracles (B76): who owns which byte when, from input and output alone.
//!
//! [`steady`] lays out the scheduled instances of every value and looks for two that own one byte at
//! one cycle, for every trip count from 0 to twice the stages, so prologue and epilogue included.
//! [`delayed`] runs the partitions with random delays that obey only what the answer promises: program
//! order, handshakes, the caller's edges and the inserted waits. It finds rewrites before the last
//! read and loops of waiting. [`every_timing`](super::every_timing) decides the same for all delays at once.

use super::choices::Choices;
use super::run::{Run, furthest, handshakes, uses};
use super::storage::{InPlace, cells, outlives, stored};
use warploom_bufassign::{Assignment, Problem, RegionKind, ScheduledOp};

/// One version of a value in its slot.
struct Version {
    value: u64,
    class: u64,
    iteration: i64,
    /// Cells: space and lane set, then first and end.
    space: u8,
    from: u64,
    to: u64,
    start: u64,
    end: u64,
}

impl Version {
    fn meets(&self, other: &Version) -> bool {
        self.space & other.space != 0
            && self.from < other.to
            && other.from < self.to
            && self.start < other.end
            && other.start < self.end
    }
}

/// No two versions meet; versions come grouped by value.
fn clash(groups: &[Vec<Version>], together: &InPlace) -> Result<(), String> {
    // Most values have no cell in common at all.
    let hull = |g: &Vec<Version>| {
        let space = g.iter().fold(0, |s, v| s | v.space);
        let from = g.iter().map(|v| v.from).min().unwrap_or(0);
        (space, from, g.iter().map(|v| v.to).max().unwrap_or(0))
    };
    let hulls: Vec<(u8, u64, u64)> = groups.iter().map(hull).collect();
    for (n, a) in groups.iter().enumerate() {
        for (m, b) in groups.iter().enumerate().take(n + 1) {
            let (x, y) = (hulls[n], hulls[m]);
            if x.0 & y.0 == 0 || x.1 >= y.2 || y.1 >= x.2 {
                continue;
            }
            for x in a {
                for y in b {
                    let same = n == m && x.iteration <= y.iteration;
                    let one = together.one((x.value, x.class), (y.value, y.class));
                    if !same && !one && x.meets(y) {
                        return Err(format!(
                            "value {} of turn {} and value {} of turn {} own one cell at one cycle",
                            x.value, x.iteration, y.value, y.iteration
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Scheduled times: no two versions own one cell at one cycle (B76a).
///
/// # Errors
/// The first two that do.
pub fn steady(p: &Problem, a: &Assignment) -> Result<(), String> {
    let together = InPlace::new(p);
    for region in &p.regions {
        let Some(ii) = region.ii else { continue };
        let here = stored(p, a, region.id);
        let deepest = here.iter().map(|(_, r)| r.depth + r.length / ii).max().unwrap_or(1);
        let long = (2 * deepest + 2).min(40);
        let short = 0..=2 * region.stages.unwrap_or(1) + 1;
        for turns in short.chain([long]) {
            let mut groups = Vec::new();
            for &(v, r) in &here {
                let mut versions = Vec::new();
                let start = r.start[0] * ii + r.start[1];
                for i in 0..turns {
                    let Some((space, from, to)) = cells(r, i as i64) else { continue };
                    let start = start + i * ii;
                    let last = i + 1 == turns && outlives(p, v);
                    let end = if last { u64::MAX } else { start + r.length };
                    let (value, class, iteration) = (r.value, r.parent, i as i64);
                    versions.push(Version { value, class, iteration, space, from, to, start, end });
                }
                // Initial versions own their slots from the loop's entry to their last read.
                for iteration in -furthest(p, v)..0 {
                    let Some((space, from, to)) = cells(r, iteration) else { continue };
                    let reads = uses(p, v).filter_map(|(op, d, _)| {
                        let turn = u64::try_from(iteration + d).ok().filter(|&turn| turn < turns)?;
                        let op = p.ops.iter().find(|o| o.id == op)?;
                        Some((op.stage + turn) * ii + op.cycle? + op.latency)
                    });
                    let (value, class, start, end) = (r.value, r.parent, 0, reads.max().unwrap_or(0));
                    versions.push(Version { value, class, iteration, space, from, to, start, end });
                }
                groups.push(versions);
            }
            clash(&groups, &together)?;
        }
    }
    Ok(())
}

/// Random delays: no slot is rewritten before its last read and nobody waits for ever (B76b), in
/// `rounds` runs of every loop.
///
/// # Errors
/// What went wrong.
pub fn delayed(p: &Problem, a: &Assignment, rounds: u64, c: &mut Choices<'_>) -> Result<(), String> {
    let together = InPlace::new(p);
    for region in p.regions.iter().filter(|r| r.kind == RegionKind::Loop) {
        let ops: Vec<&ScheduledOp> = p.ops.iter().filter(|o| o.region == Some(region.id)).collect();
        let here = stored(p, a, region.id);
        let deepest = here.iter().map(|(_, r)| r.depth).max().unwrap_or(1);
        for _ in 0..rounds {
            let turns = c.below((2 * deepest + 4).min(24));
            let mut run = Run::new(&ops, turns);
            handshakes(p, a, region.id, &mut run);
            let Some(at) = run.times(c) else {
                return Err(format!("region {}: somebody waits for ever", region.id));
            };
            let mut groups = Vec::new();
            for &(v, r) in &here {
                let mut versions = Vec::new();
                let Some(producer) = v.producer else { continue };
                for iteration in -furthest(p, v)..turns as i64 {
                    let Some((space, from, to)) = cells(r, iteration) else { continue };
                    // What is written before the loop is there from its entry.
                    let event = |done| Some(at[run.event(producer.op, done, iteration.try_into().ok()?)?]);
                    let (start, done) = (event(false).unwrap_or(0), event(true).unwrap_or(0));
                    let reads = uses(p, v).filter_map(|(op, d, _)| {
                        let turn = u64::try_from(iteration + d).ok()?;
                        run.event(op, true, turn).map(|e| at[e])
                    });
                    // Nobody reads the last versions but what comes behind the loop.
                    let last = iteration + 1 == turns as i64 && outlives(p, v);
                    let end = if last { u64::MAX } else { reads.max().unwrap_or(0).max(done) };
                    // The issue stands at the start of its step, its end at the completion.
                    let (value, class) = (v.id, r.parent);
                    versions.push(Version { value, class, iteration, space, from, to, start, end });
                }
                groups.push(versions);
            }
            clash(&groups, &together).map_err(|e| format!("{e}, with delays"))?;
        }
    }
    Ok(())
}
