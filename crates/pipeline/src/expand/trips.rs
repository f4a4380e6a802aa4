//! A loop with pipelined loads: prologue, steady state, drain (C23, C24, C28).

use std::collections::{BTreeSet, HashMap};

use warploom_ir::{Attr, BlockId, Effect, LocId, Module, OpId, Opcode, Type, ValueDef, ValueId};

mod copies;
mod steady;

use crate::classes::constant;
use crate::emit::{Emit, number};
use crate::expand::rounds;
use crate::sets::IdSet;
use crate::transports::PipelinedLoads;
use crate::transports::slice::{PointerStep, Slice, pointer_step, slice, yielded};

/// What a loop of the kernel has become, by value.
type Map = HashMap<ValueId, ValueId>;

/// The ring of a loop.
pub(crate) struct Ring<'a> {
    pub name: &'a str,
    /// The ring of the late tiles, where they have one of their own.
    pub late: &'a str,
    /// Where all warps meet.
    pub barrier: &'a str,
    pub depth: u64,
    /// Products that a trip leaves unfinished: the slots that they read are given back so many trips later (C30).
    pub pending: u64,
    /// Whether products of the asynchronous proxy read what lanes copied (C26).
    pub fenced: bool,
    /// Whether products give the slots back.
    pub given_back: bool,
}

/// A value that the loop carries, and how the expanded loop carries it.
#[derive(Clone, Copy)]
struct Carried {
    /// Its position.
    at: usize,
    /// Where the loop starts from.
    first: ValueId,
    /// For tiles of pointers: how far they move, in place of the tile.
    step: Option<ValueId>,
}

/// A loop being expanded.
struct Loop<'a> {
    old: OpId,
    body: BlockId,
    args: Vec<ValueId>,
    bounds: [ValueId; 3],
    /// Iterations between a load and its use.
    distance: i64,
    /// Whether the ring holds all iterations there are: nothing is left for the loop to copy.
    ahead: bool,
    /// The step, where it is a constant.
    step: Option<i64>,
    /// Whether the copy engine copies.
    engine: bool,
    tiles: &'a PipelinedLoads,
    ring: &'a Ring<'a>,
    slice: Slice,
    block: BlockId,
    loc: LocId,
}

/// Expands a loop where it stands. `None` if it is not what [`crate::transports::find`] makes sure of.
pub(crate) fn expand(out: &mut Module, tiles: &PipelinedLoads, ring: &Ring<'_>) -> Option<()> {
    let old = tiles.scf_for;
    let body = out.entry(old, 0)?;
    let block = out.ops[old].block?;
    let &[lo, hi, step, ref inits @ ..] = out.ops[old].operands.as_slice() else { return None };
    let inits = inits.to_vec();
    let roots: Vec<ValueId> = tiles.tiles.iter().flat_map(|t| out.ops[t.op].operands.clone()).collect();
    let depth = i64::try_from(ring.depth).ok()?;
    let engine = tiles.tiles.iter().any(|t| t.plan.is_some());
    let in_rings = (!ring.given_back || engine) && tiles.late.is_none();
    let fitting = trip_count(out, [lo, hi, step]).filter(|&trips| in_rings && trips <= depth);
    let apart = depth.checked_sub(1)?.checked_sub(i64::try_from(ring.pending).ok()?)?.max(1);
    let at = Loop {
        old,
        body,
        args: out.blocks[body].args.to_vec(),
        bounds: [lo, hi, step],
        distance: fitting.unwrap_or(apart),
        ahead: fitting.is_some(),
        step: constant(out, step),
        engine,
        slice: slice(out, old, body, &roots)?,
        tiles,
        ring,
        block,
        loc: out.ops[old].loc,
    };
    let (live, kept) = at.live(out);
    let used: Vec<bool> = out.ops[old].results.iter().map(|&result| out.is_used(result)).collect();
    // Everything behind the loop comes back behind what the loop becomes.
    let position = out.blocks[block].ops.iter().position(|&op| op == old)?;
    let mut behind = out.blocks[block].ops.split_off(position);
    behind.remove(0);
    let copied = at.carried(out, &at.slice.carried.clone(), &inits)?;
    let kept = at.carried(out, &kept, &inits)?;
    let (rounds, read) = match at.counts() {
        true => rounds::enter(out, old).map(|(rounds, read)| (Some(rounds), read))?,
        false => (None, at.zeros(out)),
    };
    let (starts, write) = at.prologue(out, &copied, read)?;
    let new = at.steady(out, &copied, &starts, &kept, &live, (read, write))?;
    if !at.engine {
        at.meet(out, block, 0);
    }
    let results = out.ops[old].results.to_vec();
    let made = out.ops[new].results.to_vec();
    let mut replaced = Vec::new();
    for (carried, &value) in kept.iter().zip(&made) {
        if !*used.get(carried.at)? {
            continue;
        }
        let value = match carried.step {
            Some(_) => Emit { out, block, loc: at.loc }.moved(carried.first, value),
            None => value,
        };
        replaced.push((*results.get(carried.at)?, value));
    }
    out.ops[old].block = None;
    out.blocks[block].ops.extend(behind);
    if let Some(rounds) = rounds {
        let last = made.len().checked_sub(if tiles.late.is_some() { 2 } else { 4 })?;
        rounds::leave(out, rounds, [*made.get(last)?, *made.get(last + 1)?])?;
    }
    replaced.into_iter().for_each(|(result, value)| out.replace_all_uses(result, value));
    Some(())
}

