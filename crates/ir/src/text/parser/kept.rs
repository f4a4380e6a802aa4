//! Custom assembly of operations that no table knows: kept as it stands, with its values and regions found.

use super::names::{ResultNames, Use};
use super::regions::Argument;
use super::{Parse, Parser};
use crate::attr::Attr;
use crate::entity::{OpId, RegionId, ValueId};
use crate::text::dialect::{ARGUMENT, ASSEMBLY, DICTIONARY, OPERAND, REGION};
use crate::text::lexer::{Kind, Token};
use crate::types::Type;

/// A result pack of kept assembly has at most this many values: nothing else says how many there are.
const MAX_PACK: usize = 1024;

/// Whether a bare word names an operation: one of a dialect, or one of those that are written without theirs.
pub(super) fn is_op_name(text: &str) -> bool {
    let dotted = text.split_once('.').is_some_and(|(dialect, name)| {
        dialect.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.is_empty()
    });
    dotted || matches!(text, "module" | "func" | "return" | "call")
}

/// The assembly while it is read.
#[derive(Default)]
struct Kept<'a> {
    text: String,
    operands: Vec<Use>,
    /// Open brackets.
    open: Vec<&'static str>,
    /// Arguments of the region to come.
    args: Vec<Argument<'a>>,
    /// The token before.
    last: &'a str,
    /// Behind the last `:` or `->` outside of brackets.
    types: Option<usize>,
    /// The attributes were read.
    attributes: bool,
}

impl<'a> Parser<'a> {
    /// The assembly behind the name of an unknown operation, to the next thing that begins another one; the types
    /// of its results, as far as it ends in them.
    pub(super) fn kept_op(&mut self, op: OpId, names: &ResultNames<'a>) -> Parse<Vec<Type>> {
        if let Some((.., at)) = names.iter().find(|(_, count, _)| *count > MAX_PACK) {
            let at = *at;
            return Err(self.error(at, "the number of results is out of range"));
        }
        let isolated = self.m.is_isolated(op);
        let mut kept = Kept::default();
        while !self.kept_ends(&kept, isolated) {
            self.kept_token(op, isolated, &mut kept)?;
        }
        if let Some(open) = kept.open.last() {
            let message = format!("`{open}` is never closed");
            return Err(self.error(self.last_end, message));
        }
        self.set_operands(op, &kept.operands);
        self.set_prop(op, ASSEMBLY, Attr::Opaque(kept.text));
        let mut types = kept.types.map_or_else(Vec::new, |at| self.types_at(at));
        let named = names.iter().fold(0usize, |n, (_, count, _)| n.saturating_add(*count));
        types.resize(named, Type::None);
        Ok(types)
    }

    /// Whether the assembly is over before the next token.
    fn kept_ends(&self, kept: &Kept<'a>, isolated: bool) -> bool {
        if self.tok.kind == Kind::Eof {
            return true;
        }
        if !kept.open.is_empty() {
            return false;
        }
        let fresh = self.slice(self.last_end, self.tok.start).contains('\n');
        match self.tok.kind {
            Kind::Punct("}") => true,
            Kind::Caret => fresh,
            Kind::Word if self.text(self.tok) == "loc" => self.is_ahead(1, "("),
            _ => fresh && self.begins_op() && !(kept.text.is_empty() && isolated),
        }
    }

    fn kept_token(&mut self, op: OpId, isolated: bool, kept: &mut Kept<'a>) -> Parse<()> {
        let token = self.tok;
        if let Kind::Bad(what) = token.kind {
            return Err(self.error(token.start, what));
        }
        if token.start > self.last_end {
            kept.text.push(' ');
        }
        match token.kind {
            Kind::Percent => {
                let header = isolated && kept.open.last() == Some(&"(");
                if self.is_ahead(1, "=") || header && self.is_ahead(1, ":") {
                    self.kept_argument(kept)?;
                } else {
                    kept.operands.push(self.operand()?);
                    kept.text.push(OPERAND);
                }
                kept.last = "%";
                return Ok(());
            }
            Kind::Punct("{") if self.opens_region(kept, isolated) => {
                let args = std::mem::take(&mut kept.args);
                self.kept_region(op, isolated, args)?;
                kept.text.push(REGION);
                kept.last = "}";
                return Ok(());
            }
            Kind::Punct("{") if kept.open.is_empty() && !kept.attributes && self.kept_attributes(op) => {
                kept.attributes = true;
                kept.text.push(DICTIONARY);
                kept.last = "}";
                return Ok(());
            }
            Kind::Punct(open @ ("(" | "[" | "{" | "<")) => kept.open.push(open),
            Kind::Punct(close @ (")" | "]" | "}" | ">")) => {
                let opened = kept.open.pop();
                if !matches!(
                    (opened, close),
                    (Some("("), ")") | (Some("["), "]") | (Some("{"), "}") | (Some("<"), ">")
                ) {
                    return Err(self.error(token.start, format!("`{close}` closes nothing")));
                }
            }
            Kind::Punct(":" | "->") if kept.open.is_empty() => kept.types = Some(token.end),
            _ => {}
        }
        self.advance();
        let text = self.kept_piece(token);
        kept.text.push_str(&text);
        kept.last = self.text(token);
        Ok(())
    }

