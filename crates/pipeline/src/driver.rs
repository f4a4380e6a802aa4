//! From whichever form a file holds to a program: the passes, one after the other.

use std::borrow::Cow;

use warploom_bufassign::{Assignment, Problem};
use warploom_chips::Target;
use warploom_ir::Module;
use warploom_ir::diag::{Code, Diagnostic, Diagnostics, Severity};

use crate::buffers::depth::ScheduledLoop;
use crate::check;
use crate::compiled::{Compiled, Expanded, Parts};
use crate::expand;
use crate::forms::{self, TextForm};
use crate::normalize::descriptors::carried::remade;
use crate::normalize::{by_axes, handed, loaded_once, plain, settled, split, with_fma};
use crate::options::CompileOptions;
use crate::resumed::Resumed;
use crate::select::entry_function;
use crate::specialize;
use crate::strategy::{Plan, Source, SplitCandidate, Strategy, Work, choose};

/// Goes on from whichever form a module has: kernels are compiled, programs are checked.
///
/// # Errors
/// Those of [`compile_to_program`] and [`check_program`].
pub fn resume(module: &Module, target: &Target, options: &CompileOptions) -> Result<Resumed, Diagnostics> {
    verified(module)?;
    match forms::form(module, target).map_err(|error| vec![*error])? {
        TextForm::Program => {
            check_program(module, target)?;
            Ok(Resumed::Program(Box::new(module.clone())))
        }
        TextForm::Kernel | TextForm::Scheduled | TextForm::Assigned => {
            Ok(Resumed::Compiled(Box::new(compile(module, target, options)?)))
        }
    }
}

/// Compiles a kernel to program form; one that carries a schedule or an assignment already is resumed from there.
///
/// # Errors
/// What the verifier finds, or every reason why it cannot be compiled, in file order (C90).
pub fn compile_to_program(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
) -> Result<Compiled, Diagnostics> {
    verified(module)?;
    if forms::form(module, target).map_err(|error| vec![*error])? == TextForm::Program {
        let error =
            Diagnostic::error(Code::Verify, "this is a program already").note("instead", "emit code from it");
        return Err(error.into());
    }
    compile(module, target, options)
}

/// Checks a module in program form, as it may have been edited by hand.
///
/// # Errors
/// Every rule it breaks (C35).
pub fn check_program(module: &Module, target: &Target) -> Result<(), Diagnostics> {
    forms::form(module, target).map_err(|error| vec![*error])?;
    check::program(module, target, check::Effort::Quick).map_err(|violations| {
        let refusal = |v: &check::ProgramViolation| {
            Diagnostic::error(Code::Verify, format!("the program is broken: {v}")).rule(v.rule.number())
        };
        violations.iter().map(refusal).collect()
    })
}

/// Refuses a module that makes no sense: all that comes after relies on what the verifier says.
fn verified(module: &Module) -> Result<(), Diagnostics> {
    let found = warploom_ir::verify(module);
    if found.iter().any(|d| d.severity == Severity::Error) { Err(found.into()) } else { Ok(()) }
}

