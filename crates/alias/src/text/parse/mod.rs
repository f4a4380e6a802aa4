//! Reading a part of a file into a [`Tree`]. Any assembly is read: an operation goes on to the next thing that
//! can only begin another one.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

mod pieces;
mod region;
mod scope;

use super::lexer::{Kind, Token, lex};
use super::tree::{BlockId, Op, OpId, Piece, Tree, ValueId};
use crate::error::{AliasError, Pos, Result};
use pieces::split_loc;
pub(crate) use pieces::{join, type_len, typed_defs};

/// Regions may be nested this deep.
const MAX_REGIONS: usize = 200;
/// A result pack has at most this many values.
const MAX_PACK: u32 = 1024;

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    tree: Tree,
    /// Innermost last. Isolated scopes see nothing of those around them.
    scopes: Vec<Scope>,
    depth: usize,
    /// The tokens met so far: most texts are made of a few.
    words: HashSet<Rc<str>>,
}

#[derive(Default)]
struct Scope {
    names: HashMap<String, Vec<ValueId>>,
    isolated: bool,
    /// Names used before their definition, with their first place.
    pending: Vec<(String, ValueId, Pos)>,
}

fn syntax(message: impl Into<String>, at: Pos) -> AliasError {
    AliasError::new("A16", message).at(at)
}

/// Reads one part; `line` is the number of its first line.
pub(crate) fn parse(text: &str, line: u32) -> Result<Tree> {
    let mut p = Parser {
        tokens: lex(text, line),
        at: 0,
        tree: Tree::default(),
        scopes: vec![Scope::default()],
        depth: 0,
        words: HashSet::new(),
    };
    p.tokens.iter().try_for_each(known)?;
    loop {
        let token = p.peek();
        match token.kind {
            Kind::End => break,
            Kind::Sigil if !token.text.starts_with('@') && p.ahead(1).text == "=" => p.alias()?,
            _ => {
                let op = p.op(None)?;
                p.tree.top.push(op);
            }
        }
    }
    p.pop_scope()?;
    Ok(p.tree)
}

/// Refuses what no assembly is made of.
fn known(token: &Token<'_>) -> Result<()> {
    let text = token.text;
    let ends = |t: &str| t.len() > 1 && t.ends_with('"');
    match token.kind {
        Kind::String if !ends(text) => Err(syntax("this string is never closed", token.pos)),
        Kind::Sigil if text.starts_with("@\"") && !ends(&text[1..]) => {
            Err(syntax("this name is never closed", token.pos))
        }
        Kind::Value | Kind::Label | Kind::Sigil if text.len() < 2 => {
            Err(syntax(format!("'{text}' has no name behind it"), token.pos))
        }
        Kind::Punct if !text.chars().all(|c| "()[]{}<>,:=-+*/?|.#".contains(c)) => {
            Err(syntax(format!("'{}' stands in no assembly", text.escape_debug()), token.pos))
        }
        _ => Ok(()),
    }
}

fn is_open(text: &str) -> bool {
    matches!(text, "(" | "[" | "{" | "<")
}

fn is_close(text: &str) -> bool {
    matches!(text, ")" | "]" | "}" | ">")
}

