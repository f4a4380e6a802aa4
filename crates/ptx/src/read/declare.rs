//! Declarations: parameters, variables, registers (E17).

use super::lexer::{Token, unexpected};
use super::parser::{Parser, Res};
use crate::error::SyntaxError;
use crate::tree::{Initial, Line, Operand, Parameter, Pointer, Registers, Variable};

/// Nested lists of initial values.
const MAX_NESTING: usize = 32;

impl<'a> Parser<'a> {
    /// `(.param .u64 a, .param .align 64 .b8 b[128])`
    pub(super) fn parameters(&mut self) -> Res<Vec<Parameter<'a>>> {
        self.lex.expect(b'(')?;
        let mut out = Vec::new();
        while !self.lex.eat(b')')? {
            out.push(self.parameter()?);
            self.lex.eat(b',')?;
        }
        Ok(out)
    }

    /// `.param .u64 .ptr .global .align 1 name` or `.param .align 64 .b8 name[128]`.
    fn parameter(&mut self) -> Res<Parameter<'a>> {
        let mut p = Parameter::default();
        loop {
            let (word, line) = self.lex.word()?;
            match word {
                ".param" | ".reg" if p.space.is_empty() => p.space = word,
                ".ptr" => p.pointer = Some(Pointer::default()),
                ".global" | ".shared" | ".local" | ".const" => match &mut p.pointer {
                    Some(pointer) => pointer.space = Some(word),
                    None => return Err(unexpected(Token::Word(word), line, "a parameter")),
                },
                // After .ptr it is the alignment of what is pointed to.
                ".align" => {
                    let bytes = Some(self.alignment()?);
                    match &mut p.pointer {
                        Some(pointer) => pointer.align = bytes,
                        None => p.align = bytes,
                    }
                }
                _ if word.starts_with('.') => p.ty = word,
                _ => {
                    (p.name, p.line) = (word, Line(line));
                    p.dims = self.dims()?;
                    return Ok(p);
                }
            }
        }
    }

    fn alignment(&mut self) -> Res<u64> {
        let (_, line) = self.lex.peek_line()?;
        let bytes = self.lex.integer()?;
        if bytes.is_power_of_two() {
            return Ok(bytes);
        }
        Err(SyntaxError::new(line, format!("an alignment of {bytes}"), "use a power of two"))
    }

    /// `[4][8]`
    fn dims(&mut self) -> Res<Vec<Option<u64>>> {
        let mut out = Vec::new();
        while self.lex.eat(b'[')? {
            if self.lex.eat(b']')? {
                out.push(None);
                continue;
            }
            out.push(Some(self.lex.integer()?));
            self.lex.expect(b']')?;
        }
        Ok(out)
    }

    /// `.align 16 .b8 name[304] = {...}, other;` after the word of the space.
    pub(super) fn variables(&mut self, linkage: &[&'a str], space: &'a str) -> Res<Vec<Variable<'a>>> {
        let mut v = Variable { linkage: linkage.to_vec(), space, ..Variable::default() };
        let (mut name, mut line) = loop {
            let (word, line) = self.lex.word()?;
            match word {
                ".align" => v.align = Some(self.alignment()?),
                ".v2" => v.lanes = Some(2),
                ".v4" => v.lanes = Some(4),
                ".v8" => v.lanes = Some(8),
                ".attribute" => {
                    self.lex.expect(b'(')?;
                    let start = self.lex.start()?;
                    v.attribute = Some(self.attribute(start)?);
                }
                _ if word.starts_with('.') => v.ty = word,
                _ => break (word, line),
            }
        };
        let mut out = Vec::new();
        loop {
            let mut one = Variable { name, line: Line(line), dims: self.dims()?, ..v.clone() };
            if self.lex.eat(b'=')? {
                one.init = Some(self.initial(0)?);
            }
            out.push(one);
            if !self.lex.eat(b',')? {
                self.lex.expect(b';')?;
                return Ok(out);
            }
            (name, line) = self.lex.word()?;
        }
    }

    /// What stands between the parentheses of `.attribute`; they may nest.
    fn attribute(&mut self, start: usize) -> Res<&'a str> {
        let mut depth = 1;
        let mut text = "";
        while depth > 0 {
            match self.lex.next()? {
                (Token::Punct(b'('), _) => depth += 1,
                (Token::Punct(b')'), _) => depth -= 1,
                (Token::End, line) => return Err(unexpected(Token::End, line, "')'")),
                _ => {}
            }
            if depth > 0 {
                text = self.lex.since(start);
            }
        }
        Ok(text)
    }

    fn initial(&mut self, depth: usize) -> Res<Initial<'a>> {
        let (_, line) = self.lex.peek_line()?;
        if depth > MAX_NESTING {
            return Err(SyntaxError::new(line, "initial values nest too deep", "flatten them"));
        }
        if self.lex.eat(b'{')? {
            let mut list = Vec::new();
            while !self.lex.eat(b'}')? {
                list.push(self.initial(depth + 1)?);
                if !self.lex.eat(b',')? {
                    self.lex.expect(b'}')?;
                    break;
                }
            }
            return Ok(Initial::List(list));
        }
        if self.lex.peek()? == Token::Word("generic") {
            self.lex.next()?;
            self.lex.expect(b'(')?;
            let symbol = self.operand()?;
            self.lex.expect(b')')?;
            // The offset may stand behind the parentheses.
            let (plus, minus) = (self.lex.eat(b'+')?, self.lex.eat(b'-')?);
            let Operand::Name(name) = symbol else { return Ok(Initial::Generic(symbol)) };
            if !plus && !minus {
                return Ok(Initial::Generic(symbol));
            }
            let offset = self.lex.integer()? as i64;
            let offset = if minus { offset.wrapping_neg() } else { offset };
            return Ok(Initial::Generic(Operand::Plus(name, offset)));
        }
        Ok(Initial::One(self.operand()?))
    }

    /// `.b32 %r<304>, x;` after `.reg`.
    pub(super) fn registers(&mut self) -> Res<Registers<'a>> {
        let (ty, line) = self.lex.word()?;
        if !ty.starts_with('.') {
            return Err(unexpected(Token::Word(ty), line, "a register type"));
        }
        let mut names = Vec::new();
        loop {
            let (name, _) = self.lex.word()?;
            let mut count = None;
            if self.lex.eat(b'<')? {
                count = Some(self.lex.integer()?);
                self.lex.expect(b'>')?;
            }
            names.push((name, count));
            if !self.lex.eat(b',')? {
                break;
            }
        }
        self.lex.expect(b';')?;
        Ok(Registers { ty, names, line: Line(line) })
    }
}
