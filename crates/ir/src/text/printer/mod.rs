//! Writes a [`Module`] as MLIR text, in the style of Triton's own printer.

mod attrs;
mod custom;
mod flat;
mod functions;
mod names;
mod ops;
mod structured;

use cranelift_entity::SecondaryMap;

use super::dialect::Dialect;
use crate::entity::{OpId, ValueId};
use crate::module::Module;

/// Regions nested deeper than this are not written (and [`crate::verify`] refuses them).
const MAX_DEPTH: usize = 4 * super::MAX_REGIONS as usize;

pub(super) struct Printer<'m> {
    m: &'m Module,
    out: String,
    /// Name of each value, with its percent sign and result number.
    names: SecondaryMap<ValueId, String>,
    indent: usize,
    /// Whether ` loc(..)` is written.
    locs: bool,
    /// Formats of other dialects.
    dialect: Option<Dialect>,
}

/// The module as text.
pub fn print(m: &Module) -> String {
    whole(Printer::new(m, true))
}

/// The module as text, with the operations of another dialect in their formats.
pub fn print_with(m: &Module, dialect: Dialect) -> String {
    whole(Printer { dialect: Some(dialect), ..Printer::new(m, true) })
}

fn whole(mut printer: Printer<'_>) -> String {
    let m = printer.m;
    for (name, attr) in &m.attr_aliases {
        printer.push(&format!("#{name} = "));
        printer.attr(attr);
        printer.push("\n");
    }
    let leading = m.leading_loc_aliases.min(m.loc_aliases.len());
    let (before, after) = m.loc_aliases.split_at(leading);
    printer.loc_aliases(before);
    printer.op(m.root);
    printer.push("\n");
    printer.loc_aliases(after);
    printer.out
}

/// Writes single operations of one module, for messages.
pub struct OpPrinter<'m> {
    printer: Printer<'m>,
}

impl<'m> OpPrinter<'m> {
    /// Names all values of the module.
    pub fn new(m: &'m Module) -> OpPrinter<'m> {
        OpPrinter { printer: Printer::new(m, false) }
    }

    /// An operation on one line, without its location and without what its regions hold.
    pub fn line(&mut self, op: OpId) -> String {
        self.printer.out.clear();
        self.printer.indent = 0;
        self.printer.op(op);
        let line = self.printer.out.lines().next().unwrap_or("");
        line.trim_end().to_owned()
    }

    /// The name of a value, with its percent sign.
    pub fn value(&self, value: ValueId) -> &str {
        &self.printer.names[value]
    }
}

/// An operation on one line, without its location and without what its regions hold. For several
/// operations of a module use [`OpPrinter`].
pub fn print_op(m: &Module, op: OpId) -> String {
    OpPrinter::new(m).line(op)
}

impl<'m> Printer<'m> {
    fn new(m: &'m Module, locs: bool) -> Printer<'m> {
        Printer { m, out: String::new(), names: names::assign(m), indent: 0, locs, dialect: None }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn newline(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', 2 * self.indent));
    }
}
