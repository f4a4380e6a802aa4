//! `tt.elementwise_inline_asm`: few instructions are known; other assembly is run by whoever can.

use super::assembly::AssemblyCall;
use super::context::Context;
use super::data::{Data, from_bits, to_bits};
use super::error::Fault;
use super::functions;
use crate::attr::Attr;
use crate::entity::OpId;

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
