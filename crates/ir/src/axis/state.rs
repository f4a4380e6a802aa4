//! What is known so far; nothing yet of what loops carry is the most that can be.

use cranelift_entity::SecondaryMap;

use super::run::{Run, Runs, unit};
use crate::entity::ValueId;
use crate::module::Module;

pub(super) struct State<'m> {
    pub module: &'m Module,
    pub runs: SecondaryMap<ValueId, Option<Runs>>,
    /// Whether integers are known not to be negative.
    pub signs: SecondaryMap<ValueId, Option<bool>>,
}

impl State<'_> {
    /// A value along a dimension; scalars are the same along all.
    pub fn along(&self, value: ValueId, dim: usize) -> Option<Run> {
        let runs = self.runs[value].as_ref()?;
        Some(match self.module.ty(value).is_tensor() {
            true => runs.get(dim).copied().unwrap_or(Run::UNKNOWN),
            false => Run::constant(runs.first().map_or(1, |run| run.multiple)),
        })
    }

    /// What divides every element of a value.
    pub fn each(&self, value: ValueId) -> Option<u64> {
        let unit = unit(self.module.ty(value));
        // A dimension along which all elements are alike says nothing about the others.
        Some(self.runs[value].as_ref()?.iter().map(|run| run.each(unit)).min().unwrap_or(1))
    }

    /// Dimensions of a value; a scalar counts as one.
    pub fn rank(&self, value: ValueId) -> usize {
        match self.module.ty(value).is_tensor() {
            true => self.module.ty(value).shape().len(),
            false => 1,
        }
    }

    /// Nothing is known of a value.
    pub fn unknown(&self, value: ValueId) -> Runs {
        Runs::from_elem(Run::UNKNOWN, self.rank(value))
    }
}