impl<'a> Parser<'a> {
    fn ahead(&self, n: usize) -> Token<'a> {
        let last = self.tokens.len().saturating_sub(1);
        let token = self.tokens.get((self.at + n).min(last)).copied();
        token.unwrap_or(Token {
            kind: Kind::End,
            text: "",
            pos: Pos { line: 1, col: 1 },
            space: false,
            line: true,
        })
    }

    fn peek(&self) -> Token<'a> {
        self.ahead(0)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len().saturating_sub(1));
        token
    }

    fn word(&mut self, text: &str) -> Rc<str> {
        self.words.get_or_insert_with(text, |t| Rc::from(t)).clone()
    }

    fn expect(&mut self, text: &str) -> Result<Token<'a>> {
        let token = self.next();
        match token.text == text && token.kind != Kind::String {
            true => Ok(token),
            false => Err(syntax(format!("expected '{text}', found '{}'", token.text), token.pos)),
        }
    }

    /// `#name = ..` to the end of the line, brackets balanced.
    fn alias(&mut self) -> Result<()> {
        let name = self.next();
        self.expect("=")?;
        let mut body = String::new();
        let mut open = 0usize;
        while self.peek().kind != Kind::End && (open > 0 || !self.peek().line || body.is_empty()) {
            let token = self.next();
            if token.kind == Kind::Punct && is_open(token.text) {
                open += 1;
            } else if token.kind == Kind::Punct && is_close(token.text) {
                open = open
                    .checked_sub(1)
                    .ok_or_else(|| syntax(format!("'{}' closes nothing", token.text), token.pos))?;
            }
            if token.space && !body.is_empty() {
                body.push(' ');
            }
            body.push_str(token.text);
        }
        if name.text.len() < 2 || body.is_empty() || open > 0 {
            return Err(syntax("expected a name and what it stands for", name.pos));
        }
        let before = self.tree.top.is_empty();
        self.tree.aliases.push((name.text.to_owned(), body, before));
        Ok(())
    }

    /// Whether the token at the cursor, first on its line, begins an operation.
    fn begins_op(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Value => {
                let mut n = 0;
                loop {
                    if self.ahead(n).kind != Kind::Value {
                        return false;
                    }
                    n += 1;
                    if self.ahead(n).text == ":" && self.ahead(n + 1).kind == Kind::Word {
                        n += 2;
                    }
                    match self.ahead(n).text {
                        "=" => return true,
                        "," => n += 1,
                        _ => return false,
                    }
                }
            }
            Kind::String => self.ahead(1).text == "(",
            Kind::Word => is_op_name(token.text),
            Kind::Sigil => !token.text.starts_with('@') && self.ahead(1).text == "=",
            _ => false,
        }
    }

    /// One operation with its results.
    fn op(&mut self, block: Option<BlockId>) -> Result<OpId> {
        let start = self.peek().pos;
        let mut names: Vec<(Token<'a>, u32)> = Vec::new();
        if self.peek().kind == Kind::Value {
            loop {
                let name = self.next();
                if name.kind != Kind::Value {
                    return Err(syntax("expected a value name", name.pos));
                }
                let mut count = 1;
                if self.peek().text == ":" {
                    self.next();
                    let n = self.next();
                    count = n
                        .text
                        .parse()
                        .ok()
                        .filter(|n| (1..=MAX_PACK).contains(n))
                        .ok_or_else(|| syntax("expected the number of results", n.pos))?;
                }
                names.push((name, count));
                if self.peek().text != "," {
                    break;
                }
                self.next();
            }
            self.expect("=")?;
        }
        let name = self.next();
        let named = match name.kind {
            Kind::Word => is_op_name(name.text),
            // The generic form: a name between quotes, and operands in parentheses.
            kind => {
                let inside = name.text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
                kind == Kind::String && inside.is_some_and(|t| !t.is_empty()) && self.peek().text == "("
            }
        };
        if !named {
            return Err(syntax(format!("expected an operation, found '{}'", name.text), name.pos));
        }
        let id = self.tree.ops.len();
        self.tree.ops.push(Op {
            name: name.text.trim_matches('"').to_owned(),
            quoted: name.kind == Kind::String,
            pos: name.pos,
            span: (start, start),
            results: Vec::new(),
            body: Vec::new(),
            loc: None,
            form: None,
            block,
        });
        let body = self.body(id)?;
        let end = self.peek().pos;
        let mut results = Vec::new();
        for (token, count) in names {
            let pack = |n| (count > 1).then_some((n, count));
            let values = (0..count).map(|n| self.new_value(token.text, Some(id), pack(n))).collect();
            results.extend(self.define(token.text, values, token.pos)?);
        }
        if let Some(op) = self.tree.ops.get_mut(id) {
            op.span = (start, end);
            op.results = results;
            op.body = body;
            split_loc(op);
        }
        Ok(id)
    }

    /// The assembly of an operation behind its name.
    fn body(&mut self, op: OpId) -> Result<Vec<Piece>> {
        let (name, quoted) =
            self.tree.ops.get(op).map_or_else(Default::default, |o| (o.name.clone(), o.quoted));
        let func = name == "func" || name.ends_with(".func");
        let keep_args = name == "stablehlo.while";
        let mut out: Vec<Piece> = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        let mut args: Vec<(Token<'a>, ValueId)> = Vec::new();
        let mut partition = false;
        loop {
            let token = self.peek();
            let outside = open.is_empty();
            if token.kind == Kind::End {
                match open.last() {
                    None => return Ok(out),
                    Some(b) => return Err(syntax(format!("'{b}' is never closed"), token.pos)),
                }
            }
            if outside
                && (token.text == "}" && token.kind == Kind::Punct || token.kind == Kind::Label && token.line)
            {
                return Ok(out);
            }
            if outside && token.line && self.begins_op() && !(out.is_empty() && func) {
                return Ok(out);
            }
            if token.kind == Kind::Value {
                let then = self.ahead(1).text;
                let in_parens = open.last() == Some(&"(");
                if then == "=" || (then == ":" && in_parens && (func || partition)) {
                    self.next();
                    let value = self.new_value(token.text, None, None);
                    args.push((token, value));
                    out.push(Piece::Def(value, token.space));
                    continue;
                }
                self.next();
                let mut number = None;
                if self.peek().kind == Kind::Number {
                    number = self.next().text.trim_start_matches('#').parse().ok();
                }
                let value = self.lookup(token.text, number, token.pos)?;
                out.push(Piece::Use(value, token.space));
                continue;
            }
            if token.text == "{" && token.kind == Kind::Punct && self.opens_region(&open, &out, &name, quoted)
            {
                let taken = if keep_args { args.clone() } else { std::mem::take(&mut args) };
                partition = false;
                let region = self.region(op, taken, func || name == "module" || name == "builtin.module")?;
                out.push(Piece::Region(region));
                continue;
            }
            self.next();
            if token.kind == Kind::Punct {
                if is_open(token.text) {
                    open.push(token.text);
                } else if is_close(token.text) {
                    let fits = matches!(
                        (open.pop(), token.text),
                        (Some("("), ")") | (Some("["), "]") | (Some("{"), "}") | (Some("<"), ">")
                    );
                    if !fits {
                        return Err(syntax(format!("'{}' closes nothing", token.text), token.pos));
                    }
                }
            }
            if token.kind == Kind::Word && outside && token.text.starts_with("partition") {
                partition = true;
            }
            out.push(Piece::Text(self.word(token.text), token.space));
        }
    }
}

/// Whether a bare word names an operation: one of a dialect, or one of those that are written without theirs.
fn is_op_name(text: &str) -> bool {
    let dotted = text.split_once('.').is_some_and(|(dialect, name)| {
        dialect.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.is_empty()
    });
    dotted || matches!(text, "module" | "func" | "return" | "call")
}
