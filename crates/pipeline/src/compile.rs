//! From a kernel to its program, stage by stage.

use warploom_bufassign::{Assignment, Problem};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};
use warploom_sched::Answer;
use warploom_target::Target;

use crate::depth::{Depth, Search};
use crate::graph::PipelinedLoop;
use crate::layout::Layout;
use crate::normalize::normalize;
use crate::program::{self, Source};
use crate::select::{Selection, entry_function, select};
use crate::waits;

/// How to compile.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The kernel to compile, where the file holds several.
    pub entry: Option<String>,
    /// Slots added to the depth law, capacity permitting, for copies slower than modelled (S54).
    pub slack_slots: u64,
    /// Exactly so many slots, or a refusal.
    pub depth: Option<u64>,
    /// Less shared memory than the chip has, bytes.
    pub smem_limit: Option<u64>,
    /// How to schedule.
    pub schedule: warploom_sched::Options,
}

/// A compiled kernel with everything that was decided.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The kernel in normal form, with its wait.
    pub kernel: Module,
    /// Its parts.
    pub selection: Selection,
    /// The loop graph.
    pub pipelined: PipelinedLoop,
    /// The schedule.
    pub answer: Answer,
    /// The assignment problem.
    pub problem: Problem,
    /// The assignment.
    pub assignment: Assignment,
    /// How deep the ring is, and why.
    pub depth: Depth,
    /// The program form.
    pub program: Module,
}

/// Compiles a kernel to program form.
///
/// # Errors
/// Every reason why it cannot be compiled, in file order (C90).
pub fn compile_to_program(module: &Module, target: &Target, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    let entry = entry_function(module, options.entry.as_deref())?;
    let mut kernel = normalize(module, entry)?;
    let selection = select(&kernel, entry, target)?;
    let wait = match waits::find(&kernel, &selection) {
        Some((wait, _)) => wait,
        None => waits::insert(&mut kernel, &selection, 1).ok_or_else(|| vec![no_wait()])?,
    };
    let name = kernel.symbol_name(entry).unwrap_or("kernel").to_owned();
    let search = Search { module: &kernel, selection: &selection, wait, name: &name, target, options };
    let fitted = search.run().map_err(|error| vec![*error])?;
    waits::set_pending(&mut kernel, wait, fitted.pipelined.pending);
    let program = to_program(&kernel, &selection, wait, fitted.pipelined.pending, &fitted.assignment, target)
        .map_err(|error| vec![*error])?;
    Ok(Compiled {
        kernel,
        selection,
        pipelined: fitted.pipelined,
        answer: fitted.answer,
        problem: fitted.problem,
        assignment: fitted.assignment,
        depth: fitted.depth,
        program,
    })
}

fn no_wait() -> Diagnostic {
    Diagnostic::error(Code::Internal, "the loop has no place for a wait").rule("C30")
}

fn to_program(
    kernel: &Module,
    selection: &Selection,
    wait: OpId,
    pending: u64,
    assignment: &Assignment,
    target: &Target,
) -> Result<Module, Box<Diagnostic>> {
    let layout = Layout::new(kernel, selection, assignment, target)?;
    let source = Source { module: kernel, selection, wait, pending, layout: &layout, target: target.name() };
    program::build(&source)
}
