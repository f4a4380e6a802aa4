//! Changes of a module that is copied only where there is something to change.

use std::borrow::Cow;

use warploom_ir::{Module, OpId};

use crate::walk::preorder;

/// The module with a change for each operation of the function `entry` of which `find` says something; itself where there is
/// none.
pub(super) fn each<'m, T>(
    module: Cow<'m, Module>,
    entry: OpId,
    find: impl Fn(&Module, OpId) -> Option<T>,
    change: impl Fn(&mut Module, T),
) -> Cow<'m, Module> {
    let found: Vec<T> = preorder(&module, entry).into_iter().filter_map(|op| find(&module, op)).collect();
    if found.is_empty() {
        return module;
    }
    let mut module = module.into_owned();
    found.into_iter().for_each(|found| change(&mut module, found));
    Cow::Owned(module)
}
