//! Operations that change shapes, and those that combine elements along a dimension.

use super::context::{Cx, is_int};
use crate::attr::Attr;
use crate::entity::{OpId, ValueId};
use crate::opcode::Opcode;
use crate::types::{Shape, Type};

impl Cx<'_> {
    /// Operand and result are tiles of the same elements.
    fn tiles(&mut self) -> bool {
        let (x, y) = (self.operand(0), self.result(0));
        self.need(x.is_tensor() && y.is_tensor() && x.elem() == y.elem(), || {
            format!("`{x}` to `{y}`: both must be tiles of the same elements")
        })
    }

    /// The result must be a tile of this shape.
    fn result_shape(&mut self, n: usize, wanted: &[u64]) {
        let ty = self.result(n);
        let fits = ty.is_tensor() && ty.shape() == wanted;
        self.need(fits, || format!("result `{ty}` where the shape {wanted:?} is needed"));
    }
}

pub(super) fn make_range(cx: &mut Cx<'_>) {
    let (Some(start), Some(end)) = (cx.i32("start"), cx.i32("end")) else { return };
    let ty = cx.result(0);
    let extent = end.checked_sub(start).and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
    let Some(extent) = extent else {
        return cx.fail(format!("the range {start} .. {end} is empty"));
    };
    cx.need(*ty.elem() == Type::I32, || format!("result `{ty}` where a tile of i32 is needed"));
    cx.result_shape(0, &[extent]);
}

pub(super) fn splat(cx: &mut Cx<'_>) {
    let (x, y) = (cx.operand(0), cx.result(0));
    let fits = y.is_tensor() && !x.is_tensor() && !x.is_desc() && y.elem() == x;
    cx.need(fits, || format!("`{x}` to `{y}`: from a scalar to a tile of it"));
}

pub(super) fn unsplat(cx: &mut Cx<'_>) {
    let (x, y) = (cx.operand(0), cx.result(0));
    let fits = x.is_tensor() && x.elements() == Some(1) && x.elem() == y;
    cx.need(fits, || format!("`{x}` to `{y}`: from a tile of one element to that element"));
}

pub(super) fn broadcast(cx: &mut Cx<'_>) {
    if !cx.tiles() {
        return;
    }
    let (x, y) = (cx.operand(0), cx.result(0));
    let fits = x.shape().len() == y.shape().len()
        && x.shape().iter().zip(y.shape()).all(|(from, to)| from == to || *from == 1);
    cx.need(fits, || format!("`{x}` to `{y}`: only extents 1 may grow"));
}

pub(super) fn expand_dims(cx: &mut Cx<'_>) {
    if !cx.tiles() {
        return;
    }
    let mut shape = Shape::from_slice(cx.operand(0).shape());
    if let Some(axis) = cx.axis(shape.len() + 1) {
        shape.insert(axis, 1);
        cx.result_shape(0, &shape);
    }
}

pub(super) fn reshape(cx: &mut Cx<'_>) {
    if cx.tiles() {
        let (x, y) = (cx.operand(0), cx.result(0));
        cx.need(x.elements() == y.elements(), || format!("`{x}` to `{y}` changes the number of elements"));
    }
}

pub(super) fn trans(cx: &mut Cx<'_>) {
    if !cx.tiles() {
        return;
    }
    let Some(Attr::DenseArray { values, elem: Type::Int(32, _) }) = cx.prop("order") else {
        return cx.fail("attribute `order` must be an array of i32");
    };
    let shape = cx.operand(0).shape();
    let mut sorted = values.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq((0..).take(shape.len())) {
        return cx.fail(format!("order {values:?} is no permutation of {} dimensions", shape.len()));
    }
    let wanted: Shape =
        values.iter().filter_map(|n| usize::try_from(*n).ok().and_then(|n| shape.get(n)).copied()).collect();
    cx.result_shape(0, &wanted);
}

/// Two tiles of one type.
fn equal_tiles(cx: &mut Cx<'_>) -> bool {
    let (x, y) = (cx.operand(0), cx.operand(1));
    cx.need(x == y, || format!("operands `{x}` and `{y}`: they must be equal")) && cx.tiles()
}

pub(super) fn cat(cx: &mut Cx<'_>) {
    if equal_tiles(cx) {
        let (x, y) = (cx.operand(0), cx.result(0));
        let fits = x.elements().and_then(|n| n.checked_mul(2)) == y.elements();
        cx.need(fits, || format!("result `{y}` must hold twice as many elements as `{x}`"));
    }
}

pub(super) fn join(cx: &mut Cx<'_>) {
    if equal_tiles(cx) {
        let mut shape = Shape::from_slice(cx.operand(0).shape());
        shape.push(2);
        cx.result_shape(0, &shape);
    }
}

pub(super) fn split(cx: &mut Cx<'_>) {
    let (x, left, right) = (cx.operand(0), cx.result(0), cx.result(1));
    let fits = match x.shape() {
        [2] => left == x.elem(),
        [outer @ .., 2] => left.is_tensor() && left.shape() == outer && left.elem() == x.elem(),
        _ => false,
    };
    cx.need(fits && left == right, || {
        format!("`{x}` to `{left}` and `{right}`: a last extent of 2 is split into equal halves")
    });
}

