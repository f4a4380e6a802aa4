//! Products of one partition by tcgen05.mma: where their results lie in tensor memory, and by which barriers they are
//! handed over (C20, C22, C24, C27, C66).
//!
//! A sum of products that a loop carries, and nothing else touches, stays in tensor memory. Every other product starts
//! anew; what it is added to is added in registers.

use std::collections::{BTreeMap, BTreeSet};

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode, Type, ValueId};

use crate::engines::RegisterLayout;
use crate::nest::{innermost_for, is_inside, repeats};
use crate::place::refuse;
use crate::transports::find::Found;
use crate::transports::operands::{DotOperand, Slot};
use crate::waits::lags;
use crate::walk::{Users, preorder};

/// The most slots of a ring that products give back.
pub(crate) const SLOTS: u64 = 32;

/// Products that take turns in the same columns.
#[derive(Clone, Debug)]
pub(crate) struct TensorRing {
    /// Its name.
    pub name: String,
    /// What a product makes.
    pub tile: Type,
    /// First column, and how many.
    pub column: u64,
    pub columns: u64,
    /// The barrier that says that a product has ended.
    pub full: u64,
    /// The barrier that says that all have read it, where another one follows.
    pub empty: Option<u64>,
    /// Tables of scales that products copy behind it, each with its first column (C69). None has barriers: copies and
    /// products of one lane keep their order (E52).
    pub tables: Vec<(Type, u64)>,
    /// What each product lives through, by positions in the order of the text.
    lives: Vec<(usize, usize)>,
}

/// What a kernel keeps in tensor memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tensor {
    pub rings: Vec<TensorRing>,
    /// The ring of each product.
    pub of: BTreeMap<OpId, usize>,
    /// Columns to allocate, and the bytes of shared memory where their address is put.
    pub columns: u64,
    pub slot: u64,
    /// Rows of one instruction.
    pub rows: u64,
    /// Barriers by which products give back the slots of a loop that lanes fill, by loop.
    pub given_back: BTreeMap<OpId, u64>,
    /// Loops by the copy engine whose products give back their slots, on barriers that the rings have anyhow.
    pub returned: BTreeSet<OpId>,
}

impl Tensor {
    /// Whether products give back the slots of a loop.
    pub fn gives_back(&self, scf_for: OpId) -> bool {
        self.given_back.contains_key(&scf_for) || self.returned.contains(&scf_for)
    }
}

/// Makes every product start anew but the sums that stay in tensor memory.
pub(crate) fn prepare(kernel: &mut Module, func: OpId, found: &[Found], operands: &[DotOperand]) {
    let dots = preorder(kernel, func).into_iter().filter(|&op| kernel.ops[op].opcode.is_product());
    for dot in dots.collect::<Vec<_>>() {
        if !stays(kernel, dot, found, operands) {
            start_anew(kernel, dot);
        }
    }
}

/// Whether the sum of a product stays in tensor memory: a counted loop carries it from zero on, and what the product
/// reads comes by pipelined loads of that loop, is stored in front of it, or stays what it is while the loop runs; the
/// product gives the slots back. Slots that the copy engine fills are given back once: none but such sums may read them.
fn stays(kernel: &Module, dot: OpId, found: &[Found], operands: &[DotOperand]) -> bool {
    let Some(scf_for) = kernel.parent(dot).filter(|&op| kernel.ops[op].opcode == Opcode::For) else {
        return false;
    };
    let by_engine = found.iter().filter(|f| f.scf_for == scf_for && f.engine());
    let mut others = by_engine.flat_map(|f| &f.tiles).flat_map(|t| readers(kernel, t.op));
    may_stay(kernel, dot, found, operands) && others.all(|r| may_stay(kernel, r, found, operands))
}

/// The same, whoever else reads what comes by the copy engine.
fn may_stay(kernel: &Module, dot: OpId, found: &[Found], operands: &[DotOperand]) -> bool {
    let data = &kernel.ops[dot];
    let scf_for = kernel.parent(dot).filter(|&op| kernel.ops[op].opcode == Opcode::For);
    let (true, Some(scf_for), Some(body)) = (data.opcode.is_product(), scf_for, data.block) else {
        return false;
    };
    let arg = data.operands.get(2).copied();
    let at = kernel.blocks[body].args.iter().position(|&a| Some(a) == arg);
    let init = at.and_then(|at| kernel.ops[scf_for].operands.get(at + 2)).copied();
    let from_zero = init.is_some_and(|init| kernel.is_const_zero(init));
    let brought = |operand: &DotOperand| {
        let base = kernel.def_op(operand.seen.base);
        match operand.slot {
            Some(Slot::Ring) => {
                found.iter().any(|f| f.scf_for == scf_for && f.tiles.iter().any(|t| Some(t.op) == base))
            }
            Some(Slot::Blocking) => base.is_some_and(|base| !is_inside(kernel, base, scf_for)),
            None => true,
        }
    };
    let waited = waits_behind(kernel, dot);
    (waited || lags(kernel, body, dot))
        && from_zero
        && operands.iter().filter(|f| f.dot == dot).all(brought)
        && operands.iter().any(|f| f.dot == dot && f.slot == Some(Slot::Ring))
}

