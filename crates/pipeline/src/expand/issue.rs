//! Products of one partition by tcgen05.mma: one lane issues them, all wait until they have ended, read them, and say so
//! (C21, C24, C25, C66).
//!
//! ```text
//! one lane   acquires the columns where another product was read before; multiplies; commits
//! all        wait for it, read it where its result is read, and give the columns back
//! ```
//!
//! A product that goes on with another one of its block adds to the same columns, and where nobody meets in between the last
//! one's commit stands for all. A sum that a loop carries is committed behind its loop; the loop carries whether anything was added. The slots that
//! its products read are given back by a commit in each trip.

use std::collections::BTreeSet;

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::{Emit, number};
use crate::engines::chain;
use crate::engines::sums::Sum;
use crate::engines::tensor::{Tensor, TensorRing, accumulates, renames};
use crate::expand::returned::give_back;
use crate::expand::thread::{Site, thread};
use crate::walk::preorder;

/// The attribute of a product that says which ring it has, while loops are expanded around it.
const RING: &str = "tensor_ring";

/// Writes down which product has which ring.
pub(crate) fn tag(out: &mut Module, tensor: &Tensor) {
    for (&dot, &ring) in &tensor.of {
        out.ops[dot].attrs.set(RING, number(ring));
    }
}

/// Issues the products of a function; `given_back` are rings whose slots products give back.
pub(crate) fn issue(out: &mut Module, func: OpId, tensor: &Tensor, given_back: &[String]) -> Option<()> {
    drop_waits(out, func);
    let body = out.entry(func, 0)?;
    let loc = out.ops[func].loc;
    let ops = std::mem::take(&mut out.blocks[body].ops);
    let mut emit = Emit { out, block: body, loc };
    let (zero, one) = (emit.constant(0), emit.constant(1));
    let (never, always, added) = (emit.flag(false), emit.flag(true), emit.flag(true));
    out.blocks[body].ops.extend(ops);
    let known = Known { zero, one, never, always, added };
    for (index, ring) in tensor.rings.iter().enumerate() {
        let dots = preorder(out, func).into_iter().filter(|&op| ring_of(out, op) == Some(index));
        let (mut sites, mut sums) = (BTreeSet::new(), Vec::<Sum>::new());
        let mut joined = BTreeSet::new();
        for dot in dots.collect::<Vec<_>>() {
            match accumulates(out, dot) {
                false => {
                    sites.insert(dot);
                    if let Some(before) = chain::before(out, dot) {
                        joined.insert(is_joined(out, tensor, before, dot).then_some(before)?);
                    }
                }
                true if sums.iter().any(|sum| sum.dots.iter().any(|d| d.1 == dot)) => {}
                true => sums.push(Sum::of(out, dot)?),
            }
        }
        for sum in &sums {
            sites.extend([sum.loops.first(), sum.loops.last()].into_iter().flatten());
            add_up(out, sum, ring, &known)?;
        }
        let mut work = Work { ring, known, sums, joined, held: Vec::new(), open: None };
        thread(out, body, zero, &sites, &mut work)?;
    }
    give_back(out, func, given_back, (zero, [never, always]))
}

/// Whether nobody is told between two products of a block that a slot is free: the second one's commit then stands for both.
fn is_joined(out: &Module, tensor: &Tensor, first: OpId, second: OpId) -> bool {
    let ops = out.ops[first].block.map_or(&[][..], |block| out.blocks[block].ops.as_slice());
    let between = ops.iter().copied().skip_while(|&op| op != first).take_while(|&op| op != second);
    let ring = |op: OpId| out.attr(op, "pipeline").and_then(Attr::as_symbol);
    let slots = |op: OpId| tensor.rings.iter().all(|tensor| ring(op) != Some(&tensor.name));
    let mut between = between.flat_map(|op| preorder(out, op));
    !between.any(|op| out.ops[op].opcode == Opcode::ConsumerRelease && slots(op))
}

