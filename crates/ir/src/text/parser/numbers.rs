//! Lists of numbers: `array<..>` and `dense<..>`.

use super::{Parse, Parser};
use crate::attr::Attr;
use crate::text::lexer::{Kind, Token};
use crate::types::{Signedness, Type};

/// A literal inside `dense<..>`.
#[derive(Clone, Copy)]
enum Literal {
    Bool(bool),
    /// Sign and token of an integer or float.
    Number(bool, Token),
}

impl<'a> Parser<'a> {
    /// `array<i32: 1, 0>`; `array` has been read.
    pub(super) fn dense_array(&mut self, start: usize) -> Parse<Attr> {
        let open = self.expect("<")?;
        let elem = self.ty()?;
        if !matches!(elem, Type::Int(bits, _) if bits <= 64) {
            // Arrays of floats and others are kept as text.
            let end = self.balanced(open.start)?;
            self.seek(end);
            return Ok(Attr::Opaque(self.kept_text(start, end)));
        }
        let mut values = Vec::new();
        if self.eat(">") {
            return Ok(Attr::DenseArray { elem, values });
        }
        self.expect(":")?;
        loop {
            let literal = self.literal()?;
            values.push(match self.literal_attr(literal, &elem)? {
                Attr::Bool(b) => i64::from(b),
                // An unsigned 64-bit value keeps its bits.
                Attr::Int { value, .. } => value as i64,
                _ => 0,
            });
            if !self.eat(",") {
                self.expect(">")?;
                return Ok(Attr::DenseArray { elem, values });
            }
        }
    }

    fn literal(&mut self) -> Parse<Literal> {
        if self.eat_word("true") {
            return Ok(Literal::Bool(true));
        }
        if self.eat_word("false") {
            return Ok(Literal::Bool(false));
        }
        let negative = self.eat("-");
        match self.tok.kind {
            Kind::Integer | Kind::Float => Ok(Literal::Number(negative, self.advance())),
            _ => Err(self.unexpected("a number, `true` or `false`")),
        }
    }

    fn literal_attr(&mut self, literal: Literal, ty: &Type) -> Parse<Attr> {
        match literal {
            Literal::Bool(b) if *ty == Type::I1 => Ok(Attr::Bool(b)),
            Literal::Bool(_) => Err(self.error(self.last_end, format!("`true` and `false` are no `{ty}`"))),
            Literal::Number(negative, token) => self.number(negative, token, ty),
        }
    }

    /// `dense<5> : tensor<4xi32>`; `dense` has been read. The type comes last but decides how the numbers
    /// are read, so they are read a second time.
    pub(super) fn dense(&mut self, start: usize) -> Parse<Attr> {
        let open = self.tok;
        if !self.is("<") {
            return Err(self.unexpected("`<`"));
        }
        let close = self.balanced(open.start)?;
        self.seek(close);
        self.expect(":")?;
        let type_at = self.tok.start;
        let ty = self.ty()?;
        let behind = self.last_end;
        let Type::Tensor { elem, .. } = &ty else {
            return match ty {
                Type::Opaque(_) => Ok(Attr::Opaque(self.kept_text(start, behind))),
                _ => Err(self.error(type_at, "a dense constant needs a tensor type")),
            };
        };
        self.seek(open.end);
        let attr = self.dense_body(&ty, elem)?;
        self.expect(">")?;
        if self.last_end != close {
            return Err(self.error(self.last_end, "expected the end of the dense constant"));
        }
        self.seek(behind);
        Ok(attr)
    }

    fn dense_body(&mut self, ty: &Type, elem: &Type) -> Parse<Attr> {
        let at = self.tok.start;
        let count = ty.elements();
        if self.is(">") {
            return match count {
                Some(0) => Ok(Attr::Dense { values: Vec::new(), ty: ty.clone() }),
                _ => Err(self.error(at, format!("`{ty}` needs values"))),
            };
        }
        if self.tok.kind == Kind::String {
            return self.dense_hex(ty, elem);
        }
        if !self.is("[") {
            let literal = self.literal()?;
            let value = Box::new(self.literal_attr(literal, elem)?);
            return Ok(Attr::Splat { value, ty: ty.clone() });
        }
        let mut values = Vec::new();
        self.dense_list(ty.shape(), elem, &mut values)?;
        Ok(Attr::Dense { values, ty: ty.clone() })
    }

    /// `[[1, 2], [3, 4]]`: one bracket for each extent.
    fn dense_list(&mut self, shape: &[u64], elem: &Type, values: &mut Vec<Attr>) -> Parse<()> {
        let Some((&extent, inner)) = shape.split_first() else {
            let literal = self.literal()?;
            values.push(self.literal_attr(literal, elem)?);
            return Ok(());
        };
        let open = self.expect("[")?;
        let mut count = 0u64;
        if !self.is("]") {
            loop {
                self.nested(|p| p.dense_list(inner, elem, values))?;
                count += 1;
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect("]")?;
        match count == extent {
            true => Ok(()),
            false => Err(self.error(open.start, format!("{count} values where the type has {extent}"))),
        }
    }

    /// `dense<"0x0100..">`: the bytes of all elements, little-endian.
    fn dense_hex(&mut self, ty: &Type, elem: &Type) -> Parse<Attr> {
        let token = self.advance();
        let digits = self.text(token).trim_matches('"').strip_prefix("0x").unwrap_or("");
        let width = match elem.elem_bits().filter(|_| matches!(elem, Type::Int(..) | Type::Float(_))) {
            Some(bits @ (8 | 16 | 32 | 64)) => bits as usize / 4,
            _ => return Err(self.error(token.start, format!("bytes cannot make a `{elem}`"))),
        };
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) || !digits.len().is_multiple_of(width) {
            return Err(self.error(token.start, "expected `0x` and the bytes of all elements"));
        }
        let element = |at: usize| {
            let text = digits.get(at..at + width).unwrap_or("");
            (0..width / 2).fold(0u64, |bits, i| {
                let byte = text.get(2 * i..2 * i + 2).and_then(|t| u64::from_str_radix(t, 16).ok());
                bits | byte.unwrap_or(0) << (8 * i)
            })
        };
        let values: Vec<Attr> = (0..digits.len() / width)
            .map(|n| {
                let bits = element(n * width);
                match elem {
                    Type::Float(_) => Attr::Float { bits, ty: elem.clone() },
                    _ => Attr::Int { value: fit(i128::from(bits), elem).unwrap_or(0), ty: elem.clone() },
                }
            })
            .collect();
        match (ty.elements(), values.as_slice()) {
            (Some(n), _) if n == values.len() as u64 => Ok(Attr::Dense { values, ty: ty.clone() }),
            (_, [one]) => Ok(Attr::Splat { value: Box::new(one.clone()), ty: ty.clone() }),
            _ => Err(self.error(token.start, format!("{} values for `{ty}`", values.len()))),
        }
    }
}

/// A value as MLIR stores it in an integer type: sign-extended unless unsigned; `None` out of range.
pub(super) fn fit(value: i128, ty: &Type) -> Option<i128> {
    let (bits, sign) = match ty {
        Type::Int(bits @ 1..=64, sign) => (*bits, *sign),
        Type::Index => (64, Signedness::Signless),
        _ => return None,
    };
    let half = 1i128 << (bits - 1);
    match sign {
        Signedness::Signed => (-half..half).contains(&value).then_some(value),
        Signedness::Unsigned => (0..2 * half).contains(&value).then_some(value),
        Signedness::Signless if !(-half..2 * half).contains(&value) => None,
        Signedness::Signless if value >= half => Some(value - 2 * half),
        Signedness::Signless => Some(value),
    }
}
