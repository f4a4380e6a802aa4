//! Alias operations taken out of a kernel's text: the rest reads as plain Triton IR, the layout and what is
//! bound to it stand beside (A44).

use serde::Serialize;

use super::form::read_forms;
use super::parse::parse;
use super::print::{Names, print};
use super::read::{Kernel, ReadOptions, functions, read};
use super::tree::Tree;
use crate::error::{AliasError, Pos, Result};
use crate::layout::{AliasOptions, Errors, Layout};
use crate::model::{AliasModule, LeafId};
use crate::schedule::parse_binding;
use crate::types::Storage;

/// A kernel without its alias operations.
#[derive(Clone, Debug)]
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
    pub layout: Layout,
    /// The values bound to leaves, in the order of the text.
    pub bindings: Vec<BoundValue>,
    /// Warnings of the declarations.
    pub notes: Vec<AliasError>,
}

/// A value that lives in a leaf: iteration j uses buffer `(mul * j + add) mod n` (A44).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BoundValue {
    /// SSA name of the value in [`Extracted::text`], without `%`; the operation's where that is a store.
    pub value: String,
    /// The operation that makes it.
    pub op: String,
    /// Where that stands in the source.
    pub at: Pos,
    /// The leaf.
    pub leaf: LeafId,
    /// The leaf's name.
    pub name: String,
    /// Factor of the iteration; 0 is a fixed buffer.
    pub mul: u64,
    /// Buffer of iteration 0.
    pub add: u64,
}

/// One storage as buffer assignment takes it (`layouts` of its input): plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StorageConstraint {
    /// Name of the storage, unique in the kernel.
    pub id: String,
    /// Shared or tensor memory.
    pub space: Storage,
    /// Size in bytes; in 32-bit columns for tensor memory.
    pub bytes: u64,
    /// Alignment in the same unit.
    pub align: u64,
    /// Rows in tensor memory; 1 elsewhere.
    pub rows: u32,
    /// One per bound value, in the order of the text.
    pub leaves: Vec<LeafConstraint>,
}

/// Where the buffers of one bound value lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeafConstraint {
    /// SSA name of the value.
    pub value: String,
    /// The leaf's name.
    pub leaf: String,
    /// Size of one buffer, in the unit of the storage.
    pub bytes: u64,
    /// Place of buffer 0.
    pub offset: u64,
    /// Distances: of groups, then of the cells of each level.
    pub strides: Vec<u64>,
    /// Group sizes, outermost first; one fewer than `strides` (A31).
    pub radices: Vec<u64>,
    /// Indices of the leaf in the order of the iterations, until they repeat.
    pub indices: Vec<u64>,
    /// Their places: `slots[j mod len]` is where iteration j lies.
    pub slots: Vec<u64>,
}

impl Extracted {
    /// The layout as constraints of buffer assignment: one per storage with bound values, in order of
    /// declaration.
    pub fn constraints(&self) -> Vec<StorageConstraint> {
        let mut out = Vec::new();
        for storage in &self.layout.storages {
            let mut leaves = Vec::new();
            for bound in &self.bindings {
                let Some(place) = storage.leaves.iter().find(|l| l.leaf == bound.leaf) else { continue };
                let binding = bound.binding();
                let indices: Vec<u64> =
                    (0..binding.period(place.count)).map(|j| binding.index(j, place.count)).collect();
                leaves.push(LeafConstraint {
                    value: bound.value.clone(),
                    leaf: bound.name.clone(),
                    bytes: place.unit,
                    offset: place.map.base,
                    strides: place.map.strides.to_vec(),
                    radices: place.map.radices.to_vec(),
                    slots: indices.iter().filter_map(|i| place.position(*i)).collect(),
                    indices,
                });
            }
            if !leaves.is_empty() {
                out.push(StorageConstraint {
                    id: storage.name.clone(),
                    space: storage.space,
                    bytes: storage.size,
                    align: storage.align,
                    rows: storage.rows,
                    leaves,
                });
            }
        }
        out
    }
}