    /// A dictionary outside of brackets, if it reads as one; nothing is taken otherwise.
    fn kept_attributes(&mut self, op: OpId) -> bool {
        let (open, end, said) = (self.tok, self.last_end, self.diags.len());
        let (nesting, fatal) = (self.nesting, self.fatal);
        match self.dict() {
            Ok(dict) => {
                self.m.ops[op].attrs = dict;
                true
            }
            Err(_) => {
                self.diags.truncate(said);
                (self.nesting, self.fatal) = (nesting, fatal);
                self.seek(open.start);
                self.last_end = end;
                false
            }
        }
    }

    /// A token as it stands; type aliases give way to what they stand for, attribute aliases must be defined.
    fn kept_piece(&mut self, token: Token) -> String {
        let text = self.text(token);
        let alias = !text.contains('.') && self.src.as_bytes().get(token.end) != Some(&b'<');
        match token.kind {
            Kind::Hash if alias && !text.starts_with("#loc") => self.kept_text(token.start, token.end),
            Kind::Exclaim if alias => {
                self.type_aliases.get(text).map_or_else(|| text.to_owned(), Type::to_string)
            }
            _ => text.to_owned(),
        }
    }

    /// `%x =` before a region, or `%x: T` in the header of a function.
    fn kept_argument(&mut self, kept: &mut Kept<'a>) -> Parse<()> {
        let name = self.advance();
        kept.text.push(ARGUMENT);
        let mut ty = Type::None;
        if self.is(":") {
            self.advance();
            ty = self.ty()?;
            kept.text.push_str(&format!(": {ty}"));
        }
        let loc = self.m.unknown_loc();
        kept.args.push(Argument { name: Some(self.text(name)), at: name.start, ty, loc });
        Ok(())
    }

    fn kept_region(&mut self, op: OpId, isolated: bool, args: Vec<Argument<'a>>) -> Parse<()> {
        self.region(op, |p, region| {
            if isolated {
                p.names.push_isolated();
            } else {
                p.names.push_region();
            }
            let labelled = p.tok.kind == Kind::Caret && args.is_empty();
            let done = p.blocks(region, (!labelled).then_some(args));
            if isolated {
                p.pop_isolated();
            } else {
                p.names.pop_region();
            }
            done
        })
    }

    /// The types that begin at this byte, as far as they can be read; the place of the parser stays.
    fn types_at(&mut self, at: usize) -> Vec<Type> {
        let (next, said, nesting, fatal) = (self.tok, self.diags.len(), self.nesting, self.fatal);
        let end = self.last_end;
        self.seek(at);
        let mut types = Vec::new();
        let done = match self.is("(") {
            true => self.type_list().map(|list| types = list),
            false => loop {
                match self.ty() {
                    Ok(ty) => types.push(ty),
                    Err(failed) => break Err(failed),
                }
                if !self.eat(",") {
                    break Ok(());
                }
            },
        };
        if done.is_err() {
            self.diags.truncate(said);
            (self.nesting, self.fatal) = (nesting, fatal);
        }
        self.seek(next.start);
        self.last_end = end;
        types
    }

    /// Token number `n` behind the next one.
    fn ahead(&self, n: usize) -> Token {
        let mut lex = self.lex.clone();
        let mut token = self.tok;
        for _ in 0..n {
            token = lex.next();
        }
        token
    }

    fn is_ahead(&self, n: usize, mark: &str) -> bool {
        matches!(self.ahead(n).kind, Kind::Punct(p) if p == mark)
    }

    /// Whether the next token, first on its line, begins an operation.
    fn begins_op(&self) -> bool {
        match self.tok.kind {
            Kind::String => self.is_ahead(1, "("),
            Kind::Word => is_op_name(self.text(self.tok)),
            Kind::Hash | Kind::Exclaim => self.is_ahead(1, "="),
            Kind::Percent => {
                let mut lex = self.lex.clone();
                let mut token = lex.next();
                loop {
                    if token.kind == Kind::Punct(":") {
                        if lex.next().kind != Kind::Integer {
                            return false;
                        }
                        token = lex.next();
                    }
                    match token.kind {
                        Kind::Punct("=") => return true,
                        Kind::Punct(",") if lex.next().kind == Kind::Percent => token = lex.next(),
                        _ => return false,
                    }
                }
            }
            _ => false,
        }
    }

