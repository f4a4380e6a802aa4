//! Between the plain records of an assignment and attributes of the kernel's text.

use serde_json::{Map, Number, Value};
use warploom_ir::{Attr, AttrDict, Type};

/// Attributes for the fields of a record: numbers as `i64`, lists of numbers as `array<i64: ..>`; fields without a
/// value are left out.
pub(crate) fn to_attrs(record: Value) -> AttrDict {
    match record {
        Value::Object(fields) => {
            fields.into_iter().filter_map(|(name, value)| Some((name, to_attr(value)?))).collect()
        }
        _ => AttrDict::new(),
    }
}

fn to_attr(value: Value) -> Option<Attr> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => Attr::Bool(flag),
        Value::Number(number) => Attr::i64(number.as_i64()?),
        Value::String(text) => Attr::String(text),
        Value::Array(items) => Attr::DenseArray {
            elem: Type::I64,
            values: items.iter().map(Value::as_i64).collect::<Option<_>>()?,
        },
        fields @ Value::Object(_) => Attr::Dict(to_attrs(fields)),
    })
}

/// The fields that attributes stand for.
pub(super) fn from_attrs<'a>(attrs: impl Iterator<Item = (&'a str, &'a Attr)>) -> Value {
    Value::Object(
        attrs.filter_map(|(name, attr)| Some((name.to_owned(), from_attr(attr)?))).collect::<Map<_, _>>(),
    )
}

fn from_attr(attr: &Attr) -> Option<Value> {
    Some(match attr {
        Attr::Bool(flag) => Value::Bool(*flag),
        Attr::Int { value, .. } => Value::Number(Number::from(i64::try_from(*value).ok()?)),
        Attr::String(text) => Value::String(text.clone()),
        Attr::DenseArray { values, .. } => Value::Array(values.iter().map(|&v| Value::from(v)).collect()),
        Attr::Dict(fields) => from_attrs(fields.iter()),
        _ => return None,
    })
}