impl BoundValue {
    /// The binding without its uses; a caller that knows the body fills in `write` and `reads`.
    pub fn binding(&self) -> crate::schedule::Binding {
        crate::schedule::Binding {
            value: self.value.clone(),
            leaf: self.leaf,
            mul: self.mul,
            add: self.add,
            write: 0,
            reads: Vec::new(),
        }
    }
}

/// Takes the alias operations out of the text of one kernel. `None` when there are none: the text is then best
/// used as it is.
///
/// # Errors
/// Everything that [`lower_text`](super::lower_text) refuses, and A44 when a leaf is used by something other
/// than a binding, or a binding names no leaf.
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
    let mut errors = stray(&tree, &all, &gone);
    let mut bindings = Vec::new();
    for (op, text) in &kernel.bindings {
        match bound(&tree, &kernel, *op, text) {
            Ok(value) => bindings.push(value),
            Err(error) => errors.push(error.at(tree.ops.get(*op).map(|o| o.pos))),
        }
    }
    if !errors.is_empty() {
        errors.sort_by_key(|e| e.at);
        return Err(Errors(errors));
    }
    let declarations = print(&alone(&tree, &gone), Names::Kept);
    let text = without(text, &tree, &gone);
    Ok(Some(Extracted { text, declarations, module: kernel.module, layout, bindings, notes }))
}

/// Uses of what is taken out by what stays.
fn stray(tree: &Tree, ops: &[usize], gone: &hashbrown::HashSet<usize>) -> Vec<AliasError> {
    let users = super::read::users(tree, ops);
    let mut errors = Vec::new();
    for op in gone {
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
    errors
}

/// The value and leaf of one `warploom.buffer`.
fn bound(tree: &Tree, kernel: &Kernel, id: usize, text: &str) -> Result<BoundValue> {
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
    let op = tree.ops.get(id);
    // The buffer of a store is the tile on its way out: no value of the text, and named after the operation.
    let stored = op.filter(|o| o.name.ends_with("descriptor_store")).map(|o| o.name.clone());
    let made = op.and_then(|o| o.results.first()).and_then(|v| tree.values.get(*v));
    match (op, made.map(|v| v.name.clone()).or(stored)) {
        (Some(op), Some(value)) => {
            Ok(BoundValue { value, op: op.name.clone(), at: op.pos, leaf, name, mul, add })
        }
        _ => Err(AliasError::new("A44", "warploom.buffer stands on an operation that makes no value")
            .help("put it on the producer of the value")),
    }
}

/// The declarations without what stood around them.
fn alone(tree: &Tree, declarations: &hashbrown::HashSet<usize>) -> Tree {
    let mut alone = tree.clone();
    alone.top = tree.walk().into_iter().filter(|op| declarations.contains(op)).collect();
    alone
}

/// The text with blanks in the place of the declarations.
fn without(text: &str, tree: &Tree, declarations: &hashbrown::HashSet<usize>) -> String {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1))
        .collect();
    let offset = |pos: Pos| {
        let line = starts.get((pos.line as usize).saturating_sub(1)).copied().unwrap_or(text.len());
        line.saturating_add(pos.col as usize).saturating_sub(1).min(text.len())
    };
    let mut spans: Vec<(usize, usize)> = declarations
        .iter()
        .filter_map(|&op| tree.ops.get(op))
        .map(|op| (offset(op.span.0), offset(op.span.1)))
        .collect();
    spans.sort_unstable();
    let mut bytes = text.as_bytes().to_vec();
    for (from, to) in spans {
        for byte in bytes.get_mut(from..to).into_iter().flatten() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // Whole tokens and what stands between them were replaced, byte by byte: what is left is text as before.
    String::from_utf8(bytes).unwrap_or_default()
}