/// Who reads a tile, by whatever name.
fn readers(kernel: &Module, load: OpId) -> Vec<OpId> {
    let (users, mut values) = (Users::new(kernel), kernel.ops[load].results.to_vec());
    let mut found = Vec::new();
    while let Some(value) = values.pop() {
        for &user in users.of(value) {
            match kernel.ops[user].opcode {
                Opcode::Trans | Opcode::Reshape => values.extend(&kernel.ops[user].results),
                _ => found.push(user),
            }
        }
    }
    found
}

/// Whether a product has the wait of a later form behind it.
fn waits_behind(kernel: &Module, dot: OpId) -> bool {
    let users = Users::new(kernel);
    let waits = |&op: &OpId| kernel.ops[op].opcode == Opcode::MmaWait;
    kernel.result(dot).is_some_and(|v| matches!(users.of(v), [op] if waits(op)))
}

/// A product that starts from zero; what it was added to is added behind it.
fn start_anew(kernel: &mut Module, dot: OpId) {
    let (Some(&into), Some(result), Some(block)) =
        (kernel.ops[dot].operands.get(2), kernel.result(dot), kernel.ops[dot].block)
    else {
        return;
    };
    if kernel.is_const_zero(into) {
        return;
    }
    let (ty, loc, span) = (kernel.ty(result).clone(), kernel.ops[dot].loc, kernel.ops[dot].span);
    let (zero, add) = match ty.elem() {
        Type::Float(_) => (Attr::Float { bits: 0, ty: ty.elem().clone() }, Opcode::AddF),
        _ => (Attr::Int { value: 0, ty: ty.elem().clone() }, Opcode::AddI),
    };
    let constant = kernel.create_op(Opcode::Constant, &[], std::slice::from_ref(&ty), loc);
    kernel.ops[constant].props.set("value", Attr::Splat { value: Box::new(zero), ty: ty.clone() });
    let sum = kernel.create_op(add, &[result, into], &[ty], loc);
    kernel.ops[sum].span = span;
    let (Some(zero), Some(whole)) = (kernel.result(constant), kernel.result(sum)) else { return };
    kernel.replace_all_uses(result, whole);
    kernel.ops[sum].operands = [result, into].into_iter().collect();
    if let Some(into) = kernel.ops[dot].operands.get_mut(2) {
        *into = zero;
    }
    let Some(at) = kernel.blocks[block].ops.iter().position(|&op| op == dot) else { return };
    kernel.insert(block, at + 1, sum);
    kernel.insert(block, at, constant);
}

/// Whether a product adds to what its loop carries in tensor memory.
pub(crate) fn accumulates(kernel: &Module, dot: OpId) -> bool {
    kernel.ops[dot].operands.get(2).is_some_and(|&into| !kernel.is_const_zero(into))
}

