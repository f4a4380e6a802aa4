//! Element-wise operations and conversions.

use super::context::{Cx, is_float, is_int, is_ptr, same_shape};
use crate::attr::Attr;
use crate::types::Type;

/// All operands and the result have one type, of elements that `fits` takes.
fn uniform(cx: &mut Cx<'_>, fits: fn(&Type) -> bool, what: &str) {
    let ty = cx.result(0);
    if let Some(other) = cx.operand_types().into_iter().find(|t| *t != ty) {
        return cx.fail(format!("operand of type `{other}`, result of type `{ty}`: they must be equal"));
    }
    cx.need(fits(ty.elem()) && !ty.is_desc(), || format!("`{ty}` where {what} are needed"));
}

pub(super) fn ints(cx: &mut Cx<'_>) {
    uniform(cx, is_int, "integers");
}

pub(super) fn floats(cx: &mut Cx<'_>) {
    uniform(cx, is_float, "floats");
}

fn compare(cx: &mut Cx<'_>, fits: fn(&Type) -> bool, what: &str) {
    let (x, y) = (cx.operand(0), cx.operand(1));
    if x != y {
        return cx.fail(format!("operands of types `{x}` and `{y}`: they must be equal"));
    }
    cx.need(fits(x.elem()) && !x.is_desc(), || format!("`{x}` where {what} are needed"));
    cx.same_types("result", &[cx.result(0)], &[&x.with_elem(Type::I1)]);
}

pub(super) fn cmpi(cx: &mut Cx<'_>) {
    compare(cx, |t| is_int(t) || is_ptr(t), "integers");
}

pub(super) fn cmpf(cx: &mut Cx<'_>) {
    compare(cx, is_float, "floats");
}

pub(super) fn select(cx: &mut Cx<'_>) {
    let (choice, ty) = (cx.operand(0), cx.result(0));
    cx.same_types("operands 1 and 2", &[cx.operand(1), cx.operand(2)], &[ty, ty]);
    let fits = *choice == Type::I1 || (*choice.elem() == Type::I1 && same_shape(choice, ty));
    cx.need(fits, || format!("condition of type `{choice}`: i1, or a tile of i1 in the shape of `{ty}`"));
}

/// Whether a literal is one of this element type.
fn literal_fits(value: &Attr, elem: &Type) -> bool {
    match value {
        Attr::Bool(_) => *elem == Type::I1,
        Attr::Int { ty, .. } => is_int(ty) && ty == elem,
        Attr::Float { ty, bits } => match ty {
            Type::Float(kind) => ty == elem && (kind.bits() == 64 || bits >> kind.bits() == 0),
            _ => false,
        },
        _ => false,
    }
}

pub(super) fn constant(cx: &mut Cx<'_>) {
    let ty = cx.result(0);
    let Some(value) = cx.prop("value") else { return cx.fail("attribute `value` is missing") };
    let fits = match value {
        Attr::Splat { value, ty: own } => own == ty && ty.is_tensor() && literal_fits(value, ty.elem()),
        Attr::Dense { values, ty: own } => {
            own == ty
                && ty.is_tensor()
                && ty.elements() == Some(values.len() as u64)
                && values.iter().all(|v| literal_fits(v, ty.elem()))
        }
        other => !ty.is_tensor() && literal_fits(other, ty),
    };
    cx.need(fits, || format!("the value is not of the result's type `{ty}`"));
}

/// A conversion keeps the shape and goes between these kinds of elements, whose widths must compare.
fn convert(
    cx: &mut Cx<'_>,
    from: fn(&Type) -> bool,
    to: fn(&Type) -> bool,
    widths: Option<fn(u32, u32) -> bool>,
    what: &str,
) {
    let (x, y) = (cx.operand(0), cx.result(0));
    if !same_shape(x, y) {
        return cx.fail(format!("`{x}` to `{y}` changes the shape"));
    }
    let kinds = from(x.elem()) && to(y.elem()) && !x.is_desc() && !y.is_desc();
    let fits = kinds
        && match (widths, x.elem_bits(), y.elem_bits()) {
            (None, ..) => true,
            (Some(fits), Some(a), Some(b)) => fits(a, b),
            _ => false,
        };
    cx.need(fits, || format!("`{x}` to `{y}`: {what}"));
}

