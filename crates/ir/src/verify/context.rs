//! One operation while its row of the table is checked: what the verifiers ask, and how they complain.

use std::collections::HashMap;

use crate::attr::Attr;
use crate::diag::{Code, Diagnostic};
use crate::entity::{OpId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::types::Type;

/// Something wrong with an operation.
pub(super) struct Problem {
    pub(super) op: OpId,
    /// The value it is about, to be named when all values have names.
    pub(super) value: Option<ValueId>,
    pub(super) diag: Diagnostic,
}

/// What operations may name.
pub(super) struct Symbols<'m> {
    /// Functions, by the module they stand in and their name.
    pub(super) functions: HashMap<(Option<OpId>, &'m str), OpId>,
    /// Pipelines, named barriers and partitions, by their function, kind and name.
    pub(super) rings: HashMap<(Option<OpId>, Opcode, &'m str), OpId>,
}

impl<'m> Symbols<'m> {
    pub(super) fn collect(m: &'m Module, ops: &[OpId], problems: &mut Vec<Problem>) -> Symbols<'m> {
        let mut symbols = Symbols { functions: HashMap::new(), rings: HashMap::new() };
        for &op in ops {
            let opcode = m.ops[op].opcode;
            let Some(name) = m.symbol_name(op) else { continue };
            // Uses mean the first of equal names.
            let first = match opcode {
                Opcode::Func => *symbols.functions.entry((m.parent(op), name)).or_insert(op),
                Opcode::Pipeline | Opcode::NamedBarrier | Opcode::Turns | Opcode::Partition => {
                    *symbols.rings.entry((m.parent(op), opcode, name)).or_insert(op)
                }
                _ => op,
            };
            if first != op {
                let diag = Diagnostic::error(Code::Verify, format!("the name @{name} is given twice"));
                problems.push(Problem { op, value: None, diag });
            }
        }
        symbols
    }
}

/// One operation while its row of the table is checked.
pub(super) struct Cx<'a> {
    pub(super) m: &'a Module,
    pub(super) op: OpId,
    pub(super) symbols: &'a Symbols<'a>,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl<'a> Cx<'a> {
    pub(super) fn fail(&mut self, message: impl Into<String>) {
        let rule = if self.m.op_name(self.op).starts_with("warploom.") { "C35" } else { "C5" };
        self.report(Diagnostic::error(Code::Verify, message).rule(rule));
    }

    pub(super) fn report(&mut self, diag: Diagnostic) {
        self.problems.push(Problem { op: self.op, value: None, diag });
    }

    /// Records the message unless the condition holds.
    pub(super) fn need(&mut self, condition: bool, message: impl FnOnce() -> String) -> bool {
        if !condition {
            let text = message();
            self.fail(text);
        }
        condition
    }

    pub(super) fn operands(&self) -> &'a [ValueId] {
        &self.m.ops[self.op].operands
    }

    pub(super) fn results(&self) -> &'a [ValueId] {
        &self.m.ops[self.op].results
    }

    /// Type of operand n; `none` beyond the last.
    pub(super) fn operand(&self, n: usize) -> &'a Type {
        self.operands().get(n).map_or(&Type::None, |v| self.m.ty(*v))
    }

    /// Type of result n; `none` beyond the last.
    pub(super) fn result(&self, n: usize) -> &'a Type {
        self.results().get(n).map_or(&Type::None, |v| self.m.ty(*v))
    }

    pub(super) fn operand_types(&self) -> Vec<&'a Type> {
        self.operands().iter().map(|v| self.m.ty(*v)).collect()
    }

    pub(super) fn result_types(&self) -> Vec<&'a Type> {
        self.results().iter().map(|v| self.m.ty(*v)).collect()
    }

    pub(super) fn prop(&self, name: &str) -> Option<&'a Attr> {
        self.m.ops[self.op].props.get(name)
    }

    /// An integer property that must be there.
    pub(super) fn int(&mut self, name: &str) -> Option<i64> {
        match self.prop(name) {
            Some(Attr::Int { value, .. }) => i64::try_from(*value).ok(),
            Some(_) => {
                self.fail(format!("attribute `{name}` must be an integer"));
                None
            }
            None => {
                self.fail(format!("attribute `{name}` is missing"));
                None
            }
        }
    }

    /// An `i32` property that must be there.
    pub(super) fn i32(&mut self, name: &str) -> Option<i64> {
        let narrow = match self.prop(name) {
            Some(Attr::Int { ty, .. }) => *ty == Type::I32,
            _ => true,
        };
        if !self.need(narrow, || format!("attribute `{name}` must be an i32")) {
            return None;
        }
        self.int(name)
    }

    /// A property that must be `true` or `false`.
    pub(super) fn truth(&mut self, name: &str) {
        let fits = matches!(self.prop(name), Some(Attr::Bool(_)));
        self.need(fits, || format!("attribute `{name}` must be true or false"));
    }

    /// The property `axis`, which must number a dimension of a tile of this rank.
    pub(super) fn axis(&mut self, rank: usize) -> Option<usize> {
        let axis = self.i32("axis")?;
        let found = usize::try_from(axis).ok().filter(|a| *a < rank);
        self.need(found.is_some(), || format!("axis {axis} of a tile of rank {rank}"));
        found
    }

    /// Operands, or results, have one type each; `what` names the place in the message.
    pub(super) fn same_types(&mut self, what: &str, found: &[&Type], wanted: &[&Type]) {
        if found.len() != wanted.len() {
            return self.fail(format!("{what}: {} where {} are needed", count(found.len()), wanted.len()));
        }
        if let Some((f, w)) = found.iter().zip(wanted).find(|(f, w)| f != w) {
            self.fail(format!("{what}: `{f}` where `{w}` is needed"));
        }
    }
}

pub(super) fn count(n: usize) -> String {
    match n {
        1 => "1 value".to_owned(),
        n => format!("{n} values"),
    }
}

/// Integers, `index` included.
pub(super) fn is_int(ty: &Type) -> bool {
    matches!(ty, Type::Int(..) | Type::Index)
}

pub(super) fn is_float(ty: &Type) -> bool {
    matches!(ty, Type::Float(_))
}

pub(super) fn is_ptr(ty: &Type) -> bool {
    matches!(ty, Type::Ptr { .. })
}

/// Both tiles of one shape, or both no tiles.
pub(super) fn same_shape(a: &Type, b: &Type) -> bool {
    a.is_tensor() == b.is_tensor() && a.shape() == b.shape()
}
