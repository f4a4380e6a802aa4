//! Operands: registers, constants, vectors, addresses (E18).

use super::lexer::{Token, integer, unexpected};
use super::parser::{Parser, Res};
use super::raw::{Address, Raw};
use crate::error::Diagnostic;

impl<'a> Parser<'a> {
    pub(super) fn operand(&mut self) -> Res<Raw<'a>> {
        match self.lex.peek()? {
            Token::Punct(b'{') => {
                self.lex.next()?;
                Ok(Raw::Vector(self.list(b'}')?))
            }
            Token::Punct(b'(') => {
                self.lex.next()?;
                self.list(b')')?;
                Ok(Raw::Group)
            }
            Token::Punct(b'[') => {
                self.lex.next()?;
                self.address()
            }
            _ => self.simple(),
        }
    }

    /// Simple operands up to `close`.
    fn list(&mut self, close: u8) -> Res<Vec<Raw<'a>>> {
        let mut out = Vec::new();
        while !self.lex.eat(close)? {
            out.push(self.simple()?);
            if !self.lex.eat(b',')? {
                self.lex.expect(close)?;
                break;
            }
        }
        Ok(out)
    }

    fn address(&mut self) -> Res<Raw<'a>> {
        let (base, mut offset) = match self.simple()? {
            Raw::Name(n) => (Some(n), 0),
            Raw::Plus(n, k) => (Some(n), k),
            Raw::Int(v) => (None, v as i64),
            _ => {
                let (t, line) = self.lex.next()?;
                return Err(unexpected(t, line, "an address"));
            }
        };
        // A second constant, as in [sym+16+8], is not PTX; [%r1 + -4] was read by simple().
        if self.lex.eat(b'+')? {
            offset = offset.wrapping_add(self.lex.integer()? as i64);
        }
        let mut coords = Vec::new();
        if self.lex.eat(b',')? {
            self.lex.expect(b'{')?;
            coords = self.list(b'}')?;
        }
        self.lex.expect(b']')?;
        Ok(Raw::Address(Address { base, offset, coords }))
    }

    fn simple(&mut self) -> Res<Raw<'a>> {
        let (t, line) = self.lex.next()?;
        match t {
            Token::Punct(b'-') => match self.number()? {
                Raw::Int(v) => Ok(Raw::Int(v.wrapping_neg())),
                Raw::F64(v) => Ok(Raw::F64(v ^ (1 << 63))),
                other => Ok(other),
            },
            Token::Punct(b'!') => Ok(Raw::Not(self.lex.word()?.0)),
            Token::Number(n) => number(n, line),
            Token::Word(w) => {
                if self.lex.eat(b'+')? {
                    let negative = self.lex.eat(b'-')?;
                    let k = self.lex.integer()? as i64;
                    return Ok(Raw::Plus(w, if negative { k.wrapping_neg() } else { k }));
                }
                if self.lex.eat(b'|')? {
                    return Ok(Raw::Pair(w, self.lex.word()?.0));
                }
                Ok(Raw::Name(w))
            }
            t => Err(unexpected(t, line, "an operand")),
        }
    }

    fn number(&mut self) -> Res<Raw<'a>> {
        match self.lex.next()? {
            (Token::Number(n), line) => number(n, line),
            (t, line) => Err(unexpected(t, line, "a number")),
        }
    }
}

/// An integer, `0f` or `0d` bit pattern, or a decimal float.
fn number<'a>(n: &str, line: u32) -> Res<Raw<'a>> {
    let bad = || Diagnostic::new("P01", line, format!("'{n}' is no number"), "check the constant");
    if let Some(h) = n.strip_prefix("0f").or_else(|| n.strip_prefix("0F")) {
        return u32::from_str_radix(h, 16).map(Raw::F32).map_err(|_| bad());
    }
    if let Some(h) = n.strip_prefix("0d").or_else(|| n.strip_prefix("0D")) {
        return u64::from_str_radix(h, 16).map(Raw::F64).map_err(|_| bad());
    }
    if n.contains('.') {
        return n.parse::<f64>().map(|f| Raw::F64(f.to_bits())).map_err(|_| bad());
    }
    integer(n).map(Raw::Int).ok_or_else(bad)
}
