//! Reads MLIR text into a [`Module`].
//!
//! Errors are collected: after one the parser goes on with the next operation. What nests (regions, types,
//! attributes, locations) is bounded in depth, so no input can exhaust the stack.

mod attrs;
mod branches;
mod custom;
mod flat;
mod kept;
mod locs;
mod names;
mod numbers;
mod older;
mod ops;
mod regions;
mod structured;
mod types;
mod values;

use std::collections::{HashMap, HashSet};

use cranelift_entity::SecondaryMap;

pub(crate) use self::custom::inferred;
use self::names::Names;
use super::dialect::{Dialect, Parsed};
use super::lexer::{Kind, Lexer, Token};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::entity::{LocId, NameId, OpId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::types::Type;

/// Deepest nesting of types, attributes and locations that is read.
pub const MAX_NESTING: u32 = 64;
/// Deepest nesting of regions that is read.
pub const MAX_REGIONS: u32 = 64;
/// After this many errors the parser gives up.
pub const MAX_ERRORS: usize = 100;

/// An error has been recorded.
#[derive(Debug)]
pub(super) struct Failed;

pub(super) type Parse<T> = Result<T, Failed>;

pub(super) struct Parser<'a> {
    src: &'a str,
    lex: Lexer<'a>,
    /// The next token.
    tok: Token,
    /// End of the token before it.
    last_end: usize,
    m: Module,
    names: Names<'a>,
    diags: Vec<Diagnostic>,
    /// Nothing more is read or reported.
    fatal: bool,
    nesting: u32,
    regions: u32,
    /// References to location aliases: one `LocId` for each name, and the first place.
    loc_uses: HashMap<&'a str, (LocId, usize)>,
    /// References to attribute aliases: the first place of each name.
    attr_uses: HashMap<&'a str, usize>,
    /// Names of operations outside the known dialects.
    op_names: HashMap<String, NameId>,
    /// Formats of other dialects; with them, unknown custom assembly is kept.
    dialect: Option<Dialect>,
    /// `!name = type`, read with a dialect only.
    type_aliases: HashMap<&'a str, Type>,
    /// Blocks that branches name, in regions that are still being read.
    labels: Vec<names::Label<'a>>,
    /// Results of kept assembly: their types are taken from its end and give way to what a use says.
    guessed: HashSet<ValueId>,
    spans: SecondaryMap<OpId, (u32, u32)>,
}

/// Reads a module.
///
/// # Errors
/// Every error found, in file order. `Code::Parse` for syntax, `Code::Verify` for values without a definition
/// or used as another type than theirs, `Code::Op` and `Code::Type` for names that are not known.
pub fn parse(text: &str) -> Result<Module, Diagnostics> {
    if u32::try_from(text.len()).is_err() {
        return Err(Diagnostic::error(Code::Parse, "the text is longer than 4 GiB").at(Some(0)).into());
    }
    let mut parser = Parser::new(text, None);
    parser.top_level();
    parser.finish().map(|parsed| parsed.module)
}

/// Reads a module with operations of other dialects: those that the dialect knows by their formats, any other one
/// as it stands. Type aliases are replaced by their types; a text without operations is an empty module.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(text: &str, dialect: Dialect) -> Result<Parsed, Diagnostics> {
    if u32::try_from(text.len()).is_err() {
        return Err(Diagnostic::error(Code::Parse, "the text is longer than 4 GiB").at(Some(0)).into());
    }
    let mut parser = Parser::new(text, Some(dialect));
    parser.top_level();
    parser.finish()
}

impl<'a> Parser<'a> {
    fn new(src: &'a str, dialect: Option<Dialect>) -> Parser<'a> {
        let mut lex = Lexer::new(src);
        let tok = lex.next();
        Parser {
            src,
            lex,
            tok,
            last_end: 0,
            m: Module::new(),
            names: Names::default(),
            diags: Vec::new(),
            fatal: false,
            nesting: 0,
            regions: 0,
            loc_uses: HashMap::new(),
            attr_uses: HashMap::new(),
            op_names: HashMap::new(),
            dialect,
            type_aliases: HashMap::new(),
            labels: Vec::new(),
            guessed: HashSet::new(),
            spans: SecondaryMap::new(),
        }
    }

    fn top_level(&mut self) {
        self.names.push_isolated();
        let body = self.m.body();
        let mut seen_op = false;
        while !self.fatal && self.tok.kind != Kind::Eof {
            let start = self.tok.start;
            let done = match self.tok.kind {
                Kind::Hash => self.alias(seen_op),
                Kind::Exclaim if self.dialect.is_some() => self.type_alias(),
                Kind::Exclaim => {
                    let diag = self
                        .diagnostic(Code::Type, "type aliases are not supported", self.tok.start)
                        .note("instead", "write the type out where it is used");
                    Err(self.report(diag))
                }
                _ => {
                    seen_op = true;
                    self.operation(body)
                }
            };
            if done.is_err() {
                self.recover(start);
                // A brace that closes nothing would be found here for ever.
                if self.is("}") {
                    self.advance();
                }
            }
        }
        self.pop_isolated();
        if !seen_op && !self.fatal && self.dialect.is_none() {
            let diag = self
                .diagnostic(Code::Parse, "the text holds no module", self.src.len())
                .note("needs", "`module {` .. `}` with a `tt.func` in it");
            self.report(diag);
        }
    }

    fn finish(mut self) -> Result<Parsed, Diagnostics> {
        if !self.fatal {
            self.check_aliases();
        }
        if !self.diags.is_empty() {
            self.diags.sort_by_key(|d| d.offset);
            return Err(self.diags.into());
        }
        // A single module is the root itself.
        let body = self.m.body();
        if let [only] = self.m.blocks[body].ops[..]
            && self.m.ops[only].opcode == Opcode::Module
        {
            self.m.ops[only].block = None;
            self.m.root = only;
        }
        Ok(Parsed { module: self.m, spans: self.spans })
    }

    // ---- tokens ----

    fn advance(&mut self) -> Token {
        let token = self.tok;
        self.last_end = token.end;
        self.tok = self.lex.next();
        token
    }

    /// Goes on at another place of the source.
    fn seek(&mut self, pos: usize) {
        self.last_end = pos;
        self.lex.seek(pos);
        self.tok = self.lex.next();
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.src.get(start..end).unwrap_or("")
    }

    fn text(&self, token: Token) -> &'a str {
        self.slice(token.start, token.end)
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.tok.kind, Kind::Punct(p) if p == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        self.tok.kind == Kind::Word && self.text(self.tok) == word
    }

