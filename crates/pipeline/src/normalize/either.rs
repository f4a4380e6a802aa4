//! Tiles that both sides of a branch load from the same places: one load, of which the branch chooses the mask (C8, Q12).
//!
//! ```text
//! if last { load p, mask, other } else { load p }     becomes     load p, select(last, mask, true), other
//! ```
//!
//! What a branch gives lanes hold, and no copy brings it; a load in front of a product is pipelined. The same elements are
//! read as before.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use warploom_ir::{BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use crate::classes::{Class, class, is_speculatable};
use crate::emit::Emit;
use crate::nest::loops_around;
use crate::normalize::each::each;
use crate::walk::Users;

/// Pairs of values that are compared for one pair of loads.
const COMPARED: usize = 256;

/// The module with one load for such tiles of the function `entry`.
pub(crate) fn loaded_once(module: Cow<'_, Module>, entry: OpId) -> Cow<'_, Module> {
    each(module, entry, Branch::find, |module, branch| {
        branch.merge(module);
    })
}

/// A branch of which every result is a load from the same places on both sides.
struct Branch {
    op: OpId,
    sides: [BlockId; 2],
    loads: Vec<[OpId; 2]>,
}

impl Branch {
    fn find(module: &Module, op: OpId) -> Option<Branch> {
        let data = &module.ops[op];
        if data.opcode != Opcode::If || data.results.is_empty() || loops_around(module, op) == 0 {
            return None;
        }
        let sides = [module.entry(op, 0)?, module.entry(op, 1)?];
        let ends = [module.terminator(sides[0])?, module.terminator(sides[1])?];
        let mut loads = Vec::new();
        for at in 0..data.results.len() {
            let [one, other] = [0, 1].map(|side: usize| {
                let value = *module.ops[ends[side]].operands.get(at)?;
                let load = module.def_op(value).filter(|&load| module.ops[load].opcode == Opcode::Load)?;
                let matrix = module.ty(value).shape().len() > 1;
                let here = module.ops[load].block == Some(sides[side]);
                (matrix && here && !module.is_volatile(load)).then_some(load)
            });
            let pair = [one?, other?];
            is_same_place(module, pair).then_some(())?;
            loads.push(pair);
        }
        let branch = Branch { op, sides, loads };
        let users = Users::new(module);
        let multiplied = data.results.iter().any(|&v| is_multiplied(module, &users, v));
        (multiplied && branch.is_only_that(module, &users, ends)).then_some(branch)
    }

    /// Whether an operation is one of the loads of a side.
    fn is_load(&self, side: usize, op: OpId) -> bool {
        self.loads.iter().any(|pair| pair[side] == op)
    }

    /// Whether beside the loads, which nothing else reads, there is only what may run anywhere.
    fn is_only_that(&self, module: &Module, users: &Users, ends: [OpId; 2]) -> bool {
        (0..2).all(|side| {
            module.blocks[self.sides[side]].ops.iter().all(|&op| match self.is_load(side, op) {
                true => module.ops[op].results.iter().all(|&v| users.of(v) == [ends[side]]),
                false => op == ends[side] || module.ops[op].regions.is_empty() && is_speculatable(module, op),
            })
        })
    }

    /// Puts the loads where the branch stands.
    fn merge(&self, module: &mut Module) -> Option<()> {
        let (block, condition) = (module.ops[self.op].block?, *module.ops[self.op].operands.first()?);
        let at = module.blocks[block].ops.iter().position(|&op| op == self.op)?;
        let behind = module.blocks[block].ops.split_off(at);
        for (side, &body) in self.sides.iter().enumerate() {
            let end = module.terminator(body);
            for op in std::mem::take(&mut module.blocks[body].ops) {
                module.ops[op].block = None;
                if Some(op) != end && !self.is_load(side, op) {
                    module.append(block, op);
                }
            }
        }
        let results = module.ops[self.op].results.clone();
        let mut loaded = Vec::new();
        for (&[one, other], result) in self.loads.iter().zip(results) {
            let shape = module.ty(result).shape().to_vec();
            let operand = |op: OpId, at: usize| module.ops[op].operands.get(at).copied();
            let Some(place) = operand(one, 0) else { continue };
            let [masks, others] = [1, 2].map(|at| [operand(one, at), operand(other, at)]);
            let loc = module.ops[one].loc;
            let mut emit = Emit { out: module, block, loc };
            let mut operands = vec![place];
            if masks.iter().any(Option::is_some) {
                let [a, b] = masks.map(|mask| {
                    mask.unwrap_or_else(|| {
                        let all = emit.flag(true);
                        emit.splat(all, &shape)
                    })
                });
                operands.push(chosen(&mut emit, condition, [a, b]));
                operands.extend(match others {
                    [Some(a), Some(b)] => Some(chosen(&mut emit, condition, [a, b])),
                    [a, b] => a.or(b),
                });
            }
            let load = emit.out.clone_op(one, block, &mut HashMap::new());
            module.ops[load].operands = operands.into_iter().collect();
            loaded.extend(module.result(load).map(|new| (result, new)));
        }
        module.blocks[block].ops.extend(behind);
        module.detach(self.op);
        for (result, new) in loaded {
            module.replace_all_uses(result, new);
        }
        Some(())
    }
}

/// The first of two values where a condition holds.
fn chosen(emit: &mut Emit<'_>, condition: ValueId, [a, b]: [ValueId; 2]) -> ValueId {
    let ty = emit.out.ty(a).clone();
    if a == b { a } else { emit.value(Opcode::Select, &[condition, a, b], &ty) }
}

/// Whether two loads read through the same pointers in the same way.
fn is_same_place(module: &Module, loads: [OpId; 2]) -> bool {
    let [one, other] = loads.map(|load| &module.ops[load]);
    let (Some(&a), Some(&b)) = (one.operands.first(), other.operands.first()) else { return false };
    let (mut stack, mut seen) = (vec![(a, b)], BTreeSet::new());
    while let Some((a, b)) = stack.pop() {
        if a == b || !seen.insert((a, b)) {
            continue;
        }
        let (ValueDef::Result { op: x, index: i }, ValueDef::Result { op: y, index: j }) =
            (module.values[a].def, module.values[b].def)
        else {
            return false;
        };
        let (x, y) = (&module.ops[x], &module.ops[y]);
        let alike = i == j
            && x.opcode == y.opcode
            && x.props == y.props
            && x.operands.len() == y.operands.len()
            && class(x.opcode) == Class::Pure
            && x.regions.is_empty()
            && module.ty(a) == module.ty(b);
        if !alike || seen.len() > COMPARED {
            return false;
        }
        stack.extend(x.operands.iter().copied().zip(y.operands.iter().copied()));
    }
    one.props == other.props
}

/// Whether a product reads a tile, or what is computed from it element by element.
fn is_multiplied(module: &Module, users: &Users, tile: ValueId) -> bool {
    let (mut stack, mut seen) = (vec![tile], BTreeSet::new());
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        for &user in users.of(value) {
            let data = &module.ops[user];
            match data.opcode {
                opcode if opcode.is_product() => return true,
                Opcode::Trans | Opcode::Reshape => stack.extend(&data.results),
                opcode if opcode.is_elementwise() => stack.extend(&data.results),
                _ => {}
            }
        }
    }
    false
}
