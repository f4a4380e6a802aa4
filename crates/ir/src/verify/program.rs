//! Operations of the program form (C35): declarations, partitions, rings.

use super::context::Cx;
use super::memory::{holds_block, pointee};
use crate::attr::Attr;
use crate::entity::OpId;
use crate::opcode::Opcode;
use crate::types::Type;

impl<'a> Cx<'a> {
    /// The function around this operation.
    fn function(&self) -> Option<OpId> {
        let mut at = self.m.parent(self.op);
        while let Some(op) = at.filter(|op| self.m.ops[*op].opcode != Opcode::Func) {
            at = self.m.parent(op);
        }
        at
    }

    /// An integer property within these limits.
    fn int_in(&mut self, name: &str, low: i64, high: i64) -> Option<i64> {
        let value = self.int(name)?;
        let fits = (low..=high).contains(&value);
        self.need(fits, || format!("attribute `{name}` is {value}, {low} to {high} needed"));
        Some(value)
    }

    /// The declaration that a symbol property names.
    fn declared(&mut self, property: &str, kind: Opcode) -> Option<OpId> {
        let name = self.prop(property).and_then(Attr::as_symbol)?;
        let found = self.symbols.rings.get(&(self.function(), kind, name)).copied();
        let what = kind.name().unwrap_or("?");
        self.need(found.is_some(), || format!("there is no {what} @{name}"));
        found
    }

    /// The tile of the payload that the operation names.
    fn payload(&mut self, ring: OpId) -> Option<&'a Type> {
        let number = self.int("payload")?;
        let tiles = self.m.ops[ring].props.get("tile").and_then(Attr::as_array).unwrap_or(&[]);
        let tile = usize::try_from(number).ok().and_then(|n| tiles.get(n));
        self.need(tile.is_some(), || format!("payload {number} of a pipeline with {}", tiles.len()));
        match tile {
            Some(Attr::Type(ty)) => Some(ty),
            _ => None,
        }
    }

    /// Operands that are numbers of slots and phases.
    fn slots(&mut self, numbers: &[usize]) {
        for n in numbers {
            let ty = self.operand(*n);
            self.need(*ty == Type::I32, || format!("slot or phase of type `{ty}`, i32 needed"));
        }
    }
}

pub(super) fn inside_partition(cx: &mut Cx<'_>) {
    let mut at = cx.m.parent(cx.op);
    while let Some(op) = at.filter(|op| cx.m.ops[*op].opcode != Opcode::Partition) {
        at = cx.m.parent(op);
    }
    cx.need(at.is_some(), || "must stand in a warploom.partition".to_owned());
}

pub(super) fn alloc(cx: &mut Cx<'_>) {
    cx.parent_is(&[Opcode::Func]);
    cx.int_in("value", 0, i64::MAX);
}

pub(super) fn pipeline(cx: &mut Cx<'_>) {
    cx.parent_is(&[Opcode::Func]);
    cx.int_in("depth", 1, i64::from(i32::MAX));
    let handshake = matches!(cx.prop("handshake"), Some(Attr::String(_)));
    cx.need(handshake, || "attribute `handshake` must be a string".to_owned());
    for name in ["full", "empty"] {
        cx.int_in(name, -1, i64::from(i32::MAX));
    }
    for name in ["bytes", "arrive_full", "arrive_empty"] {
        cx.int_in(name, 0, i64::from(i32::MAX));
    }
    let list = |name: &str| cx.prop(name).and_then(Attr::as_array).map(<[Attr]>::len);
    let Some(payloads) = list("payload") else {
        return cx.fail("attribute `payload` must be an array of strings");
    };
    let tiles = cx.prop("tile").and_then(Attr::as_array).unwrap_or(&[]);
    let types = tiles.iter().all(|t| matches!(t, Attr::Type(ty) if ty.is_tensor()));
    cx.need(types && tiles.len() == payloads, || {
        format!("attribute `tile` must be an array of {payloads} tile types")
    });
    let fields: &[&str] = match cx.prop("space").map(Attr::as_str) {
        None => &["swizzle", "offset", "stride"],
        Some(Some("tmem")) => &["column", "columns"],
        Some(_) => return cx.fail("attribute `space` must be \"tmem\" or absent"),
    };
    for &name in fields {
        let fits = match cx.prop(name) {
            Some(Attr::DenseArray { values, .. }) => {
                let legal = |v: &i64| name != "swizzle" || matches!(v, 0 | 32 | 64 | 128);
                values.len() == payloads && values.iter().all(|v| *v >= 0 && legal(v))
            }
            _ => false,
        };
        cx.need(fits, || {
            let wanted = match name {
                "swizzle" => "of 0, 32, 64 or 128",
                "offset" | "stride" => "of bytes",
                _ => "of columns",
            };
            format!("attribute `{name}` must be an array {wanted}, {payloads} long")
        });
    }
}

