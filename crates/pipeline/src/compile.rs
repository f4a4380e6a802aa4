//! From a kernel to its program, stage by stage, from whichever form a file holds.

use warploom_bufassign::{Assignment, Problem, assign};
use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic, Diagnostics, Severity};
use warploom_ir::{Module, OpId};

use crate::buffers::depth::{DepthBound, Fitted, RingDepth, ScheduledLoop, Search};
use crate::buffers::problem::payload_value;
use crate::compiled::Compiled;
use crate::forms::{self, TextForm};
use crate::layout::ProgramLayout;
use crate::loops::replicas_refused;
use crate::normalize::normalize;
use crate::options::CompileOptions;
use crate::place::refuse;
use crate::select::{Selection, entry_function, select};
use crate::sharing::writes_are_ordered;
use crate::specialize::{self, Source};
use crate::storage::{Bindings, bind};
use crate::{check, waits};

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
    compile_verified(module, target, options)
}

/// Refuses a module that makes no sense: all that comes after relies on what the verifier says.
///
/// # Errors
/// What the verifier finds.
pub(crate) fn verified(module: &Module) -> Result<(), Diagnostics> {
    let found = warploom_ir::verify(module);
    if found.iter().any(|d| d.severity == Severity::Error) { Err(found.into()) } else { Ok(()) }
}

/// [`compile_to_program`] of a module that verifies.
///
/// # Errors
/// Every reason why it cannot be compiled, in file order (C90).
pub(crate) fn compile_verified(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
) -> Result<Compiled, Diagnostics> {
    let form = forms::form(module, target).map_err(|error| vec![*error])?;
    if form == TextForm::Program {
        let error =
            Diagnostic::error(Code::Verify, "this is a program already").note("instead", "emit code from it");
        return Err(error.into());
    }
    let prepared = Prepared::new(module, target, options)?;
    let search = Search {
        module: &prepared.kernel,
        selection: &prepared.selection,
        bindings: &prepared.bindings,
        name: &prepared.name,
        target,
        options,
    };
    let fitted = match form {
        TextForm::Scheduled => prepared.resume_scheduled(module, &search)?,
        TextForm::Assigned => prepared.resume_assigned(module, &search)?,
        TextForm::Kernel | TextForm::Program => search.run().map_err(|error| vec![*error])?,
    };
    prepared.finish(fitted, target, options).map_err(Diagnostics::from)
}

/// A kernel in normal form, taken apart, with the waits of its loops.
struct Prepared {
    kernel: Module,
    selection: Selection,
    bindings: Bindings,
    name: String,
}

impl Prepared {
    fn new(module: &Module, target: &Target, options: &CompileOptions) -> Result<Prepared, Vec<Diagnostic>> {
        let entry = entry_function(module, options.entry.as_deref())?;
        let mut kernel = normalize(module, entry)?;
        forms::strip(&mut kernel, entry);
        let selection = select(&kernel, entry, target)?;
        let bindings = bind(&kernel, &selection, options.storage.as_ref())?;
        for &scf_for in selection.loops.iter().filter(|_| selection.accumulators.is_empty()) {
            waits::insert_lagging(&mut kernel, scf_for, 1);
        }
        let name = kernel.symbol_name(entry).unwrap_or("kernel").to_owned();
        Ok(Prepared { kernel, selection, bindings, name })
    }

    /// The schedules as the file has them, and an assignment for them.
    fn resume_scheduled(&self, module: &Module, search: &Search<'_>) -> Result<Fitted, Vec<Diagnostic>> {
        let loops = self.read_schedules(module, search)?;
        search.fit(loops).map_err(|error| vec![*error])
    }

    /// Schedules and assignment as the file has them.
    fn resume_assigned(&self, module: &Module, search: &Search<'_>) -> Result<Fitted, Vec<Diagnostic>> {
        let loops = self.read_schedules(module, search)?;
        let func = self.selection.func;
        let records = forms::records(module, func)?;
        let laws = search.laws(&loops);
        let slots = |ring: usize, law: u64| {
            let value = payload_value(&self.selection, ring, 0);
            records.iter().find(|r| r.value == value).map_or(law, |r| r.depth)
        };
        // A ring deeper than the law was asked for; a shallower one is the checker's to refuse.
        let slack: Vec<u64> = laws
            .iter()
            .enumerate()
            .map(|(ring, &law)| slots(ring, law).saturating_sub(law).min(1 << 16))
            .collect();
        let problem = search.problem(&loops, &slack).map_err(|e| vec![*e])?;
        let base = assign(&problem, &problem.options).map_err(|error| vec![search.assign_error(&error)])?;
        let ii = loops.first().map_or(0, |s| s.answer.ii);
        let depths = laws.iter().zip(&slack).enumerate().map(|(ring, (&law, &slack))| RingDepth {
            slots: slots(ring, law),
            law,
            slack,
            bound: DepthBound::Asked,
            unlimited_ii: ii,
            rounds: Vec::new(),
        });
        let depths = depths.collect();
        let assignment = forms::assignment_from(module, func, &problem, base, records, search.target)?;
        Ok(Fitted { loops, problem, assignment, depths })
    }

