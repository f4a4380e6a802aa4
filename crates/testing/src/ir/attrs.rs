//! Types, attributes and locations.

use warploom_ir::{Attr, AttrDict, FloatKind, Loc, LocId, Module, Signedness, Type};

use super::choices::Choices;

/// Names that need quotes, escapes or care.
const TEXTS: [&str; 8] = ["", "a", "x.y", "odd name", "q\"uote", "tab\tand\nline", "back\\slash", "été"];

pub(super) fn text(choices: &mut Choices<'_>) -> String {
    choices.pick(&TEXTS).unwrap_or(&"").to_string()
}

pub(super) fn scalar(choices: &mut Choices<'_>) -> Type {
    match choices.below(3) {
        0 => Type::int(*choices.pick(&[1, 8, 16, 32, 64]).unwrap_or(&32)),
        1 => Type::Float(*choices.pick(&FloatKind::ALL).unwrap_or(&FloatKind::F32)),
        _ => Type::I32,
    }
}

/// A type of any kind, nested a little.
pub(super) fn any_type(choices: &mut Choices<'_>, depth: usize) -> Type {
    match choices.below(if depth == 0 { 5 } else { 9 }) {
        0 => Type::Index,
        1 => Type::None,
        2 => Type::Opaque("!my.type<[1, \"a>#\"], #alias>".to_owned()),
        3 => Type::Int(*choices.pick(&[4, 8, 24, 128]).unwrap_or(&8), Signedness::Unsigned),
        4 => scalar(choices),
        5 => Type::Ptr { pointee: Box::new(any_type(choices, depth - 1)), space: choices.below(4) as u32 },
        6 => Type::tensor(&[4, 1 << choices.below(5)], scalar(choices)),
        7 => Type::desc(&[1 << choices.below(5), 16], scalar(choices)),
        _ => Type::Function {
            inputs: (0..choices.below(3)).map(|_| any_type(choices, depth - 1)).collect(),
            results: (0..choices.below(3)).map(|_| any_type(choices, depth - 1)).collect(),
        },
    }
}

/// A number of a scalar type, any bit pattern.
pub(super) fn number(choices: &mut Choices<'_>, ty: &Type) -> Attr {
    let bits = choices.bits();
    match ty {
        Type::Float(kind) => {
            let bits = if choices.once_in(2) { bits } else { kind.encode((bits % 1000) as f64 / 8.0) };
            Attr::Float { bits: bits & (u64::MAX >> (64 - kind.bits())), ty: ty.clone() }
        }
        Type::Int(1, _) => Attr::Bool(bits & 1 == 1),
        Type::Int(width, Signedness::Unsigned) => {
            Attr::Int { value: i128::from(bits >> (64 - (*width).min(64))), ty: ty.clone() }
        }
        Type::Int(width, _) => {
            let value = (bits as i64) >> (64 - (*width).min(64));
            Attr::Int { value: i128::from(value), ty: ty.clone() }
        }
        _ => Attr::Int { value: i128::from(bits as i64), ty: Type::Index },
    }
}

/// A constant of a tile type.
pub(super) fn tile(choices: &mut Choices<'_>, ty: &Type) -> Attr {
    let small = ty.elements().filter(|n| *n <= 64 && choices.once_in(2));
    match small {
        Some(n) => {
            Attr::Dense { values: (0..n).map(|_| number(choices, ty.elem())).collect(), ty: ty.clone() }
        }
        None => Attr::Splat { value: Box::new(number(choices, ty.elem())), ty: ty.clone() },
    }
}

/// An attribute of any kind.
pub(super) fn any_attr(choices: &mut Choices<'_>, depth: usize) -> Attr {
    match choices.below(if depth == 0 { 9 } else { 12 }) {
        0 => Attr::Unit,
        1 => Attr::Bool(choices.once_in(2)),
        2 => {
            let ty = scalar(choices);
            number(choices, &ty)
        }
        3 => Attr::String(text(choices)),
        4 => Attr::Symbol((0..1 + choices.below(2)).map(|_| text(choices)).collect()),
        5 => {
            let elem = Type::int(*choices.pick(&[8, 32, 64]).unwrap_or(&32));
            let values = (0..choices.below(4)).map(|_| choices.below(100) as i64 - 50).collect();
            Attr::DenseArray { elem, values }
        }
        6 => {
            let ty = Type::tensor(&[1 << choices.below(3), 2], scalar(choices));
            tile(choices, &ty)
        }
        7 => Attr::Opaque("#my.attr<[1, {a = \"}\"}], 2 -> 3>".to_owned()),
        8 => Attr::Alias("alias".to_owned()),
        9 => Attr::Type(any_type(choices, depth - 1)),
        10 => Attr::Array((0..choices.below(4)).map(|_| any_attr(choices, depth - 1)).collect()),
        _ => Attr::Dict(any_dict(choices, depth - 1)),
    }
}

pub(super) fn any_dict(choices: &mut Choices<'_>, depth: usize) -> AttrDict {
    let names = ["my.a", "my.b", "my.odd name", "my.z"];
    (0..choices.below(4)).filter_map(|n| names.get(n)).map(|n| (*n, any_attr(choices, depth))).collect()
}

/// A location of any kind; `here` and `there` are aliases of the module.
pub(super) fn any_loc(m: &mut Module, choices: &mut Choices<'_>, depth: usize) -> LocId {
    let loc = match choices.below(if depth == 0 { 4 } else { 8 }) {
        0 | 1 => return m.unknown_loc(),
        2 => Loc::File { file: text(choices), line: choices.below(99) as u32, column: choices.bits() as u32 },
        3 => Loc::Alias(choices.pick(&["here", "there"]).unwrap_or(&"here").to_string()),
        4 => Loc::Name { name: text(choices), child: None },
        5 => Loc::Name { name: text(choices), child: Some(any_loc(m, choices, depth - 1)) },
        6 => Loc::CallSite { callee: any_loc(m, choices, depth - 1), caller: any_loc(m, choices, depth - 1) },
        _ => Loc::Fused {
            metadata: choices.once_in(2).then(|| "\"m\"".to_owned()),
            parts: (0..choices.below(3)).map(|_| any_loc(m, choices, depth - 1)).collect(),
        },
    };
    m.locs.push(loc)
}
