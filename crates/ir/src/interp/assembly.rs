//! `tt.elementwise_inline_asm`: the interpreter reads no assembly, so that whoever knows the machine runs it.

use std::fmt;

use crate::types::Type;

/// An operation's assembly, and the elements it is run on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AssemblyCall<'a> {
    /// The text: `$0`, `$1`, .. are its operands, results first.
    pub text: &'a str,
    /// A register class for each operand, as LLVM writes them: `=r,r,n`.
    pub constraints: &'a str,
    /// Elements that one execution takes.
    pub pack: usize,
    /// The element types of the results.
    pub results: Vec<&'a Type>,
    /// The element types of the operands, and the bits of the elements.
    pub operands: Vec<(&'a Type, Vec<u64>)>,
    /// Elements of each result and operand.
    pub count: usize,
}

/// Runs assembly.
pub trait Assembly: fmt::Debug + Send + Sync {
    /// The bits of each result's elements.
    ///
    /// # Errors
    /// What about the assembly it cannot run.
    fn run(&self, call: &AssemblyCall<'_>) -> Result<Vec<Vec<u64>>, String>;
}
