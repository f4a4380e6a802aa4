//! Types.

use super::{Parse, Parser};
use crate::diag::Code;
use crate::text::lexer::Kind;
use crate::types::{FloatKind, Shape, Signedness, Type};

/// Scalar types that are kept as text: nothing of the subset uses them.
const OTHER_FLOATS: [&str; 12] = [
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
    "f8E3M4",
    "f8E4M3",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
    "tf32",
    "f80",
    "f128",
];

/// Higher ranks are refused while reading.
const MAX_RANK: usize = 64;

/// `i32` and the like.
pub(super) fn integer_type(word: &str) -> Option<Type> {
    let (sign, digits) = match word.as_bytes() {
        [b's', b'i', ..] => (Signedness::Signed, word.get(2..)?),
        [b'u', b'i', ..] => (Signedness::Unsigned, word.get(2..)?),
        [b'i', ..] => (Signedness::Signless, word.get(1..)?),
        _ => return None,
    };
    let canonical =
        !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    let bits: u32 = digits.parse().ok().filter(|_| canonical)?;
    (bits < 1 << 24).then_some(Type::Int(bits, sign))
}

fn float_type(word: &str) -> Option<Type> {
    FloatKind::ALL.into_iter().find(|k| k.name() == word).map(Type::Float)
}

impl<'a> Parser<'a> {
    /// Whether the next token can begin a type.
    pub(super) fn at_type(&self) -> bool {
        match self.tok.kind {
            Kind::Exclaim | Kind::Punct("(") => true,
            Kind::Word => {
                let word = self.text(self.tok);
                matches!(word, "tensor" | "vector" | "memref" | "complex" | "tuple" | "index" | "none")
                    || integer_type(word).is_some()
                    || float_type(word).is_some()
                    || OTHER_FLOATS.contains(&word)
            }
            _ => false,
        }
    }

    pub(super) fn ty(&mut self) -> Parse<Type> {
        self.nested(|p| match p.tok.kind {
            Kind::Word => p.builtin_type(),
            Kind::Exclaim => p.dialect_type(),
            Kind::Punct("(") => {
                let (inputs, results) = p.function_type()?;
                Ok(Type::Function { inputs, results })
            }
            _ => Err(p.unexpected("a type")),
        })
    }

    fn builtin_type(&mut self) -> Parse<Type> {
        let token = self.tok;
        let word = self.text(token);
        if let Some(ty) = integer_type(word).or_else(|| float_type(word)) {
            self.advance();
            return Ok(ty);
        }
        match word {
            "index" => {
                self.advance();
                Ok(Type::Index)
            }
            "none" => {
                self.advance();
                Ok(Type::None)
            }
            "tensor" => {
                self.advance();
                self.tensor(token.start)
            }
            "vector" | "memref" | "complex" | "tuple" => {
                self.advance();
                self.opaque_type(token.start)
            }
            _ if OTHER_FLOATS.contains(&word) => {
                self.advance();
                Ok(Type::Opaque(word.to_owned()))
            }
            _ => {
                if let Some(failed) = self.cut_off(token) {
                    return Err(failed);
                }
                let diag = self
                    .diagnostic(Code::Type, format!("`{word}` is not a type"), token.start)
                    .rule("C4")
                    .note("needs", "i1 i8 i16 i32 i64 f16 bf16 f32 f64 f8E4M3FN f8E5M2, !tt.ptr, tensor or !tt.tensordesc");
                Err(self.report(diag))
            }
        }
    }

    /// The rest of a type whose brackets come next, kept as text from `start` on.
    fn opaque_type(&mut self, start: usize) -> Parse<Type> {
        if !self.is("<") {
            return Err(self.unexpected("`<`"));
        }
        let end = self.balanced(self.tok.start)?;
        self.seek(end);
        Ok(Type::Opaque(self.kept_text(start, end)))
    }

    fn dialect_type(&mut self) -> Parse<Type> {
        let token = self.tok;
        match self.text(token) {
            "!tt.ptr" => {
                self.advance();
                self.pointer_body()
            }
            "!tt.tensordesc" => {
                self.advance();
                self.descriptor_body(token.start)
            }
            name if name.contains('.') || self.src.as_bytes().get(token.end) == Some(&b'<') => {
                self.advance();
                // Parameters follow the name at once.
                if self.is("<") && self.tok.start == token.end {
                    return self.opaque_type(token.start);
                }
                Ok(Type::Opaque(name.to_owned()))
            }
            name if self.type_aliases.contains_key(name) => {
                self.advance();
                Ok(self.type_aliases.get(name).cloned().unwrap_or(Type::None))
            }
            name => {
                let diag = self
                    .diagnostic(Code::Type, format!("type aliases are not supported: `{name}`"), token.start)
                    .note("instead", "write the type out");
                Err(self.report(diag))
            }
        }
    }

    /// `<T>` or `<T, space>` behind `!tt.ptr`. Triton names spaces too: what is `"constant"` lies in global memory, and
    /// its front end has refused every store to it.
    pub(super) fn pointer_body(&mut self) -> Parse<Type> {
        self.expect("<")?;
        let pointee = Box::new(self.ty()?);
        let mut space = 1;
        if self.eat(",") {
            space = self.address_space()?;
        }
        self.expect(">")?;
        Ok(Type::Ptr { pointee, space })
    }