fn ring_of(out: &Module, op: OpId) -> Option<usize> {
    if !out.ops[op].opcode.is_product() {
        return None;
    }
    out.attr(op, RING).and_then(Attr::as_i64).and_then(|n| usize::try_from(n).ok())
}

/// Numbers that all use.
#[derive(Clone, Copy)]
struct Known {
    zero: ValueId,
    one: ValueId,
    never: ValueId,
    always: ValueId,
    /// The same as `always`, of sums that loops carry.
    added: ValueId,
}

/// Nobody waits for a product by its number: there are barriers.
fn drop_waits(out: &mut Module, func: OpId) {
    for op in preorder(out, func) {
        if out.ops[op].opcode == Opcode::MmaWait {
            let pairs: Vec<(ValueId, ValueId)> =
                out.ops[op].results.iter().copied().zip(out.ops[op].operands.iter().copied()).collect();
            pairs.into_iter().for_each(|(result, operand)| out.replace_all_uses(result, operand));
            out.detach(op);
        }
    }
}

/// Products that add to what is there once something is; their loops carry whether anything is.
fn add_up(out: &mut Module, sum: &Sum, ring: &TensorRing, known: &Known) -> Option<()> {
    *out.ops[*sum.loops.first()?].operands.get_mut(sum.zero)? = known.never;
    for &value in sum.carried.iter().filter(|&&v| v != sum.whole) {
        out.values[value].ty = Type::I1;
    }
    for &(_, dot) in &sum.dots {
        let (body, keep) = (out.ops[dot].block?, *out.ops[dot].operands.get(2)?);
        // Who goes on with it in its trip adds to what is there, too.
        out.replace_all_uses(out.result(dot)?, known.added);
        for op in std::mem::take(&mut out.blocks[body].ops) {
            match op == dot {
                true => multiply(out, body, &[(dot, keep)], ring, known, |_| {}),
                false => out.append(body, op),
            }
        }
    }
    Some(())
}

/// One lane multiplies, product by product, each with whether it adds to what is there; what is `around` them comes first.
fn multiply(
    out: &mut Module,
    block: BlockId,
    dots: &[(OpId, ValueId)],
    ring: &TensorRing,
    known: &Known,
    around: impl Fn(&mut Emit<'_>),
) {
    let Some(&(first, _)) = dots.first() else { return };
    let loc = out.ops[first].loc;
    let elected = Emit { out, block, loc }.region(Opcode::Elect, &[]);
    around(&mut Emit { out, block: elected, loc });
    for &(dot, keep) in dots {
        multiply_one(out, elected, dot, ring, keep, known);
    }
}

fn multiply_one(
    out: &mut Module,
    elected: BlockId,
    dot: OpId,
    ring: &TensorRing,
    keep: ValueId,
    known: &Known,
) {
    let loc = out.ops[dot].loc;
    let (operands, props) = (out.ops[dot].operands.clone(), out.ops[dot].props.clone());
    let mut attrs = out.ops[dot].attrs.clone();
    attrs.remove(RING);
    attrs.remove(chain::CHAINED);
    let mut emit = Emit { out, block: elected, loc };
    let mut all = vec![known.zero];
    all.extend(operands.iter().take(2));
    all.push(keep);
    all.extend(operands.iter().skip(3));
    let opcode = if operands.len() > 3 { Opcode::MmaBlockScaled } else { Opcode::Mma };
    let payload = emit.out.result(dot).and_then(|v| ring.payload(emit.out.ty(v))).unwrap_or(0);
    let mma = emit.ring(opcode, &ring.name, &all, &[("payload", number(payload))]);
    for (name, attr) in props.iter() {
        emit.out.ops[mma].props.set(name, attr.clone());
    }
    emit.out.ops[mma].attrs = attrs;
    emit.out.ops[mma].span = emit.out.ops[dot].span;
    emit.out.ops[dot].block = None;
}

/// A product whose result is awaited or read.
struct Open {
    value: ValueId,
    phase: ValueId,
    /// Whether anything was added, where that is not sure.
    written: Option<ValueId>,
    waited: bool,
}

/// What is done with the products of a ring.
struct Work<'a> {
    ring: &'a TensorRing,
    known: Known,
    /// The sums that loops carry.
    sums: Vec<Sum>,
    /// Products that another one of their block goes on with: its commit stands for both.
    joined: BTreeSet<OpId>,
    /// Such products, which are issued with the next one.
    held: Vec<OpId>,
    open: Option<(BlockId, Open)>,
}

