//! Kernels that one agent runs: all warps copy, all warps compute (C9, C24, C28).
//!
//! This is how the chips without asynchronous products work, and loops without a product on every chip. A loop that
//! loads tiles through pointers is expanded: its copies run `D - 1` iterations ahead of everything else, D being the
//! depth of the ring that the schedule asks for.
//!
//! ```text
//! prologue   copies of iterations 0 .. D-2, one group each
//! loop       wait for the group of this iteration, meet; copies of the iteration D-1 further on; compute
//! drain      copies beyond the last iteration are masked off; wait for all groups
//! ```
//!
//! The copies of iterations that do not exist touch no memory, so that every trip count is right, 0 included (C7).
//!
//! Tiles behind descriptors come by TMA where the chip has it and a loop loads them ahead (`engine`); elsewhere their
//! descriptors are taken apart (`descriptors`).

mod apart;
mod build;
mod declare;
mod descriptors;
mod engine;
mod expand;
mod explain;
mod factors;
mod find;
mod forms;
mod order;
mod plan;
mod program;
mod resume;
mod rounds;
mod scaled;
mod settle;
mod shape;
mod staged;
mod stored;
mod wgmma;
mod widened;

use warploom_bufassign::{Assignment, Problem};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode};
use warploom_sched::Answer;
use warploom_target::Target;
use warploom_target::mma::MmaInstruction;

use crate::check;
use crate::choice::Candidate;
use crate::compile::Options;
use crate::forms::{self as all_forms, Form};
use crate::loops::{PipelinedLoop, pipelined_loops};
use crate::normalize::normalize;
use crate::place::refuse;
use crate::select::entry_function;
use crate::views::look_through;
use crate::waits;
use crate::walk::preorder;

use resume::Given;

pub use explain::explain;
pub use find::CopiedTile;
pub(crate) use shape::split;
pub use shape::{Layout, Shape};
pub use staged::Staged;
pub use stored::{Stored, StoredTile};
pub use wgmma::Products;

/// A loop whose copies run ahead.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// The loop in [`Single::kernel`].
    pub scf_for: OpId,
    /// The tiles copied, in order.
    pub tiles: Vec<CopiedTile>,
    /// The loads of tiles that are copied within their iteration, while the others are read; where there is room for
    /// one slot of each tile only.
    pub late: Option<std::collections::BTreeSet<OpId>>,
    /// The loop graph.
    pub pipelined: PipelinedLoop,
    /// The schedule.
    pub answer: Answer,
    /// Slots of the ring: copies run one iteration less ahead.
    pub depth: u64,
    /// What the depth law asks for at the best II.
    pub law: u64,
}

impl Ahead {
    /// Whether the copy engine brings its tiles (C24).
    pub fn by_engine(&self) -> bool {
        self.tiles.iter().any(|t| t.plan.is_some())
    }
}

/// A kernel compiled for one agent, with everything that was decided.
#[derive(Clone, Debug)]
pub struct Single {
    /// The kernel in normal form.
    pub kernel: Module,
    /// Its warps, registers and the layout of its tiles.
    pub shape: Shape,
    /// Its pipelined loops, in the order of the text.
    pub loops: Vec<Ahead>,
    /// Factors of products that are copied where they stand.
    pub staged: Vec<Staged>,
    /// Factors of products that are computed, and stored in front of them.
    pub stored: Vec<Stored>,
    /// The assignment problem and its answer; none where nothing is copied.
    pub buffers: Option<(Problem, Assignment)>,
    /// The ways to split its loops among agents that were looked at.
    pub candidates: Vec<Candidate>,
    /// Why it does not multiply asynchronously, where the chip does.
    pub synchronous: Option<String>,
    /// The scheduled form.
    pub scheduled: Module,
    /// The assigned form.
    pub assigned: Module,
    /// The program form.
    pub program: Module,
    /// Things worth telling.
    pub remarks: Vec<Diagnostic>,
}

/// Whether a kernel is one that a single agent runs on this chip: the chip multiplies synchronously, or the kernel does
/// not multiply at all, or what it multiplies comes through pointers.
pub fn applies(module: &Module, target: &Target, entry: Option<&str>) -> bool {
    let Ok(func) = entry_function(module, entry) else { return false };
    let dots: Vec<OpId> =
        preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode == Opcode::Dot).collect();
    let through_pointers = |&dot: &OpId| {
        let factors = module.ops[dot].operands.iter().take(2);
        factors.copied().any(|factor| {
            let base = module.def_op(look_through(module, factor).base);
            base.is_some_and(|op| module.ops[op].opcode == Opcode::Load)
        })
    };
    target.mma_instruction() == MmaInstruction::MmaSync
        || dots.is_empty()
        || dots.iter().any(through_pointers)
        || descriptors::made_here(module, func)
}

