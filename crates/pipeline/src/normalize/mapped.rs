//! `tt.map_elementwise` as operations on tiles (C3, C9).
//!
//! What its body does with one element is done with a tile of them. Branches become choices: each block runs for all
//! elements, and what depends on the way taken is selected; a load is masked where the way is not taken, a division by
//! whatever stands there divides by one. Of a body that takes several elements at once, each takes every n-th one.

use std::collections::{BTreeSet, HashMap};

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, Category, Effect, Module, OpId, Opcode, Type, ValueId};

use crate::emit::Emit;
use crate::place::refuse;
use crate::walk::preorder;

type Made<T> = Result<T, Box<Diagnostic>>;

/// Rewrites the maps of a function.
///
/// # Errors
/// Operations that have no form on tiles, with their places.
pub(crate) fn lower(module: &mut Module, func: OpId) -> Result<(), Vec<Diagnostic>> {
    let maps: Vec<OpId> = preorder(module, func)
        .into_iter()
        .filter(|&op| module.ops[op].opcode == Opcode::MapElementwise)
        .collect();
    let mut errors = Vec::new();
    for op in maps {
        let Some(block) = module.ops[op].block else { continue };
        let Some(at) = module.blocks[block].ops.iter().position(|&o| o == op) else { continue };
        let behind = module.blocks[block].ops.split_off(at);
        let loc = module.ops[op].loc;
        let made = map(&mut Emit { out: module, block, loc }, op);
        module.ops[op].block = None;
        module.blocks[block].ops.extend(behind.into_iter().skip(1));
        match made {
            Ok(values) => {
                for (old, new) in module.ops[op].results.clone().into_iter().zip(values) {
                    module.replace_all_uses(old, new);
                }
            }
            Err(error) => errors.push(*error),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The results of a map, made at the end of a block.
fn map(emit: &mut Emit<'_>, op: OpId) -> Made<Vec<ValueId>> {
    let data = emit.out.ops[op].clone();
    let pack = emit.out.attr(op, "pack").and_then(Attr::as_i64).unwrap_or(1).max(1) as u64;
    let (Some(&first), Some(&region)) = (data.operands.first(), data.regions.first()) else {
        return Err(no_form(emit.out, op));
    };
    let (whole, elements) = (emit.out.ty(first).shape().to_vec(), emit.out.ty(first).elements().unwrap_or(1));
    let shape = if pack == 1 { whole.clone() } else { vec![elements / pack] };
    let mut args = Vec::new();
    for &operand in &data.operands {
        match pack {
            1 => args.push(operand),
            _ => {
                let ty = Type::tensor(&[elements / pack, pack], emit.out.ty(operand).elem().clone());
                let rows = emit.value(Opcode::Reshape, &[operand], &ty);
                args.extend(emit.parted(rows, pack));
            }
        }
    }
    let blocks = emit.out.regions[region].blocks.clone();
    let mut body = Body { emit, shape, known: HashMap::new() };
    let values = body.blocks(op, &blocks, args, None)?;
    let mut results = Vec::new();
    for (&result, parts) in data.results.iter().zip(values.chunks(pack as usize)) {
        let parts: Vec<ValueId> = parts.iter().map(|&part| body.tile(part)).collect();
        results.push(match parts.as_slice() {
            &[one] if pack == 1 => one,
            parts => {
                let ty = body.emit.out.ty(result).clone();
                let rows = body.emit.joined(parts);
                body.emit.value(Opcode::Reshape, &[rows], &ty)
            }
        });
    }
    Ok(results)
}

fn no_form(module: &Module, op: OpId) -> Box<Diagnostic> {
    let text = format!("{} has no form on tiles inside tt.map_elementwise", module.op_name(op));
    let error = refuse(module, op, Code::Op, text).rule("C9");
    Box::new(error.note("supported", "arithmetic, branches forward, scf.if and loads"))
}

impl Emit<'_> {
    /// The columns of a matrix, a power of two of them, each as a vector.
    fn parted(&mut self, matrix: ValueId, columns: u64) -> Vec<ValueId> {
        let (rows, elem) = (self.out.ty(matrix).shape()[0], self.out.ty(matrix).elem().clone());
        if columns == 1 {
            return vec![self.value(Opcode::Reshape, &[matrix], &Type::tensor(&[rows], elem))];
        }
        let pairs = Type::tensor(&[rows, columns / 2, 2], elem.clone());
        let pairs = self.value(Opcode::Reshape, &[matrix], &pairs);
        let half = Type::tensor(&[rows, columns / 2], elem);
        let split = self.op(Opcode::Split, &[pairs], &[half.clone(), half], &[]);
        let halves = self.out.ops[split].results.to_vec();
        let sides: Vec<Vec<ValueId>> =
            halves.into_iter().map(|half| self.parted(half, columns / 2)).collect();
        (0..columns as usize).filter_map(|i| sides.get(i % 2)?.get(i / 2).copied()).collect()
    }

    /// The matrix with these columns.
    fn joined(&mut self, columns: &[ValueId]) -> ValueId {
        let (rows, elem) = (self.out.ty(columns[0]).shape()[0], self.out.ty(columns[0]).elem().clone());
        let count = columns.len() as u64;
        if count == 1 {
            return self.value(Opcode::Reshape, columns, &Type::tensor(&[rows, 1], elem));
        }
        let side = |odd: usize| columns.iter().skip(odd).step_by(2).copied().collect::<Vec<_>>();
        let (even, odd) = (self.joined(&side(0)), self.joined(&side(1)));
        let pairs = Type::tensor(&[rows, count / 2, 2], elem.clone());
        let pairs = self.value(Opcode::Join, &[even, odd], &pairs);
        self.value(Opcode::Reshape, &[pairs], &Type::tensor(&[rows, count], elem))
    }
}

/// A way into a block: where it is taken, `None` for everywhere, and the values that it hands on.
type Way = (Option<ValueId>, Vec<ValueId>);

/// A body while it is written for tiles.
struct Body<'e, 'm> {
    emit: &'e mut Emit<'m>,
    /// The shape of the tiles that stand for scalars.
    shape: Vec<u64>,
    /// What stands for values of the body: tiles, or scalars that are the same for all elements.
    known: HashMap<ValueId, ValueId>,
}

impl Body<'_, '_> {
    /// Blocks that lead to each other, run where `under` says; the values that the last of them returns.
    fn blocks(
        &mut self,
        owner: OpId,
        blocks: &[BlockId],
        args: Vec<ValueId>,
        under: Option<ValueId>,
    ) -> Made<Vec<ValueId>> {
        let order = forward(self.emit.out, blocks).ok_or_else(|| no_form(self.emit.out, owner))?;
        let mut ways: HashMap<BlockId, Vec<Way>> = HashMap::new();
        if let Some(&first) = blocks.first() {
            ways.insert(first, vec![(under, args)]);
        }
        let mut returned: Vec<Way> = Vec::new();
        for block in order {
            let (here, values) = self.meet(ways.remove(&block).unwrap_or_default());
            let params = self.emit.out.blocks[block].args.clone();
            self.known.extend(params.into_iter().zip(values));
            for op in self.emit.out.blocks[block].ops.clone() {
                match self.emit.out.ops[op].opcode {
                    Opcode::Br | Opcode::CondBr => self.branch(op, here, &mut ways),
                    Opcode::MapElementwiseReturn | Opcode::Yield => {
                        let values = self.operands(op);
                        returned.push((here, values));
                    }
                    _ => self.operation(op, here)?,
                }
            }
        }
        Ok(self.meet(returned).1)
    }

    /// Where several ways meet, and what they hand on there.
    fn meet(&mut self, ways: Vec<Way>) -> Way {
        let mut ways = ways.into_iter();
        let Some((mut here, mut values)) = ways.next() else { return (None, Vec::new()) };
        for (there, others) in ways {
            for (value, other) in values.iter_mut().zip(others) {
                *value = match there {
                    Some(there) if *value != other => self.select(there, other, *value),
                    _ => other,
                };
            }
            here = match (here, there) {
                (Some(a), Some(b)) => Some(self.emit.same(Opcode::OrI, a, b)),
                _ => None,
            };
        }
        (here, values)
    }

    fn branch(&mut self, op: OpId, here: Option<ValueId>, ways: &mut HashMap<BlockId, Vec<Way>>) {
        let module = &*self.emit.out;
        let targets: Vec<(BlockId, Vec<ValueId>)> =
            module.branches(op).map(|(block, values)| (block, values.to_vec())).collect();
        let condition = module.ops[op].operands.first().copied().filter(|_| targets.len() == 2);
        for (n, (block, values)) in targets.into_iter().enumerate() {
            let values = values.iter().map(|&v| self.value(v)).collect();
            let taken = match condition {
                Some(condition) => Some(self.taken(condition, n == 0, here)),
                None => here,
            };
            ways.entry(block).or_default().push((taken, values));
        }
    }

    /// Where a condition of the body holds, or does not, among what is done at all.
    fn taken(&mut self, condition: ValueId, holds: bool, here: Option<ValueId>) -> ValueId {
        let condition = self.value(condition);
        let mut taken = self.tile(condition);
        if !holds {
            let all = self.filled(1, &Type::I1);
            taken = self.emit.same(Opcode::XOrI, taken, all);
        }
        match here {
            Some(here) => self.emit.same(Opcode::AndI, here, taken),
            None => taken,
        }
    }

    /// What stands for a value.
    fn value(&self, value: ValueId) -> ValueId {
        *self.known.get(&value).unwrap_or(&value)
    }

    fn operands(&self, op: OpId) -> Vec<ValueId> {
        self.emit.out.ops[op].operands.iter().map(|&v| self.value(v)).collect()
    }

    /// A value for all elements.
    fn tile(&mut self, value: ValueId) -> ValueId {
        let ty = self.emit.out.ty(value).clone();
        match ty.is_tensor() {
            true => value,
            false => self.emit.value(Opcode::Splat, &[value], &Type::tensor(&self.shape, ty)),
        }
    }

    /// A tile of one number.
    fn filled(&mut self, value: i64, elem: &Type) -> ValueId {
        let one = self.emit.scalar(value, elem);
        self.tile(one)
    }

    fn select(&mut self, condition: ValueId, yes: ValueId, no: ValueId) -> ValueId {
        let (yes, no) = (self.tile(yes), self.tile(no));
        let ty = self.emit.out.ty(yes).clone();
        self.emit.value(Opcode::Select, &[condition, yes, no], &ty)
    }

    /// One operation of the body.
    fn operation(&mut self, op: OpId, here: Option<ValueId>) -> Made<()> {
        let data = self.emit.out.ops[op].clone();
        self.emit.loc = data.loc;
        let facts = data.opcode.facts();
        let pure = match facts.effect {
            Effect::None | Effect::Divides => data.regions.is_empty(),
            Effect::Foreign => self.emit.out.attr(op, "pure") == Some(&Attr::Bool(true)),
            _ => false,
        };
        match (data.opcode, facts.category) {
            (Opcode::If, _) => return self.either(op, here),
            (Opcode::Load, _) => return self.load(op, here),
            (_, category) if pure && (category.is_elementwise() || category == Category::Source) => {}
            _ => return Err(no_form(self.emit.out, op)),
        }
        let mut operands = self.operands(op);
        let guarded = here.filter(|_| facts.effect == Effect::Divides);
        let tiles = guarded.is_some() || operands.iter().any(|&v| self.emit.out.ty(v).is_tensor());
        if tiles {
            operands = operands.into_iter().map(|v| self.tile(v)).collect();
        }
        if let (Some(here), Some(&divisor)) = (guarded, operands.get(1)) {
            let one = self.filled(1, &self.emit.out.ty(divisor).elem().clone());
            operands[1] = self.select(here, divisor, one);
        }
        let types = data.results.iter().map(|&v| match tiles {
            true => Type::tensor(&self.shape, self.emit.out.ty(v).clone()),
            false => self.emit.out.ty(v).clone(),
        });
        let types: Vec<Type> = types.collect();
        let new = self.emit.op(data.opcode, &operands, &types, &[]);
        self.emit.out.ops[new].props = data.props;
        let made = self.emit.out.ops[new].results.clone();
        self.known.extend(data.results.into_iter().zip(made));
        Ok(())
    }

    /// `scf.if`: both sides, and a choice.
    fn either(&mut self, op: OpId, here: Option<ValueId>) -> Made<()> {
        let data = self.emit.out.ops[op].clone();
        let Some(&condition) = data.operands.first() else { return Err(no_form(self.emit.out, op)) };
        let mut sides = Vec::new();
        for (n, &region) in data.regions.iter().enumerate() {
            let blocks = self.emit.out.regions[region].blocks.clone();
            if blocks.is_empty() {
                continue;
            }
            let taken = self.taken(condition, n == 0, here);
            sides.push(self.blocks(op, &blocks, Vec::new(), Some(taken))?);
        }
        let holds = self.taken(condition, true, None);
        for (n, &result) in data.results.iter().enumerate() {
            let side = |side: usize| sides.get(side).and_then(|values| values.get(n)).copied();
            let (Some(yes), Some(no)) = (side(0), side(1)) else { return Err(no_form(self.emit.out, op)) };
            let value = self.select(holds, yes, no);
            self.known.insert(result, value);
        }
        Ok(())
    }

    /// A load of one element, which touches memory only where it is reached.
    fn load(&mut self, op: OpId, here: Option<ValueId>) -> Made<()> {
        let data = self.emit.out.ops[op].clone();
        let (operands, Some(&result)) = (self.operands(op), data.results.first()) else {
            return Err(no_form(self.emit.out, op));
        };
        let mut tiles: Vec<ValueId> = operands.into_iter().map(|v| self.tile(v)).collect();
        match (here, tiles.get(1).copied()) {
            (Some(here), Some(mask)) => tiles[1] = self.emit.same(Opcode::AndI, here, mask),
            (Some(here), None) => tiles.push(here),
            (None, _) => {}
        }
        let ty = Type::tensor(&self.shape, self.emit.out.ty(result).clone());
        let new = self.emit.op(Opcode::Load, &tiles, &[ty], &[]);
        self.emit.out.ops[new].props = data.props;
        self.known.extend(self.emit.out.result(new).map(|value| (result, value)));
        Ok(())
    }
}

/// Blocks in an order in which branches lead forward; `None` where there is none.
fn forward(module: &Module, blocks: &[BlockId]) -> Option<Vec<BlockId>> {
    let targets = |block: BlockId| -> Vec<BlockId> {
        module.terminator(block).map(|op| module.ops[op].successors.to_vec()).unwrap_or_default()
    };
    let (mut order, mut left, mut open) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut stack: Vec<(BlockId, bool)> = blocks.first().map(|&block| (block, false)).into_iter().collect();
    while let Some((block, done)) = stack.pop() {
        if done {
            open.remove(&block);
            order.push(block);
            continue;
        }
        if !left.insert(block) {
            continue;
        }
        open.insert(block);
        stack.push((block, true));
        for target in targets(block) {
            if open.contains(&target) {
                return None;
            }
            stack.push((target, false));
        }
    }
    order.reverse();
    Some(order)
}