    fn address_space(&mut self) -> Parse<u32> {
        let named = self.tok.kind == Kind::String;
        if named && matches!(self.text(self.tok), "\"constant\"" | "\"global\"") {
            self.advance();
            return Ok(1);
        }
        let token =
            self.expect_kind(Kind::Integer, "an address space: a number, \"global\" or \"constant\"")?;
        let space = self.text(token).parse();
        space.map_err(|_| self.error(token.start, "the address space is out of range"))
    }

    /// `<AxBxT>` behind `!tt.tensordesc`, or the older `<tensor<AxBxT>>`; with anything more (a layout) the
    /// type is kept as text from `start` on.
    pub(super) fn descriptor_body(&mut self, start: usize) -> Parse<Type> {
        let open = self.tok;
        if !self.is("<") {
            return Err(self.unexpected("`<`"));
        }
        let body = self.slice(open.end, self.src.len()).trim_start();
        if body.starts_with("tensor") {
            self.advance();
            let inner = self.ty()?;
            if let Type::Tensor { shape, elem, encoding: None } = inner
                && self.is(">")
            {
                self.advance();
                return Ok(Type::TensorDesc { shape, elem });
            }
        } else if let Some(shape) = self.dimensions(open.end)? {
            let elem = Box::new(self.ty()?);
            if self.eat(">") {
                return Ok(Type::TensorDesc { shape, elem });
            }
        }
        let end = self.balanced(open.start)?;
        self.seek(end);
        Ok(Type::Opaque(self.kept_text(start, end)))
    }

    /// `<AxBxT>` or `<AxBxT, encoding>` behind `tensor`.
    fn tensor(&mut self, start: usize) -> Parse<Type> {
        let open = self.tok;
        if !self.is("<") {
            return Err(self.unexpected("`<`"));
        }
        let Some(shape) = self.dimensions(open.end)? else {
            // Dynamic extents or no rank: kept as text.
            return self.opaque_type(start);
        };
        let elem = Box::new(self.ty()?);
        let mut encoding = None;
        if self.is(",") {
            let from = self.tok.end;
            let end = self.balanced(open.start)?;
            encoding = Some(self.kept_text(from, end - 1).trim().to_owned());
            self.seek(end);
        } else {
            self.expect(">")?;
        }
        Ok(Type::Tensor { shape, elem, encoding })
    }

    /// Reads `4x16x` from byte `pos` on and goes on behind it. `None`, without moving, for dynamic extents.
    fn dimensions(&mut self, mut pos: usize) -> Parse<Option<Shape>> {
        let bytes = self.src.as_bytes();
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let mut shape = Shape::new();
        loop {
            while byte(pos).is_ascii_whitespace() {
                pos += 1;
            }
            if matches!(byte(pos), b'?' | b'*') {
                return Ok(None);
            }
            let first = pos;
            while byte(pos).is_ascii_digit() {
                pos += 1;
            }
            if first == pos {
                break;
            }
            let Ok(extent) = self.slice(first, pos).parse() else {
                return Err(self.error(first, "the extent is out of range"));
            };
            shape.push(extent);
            if shape.len() > MAX_RANK {
                return Err(self.error(first, format!("more than {MAX_RANK} extents")));
            }
            while byte(pos).is_ascii_whitespace() {
                pos += 1;
            }
            if byte(pos) != b'x' {
                self.seek(pos);
                return Err(self.unexpected("`x` behind an extent"));
            }
            pos += 1;
        }
        self.seek(pos);
        Ok(Some(shape))
    }

    /// `(A, B) -> C` or `(A, B) -> (C, D)`.
    pub(super) fn function_type(&mut self) -> Parse<(Vec<Type>, Vec<Type>)> {
        let inputs = self.type_list()?;
        self.expect("->")?;
        let results = match self.is("(") {
            true => self.type_list()?,
            false => vec![self.ty()?],
        };
        Ok((inputs, results))
    }

    /// `(A, B)`
    pub(super) fn type_list(&mut self) -> Parse<Vec<Type>> {
        self.expect("(")?;
        let mut types = Vec::new();
        if self.eat(")") {
            return Ok(types);
        }
        loop {
            types.push(self.ty()?);
            if !self.eat(",") {
                self.expect(")")?;
                return Ok(types);
            }
        }
    }

    /// The place behind the bracket that closes the one at `open`.
    pub(super) fn balanced(&mut self, open: usize) -> Parse<usize> {
        let bytes = self.src.as_bytes();
        let mut stack: Vec<u8> = Vec::new();
        let mut pos = open;
        while let Some(&byte) = bytes.get(pos) {
            match byte {
                b'"' => {
                    pos += 1;
                    while bytes.get(pos).is_some_and(|b| *b != b'"') {
                        pos += if bytes.get(pos) == Some(&b'\\') { 2 } else { 1 };
                    }
                }
                b'<' | b'(' | b'[' | b'{' => {
                    if stack.len() >= super::MAX_NESTING as usize {
                        let failed = self.error(pos, "brackets nested too deep");
                        self.fatal = true;
                        return Err(failed);
                    }
                    stack.push(match byte {
                        b'<' => b'>',
                        b'(' => b')',
                        b'[' => b']',
                        _ => b'}',
                    });
                }
                b'-' if bytes.get(pos + 1) == Some(&b'>') => pos += 1,
                b'>' | b')' | b']' | b'}' => {
                    if stack.pop() != Some(byte) {
                        return Err(self.error(pos, "this bracket closes nothing"));
                    }
                    if stack.is_empty() {
                        return Ok(pos + 1);
                    }
                }
                _ => {}
            }
            pos += 1;
        }
        let failed = self.error(self.src.len(), "the text ends inside brackets");
        self.fatal = true;
        Err(failed)
    }
}
