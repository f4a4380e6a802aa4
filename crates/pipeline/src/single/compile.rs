//! The ways to compile a kernel for one partition, and the stages of one of them.

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic, Severity};
use warploom_ir::{Module, OpId, Opcode};

use super::forms;
use crate::buffers::draft::Wanted;
use crate::buffers::given::Given;
use crate::buffers::plan;
use crate::buffers::planned::{Beside, Planned};
use crate::engines::{Products, asynchronous as products_of, shape, tensor};
use crate::expand;
use crate::forms::{self as all_forms, TextForm};
use crate::loops::pipelined_loops;
use crate::normalize::normalize;
use crate::normalize::{descriptors, induction, relaid, scaled, widened};
use crate::options::CompileOptions;
use crate::select::entry_function;
use crate::single::Single;
use crate::transports::{blocking, engine, find, operand_stores, operands, turns};
use crate::views::look_through;
use crate::walk::preorder;
use crate::{check, waits};

/// Whether a kernel is one that a single partition runs on this chip: the chip multiplies synchronously, or the kernel
/// does not multiply at all, or what it multiplies comes through pointers.
pub fn applies(module: &Module, target: &Target, entry: Option<&str>) -> bool {
    let Ok(func) = entry_function(module, entry) else { return false };
    let dots: Vec<OpId> =
        preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode == Opcode::Dot).collect();
    let through_pointers = |&dot: &OpId| {
        let operands = module.ops[dot].operands.iter().take(2);
        operands.copied().any(|operand| {
            let base = module.def_op(look_through(module, operand).base);
            base.is_some_and(|op| module.ops[op].opcode == Opcode::Load)
        })
    };
    target.mma_instruction() == MmaInstruction::MmaSync
        || dots.is_empty()
        || dots.iter().any(through_pointers)
        || descriptors::made_here(module, func)
}

/// Compiles a kernel to a program of one partition.
///
/// # Errors
/// Every reason why it cannot be compiled, in file order (C90).
pub fn compile(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
) -> Result<Single, Vec<Diagnostic>> {
    resume(module, target, options, TextForm::Kernel)
}

/// Compiles a kernel to a program of one partition whose products are synchronous.
///
/// # Errors
/// Those of [`compile`].
pub(crate) fn compile_synchronous(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
) -> Result<Single, Vec<Diagnostic>> {
    resume_as(module, target, options, TextForm::Kernel, Asynchronous::Never)
}

/// Compiles a kernel for one partition from the form it is in.
///
/// # Errors
/// Those of [`compile`], and every rule that a schedule or an assignment which the kernel carries breaks.
pub(crate) fn resume(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
    form: TextForm,
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
    options: &CompileOptions,
    form: TextForm,
    wanted: Asynchronous,
) -> Result<Single, Vec<Diagnostic>> {
    let func = entry_function(module, options.entry.as_deref())?;
    let mut kernel = normalize(module, func)?;
    let given = Given::of(&kernel, func, form)?;
    let asynchronous = match (products_of::marked(&kernel, func), &given) {
        (true, _) => Asynchronous::Marked,
        (false, Some(_)) => Asynchronous::Never,
        (false, None) => wanted,
    };
    all_forms::strip(&mut kernel, func);
    induction::carry_sums(&mut kernel, func);
    let mut told = scaled::lower(&mut kernel, func)?;
    told.extend(widened::widen(&mut kernel, func, target));
    if !told.is_empty() {
        kernel = normalize(&kernel, func)?;
    }
    let mut single = compile_normal(kernel, func, target, options, (form, given), asynchronous)?;
    single.remarks.extend(told);
    Ok(single)
}

/// Compiles a kernel in normal form, by TMA where that can move its tiles, else by pointers.
fn compile_normal(
    kernel: Module,
    func: OpId,
    target: &Target,
    options: &CompileOptions,
    (form, given): (TextForm, Option<Given>),
    asynchronous: Asynchronous,
) -> Result<Single, Vec<Diagnostic>> {
    let mut refused = None;
    if engine::may_move(&kernel, func, target) {
        let fast = Products::Asynchronous { pending: 0 };
        let able = target.mma_instruction() != MmaInstruction::MmaSync && asynchronous != Asynchronous::Never;
        let way = |products| Way { moves: Moves::ByTma, products, tight: false };
        let compile =
            |products| compile_as(kernel.clone(), func, target, options, way(products), given.clone());
        let made = match able.then(|| compile(fast)) {
            Some(Ok(single)) => Ok(single),
            Some(Err(errors)) if asynchronous == Asynchronous::Marked => Err(errors),
            lacks => {
                let why =
                    lacks.and_then(Result::err).and_then(|errors| errors.first().map(|e| e.message.clone()));
                compile(Products::Synchronous).map(|single| Single { synchronous: why, ..single })
            }
        };
        match made {
            // What a later form carries is for the moves that it was made with.
            Err(errors) if form == TextForm::Kernel && errors.iter().all(|e| e.code != Code::Internal) => {
                refused = errors.into_iter().next()
            }
            done => return done,
        }
    }
    let mut single = by_pointers(kernel, func, target, options, given, asynchronous)?;
    if let Some(why) = refused {
        let told = single.remarks.iter_mut().find(|r| r.rule == Some("C17"));
        told.into_iter().for_each(|remark| remark.notes.insert(0, ("TMA", why.message.clone())));
    }
    Ok(single)
}

