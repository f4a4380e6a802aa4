//! Reading attributes: what an operation's properties say, whichever way they were written.

use super::data::{Data, float_kind, int_width, wrap};
use super::error::Fault;
use super::float;
use crate::attr::Attr;
use crate::entity::OpId;
use crate::module::Module;
use crate::types::Type;

fn missing(module: &Module, op: OpId, name: &str) -> Fault {
    Fault::Malformed(format!("{} lacks the attribute `{name}`", module.op_name(op)))
}

/// An integer property.
pub(super) fn int(module: &Module, op: OpId, name: &str) -> Result<i64, Fault> {
    module.attr(op, name).and_then(Attr::as_i64).ok_or_else(|| missing(module, op, name))
}

/// A property that must index a dimension of a tile of this rank.
pub(super) fn axis(module: &Module, op: OpId, rank: usize) -> Result<usize, Fault> {
    let axis = int(module, op, "axis")?;
    usize::try_from(axis)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| Fault::Malformed(format!("axis {axis} of rank {rank}")))
}

/// Position of an enumeration property in `names`: written as one of them, or as its number, which is its
/// position unless `names` says `""` there.
pub(super) fn keyword(module: &Module, op: OpId, name: &str, names: &[&str]) -> Result<Option<usize>, Fault> {
    let Some(attr) = module.attr(op, name) else { return Ok(None) };
    let at = match (attr.as_str(), attr.as_i64()) {
        (Some(text), _) => names.iter().position(|n| *n == text),
        (None, Some(number)) => usize::try_from(number).ok().filter(|&n| n < names.len()),
        (None, None) => None,
    };
    match at {
        Some(at) => Ok(Some(at)),
        None => Err(Fault::Unsupported(format!("`{name}` = {attr:?} of {}", module.op_name(op)))),
    }
}

/// As [`keyword`], for properties that must be there.
pub(super) fn required(module: &Module, op: OpId, name: &str, names: &[&str]) -> Result<usize, Fault> {
    keyword(module, op, name, names)?.ok_or_else(|| missing(module, op, name))
}

/// Whether a unit or boolean property is set.
pub(super) fn flag(module: &Module, op: OpId, name: &str) -> bool {
    match module.attr(op, name) {
        Some(Attr::Bool(set)) => *set,
        Some(attr) => attr.as_i64() != Some(0),
        None => false,
    }
}

/// A list of integers.
pub(super) fn ints(module: &Module, op: OpId, name: &str) -> Result<Vec<i64>, Fault> {
    match module.attr(op, name) {
        Some(Attr::DenseArray { values, .. }) => Ok(values.clone()),
        Some(Attr::Array(items)) => {
            items.iter().map(Attr::as_i64).collect::<Option<_>>().ok_or_else(|| missing(module, op, name))
        }
        _ => Err(missing(module, op, name)),
    }
}

/// The elements of a constant of type `ty`, `count` of them.
pub(super) fn constant(module: &Module, op: OpId, ty: &Type, count: usize) -> Result<Data, Fault> {
    let attr = module.attr(op, "value").ok_or_else(|| missing(module, op, "value"))?;
    let one = |attr: &Attr| element(attr, ty.elem());
    match attr {
        Attr::Splat { value, .. } => Ok(repeat(one(value)?, count)),
        Attr::Dense { values, .. } => {
            let parts = values.iter().map(one).collect::<Result<Vec<_>, _>>()?;
            Data::concat(parts.iter())?.ok_or_else(|| missing(module, op, "value"))
        }
        other => Ok(repeat(one(other)?, count)),
    }
}

/// `count` copies of the only element of `data`.
pub(super) fn repeat(data: Data, count: usize) -> Data {
    match data {
        Data::Int(v) => Data::Int(vec![v.first().copied().unwrap_or(0); count]),
        Data::Float(v) => Data::Float(vec![v.first().copied().unwrap_or(0.0); count]),
    }
}

fn element(attr: &Attr, elem: &Type) -> Result<Data, Fault> {
    match (attr, elem) {
        (Attr::Float { bits, .. }, Type::Float(_)) => {
            Ok(Data::Float(vec![float::decode(float_kind(elem)?, *bits)]))
        }
        (Attr::Int { value, .. }, Type::Int(..) | Type::Index) => {
            Ok(Data::Int(vec![wrap(*value as u64, int_width(elem)?)]))
        }
        (Attr::Bool(value), Type::Int(..)) => Ok(Data::Int(vec![u64::from(*value)])),
        _ => Err(Fault::Malformed(format!("the constant {attr:?} is not of type {elem}"))),
    }
}
