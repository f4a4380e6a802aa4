//! Tokens of MLIR text, one at a time, with byte offsets.

/// What a token is. The text of a token is the slice of the source it covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// End of the text.
    Eof,
    /// Something that is no token; the message says what.
    Bad(&'static str),
    /// `arith.addi`, `x`, `i32`.
    Word,
    /// `%name`, `%4`.
    Percent,
    /// `@name`, `@"name"`.
    At,
    /// `#name`, `#0`.
    Hash,
    /// `!tt.ptr`.
    Exclaim,
    /// `^bb0`.
    Caret,
    /// `42`, `0x2A`.
    Integer,
    /// `1.5e-3`.
    Float,
    /// `"text"`, with the quotes.
    String,
    /// One of `( ) { } [ ] < > , : = - + * ? / | ; ::` or `->`.
    Punct(&'static str),
}

/// A token: its kind and the bytes `start .. end` of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Reads tokens from the source at `pos`.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    src: &'a str,
    pos: usize,
}

const PUNCT: [&str; 20] =
    ["->", "::", "(", ")", "{", "}", "[", "]", "<", ">", ",", ":", "=", "-", "+", "*", "?", "/", "|", ";"];

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')
}

fn is_suffix(b: u8) -> bool {
    is_word(b) || b == b'-'
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(src: &'a str) -> Lexer<'a> {
        Lexer { src, pos: 0 }
    }

    /// The byte at `pos + ahead`, 0 behind the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.src.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// Continues at another place of the source.
    pub(crate) fn seek(&mut self, pos: usize) {
        self.pos = pos.min(self.src.len());
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.pos < self.src.len() && keep(self.byte(0)) {
            self.pos += 1;
        }
    }

    /// Skips white space, `//` comments and `{-# .. #-}` blocks; false when a block has no end.
    fn skip_blank(&mut self) -> bool {
        loop {
            self.skip_while(|b| b.is_ascii_whitespace());
            let rest = self.src.as_bytes().get(self.pos..).unwrap_or(&[]);
            if rest.starts_with(b"//") {
                self.skip_while(|b| b != b'\n');
            } else if rest.starts_with(b"{-#") {
                match self.src.get(self.pos + 3..).and_then(|tail| tail.find("#-}")) {
                    Some(at) => self.pos += 3 + at + 3,
                    None => return false,
                }
            } else {
                return true;
            }
        }
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Token {
        let closed = self.skip_blank();
        let start = self.pos;
        if !closed {
            self.pos = self.src.len();
            return Token { kind: Kind::Bad("`{-#` without `#-}`"), start, end: self.pos };
        }
        let kind = self.scan();
        Token { kind, start, end: self.pos }
    }

    fn scan(&mut self) -> Kind {
        if self.pos >= self.src.len() {
            return Kind::Eof;
        }
        match self.byte(0) {
            b'%' => self.sigil(Kind::Percent, "`%` without a name"),
            b'#' => self.sigil(Kind::Hash, "`#` without a name"),
            b'!' => self.sigil(Kind::Exclaim, "`!` without a name"),
            b'^' => self.sigil(Kind::Caret, "`^` without a name"),
            b'@' if self.byte(1) == b'"' => {
                self.pos += 1;
                match self.string() {
                    Kind::String => Kind::At,
                    bad => bad,
                }
            }
            b'@' => self.sigil(Kind::At, "`@` without a name"),
            b'"' => self.string(),
            b'0'..=b'9' => self.number(),
            b if b.is_ascii_alphabetic() || b == b'_' => {
                self.skip_while(is_word);
                Kind::Word
            }
            _ => self.punct(),
        }
    }

    fn sigil(&mut self, kind: Kind, missing: &'static str) -> Kind {
        self.pos += 1;
        let first = self.byte(0);
        if first.is_ascii_digit() {
            self.skip_while(|b| b.is_ascii_digit());
            kind
        } else if is_suffix(first) {
            self.skip_while(is_suffix);
            kind
        } else {
            Kind::Bad(missing)
        }
    }

    fn string(&mut self) -> Kind {
        self.pos += 1;
        loop {
            self.skip_while(|b| !matches!(b, b'"' | b'\\' | b'\n'));
            match self.byte(0) {
                b'"' => {
                    self.pos += 1;
                    return Kind::String;
                }
                b'\\' if self.pos + 1 < self.src.len() && self.byte(1) != b'\n' => {
                    self.pos += 1;
                    self.pos +=
                        self.src.get(self.pos..).and_then(|s| s.chars().next()).map_or(1, char::len_utf8);
                }
                b'\\' => self.pos += 1,
                _ => return Kind::Bad("a string without its closing quote"),
            }
        }
    }

    fn number(&mut self) -> Kind {
        if self.byte(0) == b'0' && self.byte(1) == b'x' && self.byte(2).is_ascii_hexdigit() {
            self.pos += 2;
            self.skip_while(|b| b.is_ascii_hexdigit());
            return Kind::Integer;
        }
        self.skip_while(|b| b.is_ascii_digit());
        if self.byte(0) != b'.' {
            return Kind::Integer;
        }
        self.pos += 1;
        self.skip_while(|b| b.is_ascii_digit());
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.pos += 1 + sign;
                self.skip_while(|b| b.is_ascii_digit());
            }
        }
        Kind::Float
    }

    fn punct(&mut self) -> Kind {
        let rest = self.src.get(self.pos..).unwrap_or("");
        match PUNCT.iter().find(|p| rest.starts_with(**p)) {
            Some(p) => {
                self.pos += p.len();
                Kind::Punct(p)
            }
            None => {
                self.pos += rest.chars().next().map_or(1, char::len_utf8);
                Kind::Bad("an unexpected character")
            }
        }
    }
}
