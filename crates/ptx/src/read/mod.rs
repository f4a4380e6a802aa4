//! Reading PTX text (E13-E19).

mod body;
mod declare;
mod lexer;
mod module;
mod operand;
mod parser;

pub use module::parse;
