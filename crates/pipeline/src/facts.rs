//! What was decided for a kernel, as numbers: for tables, tuning and tests.

use std::collections::BTreeMap;

use warploom_ir::{Attr, Module, OpId, Opcode};
use warploom_sched::Answer;

use crate::bound::bound;
use crate::loops::{PipelinedLoop, TripWarps};
use crate::resumed::Resumed;
use crate::walk::preorder;

/// The numbers of a compiled kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Facts {
    /// The pipelined loops, in the order of the text; none of a program that was read.
    pub loops: Vec<LoopFacts>,
    /// The partitions of the program, by their first warp.
    pub partitions: Vec<PartitionFacts>,
    /// The rings of the program, staging buffers left out: name and slots.
    pub rings: Vec<(String, u64)>,
    /// Warps of a CTA.
    pub warps: u64,
    /// Registers per thread at the launch.
    pub registers: u64,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
    /// Columns of tensor memory that are allocated.
    pub tmem_columns: u64,
}

/// What is known of a loop's schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LoopFacts {
    /// Name of the loop graph.
    pub name: String,
    /// Initiation interval, cycles.
    pub ii: i64,
    /// Every smaller interval is refuted.
    pub lower_bound: i64,
    /// The bound by units alone: what iterations of several CTAs on one SM cannot go below together.
    pub res_mii: i64,
    /// What bounds the interval: a resource, the operations of a recurrence, or what stands for both and the slots
    /// together.
    pub bound_by: String,
    /// Cycles from the first start to the last result.
    pub length: i64,
    /// Whether no shorter schedule exists at this interval.
    pub length_optimal: bool,
    /// Stages in which operations start.
    pub stages: i64,
    /// Cycles that the operations of each partition hold each unit in a trip, all replicas together (T43).
    pub loads: BTreeMap<String, BTreeMap<String, u64>>,
}

/// A partition of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PartitionFacts {
    /// Its name.
    pub name: String,
    /// Its warps.
    pub warps: u64,
    /// Registers per thread.
    pub registers: u64,
}

impl Resumed {
    /// The numbers of what was decided.
    pub fn facts(&self) -> Facts {
        let program = self.program();
        let ops = preorder(program, program.root);
        let of = |opcode: Opcode| ops.iter().copied().filter(move |&op| program.ops[op].opcode == opcode);
        let mut partitions: Vec<(u64, PartitionFacts)> =
            of(Opcode::Partition).map(|op| partition(program, op)).collect();
        partitions.sort_by_key(|(warp, _)| *warp);
        let staging = |op| program.attr(op, "handshake").and_then(Attr::as_str) == Some("none");
        let rings = of(Opcode::Pipeline).filter(|&op| !staging(op));
        let func = of(Opcode::Func).find(|&op| program.ops[op].attrs.get("warploom.warps").is_some());
        let of_func = |name: &str| {
            func.and_then(|f| program.ops[f].attrs.get(name))
                .and_then(Attr::as_i64)
                .map_or(0, i64::unsigned_abs)
        };
        let partitions: Vec<PartitionFacts> = partitions.into_iter().map(|(_, facts)| facts).collect();
        let all = of_func("warploom.warps");
        let count = self.loops().count();
        let trip = |name: &str, number: usize| {
            // Of partitions that take turns, each has a trip of its own: they bear a number.
            let is = |op: OpId| program.symbol_name(op).and_then(|own| own.strip_prefix(name));
            let named = |op: &OpId| is(*op).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
            of(Opcode::Partition).find(named).and_then(|op| TripWarps::of(program, op, number, count))
        };
        let numbered = self.loops().enumerate();
        Facts {
            loops: numbered
                .map(|(number, (pipelined, answer))| {
                    loop_facts(pipelined, answer, &|name| trip(name, number))
                })
                .collect(),
            rings: rings.map(|op| (name(program, op), number(program, op, "depth"))).collect(),
            partitions,
            warps: all,
            registers: of_func("warploom.max_registers"),
            shared_bytes: of_func("warploom.shared"),
            tmem_columns: of_func("warploom.tmem"),
        }
    }

    /// The pipelined loops with their schedules.
    fn loops(&self) -> Box<dyn Iterator<Item = (&PipelinedLoop, &Answer)> + '_> {
        match self {
            Resumed::Compiled(compiled) => Box::new(compiled.loops.iter().map(|l| (&l.pipelined, &l.answer))),
            Resumed::Program(_) => Box::new(std::iter::empty()),
        }
    }
}

fn loop_facts(pipelined: &PipelinedLoop, answer: &Answer, trip: TripOf) -> LoopFacts {
    let graph = &pipelined.graph;
    LoopFacts {
        name: graph.name.clone(),
        ii: answer.ii,
        lower_bound: answer.lower_bound,
        res_mii: answer.res_mii,
        bound_by: bound(graph, answer),
        length: answer.length,
        length_optimal: answer.length_optimal,
        stages: answer.stages,
        loads: loads(pipelined, trip),
    }
}

type Loads = BTreeMap<String, BTreeMap<String, u64>>;

/// What a trip of a loop has in the partition of a name.
type TripOf<'a> = &'a dyn Fn(&str) -> Option<TripWarps>;

/// What operations hold, and what each partition that has some takes for a trip beside them.
fn loads(pipelined: &PipelinedLoop, trip: TripOf) -> Loads {
    let mut loads = Loads::new();
    for (node, priced) in pipelined.nodes.iter().zip(&pipelined.graph.nodes) {
        let units = loads.entry(pipelined.partition(node).to_owned()).or_default();
        for held in &priced.uses {
            let cycles = units.entry(held.resource.clone()).or_default();
            *cycles = cycles.saturating_add(held.duration);
        }
    }
    for (name, units) in &mut loads {
        let beside = trip(name).map(|trip| pipelined.trip.held(&trip));
        for (unit, held) in beside.into_iter().flatten() {
            let cycles = units.entry(unit).or_default();
            *cycles = cycles.saturating_add(held);
        }
    }
    loads
}

fn partition(program: &Module, op: OpId) -> (u64, PartitionFacts) {
    let facts = PartitionFacts {
        name: name(program, op),
        warps: number(program, op, "warps"),
        registers: number(program, op, "registers"),
    };
    (number(program, op, "warp"), facts)
}

fn name(program: &Module, op: OpId) -> String {
    program.symbol_name(op).unwrap_or_default().to_owned()
}

fn number(program: &Module, op: OpId, name: &str) -> u64 {
    program.attr(op, name).and_then(Attr::as_i64).map_or(0, i64::unsigned_abs)
}
