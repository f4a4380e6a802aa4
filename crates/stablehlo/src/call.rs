//! A custom call: its target, types and pairs.

use warploom_alias::TextPart;
use warploom_ir::{Attr, OpId};

use super::types::{Pair, Type, pairs};

/// A custom call as verification needs it.
pub(crate) struct Call {
    pub(crate) target: String,
    pub(crate) ins: Vec<Type>,
    pub(crate) outs: Vec<Type>,
    pub(crate) pairs: Vec<Pair>,
}

impl Call {
    /// The call that an operation is.
    pub(crate) fn new(part: &TextPart, op: OpId) -> Call {
        let data = &part.module.ops[op];
        let ty = |v: &warploom_ir::ValueId| Type::parse(&part.ty(*v));
        let target = part.module.attr(op, "call_target_name");
        let target = target.and_then(|a| a.as_symbol().or_else(|| a.as_str()));
        let listed: &[Attr] =
            part.module.attr(op, "output_operand_aliases").and_then(Attr::as_array).unwrap_or(&[]);
        Call {
            target: target.unwrap_or("").to_owned(),
            ins: data.operands.iter().map(ty).collect(),
            outs: data.results.iter().map(ty).collect(),
            pairs: pairs(listed).unwrap_or_default(),
        }
    }

    /// The root that output paths start from; `None` without results.
    pub(crate) fn root(&self) -> Option<Type> {
        match self.outs.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            more => Some(Type::Tuple(more.to_vec())),
        }
    }
}