    /// Whether a `{` opens a region and no dictionary of attributes.
    fn opens_region(&self, kept: &Kept<'a>, isolated: bool) -> bool {
        // `<{..}>` holds properties; regions stand outside of brackets, or in `({..}, {..})`.
        if !(kept.open.is_empty() || kept.open == ["("]) {
            return false;
        }
        // Functions say `attributes` before theirs.
        if isolated && kept.open.is_empty() {
            return kept.last != "attributes";
        }
        let (first, second) = (self.ahead(1), self.ahead(2));
        match first.kind {
            Kind::Punct("}") => matches!(kept.last, "default" | "do" | "cond" | "else") || kept.open == ["("],
            Kind::String => second.kind == Kind::Punct("("),
            Kind::Caret | Kind::Percent => true,
            Kind::Word => match second.kind {
                Kind::Punct("=" | ",") => false,
                // One word: on a line of its own an operation, else more likely an attribute.
                Kind::Punct("}") => {
                    let ends = |e: &&str| self.text(first).ends_with(*e);
                    self.slice(self.tok.end, first.start).contains('\n')
                        || ["return", "yield", "terminator"].iter().any(ends)
                }
                _ => true,
            },
            _ => false,
        }
    }

    /// `!name = type`
    pub(super) fn type_alias(&mut self) -> Parse<()> {
        let token = self.advance();
        self.expect("=")?;
        let ty = self.ty()?;
        if self.type_aliases.insert(self.text(token), ty).is_some() {
            return Err(self.error(token.start, format!("`{}` is defined twice", self.text(token))));
        }
        Ok(())
    }

    /// Kept text with the types that its type aliases stand for.
    pub(super) fn without_type_aliases(&mut self, start: usize, end: usize) -> String {
        let text = self.slice(start, end);
        self.note_aliases(text, start);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('!') {
            let (head, tail) = rest.split_at(at);
            out.push_str(head);
            let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
            let len = tail.get(1..).and_then(|t| t.find(|c| !word(c))).map_or(tail.len(), |n| n + 1);
            let (name, after) = tail.split_at(len);
            match self.type_aliases.get(name) {
                Some(ty) => out.push_str(&ty.to_string()),
                None => out.push_str(name),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// Whether a value of another type may be used as this one: its own was only guessed, or both are the same but
    /// for aliases and white space.
    pub(super) fn agrees(&mut self, value: ValueId, ty: &Type) -> bool {
        if self.dialect.is_none() {
            return false;
        }
        if self.m.values[value].ty == Type::None || self.guessed.remove(&value) {
            self.m.values[value].ty = ty.clone();
            return true;
        }
        self.expanded(&self.m.values[value].ty) == self.expanded(ty)
    }

    fn expanded(&self, ty: &Type) -> String {
        let mut text: String = ty.to_string().split_whitespace().collect();
        // Aliases of aliases are short; a circle ends.
        for _ in 0..8 {
            let Some((name, body)) = self.m.attr_aliases.iter().find_map(|(name, attr)| {
                let body = match attr {
                    Attr::Opaque(body) => body.split_whitespace().collect::<String>(),
                    Attr::Alias(other) => format!("#{other}"),
                    _ => return None,
                };
                let name = format!("#{name}");
                let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
                let at = text.find(&name)?;
                let whole = !text.get(at + name.len()..).is_some_and(|t| t.starts_with(word));
                whole.then_some((name, body))
            }) else {
                break;
            };
            text = text.replacen(&name, &body, 1);
        }
        text
    }

    /// Labels in kept assembly become the numbers of their blocks, which is how they are printed.
    pub(super) fn number_labels(&mut self, region: RegionId, labels: &[&'a str]) -> Parse<()> {
        if self.dialect.is_none() {
            return Ok(());
        }
        let blocks = self.m.regions[region].blocks.clone();
        let ops: Vec<OpId> = blocks.iter().flat_map(|b| self.m.blocks[*b].ops.clone()).collect();
        for op in ops {
            let Some(text) = self.m.ops[op].props.get(ASSEMBLY).and_then(Attr::as_str) else { continue };
            if !text.contains('^') {
                continue;
            }
            let mut out = String::new();
            let mut pieces = text.split('^');
            out.push_str(pieces.next().unwrap_or(""));
            let mut missing = None;
            for piece in pieces {
                let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
                let (name, rest) = piece.split_at(piece.find(|c| !word(c)).unwrap_or(piece.len()));
                match labels.iter().position(|l| l.strip_prefix('^') == Some(name)) {
                    Some(n) => out.push_str(&format!("^bb{n}{rest}")),
                    None => missing = Some(name.to_owned()),
                }
            }
            if let Some(name) = missing {
                let at = self.m.ops[op].span.unwrap_or(0) as usize;
                return Err(self.error(at, format!("block `^{name}` is not defined")));
            }
            self.set_prop(op, ASSEMBLY, Attr::Opaque(out));
        }
        Ok(())
    }
}