pub(super) fn gather(cx: &mut Cx<'_>) {
    let (x, indices, y) = (cx.operand(0), cx.operand(1), cx.result(0));
    let tiles = x.is_tensor() && indices.is_tensor() && is_int(indices.elem()) && y.elem() == x.elem();
    if !cx.need(tiles, || format!("`{x}` with indices `{indices}` to `{y}`: tiles, integers as indices")) {
        return;
    }
    let rank = x.shape().len();
    cx.need(indices.shape().len() == rank, || format!("indices `{indices}` need rank {rank}"));
    cx.axis(rank);
    let shape = Shape::from_slice(indices.shape());
    cx.result_shape(0, &shape);
}

pub(super) fn histogram(cx: &mut Cx<'_>) {
    let (x, y) = (cx.operand(0), cx.result(0));
    let fits = |t: &Type| t.is_tensor() && is_int(t.elem()) && t.shape().len() == 1;
    cx.need(fits(x) && fits(y), || format!("`{x}` to `{y}`: both must be integers of rank 1"));
    if let Some(mask) = cx.operand_types().get(1) {
        let fits = *mask.elem() == Type::I1 && mask.shape() == x.shape();
        cx.need(fits, || format!("mask `{mask}` of `{x}`: an i1 for each number is needed"));
    }
}

/// What reduce and scan share: tiles of one shape, an axis, and a body on pairs of elements.
fn combine(cx: &mut Cx<'_>, end: Opcode) -> Option<usize> {
    let types = cx.operand_types();
    let shape = types.first()?.shape();
    let tiles = types.iter().all(|t| t.is_tensor() && t.shape() == shape);
    if !cx.need(tiles, || "operands must be tiles of one shape".to_owned()) {
        return None;
    }
    let axis = cx.axis(shape.len());
    let block = cx.block(0)?;
    let elems: Vec<&Type> = types.iter().chain(&types).map(|t| t.elem()).collect();
    cx.same_types("arguments of the body", &cx.arg_types(block), &elems);
    cx.ends_in(block, end);
    axis
}

pub(super) fn reduce(cx: &mut Cx<'_>) {
    let Some(axis) = combine(cx, Opcode::ReduceReturn) else { return };
    let wanted: Vec<Type> = cx
        .operand_types()
        .iter()
        .map(|ty| {
            let mut shape = Shape::from_slice(ty.shape());
            shape.remove(axis);
            match shape.is_empty() {
                true => ty.elem().clone(),
                false => Type::tensor(&shape, ty.elem().clone()),
            }
        })
        .collect();
    cx.same_types("results", &cx.result_types(), &wanted.iter().collect::<Vec<_>>());
}

pub(super) fn scan(cx: &mut Cx<'_>) {
    combine(cx, Opcode::ScanReturn);
    cx.same_types("results", &cx.result_types(), &cx.operand_types());
    cx.truth("reverse");
}

pub(super) fn combined(cx: &mut Cx<'_>) {
    let wanted = match cx.m.ops[cx.op].opcode {
        Opcode::ScanReturn => Opcode::Scan,
        _ => Opcode::Reduce,
    };
    if !cx.parent_is(&[wanted]) {
        return;
    }
    let Some(parent) = cx.m.parent(cx.op) else { return };
    let elems: Vec<&Type> = cx.m.ops[parent].operands.iter().map(|v| cx.m.ty(*v).elem()).collect();
    cx.same_types("values returned", &cx.operand_types(), &elems);
}

/// How many elements of each operand the body of a `tt.map_elementwise` takes at once.
fn pack(cx: &Cx<'_>, op: OpId) -> usize {
    cx.m.attr(op, "pack").and_then(Attr::as_i64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

/// The element types of some tiles, each as often as the body takes elements of it.
fn packed<'a>(cx: &Cx<'a>, op: OpId, tiles: &'a [ValueId]) -> Vec<&'a Type> {
    let pack = pack(cx, op);
    tiles.iter().flat_map(|v| std::iter::repeat_n(cx.m.ty(*v).elem(), pack)).collect()
}

pub(super) fn map_elementwise(cx: &mut Cx<'_>) {
    let shape = cx.operand(0).shape();
    let (operands, results) = (cx.operand_types(), cx.result_types());
    let alike = operands.iter().chain(&results).all(|ty| ty.is_tensor() && ty.shape() == shape);
    let elements = cx.operand(0).elements().unwrap_or(0);
    let divides = cx.i32("pack").is_some_and(|n| n > 0 && elements.is_multiple_of(n as u64) && n <= 1024);
    if !cx.need(alike, || "operands and results must be tiles of one shape".to_owned())
        || !cx.need(divides, || format!("attribute `pack` must divide {elements} elements"))
    {
        return;
    }
    let data = &cx.m.ops[cx.op];
    let blocks = data.regions.first().map_or(&[][..], |r| &cx.m.regions[*r].blocks);
    let Some(&entry) = blocks.first() else { return cx.fail("the body is missing") };
    let wanted = packed(cx, cx.op, &data.operands);
    cx.same_types("arguments of the body", &cx.arg_types(entry), &wanted);
    cx.blocks_end_in(blocks, Opcode::MapElementwiseReturn);
}

pub(super) fn mapped(cx: &mut Cx<'_>) {
    if !cx.parent_is(&[Opcode::MapElementwise]) {
        return;
    }
    let Some(parent) = cx.m.parent(cx.op) else { return };
    let wanted = packed(cx, parent, &cx.m.ops[parent].results);
    cx.same_types("values returned", &cx.operand_types(), &wanted);
}
