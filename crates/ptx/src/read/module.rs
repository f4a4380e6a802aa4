//! The top level: directives, variables, kernels and device functions (E16).

use super::lexer::{Lexer, Token, unexpected};
use super::parser::{Parser, Res};
use crate::error::SyntaxError;
use crate::tree::{Function, Item, Line, Module, Tuning};

/// Reads a module.
///
/// # Errors
/// The first place that is not PTX. Names are not resolved: see [`Code::of`](crate::Code::of).
pub fn parse(text: &str) -> Result<Module<'_>, SyntaxError> {
    let mut parser = Parser { lex: Lexer::new(text) };
    let mut module = Module::default();
    loop {
        let (token, line) = parser.lex.peek_line()?;
        let Token::Word(word) = token else {
            if token == Token::End {
                return Ok(module);
            }
            return Err(unexpected(token, line, "a directive"));
        };
        match word {
            ".version" => {
                parser.lex.next()?;
                module.version = parser.lex.number()?;
            }
            ".target" => module.target = parser.target()?,
            ".address_size" => {
                parser.lex.next()?;
                module.address_size = Some(parser.lex.integer()?);
            }
            ".file" => module.items.push(parser.file()?),
            ".loc" | ".pragma" | ".alias" => module.items.push(Item::Other(parser.lex.rest_of(line)?)),
            ".section" => module.items.push(parser.section()?),
            _ => parser.definition(&mut module)?,
        }
    }
}

impl<'a> Parser<'a> {
    /// `.target sm_90a, debug`
    fn target(&mut self) -> Res<Vec<&'a str>> {
        self.lex.next()?;
        let mut out = vec![self.lex.word()?.0];
        while self.lex.eat(b',')? {
            out.push(self.lex.word()?.0);
        }
        Ok(out)
    }

    /// `.file 1 "name", 1700000000, 4711`
    fn file(&mut self) -> Res<Item<'a>> {
        self.lex.next()?;
        let number = self.lex.integer()?;
        let (token, line) = self.lex.next()?;
        let Token::Text(name) = token else { return Err(unexpected(token, line, "a file name")) };
        let mut stamp = None;
        if self.lex.eat(b',')? {
            let time = self.lex.integer()?;
            self.lex.expect(b',')?;
            stamp = Some((time, self.lex.integer()?));
        }
        Ok(Item::File { number, name, stamp })
    }

    /// `.section name { ... }`
    fn section(&mut self) -> Res<Item<'a>> {
        let (_, line) = self.lex.next()?;
        let name = self.lex.until(b'{')?;
        let start = self.lex.start()?;
        let mut depth = 0_u64;
        loop {
            match self.lex.next()?.0 {
                Token::Punct(b'{') => depth += 1,
                Token::Punct(b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(Item::Section { name, body: self.lex.since(start) });
                    }
                }
                Token::End => return Err(SyntaxError::new(line, "'{' without '}'", "close it")),
                _ => {}
            }
        }
    }

    /// A kernel, a device function or variables.
    fn definition(&mut self, module: &mut Module<'a>) -> Res<()> {
        let mut linkage = Vec::new();
        loop {
            let (word, line) = self.lex.word()?;
            match word {
                ".visible" | ".extern" | ".weak" | ".common" => linkage.push(word),
                ".entry" | ".func" => {
                    let function = self.function(word == ".entry", linkage, line)?;
                    module.items.push(Item::Function(function));
                    return Ok(());
                }
                ".global" | ".shared" | ".const" | ".tex" => {
                    module.items.extend(self.variables(&linkage, word)?.into_iter().map(Item::Variable));
                    return Ok(());
                }
                _ => {
                    return Err(unexpected(Token::Word(word), line, "an entry, a function or a variable"));
                }
            }
        }
    }

    /// What follows `.entry` or `.func`.
    fn function(&mut self, kernel: bool, linkage: Vec<&'a str>, line: u32) -> Res<Function<'a>> {
        let mut f = Function { kernel, linkage, line: Line(line), ..Function::default() };
        if !kernel && self.lex.peek()? == Token::Punct(b'(') {
            f.returns = self.parameters()?;
        }
        f.name = self.lex.word()?.0;
        if self.lex.peek()? == Token::Punct(b'(') {
            f.parameters = self.parameters()?;
        }
        loop {
            let (token, at) = self.lex.next()?;
            match token {
                Token::Punct(b'{') => {
                    f.body = Some(self.body(line)?);
                    return Ok(f);
                }
                Token::Punct(b';') => return Ok(f),
                Token::Word(".loc") => {
                    self.lex.rest_of(at)?;
                }
                Token::Word(word) if word.starts_with('.') => f.tuning.push(self.tuning(word)?),
                token => return Err(unexpected(token, at, "'{' or a directive")),
            }
        }
    }

    /// `.reqntid 128, 1, 1` and `.pragma "nounroll";`
    fn tuning(&mut self, name: &'a str) -> Res<Tuning<'a>> {
        let numbers = self.numbers()?;
        let mut texts = Vec::new();
        while let Token::Text(text) = self.lex.peek()? {
            self.lex.next()?;
            texts.push(text);
            self.lex.eat(b',')?;
        }
        if name == ".pragma" {
            self.lex.expect(b';')?;
        }
        Ok(Tuning { name, numbers, texts })
    }
}
