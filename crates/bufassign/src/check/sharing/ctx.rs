//! What the questions of sharing look at.

use super::super::facts::Facts;
use super::super::graph::Graph;
use crate::output::{Assignment, OrderEdge};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Ctx<'c, 'p> {
    pub f: &'c Facts<'p>,
    pub a: &'c Assignment,
    pub graphs: BTreeMap<usize, Graph>,
    pub edges: BTreeSet<OrderEdge>,
    /// From, to and distance of the edges.
    pub listed: BTreeSet<(u64, u64, i128)>,
    pub class: BTreeMap<u64, u64>,
    /// Regions whose boundary before them is drained, for two classes.
    pub drained: BTreeSet<(u64, [u64; 2])>,
}
