//! Goes on from the schedule, or the assignment too, that a kernel of one agent carries (C35, S72-S79, B75).

use warploom_bufassign::{Assignment, Problem, Record};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};
use warploom_target::Target;

use super::apart;
use super::find::Found;
use super::plan::{Draft, LEAST, Wanted, graph, law};
use super::shape::Layout;
use crate::forms::{Form, assignment_from, records, schedule_from};
use crate::place::refuse;

/// What a later form says of a kernel.
#[derive(Clone)]
pub(super) struct Given {
    /// The kernel with its marks.
    marked: Module,
    func: OpId,
    /// The records of its buffers, where it is assigned.
    records: Option<Vec<Record>>,
}

impl Given {
    /// What a kernel in normal form carries; nothing where it is as its author wrote it.
    ///
    /// # Errors
    /// Every record that cannot be read.
    pub fn of(kernel: &Module, func: OpId, form: Form) -> Result<Option<Given>, Vec<Diagnostic>> {
        if form == Form::Kernel {
            return Ok(None);
        }
        let records = if form == Form::Assigned { Some(records(kernel, func)?) } else { None };
        Ok(Some(Given { marked: kernel.clone(), func, records }))
    }

    /// Whether the depths are given as well.
    pub fn assigned(&self) -> bool {
        self.records.is_some()
    }

    /// A loop with the schedule that stands on it; `first` is the number of its first tile in the assignment.
    ///
    /// # Errors
    /// Marks that are missing, and every rule that they break.
    pub fn draft(
        &self,
        wanted: &Wanted<'_>,
        found: Found,
        name: &str,
        first: u64,
    ) -> Result<Draft, Vec<Diagnostic>> {
        let pipelined = graph(wanted, found.scf_for, name, None).map_err(|error| vec![*error])?;
        let answer = schedule_from(&self.marked, found.scf_for, &pipelined)?;
        let least = LEAST + pipelined.pending;
        let law = law(&pipelined, &answer, &found).max(least);
        let cap = wanted.cap(&found);
        let record = self.records.iter().flatten().find(|r| r.value == first);
        let depth = match (&self.records, record) {
            (Some(_), None) => {
                let text = "an assigned kernel needs a warploom.alloc for every tile that is copied ahead";
                return Err(vec![refuse(&self.marked, found.scf_for, Code::Verify, text).rule("B10")]);
            }
            (_, Some(record)) => record.depth.min(1 << 10),
            (None, None) => wanted.depth(law, cap).max(law),
        };
        let (kernel, tiles) = (wanted.kernel, &found.tiles);
        let late = match wanted.shape.layout {
            _ if depth >= LEAST || pipelined.pending > 0 => None,
            Layout::Wgmma => apart::late(kernel, found.scf_for, tiles),
            _ => Some(apart::turns(kernel, found.scf_for, tiles)),
        };
        if depth < least && late.is_none() {
            let error =
                refuse(&self.marked, found.scf_for, Code::Loop, "a ring of one slot cannot be filled ahead");
            return Err(vec![error.rule("C24").note("instead", "a depth of 2 or more")]);
        }
        Ok(Draft { found, cap: Some(depth), pipelined, answer, law, depth, late })
    }

    /// The assignment that stands on the kernel, where one does, checked against the problem of its schedules; else the one
    /// that was found.
    ///
    /// # Errors
    /// Every rule of the assignment that the records break.
    pub fn assignment(
        &self,
        problem: &Problem,
        found: Assignment,
        target: &Target,
    ) -> Result<Assignment, Vec<Diagnostic>> {
        match &self.records {
            None => Ok(found),
            Some(records) => {
                assignment_from(&self.marked, self.func, problem, found, records.clone(), target)
            }
        }
    }
}
