//! Materialisation: one backing per spec, a view per leaf (A32), or expanded aliases (A35).

use hashbrown::{HashMap, HashSet};
use warploom_ir::{Attr, AttrDict, BlockId, OpId, Type, ValueId};

use super::dialect::SPECS;
use super::part::TextPart;
use super::read::{Kernel, users};
use super::slots::Rewriter;
use super::types::MemDesc;
use crate::error::{AliasError, AliasErrors};
use crate::layout::{AliasLayout, AliasOptions, LeafLayout, StorageLayout};
use crate::model::LeafId;
use crate::types::Storage;

/// The encoding of a byte backing (A32).
const BYTES: &str = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>";

/// Puts sizes on the specs and leaves the rest (`--stop-after sizes`, A38).
pub(super) fn sizes(part: &mut TextPart, kernel: &Kernel, layout: &AliasLayout) {
    for (spec, op) in &kernel.specs {
        let Some(storage) = layout.storage(*spec) else { continue };
        let (bytes, shape) = match storage.space {
            Storage::Tmem => (
                storage.size.saturating_mul(4 * u64::from(storage.rows)),
                vec![i64::from(storage.rows), signed(storage.size)],
            ),
            _ => (storage.size, vec![signed(storage.size)]),
        };
        let own = kernel.module.spec(*spec).size_bytes();
        let op = &mut part.module.ops[*op];
        // A text that has been here before gives it among the attributes.
        op.attrs.remove("buffer_shape");
        op.props.set("size", Attr::i64(signed(own.unwrap_or(bytes))));
        op.props.set("buffer_shape", Attr::DenseArray { elem: Type::I64, values: shape });
    }
}

/// Sizes that a layout has fit 64 bits with a sign.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Replaces specs, leaves, groups and overlap definitions.
///
/// # Errors
/// A33 and A35 for uses that cannot follow.
pub(super) fn lower(
    part: &mut TextPart,
    kernel: &Kernel,
    layout: &AliasLayout,
    options: &AliasOptions,
) -> Result<(), AliasErrors> {
    let places: HashMap<LeafId, (&StorageLayout, &LeafLayout)> =
        layout.storages.iter().flat_map(|s| s.leaves.iter().map(move |l| (l.leaf, (s, l)))).collect();
    let users = users(part, &kernel.ops);
    let mut gone: HashSet<OpId> = kernel.trees.iter().copied().collect();
    let mut before: HashMap<OpId, Vec<OpId>> = HashMap::new();
    let mut backing: HashMap<crate::SpecId, ValueId> = HashMap::new();
    for (spec, op) in &kernel.specs {
        let Some(storage) = layout.storage(*spec) else {
            gone.insert(*op);
            continue;
        };
        let form = backing_form(part, storage, options);
        // The owner of a legacy spec stays and becomes a view.
        let value = match SPECS.contains(&part.name(*op)) {
            true => replace(part, *op, form),
            false => {
                let (id, value) = new_op(part, *op, form);
                before.entry(*op).or_default().push(id);
                Some(value)
            }
        };
        backing.extend(value.map(|value| (*spec, value)));
    }
    let mut errors = Vec::new();
    let mut aliases = Vec::new();
    for (leaf, op) in &kernel.leaves {
        let Some((storage, place)) = places.get(leaf) else { continue };
        let Some(base) = backing.get(&storage.spec).copied() else { continue };
        let ty = part.result(*op).map_or(Type::None, |v| part.module.ty(v).clone());
        if options.slots() {
            let attrs = part.module.ops[*op].props.clone();
            replace(part, *op, Form { name: "tlx.local_alias", operand: Some(base), attrs, ty });
            aliases.push((*op, *place));
            continue;
        }
        if !place.map.radices.is_empty() {
            errors.extend(whole(part, &users, *op, kernel.module.leaf(*leaf)));
        }
        let attrs = view(place);
        replace(part, *op, Form { name: "warploom.view", operand: Some(base), attrs, ty });
        let kept = std::mem::take(&mut part.module.ops[*op].attrs).into_entries();
        part.module.ops[*op].attrs =
            kept.filter(|(n, _)| n.starts_with("warploom.") || n == "tt.name").collect();
    }
    rebuild(part, &gone, &HashMap::new());
    if options.slots() {
        let mut rewriter = Rewriter::new(part, &kernel.ops, &gone, before);
        for (op, place) in aliases {
            if let Err(error) = rewriter.expand(op, place) {
                errors.push(error);
            }
        }
        before = rewriter.finish();
    }
    if !errors.is_empty() {
        return Err(AliasErrors(errors));
    }
    rebuild(part, &HashSet::new(), &before);
    Ok(())
}

/// Base, strides and radices of a view.
fn view(place: &LeafLayout) -> AttrDict {
    let list = |numbers: &[u64]| Attr::Array(numbers.iter().map(|n| Attr::i64(signed(*n))).collect());
    let mut attrs = AttrDict::new();
    attrs.set("base", Attr::i64(signed(place.map.base)));
    attrs.set("strides", list(&place.map.strides));
    if !place.map.radices.is_empty() {
        attrs.set("radices", list(&place.map.radices));
    }
    attrs
}

/// An operation that stands for another, with one result.
struct Form {
    name: &'static str,
    operand: Option<ValueId>,
    attrs: AttrDict,
    ty: Type,
}

