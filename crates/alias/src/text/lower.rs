//! Materialisation: one backing per spec, a view per leaf (A32), or expanded aliases (A35).

use hashbrown::{HashMap, HashSet};

use super::read::Kernel;
use super::slots::Rewriter;
use super::tree::{BlockId, Form, Op, OpId, Tree, ValueId};
use super::types::MemDesc;
use crate::error::{AliasError, Result};
use crate::layout::{AliasOptions, Layout, LeafLayout, StorageLayout};
use crate::model::LeafId;
use crate::types::Storage;

/// The encoding of a byte backing (A32).
const BYTES: &str = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>";

/// Puts sizes on the specs and leaves the rest (`--stop-after sizes`, A38).
pub(crate) fn sizes(tree: &mut Tree, kernel: &Kernel, layout: &Layout) {
    for (spec, op) in &kernel.specs {
        let Some(storage) = layout.storage(*spec) else { continue };
        let (bytes, shape) = match storage.space {
            Storage::Tmem => (
                storage.size.saturating_mul(4 * u64::from(storage.rows)),
                format!("array<i64: {}, {}>", storage.rows, storage.size),
            ),
            _ => (storage.size, format!("array<i64: {}>", storage.size)),
        };
        let own = kernel.module.spec(*spec).size_bytes();
        if let Some(form) = tree.ops.get_mut(*op).and_then(|o| o.form.as_mut()) {
            form.set("size", own.unwrap_or(bytes).to_string());
            form.set("buffer_shape", shape);
        }
    }
}

