//! Alias operations taken out of a kernel's text: the rest reads as plain Triton IR, the layout stands beside.

use super::form::read_forms;
use super::parse::parse;
use super::print::{Names, print};
use super::read::{ReadOptions, functions, read};
use crate::error::AliasError;
use crate::layout::{AliasOptions, Errors, Layout};
use crate::model::AliasModule;

/// A kernel without its alias operations.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The text without specs, leaves, groups and overlap definitions; names kept.
    pub text: String,
    /// What they declared.
    pub module: AliasModule,
    /// Where everything lies.
    pub layout: Layout,
    /// The `warploom.buffer` attributes found, as written, in the order of the text.
    pub bindings: Vec<String>,
    /// Warnings of the declarations.
    pub notes: Vec<AliasError>,
}

/// Takes the alias operations out of the text of one kernel. `None` when there are none: the text is then best
/// used as it is.
///
/// # Errors
/// Everything that `lower_text` refuses, and A44 when a leaf is used by something other than a binding.
pub fn extract(text: &str, options: &AliasOptions) -> Result<Option<Extracted>, Errors> {
    if !text.contains("tlx.") {
        return Ok(None);
    }
    let mut tree = parse(text, 1)?;
    read_forms(&mut tree)?;
    let all: Vec<_> = functions(&tree).into_iter().flatten().collect();
    let kernel = read(&tree, &all, ReadOptions { compat: options.compat }).map_err(Errors)?;
    if kernel.specs.is_empty() {
        return Ok(None);
    }
    let mut notes = kernel.notes.clone();
    let layout = super::drive::layout_of(&kernel, options, &mut notes).map_err(Errors)?;
    let gone: hashbrown::HashSet<usize> = kernel
        .specs
        .iter()
        .map(|s| s.1)
        .chain(kernel.leaves.iter().map(|l| l.1))
        .chain(kernel.trees.iter().copied())
        .collect();
    let users = super::read::users(&tree);
    let mut errors = Vec::new();
    for op in &gone {
        let results = tree.ops.get(*op).map_or(&[][..], |o| o.results.as_slice());
        for user in results.iter().filter_map(|r| users.get(r)).flatten().filter(|u| !gone.contains(*u)) {
            if let Some(user) = tree.ops.get(*user) {
                let message = format!("'{}' uses an allocation of a storage_alias_spec directly", user.name);
                errors.push(AliasError::new("A44", message).at(user.pos).help(
                    "in a kernel to be pipelined, name the leaf on the value's producer with warploom.buffer",
                ));
            }
        }
    }
    if !errors.is_empty() {
        return Err(Errors(errors));
    }
    for block in &mut tree.blocks {
        block.ops.retain(|o| !gone.contains(o));
    }
    tree.top.retain(|o| !gone.contains(o));
    let bindings = kernel.bindings.iter().map(|(_, text)| text.clone()).collect();
    Ok(Some(Extracted { text: print(&tree, Names::Kept), module: kernel.module, layout, bindings, notes }))
}
