//! What a later form says of a kernel, as data.

use warploom_bufassign::Record;
use warploom_ir::diag::Diagnostic;
use warploom_ir::{Module, OpId};

use crate::forms::{TextForm, records};

/// What a later form says of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// The kernel with its marks.
    pub(crate) marked: Module,
    pub(crate) func: OpId,
    /// The records of its buffers, where it is assigned.
    pub(crate) records: Option<Vec<Record>>,
}

impl Given {
    /// What a kernel in normal form, of the scheduled or the assigned form, carries.
    ///
    /// # Errors
    /// Every record that cannot be read.
    pub fn of(kernel: &Module, func: OpId, form: TextForm) -> Result<Given, Vec<Diagnostic>> {
        let records = if form == TextForm::Assigned { Some(records(kernel, func)?) } else { None };
        Ok(Given { marked: kernel.clone(), func, records })
    }

    /// Whether the depths are given as well.
    pub fn assigned(&self) -> bool {
        self.records.is_some()
    }
}
