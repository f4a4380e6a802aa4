//! The loops and branches of a partition's walk, with the iterators of its rings threaded through them.

use std::collections::BTreeMap;

use warploom_ir::{Attr, BlockId, OpId, Opcode, Type, ValueDef, ValueId};

use crate::emit::number;
use crate::layout::RingUse;
use crate::loops::{Part, PartitionRole};
use crate::nest::{innermost_for, is_inside};
use crate::select::AccumulatorKind;
use crate::specialize::copy::Scope;
use crate::specialize::shape::{LoopShape, shape};
use crate::specialize::tensor_shape;
use crate::specialize::walker::{Iterator2, Walker};

impl Walker<'_, '_> {
    /// The rings that the partition touches inside an operation.
    pub fn rings_in(&self, op: OpId) -> Vec<usize> {
        let (module, selection) = (self.module(), self.b.source.selection);
        // Where products go to tensor memory, one partition alone reads their operands.
        let multiplied = |r: &crate::select::TileRing| {
            r.payloads().iter().any(|&l| selection.dots.iter().any(|d| d.reads(l)))
        };
        let mine = |r: &crate::select::TileRing| match self.role {
            _ if selection.accumulators.is_empty() => true,
            PartitionRole::Load => true,
            PartitionRole::Mma => multiplied(r),
            PartitionRole::Math => !multiplied(r),
        };
        let rings = selection.rings.iter().enumerate().filter(|(_, r)| r.looped && mine(r));
        let inside = |l: &usize| selection.loads.get(*l).is_some_and(|l| is_inside(module, l.op, op));
        let found = rings.filter(|(_, r)| r.uses.iter().any(|u| u.loads.iter().any(inside))).map(|(i, _)| i);
        found.chain(self.tensor_rings_in(op)).collect()
    }

    /// Where a ring's iterator stands.
    pub fn iterator(&self, ring: usize) -> Option<Iterator2> {
        // The producer starts one phase ahead: its first acquires find every slot empty (C23).
        let produces = match self.b.source.layout.rings.get(ring)?.usage {
            RingUse::Ring(_) | RingUse::Staging(_) | RingUse::Once(_) => self.role == PartitionRole::Load,
            RingUse::Late(_) | RingUse::InPlace(_) | RingUse::Stored(_) => return None,
            RingUse::Operand(_) => self.role == PartitionRole::Math,
            // What is scaled in place the computing partition starts.
            RingUse::Accumulator(accumulator) => {
                let kind = self.b.source.selection.accumulators.get(accumulator)?.kind;
                let starts = if matches!(kind, AccumulatorKind::Scaled { .. }) {
                    PartitionRole::Math
                } else {
                    PartitionRole::Mma
                };
                self.role == starts
            }
        };
        let phase = if produces { self.b.one? } else { self.b.zero? };
        Some(self.iterators.get(&ring).copied().unwrap_or([self.b.zero?, phase]))
    }

    /// Positions of the loop-carried values that the partition needs.
    pub fn carried(&self, scf_for: OpId) -> Vec<usize> {
        let module = self.module();
        let args = module.entry(scf_for, 0).map(|b| module.blocks[b].args.clone()).unwrap_or_default();
        let results = &module.ops[scf_for].results;
        let wanted = |v: Option<&ValueId>| v.is_some_and(|v| self.needed.values.contains(*v));
        let accumulator = |at: usize| self.accumulator_of(scf_for, at).is_some();
        (0..results.len())
            .filter(|&at| (wanted(args.get(at + 1)) || wanted(results.get(at))) && !accumulator(at))
            .collect()
    }

    pub(super) fn loop_op(&mut self, scf_for: OpId) -> Option<()> {
        self.prepare(scf_for)?;
        let scheduled = self.b.source.loops.iter().find(|s| s.pipelined.scf_for == scf_for);
        if scheduled.is_some() && self.role == PartitionRole::Mma {
            return self.issuing_loop(scf_for, scheduled?);
        }
        if let (Some(scheduled), PartitionRole::Math) = (scheduled, self.role) {
            if self.b.source.selection.shares_tensor_memory(scf_for) {
                return self.plain_loop(scf_for, Some(&tensor_shape::computing(scheduled)));
            }
            let shape = shape(self.module(), scheduled, &self.b.source.selection.dots);
            self.open_turns(scheduled, &shape);
            match shape.stages {
                2 => self.rotated(scf_for, shape)?,
                _ => self.plain_loop(scf_for, Some(&shape))?,
            }
            self.close_turns(scf_for);
            return Some(());
        }
        self.plain_loop(scf_for, None)
    }

