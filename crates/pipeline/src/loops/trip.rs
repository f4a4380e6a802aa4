//! What a trip of a partition's loop holds beside its operations: the jump, and the handshakes of its rings (T43).

use std::collections::{BTreeMap, BTreeSet};

use warploom_chips::Target;
use warploom_chips::cost::{CostError, Op, Use};
use warploom_ir::{Attr, Module, OpId, Opcode};

use super::price::COMPUTING;
use crate::walk::preorder;

/// What the warps that are priced hold for each of these.
#[derive(Clone, Debug, Default)]
pub struct TripPrices {
    jump: Vec<Use>,
    wait: Vec<Use>,
    arrive: Vec<Use>,
    advance: Vec<Use>,
    sync: Vec<Use>,
}

impl TripPrices {
    pub(super) fn new(target: &Target) -> Result<TripPrices, CostError> {
        let lanes = u64::from(COMPUTING) * u64::from(target.threads.per_warp);
        let price = |op: Op| target.cost(&op, COMPUTING).map(|cost| cost.uses);
        Ok(TripPrices {
            jump: price(Op::Trip { lanes })?,
            wait: price(Op::RingWait { lanes })?,
            arrive: price(Op::RingArrive { lanes })?,
            advance: price(Op::RingAdvance { lanes })?,
            sync: price(Op::RingSync { lanes })?,
        })
    }

    /// Cycles of each unit that a trip with so many of each takes.
    pub(crate) fn held(&self, trip: &TripWarps) -> BTreeMap<String, u64> {
        let mut held: BTreeMap<String, u64> = BTreeMap::new();
        let each = [
            (&self.jump, trip.jump),
            (&self.wait, trip.wait),
            (&self.arrive, trip.arrive),
            (&self.advance, trip.advance),
            (&self.sync, trip.sync),
        ];
        for (uses, warps) in each {
            for held_unit in uses {
                let cycles = held.entry(held_unit.unit.clone()).or_default();
                *cycles = cycles.saturating_add(held_unit.duration.saturating_mul(warps));
            }
        }
        held.values_mut().for_each(|cycles| *cycles = cycles.div_ceil(u64::from(COMPUTING)));
        held
    }
}

/// The handshakes of a trip, each times the warps that run it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TripWarps {
    jump: u64,
    wait: u64,
    arrive: u64,
    advance: u64,
    sync: u64,
}

impl TripWarps {
    /// Of the numbered one of `loops` pipelined loops, in a partition of a program: the innermost loops that go on from slot
    /// to slot are the partition's parts of them, in the order of the text. Where there are more or fewer, the busiest.
    pub fn of(program: &Module, partition: OpId, number: usize, loops: usize) -> Option<TripWarps> {
        let inside = preorder(program, partition);
        let opcode = |op: OpId| program.ops[op].opcode;
        let around = |op: OpId| {
            let outwards = std::iter::successors(program.parent(op), |&outer| program.parent(outer));
            outwards.take_while(move |&outer| outer != partition)
        };
        let is_loop = |op: &OpId| matches!(opcode(*op), Opcode::For | Opcode::While);
        let advances = inside.iter().filter(|&&op| opcode(op) == Opcode::Advance);
        let innermost: BTreeSet<OpId> = advances.filter_map(|&op| around(op).find(is_loop)).collect();
        let outer: BTreeSet<OpId> = innermost.iter().flat_map(|&op| around(op)).collect();
        let own = inside.iter().filter(|op| innermost.contains(op) && !outer.contains(op));
        // One warp runs what is elected.
        let elected = |op: OpId| around(op).any(|outer| opcode(outer) == Opcode::Elect);
        let all = program.attr(partition, "warps").and_then(Attr::as_i64).map_or(1, i64::unsigned_abs);
        let warps = |op: OpId| if elected(op) { 1 } else { all };
        let found: Vec<TripWarps> = own.map(|&op| trip(program, op, warps)).collect();
        if found.len() == loops {
            return found.get(number).copied();
        }
        found.into_iter().max_by_key(|trip| (trip.advance, trip.sync, trip.wait))
    }
}

/// The handshake and the slots of the ring that an operation is about.
fn ring(program: &Module, op: OpId) -> Option<(&str, i64)> {
    let name = program.attr(op, "pipeline").and_then(Attr::as_symbol);
    let partition = std::iter::successors(program.parent(op), |&outer| program.parent(outer))
        .find(|&outer| program.ops[outer].opcode == Opcode::Partition)?;
    let beside = &program.blocks[program.ops[partition].block?].ops;
    let is_it = |op: &OpId| program.ops[*op].opcode == Opcode::Pipeline && program.symbol_name(*op) == name;
    let ring = beside.iter().copied().find(is_it)?;
    let handshake = program.attr(ring, "handshake").and_then(Attr::as_str)?;
    Some((handshake, program.attr(ring, "depth").and_then(Attr::as_i64)?))
}

/// What a trip of a loop has, each of its operations run by some warps.
fn trip(program: &Module, scf_for: OpId, warps: impl Fn(OpId) -> u64) -> TripWarps {
    let mut trip = TripWarps { jump: warps(scf_for), ..TripWarps::default() };
    for op in preorder(program, scf_for) {
        match program.ops[op].opcode {
            Opcode::ConsumerWait | Opcode::ProducerAcquire => trip.wait += warps(op),
            Opcode::ProducerCommit => trip.arrive += warps(op),
            // Of what is given back later, the slot is found first.
            Opcode::ConsumerRelease => {
                let lags = program.attr(op, "lag").and_then(Attr::as_i64).is_some_and(|lag| lag > 0);
                trip.arrive += if lags { 2 * warps(op) } else { warps(op) };
            }
            Opcode::Advance => match ring(program, op) {
                // The slot of a ring that has one is always the same.
                Some((_, 1)) => {}
                Some(("cp_async", _)) => trip.sync += warps(op),
                _ => trip.advance += warps(op),
            },
            Opcode::AsyncWait | Opcode::ProxyFence => trip.sync += warps(op),
            _ => {}
        }
    }
    trip
}
