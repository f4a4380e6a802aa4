//! Says whether a module makes sense, and everything that is wrong with it.
//!
//! - Structure: every operation stands in one block, blocks and regions know their owners, regions nest at
//!   most [`MAX_REGIONS`](crate::text::MAX_REGIONS) deep.
//! - Tiles have rank 1 to 20, blocks of descriptors 1 to 5, extents that are powers of two, and at most 1,048,576
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
mod context;
mod control;
mod memory;
mod products;
mod program;
mod scope;
mod shapes;
mod table;

use std::collections::HashMap;

use self::context::{Cx, Problem, Symbols};
use crate::diag::Diagnostic;
use crate::entity::OpId;
use crate::module::Module;
use crate::text::OpPrinter;

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
