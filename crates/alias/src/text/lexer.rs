//! Tokens of MLIR text, for reading any assembly without knowing its format.

use crate::error::Pos;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `%x`, without a `#1` behind it.
    Value,
    /// `#1` right behind a value: which result.
    Number,
    /// A bare word or number: `arith.addi`, `2x64xf32`, `16384`.
    Word,
    /// `"text"`.
    String,
    /// `^bb0`.
    Label,
    /// `#name`, `!name`, `@name`.
    Sigil,
    /// Anything else; brackets are one character each.
    Punct,
    /// The end.
    End,
}

/// A token of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) pos: Pos,
    /// White space stood before it.
    pub(crate) space: bool,
    /// A line end stood before it.
    pub(crate) line: bool,
}

/// Splits a text; `line` is the number of its first line in the file.
pub(crate) fn lex(text: &str, line: u32) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut out: Vec<Token<'_>> = Vec::new();
    let (mut at, mut start_of_line, mut line) = (0usize, 0usize, line);
    let (mut space, mut fresh) = (false, true);
    let get = |n: usize| bytes.get(n).copied().unwrap_or(0);
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
    while at < bytes.len() {
        let b = get(at);
        if b == b'\n' {
            (at, start_of_line, line) = (at + 1, at + 1, line.saturating_add(1));
            (space, fresh) = (true, true);
            continue;
        }
        if b.is_ascii_whitespace() {
            at += 1;
            space = true;
            continue;
        }
        if b == b'/' && get(at + 1) == b'/' {
            while at < bytes.len() && get(at) != b'\n' {
                at += 1;
            }
            continue;
        }
        let from = at;
        let run = |mut n: usize, keep: &dyn Fn(u8) -> bool| {
            while n < bytes.len() && keep(get(n)) {
                n += 1;
            }
            n
        };
        let dashed = |b: u8| word(b) || b == b'-';
        let kind = match b {
            b'%' => {
                at = match get(at + 1).is_ascii_digit() {
                    true => run(at + 1, &|b| b.is_ascii_digit()),
                    false => run(at + 1, &dashed),
                };
                Kind::Value
            }
            b'^' => {
                at = run(at + 1, &dashed);
                Kind::Label
            }
            b'#' if !space && get(at + 1).is_ascii_digit() && last_is_value(&out) => {
                at = run(at + 1, &|b| b.is_ascii_digit());
                Kind::Number
            }
            b'@' if get(at + 1) == b'"' => {
                at = string_end(bytes, at + 1);
                Kind::Sigil
            }
            b'#' | b'!' | b'@' => {
                at = run(at + 1, &word);
                Kind::Sigil
            }
            b'"' => {
                at = string_end(bytes, at);
                Kind::String
            }
            b'-' if get(at + 1) == b'>' => {
                at += 2;
                Kind::Punct
            }
            b':' if get(at + 1) == b':' => {
                at += 2;
                Kind::Punct
            }
            b if word(b) => {
                at = run(at, &word);
                Kind::Word
            }
            _ => {
                at += text.get(at..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8);
                Kind::Punct
            }
        };
        let col = u32::try_from(from - start_of_line).unwrap_or(u32::MAX).saturating_add(1);
        let pos = Pos { line, col };
        out.push(Token { kind, text: text.get(from..at).unwrap_or(""), pos, space, line: fresh });
        (space, fresh) = (false, false);
    }
    let col = u32::try_from(at - start_of_line).unwrap_or(u32::MAX).saturating_add(1);
    out.push(Token { kind: Kind::End, text: "", pos: Pos { line, col }, space: true, line: true });
    out
}

fn last_is_value(out: &[Token<'_>]) -> bool {
    out.last().is_some_and(|t| t.kind == Kind::Value)
}

/// Behind the closing quote, or the end of the line without one.
fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'"' => return at + 1,
            b'\n' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
