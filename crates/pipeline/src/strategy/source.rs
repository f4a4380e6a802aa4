//! What strategies are asked about: a kernel in normal form, and what a later form says of it.

use warploom_chips::Target;
use warploom_ir::diag::Diagnostic;
use warploom_ir::{Module, OpId};

use super::types::Strategy;
use crate::buffers::given::Given;
use crate::forms::{self, TextForm};
use crate::normalize::normalize;
use crate::options::CompileOptions;
use crate::select::entry_function;
use crate::storage::BUFFER;
use crate::walk::preorder;

/// A kernel that strategies are asked about.
pub(crate) struct Source<'a> {
    /// The kernel as it was written, in plain form.
    pub written: &'a Module,
    /// In normal form, without the marks of later forms.
    pub kernel: Module,
    pub func: OpId,
    pub target: &'a Target,
    pub options: &'a CompileOptions,
    /// The schedules and places that it carries, and by which strategy they were made.
    pub given: Option<(Strategy, Given)>,
}

impl<'a> Source<'a> {
    /// Brings a kernel into normal form and takes off what later forms wrote on it.
    ///
    /// # Errors
    /// No such kernel, calls that cannot be inlined, marks that cannot be read.
    pub fn new(
        written: &'a Module,
        target: &'a Target,
        options: &'a CompileOptions,
    ) -> Result<Source<'a>, Vec<Diagnostic>> {
        let form = forms::form(written, target).map_err(|error| vec![*error])?;
        let func = entry_function(written, options.entry.as_deref())?;
        let mut kernel = normalize(written, func)?;
        let given = match form {
            TextForm::Kernel => None,
            _ => {
                let strategy = Strategy::read(&kernel, func).map_err(|error| vec![*error])?;
                Some((strategy, Given::of(&kernel, func, form)?))
            }
        };
        forms::strip(&mut kernel, func);
        Ok(Source { written, kernel, func, target, options, given })
    }

    /// Whether the author says where buffers lie: one partition takes no places from her (A44).
    pub fn places_bound(&self) -> bool {
        self.options.storage.is_some() || !self.bound().is_empty()
    }

    /// The operations whose buffers the author gives places.
    pub fn bound(&self) -> Vec<OpId> {
        let bound = |op: &OpId| self.written.attr(*op, BUFFER).is_some();
        preorder(self.written, self.written.root).into_iter().filter(bound).collect()
    }
}
