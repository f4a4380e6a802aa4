//! Several partitions: what each copies, multiplies and computes, by the schedule of the loops (C20-C33, S66).

use warploom_bufassign::assign;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};

use super::plan::{Plan, Work};
use super::source::Source;
use super::types::Strategy;
use crate::buffers::depth::{DepthBound, Fitted, RingDepth, ScheduledLoop, Search};
use crate::buffers::given::Given;
use crate::buffers::problem::payload_value;
use crate::forms;
use crate::layout::ProgramLayout;
use crate::loops::replicas_refused;
use crate::normalize::{block_scaled, normalize};
use crate::place::refuse;
use crate::select::{Selection, in_turns, select};
use crate::sharing::writes_are_ordered;
use crate::storage::{Bindings, bind};
use crate::waits;

/// Plans a kernel for several partitions; where `turns`, two computing ones take turns by tiles (Q50).
///
/// # Errors
/// Every reason why it cannot be, in file order (C90).
pub(super) fn plan(source: &Source<'_>, turns: bool) -> Result<Plan, Vec<Diagnostic>> {
    let prepared = Prepared::new(source, turns)?;
    let search = Search {
        module: &prepared.kernel,
        selection: &prepared.selection,
        bindings: &prepared.bindings,
        name: &prepared.name,
        target: source.target,
        options: source.options,
    };
    let fitted = match &source.given {
        None => search.run().map_err(|error| vec![*error])?,
        Some((_, given)) => match &given.records {
            None => prepared.resume_scheduled(&given.marked, &search)?,
            Some(_) => prepared.resume_assigned(given, &search)?,
        },
    };
    prepared.planned(fitted, source).map_err(|error| vec![*error])
}

/// A kernel in normal form, taken apart, with the waits of its loops.
struct Prepared {
    kernel: Module,
    selection: Selection,
    bindings: Bindings,
    name: String,
}

impl Prepared {
    fn new(source: &Source<'_>, turns: bool) -> Result<Prepared, Vec<Diagnostic>> {
        let mut kernel = source.kernel.clone();
        if block_scaled::lower(&mut kernel, source.func, source.target) {
            kernel = normalize(&kernel, source.func)?;
        }
        let mut selection = select(&kernel, source.func, source.target)?;
        if turns {
            let refused = |why: &str| refuse(&kernel, source.func, Code::Loop, why).rule("Q50");
            selection = in_turns(&kernel, &selection, source.target).map_err(|why| vec![refused(why)])?;
        }
        let bindings = bind(&kernel, &selection, source.options.storage.as_ref())?;
        for &scf_for in selection.loops.iter().filter(|_| selection.accumulators.is_empty()) {
            waits::insert_lagging(&mut kernel, scf_for, 1);
        }
        let name = kernel.symbol_name(source.func).unwrap_or("kernel").to_owned();
        Ok(Prepared { kernel, selection, bindings, name })
    }

    /// The schedules as the file has them, and an assignment for them.
    fn resume_scheduled(&self, module: &Module, search: &Search<'_>) -> Result<Fitted, Vec<Diagnostic>> {
        let loops = self.read_schedules(module, search)?;
        search.fit(loops).map_err(|error| vec![*error])
    }

    /// Schedules and assignment as the file has them.
    fn resume_assigned(&self, given: &Given, search: &Search<'_>) -> Result<Fitted, Vec<Diagnostic>> {
        let loops = self.read_schedules(&given.marked, search)?;
        let records = given.records.as_deref().unwrap_or_default();
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
        let assignment = given.assignment(&problem, base, search.target)?;
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
                if let Some(why) = replicas_refused(&self.kernel, scf_for, &self.selection).or(wrong) {
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

    /// Where everything lies, and what is worth telling.
    fn planned(mut self, fitted: Fitted, source: &Source<'_>) -> Result<Plan, Box<Diagnostic>> {
        for scheduled in &fitted.loops {
            for (wait, _) in waits::find(&self.kernel, scheduled.pipelined.scf_for) {
                waits::set_pending(&mut self.kernel, wait, scheduled.pipelined.pending);
            }
        }
        let Prepared { kernel, selection, bindings, .. } = self;
        let Fitted { loops, problem, assignment, depths } = fitted;
        writes_are_ordered(&assignment)?;
        let replicas = loops.iter().map(|l| l.pipelined.replicas.count).max().unwrap_or(1);
        let replicas = replicas.max(selection.computing() as u64);
        let layout = ProgramLayout::new(&kernel, &selection, &assignment, replicas, source.target)?;
        let mut remarks = selection.remarks.clone();
        let storage = source.options.storage.as_ref();
        remarks.extend(bindings.remarks(&kernel, &selection, storage, (&problem, &assignment), &depths));
        Ok(Plan {
            strategy: if selection.turns.is_some() { Strategy::IN_TURNS } else { Strategy::SEVERAL },
            kernel,
            func: source.func,
            loops,
            buffers: Some((problem, assignment)),
            depths,
            layout,
            work: Work::Specialized(Box::new(selection)),
            synchronous: None,
            remarks,
        })
    }
}