/// Compiles a kernel to a program of one agent.
///
/// # Errors
/// Every reason why it cannot be compiled, in file order (C90).
pub fn compile(module: &Module, target: &Target, options: &Options) -> Result<Single, Vec<Diagnostic>> {
    resume(module, target, options, Form::Kernel)
}

/// Compiles a kernel to a program of one agent whose products are synchronous.
///
/// # Errors
/// Those of [`compile`].
pub(crate) fn compile_synchronous(
    module: &Module,
    target: &Target,
    options: &Options,
) -> Result<Single, Vec<Diagnostic>> {
    resume_as(module, target, options, Form::Kernel, Asynchronous::Never)
}

/// Compiles a kernel for one agent from the form it is in.
///
/// # Errors
/// Those of [`compile`], and every rule that a schedule or an assignment which the kernel carries breaks.
pub(crate) fn resume(
    module: &Module,
    target: &Target,
    options: &Options,
    form: Form,
) -> Result<Single, Vec<Diagnostic>> {
    resume_as(module, target, options, form, Asynchronous::Tried)
}

/// Whether the products of a kernel are asynchronous.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asynchronous {
    /// A later form carries them: they are.
    Marked,
    /// As its author wrote the kernel, where the chip and their operands allow it.
    Tried,
    /// They are not.
    Never,
}

/// Compiles a kernel from the form it is in; one as its author wrote it has the products that `wanted` says.
fn resume_as(
    module: &Module,
    target: &Target,
    options: &Options,
    form: Form,
    wanted: Asynchronous,
) -> Result<Single, Vec<Diagnostic>> {
    let func = entry_function(module, options.entry.as_deref())?;
    let mut kernel = normalize(module, func)?;
    let given = Given::of(&kernel, func, form)?;
    let asynchronous = match (wgmma::marked(&kernel, func), &given) {
        (true, _) => Asynchronous::Marked,
        (false, Some(_)) => Asynchronous::Never,
        (false, None) => wanted,
    };
    all_forms::strip(&mut kernel, func);
    let mut told = scaled::lower(&mut kernel, func)?;
    told.extend(widened::widen(&mut kernel, func, target));
    if !told.is_empty() {
        kernel = normalize(&kernel, func)?;
    }
    let mut single = moved(kernel, func, target, options, (form, given), asynchronous)?;
    single.remarks.extend(told);
    Ok(single)
}

/// Compiles a kernel in normal form, by TMA where that can move its tiles, else by pointers.
fn moved(
    kernel: Module,
    func: OpId,
    target: &Target,
    options: &Options,
    (form, given): (Form, Option<Given>),
    asynchronous: Asynchronous,
) -> Result<Single, Vec<Diagnostic>> {
    let mut refused = None;
    if engine::may_move(&kernel, func, target) && asynchronous != Asynchronous::Marked {
        let way = Way { moves: Moves::ByTma, products: Products::Synchronous };
        match compile_as(kernel.clone(), func, target, options, way, given.clone()) {
            // What a later form carries is for the moves that it was made with.
            Err(errors) if form == Form::Kernel && errors.iter().all(|e| e.code != Code::Internal) => {
                refused = errors.into_iter().next()
            }
            settled => return settled,
        }
    }
    let mut single = by_pointers(kernel, func, target, options, given, asynchronous)?;
    if let Some(why) = refused {
        let told = single.remarks.iter_mut().find(|r| r.rule == Some("C17"));
        told.into_iter().for_each(|remark| remark.notes.insert(0, ("TMA", why.message.clone())));
    }
    Ok(single)
}

/// Compiles a kernel whose tiles all come through pointers: with asynchronous products where the chip and their operands
/// allow them, with none left unfinished where rings have no room for that, else with synchronous ones.
fn by_pointers(
    kernel: Module,
    func: OpId,
    target: &Target,
    options: &Options,
    given: Option<Given>,
    asynchronous: Asynchronous,
) -> Result<Single, Vec<Diagnostic>> {
    let compile = |products: Products| {
        let way = Way { moves: Moves::ByPointers, products };
        compile_as(kernel.clone(), func, target, options, way, given.clone())
    };
    let mut synchronous = None;
    if target.mma_instruction() == MmaInstruction::Wgmma && asynchronous != Asynchronous::Never {
        for pending in [1, 0] {
            match compile(Products::Asynchronous { pending }) {
                Err(errors) if given.is_none() && errors.iter().all(|e| e.code != Code::Internal) => {
                    synchronous = errors.first().map(|e| e.message.clone());
                }
                settled => return settled,
            }
        }
    }
    Ok(Single { synchronous, ..compile(Products::Synchronous)? })
}