/// The allocation that holds a storage.
fn backing_form(part: &mut TextPart, s: &StorageLayout, options: &AliasOptions) -> Form {
    let mut attrs = AttrDict::new();
    if s.space == Storage::Tmem {
        let body =
            format!("#ttng.tensor_memory_encoding<blockM = {}, blockN = {}, colStride = 1>", s.rows, s.size);
        let encoding = alias_for(part, "tmem", &body);
        let space = space_alias(part, "#ttng.tensor_memory");
        let ty = format!("!ttg.memdesc<{}x{}xi32, {encoding}, {space}, mutable>", s.rows, s.size);
        return Form { name: "ttng.tmem_alloc", operand: None, attrs, ty: Type::Opaque(ty) };
    }
    let encoding = alias_for(part, "shared", BYTES);
    let space = space_alias(part, "#ttg.shared_memory");
    if !options.compat {
        attrs.set("alignment", Attr::i32(i32::try_from(s.align).unwrap_or(i32::MAX)));
    }
    let ty = format!("!ttg.memdesc<{}xi8, {encoding}, {space}, mutable>", s.size);
    Form { name: "ttg.local_alloc", operand: None, attrs, ty: Type::Opaque(ty) }
}

fn is(attr: &Attr, body: &str) -> bool {
    matches!(attr, Attr::Opaque(text) if text == body)
}

/// The alias of this attribute, a new one behind its kin if there is none (A20).
fn alias_for(part: &mut TextPart, base: &str, body: &str) -> String {
    let aliases = &mut part.module.attr_aliases;
    if let Some((name, _)) = aliases.iter().find(|(_, b)| is(b, body)) {
        return format!("#{name}");
    }
    let mut name = base.to_owned();
    let mut n = 0;
    while aliases.iter().any(|(other, _)| *other == name) {
        n += 1;
        name = format!("{base}{n}");
    }
    let kin = |s: &str| s.strip_prefix(base).is_some_and(|t| t.bytes().all(|b| b.is_ascii_digit()));
    let at = aliases.iter().rposition(|(other, _)| kin(other)).map_or(0, |n| n + 1);
    aliases.insert(at, (name.clone(), Attr::Opaque(body.to_owned())));
    format!("#{name}")
}

fn space_alias(part: &TextPart, body: &str) -> String {
    let found = part.module.attr_aliases.iter().find(|(_, b)| is(b, body));
    found.map_or_else(|| body.to_owned(), |(name, _)| format!("#{name}"))
}

/// Makes an operation another one, with the same result and the same hints.
fn replace(part: &mut TextPart, op: OpId, form: Form) -> Option<ValueId> {
    let opcode = part.opcode(form.name);
    let data = &mut part.module.ops[op];
    data.opcode = opcode;
    data.operands = form.operand.into_iter().collect();
    data.props = form.attrs;
    if form.operand.is_none() {
        data.attrs = AttrDict::new();
    }
    let value = part.result(op)?;
    part.module.values[value].ty = form.ty;
    Some(value)
}

/// A new operation with one result, to stand beside another.
fn new_op(part: &mut TextPart, beside: OpId, form: Form) -> (OpId, ValueId) {
    let opcode = part.opcode(form.name);
    let m = &mut part.module;
    let (loc, operands) = (m.ops[beside].loc, form.operand);
    let op = m.create_op(opcode, operands.as_slice(), &[], loc);
    m.ops[op].props = form.attrs;
    (op, m.add_result(op, form.ty))
}

/// A33: dimension 0 of a view with radices is not cut and not moved.
fn whole(
    part: &TextPart,
    users: &HashMap<ValueId, Vec<OpId>>,
    op: OpId,
    leaf: &crate::Leaf,
) -> Vec<AliasError> {
    let Some(result) = part.result(op) else { return Vec::new() };
    let mut errors = Vec::new();
    for user in users.get(&result).into_iter().flatten().copied() {
        if part.operand(user, 0) != Some(result) {
            continue;
        }
        let broken = match part.name(user) {
            "ttg.memdesc_subslice" => {
                let out = part.result(user).and_then(|v| MemDesc::of(part.module.ty(v)));
                out.is_none_or(|d| d.dims.first() != Some(&leaf.count()))
            }
            "ttg.memdesc_trans" => match part.module.attr(user, "order") {
                Some(Attr::DenseArray { values, .. }) => values.first() != Some(&0),
                _ => true,
            },
            _ => false,
        };
        if broken {
            let message = format!(
                "{} cuts or moves dimension 0 of {}, whose buffers are in groups",
                part.name(user),
                leaf.shown()
            );
            errors.push(AliasError::new("A33", message).at(part.pos(user)).help("index it first"));
        }
    }
    errors
}

/// Takes operations out and puts new ones in.
fn rebuild(part: &mut TextPart, gone: &HashSet<OpId>, before: &HashMap<OpId, Vec<OpId>>) {
    let m = &mut part.module;
    let changed: HashSet<BlockId> =
        gone.iter().chain(before.keys()).filter_map(|op| m.ops[*op].block).collect();
    for block in changed {
        let old = std::mem::take(&mut m.blocks[block].ops);
        let mut ops = Vec::with_capacity(old.len());
        for op in old {
            for new in before.get(&op).into_iter().flatten() {
                m.ops[*new].block = Some(block);
                ops.push(*new);
            }
            match gone.contains(&op) {
                true => m.ops[op].block = None,
                false => ops.push(op),
            }
        }
        m.blocks[block].ops = ops;
    }
}

/// A38: nothing of the specs is left.
pub(super) fn left_over(part: &TextPart) -> Result<(), AliasErrors> {
    match part.walk().into_iter().find(|op| SPECS.contains(&part.name(*op))) {
        Some(op) => {
            let message = "storage_alias_spec still has uses after allocation materialization";
            Err(AliasError::new("A38", message).at(part.pos(op)).into())
        }
        None => Ok(()),
    }
}
