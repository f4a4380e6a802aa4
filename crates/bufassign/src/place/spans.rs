//! When classes are live, as the packer sees it (B55, B56).

use super::plot::Plot;
use crate::input::{Repeat, Sharing};
use crate::lifetime::{Lifetimes, Span, Unit};
use crate::model::Model;
use crate::pack::{LiveSpan, PackItem, PackProblem, TimeSegment};
use std::collections::BTreeSet;

/// What a space looks like to the packer.
pub(crate) struct Ground<'a> {
    pub reserved: &'a [(u64, u64, String)],
    pub capacity: u64,
    /// Two lane sets per region.
    pub lanes: bool,
    /// Nodes that a search may visit.
    pub nodes: u64,
}

/// When a plot is live, as spans of the packer's segments. `upper` picks its lane set.
fn spans(
    model: &Model<'_>,
    life: &Lifetimes,
    plot: &Plot,
    ground: &Ground<'_>,
    upper: bool,
) -> Vec<LiveSpan> {
    let mut out = Vec::new();
    let halves: &[usize] = match (ground.lanes, plot.half_lanes, upper) {
        (false, ..) => &[0],
        (true, false, _) => &[0, 1],
        (true, true, false) => &[0],
        (true, true, true) => &[1],
    };
    let per_region = if ground.lanes { 2 } else { 1 };
    let mut add = |region: usize, start: i64, len: i64| {
        for half in halves {
            out.push(LiveSpan { segment: region * per_region + half, start, len: len.max(1), window: None });
        }
    };
    let everything = |region: usize| everything(model, life, region);
    let alone =
        model.options.effective_sharing() == Sharing::Off || model.problem.repeat == Repeat::Overlapped;
    for &k in &plot.ring.units {
        let u = &life.units[k];
        let r = &model.regions[u.region];
        let always = alone || r.inner || plot.layout.is_some();
        if plot.ring.depth > 1 && r.is_loop || always || (u.whole && r.is_loop) {
            add(u.region, 0, everything(u.region));
        } else if u.whole {
            let start = if u.producer.is_none() || life_starts_before(model, u) { 0 } else { u.start };
            let end = if leaves(model, u) { life.horizon[u.region] } else { u.end };
            add(u.region, start, end - start);
        } else {
            add(u.region, u.start, u.length());
        }
        for &(region, span) in &u.elsewhere {
            match span {
                Span::Whole => add(region, 0, everything(region)),
                Span::Range(a, b) => add(region, a, b - a),
            }
        }
        for region in beside(model, u) {
            add(region, 0, everything(region));
        }
    }
    if model.problem.repeat == Repeat::Overlapped {
        for region in 0..model.regions.len() {
            add(region, 0, everything(region));
        }
    }
    out
}

/// Regions that run while a unit is live, beside those in which it is (B79).
pub(crate) fn beside(model: &Model<'_>, u: &Unit) -> BTreeSet<usize> {
    let own = || std::iter::once(u.region).chain(u.elsewhere.iter().map(|e| e.0));
    own().flat_map(|r| model.beside(r)).filter(|&r| own().all(|o| o != r)).collect()
}

/// All cycles of a region.
pub(super) fn everything(model: &Model<'_>, life: &Lifetimes, region: usize) -> i64 {
    let r = &model.regions[region];
    if r.is_loop { r.ii } else { life.horizon[region] }
}

fn life_starts_before(model: &Model<'_>, u: &Unit) -> bool {
    u.values.iter().any(|&v| model.values[v].src.live_in)
}

fn leaves(model: &Model<'_>, u: &Unit) -> bool {
    u.values.iter().any(|&v| model.values[v].src.live_out) || u.elsewhere.iter().any(|e| e.0 > u.region)
}

pub(super) fn problem(
    model: &Model<'_>,
    life: &Lifetimes,
    plots: &[&Plot],
    ground: &Ground<'_>,
    upper: &[bool],
) -> PackProblem {
    let mut p = PackProblem::default();
    for r in &model.regions {
        let s = if r.is_loop { TimeSegment::Circular(r.ii) } else { TimeSegment::Linear };
        p.segments.extend(std::iter::repeat_n(s, if ground.lanes { 2 } else { 1 }));
    }
    p.reserved = ground.reserved.iter().map(|r| (r.0, r.1)).collect();
    p.items = plots
        .iter()
        .zip(upper)
        .map(|(plot, &upper)| PackItem {
            size: plot.bytes(),
            align: plot.align,
            fixed: None,
            live: spans(model, life, plot, ground, upper),
        })
        .collect();
    p
}

/// The packer's view of plots of shared memory, or of columns regardless of lanes.
pub(crate) fn problem_of(model: &Model<'_>, life: &Lifetimes, plots: &[&Plot]) -> PackProblem {
    let ground = Ground { reserved: &[], capacity: 0, lanes: false, nodes: 0 };
    problem(model, life, plots, &ground, &vec![false; plots.len()])
}