/// How tiles behind descriptors come and go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    ByTma,
    ByPointers,
}

/// One way to compile a kernel for one agent.
#[derive(Clone, Copy)]
struct Way {
    moves: Moves,
    products: Products,
}

/// Compiles a kernel in normal form.
fn compile_as(
    mut kernel: Module,
    func: OpId,
    target: &Target,
    options: &Options,
    Way { moves, products }: Way,
    given: Option<Given>,
) -> Result<Single, Vec<Diagnostic>> {
    let taken_apart = match moves {
        Moves::ByTma => None,
        Moves::ByPointers => {
            let told = descriptors::lower(&mut kernel, func, target)?;
            // What the addresses are made of does not change from trip to trip either (C8).
            kernel = normalize(&kernel, func)?;
            told
        }
    };
    if let Products::Asynchronous { pending } = products {
        for scf_for in pipelined_loops(&kernel, func) {
            waits::insert_lagging(&mut kernel, scf_for, pending);
        }
    }
    let (found, stays) = find::loops(&kernel, func, target);
    let factors = factors::factors(&kernel, func, &found);
    let shape = shape::choose(&kernel, func, target, products, &factors)?;
    let (engine, start) = match moves {
        Moves::ByTma => engine::find(&kernel, func, &found, target, shape.scratch)?,
        Moves::ByPointers => (engine::Engine::default(), shape.scratch),
    };
    let (staged, start) = staged::find(&kernel, func, &factors, start);
    let (stored, taken) = stored::find(&kernel, &found, (&factors, shape.columns()), start)?;
    if let Some(group) = stored.first().filter(|_| shape.layout == Layout::Wgmma) {
        let error =
            refuse(&kernel, group.dot, Code::Layout, "a factor that is stored where wgmma would read it");
        return Err(vec![error.rule("C62").note("instead", "mma.sync")]);
    }
    let mut remarks: Vec<Diagnostic> =
        taken_apart.into_iter().chain(stays).chain(shape::crowded(&kernel, func, &shape)).collect();
    let wanted = plan::Wanted { kernel: &kernel, shape: &shape, target, options, taken, given };
    let planned = plan::plan(&wanted, found, plan::Beside { staged, stored, factors, engine })?;
    let scheduled = forms::scheduled(&kernel, func, &shape, &planned.loops, target);
    let assigned = forms::assigned(&scheduled, func, &planned, target);
    let program = program::build(&kernel, func, &shape, &planned, target).ok_or_else(|| {
        vec![Diagnostic::error(Code::Internal, "the kernel cannot be expanded").rule("C28")]
    })?;
    if options.check {
        check_all(&planned, &program, target).map_err(|error| vec![*error])?;
    }
    remarks.extend(apart::told(&kernel, &planned.loops, target, options));
    let plan::Planned { loops, beside: plan::Beside { staged, stored, .. }, buffers, .. } = planned;
    let (candidates, synchronous) = (Vec::new(), None);
    Ok(Single {
        kernel,
        shape,
        loops,
        staged,
        stored,
        buffers,
        candidates,
        synchronous,
        scheduled,
        assigned,
        program,
        remarks,
    })
}

/// The checkers of all stages on our own results; what they find is a bug of ours.
fn check_all(planned: &plan::Planned, program: &Module, target: &Target) -> Result<(), Box<Diagnostic>> {
    let bug = |what: &str, rule: &'static str, found: String| {
        Box::new(Diagnostic::error(Code::Internal, format!("the {what} is broken: {found}")).rule(rule))
    };
    for ahead in &planned.loops {
        warploom_sched::check::all(&ahead.pipelined.graph, &ahead.answer)
            .map_err(|v| bug("schedule", "S71", v.first().map(ToString::to_string).unwrap_or_default()))?;
    }
    if let Some((problem, assignment)) = &planned.buffers {
        warploom_bufassign::check::check(problem, assignment)
            .map_err(|v| bug("assignment", "B75", v.first().map(ToString::to_string).unwrap_or_default()))?;
    }
    check::program(program, target, check::Effort::Quick)
        .map_err(|v| bug("program", "C35", v.first().map(ToString::to_string).unwrap_or_default()))
}