    /// A loop as the kernel has it, with the iterators of its rings. `shape` gives the operations of a pipelined loop.
    fn plain_loop(&mut self, scf_for: OpId, shape: Option<&LoopShape>) -> Option<()> {
        let module = self.module();
        let body = module.entry(scf_for, 0)?;
        let (carried, rings) = (self.carried(scf_for), self.rings_in(scf_for));
        let mut initial = Vec::new();
        for &at in &carried {
            let first = *module.ops[scf_for].operands.get(3 + at)?;
            initial.push(self.read(first, 0, scf_for)?);
        }
        let bounds = self.bounds(scf_for)?;
        self.start_accumulators(scf_for)?;
        let args: Vec<ValueId> =
            carried.iter().map(|&at| module.blocks[body].args.get(at + 1).copied()).collect::<Option<_>>()?;
        self.between_trips(scf_for);
        let opened = self.open_loop(scf_for, bounds, &args, &initial, &rings)?;
        match shape {
            Some(shape) => {
                for step in &shape.steps {
                    match step.part {
                        Part::TmemStore => self.tensor_store(step.op, 0)?,
                        _ => self.step(step.op, 0)?,
                    }
                }
            }
            None => self.block(body)?,
        }
        let yielded = module.terminator(body)?;
        self.drain(scf_for);
        self.close_products(scf_for)?;
        let mut last = Vec::new();
        for &at in &carried {
            let value = *module.ops[yielded].operands.get(at)?;
            let made = self.value(value, 0)?;
            last.push(self.waited.get(&made).copied().unwrap_or(made));
        }
        let results = self.close_loop(opened, yielded, &last, &rings)?;
        for (&at, &value) in carried.iter().zip(&results) {
            self.scopes.first_mut()?.bind(*module.ops[scf_for].results.get(at)?, value);
        }
        // Nothing may be in flight when an accumulator is read and a ring becomes staging (C30, C33).
        let unfinished: Vec<usize> = carried.iter().copied().filter(|&at| self.lags(scf_for, at)).collect();
        if !unfinished.is_empty() {
            let old: Vec<ValueId> = unfinished
                .iter()
                .map(|&at| module.ops[scf_for].results.get(at).copied())
                .collect::<Option<_>>()?;
            let new = self.scopes.first()?.all(&old)?;
            let finished = self.emit(scf_for).mma_wait(&new, 0);
            for (old, new) in old.into_iter().zip(finished) {
                self.scopes.first_mut()?.bind(old, new);
            }
            self.last_slots(scf_for, bounds, &rings)?;
        }
        Some(())
    }

    /// Gives back the slots that the last trip left, where a ring goes on behind its loop.
    fn last_slots(&mut self, scf_for: OpId, bounds: [ValueId; 3], rings: &[usize]) -> Option<()> {
        for &index in rings {
            if !self.lagging.contains(&index) || !self.used_elsewhere(index, scf_for) {
                continue;
            }
            let ring = self.b.source.layout.rings.get(index)?;
            let depth = i32::try_from(ring.depth).ok()?;
            let [slot, phase] = self.iterator(index)?;
            let (zero, one) = (self.b.zero?, self.b.one?);
            let any = self.less(bounds[0], bounds[1], scf_for)?;
            let op = self.emit(scf_for).op(Opcode::If, &[any], &[], &[]);
            let outside = self.at;
            let region = self.b.out.add_region(op);
            self.at = self.b.out.add_block(region);
            let mut emit = self.emit(scf_for);
            let equal = [("predicate", Attr::Opaque("eq".to_owned()))];
            let first = emit.op(Opcode::CmpI, &[slot, zero], &[Type::I1], &equal);
            let less = emit.op(Opcode::SubI, &[slot, one], &[Type::I32], &[]);
            let last = emit.constant(depth - 1);
            let (first, less) = (emit.out.result(first)?, emit.out.result(less)?);
            let before = emit.op(Opcode::Select, &[first, last, less], &[Type::I32], &[]);
            let before = emit.out.result(before)?;
            emit.ring(Opcode::ConsumerRelease, &ring.name, &[before, phase], &[("lag", number(0))]);
            emit.op(Opcode::Yield, &[], &[], &[]);
            self.b.out.add_region(op);
            self.at = outside;
        }
        Some(())
    }

