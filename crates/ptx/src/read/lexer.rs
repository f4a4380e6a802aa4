//! Words, numbers and punctuation of PTX (E16, E18), made on demand.

use crate::error::SyntaxError;

/// One token; slices borrow the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
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
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    ahead: Option<Lexeme<'a>>,
    /// Where the token taken last ends.
    end: usize,
}

/// A token with its line, and where it begins and ends.
#[derive(Clone, Copy)]
struct Lexeme<'a> {
    token: Token<'a>,
    line: u32,
    start: usize,
    end: usize,
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'%' | b'.') || c >= 0x80
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, at: 0, line: 1, ahead: None, end: 0 }
    }

    fn byte(&self, i: usize) -> u8 {
        self.text.as_bytes().get(i).copied().unwrap_or(0)
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    /// Skips blanks and comments; fails on a comment without end.
    fn skip_blank(&mut self) -> Result<(), SyntaxError> {
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
                            return Err(SyntaxError::new(start, "comment without end", "close it with */"));
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

    /// The token at `at`, which is no blank.
    fn scan(&mut self) -> Result<(Token<'a>, u32), SyntaxError> {
        let (start, line) = (self.at, self.line);
        if start >= self.text.len() {
            return Ok((Token::End, line));
        }
        let c = self.byte(start);
        if c.is_ascii_digit() {
            let mut point = false;
            loop {
                let (c, next) = (self.byte(self.at), self.byte(self.at + 1));
                // `15.` and `1.5e-3` are numbers; the dot of `4.x` is none of theirs.
                let first_point = c == b'.' && !point && (next.is_ascii_digit() || !is_word(next));
                let exponent =
                    point && matches!(c, b'+' | b'-') && matches!(self.byte(self.at - 1), b'e' | b'E');
                point |= first_point;
                if !(c.is_ascii_alphanumeric() || first_point || exponent) {
                    break;
                }
                self.at += 1;
            }
            return Ok((Token::Number(self.slice(start, self.at)), line));
        }
        if is_word(c) {
            loop {
                let c = self.byte(self.at);
                // Directives have no dots inside: `.reg.b16` is two.
                if c == b'.' && self.byte(start) == b'.' && self.at > start {
                    break;
                }
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
                    return Err(SyntaxError::new(line, "string without end", "close it with \""));
                }
                self.at += if self.byte(self.at) == b'\\' { 2 } else { 1 };
            }
            self.at += 1;
            return Ok((Token::Text(self.slice(start + 1, self.at - 1)), line));
        }
        Ok((Token::Punct(c), line))
    }

    /// The next token with its places, without taking it.
    fn ahead(&mut self) -> Result<Lexeme<'a>, SyntaxError> {
        if let Some(lexeme) = self.ahead {
            return Ok(lexeme);
        }
        self.skip_blank()?;
        let start = self.at;
        let (token, line) = self.scan()?;
        let lexeme = Lexeme { token, line, start, end: self.at };
        self.ahead = Some(lexeme);
        Ok(lexeme)
    }

    /// The next token without taking it.
    pub(super) fn peek(&mut self) -> Result<Token<'a>, SyntaxError> {
        Ok(self.ahead()?.token)
    }

    /// The next token and its line without taking it.
    pub(super) fn peek_line(&mut self) -> Result<(Token<'a>, u32), SyntaxError> {
        let lexeme = self.ahead()?;
        Ok((lexeme.token, lexeme.line))
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, u32), SyntaxError> {
        let lexeme = self.ahead()?;
        self.ahead = None;
        self.end = lexeme.end;
        Ok((lexeme.token, lexeme.line))
    }

    /// Where the next token begins.
    pub(super) fn start(&mut self) -> Result<usize, SyntaxError> {
        Ok(self.ahead()?.start)
    }

    /// The text from a place to the end of the token taken last.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.slice(start, self.end)
    }

    /// Where the word taken last begins.
    pub(super) fn since_word(&self, word: &str) -> usize {
        self.end.saturating_sub(word.len())
    }

    /// Takes tokens up to this character, which is not taken, and gives their text.
    pub(super) fn until(&mut self, c: u8) -> Result<&'a str, SyntaxError> {
        let start = self.start()?;
        let (_, line) = self.peek_line()?;
        self.end = start;
        loop {
            match self.peek()? {
                Token::Punct(p) if p == c => return Ok(self.since(start)),
                Token::End => {
                    let wanted = format!("a directive without '{}'", c as char);
                    return Err(SyntaxError::new(line, wanted, "end it"));
                }
                _ => self.next()?,
            };
        }
    }

    /// Takes the next token if it is this character.
    pub(super) fn eat(&mut self, c: u8) -> Result<bool, SyntaxError> {
        let hit = self.peek()? == Token::Punct(c);
        if hit {
            self.next()?;
        }
        Ok(hit)
    }

    /// Takes this character or fails.
    pub(super) fn expect(&mut self, c: u8) -> Result<(), SyntaxError> {
        let (t, line) = self.next()?;
        if t == Token::Punct(c) { Ok(()) } else { Err(unexpected(t, line, &format!("'{}'", c as char))) }
    }

    /// Takes a word or fails.
    pub(super) fn word(&mut self) -> Result<(&'a str, u32), SyntaxError> {
        match self.next()? {
            (Token::Word(w), line) => Ok((w, line)),
            (t, line) => Err(unexpected(t, line, "a name")),
        }
    }

    /// Takes a number as written or fails.
    pub(super) fn number(&mut self) -> Result<&'a str, SyntaxError> {
        match self.next()? {
            (Token::Number(n), _) => Ok(n),
            (t, line) => Err(unexpected(t, line, "a number")),
        }
    }

    /// Takes an unsigned integer or fails.
    pub(super) fn integer(&mut self) -> Result<u64, SyntaxError> {
        match self.next()? {
            (Token::Number(n), line) => integer(n)
                .ok_or_else(|| SyntaxError::new(line, format!("'{n}' is no integer"), "use a whole number")),
            (t, line) => Err(unexpected(t, line, "a whole number")),
        }
    }

    /// Takes what still stands on `line` and gives its text (`.loc` and `.file` have no semicolon).
    pub(super) fn rest_of(&mut self, line: u32) -> Result<&'a str, SyntaxError> {
        let start = self.start()?;
        self.end = start;
        loop {
            let (token, at) = self.peek_line()?;
            if token == Token::End || at != line {
                return Ok(self.since(start));
            }
            self.next()?;
        }
    }
}

/// The complaint about a token that does not fit.
pub(super) fn unexpected(t: Token<'_>, line: u32, wanted: &str) -> SyntaxError {
    let found = match t {
        Token::Word(w) | Token::Number(w) => format!("'{}'", w.chars().take(40).collect::<String>()),
        Token::Text(_) => "a string".to_string(),
        Token::Punct(c) if c.is_ascii_graphic() => format!("'{}'", c as char),
        Token::Punct(c) => format!("byte {c}"),
        Token::End => "the end of the text".to_string(),
    };
    SyntaxError::new(line, format!("expected {wanted}, found {found}"), "check that this is PTX text")
}

/// Decimal, hexadecimal, octal or binary with an optional `U`.
pub(super) fn integer(n: &str) -> Option<u64> {
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
