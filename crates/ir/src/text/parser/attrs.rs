//! Attributes.

use super::numbers::fit;
use super::{Parse, Parser};
use crate::attr::{Attr, AttrDict};
use crate::text::lexer::{Kind, Token};
use crate::types::Type;

/// Keywords that begin an attribute kept as text: `word<..>` or `word(..)` and so on.
const TEXT_KEYWORDS: [&str; 6] =
    ["affine_map", "affine_set", "strided", "dense_resource", "sparse", "distinct"];

impl<'a> Parser<'a> {
    /// `{a = 1, b}`; the brace comes next.
    pub(super) fn dict(&mut self) -> Parse<AttrDict> {
        let mut dict = AttrDict::new();
        self.expect("{")?;
        if self.eat("}") {
            return Ok(dict);
        }
        loop {
            let token = self.tok;
            let name = match token.kind {
                Kind::Word => self.text(token).to_owned(),
                Kind::String => self.string_value(token)?,
                _ => return Err(self.unexpected("an attribute name")),
            };
            self.advance();
            let value = match self.eat("=") {
                true => self.attr()?,
                false => Attr::Unit,
            };
            // Linear in the names so far; hostile dictionaries are cut off.
            if dict.len() >= 4096 {
                return Err(self.error(token.start, "more than 4096 attributes"));
            }
            if dict.set(name.as_str(), value).is_some() {
                return Err(self.error(token.start, format!("attribute `{name}` is given twice")));
            }
            // Texts of other dialects end their dictionaries in a comma.
            if !self.eat(",") || self.dialect.is_some() && self.is("}") {
                self.expect("}")?;
                return Ok(dict);
            }
        }
    }

    /// `{..}` if it comes next.
    pub(super) fn optional_dict(&mut self) -> Parse<AttrDict> {
        match self.is("{") {
            true => self.dict(),
            false => Ok(AttrDict::new()),
        }
    }

    pub(super) fn attr(&mut self) -> Parse<Attr> {
        self.nested(|p| p.attr_body())
    }

    fn attr_body(&mut self) -> Parse<Attr> {
        let token = self.tok;
        match token.kind {
            Kind::Hash => self.hash_attr(),
            Kind::At => self.symbol_path(),
            Kind::String => {
                let text = self.string_value(token)?;
                self.advance();
                Ok(Attr::String(text))
            }
            Kind::Integer | Kind::Float | Kind::Punct("-") => self.number_attr(),
            Kind::Punct("[") => {
                self.advance();
                let mut items = Vec::new();
                if self.eat("]") {
                    return Ok(Attr::Array(items));
                }
                loop {
                    items.push(self.attr()?);
                    if !self.eat(",") {
                        self.expect("]")?;
                        return Ok(Attr::Array(items));
                    }
                }
            }
            Kind::Punct("{") => Ok(Attr::Dict(self.dict()?)),
            Kind::Word => self.word_attr(),
            Kind::Exclaim | Kind::Punct("(") => Ok(Attr::Type(self.ty()?)),
            _ => Err(self.unexpected("an attribute")),
        }
    }

    fn word_attr(&mut self) -> Parse<Attr> {
        let token = self.tok;
        let word = self.text(token);
        if self.at_type() {
            return Ok(Attr::Type(self.ty()?));
        }
        let known = matches!(word, "true" | "false" | "unit" | "array" | "dense");
        if !known && !TEXT_KEYWORDS.contains(&word) && word != "loc" {
            // A word that some other dialect may know.
            if self.dialect.is_some() {
                self.advance();
                return Ok(Attr::Opaque(word.to_owned()));
            }
            return Err(self.unexpected("an attribute"));
        }
        self.advance();
        match word {
            "true" => Ok(Attr::Bool(true)),
            "false" => Ok(Attr::Bool(false)),
            "unit" => Ok(Attr::Unit),
            "array" => self.dense_array(token.start),
            "dense" => self.dense(token.start),
            _ => {
                while self.is("<") || self.is("(") || self.is("[") {
                    let end = self.balanced(self.tok.start)?;
                    self.seek(end);
                }
                if matches!(word, "dense_resource" | "sparse") {
                    self.expect(":")?;
                    self.ty()?;
                }
                Ok(Attr::Opaque(self.kept_text(token.start, self.last_end)))
            }
        }
    }

    /// `#alias`, or `#dialect.attribute<..>` kept as text.
    fn hash_attr(&mut self) -> Parse<Attr> {
        let token = self.advance();
        let name = self.slice(token.start + 1, token.end);
        let body = self.is("<") && self.tok.start == token.end;
        if !body && !name.contains('.') {
            self.attr_uses.entry(name).or_insert(token.start);
            return Ok(Attr::Alias(name.to_owned()));
        }
        let mut end = token.end;
        if body {
            end = self.balanced(self.tok.start)?;
            self.seek(end);
        }
        Ok(Attr::Opaque(self.kept_text(token.start, end)))
    }

    /// Source that is kept as it is. The aliases in it must be defined like any other.
    pub(super) fn kept_text(&mut self, start: usize, end: usize) -> String {
        let text = self.slice(start, end);
        if !self.type_aliases.is_empty() {
            return self.without_type_aliases(start, end);
        }
        self.note_aliases(text, start);
        text.to_owned()
    }

