//! Says whether a module makes sense, and everything that is wrong with it.
//!
//! - Structure: every operation stands in one block, blocks and regions know their owners, regions nest at
//!   most [`MAX_REGIONS`](crate::text::MAX_REGIONS) deep.
//! - Tiles and blocks of descriptors have rank 1 to 5, extents that are powers of two, and at most 1,048,576
//!   elements (C4).
//! - Each known operation has the operands, results, regions, attributes and types that its table row asks
//!   for (C5).
//! - Blocks of functions, loops, conditions and reductions end in their terminator, which fits the owner.
//! - Every value is defined before it is used, in a block that is open at the use; nothing from outside is
//!   used in a function.
//! - `tt.call`, pipelines and named barriers exist where they are named, and no name is given twice.
//!
//! Not verified: what operations outside the known dialects mean, and cross-block uses in their regions;
//! hints; whether a program's handshakes work (that is the program checker's, C35).

mod arith;
mod control;
mod memory;
mod products;
mod program;
mod scope;
mod shapes;
mod table;

use std::collections::HashMap;

use crate::attr::Attr;
use crate::diag::{Code, Diagnostic};
use crate::entity::{OpId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::text::OpPrinter;
use crate::types::Type;

/// Everything that is wrong with a module, in the order of its operations; empty when it is sound.
pub fn verify(m: &Module) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let Some(ops) = scope::structure(m, &mut problems) else {
        // Nothing can be printed when operations do not nest.
        return problems.into_iter().map(|p| p.diag.at(m.ops[p.op].span)).collect();
    };
    let symbols = Symbols::collect(m, &ops, &mut problems);
    scope::dominance(m, &mut problems);
    for op in &ops {
        let mut cx = Cx { m, op: *op, symbols: &symbols, problems: &mut problems };
        table::check(&mut cx);
    }
    let order: HashMap<OpId, usize> = ops.iter().enumerate().map(|(n, op)| (*op, n)).collect();
    problems.sort_by_key(|p| order.get(&p.op).copied());
    if problems.is_empty() {
        return Vec::new();
    }
    let mut printer = OpPrinter::new(m);
    let finish = |problem: Problem| {
        let diag = match problem.value {
            Some(value) => problem.diag.note("found", printer.value(value).to_owned()),
            None => problem.diag,
        };
        diag.of_printed(m, problem.op, printer.line(problem.op))
    };
    problems.into_iter().map(finish).collect()
}

/// Something wrong with an operation.
struct Problem {
    op: OpId,
    /// The value it is about, to be named when all values have names.
    value: Option<ValueId>,
    diag: Diagnostic,
}

/// What operations may name.
struct Symbols<'m> {
    /// Functions, by the module they stand in and their name.
    functions: HashMap<(Option<OpId>, &'m str), OpId>,
    /// Pipelines, named barriers and agents, by their function, kind and name.
    rings: HashMap<(Option<OpId>, Opcode, &'m str), OpId>,
}

impl<'m> Symbols<'m> {
    fn collect(m: &'m Module, ops: &[OpId], problems: &mut Vec<Problem>) -> Symbols<'m> {
        let mut symbols = Symbols { functions: HashMap::new(), rings: HashMap::new() };
        for &op in ops {
            let opcode = m.ops[op].opcode;
            let Some(name) = m.symbol_name(op) else { continue };
            // Uses mean the first of equal names.
            let first = match opcode {
                Opcode::Func => *symbols.functions.entry((m.parent(op), name)).or_insert(op),
                Opcode::Pipeline | Opcode::NamedBarrier | Opcode::Agent => {
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
struct Cx<'a> {
    m: &'a Module,
    op: OpId,
    symbols: &'a Symbols<'a>,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Cx<'a> {
    fn fail(&mut self, message: impl Into<String>) {
        let rule = if self.m.op_name(self.op).starts_with("warploom.") { "C35" } else { "C5" };
        self.report(Diagnostic::error(Code::Verify, message).rule(rule));
    }

    fn report(&mut self, diag: Diagnostic) {
        self.problems.push(Problem { op: self.op, value: None, diag });
    }

    /// Records the message unless the condition holds.
    fn need(&mut self, condition: bool, message: impl FnOnce() -> String) -> bool {
        if !condition {
            let text = message();
            self.fail(text);
        }
        condition
    }

    fn operands(&self) -> &'a [ValueId] {
        &self.m.ops[self.op].operands
    }

    fn results(&self) -> &'a [ValueId] {
        &self.m.ops[self.op].results
    }

    /// Type of operand n; `none` beyond the last.
    fn operand(&self, n: usize) -> &'a Type {
        self.operands().get(n).map_or(&Type::None, |v| self.m.ty(*v))
    }

    /// Type of result n; `none` beyond the last.
    fn result(&self, n: usize) -> &'a Type {
        self.results().get(n).map_or(&Type::None, |v| self.m.ty(*v))
    }

    fn operand_types(&self) -> Vec<&'a Type> {
        self.operands().iter().map(|v| self.m.ty(*v)).collect()
    }

    fn result_types(&self) -> Vec<&'a Type> {
        self.results().iter().map(|v| self.m.ty(*v)).collect()
    }

    fn prop(&self, name: &str) -> Option<&'a Attr> {
        self.m.ops[self.op].props.get(name)
    }

    /// An integer property that must be there.
    fn int(&mut self, name: &str) -> Option<i64> {
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
    fn i32(&mut self, name: &str) -> Option<i64> {
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
    fn truth(&mut self, name: &str) {
        let fits = matches!(self.prop(name), Some(Attr::Bool(_)));
        self.need(fits, || format!("attribute `{name}` must be true or false"));
    }

    /// The property `axis`, which must number a dimension of a tile of this rank.
    fn axis(&mut self, rank: usize) -> Option<usize> {
        let axis = self.i32("axis")?;
        let found = usize::try_from(axis).ok().filter(|a| *a < rank);
        self.need(found.is_some(), || format!("axis {axis} of a tile of rank {rank}"));
        found
    }

    /// Operands, or results, have one type each; `what` names the place in the message.
    fn same_types(&mut self, what: &str, found: &[&Type], wanted: &[&Type]) {
        if found.len() != wanted.len() {
            return self.fail(format!("{what}: {} where {} are needed", count(found.len()), wanted.len()));
        }
        if let Some((f, w)) = found.iter().zip(wanted).find(|(f, w)| f != w) {
            self.fail(format!("{what}: `{f}` where `{w}` is needed"));
        }
    }
}

fn count(n: usize) -> String {
    match n {
        1 => "1 value".to_owned(),
        n => format!("{n} values"),
    }
}

/// Integers, `index` included.
fn is_int(ty: &Type) -> bool {
    matches!(ty, Type::Int(..) | Type::Index)
}

fn is_float(ty: &Type) -> bool {
    matches!(ty, Type::Float(_))
}

fn is_ptr(ty: &Type) -> bool {
    matches!(ty, Type::Ptr { .. })
}

/// Both tiles of one shape, or both no tiles.
fn same_shape(a: &Type, b: &Type) -> bool {
    a.is_tensor() == b.is_tensor() && a.shape() == b.shape()
}
