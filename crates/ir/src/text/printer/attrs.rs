//! Attributes and locations.

use super::Printer;
use crate::attr::Attr;
use crate::entity::LocId;
use crate::loc::{Loc, MIN_PARTS};
use crate::types::{FloatKind, Type};

/// Locations that lead deeper than this are written as unknown.
const MAX_LOC_DEPTH: u32 = super::super::MAX_NESTING;

/// Whether a name needs no quotes.
fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}

impl<'m> Printer<'m> {
    pub(super) fn string(&mut self, text: &str) {
        self.push("\"");
        for byte in text.bytes() {
            match byte {
                b'\\' => self.push("\\\\"),
                b' '..=b'~' if byte != b'"' => self.out.push(char::from(byte)),
                _ => self.push(&format!("\\{byte:02X}")),
            }
        }
        self.push("\"");
    }

    /// `@name`, quoted where it must be.
    pub(super) fn symbol(&mut self, name: &str) {
        self.push("@");
        match is_bare(name) {
            true => self.push(name),
            false => self.string(name),
        }
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut self.out, format_args!("{ty}"));
    }

    /// An attribute where a number needs no type.
    pub(super) fn plain_attr(&mut self, attr: &Attr) {
        match attr {
            Attr::Int { .. } => self.literal(attr),
            Attr::Opaque(word) => self.push(word),
            _ => self.attr(attr),
        }
    }

    pub(super) fn attr(&mut self, attr: &Attr) {
        match attr {
            Attr::Unit => self.push("unit"),
            Attr::Bool(_) => self.literal(attr),
            Attr::Int { ty, .. } => {
                self.literal(attr);
                if *ty != Type::I1 {
                    self.push(" : ");
                    self.ty(ty);
                }
            }
            Attr::Float { ty, .. } => {
                self.literal(attr);
                self.push(" : ");
                self.ty(ty);
            }
            Attr::String(text) => self.string(text),
            Attr::Symbol(path) => {
                for (n, name) in path.iter().enumerate() {
                    if n > 0 {
                        self.push("::");
                    }
                    self.symbol(name);
                }
            }
            Attr::Type(ty) => self.ty(ty),
            Attr::Array(items) => {
                self.push("[");
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        self.push(", ");
                    }
                    // Numbers of an array leave out what they would be without a type.
                    match item {
                        Attr::Int { ty, .. } if *ty == Type::I64 => self.literal(item),
                        Attr::Float { bits, ty: Type::Float(kind @ FloatKind::F64) } => {
                            let text = kind.text(*bits);
                            self.push(&text);
                            // A bit pattern without its type would read as an integer.
                            if text.starts_with("0x") {
                                self.push(" : f64");
                            }
                        }
                        _ => self.attr(item),
                    }
                }
                self.push("]");
            }
            Attr::Dict(dict) => self.dict(dict.iter()),
            Attr::DenseArray { elem, values } => {
                self.push("array<");
                self.ty(elem);
                for (n, value) in values.iter().enumerate() {
                    self.push(if n == 0 { ": " } else { ", " });
                    self.dense_array_value(elem, *value);
                }
                self.push(">");
            }
            Attr::Splat { value, ty } => {
                self.push("dense<");
                self.literal(value);
                self.push("> : ");
                self.ty(ty);
            }
            Attr::Dense { values, ty } => {
                self.push("dense<");
                if !values.is_empty() {
                    self.nested_list(ty.shape(), values);
                }
                self.push("> : ");
                self.ty(ty);
            }
            Attr::Alias(name) => {
                self.push("#");
                self.push(name);
            }
            // A keyword stands alone in custom forms only.
            Attr::Opaque(text) if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_|.".contains(&b)) => {
                self.string(text);
            }
            Attr::Opaque(text) => self.push(text),
        }
    }

    fn dense_array_value(&mut self, elem: &Type, value: i64) {
        match elem {
            Type::Int(1, _) => self.push(if value != 0 { "true" } else { "false" }),
            Type::Int(64, crate::types::Signedness::Unsigned) => self.push(&(value as u64).to_string()),
            _ => self.push(&value.to_string()),
        }
    }

    /// A number without its type.
    fn literal(&mut self, attr: &Attr) {
        match attr {
            Attr::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Attr::Int { value, ty } if *ty == Type::I1 => {
                self.push(if *value != 0 { "true" } else { "false" })
            }
            Attr::Int { value, .. } => self.push(&value.to_string()),
            Attr::Float { bits, ty } => {
                let kind = match ty {
                    Type::Float(kind) => *kind,
                    _ => FloatKind::F64,
                };
                self.push(&kind.text(*bits));
            }
            other => self.attr(other),
        }
    }

    /// `[[1, 2], [3, 4]]`: one bracket for each extent.
    fn nested_list(&mut self, shape: &[u64], values: &[Attr]) {
        let Some((_, inner)) = shape.split_first() else {
            if let Some(value) = values.first() {
                self.literal(value);
            }
            return;
        };
        let width = inner.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).unwrap_or(u64::MAX);
        let width = usize::try_from(width).unwrap_or(usize::MAX).max(1);
        self.push("[");
        for (n, part) in values.chunks(width).enumerate() {
            if n > 0 {
                self.push(", ");
            }
            self.nested_list(inner, part);
        }
        self.push("]");
    }

    /// `{a = 1 : i32, b}`
    pub(super) fn dict<'a>(&mut self, entries: impl Iterator<Item = (&'a str, &'a Attr)>) {
        self.push("{");
        for (n, (name, attr)) in entries.enumerate() {
            if n > 0 {
                self.push(", ");
            }
            match is_bare(name) {
                true => self.push(name),
                false => self.string(name),
            }
            if *attr != Attr::Unit {
                self.push(" = ");
                self.attr(attr);
            }
        }
        self.push("}");
    }

    // ---- locations ----

    /// ` loc(..)`, unless the thing has none.
    pub(super) fn optional_loc(&mut self, loc: LocId) {
        if self.locs && loc != self.m.unknown_loc() {
            self.push(" loc(");
            self.whole_loc(loc);
            self.push(")");
        }
    }

    pub(super) fn loc_aliases(&mut self, aliases: &[(String, LocId)]) {
        for (name, loc) in aliases {
            self.push("#");
            self.push(name);
            self.push(" = loc(");
            self.whole_loc(*loc);
            self.push(")\n");
        }
    }

    fn whole_loc(&mut self, loc: LocId) {
        let mut budget = self.m.locs.len().max(MIN_PARTS);
        self.loc(loc, 0, &mut budget);
    }

    fn loc(&mut self, loc: LocId, depth: u32, budget: &mut usize) {
        if depth > MAX_LOC_DEPTH || *budget == 0 {
            return self.push("unknown");
        }
        *budget -= 1;
        let m = self.m;
        match &m.locs[loc] {
            Loc::Unknown => self.push("unknown"),
            Loc::File { file, line, column } => {
                self.string(file);
                self.push(&format!(":{line}:{column}"));
            }
            Loc::Name { name, child } => {
                self.string(name);
                if let Some(child) = child {
                    self.push("(");
                    self.loc(*child, depth + 1, budget);
                    self.push(")");
                }
            }
            Loc::CallSite { callee, caller } => {
                self.push("callsite(");
                self.loc(*callee, depth + 1, budget);
                self.push(" at ");
                self.loc(*caller, depth + 1, budget);
                self.push(")");
            }
            Loc::Fused { metadata, parts } => {
                self.push("fused");
                if let Some(metadata) = metadata {
                    self.push(&format!("<{metadata}>"));
                }
                self.push("[");
                for (n, part) in parts.iter().enumerate() {
                    if n > 0 {
                        self.push(", ");
                    }
                    self.loc(*part, depth + 1, budget);
                }
                self.push("]");
            }
            Loc::Alias(name) => {
                self.push("#");
                self.push(name);
            }
        }
    }
}
