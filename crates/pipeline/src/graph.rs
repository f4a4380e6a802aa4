//! From the pipelined loop to a loop graph, through the chip's cost model (S1-S8, T30-T37).

use warploom_ir::OpId;
use warploom_sched::{LoopGraph, ValueUse};
use warploom_target::Target;
use warploom_target::cost::{CostError, MmaOp, Op, OpCost};
use warploom_target::mma::{MmaInstruction, OperandPlace};

use crate::select::{Selection, TileLoad};

/// Which agent issues an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The agent that copies tiles.
    Load,
    /// The agent that multiplies and owns the accumulator.
    Math,
}

impl Role {
    /// Name of the agent in every text form.
    pub fn name(self) -> &'static str {
        match self {
            Role::Load => "load",
            Role::Math => "math",
        }
    }
}

/// A loop graph and which operation of the kernel each node is.
#[derive(Clone, Debug)]
pub struct PipelinedLoop {
    /// The graph for the scheduler; nodes in program order.
    pub graph: LoopGraph,
    /// Operation and agent of each node.
    pub nodes: Vec<(OpId, Role)>,
    /// Products that may be unfinished when slots are given back: 1, or 0 for a ring of one slot.
    pub pending: u64,
    /// Cycles from an arrival in one agent to the wake-up of the other.
    pub handoff: u64,
}

/// What shapes the graph beside the kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphOptions {
    /// Products that may be unfinished when slots are given back (C30).
    pub pending: u64,
    /// The most slots a ring may have (C6, S55).
    pub max_depth: Option<u64>,
}

/// The loop graph of a kernel: one node per copy, product and wait.
///
/// A tile is live from the issue of its copy until the wait that proves its product finished; with one product
/// pending, that wait belongs to the next iteration, and the ring is deeper by what that takes (C30).
///
/// # Errors
/// The chip has no cost for an operation.
pub fn loop_graph(
    selection: &Selection,
    wait: OpId,
    name: &str,
    target: &Target,
    options: GraphOptions,
) -> Result<PipelinedLoop, CostError> {
    let pending = i64::try_from(options.pending).unwrap_or(i64::MAX);
    let handoff = signed(target.cost(&Op::Mbarrier, 1)?.latency);
    let mut graph = LoopGraph::new(name);
    let mut nodes = Vec::new();

    let mut copies = Vec::new();
    for load in &selection.loads {
        let cost = load_cost(load, target)?;
        let node = add(&mut graph, &format!("load {}", load.name), "tt.descriptor_load", &cost);
        nodes.push((load.op, Role::Load));
        copies.push((node, signed(cost.latency)));
    }
    let product = product_cost(selection, target)?;
    let dot = add(&mut graph, "dot", "tt.dot", &product);
    nodes.push((selection.dot.op, Role::Math));
    let waiting = target.cost(&Op::BarrierArrive, 4)?;
    let done = add(&mut graph, "wait", "warploom.mma_wait", &waiting);
    nodes.push((wait, Role::Math));

    let used = |unit: &str| graph.nodes.iter().any(|node| node.uses.iter().any(|u| u.resource == unit));
    let units: Vec<(String, u64)> = target
        .unit
        .iter()
        .filter(|(unit, _)| used(unit))
        .map(|(unit, data)| (unit.clone(), data.count.into()))
        .collect();
    for (unit, count) in units {
        graph.add_resource(unit, count);
    }
    for &(copy, latency) in &copies {
        graph.add_edge(copy, dot, latency.saturating_add(handoff), 0);
    }
    // The accumulator goes from product to product inside the tensor core: no latency, only its time there.
    let busy = signed(product.uses.iter().map(|u| u.duration).max().unwrap_or(0));
    graph.add_edge(dot, dot, busy, 1);
    graph.add_edge(dot, done, signed(product.issue), 0);
    graph.add_edge(dot, done, signed(product.latency), pending);
    // The wait blocks the agent: its next product comes behind it.
    graph.add_edge(done, dot, 0, 1);

    for (load, &(copy, _)) in selection.loads.iter().zip(&copies) {
        let end = signed(waiting.latency).saturating_add(handoff);
        let bytes = load.plan.bytes.next_multiple_of(load.plan.align());
        let id = graph.add_value(copy, bytes, "smem", &[(done, pending, end)]);
        if let Some(value) = graph.values.get_mut(id) {
            value.name.clone_from(&load.name);
            value.uses.push(ValueUse { node: dot, distance: 0, end: signed(product.latency) });
            value.group = Some(0);
            value.max_depth = options.max_depth;
        }
    }
    Ok(PipelinedLoop { graph, nodes, pending: options.pending, handoff: handoff.unsigned_abs() })
}

fn add(graph: &mut LoopGraph, name: &str, op: &str, cost: &OpCost) -> usize {
    let uses: Vec<(&str, u64, u64)> =
        cost.uses.iter().map(|u| (u.unit.as_str(), u.start, u.duration)).collect();
    let id = graph.add_node(name, signed(cost.latency), &uses);
    if let Some(node) = graph.nodes.get_mut(id) {
        node.op = op.to_owned();
        node.issue_latency = Some(cost.issue);
    }
    id
}

/// What a copy costs; also used for the tiles of the epilogue.
pub(crate) fn load_cost(load: &TileLoad, target: &Target) -> Result<OpCost, CostError> {
    let inner = load.plan.block.last().copied().unwrap_or(1);
    let inner_bytes = inner.saturating_mul(load.plan.element_bytes);
    target.cost(&Op::TmaLoad { bytes: load.plan.bytes, inner_bytes }, 1)
}

fn product_cost(selection: &Selection, target: &Target) -> Result<OpCost, CostError> {
    let [m, n, k] = selection.dot.extents.map(|extent| u32::try_from(extent).unwrap_or(u32::MAX));
    let op = MmaOp {
        instruction: MmaInstruction::Wgmma,
        m,
        n,
        k,
        element: selection.dot.element,
        a: OperandPlace::Shared,
    };
    target.cost(&Op::Mma(op), selection.warpgroups().saturating_mul(4))
}

fn signed(cycles: u64) -> i64 {
    i64::try_from(cycles).unwrap_or(i64::MAX)
}