impl Site for Work<'_> {
    fn at(&mut self, out: &mut Module, block: BlockId, op: OpId, now: ValueId) -> Option<ValueId> {
        let loc = out.ops[op].loc;
        self.settle(out, block, op);
        if self.joined.contains(&op) {
            self.held.push(op);
            return Some(now);
        }
        let Known { zero, one, never, always, .. } = self.known;
        let name = self.ring.name.clone();
        let acquired = |emit: &mut Emit<'_>, free: Option<ValueId>| {
            free.into_iter().for_each(|free| {
                emit.ring(Opcode::ProducerAcquire, &name, &[zero, free], &[]);
            });
        };
        let mut emit = Emit { out, block, loc };
        let next = emit.same(Opcode::XOrI, now, one);
        let free = self.ring.empty.map(|_| next);
        let committed = |out: &mut Module, elected: BlockId| {
            let bytes = [("bytes", number(0u64))];
            Emit { out, block: elected, loc }.ring(Opcode::ProducerCommit, &name, &[zero, now], &bytes);
        };
        let starts = self.sums.iter().any(|s| s.loops.first() == Some(&op));
        let ends = self.sums.iter().find(|s| s.loops.last() == Some(&op)).map(|s| s.whole);
        if starts && free.is_some() {
            let elected = Emit { out, block, loc }.region(Opcode::Elect, &[]);
            acquired(&mut Emit { out, block: elected, loc }, free);
        }
        if starts && ends.is_none() {
            out.append(block, op);
            return Some(now);
        }
        let (value, written) = match ends {
            Some(flag) => {
                out.append(block, op);
                let elected = Emit { out, block, loc }.region(Opcode::Elect, &[]);
                committed(out, elected);
                // What reads the sum reads it through a value of its own.
                let ty = out.ty(flag).clone();
                let tile = out.add_result(op, ty);
                let index = out.ops[op].results.len().checked_sub(1)?;
                out.ops[op].results.truncate(index);
                read_instead(out, flag, tile);
                out.values[flag].ty = Type::I1;
                (tile, Some(flag))
            }
            None => {
                // The first one starts anew.
                let keep = std::iter::once(never).chain(std::iter::repeat(always));
                let dots: Vec<(OpId, ValueId)> = self.held.drain(..).chain([op]).zip(keep).collect();
                multiply(out, block, &dots, self.ring, &self.known, |emit| acquired(emit, free));
                let elected = out.blocks[block].ops.last().and_then(|&op| out.entry(op, 0))?;
                committed(out, elected);
                (out.result(op)?, None)
            }
        };
        self.open = Some((block, Open { value, phase: now, written, waited: false }));
        Some(next)
    }

    fn before(&mut self, out: &mut Module, block: BlockId, op: OpId) {
        let Some((_, open)) = self.open.as_ref().filter(|(home, _)| *home == block) else { return };
        let last = is_end(out, op);
        // Who comes to a meeting says that the product has left its slots.
        let meets = out.ops[op].opcode == Opcode::BarrierSync && out.attr(op, "orders").is_none();
        if last {
            self.settle(out, block, op);
        } else if !open.waited && (meets || reads(out, op, open.value)) {
            self.wait(out, block, op);
        }
    }

    fn behind(&mut self, out: &mut Module, block: BlockId, op: OpId) {
        let Some((_, open)) = self.open.as_ref().filter(|(home, open)| *home == block && open.waited) else {
            return;
        };
        let seen = shown_as(out, open.value);
        if reads_any(out, op, &seen) && !is_read_later(out, block, &seen) {
            self.settle(out, block, op);
        }
    }
}

