//! Which function of a module is run.

use super::error::Fault;
use crate::attr::Attr;
use crate::entity::{BlockId, OpId};
use crate::module::Module;

/// The function of this name, or the first public one, and its body.
pub(super) fn find_entry(module: &Module, name: Option<&str>) -> Result<(OpId, BlockId), Fault> {
    let private = |f: &OpId| module.attr(*f, "sym_visibility").and_then(Attr::as_str) == Some("private");
    let found = match name {
        Some(name) => module.function(name),
        None => module.functions().find(|f| !private(f)),
    };
    found.and_then(|f| Some((f, module.entry(f, 0)?))).ok_or_else(|| Fault::NoEntry(name.map(str::to_owned)))
}
