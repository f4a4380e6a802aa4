//! The lower bound, and claims of optimality (B12, B58, B59).

use super::facts::{Facts, Held};
use super::graph::{Graph, waits};
use super::report::Report;
use crate::input::Space;
use crate::output::{Assignment, Class, Lanes, MapEntry, MapKind, MergeClass};
use crate::pack::can_beat;
use crate::pack::{LiveSpan, PackItem, PackProblem, TimeSegment};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let words = a.smem.map.iter().find(|e| e.kind == Some(MapKind::Mbarrier)).map_or(0, |e| e.bytes);
    let smem: Vec<&MapEntry> = a.smem.map.iter().filter(|e| e.class.is_some()).collect();
    let data = load(f, a, &smem, Space::Smem);
    let word = u64::from(f.target.barriers.mbarrier_bytes);
    let bound = if words > 0 { data.div_ceil(word) * word + words } else { data };
    report.same("B58", 0, "smem.load_bound", &a.smem.load_bound, &bound);
    if bound > a.smem.used {
        report.add("B58", &[], "less is used than the load");
    }
    if a.smem.optimal && a.smem.used != bound {
        let data_end = smem.iter().map(|e| e.offset + e.bytes).max().unwrap_or(0);
        beaten(f, a, &smem, Space::Smem, data_end, "smem", report);
    }
    if let Some(t) = &a.tmem {
        let entries: Vec<&MapEntry> = t.map.iter().filter(|e| e.class.is_some()).collect();
        let bound = load(f, a, &entries, Space::Tmem);
        report.same("B58", 0, "tmem.load_bound", &t.load_bound, &bound);
        if t.optimal && t.used != bound {
            beaten(f, a, &entries, Space::Tmem, t.used, "tmem", report);
        }
    }
}

/// A claim of optimality against an exhaustive run of our own.
fn beaten(
    f: &Facts<'_>,
    a: &Assignment,
    entries: &[&MapEntry],
    space: Space,
    used: u64,
    name: &str,
    report: &mut Report,
) {
    if entries.len() > 12 {
        return;
    }
    let mut p = problem(f, a, entries, space);
    // What cannot be ordered only takes plans away.
    if can_beat(&p, used) == Some(false) {
        return;
    }
    unordered(f, a, entries, &mut p);
    if can_beat(&p, used) == Some(true) {
        report.add("B58", &[], format!("{name} is called optimal at {used}, but less is possible"));
    }
}

/// The classes as items of a packing problem of our own making.
fn problem(f: &Facts<'_>, a: &Assignment, entries: &[&MapEntry], space: Space) -> PackProblem {
    let mut p = PackProblem::default();
    for r in 0..f.problem.regions.len() {
        let s = f.ii(r).map_or(TimeSegment::Linear, |ii| TimeSegment::Circular(ii as i64));
        p.segments.extend([s, s]);
    }
    p.reserved =
        f.problem.reserved.iter().filter(|r| r.space == space).map(|r| (r.offset, r.bytes)).collect();
    let classes: BTreeMap<u64, &MergeClass> = a.merge.iter().map(|m| (m.class, m)).collect();
    for e in entries {
        let Some(m) = e.class.and_then(|c| classes.get(&c)) else { continue };
        let halves: &[usize] = match e.lanes {
            Some(Lanes::H0) => &[0],
            Some(Lanes::H1) => &[1],
            _ => &[0, 1],
        };
        let mut live = Vec::new();
        for v in &m.members {
            let life = &f.lives[f.life_of[v]];
            let ring = a.record(*v).is_some_and(|r| r.depth > 1) || life.layout.is_some();
            for (&r, &held) in &life.held {
                let all = (r == life.region && ((ring && f.ii(r).is_some()) || life.layout.is_some()))
                    || f.no_sharing();
                let span = match held {
                    Held::During(s, e) if !all => (s, e),
                    _ => (0, f.ii(r).unwrap_or_else(|| f.horizon(r))),
                };
                live.extend(halves.iter().map(|h| (2 * r + h, span)));
            }
            if f.problem.repeat == crate::input::Repeat::Overlapped {
                for r in 0..f.problem.regions.len() {
                    live.extend(
                        halves.iter().map(|h| (2 * r + h, (0, f.ii(r).unwrap_or_else(|| f.horizon(r))))),
                    );
                }
            }
        }
        let live = live.into_iter().map(|(segment, (s, e))| LiveSpan {
            segment,
            start: s as i64,
            len: ((e - s) as i64).max(1),
            window: None,
        });
        let align = a.record(m.class).map_or(1, |r| match (r.class, r.tmem) {
            (Class::Tmem, Some(t)) => {
                t.stride.next_power_of_two().min(f.target.tmem.as_ref().map_or(1, |t| t.min_alloc.into()))
            }
            _ => r.align.unwrap_or(1),
        });
        p.items.push(PackItem { size: e.bytes, align, fixed: None, live: live.collect() });
    }
    p
}

