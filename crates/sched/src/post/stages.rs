//! The stage post-pass: whole-II moves that make rings short (S47-S50).

use crate::bounds::least_ii::bounds_of;
use crate::model::answer::Answer;
use crate::model::error::ScheduleError;
use crate::model::graph::{LoopGraph, LoopValue};
use crate::model::int::div_ceil;
use crate::model::problem::{Problem, own_caps};
use crate::model::validate::ValidGraph;
use crate::post::depth::{depths_of, total_bytes};
use crate::post::flow::{Constraint, minimise};
use crate::post::normal::{Found, normal_form};
use crate::post::order::body_order;
use petgraph::algo::spfa;
use petgraph::graph::DiGraph;
use std::collections::BTreeMap;

/// How far the post-pass may go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageOptions {
    /// The longest schedule allowed; `None`: as long as it likes.
    pub max_length: Option<i64>,
}

impl StageOptions {
    /// Sets the longest schedule allowed.
    #[must_use]
    pub fn max_length(mut self, length: Option<i64>) -> Self {
        self.max_length = length;
        self
    }
}

/// Moves operations by whole IIs, which changes no reservation, so that `sum bytes * depth` is the least there is
/// at these cycles; then the lifetimes, then all other dependences are made short (S49).
///
/// With several groups of peers (S58) each group's depth is lowered in turn.
///
/// # Errors
/// [`ScheduleError::Answer`] when the answer does not belong to the graph.
pub fn relax_stages(
    graph: &ValidGraph<'_>,
    answer: &Answer,
    options: &StageOptions,
) -> Result<Answer, ScheduleError> {
    crate::check::times(graph.graph(), answer)
        .map_err(|v| ScheduleError::Answer(v.first().map(ToString::to_string).unwrap_or_default()))?;
    let mut time = vec![0; graph.problem.n];
    answer.nodes.iter().for_each(|v| time[v.id] = v.time);
    let caps = own_caps(graph.whole());
    let problem = graph.problem.with_caps(graph.whole(), &caps);
    let time = relax(&problem, graph.whole(), answer.ii, time, options.max_length);
    let found = Found {
        ii: answer.ii,
        length_optimal: answer.length_optimal && graph.problem.length(&time) == answer.length,
        time,
        lower_bound: answer.lower_bound,
        steps: answer.steps,
    };
    let relaxed = normal_form(graph, &bounds_of(&graph.problem), found, answer.algorithm);
    Ok(Answer { stopped_by: answer.stopped_by.clone(), spaces: answer.spaces.clone(), ..relaxed })
}

/// The times after the post-pass; those given when nothing is won.
pub(crate) fn relax(
    problem: &Problem,
    graph: &LoopGraph,
    ii: i64,
    time: Vec<i64>,
    max_length: Option<i64>,
) -> Vec<i64> {
    if graph.values.is_empty() {
        return time;
    }
    let first = time.iter().copied().min().unwrap_or(0);
    let time: Vec<i64> = time.iter().map(|t| t - first).collect();
    let network = Stages::new(problem, graph, ii, &time, max_length);
    let cost = |time: &[i64]| {
        let order = body_order(problem, graph, ii, time);
        total_bytes(graph, &depths_of(graph, ii, time, &order))
    };
    let mut depths: BTreeMap<usize, i64> = network.group_depths(&time);
    let mut from = time.clone();
    let mut best = (cost(&time), time);
    loop {
        let relaxed = network.solve(&depths, &from);
        let now = cost(&relaxed);
        if now <= best.0 {
            best = (now, relaxed);
        }
        // Lower one group's depth after the other, as long as stages exist that allow it; alone that may cost others more.
        let lowered = depths.keys().copied().collect::<Vec<_>>().into_iter().find_map(|g| {
            let mut fewer = depths.clone();
            fewer.entry(g).and_modify(|d| *d -= 1);
            let start = network.feasible(&fewer)?;
            Some((fewer, start))
        });
        let Some((fewer, start)) = lowered else { return best.1 };
        let now = cost(&start);
        if now < best.0 {
            best = (now, start.clone());
        }
        (depths, from) = (fewer, start);
    }
}

/// Variables: the stage of every operation, then `q = stage of def + depth` of every value, then the origin.
struct Stages<'a> {
    problem: &'a Problem,
    graph: &'a LoopGraph,
    ii: i64,
    residue: Vec<i64>,
    fixed: Vec<Constraint>,
    weight: Vec<i128>,
}

impl<'a> Stages<'a> {
    fn new(
        problem: &'a Problem,
        graph: &'a LoopGraph,
        ii: i64,
        time: &[i64],
        max_length: Option<i64>,
    ) -> Self {
        let residue: Vec<i64> = time.iter().map(|t| t.rem_euclid(ii)).collect();
        let n = problem.n;
        let origin = (n + graph.values.len()) as u32;
        let mut fixed = Vec::new();
        for a in problem.dependences.arcs.iter().filter(|a| a.src != a.dst) {
            let least = div_ceil(a.weight(ii) + residue[a.src as usize] - residue[a.dst as usize], ii);
            fixed.push(Constraint { src: a.src, dst: a.dst, least });
        }
        for (v, r) in residue.iter().enumerate() {
            fixed.push(Constraint { src: origin, dst: v as u32, least: 0 });
            if let Some(longest) = max_length {
                let most = (longest - problem.latency[v] - r).div_euclid(ii);
                fixed.push(Constraint { src: v as u32, dst: origin, least: -most });
            }
        }
        let mut stages = Stages { problem, graph, ii, residue, fixed, weight: Vec::new() };
        for (i, v) in graph.values.iter().enumerate() {
            let q = (n + i) as u32;
            let min = v.min_depth.unwrap_or(1).max(1) as i64;
            stages.fixed.push(Constraint { src: v.def as u32, dst: q, least: min });
            for u in &v.uses {
                let least = stages.slots(v, u.node, u.distance, u.end);
                stages.fixed.push(Constraint { src: u.node as u32, dst: q, least });
            }
        }
        stages.weight = stages.weights();
        stages
    }

