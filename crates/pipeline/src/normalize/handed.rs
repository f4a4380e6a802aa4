//! Values that control flow only hands on (C9): what a loop carries and every trip leaves as it was, what both branches
//! give, what a selection takes either way. Users read the value itself, so that it is seen to be the same everywhere.

use std::borrow::Cow;

use warploom_ir::{Module, OpId, Opcode, SecondaryMap, ValueDef, ValueId};

use crate::walk::preorder;

/// What a value is known to be.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Known {
    /// Nothing speaks against its being any value yet.
    #[default]
    Open,
    /// Always this one.
    Is(ValueId),
}

/// A value that is one of several others.
struct Choice {
    value: ValueId,
    of: Vec<ValueId>,
    /// The operation outside which the other must be made for users of this value to see it.
    outside: Option<OpId>,
}

/// The module with the users of such values in the function `entry` reading what was handed on.
pub(crate) fn handed(module: Cow<'_, Module>, entry: OpId) -> Cow<'_, Module> {
    let choices = choices(&module, entry);
    let known = settle(&module, &choices);
    let same = |value: ValueId| match known[value] {
        Known::Is(other) => other,
        Known::Open => value,
    };
    if choices.iter().all(|choice| same(choice.value) == choice.value) {
        return module;
    }
    let mut module = module.into_owned();
    for op in preorder(&module, entry) {
        for operand in &mut module.ops[op].operands {
            *operand = same(*operand);
        }
    }
    Cow::Owned(module)
}

/// What each choice always is, by the greatest fixed point: itself where it may be one thing or another.
fn settle(module: &Module, choices: &[Choice]) -> SecondaryMap<ValueId, Known> {
    let mut known: SecondaryMap<ValueId, Known> = SecondaryMap::new();
    let mut chosen: SecondaryMap<ValueId, bool> = SecondaryMap::new();
    for choice in choices {
        chosen[choice.value] = true;
    }
    loop {
        let mut changed = false;
        for choice in choices {
            if known[choice.value] == Known::Is(choice.value) {
                continue;
            }
            let mut all = choice.of.iter().filter_map(|&other| match known[other] {
                Known::Is(root) => Some(root),
                Known::Open if chosen[other] => None,
                Known::Open => Some(other),
            });
            let Some(first) = all.next() else { continue };
            let seen = choice.outside.is_none_or(|op| !is_inside(module, first, op));
            let one = seen && all.all(|other| other == first);
            let now = Known::Is(if one { first } else { choice.value });
            // What was one value and is another now is neither.
            let now = match known[choice.value] {
                Known::Is(before) if now != Known::Is(before) => Known::Is(choice.value),
                _ => now,
            };
            changed |= known[choice.value] != now;
            known[choice.value] = now;
        }
        if !changed {
            return known;
        }
    }
}

/// Whether a value is made by an operation in the regions of `op`, or is an argument of their blocks.
fn is_inside(module: &Module, value: ValueId, op: OpId) -> bool {
    let block = match module.values[value].def {
        ValueDef::Argument { block, .. } => Some(block),
        ValueDef::Result { op, .. } => module.ops[op].block,
    };
    let mut around = block.and_then(|b| module.regions[module.blocks[b].region?].parent);
    while let Some(outer) = around {
        if outer == op {
            return true;
        }
        around = module.parent(outer);
    }
    false
}

/// Every value of the function that is one of several others, in the order of the text.
fn choices(module: &Module, entry: OpId) -> Vec<Choice> {
    let mut found = Vec::new();
    for op in preorder(module, entry) {
        let data = &module.ops[op];
        match data.opcode {
            Opcode::Select => {
                if let (&[_, one, other], Some(value)) = (data.operands.as_slice(), module.result(op)) {
                    found.push(Choice { value, of: vec![one, other], outside: None });
                }
            }
            Opcode::If => {
                let ends = [handed_over(module, op, 0, 0), handed_over(module, op, 1, 0)];
                join(&mut found, &data.results, &ends, None);
            }
            Opcode::For => {
                let first = data.operands.get(3..).unwrap_or_default();
                let ends = [first, handed_over(module, op, 0, 0)];
                let args = module.entry(op, 0).map(|b| module.blocks[b].args.as_slice()).unwrap_or_default();
                join(&mut found, args.get(1..).unwrap_or_default(), &ends, None);
                join(&mut found, &data.results, &ends, None);
            }
            Opcode::While => {
                let args = |region| module.entry(op, region).map(|b| module.blocks[b].args.as_slice());
                let ends = [data.operands.as_slice(), handed_over(module, op, 1, 0)];
                join(&mut found, args(0).unwrap_or_default(), &ends, None);
                let ends = [handed_over(module, op, 0, 1)];
                join(&mut found, args(1).unwrap_or_default(), &ends, Some(op));
                join(&mut found, &data.results, &ends, Some(op));
            }
            _ => {}
        }
    }
    found
}

/// What the end of a region hands over, the first `skipped` operands aside.
fn handed_over(module: &Module, op: OpId, region: usize, skipped: usize) -> &[ValueId] {
    let end = module.entry(op, region).and_then(|block| module.terminator(block));
    end.and_then(|end| module.ops[end].operands.get(skipped..)).unwrap_or_default()
}

/// The choices of values that each end has one for.
fn join(found: &mut Vec<Choice>, values: &[ValueId], ends: &[&[ValueId]], outside: Option<OpId>) {
    for (at, &value) in values.iter().enumerate() {
        let of: Option<Vec<ValueId>> = ends.iter().map(|end| end.get(at).copied()).collect();
        found.extend(of.map(|of| Choice { value, of, outside }));
    }
}