/// Adds a separation for every two items whose members nothing orders.
fn unordered(f: &Facts<'_>, a: &Assignment, entries: &[&MapEntry], p: &mut PackProblem) {
    let mut graphs: BTreeMap<usize, Graph> = BTreeMap::new();
    let members =
        |k: usize| a.merge.iter().find(|m| Some(m.class) == entries[k].class).map(|m| m.members.as_slice());
    let listed: BTreeSet<(u64, u64)> =
        a.merge.iter().flat_map(|m| &m.edges).map(|e| (e.from, e.to)).collect();
    for x in 0..entries.len() {
        for y in 0..x {
            if meet(p, x, y) {
                continue;
            }
            let both = members(x)
                .into_iter()
                .flatten()
                .flat_map(|v| members(y).into_iter().flatten().map(move |w| (*v, *w)));
            for (v, w) in both {
                let (u, t) = (&f.lives[f.life_of[&v]], &f.lives[f.life_of[&w]]);
                if u.region != t.region {
                    continue;
                }
                let g = graphs.entry(u.region).or_insert_with(|| Graph::new(f, a, u.region, None));
                let ordered = [(v, w, u, t), (w, v, t, u)].into_iter().all(|(from, to, u, t)| {
                    let d = f.ii(u.region).map_or(0, |ii| super::facts::ceil(u.end - t.start, ii));
                    if f.ii(u.region).is_none() && u.start > t.start {
                        return true;
                    }
                    listed.contains(&(from, to))
                        || (super::graph::acquires(f, a, from, to)
                            && super::graph::distances(d, 1)
                                .into_iter()
                                .flat_map(|d| waits(f, from, to, d))
                                .all(|(c, i, d)| g.implied(c, i, d)))
                });
                if !ordered {
                    p.separations.push((y, x));
                    break;
                }
            }
        }
    }
}

/// Whether two items are live at one moment, so that a separation says nothing new.
fn meet(p: &PackProblem, x: usize, y: usize) -> bool {
    let pieces = |k: usize| {
        let spans = p.items.get(k).into_iter().flat_map(|i| &i.live);
        spans.flat_map(|s| straight(s, p.segments[s.segment]).into_iter().map(|(a, b)| (s.segment, a, b)))
    };
    let mut all: Vec<(usize, i64, i64, bool)> = pieces(x).map(|(s, a, b)| (s, a, b, true)).collect();
    all.extend(pieces(y).map(|(s, a, b)| (s, a, b, false)));
    all.sort_unstable();
    // End of the furthest piece of each so far, in the segment at hand.
    let mut ends = [(usize::MAX, i64::MIN); 2];
    all.into_iter().any(|(segment, from, to, first)| {
        let other = ends[usize::from(!first)];
        let own = &mut ends[usize::from(first)];
        let before = if own.0 == segment { own.1 } else { i64::MIN };
        *own = (segment, before.max(to));
        other.0 == segment && from < other.1
    })
}

/// The aligned load of the fullest moment (B59).
fn load(f: &Facts<'_>, a: &Assignment, entries: &[&MapEntry], space: Space) -> u64 {
    let p = problem(f, a, entries, space);
    let mut most = 0u64;
    // What is live only changes where a span starts or ends; of those, starts make the load.
    let mut events: Vec<(usize, i64, bool, usize)> = Vec::new();
    for (k, item) in p.items.iter().enumerate().filter(|i| i.1.size > 0) {
        for s in &item.live {
            for (from, to) in straight(s, p.segments[s.segment]) {
                events.extend([(s.segment, from, true, k), (s.segment, to, false, k)]);
            }
        }
    }
    events.sort_unstable();
    let mut here: BTreeMap<usize, u32> = BTreeMap::new();
    for (n, &(segment, t, starts, k)) in events.iter().enumerate() {
        let spans = here.entry(k).or_default();
        if starts {
            *spans += 1;
        } else {
            *spans -= 1;
            if *spans == 0 {
                here.remove(&k);
            }
        }
        let next = events.get(n + 1).map(|e| (e.0, e.1, e.2));
        if starts && next != Some((segment, t, true)) {
            let live: Vec<&PackItem> = here.keys().map(|&k| &p.items[k]).collect();
            most = most.max(stacked(&live, &p.reserved));
        }
    }
    for item in p.items.iter().filter(|i| i.size > 0) {
        most = most.max(stacked(&[item], &p.reserved).max(lifted(item, &p.reserved)));
    }
    most
}

/// A span as pieces of straight time: two where it passes the end of its circle.
fn straight(s: &LiveSpan, segment: TimeSegment) -> Vec<(i64, i64)> {
    match segment {
        TimeSegment::Linear => vec![(s.start, s.start + s.len)],
        TimeSegment::Circular(period) if s.len >= period => vec![(0, period)],
        TimeSegment::Circular(period) => {
            let from = s.start.rem_euclid(period);
            let to = from + s.len;
            if to <= period { vec![(from, to)] } else { vec![(from, period), (0, to - period)] }
        }
    }
}

/// Least height of items that all start at multiples of a common divisor, above reserved ranges.
fn stacked(here: &[&PackItem], reserved: &[(u64, u64)]) -> u64 {
    if reserved.iter().all(|r| r.1 == 0) {
        let unit = here.iter().map(|i| i.align).min().unwrap_or(1);
        let whole: u64 = here.iter().map(|i| i.size.div_ceil(unit) * unit).sum();
        let slack = here.iter().map(|i| i.size.div_ceil(unit) * unit - i.size).max().unwrap_or(0);
        return whole - slack;
    }
    let mut blocked: Vec<(u64, u64)> =
        reserved.iter().filter(|r| r.1 > 0).map(|r| (r.0, r.0 + r.1)).collect();
    blocked.sort_unstable();
    let mut left: u64 = here.iter().map(|i| i.size).sum();
    let mut top = 0;
    for (from, to) in blocked {
        let room = from.saturating_sub(top);
        if left <= room {
            break;
        }
        left -= room;
        top = top.max(to);
    }
    if left == 0 { 0 } else { top + left }
}

/// End of one item at its lowest place among reserved ranges.
fn lifted(item: &PackItem, reserved: &[(u64, u64)]) -> u64 {
    let mut at = 0u64;
    loop {
        let hit = reserved
            .iter()
            .filter(|r| r.1 > 0 && at < r.0 + r.1 && r.0 < at + item.size)
            .map(|r| r.0 + r.1)
            .max();
        match hit {
            Some(end) => at = end.div_ceil(item.align) * item.align,
            None => return at + item.size,
        }
    }
}
