//! Walking along the pieces of an operation.

use crate::error::{AliasError, Result};
use crate::text::parse::{join, type_len};
use crate::text::tree::{Form, Op, Piece};

/// A cursor over pieces.
pub(super) struct Cursor<'p> {
    pub(super) pieces: &'p [Piece],
    pub(super) at: usize,
    pub(super) op: &'p Op,
}

impl<'p> Cursor<'p> {
    pub(super) fn text(&self) -> &'p str {
        self.pieces.get(self.at).map_or("", Piece::text)
    }

    pub(super) fn ahead(&self) -> &'p str {
        self.pieces.get(self.at + 1).map_or("", Piece::text)
    }

    pub(super) fn error(&self, message: impl Into<String>) -> AliasError {
        AliasError::new("A16", format!("'{}' op {}", self.op.name, message.into())).at(self.op.pos)
    }

    /// Pieces up to a stop at depth 0, as text.
    pub(super) fn until(&mut self, stops: &[&str]) -> String {
        let from = self.at;
        let mut open = 0usize;
        while let Some(piece) = self.pieces.get(self.at) {
            match piece.text() {
                t if open == 0 && stops.contains(&t) => break,
                "(" | "[" | "{" | "<" => open += 1,
                ")" | "]" | "}" | ">" if open == 0 => break,
                ")" | "]" | "}" | ">" => open -= 1,
                _ => {}
            }
            self.at += 1;
        }
        join(self.pieces.get(from..self.at).unwrap_or(&[]))
    }

    /// `{a = 1, b}`, the cursor on the opening bracket.
    pub(super) fn dict(&mut self, form: &mut Form) -> Result<()> {
        self.at += 1;
        while self.text() != "}" {
            if self.at >= self.pieces.len() {
                return Err(self.error("has a dictionary without end"));
            }
            let name = self.text().trim_matches('"').to_owned();
            self.at += 1;
            let mut value = String::new();
            if self.text() == "=" {
                self.at += 1;
                value = self.until(&[",", "}"]);
            }
            if name.is_empty() || form.attr(&name).is_some() {
                return Err(self.error(format!("has attribute '{name}' twice or without a name")));
            }
            form.attrs.push((name, value));
            if self.text() == "," {
                self.at += 1;
            }
        }
        self.at += 1;
        Ok(())
    }

    /// `(T, U)` or `T`.
    pub(super) fn types(&mut self) -> Result<Vec<String>> {
        let mut out = Vec::new();
        if self.text() == "(" {
            self.at += 1;
            while self.text() != ")" {
                out.push(self.one_type()?);
                if self.text() == "," {
                    self.at += 1;
                } else if self.text() != ")" {
                    return Err(self.error("has a broken list of types"));
                }
            }
            self.at += 1;
            return Ok(out);
        }
        loop {
            out.push(self.one_type()?);
            if self.text() != "," {
                return Ok(out);
            }
            self.at += 1;
        }
    }

    pub(super) fn one_type(&mut self) -> Result<String> {
        let rest = self.pieces.get(self.at..).unwrap_or(&[]);
        let len = type_len(rest);
        let ty = join(rest.get(..len).unwrap_or(&[]));
        self.at += len;
        match ty.is_empty() {
            true => Err(self.error("lacks a type")),
            false => Ok(ty),
        }
    }

    /// `: ins -> outs {..}`, or `: outs` alone.
    pub(super) fn signature(&mut self, form: &mut Form) -> Result<()> {
        if self.text() != ":" {
            return Err(self.error("lacks its types"));
        }
        self.at += 1;
        let first = self.types()?;
        if self.text() == "->" {
            self.at += 1;
            form.ins = first;
            form.outs = self.types()?;
        } else {
            form.outs = first;
        }
        if self.text() == "{" {
            self.dict(form)?;
        }
        match self.at < self.pieces.len() {
            true => Err(self.error(format!("has unexpected '{}'", self.text()))),
            false => Ok(()),
        }
    }
}
