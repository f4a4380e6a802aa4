//! Alias operations taken out of a kernel's text: the rest reads as plain Triton IR, the layout and what is
//! bound to it stand beside (A44).

use hashbrown::HashSet;
use warploom_ir::{OpId, Opcode};

use super::constraints::{BoundValue, StorageConstraint};
use super::drive::layout_of;
use super::part::TextPart;
use super::read::{Kernel, ReadOptions, functions, open, read, users};
use crate::error::{AliasError, AliasErrors, Result};
use crate::layout::{AliasLayout, AliasOptions};
use crate::model::{AliasModule, LeafId};
use crate::schedule::parse_binding;

/// A kernel without its alias operations.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Extracted {
    /// The text without specs, leaves, groups and overlap definitions: blanks stand where they stood, so that every
    /// other place keeps its line and column.
    pub text: String,
    /// The declarations alone, as a module that reads back to the same layout: what a later text form keeps of
    /// them.
    pub declarations: String,
    /// What they declared.
    pub module: AliasModule,
    /// Where everything lies.
    pub layout: AliasLayout,
    /// The values bound to leaves, in the order of the text.
    pub bindings: Vec<BoundValue>,
    /// Warnings of the declarations.
    pub notes: Vec<AliasError>,
}

impl Extracted {
    /// The layout as constraints of buffer assignment: one per storage with bound values, in order of
    /// declaration.
    pub fn constraints(&self) -> Vec<StorageConstraint> {
        StorageConstraint::of(&self.layout, &self.bindings)
    }
}

/// Takes the alias operations out of the text of one kernel. `None` when there are none: the text is then best
/// used as it is.
///
/// # Errors
/// Everything that [`lower_text`](super::lower_text) refuses, and A44 when a leaf is used by something other
/// than a binding, or a binding names no leaf.
pub fn extract(text: &str, options: &AliasOptions) -> Result<Option<Extracted>, AliasErrors> {
    if !text.contains("tlx.") {
        return Ok(None);
    }
    let (part, renamed) = open(text, 1)?;
    let all: Vec<_> = functions(&part).into_iter().flatten().collect();
    let kernel = read(&part, &all, ReadOptions { compat: options.compat })?;
    if kernel.specs.is_empty() {
        return Ok(None);
    }
    let mut notes = renamed;
    notes.extend(kernel.notes.iter().cloned());
    let layout = layout_of(&kernel, options, &mut notes)?;
    let specs = kernel.specs.iter().map(|s| s.1);
    let leaves = kernel.leaves.iter().map(|l| l.1);
    let declared: HashSet<OpId> = specs.chain(leaves).chain(kernel.trees.iter().copied()).collect();
    let mut errors = stray(&part, &all, &declared);
    let mut bindings = Vec::new();
    for (op, text) in &kernel.bindings {
        match bound(&part, &kernel, *op, text) {
            Ok(value) => bindings.push(value),
            Err(error) => errors.push(error.at(part.pos(*op))),
        }
    }
    if !errors.is_empty() {
        errors.sort_by_key(|e| e.at);
        return Err(AliasErrors(errors));
    }
    let text = without(text, &part, &declared);
    let declarations = alone(part, &declared);
    Ok(Some(Extracted { text, declarations, module: kernel.module, layout, bindings, notes }))
}

/// Uses of what is taken out by what stays.
fn stray(part: &TextPart, ops: &[OpId], declared: &HashSet<OpId>) -> Vec<AliasError> {
    let users = users(part, ops);
    let mut errors = Vec::new();
    for op in declared {
        let results = &part.module.ops[*op].results;
        for user in results.iter().filter_map(|r| users.get(r)).flatten().filter(|u| !declared.contains(*u)) {
            let message =
                format!("'{}' uses an allocation of a storage_alias_spec directly", part.name(*user));
            errors.push(AliasError::new("A44", message).at(part.pos(*user)).help(
                "in a kernel to be pipelined, name the leaf on the value's producer with warploom.buffer",
            ));
        }
    }
    errors
}

/// The value and leaf of one `warploom.buffer`.
fn bound(part: &TextPart, kernel: &Kernel, op: OpId, text: &str) -> Result<BoundValue> {
    let (name, mul, add) = parse_binding(text)?;
    let leaves: Vec<LeafId> =
        kernel.leaves.iter().map(|(l, _)| *l).filter(|l| kernel.module.leaf(*l).name() == name).collect();
    let leaf = match leaves.as_slice() {
        [one] => *one,
        [] => {
            let known: Vec<String> =
                kernel.leaves.iter().map(|(l, _)| kernel.module.leaf(*l).shown()).collect();
            let message =
                format!("warploom.buffer names \"{name}\", which is no allocation of a storage_alias_spec");
            return Err(AliasError::new("A44", message).help(format!("name one of {}", known.join(", "))));
        }
        _ => {
            let message =
                format!("warploom.buffer names \"{name}\", and {} allocations have that name", leaves.len());
            return Err(AliasError::new("A44", message).help("give them different warploom.name"));
        }
    };
    let made = part.result(op).map(|v| part.value_name(v)).filter(|name| !name.is_empty());
    // The buffer of a store is the tile on its way out: no value of the text, and named after the operation.
    let stored = Some(part.name(op)).filter(|name| name.ends_with("descriptor_store"));
    match made.or(stored) {
        Some(value) => Ok(BoundValue {
            value: value.to_owned(),
            op: part.name(op).to_owned(),
            at: part.pos(op),
            leaf,
            name,
            mul,
            add,
        }),
        None => Err(AliasError::new("A44", "warploom.buffer stands on an operation that makes no value")
            .help("put it on the producer of the value")),
    }
}

/// The declarations as text, without what stood around them.
fn alone(mut part: TextPart, declared: &HashSet<OpId>) -> String {
    let ops: Vec<OpId> = part.walk().into_iter().filter(|op| declared.contains(op)).collect();
    let m = &mut part.module;
    let loc = m.unknown_loc();
    m.root = m.create_op(Opcode::Module, &[], &[], loc);
    let region = m.add_region(m.root);
    let block = m.add_block(region);
    for op in &ops {
        m.ops[*op].block = Some(block);
    }
    m.blocks[block].ops = ops;
    part.print()
}

/// The text with blanks in the place of the declarations.
fn without(text: &str, part: &TextPart, declared: &HashSet<OpId>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for op in declared {
        let (from, to) = part.spans[*op];
        for byte in bytes.get_mut(from as usize..to as usize).into_iter().flatten() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // Whole tokens and what stands between them were replaced, byte by byte: what is left is text as before.
    String::from_utf8(bytes).unwrap_or_default()
}