    /// Whether a carried value is a product that a wait of its own leaves pending.
    fn lags(&self, scf_for: OpId, at: usize) -> bool {
        let module = self.module();
        let yielded = module.entry(scf_for, 0).and_then(|b| module.terminator(b));
        let value = yielded.and_then(|y| module.ops[y].operands.get(at).copied());
        value.and_then(|v| module.def_op(v)).is_some_and(|op| module.ops[op].opcode == Opcode::MmaWait)
    }

    /// Bounds and step of a loop.
    pub fn bounds(&mut self, scf_for: OpId) -> Option<[ValueId; 3]> {
        let old: [ValueId; 3] = self.module().ops[scf_for].operands.get(..3)?.try_into().ok()?;
        let mut new = old;
        for (new, old) in new.iter_mut().zip(old) {
            *new = self.read(old, 0, scf_for)?;
        }
        Some(new)
    }

    /// Opens an `scf.for` that carries `args` (values of the kernel) from `initial`, and the iterators of `rings`. The
    /// walk goes on inside, with the arguments bound in iteration 0.
    pub fn open_loop(
        &mut self,
        scf_for: OpId,
        bounds: [ValueId; 3],
        args: &[ValueId],
        initial: &[ValueId],
        rings: &[usize],
    ) -> Option<Opened> {
        let module = self.module();
        let body = module.entry(scf_for, 0)?;
        let mut operands: Vec<ValueId> = bounds.to_vec();
        operands.extend_from_slice(initial);
        let mut types: Vec<Type> = args.iter().map(|&v| module.ty(v).clone()).collect();
        for &ring in rings {
            operands.extend(self.iterator(ring)?);
            types.extend([Type::I32, Type::I32]);
        }
        let op = self.emit(scf_for).op(Opcode::For, &operands, &types, &[]);
        self.b.out.ops[op].span = module.ops[scf_for].span;
        let region = self.b.out.add_region(op);
        let inner = self.b.out.add_block(region);
        let outside =
            Opened { op, block: self.at, scopes: self.scopes.clone(), iterators: self.iterators.clone() };
        let induction = *module.blocks[body].args.first()?;
        let loc = module.values[induction].loc;
        let counter = self.named_arg(inner, induction);
        let scope = self.scopes.first_mut()?;
        scope.bind(induction, counter);
        for (number, &arg) in args.iter().enumerate() {
            let new = self.named_arg(inner, arg);
            // The text gives every argument a name; one that had none keeps this one when it is read again.
            let name = &mut self.b.out.values[new].name;
            if self.nameless || name.is_none() {
                *name = Some(format!("carried.{number}"));
            }
            self.scopes.first_mut()?.bind(arg, new);
        }
        // A name of its own for each loop inside another one.
        let mut around = 0usize;
        let mut at = innermost_for(module, scf_for);
        while let Some(parent) = at {
            around += 1;
            at = innermost_for(module, parent);
        }
        let deep = if around == 0 { String::new() } else { format!(".{around}") };
        for &ring in rings {
            let name = &self.b.source.layout.rings.get(ring)?.name;
            let pair = ["slot", "phase"].map(|what| {
                let new = self.b.out.add_arg(inner, Type::I32, loc);
                self.b.out.values[new].name = Some(format!("{name}.{what}{deep}"));
                new
            });
            self.iterators.insert(ring, pair);
        }
        self.at = inner;
        Some(outside)
    }

    fn named_arg(&mut self, block: BlockId, like: ValueId) -> ValueId {
        let module = self.module();
        let ty = module.ty(like).clone();
        // Results that become arguments leave their place behind: the text has none for what a loop carries.
        let loc = match module.values[like].def {
            ValueDef::Argument { .. } => module.values[like].loc,
            ValueDef::Result { .. } => module.unknown_loc(),
        };
        let new = self.b.out.add_arg(block, ty, loc);
        self.b.out.values[new].name.clone_from(&module.values[like].name);
        new
    }

