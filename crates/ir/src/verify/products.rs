//! Matrix products.

use super::context::{Cx, is_float};
use crate::attr::Attr;
use crate::block_scaled::BlockFormat;
use crate::types::Type;

/// `[.., M, K] x [.., K, N] -> [.., M, N]` with equal leading extents, rank 2 or 3.
fn extents(a: &[u64], b: &[u64], c: &[u64]) -> bool {
    match (a, b, c) {
        ([outer @ .., m, k], [outer_b @ .., k_b, n], [outer_c @ .., m_c, n_c]) => {
            outer.len() <= 1 && outer == outer_b && outer == outer_c && k == k_b && m == m_c && n == n_c
        }
        _ => false,
    }
}

pub(super) fn dot(cx: &mut Cx<'_>) {
    let (a, b, c) = (cx.operand(0), cx.operand(1), cx.operand(2));
    cx.same_types("result", &[cx.result(0)], &[c]);
    let tiles = a.is_tensor() && b.is_tensor() && c.is_tensor();
    cx.need(tiles && extents(a.shape(), b.shape(), c.shape()), || {
        format!("`{a}` * `{b}` + `{c}`: shapes must be [M, K] * [K, N] + [M, N]")
    });
    let fits = match (a.elem(), b.elem(), c.elem()) {
        (Type::Int(p, _), Type::Int(q, _), Type::Int(32, _)) => p == q,
        (Type::Float(p), Type::Float(q), Type::Float(_)) => p.bits() == q.bits(),
        _ => false,
    };
    cx.need(fits, || {
        format!(
            "`{}` * `{}` + `{}`: inputs of one width, floats into a float or integers into i32",
            a.elem(),
            b.elem(),
            c.elem()
        )
    });
    if cx.prop("maxNumImpreciseAcc").is_some() {
        let limit = cx.i32("maxNumImpreciseAcc");
        cx.need(limit.is_none_or(|n| n >= 0), || "attribute `maxNumImpreciseAcc` is negative".to_owned());
    }
}

/// Packed elements of a format in one element of the tile: two of `e2m1` in an `i8`.
fn packed(format: Option<&Attr>) -> u64 {
    if format.and_then(Attr::as_str) == Some("e2m1") { 2 } else { 1 }
}

pub(super) fn dot_scaled(cx: &mut Cx<'_>) {
    let (a, b, c) = (cx.operand(0), cx.operand(1), cx.operand(2));
    cx.same_types("result", &[cx.result(0)], &[c]);
    cx.need(is_float(c.elem()), || format!("sum `{c}` where floats are needed"));
    cx.truth("fastMath");
    for name in ["a_elem_type", "b_elem_type"] {
        let known = cx.prop(name).and_then(Attr::as_str).is_some();
        cx.need(known, || format!("attribute `{name}` is missing"));
    }
    let scales = match cx.prop("operandSegmentSizes") {
        Some(Attr::DenseArray { values, .. }) => match values[..] {
            [1, 1, 1, x @ (0 | 1), y @ (0 | 1)] => Some((x, y)),
            _ => None,
        },
        _ => None,
    };
    let given = cx.operands().len() as i64 - 3;
    let sizes = scales.is_some_and(|(x, y)| x + y == given);
    if !cx.need(sizes, || "attribute `operandSegmentSizes` does not tell which scales are given".to_owned()) {
        return;
    }
    let (pa, pb) = (packed(cx.prop("a_elem_type")), packed(cx.prop("b_elem_type")));
    let fits = match (a.shape(), b.shape(), c.shape()) {
        ([m, k], [k_b, n], [m_c, n_c]) => m == m_c && n == n_c && k.checked_mul(pa) == k_b.checked_mul(pb),
        _ => false,
    };
    cx.need(fits, || format!("`{a}` * `{b}` + `{c}`: shapes must be [M, K] * [K, N] + [M, N]"));
    let (a_scale, _) = scales.unwrap_or((0, 0));
    for n in 3..cx.operands().len() {
        let scale = cx.operand(n);
        let rows = if n == 3 && a_scale == 1 { c.shape().first() } else { c.shape().last() };
        let fits = scale.is_tensor() && scale.shape().len() == 2 && scale.shape().first() == rows;
        cx.need(fits, || format!("scale `{scale}` of a product `{c}`: one row for each row of its operand"));
    }
}

/// Operands by bytes, [M, K] * [K, N] + [M, N], and a table of scales for each: 512 bytes for each 128 rows and four
/// blocks of K.
pub(super) fn dot_block_scaled(cx: &mut Cx<'_>) {
    let (a, b, c) = (cx.operand(0), cx.operand(1), cx.operand(2));
    cx.same_types("result", &[cx.result(0)], &[c]);
    block_scaled(cx, [a, b], c, [3, 4]);
}

/// The same of operands, a sum, and tables of scales by their positions; whether formats and blocks are known.
pub(super) fn block_scaled(cx: &mut Cx<'_>, [a, b]: [&Type; 2], c: &Type, scales: [usize; 2]) -> bool {
    cx.need(*c.elem() == Type::F32, || format!("sum `{c}` where f32 is needed"));
    let format = |name: &str| cx.prop(name).and_then(Attr::as_str).and_then(BlockFormat::named);
    let (Some(fa), Some(fb)) = (format("a_elem_type"), format("b_elem_type")) else {
        cx.fail("attributes `a_elem_type` and `b_elem_type` name e4m3, e5m2 or e2m1");
        return false;
    };
    let block = cx.prop("block").and_then(Attr::as_i64);
    let packed = fa == BlockFormat::E2M1 && fb == BlockFormat::E2M1;
    let (&[m, k], &[k_b, n], &[m_c, n_c]) = (a.shape(), b.shape(), c.shape()) else {
        cx.fail(format!("`{a}` * `{b}` + `{c}`: matrices are needed"));
        return false;
    };
    let bytes = a.elem_bits() == Some(8) && b.elem_bits() == Some(8);
    cx.need(bytes && (m, k, n) == (m_c, k_b, n_c), || {
        format!("`{a}` * `{b}` + `{c}`: shapes must be [M, K] * [K, N] + [M, N] in bytes")
    });
    let Some(block @ (16 | 32)) = block.and_then(|n| u64::try_from(n).ok()) else {
        cx.fail("attribute `block` must be 16 or 32");
        return false;
    };
    let elements = k.saturating_mul(if packed { 2 } else { 1 });
    for (index, rows) in scales.into_iter().zip([m, n]) {
        let table = cx.operand(index);
        let lines = rows.div_ceil(128).saturating_mul((elements / block).div_ceil(4)).saturating_mul(32);
        let fits = table.shape() == [lines, 16] && table.elem_bits() == Some(8);
        cx.need(fits && elements.is_multiple_of(block), || {
            format!("scales `{table}` of {rows} rows and {elements} elements: [{lines}, 16] bytes are needed")
        });
    }
    true
}
