//! The shape of the computing partition's loop (C28, C29): its operations in the order of the schedule, in one stage or
//! two.
//!
//! The schedule gives each operation a time; a window of one II decides which operations of which iteration stand in
//! the body of the loop. Of all windows that cut the partition's operations into two stages, the one is taken at whose
//! end the partition waits least for products, and of those the one across whose end the fewest bytes of registers
//! live. Where the operations fit into one stage, or would take more than two, the loop runs as the kernel has it.

use std::collections::{BTreeMap, BTreeSet};

use warploom_ir::{BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use crate::buffers::depth::ScheduledLoop;
use crate::loops::{LoopNode, Part, PartitionRole};
use crate::select::Dot;
use crate::views::look_through;

/// An operation of the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub op: OpId,
    /// The operation itself, or the write of its result into tensor memory.
    pub part: Part,
    /// 0 for those of the younger iteration.
    pub stage: i64,
}

/// The computing partition's loop.
#[derive(Clone, Debug)]
pub(crate) struct LoopShape {
    /// 1: as the kernel has it. 2: rotated by one iteration.
    pub stages: i64,
    /// The operations that take time, in the order of the body.
    pub steps: Vec<Step>,
    /// Values of the first stage that the second one reads: they go round the loop.
    pub crossing: Vec<ValueId>,
}

/// The shape of a scheduled loop.
pub(crate) fn shape(module: &Module, scheduled: &ScheduledLoop, dots: &[Dot]) -> LoopShape {
    let plain = plain(module, scheduled);
    let Some(body) = module.entry(scheduled.pipelined.scf_for, 0) else { return plain };
    // A product that is waited for a trip later overlaps by itself.
    if plain.steps.iter().any(|s| module.ops[s.op].opcode == Opcode::MmaWait) {
        return plain;
    }
    let timed = timed(scheduled);
    let ii = scheduled.answer.ii.max(1);
    let mut best: Option<((i64, u64), LoopShape)> = None;
    for &(start, ..) in &timed {
        let Some(shape) = window(module, body, &timed, start, ii, dots) else { continue };
        if shape.stages == 1 {
            return plain;
        }
        let bytes: u64 = shape.crossing.iter().filter_map(|&v| module.ty(v).bytes()).sum();
        let cost = (stall(scheduled, &timed, start, dots), bytes);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, shape));
        }
    }
    best.map_or(plain, |(_, shape)| shape)
}

/// Cycles that the partition waits at the end of the body for products that are not finished by then.
fn stall(scheduled: &ScheduledLoop, timed: &[(i64, usize, OpId)], start: i64, dots: &[Dot]) -> i64 {
    let ii = scheduled.answer.ii.max(1);
    let products = timed.iter().filter(|(.., op)| dots.iter().any(|d| d.op == *op));
    let late = products.map(|&(time, _, op)| {
        let node = scheduled.pipelined.node(op, Part::Whole);
        let latency = node.and_then(|n| scheduled.pipelined.graph.nodes.get(n)).map_or(0, |n| n.latency);
        (latency - (ii - (time - start).rem_euclid(ii))).max(0)
    });
    late.max().unwrap_or(0)
}

/// The loop in the order of the kernel.
fn plain(module: &Module, scheduled: &ScheduledLoop) -> LoopShape {
    let mut ops: Vec<OpId> = computing(scheduled).map(|(_, op)| op).collect();
    let body = module.entry(scheduled.pipelined.scf_for, 0);
    let order = body.map(|b| module.blocks[b].ops.as_slice()).unwrap_or_default();
    let places: BTreeMap<OpId, usize> = order.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    ops.sort_by_key(|op| places.get(op));
    let steps = ops.into_iter().map(|op| Step { op, part: Part::Whole, stage: 0 }).collect();
    LoopShape { stages: 1, steps, crossing: Vec::new() }
}

/// The nodes of the computing partition.
fn computing(scheduled: &ScheduledLoop) -> impl Iterator<Item = (usize, OpId)> + '_ {
    let nodes = scheduled.pipelined.nodes.iter().enumerate();
    let first = |n: &LoopNode| n.role == PartitionRole::Math && n.part == Part::Whole && n.replica == 0;
    nodes.filter(move |(_, n)| first(n)).map(|(id, n)| (id, n.op))
}

/// Time, order and operation of each node of the computing partition.
fn timed(scheduled: &ScheduledLoop) -> Vec<(i64, usize, OpId)> {
    let place = |id: usize| scheduled.answer.nodes.get(id);
    let mut timed: Vec<(i64, usize, OpId)> =
        computing(scheduled).filter_map(|(id, op)| place(id).map(|p| (p.time, p.order, op))).collect();
    timed.sort();
    timed
}

/// The shape with a window that starts at `start`; none if it needs more than two stages, or cannot be rotated.
fn window(
    module: &Module,
    body: BlockId,
    timed: &[(i64, usize, OpId)],
    start: i64,
    ii: i64,
    dots: &[Dot],
) -> Option<LoopShape> {
    let stage = |time: i64| (time - start).div_euclid(ii);
    let first = timed.iter().map(|&(time, ..)| stage(time)).min()?;
    let stages = timed.iter().map(|&(time, ..)| stage(time)).max()? - first + 1;
    if stages > 2 {
        return None;
    }
    let mut keyed: Vec<(i64, usize, Step)> = timed
        .iter()
        .map(|&(time, order, op)| {
            let step = Step { op, part: Part::Whole, stage: stage(time) - first };
            ((time - start).rem_euclid(ii), order, step)
        })
        .collect();
    // Products are only issued: in a cycle they go first, so that what else happens in it runs beside them.
    let issues = |step: &Step| dots.iter().any(|d| d.op == step.op);
    keyed.sort_by_key(|(cycle, order, step)| (*cycle, !issues(step), *order));
    let steps: Vec<Step> = keyed.into_iter().map(|(.., step)| step).collect();
    let rotation = Rotation::new(module, body, &steps);
    (stages == 1 || rotation.legal(&steps, dots)).then(|| LoopShape {
        stages,
        crossing: rotation.crossing(&steps),
        steps,
    })
}

