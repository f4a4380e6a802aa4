//! Reading PTX text: words, statements, scopes (E13-E19).

pub(crate) mod lexer;
pub(crate) mod operand;
pub(crate) mod parser;
pub(crate) mod raw;
pub(crate) mod scope;
