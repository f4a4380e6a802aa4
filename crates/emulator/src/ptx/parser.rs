//! Statements of a module and of an entry (E16, E17).

use super::lexer::{Lexer, Token, unexpected};
use super::raw::{Raw, RawEntry, RawInst, RawModule, RawParam, RawVar, type_bytes};
use super::scope::{Class, Scope};
use crate::error::Diagnostic;

pub(super) type Res<T> = Result<T, Diagnostic>;

/// Statements of one entry, and nested scopes.
const MAX_STATEMENTS: usize = 1 << 20;

/// Longest initialiser or array that is read from text, in bytes.
const MAX_ARRAY: u64 = 1 << 28;

/// Reads a whole module.
pub(crate) fn parse(text: &str) -> Res<RawModule<'_>> {
    let mut p = Parser { lex: Lexer::new(text) };
    let mut m = RawModule::default();
    loop {
        let (t, line) = p.lex.peek_line()?;
        let Token::Word(w) = t else {
            if t == Token::End {
                break;
            }
            return Err(unexpected(t, line, "a directive"));
        };
        match w {
            ".version" => {
                p.lex.next()?;
                let (v, _) = p.lex.next()?;
                if let Token::Number(n) = v {
                    m.version = n.to_string();
                }
                p.lex.skip_line(line)?;
            }
            ".target" => {
                p.lex.next()?;
                m.target = p.lex.word()?.0;
                p.lex.skip_line(line)?;
            }
            ".address_size" => {
                p.lex.next()?;
                let bits = p.lex.integer()?;
                if bits != 64 {
                    return Err(Diagnostic::new(
                        "X01",
                        line,
                        "32-bit addresses",
                        "compile for 64-bit addresses",
                    ));
                }
            }
            ".file" => m.files.extend(p.file()?),
            ".loc" | ".pragma" | ".alias" => {
                p.lex.next()?;
                p.lex.skip_line(line)?;
            }
            ".section" => p.section()?,
            _ => p.definition(&mut m)?,
        }
    }
    if m.version.is_empty() || m.target.is_empty() {
        return Err(Diagnostic::new("P01", 1, "no .version or .target", "give a whole PTX module"));
    }
    Ok(m)
}

/// Reads statement by statement.
pub(crate) struct Parser<'a> {
    pub(super) lex: Lexer<'a>,
}

impl<'a> Parser<'a> {
    /// `.file 1 "name"`.
    fn file(&mut self) -> Res<Option<(u32, &'a str)>> {
        let (_, line) = self.lex.next()?;
        let number = self.lex.integer()?;
        let (t, _) = self.lex.next()?;
        self.lex.skip_line(line)?;
        Ok(match t {
            Token::Text(s) => Some((u32::try_from(number).unwrap_or(u32::MAX), s)),
            _ => None,
        })
    }

    /// `.section name { ... }`, skipped by braces.
    fn section(&mut self) -> Res<()> {
        let (_, line) = self.lex.next()?;
        while self.lex.peek()? != Token::Punct(b'{') {
            if self.lex.next()?.0 == Token::End {
                return Err(Diagnostic::new("P01", line, ".section without body", "add { ... }"));
            }
        }
        self.braces(line)
    }

