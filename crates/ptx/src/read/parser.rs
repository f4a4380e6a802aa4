//! What all parts of the reader share.

use super::lexer::Lexer;
use crate::error::SyntaxError;

pub(super) type Res<T> = Result<T, SyntaxError>;

/// Reads statement by statement.
pub(super) struct Parser<'a> {
    pub lex: Lexer<'a>,
}

impl Parser<'_> {
    /// Numbers separated by commas, as long as there are any.
    pub(super) fn numbers(&mut self) -> Res<Vec<u64>> {
        let mut out = Vec::new();
        while let super::lexer::Token::Number(_) = self.lex.peek()? {
            out.push(self.lex.integer()?);
            self.lex.eat(b',')?;
        }
        Ok(out)
    }
}