/// Replaces specs, leaves, groups and overlap definitions.
///
/// # Errors
/// A33 and A35 for uses that cannot follow.
pub(crate) fn lower(
    tree: &mut Tree,
    kernel: &Kernel,
    layout: &Layout,
    options: &AliasOptions,
) -> Result<(), Vec<AliasError>> {
    let places: HashMap<LeafId, (&StorageLayout, &LeafLayout)> =
        layout.storages.iter().flat_map(|s| s.leaves.iter().map(move |l| (l.leaf, (s, l)))).collect();
    let users = super::read::users(tree, &kernel.ops);
    let mut gone: HashSet<OpId> = kernel.trees.iter().copied().collect();
    let mut before: HashMap<OpId, Vec<OpId>> = HashMap::new();
    let mut backing: HashMap<crate::SpecId, ValueId> = HashMap::new();
    for (spec, op) in &kernel.specs {
        let Some(storage) = layout.storage(*spec) else {
            gone.insert(*op);
            continue;
        };
        let form = backing_form(tree, storage, options);
        let legacy = tree.ops.get(*op).is_some_and(|o| !o.name.starts_with("tlx.s"));
        let value = if legacy {
            let (id, value) = new_op(tree, *op, form);
            before.entry(*op).or_default().push(id);
            value
        } else {
            replace(tree, *op, form);
            tree.ops.get(*op).and_then(|o| o.results.first()).copied().unwrap_or(0)
        };
        backing.insert(*spec, value);
    }
    let mut errors = Vec::new();
    let mut aliases = Vec::new();
    for (leaf, op) in &kernel.leaves {
        let Some((storage, place)) = places.get(leaf) else { continue };
        let Some(base) = backing.get(&storage.spec).copied() else { continue };
        let ty = tree.ops.get(*op).and_then(|o| o.form.as_ref()).and_then(|f| f.outs.first()).cloned();
        let from = tree.ty(base).unwrap_or("").to_owned();
        let mut form =
            Form { operands: vec![base], attrs: Vec::new(), ins: vec![from], outs: ty.into_iter().collect() };
        if options.slots() {
            let old = tree.ops.get(*op).and_then(|o| o.form.as_ref());
            form.attrs = old.map_or_else(Vec::new, |f| f.attrs.clone());
            replace(tree, *op, ("tlx.local_alias", form));
            aliases.push((*op, *place));
        } else {
            form.attrs.push(("base".to_owned(), place.map.base.to_string()));
            form.attrs.push(("strides".to_owned(), list(&place.map.strides)));
            if !place.map.radices.is_empty() {
                form.attrs.push(("radices".to_owned(), list(&place.map.radices)));
                errors.extend(whole(tree, &users, *op, kernel.module.leaf(*leaf)));
            }
            let old = tree.ops.get(*op).and_then(|o| o.form.as_ref());
            let kept = old.map_or_else(Vec::new, |f| f.attrs.clone());
            form.attrs.extend(kept.into_iter().filter(|(n, _)| n.starts_with("warploom.") || n == "tt.name"));
            replace(tree, *op, ("warploom.view", form));
        }
    }
    rebuild(tree, &gone, &HashMap::new());
    if options.slots() {
        let mut rewriter = Rewriter::new(tree, &kernel.ops, &gone, before);
        for (op, place) in aliases {
            if let Err(error) = rewriter.expand(op, place) {
                errors.push(error);
            }
        }
        before = rewriter.finish();
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    rebuild(tree, &HashSet::new(), &before);
    Ok(())
}

fn list(numbers: &[u64]) -> String {
    format!("[{}]", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

/// The allocation that holds a storage.
fn backing_form(tree: &mut Tree, s: &StorageLayout, options: &AliasOptions) -> (&'static str, Form) {
    let mut form = Form::default();
    if s.space == Storage::Tmem {
        let body =
            format!("#ttng.tensor_memory_encoding<blockM = {}, blockN = {}, colStride = 1>", s.rows, s.size);
        let encoding = alias_for(tree, "#tmem", &body);
        let space = space_alias(tree, "#ttng.tensor_memory");
        form.outs.push(format!("!ttg.memdesc<{}x{}xi32, {encoding}, {space}, mutable>", s.rows, s.size));
        return ("ttng.tmem_alloc", form);
    }
    let encoding = alias_for(tree, "#shared", BYTES);
    let space = space_alias(tree, "#ttg.shared_memory");
    if !options.compat {
        form.attrs.push(("alignment".to_owned(), format!("{} : i32", s.align)));
    }
    form.outs.push(format!("!ttg.memdesc<{}xi8, {encoding}, {space}, mutable>", s.size));
    ("ttg.local_alloc", form)
}

/// The alias of this attribute, a new one behind its kin if there is none (A20).
fn alias_for(tree: &mut Tree, base: &str, body: &str) -> String {
    if let Some((name, ..)) = tree.aliases.iter().find(|(_, b, before)| b == body && *before) {
        return name.clone();
    }
    let mut name = base.to_owned();
    let mut n = 0;
    while tree.aliases.iter().any(|(other, ..)| *other == name) {
        n += 1;
        name = format!("{base}{n}");
    }
    let digits = |s: &str| s.strip_prefix(base).is_some_and(|t| t.bytes().all(|b| b.is_ascii_digit()));
    let at =
        tree.aliases.iter().rposition(|(other, _, before)| *before && digits(other)).map_or(0, |n| n + 1);
    tree.aliases.insert(at, (name.clone(), body.to_owned(), true));
    name
}

fn space_alias(tree: &Tree, body: &str) -> String {
    let found = tree.aliases.iter().find(|(_, b, before)| b == body && *before);
    found.map_or_else(|| body.to_owned(), |(name, ..)| name.clone())
}

/// Makes an operation another one, with the same results.
pub(crate) fn replace(tree: &mut Tree, op: OpId, (name, form): (&str, Form)) {
    let Some(o) = tree.ops.get_mut(op) else { return };
    o.name = name.to_owned();
    o.quoted = false;
    let ty = form.outs.first().cloned();
    o.form = Some(form);
    if let Some(v) = o.results.first().and_then(|v| tree.values.get_mut(*v)) {
        v.ty = ty;
    }
}

/// A new operation with one result, to stand beside another.
pub(crate) fn new_op(tree: &mut Tree, beside: OpId, (name, form): (&str, Form)) -> (OpId, ValueId) {
    let id = tree.ops.len();
    let (pos, block) =
        tree.ops.get(beside).map_or((crate::Pos { line: 1, col: 1 }, None), |o| (o.pos, o.block));
    tree.values.push(super::tree::Value {
        name: format!("w{id}"),
        ty: form.outs.first().cloned(),
        def: Some(id),
        pack: None,
    });
    let value = tree.values.len() - 1;
    tree.ops.push(Op {
        name: name.to_owned(),
        quoted: false,
        pos,
        span: (pos, pos),
        results: vec![value],
        body: Vec::new(),
        loc: None,
        form: Some(form),
        block,
    });
    (id, value)
}

/// A33: dimension 0 of a view with radices is not cut and not moved.
fn whole(tree: &Tree, users: &HashMap<ValueId, Vec<OpId>>, op: OpId, leaf: &crate::Leaf) -> Vec<AliasError> {
    let Some(result) = tree.ops.get(op).and_then(|o| o.results.first()).copied() else { return Vec::new() };
    let mut errors = Vec::new();
    for user in users.get(&result).into_iter().flatten().filter_map(|u| tree.ops.get(*u)) {
        let Some(form) = user.form.as_ref().filter(|f| f.operands.first() == Some(&result)) else { continue };
        let broken = match user.name.as_str() {
            "ttg.memdesc_subslice" => {
                let out = form.outs.first().and_then(|t| MemDesc::parse(t).ok().flatten());
                out.is_none_or(|d| d.dims.first() != Some(&leaf.count()))
            }
            "ttg.memdesc_trans" => {
                let order = form.attr("order").and_then(|o| o.split_once(':')).map_or("", |(_, t)| t);
                !order.trim_start().starts_with('0')
            }
            _ => false,
        };
        if broken {
            let message = format!(
                "{} cuts or moves dimension 0 of {}, whose buffers are in groups",
                user.name,
                leaf.shown()
            );
            errors.push(AliasError::new("A33", message).at(user.pos).help("index it first"));
        }
    }
    errors
}

/// Takes operations out and puts new ones in.
fn rebuild(tree: &mut Tree, gone: &HashSet<OpId>, before: &HashMap<OpId, Vec<OpId>>) {
    let block_of = |op: &OpId| tree.ops.get(*op).and_then(|o| o.block);
    let changed: HashSet<BlockId> = gone.iter().chain(before.keys()).filter_map(block_of).collect();
    let at_top = gone.iter().any(|op| block_of(op).is_none());
    for block in changed {
        let Some(block) = tree.blocks.get_mut(block) else { continue };
        let mut ops = Vec::with_capacity(block.ops.len());
        for op in &block.ops {
            ops.extend(before.get(op).into_iter().flatten().copied());
            if !gone.contains(op) {
                ops.push(*op);
            }
        }
        block.ops = ops;
    }
    if at_top {
        tree.top.retain(|o| !gone.contains(o));
    }
}

/// A38: nothing of the specs is left.
pub(crate) fn left_over(tree: &Tree) -> Result<(), Vec<AliasError>> {
    let left = [
        "tlx.storage_alias_spec",
        "tlx.shared_buffer_def",
        "tlx.storage_alias_local_alloc",
        "tlx.shared_buffer_local_alloc",
        "tlx.reuse_group",
        "tlx.set_buffer_overlap",
    ];
    for op in tree.walk() {
        if let Some(op) = tree.ops.get(op).filter(|o| left.contains(&o.name.as_str())) {
            let message = "storage_alias_spec still has uses after allocation materialization";
            return Err(vec![AliasError::new("A38", message).at(op.pos)]);
        }
    }
    Ok(())
}