/// The passes from a kernel of any form to its program.
fn compile(module: &Module, target: &Target, options: &CompileOptions) -> Result<Compiled, Diagnostics> {
    let written = &*match entry_function(module, options.entry.as_deref()) {
        Ok(entry) => {
            let plain = with_fma(split(plain(module, entry)?, entry), entry);
            match forms::form(&plain, target) {
                Ok(TextForm::Kernel) => {
                    let plain = handed(remade(plain, entry)?, entry);
                    by_axes(loaded_once(settled(plain, entry), entry), entry)
                }
                _ => plain,
            }
        }
        Err(_) => Cow::Borrowed(module),
    };
    let source = Source::new(written, target, options)?;
    let (mut out, mut bugs): (Vec<Strategy>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    loop {
        let (plan, candidates) = match choose(&source, &out) {
            Ok(chosen) => chosen,
            // What was refused for our own mistakes says more than what others lack.
            Err(refused) if bugs.is_empty() => return Err(refused),
            Err(_) => return Err(bugs.into()),
        };
        let strategy = plan.strategy;
        match build(plan, candidates, &source) {
            Ok(mut compiled) => {
                let warned = bugs.into_iter().map(|bug| Diagnostic { severity: Severity::Warning, ..bug });
                compiled.remarks.extend(warned);
                return Ok(compiled);
            }
            // What our own checkers refuse is a bug of ours: the next strategy is taken, with a warning (Q5).
            Err(bug)
                if source.given.is_none()
                    && source.options.partitions.is_none()
                    && !out.contains(&strategy) =>
            {
                out.push(strategy);
                bugs.push(*bug);
            }
            Err(bug) => return Err(bug.into()),
        }
    }
}

/// The three forms of a plan, the last one checked where checks are on.
fn build(
    plan: Plan,
    candidates: Vec<SplitCandidate>,
    source: &Source<'_>,
) -> Result<Compiled, Box<Diagnostic>> {
    let (target, options) = (source.target, source.options);
    let filled = plan.filled();
    let Plan { strategy, kernel, func, loops, buffers, depths, mut layout, work, synchronous, remarks } =
        plan;
    let mut scheduled = forms::scheduled(&kernel, loops.iter().map(|l| (&l.pipelined, &l.answer)), target);
    strategy.write(&mut scheduled, func);
    let assignment = buffers.as_ref().map(|(_, assignment)| assignment);
    let assigned = forms::assigned(&scheduled, func, assignment, &filled, target);
    let (program, parts) = match work {
        Work::Specialized(selection) => {
            let source = specialize::Source {
                module: &kernel,
                selection: &selection,
                loops: &loops,
                layout: &layout,
                target: target.name(),
            };
            (specialize::build(&source)?, Parts::Specialized(selection))
        }
        Work::Expanded { shape, planned, meetings } => {
            let program = expand::build(&kernel, func, &shape, (&planned, &mut layout), &meetings, target);
            let program = program.ok_or_else(|| bug("kernel", "C28", "it cannot be expanded".to_owned()))?;
            let expanded = Expanded {
                shape,
                loads: planned.loops,
                blocking: planned.beside.blocking,
                stored: planned.beside.stored,
            };
            (program, Parts::Expanded(Box::new(expanded)))
        }
    };
    if options.check {
        check_all(&loops, buffers.as_ref(), &program, target)?;
    }
    let storage = options.storage.clone();
    Ok(Compiled {
        kernel,
        func,
        strategy,
        loops,
        buffers,
        depths,
        parts,
        candidates,
        synchronous,
        storage,
        layout,
        scheduled,
        assigned,
        program,
        remarks,
    })
}

/// A stage that is broken.
fn bug(what: &str, rule: &'static str, found: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Internal, format!("the {what} is broken: {found}")).rule(rule))
}

/// The checkers of all three stages on our own results; what they find is a bug of ours.
fn check_all(
    loops: &[ScheduledLoop],
    buffers: Option<&(Problem, Assignment)>,
    program: &Module,
    target: &Target,
) -> Result<(), Box<Diagnostic>> {
    for scheduled in loops {
        warploom_sched::check::all(&scheduled.pipelined.graph, &scheduled.answer)
            .map_err(|v| bug("schedule", "S71", v.first().map(ToString::to_string).unwrap_or_default()))?;
    }
    if let Some((problem, assignment)) = buffers {
        warploom_bufassign::check::check(problem, assignment)
            .map_err(|v| bug("assignment", "B75", v.first().map(ToString::to_string).unwrap_or_default()))?;
    }
    check::program(program, target, check::Effort::Quick)
        .map_err(|v| bug("program", "C35", v.first().map(ToString::to_string).unwrap_or_default()))
}
