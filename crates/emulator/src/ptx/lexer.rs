//! Words, numbers and punctuation of PTX (E16, E18), made on demand.

use crate::error::Diagnostic;

/// One token; slices borrow the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A name, directive, register or whole opcode with its modifiers: `%r1`, `.reg`, `shared::cta`.
    Word(&'a str),
    /// A number as written, without sign.
    Number(&'a str),
    /// The inside of a string literal.
    Text(&'a str),
    /// One character of punctuation.
    Punct(u8),
    /// The end of the text.
    End,
}

/// Streaming tokenizer with the line of each token.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    ahead: Option<(Token<'a>, u32)>,
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'%' | b'.') || c >= 0x80
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Lexer { text, at: 0, line: 1, ahead: None }
    }

    fn byte(&self, i: usize) -> u8 {
        self.text.as_bytes().get(i).copied().unwrap_or(0)
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    /// Skips blanks and comments; fails on a comment without end.
    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b' ' | b'\t' | b'\r' | 0x0c, _) => self.at += 1,
                (b'/', b'/') => {
                    while self.at < self.text.len() && self.byte(self.at) != b'\n' {
                        self.at += 1;
                    }
                }
                (b'/', b'*') => {
                    let start = self.line;
                    self.at += 2;
                    while !(self.byte(self.at) == b'*' && self.byte(self.at + 1) == b'/') {
                        if self.at >= self.text.len() {
                            return Err(Diagnostic::new(
                                "P01",
                                start,
                                "comment without end",
                                "close it with */",
                            ));
                        }
                        self.line += u32::from(self.byte(self.at) == b'\n');
                        self.at += 1;
                    }
                    self.at += 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn scan(&mut self) -> Result<(Token<'a>, u32), Diagnostic> {
        self.skip_blank()?;
        let (start, line) = (self.at, self.line);
        if start >= self.text.len() {
            return Ok((Token::End, line));
        }
        let c = self.byte(start);
        if c.is_ascii_digit() {
            while self.byte(self.at).is_ascii_alphanumeric()
                || (self.byte(self.at) == b'.' && self.byte(self.at + 1).is_ascii_digit())
            {
                self.at += 1;
            }
            return Ok((Token::Number(self.slice(start, self.at)), line));
        }
        if is_word(c) {
            loop {
                let c = self.byte(self.at);
                if is_word(c) {
                    self.at += 1;
                } else if c == b':' && self.byte(self.at + 1) == b':' && is_word(self.byte(self.at + 2)) {
                    self.at += 2;
                } else {
                    break;
                }
            }
            return Ok((Token::Word(self.slice(start, self.at)), line));
        }
        self.at += 1;
        if c == b'"' {
            while self.byte(self.at) != b'"' {
                if self.at >= self.text.len() || self.byte(self.at) == b'\n' {
                    return Err(Diagnostic::new("P01", line, "string without end", "close it with \""));
                }
                self.at += if self.byte(self.at) == b'\\' { 2 } else { 1 };
            }
            self.at += 1;
            return Ok((Token::Text(self.slice(start + 1, self.at - 1)), line));
        }
        Ok((Token::Punct(c), line))
    }

    /// The next token without taking it.
    pub(crate) fn peek(&mut self) -> Result<Token<'a>, Diagnostic> {
        Ok(self.peek_line()?.0)
    }

    /// The next token and its line without taking it.
    pub(crate) fn peek_line(&mut self) -> Result<(Token<'a>, u32), Diagnostic> {
        if self.ahead.is_none() {
            self.ahead = Some(self.scan()?);
        }
        Ok(self.ahead.unwrap_or((Token::End, self.line)))
    }

    /// Takes the next token.
    pub(crate) fn next(&mut self) -> Result<(Token<'a>, u32), Diagnostic> {
        match self.ahead.take() {
            Some(t) => Ok(t),
            None => self.scan(),
        }
    }

    /// Takes the next token if it is this character.
    pub(crate) fn eat(&mut self, c: u8) -> Result<bool, Diagnostic> {
        let hit = self.peek()? == Token::Punct(c);
        if hit {
            self.next()?;
        }
        Ok(hit)
    }

    /// Takes this character or fails.
    pub(crate) fn expect(&mut self, c: u8) -> Result<(), Diagnostic> {
        let (t, line) = self.next()?;
        if t == Token::Punct(c) { Ok(()) } else { Err(unexpected(t, line, &format!("'{}'", c as char))) }
    }

    /// Takes a word or fails.
    pub(crate) fn word(&mut self) -> Result<(&'a str, u32), Diagnostic> {
        match self.next()? {
            (Token::Word(w), line) => Ok((w, line)),
            (t, line) => Err(unexpected(t, line, "a name")),
        }
    }

    /// Takes an unsigned integer or fails.
    pub(crate) fn integer(&mut self) -> Result<u64, Diagnostic> {
        match self.next()? {
            (Token::Number(n), line) => integer(n).ok_or_else(|| {
                Diagnostic::new("P01", line, format!("'{n}' is no integer"), "use a whole number")
            }),
            (t, line) => Err(unexpected(t, line, "a whole number")),
        }
    }

    /// Drops what stands on `line` (`.loc` and `.file` have no semicolon).
    pub(crate) fn skip_line(&mut self, line: u32) -> Result<(), Diagnostic> {
        loop {
            let (t, l) = self.peek_line()?;
            if t == Token::End || l != line {
                return Ok(());
            }
            self.next()?;
        }
    }
}

/// The complaint about a token that does not fit.
pub(crate) fn unexpected(t: Token<'_>, line: u32, wanted: &str) -> Diagnostic {
    let found = match t {
        Token::Word(w) | Token::Number(w) => format!("'{}'", w.chars().take(40).collect::<String>()),
        Token::Text(_) => "a string".to_string(),
        Token::Punct(c) if c.is_ascii_graphic() => format!("'{}'", c as char),
        Token::Punct(c) => format!("byte {c}"),
        Token::End => "the end of the text".to_string(),
    };
    Diagnostic::new("P01", line, format!("expected {wanted}, found {found}"), "check that this is PTX text")
}

/// Decimal, hexadecimal, octal or binary with an optional `U`.
pub(crate) fn integer(n: &str) -> Option<u64> {
    let n = n.trim_end_matches(['U', 'u']);
    let lower = n.to_ascii_lowercase();
    if let Some(h) = lower.strip_prefix("0x") {
        u64::from_str_radix(h, 16).ok()
    } else if let Some(b) = lower.strip_prefix("0b") {
        u64::from_str_radix(b, 2).ok()
    } else if n.len() > 1 && n.starts_with('0') && n.bytes().all(|c| c.is_ascii_digit()) {
        u64::from_str_radix(n, 8).ok()
    } else {
        n.parse().ok()
    }
}
