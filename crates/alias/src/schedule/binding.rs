//! Bindings of values to leaves, and when their operations run.

use serde::Serialize;

use crate::counts::gcd;
use crate::error::{AliasError, Result};
use crate::layout::{AliasLayout, LeafLayout};
use crate::model::LeafId;

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

impl Times {
    /// From the issue of the producer to the completion of the last reader in iteration `j`, cycles (B16).
    pub(super) fn life(&self, b: &Binding, j: u64) -> (u64, u64) {
        let at = |list: &[u64], n: u32| list.get(n as usize).copied().unwrap_or(0);
        let base = j.saturating_mul(self.ii);
        let last = b.reads.iter().map(|r| at(&self.done, *r)).max();
        let last = last.unwrap_or_else(|| at(&self.done, b.write));
        (base.saturating_add(at(&self.issue, b.write)), base.saturating_add(last))
    }
}

/// What two bindings need of their places.
pub(super) fn pair<'l>(
    layout: &'l AliasLayout,
    x: &Binding,
    y: &Binding,
) -> Option<(&'l LeafLayout, &'l LeafLayout)> {
    let (a, b) = (layout.leaf(x.leaf)?, layout.leaf(y.leaf)?);
    (a.0.spec == b.0.spec).then_some((a.1, b.1))
}

/// Whether buffer `i` of one leaf and `j` of another have a unit in common.
pub(super) fn meet(a: &LeafLayout, i: u64, b: &LeafLayout, j: u64) -> bool {
    match (a.position(i), b.position(j)) {
        (Some(p), Some(q)) => p < q.saturating_add(b.unit) && q < p.saturating_add(a.unit),
        _ => false,
    }
}

/// The least distance from `first` on at which iterations of residues `j` and `k` modulo `common` meet.
pub(super) fn least(first: u64, j: u64, k: u64, common: u64) -> u64 {
    let rest = (k % common + common - j % common) % common;
    if rest >= first { rest } else { rest.saturating_add(common) }
}