fn plain_int(ty: &Type) -> bool {
    matches!(ty, Type::Int(..))
}

pub(super) fn extend_int(cx: &mut Cx<'_>) {
    convert(cx, plain_int, plain_int, Some(|a, b| a < b), "from an integer to a wider one");
}

pub(super) fn truncate_int(cx: &mut Cx<'_>) {
    convert(cx, plain_int, plain_int, Some(|a, b| a > b), "from an integer to a narrower one");
}

pub(super) fn extend_float(cx: &mut Cx<'_>) {
    convert(cx, is_float, is_float, Some(|a, b| a < b), "from a float to a wider one");
}

pub(super) fn truncate_float(cx: &mut Cx<'_>) {
    convert(cx, is_float, is_float, Some(|a, b| a > b), "from a float to a narrower one");
}

pub(super) fn int_to_float(cx: &mut Cx<'_>) {
    convert(cx, plain_int, is_float, None, "from an integer to a float");
}

pub(super) fn float_to_int(cx: &mut Cx<'_>) {
    convert(cx, is_float, plain_int, None, "from a float to an integer");
}

pub(super) fn index_cast(cx: &mut Cx<'_>) {
    let one_index = (*cx.operand(0).elem() == Type::Index) != (*cx.result(0).elem() == Type::Index);
    if cx.need(one_index, || "between `index` and an integer".to_owned()) {
        convert(cx, is_int, is_int, None, "between `index` and an integer");
    }
}

pub(super) fn bitcast(cx: &mut Cx<'_>) {
    let (x, y) = (cx.operand(0), cx.result(0));
    if is_ptr(x.elem()) != is_ptr(y.elem()) {
        return cx.fail(format!("`{x}` to `{y}`: a pointer becomes a pointer only"));
    }
    let any = |t: &Type| plain_int(t) || is_float(t) || is_ptr(t);
    convert(cx, any, any, Some(|a, b| a == b), "the widths must be equal");
}

pub(super) fn fp_to_fp(cx: &mut Cx<'_>) {
    convert(cx, is_float, is_float, None, "from a float to a float");
    if let (Some(a), Some(b)) = (cx.operand(0).elem_bits(), cx.result(0).elem_bits()) {
        cx.need(a <= b || cx.prop("rounding").is_some(), || {
            "attribute `rounding` is missing, which a narrower result needs".to_owned()
        });
    }
}

/// Operands and results that are tiles have one shape.
fn one_shape(cx: &mut Cx<'_>) {
    let types = cx.operand_types().into_iter().chain(cx.result_types());
    let tiles: Vec<&Type> = types.filter(|t| t.is_tensor()).collect();
    let equal = tiles.windows(2).all(|w| w[0].shape() == w[1].shape());
    cx.need(equal, || "tiles of different shapes".to_owned());
}

fn strings(cx: &mut Cx<'_>, names: &[&str]) {
    for name in names {
        let fits = matches!(cx.prop(name), Some(Attr::String(_)));
        cx.need(fits, || format!("attribute `{name}` must be a string"));
    }
}

pub(super) fn extern_elementwise(cx: &mut Cx<'_>) {
    strings(cx, &["libname", "libpath", "symbol"]);
    cx.truth("pure");
    one_shape(cx);
}

pub(super) fn inline_asm(cx: &mut Cx<'_>) {
    strings(cx, &["constraints"]);
    cx.truth("pure");
    let packed = cx.i32("packed_element");
    cx.need(packed.is_none_or(|n| n >= 1), || "attribute `packed_element` must be positive".to_owned());
    one_shape(cx);
}

pub(super) fn print(cx: &mut Cx<'_>) {
    cx.truth("hex");
    let n = cx.operands().len();
    let fits = matches!(cx.prop("isSigned"), Some(Attr::DenseArray { values, .. }) if values.len() == n);
    cx.need(fits, || format!("attribute `isSigned` must be an array of {n} integers"));
}
