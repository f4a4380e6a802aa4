//! Products of one partition by tcgen05.mma: where their results lie in tensor memory, and by which barriers they are
//! handed over (C20, C22, C24, C27, C66).
//!
//! A sum of products that a loop carries, and nothing else touches, stays in tensor memory. Every other product starts
//! anew; what it is added to is added in registers.

use std::collections::{BTreeMap, BTreeSet};

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode, Type, ValueId};

use crate::engines::sums::{Sum, stays};
use crate::engines::{RegisterLayout, chain};
use crate::nest::repeats;
use crate::place::refuse;
use crate::transports::find::Found;
use crate::transports::operands::DotOperand;
use crate::views::{look_through, reshapes};
use crate::walk::{Users, preorder};

/// The most slots of a ring that products give back.
pub(crate) const SLOTS: u64 = 32;

/// Products that take turns in the same columns.
#[derive(Clone, Debug)]
pub(crate) struct TensorRing {
    /// Its name.
    pub name: String,
    /// What its products make, each in the first columns.
    pub tiles: Vec<Type>,
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

impl TensorRing {
    /// Which of its tiles a product makes.
    pub fn payload(&self, tile: &Type) -> Option<usize> {
        self.tiles.iter().position(|t| t == tile)
    }
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
    /// Whether sums go through several loops: products of one may still read its slots in the next.
    pub crossing: bool,
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
    let (sums, dots): (Vec<OpId>, Vec<OpId>) = dots.partition(|&dot| stays(kernel, dot, found, operands));
    sums.iter().for_each(|&dot| chain::leave(kernel, dot));
    chain::mark(kernel, &dots, operands);
    for dot in dots {
        if chain::before(kernel, dot).is_none() {
            start_anew(kernel, dot);
        }
    }
}

/// A product that starts from zero; what it was added to is added behind it and those that go on with it.
fn start_anew(kernel: &mut Module, dot: OpId) {
    let [_, last] = chain::ends(kernel, dot);
    let (Some(&into), Some(result), Some(block)) =
        (kernel.ops[dot].operands.get(2), kernel.result(last), kernel.ops[dot].block)
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
    let at = |kernel: &Module, which: OpId| kernel.blocks[block].ops.iter().position(|&op| op == which);
    let (Some(first), Some(behind)) = (at(kernel, dot), at(kernel, last)) else { return };
    kernel.insert(block, behind + 1, sum);
    kernel.insert(block, first, constant);
}

/// Whether a product adds to what its loop carries in tensor memory.
pub(crate) fn accumulates(kernel: &Module, dot: OpId) -> bool {
    kernel.ops[dot].operands.get(2).is_some_and(|&into| !kernel.is_const_zero(into))
        && chain::before(kernel, dot).is_none()
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
        RegisterLayout::TensorHalves { .. } => 64,
        _ => return Ok((Tensor::default(), start)),
    };
    let ops = preorder(kernel, func);
    let dots: Vec<OpId> = ops.iter().copied().filter(|&op| kernel.ops[op].opcode.is_product()).collect();
    let order: BTreeMap<OpId, usize> = ops.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    let slot = start.next_multiple_of(8);
    let empty = Tensor { rows, slot, ..Tensor::default() };
    let limits = target.tmem.as_ref().map_or((32, 0), |t| (u64::from(t.min_alloc), u64::from(t.columns)));
    // Products of other tiles take turns too where their columns do not fit beside each other.
    let mut tensor = rings(kernel, &dots, &order, (empty.clone(), Turns::Alike));
    if tensor.columns > limits.1 {
        tensor = rings(kernel, &dots, &order, (empty, Turns::Any));
    }
    let mut end = tensor.slot + 8 + 16 * tensor.rings.len() as u64;
    for f in found {
        let body = kernel.entry(f.scf_for, 0).map(|b| kernel.blocks[b].ops.as_slice()).unwrap_or_default();
        // What lanes alone read of a slot is read when all have met.
        let reads = |op: OpId| {
            let bases =
                kernel.ops[op].operands.iter().map(|&v| reshapes(kernel, look_through(kernel, v).base).0);
            bases.filter_map(|base| kernel.def_op(base)).any(|load| f.tiles.iter().any(|t| t.op == load))
        };
        let adds = |op: OpId| kernel.ops[op].opcode.is_product() && accumulates(kernel, op) && reads(op);
        let sums = body.iter().any(|&op| adds(op));
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

/// Which products may take turns in the same columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    /// Those of one tile.
    Alike,
    /// All that never live together.
    Any,
}

/// The rings of products, from an empty plan on; the widest tile of a ring says how many columns it has.
fn rings(
    kernel: &Module,
    dots: &[OpId],
    order: &BTreeMap<OpId, usize>,
    (mut tensor, turns): (Tensor, Turns),
) -> Tensor {
    let users = Users::new(kernel);
    // All products of a sum have one place.
    let mut made: Vec<(Site, Vec<OpId>)> = Vec::new();
    for &dot in dots {
        let Some(site) = site(kernel, dot).or_else(|| Some(([dot; 2], kernel.result(dot)?))) else {
            continue;
        };
        match made.iter_mut().find(|(other, _)| *other == site) {
            Some((_, dots)) => dots.push(dot),
            None => made.push((site, vec![dot])),
        }
    }
    for (([from, to], whole), dots) in made {
        let tile = kernel.ty(whole).clone();
        let words = tile.elements().unwrap_or(0) / tensor.rows;
        let life = (order.get(&from).copied().unwrap_or(0), last(kernel, (to, whole), &users, order));
        let operands = dots.first().map(|&dot| kernel.ops[dot].operands.as_slice()).unwrap_or_default();
        let scales: Vec<Type> = operands.iter().skip(3).map(|&v| kernel.ty(v).clone()).collect();
        let apart = |ring: &TensorRing| {
            let alike = ring.payload(&tile).is_some() || (turns == Turns::Any && scales.is_empty());
            alike
                && ring.tables.iter().map(|(table, _)| table).eq(&scales)
                && ring.lives.iter().all(|other| other.1 < life.0 || life.1 < other.0)
        };
        let number = tensor.rings.iter().position(apart).unwrap_or_else(|| {
            let number = tensor.rings.len();
            tensor.rings.push(TensorRing {
                name: format!("t{number}"),
                tiles: Vec::new(),
                column: 0,
                columns: 0,
                full: tensor.slot + 8 + 16 * number as u64,
                empty: None,
                tables: scales.iter().map(|table| (table.clone(), 0)).collect(),
                lives: Vec::new(),
            });
            number
        });
        tensor.of.extend(dots.iter().map(|&dot| (dot, number)));
        tensor.crossing |= dots.len() > 1 && dots.iter().any(|&dot| accumulates(kernel, dot));
        if let Some(ring) = tensor.rings.get_mut(number) {
            if repeats(kernel, from) || !ring.lives.is_empty() {
                ring.empty = Some(ring.full + 8);
            }
            if ring.payload(&tile).is_none() {
                ring.tiles.push(tile);
            }
            ring.columns = ring.columns.max(words);
            ring.lives.push(life);
        }
    }
    for ring in &mut tensor.rings {
        ring.column = tensor.columns;
        tensor.columns += ring.columns;
        for (table, column) in &mut ring.tables {
            *column = tensor.columns;
            tensor.columns += table_columns(table);
        }
    }
    tensor
}

/// From where on to where a product is made, and what all of it is.
type Site = ([OpId; 2], ValueId);

/// Where a product is made: by itself, with those of its block that go on with it, or from the first loop of a sum to the
/// last.
fn site(kernel: &Module, dot: OpId) -> Option<Site> {
    if !accumulates(kernel, dot) {
        let ends @ [_, last] = chain::ends(kernel, dot);
        return Some((ends, kernel.result(last)?));
    }
    let sum = Sum::of(kernel, dot)?;
    Some(([*sum.loops.first()?, *sum.loops.last()?], sum.whole))
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