    /// Takes the mark if it comes next.
    fn eat(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, mark: &str) -> Parse<Token> {
        match self.is(mark) {
            true => Ok(self.advance()),
            false => Err(self.unexpected(&format!("`{mark}`"))),
        }
    }

    fn expect_word(&mut self, word: &str) -> Parse<Token> {
        match self.is_word(word) {
            true => Ok(self.advance()),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    fn expect_kind(&mut self, kind: Kind, what: &str) -> Parse<Token> {
        match self.tok.kind == kind {
            true => Ok(self.advance()),
            false => Err(self.unexpected(what)),
        }
    }

    // ---- errors ----

    fn diagnostic(&self, code: Code, message: impl Into<String>, at: usize) -> Diagnostic {
        Diagnostic::error(code, message).at(u32::try_from(at).ok())
    }

    fn report(&mut self, diag: Diagnostic) -> Failed {
        if !self.fatal {
            self.diags.push(diag);
            if self.diags.len() >= MAX_ERRORS {
                self.fatal = true;
            }
        }
        Failed
    }

    /// A syntax error.
    fn error(&mut self, at: usize, message: impl Into<String>) -> Failed {
        let diag = self.diagnostic(Code::Parse, message, at).rule("C5");
        self.report(diag)
    }

    /// The next token is not what is needed.
    fn unexpected(&mut self, wanted: &str) -> Failed {
        // What is missing at the end of a line is missing there, not on the next one.
        if self.tok.kind != Kind::Eof && self.slice(self.last_end, self.tok.start).contains('\n') {
            return self.error(self.last_end, format!("expected {wanted} at the end of the line"));
        }
        self.unexpected_here(wanted)
    }

    /// The same where the next token begins something new.
    fn unexpected_here(&mut self, wanted: &str) -> Failed {
        let at = self.tok.start;
        match self.tok.kind {
            Kind::Eof => {
                let failed = self.error(at, format!("the text ends where {wanted} is expected"));
                self.fatal = true;
                failed
            }
            Kind::Bad(what) => self.error(at, format!("expected {wanted}, found {what}")),
            _ => {
                let found: String = self.text(self.tok).chars().take(40).collect();
                self.error(at, format!("expected {wanted}, found `{found}`"))
            }
        }
    }

    /// The text ends in the middle of this word, which is why it is not known.
    fn cut_off(&mut self, token: Token) -> Option<Failed> {
        if token.end < self.src.len() {
            return None;
        }
        let failed = self.error(token.start, "the text ends inside this word");
        self.fatal = true;
        Some(failed)
    }

    /// Skips the broken operation that began at `start`: to the next line that begins like an operation,
    /// or to the brace that closes the block. Regions are taken to be laid out over several lines.
    fn recover(&mut self, start: usize) {
        if self.fatal {
            return;
        }
        self.seek(start);
        self.advance();
        let mut depth = 0usize;
        loop {
            let fresh = self.slice(self.last_end, self.tok.start).contains('\n');
            match self.tok.kind {
                Kind::Eof => return,
                Kind::Punct("}") if fresh && depth == 0 => return,
                Kind::Punct("}") if fresh => depth -= 1,
                Kind::Percent | Kind::String | Kind::Caret | Kind::Hash if fresh && depth == 0 => return,
                Kind::Word if fresh && depth == 0 => {
                    let word = self.text(self.tok);
                    if word.contains('.') || word == "module" {
                        return;
                    }
                }
                _ => {}
            }
            let opens = self.is("{");
            self.advance();
            if opens && self.slice(self.last_end, self.tok.start).contains('\n') {
                depth += 1;
            }
        }
    }

    /// Runs `read` one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= MAX_NESTING {
            let at = self.tok.start;
            let message = format!("types, attributes or locations nested more than {MAX_NESTING} deep");
            let failed = self.error(at, message);
            self.fatal = true;
            return Err(failed);
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }
}
