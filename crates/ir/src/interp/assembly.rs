//! `tt.elementwise_inline_asm`: the interpreter reads no assembly, so that whoever knows the machine runs it.

use std::fmt;

use super::context::Context;
use super::data::{Data, from_bits, to_bits};
use super::error::Fault;
use super::functions;
use crate::attr::Attr;
use crate::entity::OpId;
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

/// The results of an operation on operands of `count` elements each.
pub(super) fn eval(cx: Context<'_>, op: OpId, args: &[&Data], count: usize) -> Result<Vec<Data>, Fault> {
    let operation = &cx.module.ops[op];
    let word = |name| cx.module.attr(op, name).and_then(Attr::as_str).unwrap_or("");
    let (text, types) = (word("asm_string"), |&value| cx.module.ty(value).elem());
    if let Some(data) = functions::instruction(cx, op, text, args)? {
        return Ok(vec![data]);
    }
    let unknown = |why: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Fault::Unsupported(format!("{} of `{text}`{why}", cx.module.op_name(op)))
    };
    let runs = cx.options.assembly.as_ref().ok_or_else(|| unknown(""))?;
    let operands = operation.operands.iter().map(types).zip(args);
    let call = AssemblyCall {
        text,
        constraints: word("constraints"),
        pack: cx.module.attr(op, "packed_element").and_then(Attr::as_i64).map_or(1, |n| n.max(1) as usize),
        results: operation.results.iter().map(types).collect(),
        operands: operands.map(|(ty, data)| Ok((ty, to_bits(ty, data)?))).collect::<Result<_, Fault>>()?,
        count,
    };
    let made = runs.run(&call).map_err(|why| unknown(&format!(": {why}")))?;
    if made.len() != call.results.len() || made.iter().any(|bits| bits.len() != count) {
        return Err(unknown(": results of another number"));
    }
    call.results.iter().zip(made).map(|(ty, bits)| from_bits(ty, bits)).collect()
}
