//! The loop graph of any pipelined loop on any chip (C9, S1-S8): what its operations occupy, what waits for what, which
//! agent issues what, and which values need room.
//!
//! One node for every operation of the loop that occupies a unit by the chip's cost model, and one for every move that
//! the chip asks for beside it: a copied tile read into registers, a product read out of tensor memory, a factor written
//! into it. Scalars, views and index functions are no nodes (C8); what depends on them depends on what they are made of.
//!
//! | operation | agent | unit |
//! |---|---|---|
//! | `tt.descriptor_load` | load | TMA |
//! | `tt.load` of a tile | math (`cp.async`) | SMEM |
//! | `tt.dot` | math, or mma where one thread issues it (tcgen05) | TC |
//! | everything else | math | FP32, SFU, SMEM, TMEM, ISSUE |
//!
//! An edge carries the latency of its source, and the hand-over where the two ends belong to different agents (S66).
//! Values: tiles in shared memory from the issue of their copy until their last reader has given the slot back, products
//! in tensor memory, and register tiles, where operations that overwrite their operand share one value.

mod edges;
mod index;
mod nodes;
mod price;
mod values;

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode};
use warploom_sched::LoopGraph;
use warploom_target::Target;
use warploom_target::cost::{CostError, Op};
use warploom_target::mma::MmaInstruction;

use crate::normalize::normalize;
use crate::place::refuse;
use crate::select::entry_function;
use crate::waits;
use crate::walk::preorder;
use nodes::Maker;

/// Which agent issues an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// The agent that copies tiles.
    Load,
    /// The agent that issues products whose result is in tensor memory.
    Mma,
    /// The agent that computes on register tiles.
    Math,
}

impl Role {
    /// Name of the agent in every text form.
    pub fn name(self) -> &'static str {
        match self {
            Role::Load => "load",
            Role::Mma => "mma",
            Role::Math => "math",
        }
    }
}

/// Which part of an operation a node is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// The operation itself.
    Whole,
    /// Reading what it copied to shared memory into registers.
    Read,
    /// Reading its product out of tensor memory.
    TmemLoad,
    /// Writing its result into tensor memory, for a product.
    TmemStore,
    /// Writing its result into shared memory, for a product.
    Write,
}

/// A node of a loop graph: what it is in the kernel, and who issues it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopNode {
    /// The operation of the kernel.
    pub op: OpId,
    /// Which part of it.
    pub part: Part,
    /// The agent.
    pub role: Role,
}

/// A loop graph and which operation of the kernel each node is.
#[derive(Clone, Debug)]
pub struct PipelinedLoop {
    /// The loop.
    pub scf_for: OpId,
    /// The graph for the scheduler; nodes in program order.
    pub graph: LoopGraph,
    /// Operation and agent of each node.
    pub nodes: Vec<LoopNode>,
    /// The copies whose tile each value of the graph is; none for values in registers and tensor memory.
    pub copies: Vec<Option<OpId>>,
    /// Products that may be unfinished when slots are given back: 1, or 0 for a ring of one slot.
    pub pending: u64,
    /// Cycles from an arrival in one agent to the wake-up of the other.
    pub handoff: u64,
    /// One agent issues everything.
    pub one_agent: bool,
}

impl PipelinedLoop {
    /// The name of the agent that issues a node, in every text form.
    pub fn agent(&self, node: &LoopNode) -> &'static str {
        if self.one_agent { "main" } else { node.role.name() }
    }

    /// The node of an operation.
    pub fn node(&self, op: OpId, part: Part) -> Option<usize> {
        self.nodes.iter().position(|n| n.op == op && n.part == part)
    }
}

/// What shapes the graph beside the kernel.
#[derive(Clone, Copy, Debug)]
pub struct GraphOptions {
    /// Products that may be unfinished when slots are given back (C30).
    pub pending: u64,
    /// The most slots a ring in shared memory may have (C6, S55).
    pub max_depth: Option<u64>,
    /// The most copies of a register tile (C29): 1 keeps the loop from being unrolled.
    pub register_copies: Option<u64>,
    /// How products are issued; by default the fastest way of the chip.
    pub instruction: Option<MmaInstruction>,
    /// One agent issues everything, so that nothing is handed over (S66).
    pub one_agent: bool,
}

