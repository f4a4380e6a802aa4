//! Where an operation comes from in the kernel's own source (C90).

use super::diagnostic::Diagnostic;
use crate::entity::{LocId, OpId};
use crate::loc::Loc;
use crate::module::Module;
use crate::text;

/// Longest chain of locations that is followed.
const MAX_STEPS: usize = 256;

/// The innermost place in a file that a location leads to: through names and aliases, of a call the place
/// inside the called function, of fused places the first. Written `file:line:column`.
pub fn source_location(m: &Module, loc: LocId) -> Option<String> {
    let mut work = vec![loc];
    for _ in 0..MAX_STEPS {
        let at = work.pop()?;
        match &m.locs[at] {
            Loc::Unknown => {}
            Loc::File { file, line, column } => return Some(format!("{file}:{line}:{column}")),
            Loc::Name { child, .. } => work.extend(child),
            Loc::CallSite { callee, caller } => work.extend([*caller, *callee]),
            Loc::Fused { parts, .. } => work.extend(parts.iter().rev()),
            Loc::Alias(name) => {
                work.extend(m.loc_aliases.iter().find(|(n, _)| n == name).map(|(_, target)| *target));
            }
        }
    }
    None
}

impl Diagnostic {
    /// Places the diagnostic at an operation: its offset in the text, its own text on one line, and its
    /// place in the kernel's source.
    pub fn of(self, m: &Module, op: OpId) -> Diagnostic {
        let line = text::print_op(m, op);
        self.of_printed(m, op, line)
    }

    /// The same, with the text of the operation made by a [`text::OpPrinter`] that is at hand.
    pub fn of_printed(mut self, m: &Module, op: OpId, line: String) -> Diagnostic {
        self.offset = m.ops[op].span;
        self.op = Some(line);
        self.source = source_location(m, m.ops[op].loc);
        self
    }
}