    /// Yields values and iterators, and goes on behind the loop; gives what the values have become there.
    pub fn close_loop(
        &mut self,
        opened: Opened,
        at: OpId,
        values: &[ValueId],
        rings: &[usize],
    ) -> Option<Vec<ValueId>> {
        let mut last = values.to_vec();
        for &ring in rings {
            last.extend(self.iterator(ring)?);
        }
        self.emit(at).op(Opcode::Yield, &last, &[], &[]);
        let results = self.b.out.ops[opened.op].results.to_vec();
        self.at = opened.block;
        self.scopes = opened.scopes;
        self.iterators = opened.iterators;
        self.bind_iterators(rings, results.get(values.len()..)?);
        Some(results.get(..values.len())?.to_vec())
    }

    /// Iterators as a loop or branch leaves them.
    pub fn bind_iterators(&mut self, rings: &[usize], results: &[ValueId]) {
        for (&ring, pair) in rings.iter().zip(results.chunks_exact(2)) {
            if let [index, phase] = pair {
                self.iterators.insert(ring, [*index, *phase]);
            }
        }
    }

    /// A branch around things that the partition does.
    pub(super) fn branch(&mut self, scf_if: OpId) -> Option<()> {
        let module = self.module();
        let condition = self.read(*module.ops[scf_if].operands.first()?, 0, scf_if)?;
        let wanted: Vec<usize> = module.ops[scf_if]
            .results
            .iter()
            .enumerate()
            .filter(|(_, v)| self.needed.values.contains(**v))
            .map(|(at, _)| at)
            .collect();
        // Iterators that nobody asks for behind the branch end with it.
        let rings: Vec<usize> =
            self.rings_in(scf_if).into_iter().filter(|&r| self.used_elsewhere(r, scf_if)).collect();
        let mut types: Vec<Type> = Vec::new();
        for &at in &wanted {
            types.push(module.ty(*module.ops[scf_if].results.get(at)?).clone());
        }
        types.extend(rings.iter().flat_map(|_| [Type::I32, Type::I32]));
        let op = self.emit(scf_if).op(Opcode::If, &[condition], &types, &[]);
        let (block, scopes, iterators) = (self.at, self.scopes.clone(), self.iterators.clone());
        let branches = if types.is_empty() { module.ops[scf_if].regions.len() } else { 2 };
        for branch in 0..branches {
            let region = self.b.out.add_region(op);
            let Some(from) = module.entry(scf_if, branch) else { continue };
            self.at = self.b.out.add_block(region);
            self.block(from)?;
            let mut last = Vec::new();
            if let Some(yielded) = module.terminator(from) {
                for &at in &wanted {
                    let value = *module.ops[yielded].operands.get(at)?;
                    last.push(self.read(value, 0, yielded)?);
                }
            }
            for &ring in &rings {
                last.extend(self.iterator(ring)?);
            }
            self.emit(scf_if).op(Opcode::Yield, &last, &[], &[]);
            self.at = block;
            self.scopes.clone_from(&scopes);
            self.iterators.clone_from(&iterators);
        }
        let results = self.b.out.ops[op].results.to_vec();
        for (&at, &value) in wanted.iter().zip(&results) {
            self.scopes.first_mut()?.bind(*module.ops[scf_if].results.get(at)?, value);
        }
        self.bind_iterators(&rings, results.get(wanted.len()..)?);
        Some(())
    }

    /// Whether a ring is used outside an operation, or again in another trip of a loop around it.
    fn used_elsewhere(&self, ring: usize, op: OpId) -> bool {
        let (module, selection) = (self.module(), self.b.source.selection);
        let mut around = module.parent(op);
        while let Some(parent) = around {
            if module.ops[parent].opcode == Opcode::For {
                return true;
            }
            around = module.parent(parent);
        }
        let uses = selection.rings.get(ring).map(|r| r.uses.as_slice()).unwrap_or_default();
        let loads = uses.iter().flat_map(|u| &u.loads).filter_map(|&l| selection.loads.get(l));
        loads.into_iter().any(|l| !is_inside(module, l.op, op))
    }
}

/// A loop under construction: what was outside.
pub(super) struct Opened {
    op: OpId,
    block: BlockId,
    scopes: Vec<Scope>,
    iterators: BTreeMap<usize, Iterator2>,
}
