//! The statements of a body (E17).

use super::lexer::{Token, unexpected};
use super::parser::{Parser, Res};
use crate::error::SyntaxError;
use crate::tree::{Guard, Instruction, Line, Location, Statement};

impl<'a> Parser<'a> {
    /// Statements up to the brace that closes the body, which opened on line `opened`.
    pub(super) fn body(&mut self, opened: u32) -> Res<Vec<Statement<'a>>> {
        let mut out = Vec::new();
        let mut depth = 0_usize;
        loop {
            let (token, line) = self.lex.next()?;
            match token {
                Token::Punct(b'{') => {
                    depth += 1;
                    out.push(Statement::Open);
                }
                Token::Punct(b'}') if depth == 0 => return Ok(out),
                Token::Punct(b'}') => {
                    depth -= 1;
                    out.push(Statement::Close);
                }
                Token::Punct(b';') => {}
                Token::Punct(b'@') => {
                    let negated = self.lex.eat(b'!')?;
                    let guard = Guard { name: self.lex.word()?.0, negated };
                    let (opcode, line) = self.lex.word()?;
                    out.push(self.instruction(opcode, Some(guard), line)?);
                }
                Token::Word(word) if word.starts_with('.') => self.directive(word, line, &mut out)?,
                Token::Word(word) => {
                    let statement = if self.lex.eat(b':')? {
                        self.label(word, line)?
                    } else {
                        self.instruction(word, None, line)?
                    };
                    out.push(statement);
                }
                Token::End => {
                    return Err(SyntaxError::new(opened, "a body without '}'", "close it"));
                }
                token => return Err(unexpected(token, line, "a statement")),
            }
        }
    }

    /// What follows `name:`.
    fn label(&mut self, label: &'a str, line: u32) -> Res<Statement<'a>> {
        let Token::Word(kind @ (".branchtargets" | ".calltargets" | ".callprototype")) = self.lex.peek()?
        else {
            return Ok(Statement::Label(label, Line(line)));
        };
        self.lex.next()?;
        if kind == ".callprototype" {
            let text = self.lex.until(b';')?;
            self.lex.expect(b';')?;
            return Ok(Statement::Prototype { label, text });
        }
        let mut names = vec![self.lex.word()?.0];
        while self.lex.eat(b',')? {
            names.push(self.lex.word()?.0);
        }
        self.lex.expect(b';')?;
        Ok(Statement::Targets { label, kind, names, line: Line(line) })
    }

    fn directive(&mut self, word: &'a str, line: u32, out: &mut Vec<Statement<'a>>) -> Res<()> {
        match word {
            ".reg" => out.push(Statement::Registers(self.registers()?)),
            ".loc" => {
                let (file, at, column) = (self.lex.integer()?, self.lex.integer()?, self.lex.integer()?);
                let rest = self.lex.rest_of(line)?;
                out.push(Statement::Location(Location { file, line: at, column, rest }));
            }
            ".local" | ".shared" | ".param" | ".global" | ".const" => {
                out.extend(self.variables(&[], word)?.into_iter().map(Statement::Variable));
            }
            ".pragma" => {
                let start = self.lex.since_word(word);
                self.lex.until(b';')?;
                out.push(Statement::Other(self.lex.since(start)));
                self.lex.expect(b';')?;
            }
            _ => return Err(unexpected(Token::Word(word), line, "a statement")),
        }
        Ok(())
    }

    fn instruction(&mut self, opcode: &'a str, guard: Option<Guard<'a>>, line: u32) -> Res<Statement<'a>> {
        let mut operands = Vec::new();
        if !self.lex.eat(b';')? {
            loop {
                operands.push(self.operand()?);
                if !self.lex.eat(b',')? {
                    break;
                }
            }
            self.lex.expect(b';')?;
        }
        Ok(Statement::Instruction(Instruction { guard, opcode, operands, line: Line(line) }))
    }
}
