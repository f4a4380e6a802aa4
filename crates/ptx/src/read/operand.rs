//! Operands: registers, constants, vectors, addresses (E18).

use super::lexer::{Token, integer, unexpected};
use super::parser::{Parser, Res};
use crate::error::SyntaxError;
use crate::tree::{Address, Operand};

impl<'a> Parser<'a> {
    pub(super) fn operand(&mut self) -> Res<Operand<'a>> {
        match self.lex.peek()? {
            Token::Punct(b'{') => {
                self.lex.next()?;
                let list = self.list(b'}')?;
                match self.lex.eat(b'|')? {
                    true => Ok(Operand::VectorPair(list, self.lex.word()?.0)),
                    false => Ok(Operand::Vector(list)),
                }
            }
            Token::Punct(b'(') => {
                self.lex.next()?;
                Ok(Operand::Group(self.list(b')')?))
            }
            Token::Punct(b'[') => {
                self.lex.next()?;
                self.address()
            }
            _ => self.simple(),
        }
    }

    /// Simple operands up to `close`.
    fn list(&mut self, close: u8) -> Res<Vec<Operand<'a>>> {
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

    fn address(&mut self) -> Res<Operand<'a>> {
        let (base, offset) = match self.simple()? {
            Operand::Name(n) => (Some(n), 0),
            Operand::Plus(n, k) => (Some(n), k),
            Operand::Int(v) => (None, v as i64),
            _ => {
                let (t, line) = self.lex.next()?;
                return Err(unexpected(t, line, "an address"));
            }
        };
        let (mut coords, mut sampler) = (Vec::new(), None);
        let mut more = self.lex.eat(b',')?;
        if more && self.lex.peek()? != Token::Punct(b'{') {
            sampler = Some(self.lex.word()?.0);
            more = self.lex.eat(b',')?;
        }
        if more {
            self.lex.expect(b'{')?;
            coords = self.list(b'}')?;
        }
        self.lex.expect(b']')?;
        Ok(Operand::Address(Address { base, offset, sampler, coords }))
    }

    fn simple(&mut self) -> Res<Operand<'a>> {
        let (t, line) = self.lex.next()?;
        match t {
            Token::Punct(b'-') => match self.lex.next()? {
                (Token::Word(w), _) => Ok(Operand::Minus(w)),
                (Token::Number(n), line) => Ok(match number(n, line)? {
                    Operand::Int(v) => Operand::Int(v.wrapping_neg()),
                    Operand::F64(v) => Operand::F64(v ^ (1 << 63)),
                    Operand::F32(v) => Operand::F32(v ^ (1 << 31)),
                    other => other,
                }),
                (t, line) => Err(unexpected(t, line, "a number")),
            },
            Token::Punct(b'!') => Ok(Operand::Not(self.lex.word()?.0)),
            Token::Number(n) => number(n, line),
            Token::Word(w) => {
                let plus = self.lex.eat(b'+')?;
                let negative = self.lex.eat(b'-')?;
                if plus || negative {
                    let k = self.lex.integer()? as i64;
                    return Ok(Operand::Plus(w, if negative { k.wrapping_neg() } else { k }));
                }
                if self.lex.eat(b'|')? {
                    return Ok(Operand::Pair(w, self.lex.word()?.0));
                }
                Ok(Operand::Name(w))
            }
            t => Err(unexpected(t, line, "an operand")),
        }
    }
}

/// An integer, `0f` or `0d` bit pattern, or a decimal float.
fn number<'a>(n: &str, line: u32) -> Res<Operand<'a>> {
    let bad = || SyntaxError::new(line, format!("'{n}' is no number"), "check the constant");
    if let Some(h) = n.strip_prefix("0f").or_else(|| n.strip_prefix("0F")) {
        return u32::from_str_radix(h, 16).map(Operand::F32).map_err(|_| bad());
    }
    if let Some(h) = n.strip_prefix("0d").or_else(|| n.strip_prefix("0D")) {
        return u64::from_str_radix(h, 16).map(Operand::F64).map_err(|_| bad());
    }
    if n.contains('.') {
        return n.parse::<f64>().map(|f| Operand::F64(f.to_bits())).map_err(|_| bad());
    }
    integer(n).map(Operand::Int).ok_or_else(bad)
}