pub(super) fn named_barrier(cx: &mut Cx<'_>) {
    cx.parent_is(&[Opcode::Func]);
    cx.int_in("id", 0, 15);
    let threads = cx.int_in("threads", 32, 1024);
    cx.need(threads.is_none_or(|n| n % 32 == 0), || {
        "attribute `threads` must be a multiple of 32".to_owned()
    });
}

pub(super) fn turns(cx: &mut Cx<'_>) {
    cx.parent_is(&[Opcode::Func]);
    cx.int_in("id", 0, 15);
    cx.int_in("replicas", 2, 15);
}

pub(super) fn partition(cx: &mut Cx<'_>) {
    cx.parent_is(&[Opcode::Func]);
    cx.int_in("warp", 0, 31);
    cx.int_in("warps", 1, 32);
    let registers = cx.int_in("registers", 24, 256);
    cx.need(registers.is_none_or(|n| n % 8 == 0), || {
        "attribute `registers` must be a multiple of 8".to_owned()
    });
    let layout = cx.prop("layout");
    let known = layout.is_none_or(|l| l.as_str().is_some());
    cx.need(known, || "attribute `layout` must be a string".to_owned());
    let tiling = match cx.prop("tiling") {
        None => true,
        Some(Attr::DenseArray { values, .. }) => values.iter().all(|v| *v > 0),
        Some(_) => false,
    };
    cx.need(tiling, || "attribute `tiling` must be an array of positive numbers".to_owned());
    let scratch = match cx.prop("scratch") {
        None => true,
        Some(Attr::DenseArray { values, .. }) => values.len() == 2 && values.iter().all(|v| *v >= 0),
        Some(_) => false,
    };
    cx.need(scratch, || "attribute `scratch` must be an offset and a number of bytes".to_owned());
    if cx.prop("barrier").is_some() {
        cx.declared("barrier", Opcode::NamedBarrier);
    }
    if let Some(block) = cx.block(0) {
        cx.same_types("arguments of a partition", &cx.arg_types(block), &[]);
    }
}

pub(super) fn elect(cx: &mut Cx<'_>) {
    inside_partition(cx);
    if let Some(block) = cx.block(0) {
        cx.same_types("arguments of the region", &cx.arg_types(block), &[]);
    }
}

/// Acquire, commit, wait, release, advance.
pub(super) fn ring(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.declared("pipeline", Opcode::Pipeline);
    cx.slots(&[0, 1]);
    match cx.m.ops[cx.op].opcode {
        Opcode::ProducerCommit => {
            cx.int_in("bytes", 0, i64::from(i32::MAX));
        }
        Opcode::ConsumerRelease => {
            cx.int_in("lag", 0, i64::from(i32::MAX));
        }
        Opcode::Advance => {
            cx.same_types("results", &cx.result_types(), &[&Type::I32, &Type::I32]);
            if let Some(by) = cx.operand_types().get(2).copied().cloned() {
                cx.need(by == Type::I32, || format!("`{by}` slots further; a number of them is an `i32`"));
            }
        }
        _ => {}
    }
}

pub(super) fn tma(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.slots(&[0]);
    let desc = cx.operand(1);
    if !cx.need(desc.is_desc(), || format!("`{desc}` where a descriptor is needed")) {
        return;
    }
    let index = Type::I32;
    let wanted = vec![&index; desc.shape().len()];
    cx.same_types("indices", &cx.operand_types()[2..], &wanted);
    if let Some(ring) = cx.declared("pipeline", Opcode::Pipeline)
        && let Some(tile) = cx.payload(ring)
    {
        cx.need(holds_block(tile, desc), || format!("a slot of `{tile}` for a block of `{desc}`"));
    }
}

pub(super) fn slot(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.slots(&[0]);
    let Some(ring) = cx.declared("pipeline", Opcode::Pipeline) else { return };
    if let Some(tile) = cx.payload(ring) {
        cx.same_types("result", &[cx.result(0)], &[tile]);
    }
    if cx.operands().len() > 1 {
        let written = cx.operand(1);
        let fits = *written == Type::I1 && in_tensor_memory(cx, ring);
        cx.need(fits, || format!("`{written}` beside the slot; an i1 for a slot of tensor memory"));
    }
}