/// Compiles a kernel whose tiles all come through pointers: with asynchronous products where the chip and their
/// operands allow them, with none left unfinished where rings have no room for that, else with synchronous ones.
fn by_pointers(
    kernel: Module,
    func: OpId,
    target: &Target,
    options: &CompileOptions,
    given: Option<Given>,
    asynchronous: Asynchronous,
) -> Result<Single, Vec<Diagnostic>> {
    let compile = |products: Products, tight: bool| {
        let way = Way { moves: Moves::ByPointers, products, tight };
        compile_as(kernel.clone(), func, target, options, way, given.clone())
    };
    let (mut synchronous, mut bugs) = (None, Vec::new());
    if target.mma_instruction() != MmaInstruction::MmaSync && asynchronous != Asynchronous::Never {
        for pending in [1, 0] {
            match compile(Products::Asynchronous { pending }, false) {
                // A program that our own checker refuses is a bug of ours: the next way is taken, with a warning (Q5).
                Err(errors) if given.is_none() => {
                    synchronous = errors.first().map(|e| e.message.clone());
                    let bug = errors.into_iter().find(|e| e.code == Code::Internal);
                    bugs.extend(bug.map(|e| Diagnostic { severity: Severity::Warning, ..e }));
                }
                done => return done,
            }
        }
    }
    let mut single = match compile(Products::Synchronous, false) {
        Err(errors) if given.is_none() && errors.iter().all(|e| e.code == Code::Capacity) => {
            compile(Products::Synchronous, true).or(Err(errors))?
        }
        done => done?,
    };
    single.remarks.extend(bugs);
    Ok(Single { synchronous, ..single })
}

/// How tiles behind descriptors come and go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    ByTma,
    ByPointers,
}

/// One way to compile a kernel for one partition.
#[derive(Clone, Copy)]
struct Way {
    moves: Moves,
    products: Products,
    /// Whether tiles take turns in shared memory, and A stays out of it, where they can: it does not fit otherwise.
    tight: bool,
}

/// Compiles a kernel in normal form.
fn compile_as(
    mut kernel: Module,
    func: OpId,
    target: &Target,
    options: &CompileOptions,
    Way { moves, products, tight }: Way,
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
        if relaid::relay(&mut kernel, func, target) {
            kernel = normalize(&kernel, func)?;
        }
        if target.mma_instruction() == MmaInstruction::Tcgen05 {
            let (found, _) = find::loops(&kernel, func, target);
            let operands = operands::operands(&kernel, func, &found, tight);
            tensor::prepare(&mut kernel, func, &found, &operands);
        }
        for scf_for in pipelined_loops(&kernel, func) {
            let pending = if products_of::reads_computed(&kernel, scf_for, target) { 0 } else { pending };
            waits::insert_lagging(&mut kernel, scf_for, pending);
        }
    }
    let (found, stays) = find::loops(&kernel, func, target);
    let operands = operands::operands(&kernel, func, &found, tight);
    let shape = shape::choose(&kernel, func, target, products, &operands)?;
    let (tensor, start) = tensor::plan(&kernel, func, shape.layout, &found, (shape.scratch, target))?;
    let (engine, start) = match moves {
        Moves::ByTma => engine::find(&kernel, func, &found, target, start)?,
        Moves::ByPointers => (engine::Engine::default(), start),
    };
    let (blocking, start) = blocking::find(&kernel, func, &operands, start);
    let (stored, taken) = operand_stores::find(&kernel, &found, (&operands, &shape), (start, tight))?;
    let mut remarks: Vec<Diagnostic> =
        taken_apart.into_iter().chain(stays).chain(shape::crowded(&kernel, func, &shape)).collect();
    let given_back = tensor.given_back.clone();
    let wanted = Wanted { kernel: &kernel, shape: &shape, target, options, taken, given_back, given };
    let planned = plan::plan(&wanted, found, Beside { blocking, stored, operands, engine, tensor })?;
    let scheduled = forms::scheduled(&kernel, func, &shape, &planned.loops, target);
    let assigned = forms::assigned(&scheduled, func, &planned, target);
    let program = expand::build(&kernel, func, &shape, &planned, target).ok_or_else(|| {
        vec![Diagnostic::error(Code::Internal, "the kernel cannot be expanded").rule("C28")]
    })?;
    if options.check {
        check_all(&planned, &program, target).map_err(|error| vec![*error])?;
    }
    remarks.extend(turns::told(&kernel, &planned.loops, target, options));
    let Planned { loops, beside: Beside { blocking, stored, .. }, buffers, .. } = planned;
    let (candidates, synchronous) = (Vec::new(), None);
    Ok(Single {
        kernel,
        shape,
        loops,
        blocking,
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
fn check_all(planned: &Planned, program: &Module, target: &Target) -> Result<(), Box<Diagnostic>> {
    let bug = |what: &str, rule: &'static str, found: String| {
        Box::new(Diagnostic::error(Code::Internal, format!("the {what} is broken: {found}")).rule(rule))
    };
    for loads in &planned.loops {
        warploom_sched::check::all(&loads.pipelined.graph, &loads.answer)
            .map_err(|v| bug("schedule", "S71", v.first().map(ToString::to_string).unwrap_or_default()))?;
    }
    if let Some((problem, assignment)) = &planned.buffers {
        warploom_bufassign::check::check(problem, assignment)
            .map_err(|v| bug("assignment", "B75", v.first().map(ToString::to_string).unwrap_or_default()))?;
    }
    check::program(program, target, check::Effort::Quick)
        .map_err(|v| bug("program", "C35", v.first().map(ToString::to_string).unwrap_or_default()))
}
