//! Reading a part of a file into a [`Tree`]. Any assembly is read: an operation goes on to the next thing that
//! can only begin another one.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::lexer::{Kind, Token, lex};
use super::tree::{Block, BlockId, Op, OpId, Piece, Region, RegionId, Tree, Value, ValueId};
use crate::error::{AliasError, Pos, Result};

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

    fn new_value(&mut self, name: &str, def: Option<OpId>, pack: Option<(u32, u32)>) -> ValueId {
        self.tree.values.push(Value { name: name.trim_start_matches('%').to_owned(), ty: None, def, pack });
        self.tree.values.len() - 1
    }

    /// Makes a name known; a use before it now refers to it.
    fn define(&mut self, name: &str, values: Vec<ValueId>, pos: Pos) -> Result<Vec<ValueId>> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(values) };
        let mut values = values;
        if let Some(at) = scope.pending.iter().position(|(n, ..)| n == name) {
            let (_, early, _) = scope.pending.swap_remove(at);
            if let Some(first) = values.first_mut() {
                // The early value takes over the definition.
                if let Some(v) = self.tree.values.get(*first).cloned()
                    && let Some(slot) = self.tree.values.get_mut(early)
                {
                    *slot = v;
                }
                *first = early;
            }
            scope.names.remove(name);
        }
        if scope.names.insert(name.to_owned(), values.clone()).is_some() {
            return Err(syntax(format!("redefinition of SSA value '{name}'"), pos));
        }
        Ok(values)
    }

    fn lookup(&mut self, name: &str, number: Option<u32>, pos: Pos) -> Result<ValueId> {
        for scope in self.scopes.iter().rev() {
            if let Some(values) = scope.names.get(name) {
                return values
                    .get(number.unwrap_or(0) as usize)
                    .copied()
                    .ok_or_else(|| syntax(format!("'{name}' has only {} results", values.len()), pos));
            }
            if scope.isolated {
                break;
            }
        }
        let value = self.new_value(name, None, None);
        if let Some(scope) = self.scopes.last_mut() {
            scope.pending.push((name.to_owned(), value, pos));
            scope.names.insert(name.to_owned(), vec![value]);
        }
        Ok(value)
    }

    fn pop_scope(&mut self) -> Result<()> {
        match self.scopes.pop().and_then(|s| s.pending.into_iter().next()) {
            Some((name, _, pos)) => Err(syntax(format!("use of undeclared SSA value name '{name}'"), pos)),
            None => Ok(()),
        }
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

    /// Whether a `{` opens a region and no dictionary of attributes.
    fn opens_region(&self, open: &[&str], out: &[Piece], name: &str, quoted: bool) -> bool {
        // `<{..}>` holds properties; regions stand outside of brackets, or in `({..}, {..})`.
        if !(open.is_empty() || open == ["("]) {
            return false;
        }
        let (first, second) = (self.ahead(1), self.ahead(2));
        let last = out.last().map_or("", Piece::text);
        // Modules and functions say `attributes` before theirs, but where the operation is between quotes.
        let has_body = name == "module" || name.ends_with("func") || name == "builtin.module";
        if has_body && !quoted && open.is_empty() {
            return last != "attributes";
        }
        match first.kind {
            Kind::Punct if first.text == "}" => {
                matches!(last, "default" | "do" | "cond" | "else") || open == ["("]
            }
            Kind::String => second.text == "(",
            Kind::Label | Kind::Value => true,
            Kind::Word => match second.text {
                "=" | "," => false,
                "}" => ["return", "yield", "terminator"].iter().any(|e| first.text.ends_with(e)),
                _ => true,
            },
            _ => false,
        }
    }

    fn region(&mut self, op: OpId, args: Vec<(Token<'a>, ValueId)>, isolated: bool) -> Result<RegionId> {
        let brace = self.expect("{")?;
        self.depth += 1;
        if self.depth > MAX_REGIONS {
            return Err(syntax(format!("regions are nested more than {MAX_REGIONS} deep"), brace.pos));
        }
        let id = self.tree.regions.len();
        self.tree.regions.push(Region { blocks: Vec::new(), parent: Some(op) });
        self.scopes.push(Scope { isolated, ..Scope::default() });
        let mut block = self.block(id);
        for (token, value) in args {
            self.define(token.text, vec![value], token.pos)?;
            if let Some(b) = self.tree.blocks.get_mut(block) {
                b.args.push(value);
            }
        }
        loop {
            let token = self.peek();
            if token.kind == Kind::End {
                return Err(syntax("expected '}'", token.pos).related("to close this", brace.pos));
            }
            if token.text == "}" && token.kind == Kind::Punct {
                break;
            }
            if token.kind == Kind::Label {
                let fresh =
                    self.tree.blocks.get(block).is_some_and(|b| b.ops.is_empty() && b.header.is_empty());
                if !fresh {
                    block = self.block(id);
                }
                self.header(block)?;
                continue;
            }
            let op = self.op(Some(block))?;
            if let Some(b) = self.tree.blocks.get_mut(block) {
                b.ops.push(op);
            }
        }
        self.next();
        self.pop_scope()?;
        self.depth -= 1;
        Ok(id)
    }

    fn block(&mut self, region: RegionId) -> BlockId {
        let id = self.tree.blocks.len();
        self.tree.blocks.push(Block { region, ..Block::default() });
        if let Some(r) = self.tree.regions.get_mut(region) {
            r.blocks.push(id);
        }
        id
    }

    /// `^bb0(%a: T, %b: U):`
    fn header(&mut self, block: BlockId) -> Result<()> {
        let label = self.next();
        let mut pieces = vec![Piece::Text(self.word(label.text), false)];
        let mut args = Vec::new();
        let mut open = 0usize;
        loop {
            let token = self.next();
            match token.kind {
                Kind::End => return Err(syntax("expected ':' behind a block label", label.pos)),
                Kind::Value if open == 1 && self.peek().text == ":" => {
                    let value = self.new_value(token.text, None, None);
                    let defined = self.define(token.text, vec![value], token.pos)?;
                    let value = defined.first().copied().unwrap_or(value);
                    args.push(value);
                    pieces.push(Piece::Def(value, token.space));
                    continue;
                }
                Kind::Punct if token.text == ":" && open == 0 => {
                    pieces.push(Piece::Text(":".into(), false));
                    break;
                }
                Kind::Punct if is_open(token.text) => open += 1,
                Kind::Punct if is_close(token.text) => open = open.saturating_sub(1),
                _ => {}
            }
            pieces.push(Piece::Text(self.word(token.text), token.space));
        }
        typed_defs(&mut self.tree, &pieces);
        if let Some(b) = self.tree.blocks.get_mut(block) {
            b.header = pieces;
            b.args.extend(args);
        }
        Ok(())
    }
}

/// Takes `loc(..)` off the end.
fn split_loc(op: &mut Op) {
    if op.body.last().map(Piece::text) != Some(")") {
        return;
    }
    let mut open = 0usize;
    for (n, piece) in op.body.iter().enumerate().rev() {
        match piece.text() {
            ")" => open += 1,
            "(" => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            let before = n.checked_sub(1);
            if before.and_then(|b| op.body.get(b)).map(Piece::text) == Some("loc") {
                let tail = op.body.split_off(n - 1);
                op.loc = Some(join(&tail));
            }
            return;
        }
    }
}

/// Tokens as text; values do not occur in them.
pub(crate) fn join(pieces: &[Piece]) -> String {
    let mut out = String::with_capacity(pieces.iter().map(|p| p.text().len() + 1).sum());
    for piece in pieces {
        if let Piece::Text(text, space) = piece {
            if *space && !out.is_empty() {
                out.push(' ');
            }
            out.push_str(text);
        }
    }
    out
}

/// Gives block arguments the types that stand behind them: `%a: T` up to a comma or the closing bracket.
pub(crate) fn typed_defs(tree: &mut Tree, pieces: &[Piece]) {
    for (n, piece) in pieces.iter().enumerate() {
        let Piece::Def(value, _) = piece else { continue };
        if pieces.get(n + 1).map(Piece::text) != Some(":") {
            continue;
        }
        let ty = pieces.get(n + 2..).map(|rest| join(&rest[..type_len(rest)]));
        if let Some(v) = tree.values.get_mut(*value) {
            v.ty = ty;
        }
    }
}

/// Number of pieces that make one type: up to `,`, `->`, `{`, `=`, `loc`, or a bracket that it did not open.
pub(crate) fn type_len(pieces: &[Piece]) -> usize {
    let mut open = 0usize;
    for (n, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text, _) => match text.as_ref() {
                "," | "->" | "{" | "=" | "loc" | "attributes" if open == 0 => return n,
                t if is_open(t) => open += 1,
                t if is_close(t) => {
                    if open == 0 {
                        return n;
                    }
                    open -= 1;
                }
                _ => {}
            },
            _ => return n,
        }
    }
    pieces.len()
}

/// Whether a bare word names an operation: one of a dialect, or one of those that are written without theirs.
fn is_op_name(text: &str) -> bool {
    let dotted = text.split_once('.').is_some_and(|(dialect, name)| {
        dialect.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.is_empty()
    });
    dotted || matches!(text, "module" | "func" | "return" | "call")
}