/// Finds columns and barriers for the products of a prepared kernel, the latter from an offset in shared memory on; and
/// where what follows may begin.
///
/// # Errors
/// More columns than there are.
pub(crate) fn plan(
    kernel: &Module,
    func: OpId,
    layout: RegisterLayout,
    found: &[Found],
    (start, target): (u64, &Target),
) -> Result<(Tensor, u64), Vec<Diagnostic>> {
    let rows = match layout {
        RegisterLayout::TensorRows | RegisterLayout::TensorPairs => 128,
        RegisterLayout::TensorHalves => 64,
        _ => return Ok((Tensor::default(), start)),
    };
    let ops = preorder(kernel, func);
    let order: BTreeMap<OpId, usize> = ops.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    let users = Users::new(kernel);
    let mut tensor = Tensor { rows, slot: start.next_multiple_of(8), ..Tensor::default() };
    let mut end = tensor.slot + 8;
    for &dot in ops.iter().filter(|&&op| kernel.ops[op].opcode.is_product()) {
        let Some(result) = kernel.result(dot) else { continue };
        let tile = kernel.ty(result).clone();
        let (from, read) = site(kernel, dot).unwrap_or((dot, result));
        let life = (order.get(&from).copied().unwrap_or(0), last(kernel, (from, read), &users, &order));
        let scales: Vec<Type> =
            kernel.ops[dot].operands.iter().skip(3).map(|&v| kernel.ty(v).clone()).collect();
        let apart = |ring: &TensorRing| {
            let same = ring.tile == tile && ring.tables.iter().map(|(ty, _)| ty).eq(&scales);
            same && ring.lives.iter().all(|other| other.1 < life.0 || life.1 < other.0)
        };
        let number = match tensor.rings.iter().position(apart) {
            Some(number) => number,
            None => {
                let words = tile.elements().unwrap_or(0) / rows;
                tensor.rings.push(TensorRing {
                    name: format!("t{}", tensor.rings.len()),
                    tile,
                    column: tensor.columns,
                    columns: words,
                    full: end,
                    empty: None,
                    tables: Vec::new(),
                    lives: Vec::new(),
                });
                tensor.columns += words;
                for table in scales {
                    let taken = table_columns(&table);
                    if let Some(ring) = tensor.rings.last_mut() {
                        ring.tables.push((table, tensor.columns));
                    }
                    tensor.columns += taken;
                }
                end += 16;
                tensor.rings.len() - 1
            }
        };
        tensor.of.insert(dot, number);
        if let Some(ring) = tensor.rings.get_mut(number) {
            if repeats(kernel, from) || !ring.lives.is_empty() {
                ring.empty = Some(ring.full + 8);
            }
            ring.lives.push(life);
        }
    }
    for f in found {
        let body = kernel.entry(f.scf_for, 0).map(|b| kernel.blocks[b].ops.as_slice()).unwrap_or_default();
        let sums = body.iter().any(|&op| kernel.ops[op].opcode.is_product() && accumulates(kernel, op));
        match sums {
            false => {}
            true if f.engine() => {
                tensor.returned.insert(f.scf_for);
            }
            true => {
                tensor.given_back.insert(f.scf_for, end);
                end += 8 * SLOTS;
            }
        }
    }
    let limits = target.tmem.as_ref().map_or((32, 0), |t| (u64::from(t.min_alloc), u64::from(t.columns)));
    if tensor.columns > limits.1 {
        let text = format!("products take {} columns of tensor memory of {}", tensor.columns, limits.1);
        return Err(vec![refuse(kernel, func, Code::Capacity, text).rule("C92").note("instead", "mma.sync")]);
    }
    tensor.columns = tensor.columns.next_power_of_two().max(limits.0);
    Ok((tensor, end))
}

/// Columns of a table of scales: four for each 512 bytes (C69).
pub(crate) fn table_columns(table: &Type) -> u64 {
    table.shape().first().map_or(0, |lines| lines / 32 * 4)
}

/// Where the result of a product comes to be known: at the product, or behind the loop that carries it.
pub(crate) fn site(kernel: &Module, dot: OpId) -> Option<(OpId, ValueId)> {
    if !accumulates(kernel, dot) {
        return Some((dot, kernel.result(dot)?));
    }
    let scf_for = innermost_for(kernel, dot)?;
    let body = kernel.entry(scf_for, 0)?;
    let arg = kernel.ops[dot].operands.get(2)?;
    let at = kernel.blocks[body].args.iter().position(|a| a == arg)?.checked_sub(1)?;
    Some((scf_for, *kernel.ops[scf_for].results.get(at)?))
}

/// Whether an operation gives the elements of a tile other names, and is computed where these are read.
pub(crate) fn renames(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Reshape | Opcode::Trans | Opcode::Split)
}

/// The position of the last operation in the block of `from`, with all inside, that reads a value, be it by another name.
fn last(
    kernel: &Module,
    (from, value): (OpId, ValueId),
    users: &Users,
    order: &BTreeMap<OpId, usize>,
) -> usize {
    let block = kernel.ops[from].block;
    let outermost = |mut op: OpId| {
        while kernel.ops[op].block != block {
            op = kernel.parent(op)?;
        }
        Some(op)
    };
    let mut readers = users.of(value).to_vec();
    let mut next = 0;
    while let Some(&reader) = readers.get(next) {
        if renames(kernel.ops[reader].opcode) {
            let results = &kernel.ops[reader].results;
            readers.extend(results.iter().flat_map(|&v| users.of(v)));
        }
        next += 1;
    }
    let readers = readers.into_iter().filter_map(outermost);
    let ends = readers.chain([from]).flat_map(|op| preorder(kernel, op)).filter_map(|op| order.get(&op));
    ends.copied().max().unwrap_or(0)
}
