//! Builds the graphs of a kernel's loops.

use warploom_chips::Target;
use warploom_chips::cost::{CostError, Op};
use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostics};
use warploom_ir::{Module, OpId};

use crate::loops::nodes::Maker;
use crate::loops::{GraphOptions, PipelinedLoop, TripPrices};
use crate::nest::pipelined_loops;
use crate::normalize::normalize;
use crate::place::refuse;
use crate::select::entry_function;
use crate::waits;

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
) -> Result<Vec<PipelinedLoop>, Diagnostics> {
    let func = entry_function(module, entry)?;
    let mut kernel = normalize(module, func)?;
    let loops = pipelined_loops(&kernel, func);
    if loops.is_empty() {
        let error =
            refuse(&kernel, func, Code::Loop, "nothing to pipeline: no scf.for loads a tile").rule("C9");
        return Err(error.into());
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
    let synchronisation = target.cost(&Op::Mbarrier, 1)?.latency;
    let mut maker = Maker::new(module, scf_for, name, target, options, synchronisation);
    maker.out.trip = TripPrices::new(target)?;
    maker.nodes()?;
    maker.resources();
    maker.edges()?;
    maker.values()?;
    Ok(maker.finish())
}
