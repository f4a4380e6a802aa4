//! Pointers, descriptors, loads and stores.

use super::context::{Cx, is_int, is_ptr, same_shape};
use crate::attr::Attr;
use crate::types::{FloatKind, Signedness, Type};

/// The element behind a pointer or each pointer of a tile, in the same shape.
pub(super) fn pointee(ty: &Type) -> Option<Type> {
    match ty.elem() {
        Type::Ptr { pointee, .. } if !ty.is_desc() => Some(ty.with_elem((**pointee).clone())),
        _ => None,
    }
}

/// Elements of a descriptor as a tile holds them: without a sign of their own (C4).
fn signless(elem: &Type) -> Type {
    match elem {
        Type::Int(bits, _) => Type::Int(*bits, Signedness::Signless),
        other => other.clone(),
    }
}

/// Whether a tile holds a block of a descriptor: its elements, and its shape without leading extents 1.
pub(super) fn holds_block(tile: &Type, desc: &Type) -> bool {
    let (block, shape) = (desc.shape(), tile.shape());
    let Some(dropped) = block.len().checked_sub(shape.len()) else { return false };
    let (head, tail) = block.split_at(dropped);
    tile.is_tensor()
        && desc.is_desc()
        && *tile.elem() == signless(desc.elem())
        && tail == shape
        && head.iter().all(|d| *d == 1)
}

pub(super) fn int_to_ptr(cx: &mut Cx<'_>) {
    let (x, y) = (cx.operand(0), cx.result(0));
    let fits = *x.elem() == Type::I64 && is_ptr(y.elem()) && same_shape(x, y);
    cx.need(fits, || format!("`{x}` to `{y}`: from i64 to a pointer"));
}

pub(super) fn ptr_to_int(cx: &mut Cx<'_>) {
    let (x, y) = (cx.operand(0), cx.result(0));
    let fits = is_ptr(x.elem()) && *y.elem() == Type::I64 && same_shape(x, y);
    cx.need(fits, || format!("`{x}` to `{y}`: from a pointer to i64"));
}

pub(super) fn addptr(cx: &mut Cx<'_>) {
    let (pointer, offset) = (cx.operand(0), cx.operand(1));
    cx.need(is_ptr(pointer.elem()), || format!("`{pointer}` where a pointer is needed"));
    let fits = is_int(offset.elem()) && same_shape(pointer, offset);
    cx.need(fits, || format!("offset `{offset}`: integers in the shape of `{pointer}`"));
    cx.same_types("result", &[cx.result(0)], &[pointer]);
}

/// Operand 0 is a pointer; what it points to.
fn pointer(cx: &mut Cx<'_>) -> Option<Type> {
    let ty = cx.operand(0);
    let value = pointee(ty);
    cx.need(value.is_some(), || format!("`{ty}` where a pointer is needed"));
    value
}

fn mask(cx: &mut Cx<'_>, n: usize, value: &Type) {
    if cx.operands().len() > n {
        cx.same_types("mask", &[cx.operand(n)], &[&value.with_elem(Type::I1)]);
    }
}

pub(super) fn load(cx: &mut Cx<'_>) {
    let Some(value) = pointer(cx) else { return };
    mask(cx, 1, &value);
    if cx.operands().len() > 2 {
        cx.same_types("value of masked elements", &[cx.operand(2)], &[&value]);
    }
    cx.same_types("result", &[cx.result(0)], &[&value]);
    let segments = cx.prop("operandSegmentSizes");
    cx.need(segments.is_none(), || "a value for masked elements needs a mask".to_owned());
}

pub(super) fn store(cx: &mut Cx<'_>) {
    let Some(value) = pointer(cx) else { return };
    cx.same_types("value", &[cx.operand(1)], &[&value]);
    mask(cx, 2, &value);
}

pub(super) fn atomic_rmw(cx: &mut Cx<'_>) {
    let Some(value) = pointer(cx) else { return };
    cx.same_types("value and result", &[cx.operand(1), cx.result(0)], &[&value, &value]);
    mask(cx, 2, &value);
    let float = matches!(value.elem(), Type::Float(_));
    let op = cx.prop("atomic_rmw_op").and_then(Attr::as_str).unwrap_or("");
    let fits = match op {
        "fadd" => float,
        "exch" => true,
        // Triton writes the maximum of wider floats as that of their bits.
        "max" | "min" => !float || matches!(value.elem(), Type::Float(FloatKind::F16 | FloatKind::BF16)),
        _ => !float,
    };
    cx.need(fits, || format!("`{op}` of `{value}`"));
}

pub(super) fn atomic_cas(cx: &mut Cx<'_>) {
    let Some(value) = pointer(cx) else { return };
    let found = [cx.operand(1), cx.operand(2), cx.result(0)];
    cx.same_types("values and result", &found, &[&value, &value, &value]);
}

