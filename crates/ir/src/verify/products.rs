//! Matrix products.

use super::context::{Cx, is_float};
use crate::attr::Attr;
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
