//! Words of registers that tiles made by products take at once: who dies before another is born shares its registers (Q31).

use std::collections::{BTreeMap, BTreeSet};

use warploom_ir::{Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::nest::innermost_for;
use crate::walk::{Users, preorder};

/// The most 32-bit words that live at once inside a loop, or in a whole function: results of products but those that
/// `stay` elsewhere, what elements of them become, and sums that go round loops. What is read from registers by a product,
/// by `operands`, lives while it runs.
pub(crate) fn live_words(
    module: &Module,
    scope: OpId,
    stay: impl Fn(OpId) -> bool,
    operands: &BTreeMap<OpId, u64>,
) -> u64 {
    let ops = preorder(module, scope);
    let place: BTreeMap<OpId, usize> = ops.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    let users = Users::new(module);
    // Where each value becomes known, by position.
    let mut born: BTreeMap<ValueId, usize> = BTreeMap::new();
    for (at, &op) in ops.iter().enumerate() {
        let data = &module.ops[op];
        let made = match data.opcode {
            Opcode::Dot | Opcode::DotBlockScaled => !stay(op),
            Opcode::For => {
                let body = module.entry(op, 0).map(|body| module.blocks[body].args.as_slice());
                let carried = body.unwrap_or_default().iter().skip(1).copied();
                let adds = |&user: &OpId| module.ops[user].opcode == Opcode::Dot && stay(user);
                let held = |&v: &ValueId| {
                    words(module, v) > 0 && sums(module, &users, v) && !users.of(v).iter().any(adds)
                };
                born.extend(carried.filter(held).map(|v| (v, at)));
                false
            }
            opcode => opcode.is_elementwise() && data.operands.iter().any(|v| born.contains_key(v)),
        };
        if made {
            born.extend(data.results.iter().filter(|&&v| words(module, v) > 0).map(|&v| (v, at)));
        }
    }
    let mut change = vec![0i64; ops.len() + 2];
    let mut add = |from: usize, to: usize, words: u64| {
        let words = i64::try_from(words).unwrap_or(i64::MAX / 4);
        if let Some(at) = change.get_mut(from) {
            *at += words;
        }
        if let Some(at) = change.get_mut(to) {
            *at -= words;
        }
    };
    for (&value, &from) in &born {
        let last = users.of(value).iter().filter_map(|&user| match module.ops[user].opcode {
            Opcode::Yield => {
                preorder(module, module.parent(user)?).last().and_then(|op| place.get(op)).copied()
            }
            _ => place.get(&user).copied(),
        });
        add(from, last.max().unwrap_or(from), words(module, value));
    }
    for (dot, &words) in operands {
        if let Some(&at) = place.get(dot) {
            add(at, at + 1, words);
        }
    }
    let mut live = 0;
    let most = change.iter().map(|&c| {
        live += c;
        live
    });
    u64::try_from(most.max().unwrap_or(0)).unwrap_or(0)
}

/// The most words of sums that loops add up in tensor memory, by products that `stay` there, and that lanes hold at once
/// behind them: what is read once goes through few registers, what is read again stays in them until the last reader of
/// what is made of it.
pub(crate) fn held_behind(module: &Module, func: OpId, dots: &[OpId], stay: impl Fn(OpId) -> bool) -> u64 {
    let users = Users::new(module);
    let ops = preorder(module, func);
    let place: BTreeMap<OpId, usize> = ops.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    let sums = dots.iter().filter(|&&dot| stay(dot)).filter_map(|&dot| {
        let into = *module.ops[dot].operands.get(2)?;
        let ValueDef::Argument { block, index } = module.values[into].def else { return None };
        let around = innermost_for(module, dot).filter(|&op| module.entry(op, 0) == Some(block))?;
        module.ops[around].results.get((index as usize).checked_sub(1)?).copied()
    });
    let lives: Vec<([usize; 2], u64)> = sums
        .filter(|&sum| is_read_again(module, &users, sum))
        .filter_map(|sum| Some((life(module, &users, &place, sum)?, words(module, sum))))
        .collect();
    let at =
        |now: usize| lives.iter().filter(|([from, to], _)| (*from..=*to).contains(&now)).map(|l| l.1).sum();
    lives.iter().map(|&([from, _], _)| at(from)).max().unwrap_or(0)
}

/// The places of the first and the last reader of a tile and of what is made of it element by element.
fn life(module: &Module, users: &Users, place: &BTreeMap<OpId, usize>, value: ValueId) -> Option<[usize; 2]> {
    let (mut stack, mut seen) = (vec![value], BTreeSet::from([value]));
    let mut readers = BTreeSet::new();
    while let Some(value) = stack.pop() {
        for &user in users.of(value) {
            readers.extend(place.get(&user));
            let made = module.result(user).filter(|_| module.ops[user].opcode.is_elementwise());
            stack.extend(made.filter(|&made| seen.insert(made)));
        }
    }
    Some([*readers.first()?, *readers.last()?])
}

/// Whether more than one operation reads a tile, or what is made of it element by element.
fn is_read_again(module: &Module, users: &Users, mut value: ValueId) -> bool {
    loop {
        match *users.of(value) {
            [] => return false,
            [user] => match module.result(user).filter(|_| module.ops[user].opcode.is_elementwise()) {
                Some(made) => value = made,
                None => return false,
            },
            _ => return true,
        }
    }
}

/// Words of a matrix of floats; none for anything else.
fn words(module: &Module, value: ValueId) -> u64 {
    let ty = module.ty(value);
    let matrix = ty.shape().iter().filter(|&&n| n > 1).count() > 1;
    match (ty.elem(), ty.elem_bits(), ty.elements()) {
        (Type::Float(_) | Type::Int(32, _), Some(bits), Some(elements)) if matrix => {
            elements * u64::from(bits) / 32
        }
        _ => 0,
    }
}

/// Whether a tile that goes round a loop is no pointer or mask that lanes make again: some arithmetic or a product reads it.
fn sums(module: &Module, users: &Users, value: ValueId) -> bool {
    matches!(module.ty(value).elem(), Type::Float(_)) && !users.of(value).is_empty()
}