    /// Notes the aliases in a text that begins at byte `start`.
    pub(super) fn note_aliases(&mut self, text: &'a str, start: usize) {
        let mut at = 0;
        let mut quoted = false;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find(['#', '"', '\\'])) {
            at += found;
            match text.as_bytes().get(at) {
                Some(b'"') => quoted = !quoted,
                // The character behind a backslash is skipped with it.
                Some(b'\\') => at += 1,
                _ if !quoted => {
                    let name = text.get(at + 1..).unwrap_or("");
                    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
                    let name = name.get(..name.find(|c| !word(c)).unwrap_or(name.len())).unwrap_or("");
                    let parameters = text.as_bytes().get(at + 1 + name.len()) == Some(&b'<');
                    if !name.is_empty() && !name.contains('.') && !parameters {
                        self.attr_uses.entry(name).or_insert(start + at);
                    }
                    at += name.len();
                }
                _ => {}
            }
            at += 1;
            while at < text.len() && !text.is_char_boundary(at) {
                at += 1;
            }
        }
    }

    /// `@a::@b`
    fn symbol_path(&mut self) -> Parse<Attr> {
        let mut path = vec![self.symbol_name()?];
        while self.eat("::") {
            path.push(self.symbol_name()?);
        }
        Ok(Attr::Symbol(path))
    }

    /// `@name` or `@"name"`
    pub(super) fn symbol_name(&mut self) -> Parse<String> {
        let token = self.expect_kind(Kind::At, "a symbol name")?;
        let name = Token { start: token.start + 1, ..token };
        match self.text(name).starts_with('"') {
            true => self.string_value(name),
            false => Ok(self.text(name).to_owned()),
        }
    }

    /// `64 : i32`, `-1.5 : f32`, `0x7F80 : bf16`; without a type `i64` or `f64`.
    pub(super) fn number_attr(&mut self) -> Parse<Attr> {
        let negative = self.eat("-");
        let token = match self.tok.kind {
            Kind::Integer | Kind::Float => self.advance(),
            _ => return Err(self.unexpected("a number")),
        };
        let ty = match self.eat(":") {
            true => self.ty()?,
            false if token.kind == Kind::Float => Type::Float(crate::types::FloatKind::F64),
            false => Type::I64,
        };
        self.number(negative, token, &ty)
    }

    /// A number as a constant of a type.
    pub(super) fn number(&mut self, negative: bool, token: Token, ty: &Type) -> Parse<Attr> {
        let text = self.text(token);
        let hex = text.strip_prefix("0x").filter(|_| token.kind == Kind::Integer);
        match ty {
            Type::Float(kind) => {
                if let Some(hex) = hex {
                    let bits = u64::from_str_radix(hex, 16).ok();
                    return match bits.filter(|b| !negative && (kind.bits() == 64 || b >> kind.bits() == 0)) {
                        Some(bits) => Ok(Attr::Float { bits, ty: ty.clone() }),
                        None => Err(self.error(token.start, format!("`{text}` is no bit pattern of `{ty}`"))),
                    };
                }
                if token.kind == Kind::Integer {
                    return Err(
                        self.error(token.start, format!("a constant of `{ty}` needs a decimal point"))
                    );
                }
                let Ok(value) = text.parse::<f64>() else {
                    return Err(self.error(token.start, "this number cannot be read"));
                };
                let bits = kind.encode(if negative { -value } else { value });
                Ok(Attr::Float { bits, ty: ty.clone() })
            }
            Type::Int(..) | Type::Index if token.kind == Kind::Integer => {
                let magnitude = match hex {
                    Some(hex) => i128::from_str_radix(hex, 16),
                    None => text.parse::<i128>(),
                };
                let value = magnitude.ok().map(|v| if negative { -v } else { v });
                match value.and_then(|v| fit(v, ty)) {
                    Some(value) if *ty == Type::I1 => Ok(Attr::Bool(value != 0)),
                    Some(value) => Ok(Attr::Int { value, ty: ty.clone() }),
                    None => Err(self.error(token.start, format!("`{text}` does not fit into `{ty}`"))),
                }
            }
            _ => Err(self.error(token.start, format!("a number cannot have type `{ty}`"))),
        }
    }

    /// The text of a string literal without quotes and escapes.
    pub(super) fn string_value(&mut self, token: Token) -> Parse<String> {
        let text = self.text(token);
        let body = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        if !body.contains('\\') {
            return Ok(body.to_owned());
        }
        let mut bytes = Vec::with_capacity(body.len());
        let mut rest = body.bytes();
        while let Some(byte) = rest.next() {
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            let escape = rest.next().unwrap_or(b'\\');
            match escape {
                b'n' => bytes.push(b'\n'),
                b't' => bytes.push(b'\t'),
                b'"' | b'\\' => bytes.push(escape),
                _ => {
                    let low = rest.next().unwrap_or(0);
                    let digit = |b: u8| char::from(b).to_digit(16);
                    let (Some(high), Some(low)) = (digit(escape), digit(low)) else {
                        return Err(self.error(token.start, "unknown escape in a string"));
                    };
                    bytes.push((high * 16 + low) as u8);
                }
            }
        }
        String::from_utf8(bytes).map_err(|_| self.error(token.start, "the string is not UTF-8"))
    }

    /// The text between here and the closing `>` of the `<` that comes next, which is read too.
    pub(super) fn angle_text(&mut self) -> Parse<&'a str> {
        if !self.is("<") {
            return Err(self.unexpected("`<`"));
        }
        let open = self.tok;
        let end = self.balanced(open.start)?;
        self.seek(end);
        Ok(self.slice(open.end, end - 1))
    }
}