    /// Skips a balanced `{ ... }`.
    fn braces(&mut self, line: u32) -> Res<()> {
        let mut depth = 0_u64;
        loop {
            match self.lex.next()?.0 {
                Token::Punct(b'{') => depth += 1,
                Token::Punct(b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Token::End => return Err(Diagnostic::new("P01", line, "'{' without '}'", "close it")),
                _ => {}
            }
        }
    }

    /// An entry, a device function (skipped: calls are refused, E15) or a variable.
    fn definition(&mut self, m: &mut RawModule<'a>) -> Res<()> {
        loop {
            let (w, line) = self.lex.word()?;
            match w {
                ".visible" | ".extern" | ".weak" | ".common" => {}
                ".entry" => {
                    m.entries.push(self.entry()?);
                    return Ok(());
                }
                ".func" => return self.skip_function(line),
                ".global" | ".shared" | ".const" => {
                    let var = self.variable(w)?;
                    m.vars.push(var);
                    return Ok(());
                }
                _ => return Err(unexpected(Token::Word(w), line, "an entry, a function or a variable")),
            }
        }
    }

    fn skip_function(&mut self, line: u32) -> Res<()> {
        loop {
            match self.lex.peek()? {
                Token::Punct(b'{') => return self.braces(line),
                Token::Punct(b';') => {
                    self.lex.next()?;
                    return Ok(());
                }
                Token::End => return Err(Diagnostic::new("P01", line, ".func without body", "add it")),
                _ => {
                    self.lex.next()?;
                }
            }
        }
    }

    /// `.align 16 .b8 name[304] = {...};` after the space word.
    fn variable(&mut self, space: &'a str) -> Res<RawVar<'a>> {
        let (mut align, mut bytes, mut lanes) = (0, 0, 1_u64);
        let (name, line) = loop {
            let (w, line) = self.lex.word()?;
            match w {
                ".align" => align = self.lex.integer()?,
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                ".attribute" | ".ptr" => return Err(unexpected(Token::Word(w), line, "a plain variable")),
                _ => match w.strip_prefix('.') {
                    Some(ty) => {
                        bytes = type_bytes(ty).ok_or_else(|| {
                            Diagnostic::new("X01", line, format!("type {w}"), "use a sized type")
                        })?;
                    }
                    None => break (w, line),
                },
            }
        };
        let elem = bytes * lanes;
        let (mut size, mut dynamic) = (elem, false);
        while self.lex.eat(b'[')? {
            if self.lex.eat(b']')? {
                dynamic = true;
                continue;
            }
            size = size.saturating_mul(self.lex.integer()?);
            self.lex.expect(b']')?;
        }
        if size > MAX_ARRAY || align > 1 << 20 || (align != 0 && !align.is_power_of_two()) {
            return Err(Diagnostic::new(
                "P01",
                line,
                format!("size or alignment of '{name}'"),
                "make it sane",
            ));
        }
        let mut init = Vec::new();
        if self.lex.eat(b'=')? {
            self.initialiser(&mut init, bytes, size)?;
        }
        self.lex.expect(b';')?;
        Ok(RawVar { space, name, align: align.max(elem).max(1), size, dynamic, init })
    }

    fn initialiser(&mut self, out: &mut Vec<u8>, bytes: u64, size: u64) -> Res<()> {
        let mut depth = 0_u32;
        loop {
            let (_, line) = self.lex.peek_line()?;
            if self.lex.eat(b'{')? {
                depth += 1;
            } else if self.lex.eat(b'}')? {
                depth = depth.saturating_sub(1);
            } else if !self.lex.eat(b',')? {
                let value = match self.operand()? {
                    Raw::Int(v) | Raw::F64(v) => v,
                    Raw::F32(v) => u64::from(v),
                    _ => {
                        return Err(Diagnostic::new(
                            "X01",
                            line,
                            "initialiser that is no number",
                            "use numbers",
                        ));
                    }
                };
                out.extend(value.to_le_bytes().iter().take(bytes as usize));
                if out.len() as u64 > size {
                    return Err(Diagnostic::new("P01", line, "more initialisers than elements", "drop some"));
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn entry(&mut self) -> Res<RawEntry<'a>> {
        let (_, opened) = self.lex.peek_line()?;
        let mut e = RawEntry { name: self.lex.word()?.0, ..RawEntry::default() };
        if self.lex.eat(b'(')? {
            while !self.lex.eat(b')')? {
                e.params.push(self.parameter()?);
                self.lex.eat(b',')?;
            }
        }
        loop {
            let (t, line) = self.lex.next()?;
            match t {
                Token::Punct(b'{') => break,
                Token::Punct(b';') => return Ok(e),
                Token::Word(w) if w.starts_with('.') => {
                    let mut numbers = Vec::new();
                    while let Token::Number(_) = self.lex.peek()? {
                        numbers.push(self.lex.integer()?);
                        self.lex.eat(b',')?;
                    }
                    if w == ".pragma" || w == ".loc" {
                        self.lex.skip_line(line)?;
                    }
                    e.directives.push((w, numbers));
                }
                t => return Err(unexpected(t, line, "'{' or a directive")),
            }
        }
        self.body(&mut e, opened)?;
        Ok(e)
    }

    /// `.param .u64 .ptr .global .align 1 name` or `.param .align 64 .b8 name[128]`.
    fn parameter(&mut self) -> Res<RawParam<'a>> {
        let (mut ty, mut align, mut pointer) = ("", 0, false);
        loop {
            let (w, line) = self.lex.word()?;
            match w {
                ".param" | ".global" | ".shared" | ".local" | ".const" => {}
                ".ptr" => pointer = true,
                // After .ptr it is the alignment of what is pointed to.
                ".align" => {
                    let n = self.lex.integer()?;
                    align = if pointer { align } else { n };
                }
                _ => match w.strip_prefix('.') {
                    Some(t) => ty = t,
                    None => {
                        let elem = type_bytes(ty).ok_or_else(|| {
                            Diagnostic::new("X01", line, format!("parameter type .{ty}"), "")
                        })?;
                        let (mut size, mut array) = (elem, false);
                        while self.lex.eat(b'[')? {
                            array = true;
                            size = size.saturating_mul(self.lex.integer()?);
                            self.lex.expect(b']')?;
                        }
                        if size > 1 << 15 || align > 1 << 12 || (align != 0 && !align.is_power_of_two()) {
                            return Err(Diagnostic::new("P01", line, format!("size of parameter '{w}'"), ""));
                        }
                        return Ok(RawParam { name: w, ty, align: align.max(elem), size, array });
                    }
                },
            }
        }
    }

    fn body(&mut self, e: &mut RawEntry<'a>, opened: u32) -> Res<()> {
        e.scopes.push(Scope::default());
        let mut open = vec![0_u32];
        let mut loc = 0_u32;
        while let Some(&scope) = open.last() {
            let (t, line) = self.lex.next()?;
            if e.insts.len().max(e.scopes.len()).max(e.locs.len()) > MAX_STATEMENTS {
                return Err(Diagnostic::new(
                    "X01",
                    line,
                    "more than 2^20 statements in an entry",
                    "split the kernel",
                ));
            }
            match t {
                Token::Punct(b'{') => {
                    open.push(e.scopes.len() as u32);
                    e.scopes.push(Scope { parent: Some(scope), ..Scope::default() });
                }
                Token::Punct(b'}') => {
                    open.pop();
                }
                Token::Punct(b';') => {}
                Token::Punct(b'@') => {
                    let negated = self.lex.eat(b'!')?;
                    let guard = self.lex.word()?.0;
                    let (opcode, line) = self.lex.word()?;
                    self.instruction(e, opcode, Some((guard, negated)), line, loc, scope)?;
                }
                Token::Word(w) if w.starts_with('.') => self.directive(e, w, line, &mut loc, scope)?,
                Token::Word(w) => {
                    if self.lex.eat(b':')? {
                        self.label(e, w, line, scope)?;
                    } else {
                        self.instruction(e, w, None, line, loc, scope)?;
                    }
                }
                Token::End => {
                    return Err(Diagnostic::new("P01", opened, "entry without '}'", "close its body"));
                }
                t => return Err(unexpected(t, line, "a statement")),
            }
        }
        Ok(())
    }

    fn label(&mut self, e: &mut RawEntry<'a>, name: &'a str, line: u32, scope: u32) -> Res<()> {
        let here = e.insts.len() as u32;
        let duplicate =
            Diagnostic::new("P01", line, format!("label '{name}' twice in one scope"), "rename one");
        let Some(s) = e.scopes.get_mut(scope as usize) else { return Ok(()) };
        if self.lex.peek()? == Token::Word(".branchtargets") {
            self.lex.next()?;
            let mut list = Vec::new();
            loop {
                list.push(self.lex.word()?.0);
                if !self.lex.eat(b',')? {
                    break;
                }
            }
            self.lex.expect(b';')?;
            return if s.targets.insert(name, list).is_some() { Err(duplicate) } else { Ok(()) };
        }
        if s.labels.insert(name, here).is_some() { Err(duplicate) } else { Ok(()) }
    }

    fn directive(
        &mut self,
        e: &mut RawEntry<'a>,
        w: &'a str,
        line: u32,
        loc: &mut u32,
        scope: u32,
    ) -> Res<()> {
        match w {
            ".reg" => self.registers(e, scope),
            ".loc" => {
                let mut n = [0_u32; 3];
                for x in &mut n {
                    *x = u32::try_from(self.lex.integer()?).unwrap_or(u32::MAX);
                }
                self.lex.skip_line(line)?;
                if e.locs.last() != Some(&(n[0], n[1], n[2])) {
                    e.locs.push((n[0], n[1], n[2]));
                }
                *loc = e.locs.len() as u32;
                Ok(())
            }
            ".local" | ".shared" => {
                let var = self.variable(w)?;
                e.vars.push(var);
                Ok(())
            }
            ".param" | ".pragma" => {
                // Call parameters; the call itself is refused when decoded.
                while !self.lex.eat(b';')? {
                    if self.lex.next()?.0 == Token::End {
                        return Err(Diagnostic::new("P01", line, format!("{w} without ';'"), "end it"));
                    }
                }
                Ok(())
            }
            ".file" => {
                self.lex.skip_line(line)?;
                Ok(())
            }
            _ => Err(unexpected(Token::Word(w), line, "a statement")),
        }
    }

    /// `.reg .b32 %r<304>, x;`
    fn registers(&mut self, e: &mut RawEntry<'a>, scope: u32) -> Res<()> {
        let (ty, line) = self.lex.word()?;
        let class = ty.strip_prefix('.').and_then(Class::of).ok_or_else(|| {
            Diagnostic::new("X01", line, format!("register type {ty}"), "use .pred or .b8 to .b64")
        })?;
        let Some(s) = e.scopes.get_mut(scope as usize) else { return Ok(()) };
        loop {
            let (name, _) = self.lex.word()?;
            if self.lex.eat(b'<')? {
                s.banks.insert(name, (self.lex.integer()?, class));
                self.lex.expect(b'>')?;
            } else {
                s.regs.insert(name, class);
            }
            if !self.lex.eat(b',')? {
                break;
            }
        }
        self.lex.expect(b';')
    }

    fn instruction(
        &mut self,
        e: &mut RawEntry<'a>,
        opcode: &'a str,
        guard: Option<(&'a str, bool)>,
        line: u32,
        loc: u32,
        scope: u32,
    ) -> Res<()> {
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
        e.insts.push(RawInst { opcode, guard, operands, line, loc, scope });
        Ok(())
    }
}