impl Default for GraphOptions {
    fn default() -> GraphOptions {
        GraphOptions {
            pending: 1,
            max_depth: None,
            register_copies: Some(1),
            instruction: None,
            one_agent: false,
        }
    }
}

/// The pipelined loops of a function (C9): each innermost `scf.for` that loads a tile, in the order of the text.
pub fn pipelined_loops(module: &Module, func: OpId) -> Vec<OpId> {
    let mut loops: Vec<OpId> = Vec::new();
    for op in preorder(module, func) {
        let tile = module.ops[op].results.iter().any(|&v| module.ty(v).is_tensor());
        if !(matches!(module.ops[op].opcode, Opcode::DescriptorLoad | Opcode::Load) && tile) {
            continue;
        }
        loops.extend(innermost_for(module, op).filter(|scf_for| !loops.contains(scf_for)));
    }
    // A loop around another one with tile loads is not pipelined itself.
    let around = |outer: OpId| loops.iter().any(|&inner| inner != outer && is_inside(module, inner, outer));
    loops.iter().copied().filter(|&l| !around(l)).collect()
}

/// The innermost `scf.for` around an operation.
pub(crate) fn innermost_for(module: &Module, op: OpId) -> Option<OpId> {
    let mut at = module.parent(op)?;
    loop {
        match module.ops[at].opcode {
            Opcode::For => return Some(at),
            Opcode::Func => return None,
            _ => at = module.parent(at)?,
        }
    }
}

/// Whether an operation stands somewhere inside another.
pub(crate) fn is_inside(module: &Module, op: OpId, around: OpId) -> bool {
    let mut at = module.parent(op);
    while let Some(parent) = at {
        if parent == around {
            return true;
        }
        at = module.parent(parent);
    }
    false
}

/// The graphs of all pipelined loops of a kernel, in the order of the text, each named `kernel/loopN`.
///
/// Works for every kernel that can be read, also where no code can be made of it yet.
///
/// # Errors
/// No kernel of that name, calls that cannot be inlined, no loop that loads tiles, an operation without a cost.
pub fn loop_graphs(
    module: &Module,
    entry: Option<&str>,
    target: &Target,
    options: GraphOptions,
) -> Result<Vec<PipelinedLoop>, Vec<Diagnostic>> {
    let func = entry_function(module, entry)?;
    let mut kernel = normalize(module, func)?;
    let loops = pipelined_loops(&kernel, func);
    if loops.is_empty() {
        let error =
            refuse(&kernel, func, Code::Loop, "nothing to pipeline: no scf.for loads a tile").rule("C9");
        return Err(vec![error]);
    }
    if options.instruction.unwrap_or(target.mma_instruction()) == MmaInstruction::Wgmma {
        for &scf_for in &loops {
            waits::insert_lagging(&mut kernel, scf_for, options.pending);
        }
    }
    let name = kernel.symbol_name(func).unwrap_or("kernel").to_owned();
    let mut graphs = Vec::new();
    for (number, &scf_for) in loops.iter().enumerate() {
        let graph = loop_graph(&kernel, scf_for, &format!("{name}/loop{number}"), target, options);
        graphs.push(graph.map_err(|error| {
            vec![refuse(&kernel, scf_for, Code::Target, error.to_string()).rule(error.rule())]
        })?);
    }
    Ok(graphs)
}

/// The loop graph of a loop of a kernel in normal form. Products whose result nothing in the loop reads are waited for
/// by a `warploom.mma_wait` of their own (C30).
///
/// # Errors
/// The chip has no cost for an operation.
pub fn loop_graph(
    module: &Module,
    scf_for: OpId,
    name: &str,
    target: &Target,
    options: GraphOptions,
) -> Result<PipelinedLoop, CostError> {
    let handoff = target.cost(&Op::Mbarrier, 1)?.latency;
    let mut maker = Maker::new(module, scf_for, name, target, options, handoff);
    maker.nodes()?;
    maker.resources();
    maker.edges()?;
    maker.values()?;
    Ok(maker.finish())
}