/// Two iterations in one body.
struct Rotation<'a> {
    module: &'a Module,
    body: BlockId,
    stage: BTreeMap<OpId, i64>,
}

impl<'a> Rotation<'a> {
    fn new(module: &'a Module, body: BlockId, steps: &[Step]) -> Rotation<'a> {
        Rotation { module, body, stage: steps.iter().map(|s| (s.op, s.stage)).collect() }
    }

    /// The operations with a place of their own, and the arguments, that a value is computed from, through what is
    /// copied where it is asked for.
    fn atoms(&self, value: ValueId) -> Vec<ValueId> {
        let (mut found, mut seen, mut stack) = (Vec::new(), BTreeSet::new(), vec![value]);
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.module.values[value].def {
                ValueDef::Argument { block, .. } if block == self.body => found.push(value),
                ValueDef::Result { op, .. } if self.module.ops[op].block == Some(self.body) => {
                    match self.module.ops[op].opcode {
                        _ if self.stage.contains_key(&op) => found.push(value),
                        Opcode::DescriptorLoad => {}
                        _ => stack.extend(crate::specialize::needed::operands(self.module, op)),
                    }
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found
    }

    fn stage_of(&self, value: ValueId) -> Option<i64> {
        self.stage.get(&self.module.def_op(value)?).copied()
    }

    fn yielded(&self) -> &'a [ValueId] {
        let yielded = self.module.terminator(self.body);
        yielded.map(|y| self.module.ops[y].operands.as_slice()).unwrap_or_default()
    }

    /// What the older iteration needs of its own first stage: what its second stage reads, and what it leaves to the
    /// next iteration.
    fn crossing(&self, steps: &[Step]) -> Vec<ValueId> {
        let second = steps
            .iter()
            .filter(|s| s.stage > 0)
            .flat_map(|s| crate::specialize::needed::operands(self.module, s.op));
        let mut roots: BTreeSet<ValueId> = second.collect();
        roots.extend(self.yielded());
        let atoms: BTreeSet<ValueId> = roots.into_iter().flat_map(|v| self.atoms(v)).collect();
        atoms.into_iter().filter(|&v| self.stage_of(v).is_none_or(|stage| stage == 0)).collect()
    }

    /// Whether each operation finds what it reads, in the order of the body, and each slot is read in one stage.
    fn legal(&self, steps: &[Step], dots: &[Dot]) -> bool {
        let mut done: BTreeSet<OpId> = BTreeSet::new();
        for step in steps {
            let reads: Vec<ValueId> = crate::specialize::needed::operands(self.module, step.op)
                .into_iter()
                .flat_map(|v| self.atoms(v))
                .collect();
            let ready = |&value: &ValueId| match self.stage_of(value) {
                // The second stage reads what the trip before left, and its own.
                Some(stage) if step.stage > 0 => {
                    stage == 0 || self.module.def_op(value).is_some_and(|o| done.contains(&o))
                }
                Some(stage) => stage == 0 && self.module.def_op(value).is_some_and(|o| done.contains(&o)),
                None if step.stage > 0 => true,
                None => self.carried_ready(value, &done),
            };
            if !reads.iter().all(ready) {
                return false;
            }
            done.insert(step.op);
        }
        let stages_of_tile = |dot: &Dot| {
            let operands = self.module.ops[dot.op].operands.iter().take(2);
            let tiles = operands.map(|&v| look_through(self.module, v).base);
            tiles.map(|t| (t, self.stage.get(&dot.op).copied())).collect::<Vec<_>>()
        };
        let mut seen: BTreeMap<ValueId, Option<i64>> = BTreeMap::new();
        dots.iter().filter(|d| self.stage.contains_key(&d.op)).flat_map(stages_of_tile).all(
            |(tile, stage)| {
                let local = self.module.def_op(tile).is_some_and(|o| {
                    self.module.ops[o].opcode == Opcode::DescriptorLoad
                        && self.module.ops[o].block == Some(self.body)
                });
                !local || *seen.entry(tile).or_insert(stage) == stage
            },
        )
    }

    /// Whether an argument of the younger iteration is known: what the older one yields for it has been computed.
    fn carried_ready(&self, argument: ValueId, done: &BTreeSet<OpId>) -> bool {
        let args = &self.module.blocks[self.body].args;
        let Some(at) = args.iter().position(|&a| a == argument) else { return false };
        let Some(next) = at.checked_sub(1).map(|at| self.yielded().get(at).copied()) else { return true };
        next.is_some_and(|next| {
            self.atoms(next).into_iter().all(|v| match self.stage_of(v) {
                Some(stage) if stage > 0 => self.module.def_op(v).is_some_and(|o| done.contains(&o)),
                _ => true,
            })
        })
    }
}
