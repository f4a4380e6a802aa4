//! Modules, functions, loops and conditions.

use super::context::Cx;
use crate::attr::Attr;
use crate::entity::{BlockId, OpId};
use crate::opcode::Opcode;
use crate::types::{Signedness, Type};

impl<'a> Cx<'a> {
    /// The only block of region n; a message if there is another number of them.
    pub(super) fn block(&mut self, region: usize) -> Option<BlockId> {
        let region = *self.m.ops[self.op].regions.get(region)?;
        match self.m.regions[region].blocks[..] {
            [block] => Some(block),
            ref blocks => {
                let n = blocks.len();
                self.fail(format!("a region of {n} blocks, 1 needed"));
                None
            }
        }
    }

    pub(super) fn arg_types(&self, block: BlockId) -> Vec<&'a Type> {
        self.m.blocks[block].args.iter().map(|a| self.m.ty(*a)).collect()
    }

    /// The last operation of a block, which must be this one.
    pub(super) fn ends_in(&mut self, block: BlockId, wanted: Opcode) -> Option<OpId> {
        let last = self.m.terminator(block).filter(|op| self.m.ops[*op].opcode == wanted);
        let name = wanted.name().unwrap_or("?");
        self.need(last.is_some(), || format!("a block does not end in `{name}`"));
        last
    }

    /// Blocks end in branches to each other, or in this.
    pub(super) fn blocks_end_in(&mut self, blocks: &[BlockId], wanted: Opcode) {
        for &block in blocks {
            let last = self.m.terminator(block).map(|op| self.m.ops[op].opcode);
            if !matches!(last, Some(Opcode::Br | Opcode::CondBr)) {
                self.ends_in(block, wanted);
            }
        }
    }

    fn types_of(&self, op: OpId) -> Vec<&'a Type> {
        self.m.ops[op].operands.iter().map(|v| self.m.ty(*v)).collect()
    }

    /// The operation around this one, if it is one of these.
    pub(super) fn parent_is(&mut self, wanted: &[Opcode]) -> bool {
        let parent = self.m.parent(self.op).map(|p| self.m.ops[p].opcode);
        let names: Vec<&str> = wanted.iter().filter_map(|op| op.name()).collect();
        let fits = parent.is_some_and(|p| wanted.contains(&p));
        self.need(fits, || format!("must stand in {}", names.join(" or ")))
    }

    /// Terminators stand at the end of their block.
    fn is_last(&mut self) {
        let last = self.m.ops[self.op].block.and_then(|b| self.m.terminator(b));
        let here = last == Some(self.op);
        self.need(here, || "must be the last operation of its block".to_owned());
    }
}

pub(super) fn module(cx: &mut Cx<'_>) {
    if let Some(block) = cx.block(0) {
        let none = cx.m.blocks[block].args.is_empty();
        cx.need(none, || "a module has no arguments".to_owned());
    }
}

pub(super) fn func(cx: &mut Cx<'_>) {
    cx.parent_is(&[Opcode::Module]);
    let named = matches!(cx.prop("sym_name"), Some(Attr::String(_)));
    cx.need(named, || "attribute `sym_name` is missing".to_owned());
    let Some(Attr::Type(Type::Function { inputs, results })) = cx.prop("function_type") else {
        return cx.fail("attribute `function_type` must be a function type");
    };
    for (name, n) in [("arg_attrs", inputs.len()), ("res_attrs", results.len())] {
        let fits = match cx.prop(name) {
            None => true,
            Some(Attr::Array(items)) => items.len() == n && items.iter().all(|i| matches!(i, Attr::Dict(_))),
            Some(_) => false,
        };
        cx.need(fits, || format!("attribute `{name}` must be an array of {n} dictionaries"));
    }
    let empty = cx.m.ops[cx.op].regions.first().is_none_or(|r| cx.m.regions[*r].blocks.is_empty());
    if empty {
        // Only declared.
        return;
    }
    let Some(region) = cx.m.ops[cx.op].regions.first() else { return };
    let blocks = &cx.m.regions[*region].blocks;
    if let Some(entry) = blocks.first() {
        let wanted: Vec<&Type> = inputs.iter().collect();
        cx.same_types("arguments of the body", &cx.arg_types(*entry), &wanted);
    }
    cx.blocks_end_in(blocks, Opcode::Return);
}

pub(super) fn branch(cx: &mut Cx<'_>) {
    cx.is_last();
    if !cx.parent_is(&[Opcode::Func, Opcode::MapElementwise]) {
        return;
    }
    let data = &cx.m.ops[cx.op];
    let conditions = usize::from(data.opcode == Opcode::CondBr);
    let wanted = 1 + conditions;
    cx.need(data.successors.len() == wanted, || {
        format!("{} blocks to go on with, {wanted} needed", data.successors.len())
    });
    if conditions == 1 {
        cx.same_types("condition", &[cx.operand(0)], &[&Type::I1]);
    }
    let region = data.block.and_then(|b| cx.m.blocks[b].region);
    let blocks = region.map_or(&[][..], |r| &cx.m.regions[r].blocks);
    let mut wanted = Vec::new();
    for block in &data.successors {
        let place = blocks.iter().position(|b| b == block);
        cx.need(place.is_some(), || "a branch leaves its region".to_owned());
        cx.need(place != Some(0), || "a branch goes back to the first block of a function".to_owned());
        wanted.extend(cx.arg_types(*block));
    }
    cx.same_types("values handed on", &cx.operand_types()[conditions.min(data.operands.len())..], &wanted);
}

