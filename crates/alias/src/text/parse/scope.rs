//! Names of values: defined, looked up, used before they are defined.

use super::{Parser, syntax};
use crate::error::{Pos, Result};
use crate::text::tree::{OpId, Value, ValueId};

impl Parser<'_> {
    pub(super) fn new_value(&mut self, name: &str, def: Option<OpId>, pack: Option<(u32, u32)>) -> ValueId {
        self.tree.values.push(Value { name: name.trim_start_matches('%').to_owned(), ty: None, def, pack });
        self.tree.values.len() - 1
    }

    /// Makes a name known; a use before it now refers to it.
    pub(super) fn define(&mut self, name: &str, values: Vec<ValueId>, pos: Pos) -> Result<Vec<ValueId>> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(values) };
        let mut values = values;
        if let Some(at) = scope.pending.iter().position(|(n, ..)| n == name) {
            let (_, early, _) = scope.pending.swap_remove(at);
            if let Some(first) = values.first_mut() {
                // The early value takes over the definition.
                if let Some(v) = self.tree.values.get(*first).cloned()
                    && let Some(slot) = self.tree.values.get_mut(early)
                {
                    *slot = v;
                }
                *first = early;
            }
            scope.names.remove(name);
        }
        if scope.names.insert(name.to_owned(), values.clone()).is_some() {
            return Err(syntax(format!("redefinition of SSA value '{name}'"), pos));
        }
        Ok(values)
    }

    pub(super) fn lookup(&mut self, name: &str, number: Option<u32>, pos: Pos) -> Result<ValueId> {
        for scope in self.scopes.iter().rev() {
            if let Some(values) = scope.names.get(name) {
                return values
                    .get(number.unwrap_or(0) as usize)
                    .copied()
                    .ok_or_else(|| syntax(format!("'{name}' has only {} results", values.len()), pos));
            }
            if scope.isolated {
                break;
            }
        }
        let value = self.new_value(name, None, None);
        if let Some(scope) = self.scopes.last_mut() {
            scope.pending.push((name.to_owned(), value, pos));
            scope.names.insert(name.to_owned(), vec![value]);
        }
        Ok(value)
    }

    pub(super) fn pop_scope(&mut self) -> Result<()> {
        match self.scopes.pop().and_then(|s| s.pending.into_iter().next()) {
            Some((name, _, pos)) => Err(syntax(format!("use of undeclared SSA value name '{name}'"), pos)),
            None => Ok(()),
        }
    }
}
