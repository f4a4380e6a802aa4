//! Values: definitions, uses, and the types that uses ask for.

use smallvec::SmallVec;

use super::names::{Entry, MAX_FORWARD, Use};
use super::{Failed, Parse, Parser};
use crate::diag::Code;
use crate::entity::{LocId, ValueId};
use crate::module::{Value, ValueDef};
use crate::types::Type;

impl<'a> Parser<'a> {
    pub(super) fn pop_isolated(&mut self) {
        let Some(scope) = self.names.scopes.pop() else { return };
        let mut missing: Vec<(usize, &str)> = Vec::new();
        for (name, entry) in &scope.entries {
            if let Entry::Forward(uses) = entry {
                missing.extend(uses.iter().map(|u| (u.2, *name)));
            }
        }
        missing.sort_unstable();
        for (at, name) in missing {
            let diag = self.diagnostic(Code::Verify, format!("value `{name}` is not defined"), at);
            self.report(diag.note("needs", "a definition in this region or one around it"));
        }
        if self.names.scopes.is_empty() {
            for (value, ty, at) in std::mem::take(&mut self.names.deferred) {
                if !self.names.unresolved.contains(&value) {
                    self.compare_type(value, &ty, at);
                }
            }
        }
    }

    /// A value that stands in for one without a definition.
    fn stand_in(&mut self) -> ValueId {
        let def = ValueDef::Result { op: self.m.root, index: u32::MAX };
        let loc = self.m.unknown_loc();
        let value = self.m.values.push(Value { ty: Type::None, def, name: None, loc });
        self.names.unresolved.insert(value);
        value
    }

    /// The value of `%name` (with the percent sign) and result number.
    pub(super) fn lookup(&mut self, name: &'a str, index: u32, at: usize) -> Parse<Use> {
        let known = match self.names.get(name) {
            Some(Entry::Defined { values, .. }) => match values.get(index as usize) {
                Some(value) => Some(*value),
                None => {
                    let count = values.len();
                    let message = format!("`{name}` has {count} results, there is no `{name}#{index}`");
                    let diag = self.diagnostic(Code::Verify, message, at);
                    return Err(self.report(diag));
                }
            },
            Some(Entry::Forward(uses)) if uses.len() >= MAX_FORWARD => {
                return Err(self.error(at, format!("too many uses of `{name}` before its definition")));
            }
            Some(Entry::Forward(uses)) => uses.iter().find(|u| u.0 == index).map(|u| u.1),
            Some(Entry::Poisoned) | None => None,
        };
        if let Some(value) = known {
            return Ok(Use { value, at });
        }
        let value = self.stand_in();
        let use_ = (index, value, at);
        let scope = self.names.scopes.last_mut();
        match scope.and_then(|s| s.entries.get_mut(name)) {
            Some(Entry::Forward(uses)) => uses.push(use_),
            Some(_) => {}
            None => self.names.set(name, Entry::Forward(vec![use_])),
        }
        Ok(Use { value, at })
    }

    /// Defines `%name` (with the percent sign) as values of these types. `def` tells where value n comes
    /// from.
    pub(super) fn define(
        &mut self,
        name: &'a str,
        at: usize,
        types: &[Type],
        loc: LocId,
        def: impl Fn(u32) -> ValueDef,
    ) -> Parse<SmallVec<[ValueId; 2]>> {
        let forward = match self.names.get(name) {
            Some(Entry::Defined { at: before, .. }) => {
                let line = 1 + self.slice(0, *before).matches('\n').count();
                let message = format!("`{name}` is defined twice");
                let diag = self.diagnostic(Code::Verify, message, at);
                return Err(self.report(diag.note("found", format!("first definition in line {line}"))));
            }
            Some(Entry::Forward(uses)) => uses.clone(),
            Some(Entry::Poisoned) | None => Vec::new(),
        };
        if let Some((index, _, place)) = forward.iter().find(|u| u.0 as usize >= types.len()) {
            let message = format!("`{name}` has {} results, there is no `{name}#{index}`", types.len());
            let diag = self.diagnostic(Code::Verify, message, *place);
            self.report(diag);
        }
        let bare = name.get(1..).unwrap_or("");
        let number = bare.bytes().all(|b| b.is_ascii_digit());
        let kept = (!number || self.dialect.is_some()).then_some(bare);
        let mut values = SmallVec::new();
        for (index, ty) in (0u32..).zip(types) {
            let value = Value { ty: ty.clone(), def: def(index), name: kept.map(str::to_owned), loc };
            let id = match forward.iter().find(|u| u.0 == index) {
                Some(&(_, id, _)) => {
                    self.m.values[id] = value;
                    self.names.unresolved.remove(&id);
                    id
                }
                None => self.m.values.push(value),
            };
            values.push(id);
        }
        self.names.set(name, Entry::Defined { values: values.clone(), at });
        Ok(values)
    }

    /// Marks a name whose operation was not understood.
    pub(super) fn poison(&mut self, name: &'a str) {
        if !matches!(self.names.get(name), Some(Entry::Defined { .. })) {
            self.names.set(name, Entry::Poisoned);
        }
    }

    /// A use says that its value has this type.
    pub(super) fn check_type(&mut self, operand: Use, ty: &Type) {
        if self.names.unresolved.contains(&operand.value) {
            self.names.deferred.push((operand.value, ty.clone(), operand.at));
        } else {
            self.compare_type(operand.value, ty, operand.at);
        }
    }

    fn compare_type(&mut self, value: ValueId, ty: &Type, at: usize) -> Option<Failed> {
        let found = &self.m.values[value].ty;
        if found == ty || self.agrees(value, ty) {
            return None;
        }
        let found = &self.m.values[value].ty;
        let message = format!("the value has type `{found}` but is used as `{ty}`");
        let diag = self.diagnostic(Code::Verify, message, at).rule("C4");
        Some(self.report(diag))
    }
}