/// A tile and what only names its elements otherwise: who reads that reads the tile's own memory.
fn shown_as(out: &Module, value: ValueId) -> Vec<ValueId> {
    let mut all = vec![value];
    let mut next = 0;
    while let Some(&value) = all.get(next) {
        let placed = out.ops.iter().filter(|(_, data)| data.block.is_some() && renames(data.opcode));
        all.extend(
            placed.filter(|(_, data)| data.operands.contains(&value)).flat_map(|(_, data)| &data.results),
        );
        next += 1;
    }
    all
}

/// Whether operations of a block that have not been placed yet read one of these values.
fn is_read_later(out: &Module, block: BlockId, values: &[ValueId]) -> bool {
    let reads = |operands: &[ValueId]| operands.iter().any(|v| values.contains(v));
    let readers = out.ops.iter().filter(|(_, data)| data.block.is_some() && reads(&data.operands));
    readers.map(|(op, _)| op).any(|mut op| {
        while out.ops[op].block != Some(block) {
            match out.parent(op) {
                Some(parent) => op = parent,
                None => return false,
            }
        }
        !out.blocks[block].ops.contains(&op)
    })
}

impl Work<'_> {
    /// Waits for the product; its result is a view of its columns from here on.
    fn wait(&mut self, out: &mut Module, block: BlockId, at: OpId) {
        let Some((_, open)) = &mut self.open else { return };
        open.waited = true;
        let loc = out.ops[at].loc;
        let mut emit = Emit { out, block, loc };
        emit.ring(Opcode::ConsumerWait, &self.ring.name, &[self.known.zero, open.phase], &[]);
        let tile = emit.out.ty(open.value).clone();
        let payload = self.ring.payload(&tile).unwrap_or(0);
        let view = emit.slot(&self.ring.name, self.known.zero, payload, tile);
        if let (Some(written), Some(slot)) = (open.written, out.def_op(view)) {
            out.ops[slot].operands.push(written);
        }
        read_instead(out, open.value, view);
        open.value = view;
    }

    /// Nobody reads the result from here on: waits if nobody has, and gives the columns back.
    fn settle(&mut self, out: &mut Module, block: BlockId, at: OpId) {
        let Some((_, open)) = &self.open else { return };
        if !open.waited {
            self.wait(out, block, at);
        }
        self.open = None;
        if self.ring.empty.is_some() {
            let loc = out.ops[at].loc;
            let iterator = [self.known.zero, self.known.zero];
            Emit { out, block, loc }.ring(
                Opcode::ConsumerRelease,
                &self.ring.name,
                &iterator,
                &[("lag", number(0))],
            );
        }
    }
}

/// Lets all that read a value read another one, those that are in no list at present included.
fn read_instead(out: &mut Module, old: ValueId, new: ValueId) {
    let ops: Vec<OpId> = out.ops.iter().map(|(op, _)| op).collect();
    let of = |&op: &OpId| out.ops[op].operands.contains(&old);
    for op in ops.iter().copied().filter(of).collect::<Vec<_>>() {
        out.ops[op].operands.iter_mut().filter(|v| **v == old).for_each(|v| *v = new);
    }
}

/// Whether an operation ends its block.
fn is_end(out: &Module, op: OpId) -> bool {
    matches!(out.ops[op].opcode, Opcode::Yield | Opcode::Condition | Opcode::Return)
}

/// Whether an operation, or one inside it, reads a value.
fn reads(out: &Module, op: OpId, value: ValueId) -> bool {
    preorder(out, op).iter().any(|&op| out.ops[op].operands.contains(&value))
}

/// Whether an operation, or one inside it, reads one of these values.
fn reads_any(out: &Module, op: OpId, values: &[ValueId]) -> bool {
    values.iter().any(|&value| reads(out, op, value))
}