pub(super) fn atomic_load(cx: &mut Cx<'_>) {
    let Some(value) = pointer(cx) else { return };
    mask(cx, 1, &value);
    cx.same_types("result", &[cx.result(0)], &[&value]);
    order(cx, &["relaxed", "acquire"]);
}

pub(super) fn atomic_store(cx: &mut Cx<'_>) {
    store(cx);
    order(cx, &["relaxed", "release"]);
}

pub(super) fn atomic_poll(cx: &mut Cx<'_>) {
    let Some(value) = pointer(cx) else { return };
    cx.same_types("expected value", &[cx.operand(1)], &[&value]);
    cx.same_types("result", &[cx.result(0)], &[&value.with_elem(Type::I1)]);
    let known = matches!(value.elem(), Type::Int(16 | 32 | 64, _));
    cx.need(known, || format!("a poll of `{value}`: integers of 16, 32 or 64 bits"));
    if cx.operands().len() > 2 {
        cx.same_types("timeout", &[cx.operand(2)], &[&Type::I64]);
    }
    order(cx, &["relaxed", "acquire"]);
}

/// The memory orders that an operation which only reads, or only writes, can have.
fn order(cx: &mut Cx<'_>, known: &[&str]) {
    let sem = cx.prop("sem").and_then(Attr::as_str).unwrap_or("none");
    cx.need(known.contains(&sem), || format!("memory order `{sem}` where {} is needed", known.join(" or ")));
}

/// An `i1`, or a tile of them.
pub(super) fn truth(cx: &mut Cx<'_>) {
    let ty = cx.operand(0);
    cx.need(*ty.elem() == Type::I1 && !ty.is_desc(), || format!("`{ty}` where i1 is needed"));
}

pub(super) fn make_descriptor(cx: &mut Cx<'_>) {
    let (base, desc) = (cx.operand(0), cx.result(0));
    if !cx.need(desc.is_desc(), || format!("result `{desc}` where a descriptor is needed")) {
        return;
    }
    let fits = match base {
        Type::Ptr { pointee, .. } => signless(pointee) == signless(desc.elem()),
        _ => false,
    };
    cx.need(fits, || format!("base `{base}` of a descriptor of `{}`", desc.elem()));
    let rank = desc.shape().len();
    let (extent, stride) = (Type::I32, Type::I64);
    let wanted: Vec<&Type> =
        std::iter::repeat_n(&extent, rank).chain(std::iter::repeat_n(&stride, rank)).collect();
    cx.same_types("shape and strides", &cx.operand_types()[1..], &wanted);
}

/// Operand 0 is a descriptor, and operands from number `first` on are one `i32` for each of its dimensions.
fn indices(cx: &mut Cx<'_>, first: usize) -> bool {
    let desc = cx.operand(0);
    if !cx.need(desc.is_desc(), || format!("`{desc}` where a descriptor is needed")) {
        return false;
    }
    let index = Type::I32;
    let wanted = vec![&index; desc.shape().len()];
    cx.same_types("indices", cx.operand_types().get(first..).unwrap_or(&[]), &wanted);
    true
}

/// The tile that goes between a descriptor and the kernel.
fn block(cx: &mut Cx<'_>, tile: &Type) {
    let desc = cx.operand(0);
    cx.need(holds_block(tile, desc), || format!("tile `{tile}` for a block of `{desc}`"));
}

pub(super) fn descriptor_load(cx: &mut Cx<'_>) {
    if indices(cx, 1) {
        let tile = cx.result(0);
        block(cx, tile);
    }
}

pub(super) fn descriptor_store(cx: &mut Cx<'_>) {
    if indices(cx, 2) {
        let tile = cx.operand(1);
        block(cx, tile);
    }
}

/// Rows of a block picked by a list: one row of the descriptor, many of the tile.
fn rows(cx: &mut Cx<'_>, tile: &Type) {
    let (desc, list) = (cx.operand(0), cx.operand(1));
    if !cx.need(desc.is_desc(), || format!("`{desc}` where a descriptor is needed")) {
        return;
    }
    let one_row = matches!(desc.shape(), [1, _]);
    cx.need(one_row, || format!("`{desc}` must be a block of one row"));
    let picks = list.is_tensor() && is_int(list.elem()) && list.shape().len() == 1;
    cx.need(picks, || format!("rows `{list}`: integers of rank 1"));
    cx.same_types("column", &[cx.operand(2)], &[&Type::I32]);
    if one_row && picks {
        let fits =
            tile.shape() == [list.shape()[0], desc.shape()[1]] && *tile.elem() == signless(desc.elem());
        cx.need(fits, || format!("tile `{tile}` for rows `{list}` of `{desc}`"));
    }
}

pub(super) fn descriptor_gather(cx: &mut Cx<'_>) {
    let tile = cx.result(0);
    rows(cx, tile);
}

pub(super) fn descriptor_scatter(cx: &mut Cx<'_>) {
    let tile = cx.operand(3);
    rows(cx, tile);
}
