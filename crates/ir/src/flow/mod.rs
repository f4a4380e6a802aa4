//! From branches between blocks (`cf`) to nested regions (`scf`).
//!
//! Triton writes `cf.cond_br` where a function returns early. [`structure`] turns the blocks of every function into one:
//! a branch becomes `scf.if`, a circle `scf.while`, and where several ways meet that no one branch leads to alone, a
//! selector says which of them goes on. After Bahmann et al., "Perfect Reconstructability of Control Flow from Demand
//! Dependence Graphs", ACM TACO 11(4), 2015. No operation is copied: it runs exactly where it ran before.
//!
//! The [interpreter](crate::interp) follows branches itself, so that both forms can be compared.

mod emit;
mod graph;
mod loops;

use crate::diag::Diagnostics;
use crate::module::Module;
use crate::opcode::Opcode;

/// Whether a function of the module has branches between blocks.
pub fn has_branches(m: &Module) -> bool {
    m.functions().any(|f| m.ops[f].regions.first().is_some_and(|r| m.regions[*r].blocks.len() > 1))
}

/// Rewrites the functions of a sound module so that each has one block, which ends in `tt.return`. What a value is
/// worth on ways that do not use it is `ub.poison`.
///
/// # Errors
/// A circle that is entered at several places (irreducible control flow), and regions that would nest deeper than
/// [`MAX_REGIONS`](crate::text::MAX_REGIONS), each with the place of a branch. The module is then half rewritten.
pub fn structure(m: &mut Module) -> Result<(), Diagnostics> {
    let functions: Vec<_> = m.functions().filter(|f| m.ops[*f].opcode == Opcode::Func).collect();
    for function in functions {
        let Some(&region) = m.ops[function].regions.first() else { continue };
        if m.regions[region].blocks.len() > 1 {
            emit::function(m, region).map_err(|error| Diagnostics::from(*error))?;
        }
    }
    Ok(())
}
