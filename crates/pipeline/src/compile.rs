//! From a kernel to its program, stage by stage, from whichever form a file holds.

use warploom_bufassign::{Assignment, Problem, assign};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};
use warploom_sched::{Answer, Objective};
use warploom_target::Target;

use crate::check;
use crate::choice::Candidate;
use crate::depth::{Bound, Depth, Fitted, Scheduled, Search};
use crate::forms::{self, Form};
use crate::layout::Layout;
use crate::loops::PipelinedLoop;
use crate::normalize::normalize;
use crate::problem::payload_value;
use crate::program::{self, Source};
use crate::select::{Selection, entry_function, select};
use crate::storage::{Bindings, bind};
use crate::waits;

/// How to compile.
#[derive(Clone, Debug)]
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
    /// The author's storage, laid out; operations bind to its leaves by `warploom.buffer` (A44).
    pub storage: Option<warploom_alias::Layout>,
    /// How to schedule.
    pub schedule: warploom_sched::Options,
    /// Run the checkers of schedule, assignment and program on what was made. Default: in debug builds. What was read
    /// from a file is always checked.
    pub check: bool,
}

impl Default for Options {
    /// After II, what a kernel pays in every trip comes first: bytes, then length (S69).
    fn default() -> Options {
        Options {
            entry: None,
            slack_slots: 0,
            depth: None,
            smem_limit: None,
            storage: None,
            schedule: warploom_sched::Options::default().objective(Objective::Kernel),
            check: cfg!(debug_assertions),
        }
    }
}

/// A compiled kernel with everything that was decided.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The kernel in normal form, with the wait of its loop.
    pub kernel: Module,
    /// Its parts.
    pub selection: Selection,
    /// The graph of the first pipelined loop.
    pub pipelined: PipelinedLoop,
    /// Its schedule.
    pub answer: Answer,
    /// All pipelined loops with their schedules, in the order of the text.
    pub loops: Vec<Scheduled>,
    /// The assignment problem.
    pub problem: Problem,
    /// The assignment.
    pub assignment: Assignment,
    /// How deep the first ring is, and why.
    pub depth: Depth,
    /// The same for every ring, in the order of [`Selection::rings`].
    pub depths: Vec<Depth>,
    /// The ways to split its loops among agents that were looked at; none where it was resumed from a later form.
    pub candidates: Vec<Candidate>,
    /// The author's storage, laid out, if she gave one (A44).
    pub storage: Option<warploom_alias::Layout>,
    /// Pipelines, barriers and agents of the program.
    pub(crate) layout: Layout,
    /// The scheduled form.
    pub scheduled: Module,
    /// The assigned form.
    pub assigned: Module,
    /// The program form.
    pub program: Module,
    /// Things worth telling.
    pub remarks: Vec<Diagnostic>,
}

/// Compiles a kernel to program form; one that carries a schedule or an assignment already is resumed from there.
///
/// # Errors
/// Every reason why it cannot be compiled, in file order (C90).
pub fn compile_to_program(
    module: &Module,
    target: &Target,
    options: &Options,
) -> Result<Compiled, Vec<Diagnostic>> {
    let form = forms::form(module, target).map_err(|error| vec![*error])?;
    if form == Form::Program {
        let error =
            Diagnostic::error(Code::Verify, "this is a program already").note("instead", "emit code from it");
        return Err(vec![error]);
    }
    let staged = Staged::new(module, target, options)?;
    let search = Search {
        module: &staged.kernel,
        selection: &staged.selection,
        bindings: &staged.bindings,
        name: &staged.name,
        target,
        options,
    };
    let fitted = match form {
        Form::Scheduled => staged.resume_scheduled(module, &search)?,
        Form::Assigned => staged.resume_assigned(module, &search)?,
        Form::Kernel | Form::Program => search.run().map_err(|error| vec![*error])?,
    };
    staged.finish(fitted, target, options).map_err(|error| vec![*error])
}

/// A kernel in normal form, taken apart, with the waits of its loops.
struct Staged {
    kernel: Module,
    selection: Selection,
    bindings: Bindings,
    name: String,
}

impl Staged {
    fn new(module: &Module, target: &Target, options: &Options) -> Result<Staged, Vec<Diagnostic>> {
        let entry = entry_function(module, options.entry.as_deref())?;
        let mut kernel = normalize(module, entry)?;
        forms::strip(&mut kernel, entry);
        let selection = select(&kernel, entry, target)?;
        let bindings = bind(&kernel, &selection, options.storage.as_ref())?;
        for &scf_for in selection.loops.iter().filter(|_| selection.sums.is_empty()) {
            waits::insert_lagging(&mut kernel, scf_for, 1);
        }
        let name = kernel.symbol_name(entry).unwrap_or("kernel").to_owned();
        Ok(Staged { kernel, selection, bindings, name })
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
        let depths = laws.iter().zip(&slack).enumerate().map(|(ring, (&law, &slack))| Depth {
            slots: slots(ring, law),
            law,
            slack,
            bound: Bound::Asked,
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
    ) -> Result<Vec<Scheduled>, Vec<Diagnostic>> {
        let read = |&scf_for: &OpId| {
            let lagging = !waits::find(&self.kernel, scf_for).is_empty();
            let pending = waits::find(module, scf_for).first().map(|&(_, pending)| pending);
            if lagging && pending.is_none() {
                let error =
                    Diagnostic::error(Code::Verify, "a scheduled loop needs a warploom.mma_wait").rule("C30");
                return Err(vec![error]);
            }
            let pipelined =
                search.graph(scf_for, pending.unwrap_or(1), &search.caps()).map_err(|error| vec![*error])?;
            let answer = forms::schedule_from(module, scf_for, &pipelined)?;
            Ok(Scheduled { pipelined, answer })
        };
        self.selection.loops.iter().map(read).collect()
    }

    /// The three forms, the last one checked where checks are on.
    fn finish(
        mut self,
        fitted: Fitted,
        target: &Target,
        options: &Options,
    ) -> Result<Compiled, Box<Diagnostic>> {
        for scheduled in &fitted.loops {
            for (wait, _) in waits::find(&self.kernel, scheduled.pipelined.scf_for) {
                waits::set_pending(&mut self.kernel, wait, scheduled.pipelined.pending);
            }
        }
        let Staged { kernel, selection, bindings, .. } = self;
        let Fitted { loops, problem, assignment, depths } = fitted;
        let scheduled = forms::scheduled(&kernel, loops.iter().map(|l| (&l.pipelined, &l.answer)), target);
        let assigned = forms::assigned(&scheduled, &selection, &assignment, target);
        let layout = Layout::new(&kernel, &selection, &assignment, target)?;
        let source = Source {
            module: &kernel,
            selection: &selection,
            loops: &loops,
            layout: &layout,
            target: target.name(),
        };
        let program = program::build(&source)?;
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
    loops: &[Scheduled],
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