pub(super) fn return_values(cx: &mut Cx<'_>) {
    cx.is_last();
    if !cx.parent_is(&[Opcode::Func]) {
        return;
    }
    let func = cx.m.parent(cx.op).map(|f| &cx.m.ops[f]);
    if let Some(Attr::Type(Type::Function { results, .. })) = func.and_then(|f| f.props.get("function_type"))
    {
        let wanted: Vec<&Type> = results.iter().collect();
        cx.same_types("values returned", &cx.operand_types(), &wanted);
    }
}

pub(super) fn call(cx: &mut Cx<'_>) {
    let Some(name) = cx.prop("callee").and_then(Attr::as_symbol) else {
        return cx.fail("attribute `callee` must be a symbol");
    };
    let mut around = cx.m.parent(cx.op);
    while let Some(op) = around.filter(|op| cx.m.ops[*op].opcode != Opcode::Module) {
        around = cx.m.parent(op);
    }
    let Some(callee) = cx.symbols.functions.get(&(around, name)) else {
        return cx.fail(format!("there is no function @{name}"));
    };
    if let Some(Attr::Type(Type::Function { inputs, results })) = cx.m.ops[*callee].props.get("function_type")
    {
        let inputs: Vec<&Type> = inputs.iter().collect();
        let results: Vec<&Type> = results.iter().collect();
        cx.same_types(&format!("operands of @{name}"), &cx.operand_types(), &inputs);
        cx.same_types(&format!("results of @{name}"), &cx.result_types(), &results);
    }
}

pub(super) fn program_number(cx: &mut Cx<'_>) {
    cx.same_types("result", &[cx.result(0)], &[&Type::I32]);
}

pub(super) fn for_loop(cx: &mut Cx<'_>) {
    let types = cx.operand_types();
    let [low, high, step, carried @ ..] = &types[..] else { return };
    cx.same_types("upper bound and step", &[*high, *step], &[*low, *low]);
    let counts = matches!(low, Type::Int(_, Signedness::Signless) | Type::Index);
    cx.need(counts, || format!("a loop counts in integers, not in `{low}`"));
    cx.same_types("results", &cx.result_types(), carried);
    let Some(block) = cx.block(0) else { return };
    let wanted: Vec<&Type> = std::iter::once(low).chain(carried).copied().collect();
    cx.same_types("arguments of the body", &cx.arg_types(block), &wanted);
    cx.ends_in(block, Opcode::Yield);
}

pub(super) fn if_else(cx: &mut Cx<'_>) {
    cx.same_types("condition", &[cx.operand(0)], &[&Type::I1]);
    let without_else = cx.m.ops[cx.op].regions.get(1).is_none_or(|r| cx.m.regions[*r].blocks.is_empty());
    cx.need(!without_else || cx.results().is_empty(), || "results need an else region".to_owned());
    for region in 0..if without_else { 1 } else { 2 } {
        if let Some(block) = cx.block(region) {
            cx.same_types("arguments of a region", &cx.arg_types(block), &[]);
            cx.ends_in(block, Opcode::Yield);
        }
    }
}

pub(super) fn while_loop(cx: &mut Cx<'_>) {
    let (Some(before), Some(after)) = (cx.block(0), cx.block(1)) else { return };
    cx.same_types("arguments of the first region", &cx.arg_types(before), &cx.operand_types());
    cx.same_types("arguments of the second region", &cx.arg_types(after), &cx.result_types());
    cx.ends_in(before, Opcode::Condition);
    cx.ends_in(after, Opcode::Yield);
}

pub(super) fn condition(cx: &mut Cx<'_>) {
    cx.is_last();
    cx.same_types("condition", &[cx.operand(0)], &[&Type::I1]);
    if !cx.parent_is(&[Opcode::While]) {
        return;
    }
    let Some(parent) = cx.m.parent(cx.op) else { return };
    let here = cx.m.ops[cx.op].block;
    let first = cx.m.entry(parent, 0) == here;
    cx.need(first, || "must stand in the first region of scf.while".to_owned());
    let wanted: Vec<&Type> = cx.m.ops[parent].results.iter().map(|v| cx.m.ty(*v)).collect();
    cx.same_types("values passed on", &cx.operand_types()[1..], &wanted);
}

pub(super) fn yield_values(cx: &mut Cx<'_>) {
    cx.is_last();
    if !cx.parent_is(&[Opcode::For, Opcode::If, Opcode::While]) {
        return;
    }
    let Some(parent) = cx.m.parent(cx.op) else { return };
    let owner = &cx.m.ops[parent];
    let wanted: Vec<&Type> = match owner.opcode {
        Opcode::While => {
            let second = cx.m.entry(parent, 1) == cx.m.ops[cx.op].block;
            cx.need(second, || "the first region of scf.while ends in scf.condition".to_owned());
            cx.types_of(parent)
        }
        _ => owner.results.iter().map(|v| cx.m.ty(*v)).collect(),
    };
    cx.same_types("values yielded", &cx.operand_types(), &wanted);
}