/// Whether the slots of a pipeline lie in tensor memory.
fn in_tensor_memory(cx: &Cx<'_>, ring: OpId) -> bool {
    cx.m.ops[ring].props.get("space").and_then(Attr::as_str) == Some("tmem")
}

/// A product of two views into a slot of tensor memory.
pub(super) fn mma(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.slots(&[0]);
    let (a, b, keep) = (cx.operand(1), cx.operand(2), cx.operand(3));
    cx.need(*keep == Type::I1, || format!("`{keep}` where an i1 is needed: whether to add to the slot"));
    let Some(ring) = cx.declared("pipeline", Opcode::Pipeline) else { return };
    let inside = in_tensor_memory(cx, ring);
    cx.need(inside, || "a product goes to a slot of tensor memory".to_owned());
    if let Some(sum) = cx.payload(ring) {
        let fits = match (a.shape(), b.shape(), sum.shape()) {
            ([m, k], [k_b, n], [m_c, n_c]) => (m, k, n) == (m_c, k_b, n_c),
            _ => false,
        };
        cx.need(fits, || format!("`{a}` * `{b}` into `{sum}`: shapes must be [M, K] * [K, N], [M, N]"));
        if cx.operands().len() > 4 {
            let elements = super::products::block_scaled(cx, [a, b], sum, [4, 5]);
            let tiles = cx.m.ops[ring].props.get("tile").and_then(Attr::as_array).unwrap_or(&[]);
            let given = [cx.operand(4), cx.operand(5)];
            let places = given.iter().zip(tiles.iter().skip(1));
            let fits = places.clone().count() == 2
                && places.into_iter().all(|(s, t)| Attr::Type((*s).clone()) == *t);
            cx.need(fits || !elements, || "the slot has no place for these scales".to_owned());
        }
    }
}

pub(super) fn tile_store(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.slots(&[1]);
    if let Some(ring) = cx.declared("pipeline", Opcode::Pipeline)
        && let Some(tile) = cx.payload(ring)
    {
        cx.same_types("tile", &[cx.operand(0)], &[tile]);
    }
}

pub(super) fn mma_wait(cx: &mut Cx<'_>) {
    // A scheduled kernel has its wait already, before there are partitions.
    cx.int_in("pending", 0, i64::from(i32::MAX));
    cx.same_types("results", &cx.result_types(), &cx.operand_types());
}

pub(super) fn store_wait(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.int_in("pending", 0, i64::from(i32::MAX));
    let fits = matches!(cx.prop("read"), None | Some(Attr::Bool(_) | Attr::Unit));
    cx.need(fits, || "attribute `read` must be true or false".to_owned());
}

pub(super) fn barrier_sync(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.declared("barrier", Opcode::NamedBarrier);
}

/// Taking or passing a turn; `only` names the one replica that does.
pub(super) fn turn(cx: &mut Cx<'_>) {
    inside_partition(cx);
    if let Some(turns) = cx.declared("turns", Opcode::Turns)
        && cx.prop("only").is_some()
    {
        let replicas = cx.m.attr(turns, "replicas").and_then(Attr::as_i64).unwrap_or(2);
        cx.int_in("only", 0, replicas - 1);
    }
}

/// A copy through pointers: the tile of the payload behind each pointer, a mask and a value for masked elements of
/// the same shape.
pub(super) fn async_copy(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.slots(&[0]);
    let pointers = cx.operand(1);
    let Some(tile) = pointee(pointers) else {
        return cx.fail(format!("`{pointers}` where a tile of pointers is needed"));
    };
    if cx.operands().len() > 2 {
        let wanted = tile.with_elem(Type::I1);
        cx.same_types("mask", &[cx.operand(2)], &[&wanted]);
    }
    if cx.operands().len() > 3 {
        cx.same_types("value of masked elements", &[cx.operand(3)], &[&tile]);
    }
    if let Some(ring) = cx.declared("pipeline", Opcode::Pipeline)
        && let Some(slot) = cx.payload(ring)
    {
        cx.same_types("copied tile", &[&tile], &[slot]);
    }
}

pub(super) fn async_wait(cx: &mut Cx<'_>) {
    inside_partition(cx);
    cx.int_in("pending", 0, i64::from(i32::MAX));
}

pub(super) fn nothing(_: &mut Cx<'_>) {}
