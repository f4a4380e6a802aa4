//! Meeting the schedule: bindings of values to leaves, alias edges, and the simulation that checks them
//! (A44 to A48, L15).

use hashbrown::HashMap;
use serde::Serialize;

use crate::check::Finding;
use crate::counts::gcd;
use crate::error::{AliasError, Result};
use crate::layout::{Layout, LeafLayout};
use crate::model::LeafId;

/// Searches over iterations stop here; rings of real kernels are far shorter.
const MOST_ITERATIONS: u64 = 1 << 16;

/// A pipelined value that lives in a leaf: iteration j uses buffer `(mul * j + add) mod n` (A44).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// Name of the value, for messages.
    pub value: String,
    /// The leaf.
    pub leaf: LeafId,
    /// Factor of the iteration; 0 is a fixed buffer.
    pub mul: u64,
    /// Buffer of iteration 0.
    pub add: u64,
    /// The operation that writes it: its position in the body.
    pub write: u32,
    /// The operations that read it last: their positions in the body.
    pub reads: Vec<u32>,
}

/// `src` of iteration i completes before `dst` of iteration `i + distance` issues (A46).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct AliasEdge {
    /// Number of the binding whose last use comes first.
    pub src: usize,
    /// Number of the binding whose first write waits for it.
    pub dst: usize,
    /// Iterations between them.
    pub distance: u64,
}

/// What `warploom.buffer` says: leaf name, factor and first buffer.
///
/// # Errors
/// A44 for text that is not `#warploom.buffer<"p", mul = 2, add = 1>`.
pub fn parse_binding(text: &str) -> Result<(String, u64, u64)> {
    let wrong = || {
        AliasError::new("A44", format!("{text} is no binding"))
            .help("write #warploom.buffer<\"p\", mul = 2, add = 1>; mul is 1 and add 0 when left out")
    };
    let body =
        text.trim().strip_prefix("#warploom.buffer<").and_then(|t| t.strip_suffix('>')).ok_or_else(wrong)?;
    let (mut mul, mut add) = (1, 0);
    let mut parts = body.split(',').map(str::trim);
    let name = parts.next().and_then(|n| n.strip_prefix('"')?.strip_suffix('"')).ok_or_else(wrong)?;
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(wrong)?;
        let value = value.trim().parse::<u64>().map_err(|_| wrong())?;
        match key.trim() {
            "mul" => mul = value,
            "add" => add = value,
            _ => return Err(wrong()),
        }
    }
    Ok((name.to_owned(), mul, add))
}

impl Binding {
    /// The buffer of an iteration.
    pub fn index(&self, iteration: u64, count: u64) -> u64 {
        let n = u128::from(count.max(1));
        ((u128::from(self.mul) * u128::from(iteration) + u128::from(self.add)) % n) as u64
    }

    /// Iterations until the buffers repeat (A45).
    pub fn period(&self, count: u64) -> u64 {
        match self.mul % count.max(1) {
            0 => 1,
            mul => count / gcd(count, mul),
        }
    }

    /// Positions of the buffers in the order of the iterations: the `slots` of an assignment's layout.
    pub fn slots(&self, leaf: &LeafLayout) -> Vec<u64> {
        (0..self.period(leaf.count)).filter_map(|j| leaf.position(self.index(j, leaf.count))).collect()
    }
}

/// What two bindings need of their places.
fn pair<'l>(layout: &'l Layout, x: &Binding, y: &Binding) -> Option<(&'l LeafLayout, &'l LeafLayout)> {
    let (a, b) = (layout.leaf(x.leaf)?, layout.leaf(y.leaf)?);
    (a.0.spec == b.0.spec).then_some((a.1, b.1))
}

/// Whether buffer `i` of one leaf and `j` of another have a unit in common.
fn meet(a: &LeafLayout, i: u64, b: &LeafLayout, j: u64) -> bool {
    match (a.position(i), b.position(j)) {
        (Some(p), Some(q)) => p < q.saturating_add(b.unit) && q < p.saturating_add(a.unit),
        _ => false,
    }
}

