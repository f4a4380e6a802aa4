//! The order that sharing asks for (A46), and what no order can give (A48).

use petgraph::algo::has_path_connecting;
use petgraph::graphmap::DiGraphMap;

use super::binding::{AliasEdge, Binding, least, pair};
use crate::counts::gcd;
use crate::error::AliasError;
use crate::layout::{AliasLayout, LeafLayout};

/// The positions that a binding visits in its first `period` iterations, with the iteration, lowest first.
fn visits(b: &Binding, leaf: &LeafLayout) -> Vec<(u64, u64)> {
    let place = |j| Some((leaf.position(b.index(j, leaf.count))?, j));
    let mut out: Vec<(u64, u64)> = (0..b.period(leaf.count)).filter_map(place).collect();
    out.sort_unstable();
    out
}

/// The edges that keep aliased values apart (A46): for each ordered pair the smallest distance at which some
/// iteration finds the two in one unit.
///
/// Buffer j of X is visited at j, j + p, .., buffer k of Y at k, k + q, ..; some iteration of each are `d` apart
/// exactly if d = k - j modulo gcd(p, q). The buffers of one leaf never meet, so that few pairs (j, k) do.
pub fn edges(layout: &AliasLayout, bindings: &[Binding]) -> Vec<AliasEdge> {
    let mut out = Vec::new();
    for (src, x) in bindings.iter().enumerate() {
        for (dst, y) in bindings.iter().enumerate() {
            let Some((a, b)) = pair(layout, x, y) else { continue };
            let common = gcd(x.period(a.count), y.period(b.count)).max(1);
            let first = u64::from(src == dst || x.write >= y.write);
            let (ours, theirs) = (visits(x, a), visits(y, b));
            let mut distance: Option<u64> = None;
            let mut from = 0;
            for (p, j) in ours {
                from +=
                    theirs.get(from..).unwrap_or(&[]).partition_point(|(q, _)| q.saturating_add(b.unit) <= p);
                let met = theirs.get(from..).unwrap_or(&[]).iter();
                for (_, k) in met.take_while(|(q, _)| *q < p.saturating_add(a.unit)) {
                    let d = least(first, j, *k, common);
                    distance = Some(distance.map_or(d, |known| known.min(d)));
                }
            }
            out.extend(distance.map(|distance| AliasEdge { src, dst, distance }));
        }
    }
    out
}

/// A48: edges of distance 0 that close a cycle with the dependences of the body (pairs of positions, the first
/// before the second in one iteration).
pub fn cycles(
    layout: &AliasLayout,
    bindings: &[Binding],
    edges: &[AliasEdge],
    body: &[(u32, u32)],
) -> Vec<AliasError> {
    let after = DiGraphMap::<u32, (), std::hash::RandomState>::from_edges(body);
    let reaches = |from: u32, to: u32| from == to || has_path_connecting(&after, from, to, None);
    let mut errors = Vec::new();
    for edge in edges.iter().filter(|e| e.distance == 0) {
        let (Some(x), Some(y)) = (bindings.get(edge.src), bindings.get(edge.dst)) else { continue };
        let Some((a, b)) = pair(layout, x, y) else { continue };
        let Some(read) = x.reads.iter().find(|r| reaches(y.write, **r)) else { continue };
        let (p, q) =
            (a.position(x.index(0, a.count)).unwrap_or(0), b.position(y.index(0, b.count)).unwrap_or(0));
        let (from, to) = (p.max(q), p.saturating_add(a.unit).min(q.saturating_add(b.unit)));
        let (s, _) = layout.leaf(x.leaf).map_or((None, ()), |(s, _)| (Some(s), ()));
        let unit = s.map_or("units", |s| s.space.unit());
        let group = s.map_or(0, |s| from.checked_div(s.stride).unwrap_or(0));
        errors.push(
            AliasError::new(
                "A48",
                format!(
                    "leaves %{} and %{} share {unit} {from}..{to} of group {group}, but %{} is read by operation {read} \
                     after operation {} has written %{}; make them distinct or give %{} another buffer",
                    a.name, b.name, a.name, y.write, b.name, a.name
                ),
            )
            .help("a value that is still needed may not be overwritten in its own iteration"),
        );
    }
    errors
}
