//! One part of a file: its module, and where in the file its operations stand.

use warploom_ir::SecondaryMap;
use warploom_ir::text::dialect::Dialect;
use warploom_ir::text::{parse_with, print_with};
use warploom_ir::{Attr, Diagnostic, Module, NameId, OpId, Opcode, Type, ValueId, walk};

use crate::error::{AliasError, AliasErrors, Pos};

/// One part of a file, read with the formats of a dialect.
#[derive(Clone, Debug)]
pub struct TextPart {
    /// What it says.
    pub module: Module,
    /// Of each operation of the text: its first byte, and the first one of the token behind it.
    pub spans: SecondaryMap<OpId, (u32, u32)>,
    dialect: Dialect,
    /// First byte of each line.
    lines: Vec<u32>,
    /// Number of the first line in the file.
    first: u32,
}

impl TextPart {
    /// Reads a part whose first line has this number in its file.
    ///
    /// # Errors
    /// A16: everything that is no assembly.
    pub fn read(text: &str, first_line: u32, dialect: Dialect) -> Result<TextPart, AliasErrors> {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let lines = std::iter::once(0).chain(ends.filter_map(|(at, _)| u32::try_from(at + 1).ok())).collect();
        let (module, spans) = (Module::new(), SecondaryMap::new());
        let mut part = TextPart { module, spans, dialect, lines, first: first_line };
        match parse_with(text, dialect) {
            Ok(parsed) => {
                (part.module, part.spans) = (parsed.module, parsed.spans);
                Ok(part)
            }
            Err(said) => Err(AliasErrors(said.iter().map(|d| part.error(d)).collect())),
        }
    }

    /// The part as text, with a line end.
    pub fn print(&self) -> String {
        print_with(&self.module, self.dialect)
    }

    fn error(&self, said: &Diagnostic) -> AliasError {
        let notes: Vec<String> = said.notes.iter().map(|(label, text)| format!("{label}: {text}")).collect();
        let error = AliasError::new("A16", said.message.clone()).at(said.offset.map(|at| self.at(at)));
        match notes.is_empty() {
            true => error.with_remedy(),
            false => error.help(notes.join("; ")),
        }
    }

    /// Line and column of a byte of the part.
    fn at(&self, byte: u32) -> Pos {
        let n = self.lines.partition_point(|start| *start <= byte).saturating_sub(1);
        let start = self.lines.get(n).copied().unwrap_or(0);
        let line = self.first.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
        Pos { line, col: (byte - start).saturating_add(1) }
    }

    /// Where the name of an operation stands; the first place for operations that no text has.
    pub fn pos(&self, op: OpId) -> Pos {
        self.at(self.module.ops[op].span.unwrap_or(0))
    }

    /// The name of an operation.
    pub fn name(&self, op: OpId) -> &str {
        self.module.op_name(op)
    }

    /// The name of a value in the text, without percent sign; packs have one name.
    pub fn value_name(&self, value: ValueId) -> &str {
        self.module.values[value].name.as_deref().unwrap_or("")
    }

    /// The operations of the part, each before its regions, in the order of the text.
    pub fn walk(&self) -> Vec<OpId> {
        walk::ops(&self.module, self.module.root).collect()
    }

    /// An attribute as text.
    pub fn attr(&self, op: OpId, name: &str) -> Option<String> {
        self.module.attr(op, name).map(shown)
    }

    /// The first operand of an operation.
    pub fn operand(&self, op: OpId, n: usize) -> Option<ValueId> {
        self.module.ops[op].operands.get(n).copied()
    }

    /// The first result of an operation.
    pub fn result(&self, op: OpId) -> Option<ValueId> {
        self.module.ops[op].results.first().copied()
    }

    /// The type of a value as text.
    pub fn ty(&self, value: ValueId) -> String {
        self.module.ty(value).to_string()
    }

    /// Arguments of the entry block of each region.
    pub fn region_args(&self, op: OpId) -> Vec<Vec<ValueId>> {
        let m = &self.module;
        let first = |n: usize| m.entry(op, n).map_or_else(Vec::new, |b| m.blocks[b].args.to_vec());
        (0..m.ops[op].regions.len()).map(first).collect()
    }

    /// The code for an operation of this name.
    pub fn opcode(&mut self, name: &str) -> Opcode {
        if let Some(known) = Opcode::from_name(name) {
            return known;
        }
        let names = &mut self.module.names;
        let found = names.iter().find(|(_, n)| *n == name).map(|(id, _): (NameId, _)| id);
        Opcode::Other(found.unwrap_or_else(|| names.push(name.to_owned())))
    }

    /// What an attribute, given by an alias or in full, stands for.
    pub fn resolve(&self, text: &str) -> String {
        let mut text = text;
        // Aliases of aliases are short; a circle ends.
        for _ in 0..16 {
            let Some(name) = text.strip_prefix('#') else { break };
            match self.module.attr_aliases.iter().find(|(n, _)| n == name) {
                Some((_, Attr::Opaque(body))) => text = body,
                Some((_, other)) => return shown(other),
                None => break,
            }
        }
        text.to_owned()
    }
}

/// The value of an integer attribute.
pub(crate) fn integer(attr: &Attr) -> Option<i64> {
    match attr {
        Attr::Int { .. } => attr.as_i64(),
        _ => None,
    }
}

/// An attribute as text, for messages and for what is not taken apart.
fn shown(attr: &Attr) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match attr {
        Attr::Unit => String::new(),
        Attr::Bool(b) => b.to_string(),
        Attr::Int { value, ty } if *ty == Type::I64 => value.to_string(),
        Attr::Int { value, ty } => format!("{value} : {ty}"),
        Attr::Float { bits, ty: Type::Float(kind) } => format!("{} : {}", kind.decode(*bits), kind.name()),
        Attr::String(text) => format!("\"{text}\""),
        Attr::Symbol(path) => path.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join("::"),
        Attr::Type(ty) => ty.to_string(),
        Attr::Array(items) => format!("[{}]", list(items.iter().map(shown).collect())),
        Attr::DenseArray { elem, values } => {
            format!("array<{elem}: {}>", list(values.iter().map(i64::to_string).collect()))
        }
        Attr::Alias(name) => format!("#{name}"),
        Attr::Opaque(text) => text.clone(),
        _ => "a constant".to_owned(),
    }
}