/// How often a loop runs whose bounds are constants, at least once.
fn trip_count(out: &Module, bounds: [ValueId; 3]) -> Option<i64> {
    let [lo, hi, step] = bounds.map(|v| constant(out, v));
    let (length, step) = (hi?.checked_sub(lo?)?, step.filter(|&step| step > 0)?);
    (length > 0).then(|| (length - 1) / step + 1)
}

impl Loop<'_> {
    /// Whether barriers count how often slots were filled, from one run of the loop to the next.
    fn counts(&self) -> bool {
        self.engine || self.ring.given_back
    }

    fn is_copied(&self, op: OpId) -> bool {
        self.tiles.tiles.iter().any(|t| t.op == op)
    }

    /// What computing needs, copies aside: operations of the body, and positions of carried values.
    fn live(&self, out: &Module) -> (IdSet<OpId>, BTreeSet<usize>) {
        let (mut ops, mut kept) = (IdSet::default(), BTreeSet::new());
        let mut stack: Vec<ValueId> = Vec::new();
        let carried = |at: usize, kept: &mut BTreeSet<usize>, stack: &mut Vec<ValueId>| {
            if kept.insert(at) && pointer_step(out, self.old, self.body, at).is_none() {
                stack.extend(yielded(out, self.body, at));
            }
        };
        for (at, &result) in out.ops[self.old].results.iter().enumerate() {
            if out.is_used(result) {
                carried(at, &mut kept, &mut stack);
            }
        }
        for &op in &out.blocks[self.body].ops {
            let opcode = out.ops[op].opcode;
            // What only gives results lives by those who use them.
            let idle = matches!(opcode.facts().effect, Effect::None | Effect::Divides | Effect::Read);
            if !idle && opcode != Opcode::Yield {
                ops.insert(op);
                stack.extend(self.reads(out, op));
            }
        }
        while let Some(value) = stack.pop() {
            match out.values[value].def {
                ValueDef::Result { op, .. }
                    if out.ops[op].block == Some(self.body) && ops.insert(op) && !self.is_copied(op) =>
                {
                    stack.extend(self.reads(out, op));
                }
                ValueDef::Argument { block, index } if block == self.body && index > 0 => {
                    carried(index as usize - 1, &mut kept, &mut stack);
                }
                _ => {}
            }
        }
        (ops, kept)
    }

    /// What an operation reads, those in its regions included.
    fn reads(&self, out: &Module, op: OpId) -> Vec<ValueId> {
        let inside = crate::walk::preorder(out, op);
        inside.into_iter().flat_map(|op| out.ops[op].operands.clone()).collect()
    }

    /// How carried values are carried on.
    fn carried(
        &self,
        out: &mut Module,
        positions: &BTreeSet<usize>,
        inits: &[ValueId],
    ) -> Option<Vec<Carried>> {
        let mut all = Vec::new();
        for &at in positions {
            let step = match pointer_step(out, self.old, self.body, at) {
                Some(PointerStep { by }) => Some(self.scalar(out, by)?),
                None => None,
            };
            all.push(Carried { at, first: *inits.get(at)?, step });
        }
        Some(all)
    }

    /// A step as a scalar: itself, or the number that a splat constant repeats.
    fn scalar(&self, out: &mut Module, by: ValueId) -> Option<ValueId> {
        if !out.ty(by).is_tensor() {
            return Some(by);
        }
        let Some(Attr::Splat { value, .. }) = out.attr(out.def_op(by)?, "value") else { return None };
        let value = value.as_i64()?;
        let ty = out.ty(by).elem().clone();
        Some(Emit { out, block: self.block, loc: self.loc }.scalar(value, &ty))
    }

    /// Where iterators start that begin with each run of the loop.
    fn zeros(&self, out: &mut Module) -> [ValueId; 2] {
        let zero = Emit { out, block: self.block, loc: self.loc }.scalar(0, &Type::I32);
        [zero, zero]
    }

    /// The copies of the first iterations; returns where the carried values stand behind them, and the next slot to
    /// fill.
    fn prologue(
        &self,
        out: &mut Module,
        copied: &[Carried],
        read: [ValueId; 2],
    ) -> Option<(Vec<ValueId>, [ValueId; 2])> {
        let [lo, hi, _] = self.bounds;
        let mut emit = Emit { out, block: self.block, loc: self.loc };
        let some = emit.compare("slt", lo, hi);
        let mut now: Vec<ValueId> = Vec::new();
        for carried in copied {
            now.push(match carried.step {
                Some(step) => {
                    let ty = emit.out.ty(step).clone();
                    emit.scalar(0, &ty)
                }
                None => carried.first,
            });
        }
        // The first round of slots is free: a wait for the phase before passes (C23).
        let one = emit.scalar(1, &Type::I32);
        let mut write = match self.counts() {
            true => [read[0], emit.same(Opcode::XOrI, read[1], one)],
            false => read,
        };
        if self.tiles.late.is_some() {
            if self.has_early() {
                self.copies(out, self.block, copied, &now, (lo, some, write), false)?;
            }
            return Some((now, write));
        }
        for iteration in 0..self.distance {
            let (index, guard) = match iteration {
                0 => (lo, some),
                _ => {
                    let (index, more) = self.later(out, self.block, lo, iteration)?;
                    let mut emit = Emit { out, block: self.block, loc: self.loc };
                    (index, emit.value(Opcode::AndI, &[some, more], &Type::I1))
                }
            };
            now = self.copies(out, self.block, copied, &now, (index, guard, write), false)?;
            let next = Emit { out, block: self.block, loc: self.loc }.advance(self.ring.name, write);
            write = [*next.first()?, *next.get(1)?];
        }
        Some((now, write))
    }

    /// What carried values are in the next iteration: moved on, or what the body yields.
    fn nexts(
        &self,
        emit: &mut Emit<'_>,
        carried: &[Carried],
        now: &[ValueId],
        map: &Map,
    ) -> Option<Vec<ValueId>> {
        let next = |(carried, &value): (&Carried, &ValueId)| match carried.step {
            Some(step) => {
                let ty = emit.out.ty(step).clone();
                Some(emit.value(Opcode::AddI, &[value, step], &ty))
            }
            None => {
                let value = yielded(emit.out, self.body, carried.at)?;
                Some(map.get(&value).copied().unwrap_or(value))
            }
        };
        carried.iter().zip(now).map(next).collect()
    }

    /// Says what the arguments of the body are in one iteration.
    fn bind(
        &self,
        out: &mut Module,
        block: BlockId,
        carried: &[Carried],
        now: &[ValueId],
        index: ValueId,
        map: &mut Map,
    ) -> Option<()> {
        map.insert(*self.args.first()?, index);
        for (carried, &value) in carried.iter().zip(now) {
            let value = match carried.step {
                Some(_) => Emit { out, block, loc: self.loc }.moved(carried.first, value),
                None => value,
            };
            map.insert(*self.args.get(carried.at + 1)?, value);
        }
        Some(())
    }

    /// All groups but so many are there, and everybody has come: slots read before may be filled again.
    fn meet(&self, out: &mut Module, block: BlockId, pending: i64) {
        let mut emit = Emit { out, block, loc: self.loc };
        emit.op(Opcode::AsyncWait, &[], &[], &[("pending", number(pending))]);
        if self.ring.fenced {
            emit.op(Opcode::ProxyFence, &[], &[], &[]);
        }
        emit.op(Opcode::BarrierSync, &[], &[], &[("barrier", Attr::symbol(self.ring.barrier))]);
    }

    /// The index so many iterations behind one that exists, and whether that one does too. Where the step is no
    /// constant, in 64 bits: so many steps may be more than the index can hold.
    fn later(
        &self,
        out: &mut Module,
        block: BlockId,
        index: ValueId,
        iterations: i64,
    ) -> Option<(ValueId, ValueId)> {
        let ty = out.ty(index).clone();
        let [_, hi, step] = self.bounds;
        let mut emit = Emit { out, block, loc: self.loc };
        if let Some(step) = self.step {
            let distance = emit.scalar(iterations.checked_mul(step)?, &ty);
            let left = emit.same(Opcode::SubI, hi, index);
            let more = emit.compare("ugt", left, distance);
            return Some((emit.same(Opcode::AddI, index, distance), more));
        }
        let (hi, from, step) = (emit.wide(hi), emit.wide(index), emit.wide(step));
        let count = emit.scalar(iterations, &Type::I64);
        let distance = emit.same(Opcode::MulI, step, count);
        let left = emit.same(Opcode::SubI, hi, from);
        let more = emit.compare("sgt", left, distance);
        let later = emit.same(Opcode::AddI, from, distance);
        let later = if ty == Type::I64 { later } else { emit.value(Opcode::TruncI, &[later], &ty) };
        Some((later, more))
    }
}