    fn read_schedules(
        &self,
        module: &Module,
        search: &Search<'_>,
    ) -> Result<Vec<ScheduledLoop>, Vec<Diagnostic>> {
        let read = |&scf_for: &OpId| {
            let lagging = !waits::find(&self.kernel, scf_for).is_empty();
            let pending = waits::find(module, scf_for).first().map(|&(_, pending)| pending);
            if lagging && pending.is_none() {
                let error =
                    Diagnostic::error(Code::Verify, "a scheduled loop needs a warploom.mma_wait").rule("C30");
                return Err(vec![error]);
            }
            let replicas = forms::replicas(module, scf_for)?;
            if replicas.count > 1 {
                let warpgroups = u64::from(self.selection.warpgroups());
                let wrong =
                    (replicas.count != warpgroups).then_some("each warpgroup is a replica, or none is");
                if let Some(why) = replicas_refused(&self.kernel, scf_for, warpgroups).or(wrong) {
                    let text = format!("the loop cannot have {} replicas: {why}", replicas.count);
                    return Err(vec![refuse(module, scf_for, Code::Verify, text).rule("Q40")]);
                }
            }
            let pipelined = search
                .graph(scf_for, pending.unwrap_or(1), &search.caps(), replicas.count)
                .map_err(|error| vec![*error])?;
            let (pipelined, answer) = match replicas.count {
                1 => {
                    let answer = forms::schedule_from(module, scf_for, &pipelined)?;
                    (pipelined, answer)
                }
                _ => forms::replicas_from(module, scf_for, &pipelined, replicas)?,
            };
            Ok(ScheduledLoop { pipelined, answer, together: None })
        };
        self.selection.loops.iter().map(read).collect()
    }

    /// The three forms, the last one checked where checks are on.
    fn finish(
        mut self,
        fitted: Fitted,
        target: &Target,
        options: &CompileOptions,
    ) -> Result<Compiled, Box<Diagnostic>> {
        for scheduled in &fitted.loops {
            for (wait, _) in waits::find(&self.kernel, scheduled.pipelined.scf_for) {
                waits::set_pending(&mut self.kernel, wait, scheduled.pipelined.pending);
            }
        }
        let Prepared { kernel, selection, bindings, .. } = self;
        let Fitted { loops, problem, assignment, depths } = fitted;
        writes_are_ordered(&assignment)?;
        let scheduled = forms::scheduled(&kernel, loops.iter().map(|l| (&l.pipelined, &l.answer)), target);
        let assigned = forms::assigned(&scheduled, &selection, &assignment, target);
        let replicas = loops.iter().map(|l| l.pipelined.replicas.count).max().unwrap_or(1);
        let layout = ProgramLayout::new(&kernel, &selection, &assignment, replicas, target)?;
        let source = Source {
            module: &kernel,
            selection: &selection,
            loops: &loops,
            layout: &layout,
            target: target.name(),
        };
        let program = specialize::build(&source)?;
        if options.check {
            check_all(&loops, &problem, &assignment, &program, target)?;
        }
        let mut remarks = selection.remarks.clone();
        let storage = options.storage.as_ref();
        remarks.extend(bindings.remarks(&kernel, &selection, storage, (&problem, &assignment), &depths));
        let missing =
            || Box::new(Diagnostic::error(Code::Internal, "a kernel without a pipelined loop").rule("C9"));
        let (first, depth) = (loops.first().ok_or_else(missing)?, depths.first().ok_or_else(missing)?);
        Ok(Compiled {
            kernel,
            selection,
            pipelined: first.pipelined.clone(),
            answer: first.answer.clone(),
            depth: depth.clone(),
            loops,
            problem,
            assignment,
            depths,
            candidates: Vec::new(),
            storage: options.storage.clone(),
            layout,
            scheduled,
            assigned,
            program,
            remarks,
        })
    }
}

/// The checkers of all three stages on our own results; what they find is a bug of ours.
fn check_all(
    loops: &[ScheduledLoop],
    problem: &Problem,
    assignment: &Assignment,
    program: &Module,
    target: &Target,
) -> Result<(), Box<Diagnostic>> {
    let bug = |what: &str, rule: &'static str, found: String| {
        Box::new(Diagnostic::error(Code::Internal, format!("the {what} is broken: {found}")).rule(rule))
    };
    for scheduled in loops {
        warploom_sched::check::all(&scheduled.pipelined.graph, &scheduled.answer)
            .map_err(|v| bug("schedule", "S71", v.first().map(ToString::to_string).unwrap_or_default()))?;
    }
    warploom_bufassign::check::check(problem, assignment)
        .map_err(|v| bug("assignment", "B75", v.first().map(ToString::to_string).unwrap_or_default()))?;
    check::program(program, target, check::Effort::Quick)
        .map_err(|v| bug("program", "C35", v.first().map(ToString::to_string).unwrap_or_default()))
}