    /// `q - stage of reader` at least (S48), and at least what positions in the body ask for (S52).
    fn slots(&self, v: &LoopValue, node: usize, distance: i64, end: i64) -> i64 {
        let apart = self.residue[node] - self.residue[v.def];
        let law = div_ceil(apart + end - v.start, self.ii);
        distance + law.max(i64::from(apart > 0))
    }

    /// S49 as one weight per variable: each key counts more than all that the later ones can reach.
    fn weights(&self) -> Vec<i128> {
        let (n, values) = (self.problem.n, &self.graph.values);
        let mut keys = vec![vec![0i128; n + values.len() + 1]; 3];
        for (i, v) in values.iter().enumerate() {
            if v.group.is_none() {
                keys[0][n + i] += i128::from(v.bytes);
                keys[0][v.def] -= i128::from(v.bytes);
            }
            for u in &v.uses {
                keys[1][u.node] += i128::from(v.bytes);
                keys[1][v.def] -= i128::from(v.bytes);
            }
        }
        for a in self.problem.dependences.arcs.iter().filter(|a| a.src != a.dst) {
            keys[2][a.dst as usize] += 1;
            keys[2][a.src as usize] -= 1;
        }
        // Ties: the earliest stages.
        let origin = n + values.len();
        let mut sum: Vec<i128> = vec![1; n];
        sum.resize(n + values.len(), 0);
        sum.push(-(n as i128));
        let reach = |key: &[i128]| key.iter().map(|w| w.unsigned_abs()).fold(1u128, u128::saturating_add);
        let mut scale: i128 = 1;
        let mut total = vec![0i128; origin + 1];
        let later: Vec<Vec<i128>> = keys.into_iter().chain([sum]).rev().collect();
        for key in &later {
            for (t, w) in total.iter_mut().zip(key) {
                *t = t.saturating_add(w.saturating_mul(scale));
            }
            let factor = i128::try_from(reach(key)).unwrap_or(i128::MAX).min(1 << 60);
            scale = scale.saturating_mul(factor.saturating_mul(64)).min(1 << 100);
        }
        total
    }

    fn group_depths(&self, time: &[i64]) -> BTreeMap<usize, i64> {
        let order = body_order(self.problem, self.graph, self.ii, time);
        let depths = depths_of(self.graph, self.ii, time, &order);
        let grouped = self.graph.values.iter().zip(&depths);
        grouped.filter_map(|(v, d)| Some((v.group?, d.depth as i64))).collect()
    }

    fn constraints(&self, depths: &BTreeMap<usize, i64>) -> Vec<Constraint> {
        let mut all = self.fixed.clone();
        for (i, v) in self.graph.values.iter().enumerate() {
            if let Some(depth) = v.group.and_then(|g| depths.get(&g)) {
                all.push(Constraint { src: (self.problem.n + i) as u32, dst: v.def as u32, least: -depth });
            }
        }
        all
    }

    fn start(&self, time: &[i64]) -> Vec<i64> {
        let mut x: Vec<i64> = time.iter().zip(&self.residue).map(|(t, r)| (t - r) / self.ii).collect();
        for v in &self.graph.values {
            let readers = v.uses.iter().map(|u| x[u.node] + self.slots(v, u.node, u.distance, u.end));
            let q = readers.max().unwrap_or(0).max(x[v.def] + v.min_depth.unwrap_or(1).max(1) as i64);
            x.push(q);
        }
        x.push(0);
        x
    }

    fn times(&self, x: &[i64]) -> Vec<i64> {
        let origin = x.last().copied().unwrap_or(0);
        x.iter().zip(&self.residue).map(|(k, r)| (k - origin) * self.ii + r).collect()
    }

    fn solve(&self, depths: &BTreeMap<usize, i64>, time: &[i64]) -> Vec<i64> {
        let constraints = self.constraints(depths);
        let mut x = self.start(time);
        minimise(&constraints, &self.weight, &mut x);
        self.times(&x)
    }

    /// Earliest stages under these group depths, or `None`: longest paths from a common source, which are shortest ones
    /// with all signs turned.
    fn feasible(&self, depths: &BTreeMap<usize, i64>) -> Option<Vec<i64>> {
        let source = self.weight.len() as u32;
        let bounds = self.constraints(depths).into_iter().map(|c| (c.src, c.dst, -c.least));
        // A node keeps its last edge first: so the walk takes the operations in their order.
        let starts = (0..source).rev().map(|v| (source, v, 0));
        let network: DiGraph<(), i64> = DiGraph::from_edges(bounds.chain(starts));
        let paths = spfa(&network, source.into(), |bound| *bound.weight()).ok()?;
        let x: Vec<i64> = paths.distances.iter().take(source as usize).map(|d| -d).collect();
        Some(self.times(&x))
    }
}
