//! Goes on from the schedule, or the assignment too, that a kernel of one partition carries (C35, S72-S79, B75).

use warploom_bufassign::{Assignment, Problem};
use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};

use crate::buffers::draft::{Draft, LEAST, Wanted, graph, law};
use crate::buffers::given::Given;
use crate::forms::{assignment_from, schedule_from};
use crate::place::refuse;
use crate::transports::find::Found;
use crate::transports::turns;

impl Given {
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
                let text = "an assigned kernel needs a warploom.alloc for every tile of a pipelined load";
                return Err(vec![refuse(&self.marked, found.scf_for, Code::Verify, text).rule("B10")]);
            }
            (_, Some(record)) => record.depth.min(1 << 10),
            (None, None) => wanted.depth(law, cap).max(law),
        };
        let (kernel, tiles) = (wanted.kernel, &found.tiles);
        let late = match wanted.shape.asynchronous() {
            _ if depth >= LEAST || pipelined.pending > 0 => None,
            true if wanted.tensor.gives_back(found.scf_for) => None,
            true => turns::late(kernel, found.scf_for, tiles),
            _ => Some(turns::turns(kernel, found.scf_for, tiles)),
        };
        if depth < least && late.is_none() {
            let error = refuse(
                &self.marked,
                found.scf_for,
                Code::Loop,
                "a ring of one slot cannot hold pipelined loads",
            );
            return Err(vec![error.rule("C24").note("instead", "a depth of 2 or more")]);
        }
        let bound = wanted.bound(&found, (depth, law));
        let (cap, unlimited_ii, rounds) = (Some(depth), answer.ii, Vec::new());
        Ok(Draft { found, cap, pipelined, answer, law, depth, bound, unlimited_ii, rounds, late })
    }

    /// The assignment that stands on the kernel, where one does, checked against the problem of its schedules; else the
    /// one that was found.
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
                Ok(assignment_from(&self.marked, self.func, problem, found, records.clone(), target)?)
            }
        }
    }
}