/// The edges that keep aliased values apart (A46): for each ordered pair the smallest distance at which some
/// iteration finds the two in one unit.
pub fn edges(layout: &Layout, bindings: &[Binding]) -> Vec<AliasEdge> {
    let mut out = Vec::new();
    for (src, x) in bindings.iter().enumerate() {
        for (dst, y) in bindings.iter().enumerate() {
            let Some((a, b)) = pair(layout, x, y) else { continue };
            let (p, q) = (x.period(a.count), y.period(b.count));
            let all = (p / gcd(p, q)).saturating_mul(q).min(MOST_ITERATIONS);
            let first = u64::from(src == dst || x.write >= y.write);
            let hit = |d: &u64| {
                (0..all).any(|j| meet(a, x.index(j, a.count), b, y.index(j.saturating_add(*d), b.count)))
            };
            if let Some(distance) = (first..=first.saturating_add(all)).find(hit) {
                out.push(AliasEdge { src, dst, distance });
            }
        }
    }
    out
}

/// A48: edges of distance 0 that close a cycle with the dependences of the body (pairs of positions, the first
/// before the second in one iteration).
pub fn cycles(
    layout: &Layout,
    bindings: &[Binding],
    edges: &[AliasEdge],
    body: &[(u32, u32)],
) -> Vec<AliasError> {
    let mut next: HashMap<u32, Vec<u32>> = HashMap::new();
    for (from, to) in body {
        next.entry(*from).or_default().push(*to);
    }
    let reaches = |from: u32, to: u32| {
        let mut seen = hashbrown::HashSet::new();
        let mut work = vec![from];
        while let Some(n) = work.pop() {
            if n == to {
                return true;
            }
            if seen.insert(n) {
                work.extend(next.get(&n).into_iter().flatten().copied());
            }
        }
        false
    };
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

/// When the operations of the body run: issue and completion in cycles, by position in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Initiation interval in cycles.
    pub ii: u64,
    /// Cycle of issue.
    pub issue: Vec<u64>,
    /// Cycle of completion.
    pub done: Vec<u64>,
}

/// L15: simulates a schedule and finds live values of one storage with a unit in common, and edges that do not
/// hold. The edges are not consulted for the first.
///
/// # Errors
/// Every pair found, at most 100.
pub fn check_schedule(
    layout: &Layout,
    bindings: &[Binding],
    edges: &[AliasEdge],
    times: &Times,
) -> Result<(), Vec<Finding>> {
    let mut findings = Vec::new();
    let at = |list: &[u64], n: u32| list.get(n as usize).copied().unwrap_or(0);
    let life = |b: &Binding, j: u64| {
        let base = j.saturating_mul(times.ii);
        let last = b.reads.iter().map(|r| at(&times.done, *r)).max().unwrap_or(at(&times.done, b.write));
        (base.saturating_add(at(&times.issue, b.write)), base.saturating_add(last))
    };
    let length = times.done.iter().copied().max().unwrap_or(0);
    let stages = length.div_ceil(times.ii.max(1)).saturating_add(1);
    for (n, x) in bindings.iter().enumerate() {
        for (k, y) in bindings.iter().enumerate() {
            let Some((a, b)) = pair(layout, x, y) else { continue };
            let all = a.count.saturating_mul(b.count).min(4096);
            // Live values of two iterations further apart than the stages never overlap.
            'pair: for i in 0..all {
                for j in i..=i.saturating_add(stages) {
                    if i == j && n >= k {
                        continue;
                    }
                    let ((from, to), (start, end)) = (life(x, i), life(y, j));
                    let live = from < end && start < to;
                    if live && meet(a, x.index(i, a.count), b, y.index(j, b.count)) && findings.len() < 100 {
                        findings.push(Finding {
                            law: "L15",
                            message: format!(
                                "{} of iteration {i} and {} of iteration {j} are live in one unit",
                                x.value, y.value
                            ),
                        });
                        break 'pair;
                    }
                }
            }
        }
    }
    for edge in edges {
        let (Some(x), Some(y)) = (bindings.get(edge.src), bindings.get(edge.dst)) else { continue };
        if life(x, 0).1 > life(y, edge.distance).0 {
            findings.push(Finding {
                law: "L15",
                message: format!("missing edge {} -> {}, distance {}", x.value, y.value, edge.distance),
            });
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}
