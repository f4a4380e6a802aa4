//! Values during interpretation: flat vectors of elements.

use super::error::Fault;
use super::float;
use crate::types::{FloatKind, Type};

/// The elements of a tile, row-major, or the one element of a scalar.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Data {
    /// Integers and pointers, zero-extended from the width of their type.
    Int(Vec<u64>),
    /// Floating-point values of any format.
    Float(Vec<f64>),
}

impl Data {
    pub(super) fn len(&self) -> usize {
        match self {
            Data::Int(v) => v.len(),
            Data::Float(v) => v.len(),
        }
    }

    pub(super) fn ints(&self) -> Result<&[u64], Fault> {
        match self {
            Data::Int(v) => Ok(v),
            Data::Float(_) => Err(Fault::Malformed("a float where an integer is needed".into())),
        }
    }

    pub(super) fn floats(&self) -> Result<&[f64], Fault> {
        match self {
            Data::Float(v) => Ok(v),
            Data::Int(_) => Err(Fault::Malformed("an integer where a float is needed".into())),
        }
    }

    /// The elements at these positions, in this order.
    pub(super) fn pick(&self, positions: impl Iterator<Item = usize>) -> Result<Data, Fault> {
        fn from<T: Copy>(v: &[T], positions: impl Iterator<Item = usize>) -> Option<Vec<T>> {
            positions.map(|p| v.get(p).copied()).collect()
        }
        match self {
            Data::Int(v) => from(v, positions).map(Data::Int),
            Data::Float(v) => from(v, positions).map(Data::Float),
        }
        .ok_or_else(|| Fault::Malformed("shapes that do not belong together".into()))
    }

    /// The elements of several vectors behind each other.
    pub(super) fn concat<'a>(parts: impl Iterator<Item = &'a Data>) -> Result<Option<Data>, Fault> {
        let mut all: Option<Data> = None;
        for part in parts {
            match (&mut all, part) {
                (None, part) => all = Some(part.clone()),
                (Some(Data::Int(v)), part) => v.extend_from_slice(part.ints()?),
                (Some(Data::Float(v)), part) => v.extend_from_slice(part.floats()?),
            }
        }
        Ok(all)
    }

    /// Whether elements of this type are held so.
    pub(super) fn holds(&self, elem: &Type) -> bool {
        match self {
            Data::Int(_) => matches!(elem, Type::Int(..) | Type::Index | Type::Ptr { .. }),
            Data::Float(_) => matches!(elem, Type::Float(_)),
        }
    }
}

/// Width in bits of an element held as an integer.
pub(super) fn int_width(ty: &Type) -> Result<u32, Fault> {
    match ty {
        Type::Int(bits @ 1..=64, _) => Ok(*bits),
        Type::Index | Type::Ptr { .. } => Ok(64),
        other => Err(Fault::Unsupported(format!("integers of type {other}"))),
    }
}

/// Format of a floating-point element.
pub(super) fn float_kind(ty: &Type) -> Result<FloatKind, Fault> {
    match ty {
        Type::Float(kind) => Ok(*kind),
        other => Err(Fault::Malformed(format!("{other} is not a floating-point type"))),
    }
}

/// The low `bits` bits.
pub(super) fn wrap(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The value of the low `bits` bits read as a signed number.
pub(super) fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64u32.saturating_sub(bits);
    ((value << unused) as i64) >> unused
}

/// Bytes of one element in memory; `i1` takes a byte.
pub(super) fn elem_bytes(ty: &Type) -> Result<usize, Fault> {
    match ty {
        Type::Int(1, _) => Ok(1),
        Type::Int(bits @ (8 | 16 | 32 | 64), _) => Ok(*bits as usize / 8),
        Type::Float(kind) => Ok(kind.bits() as usize / 8),
        Type::Index | Type::Ptr { .. } => Ok(8),
        other => Err(Fault::Unsupported(format!("elements of type {other} in memory"))),
    }
}

/// The bit patterns of elements of type `elem`.
pub(super) fn to_bits(elem: &Type, data: &Data) -> Result<Vec<u64>, Fault> {
    match (elem, data) {
        (Type::Float(kind), Data::Float(v)) => Ok(v.iter().map(|&x| bits_of(*kind, x)).collect()),
        (_, Data::Int(v)) => Ok(v.clone()),
        (_, Data::Float(_)) => Err(Fault::Malformed(format!("a float where {elem} is needed"))),
    }
}

/// The bit pattern of one value.
pub(super) fn bits_of(kind: FloatKind, value: f64) -> u64 {
    float::encode(kind, value, float::Rounding::NearestEven, float::Overflow::Infinity)
}

/// Elements of type `elem` from their bit patterns.
pub(super) fn from_bits(elem: &Type, patterns: Vec<u64>) -> Result<Data, Fault> {
    match elem {
        Type::Float(kind) => Ok(Data::Float(patterns.into_iter().map(|p| float::decode(*kind, p)).collect())),
        _ => {
            let bits = int_width(elem)?;
            Ok(Data::Int(patterns.into_iter().map(|p| wrap(p, bits)).collect()))
        }
    }
}

/// The number that up to 8 little-endian bytes spell.
pub(super) fn pattern(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b))
}
