//! A loop on its way: how many slots are wanted, and its schedule for so many (S51-S57, C30).

use std::collections::BTreeSet;

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};
use warploom_sched::{Answer, ScheduleOptions, schedule, validate};

use crate::buffers::depth::{DepthBound, DepthRound, RingDepth, ScheduledLoop};
use crate::buffers::given::Given;
use crate::engines::PartitionShape;
use crate::engines::tensor::{SLOTS, Tensor};
use crate::loops::{GraphOptions, PipelinedLoop, invalid_graph, loop_graph, no_schedule};
use crate::options::CompileOptions;
use crate::place::refuse;
use crate::transports::PipelinedLoads;
use crate::transports::find::Found;
use crate::waits;

/// Loops of more operations than this are searched for fewer steps.
const MANY: usize = 256;

/// A loop on its way: what is wanted, and what was found.
pub(crate) struct Draft {
    pub found: Found,
    /// The most slots it may have.
    pub cap: Option<u64>,
    pub pipelined: PipelinedLoop,
    pub answer: Answer,
    /// Slots by the depth law at the best II.
    pub law: u64,
    /// Slots it gets.
    pub depth: u64,
    /// What decided about them.
    pub bound: DepthBound,
    /// The II without a limit on slots, cycles.
    pub unlimited_ii: i64,
    /// Every attempt.
    pub rounds: Vec<DepthRound>,
    /// Tiles copied within their iteration, where each has one slot.
    pub late: Option<BTreeSet<OpId>>,
}

impl Draft {
    /// The fewest slots that it can have, one of each tile taking turns aside.
    pub fn least(&self) -> u64 {
        LEAST + self.pipelined.pending
    }

    /// Whether products give its slots back.
    pub fn given_back(&self, wanted: &Wanted<'_>) -> bool {
        wanted.tensor.gives_back(self.found.scf_for)
    }

    /// Bytes of all its slots.
    pub fn bytes(&self) -> u64 {
        self.depth * self.found.tiles.iter().map(|t| t.bytes()).sum::<u64>()
    }
}

/// The fewest slots of a ring of pipelined loads: one read, one written.
pub(crate) const LEAST: u64 = 2;

/// What is planned beside the loops.
pub(crate) struct Wanted<'a> {
    pub kernel: &'a Module,
    pub shape: &'a PartitionShape,
    pub target: &'a Target,
    pub options: &'a CompileOptions,
    /// Bytes of shared memory that blocking and stored tiles take, from 0 on.
    pub taken: u64,
    /// What products do in tensor memory.
    pub tensor: &'a Tensor,
    /// The schedules and places that the kernel carries already.
    pub given: Option<Given>,
}

impl Wanted<'_> {
    /// The most slots that caller or author allow a loop.
    pub fn cap(&self, found: &Found) -> Option<u64> {
        let asked = self.options.depth.or(found.num_stages.map(|n| n.max(LEAST)));
        let barriers = self.tensor.given_back.get(&found.scf_for).map(|_| SLOTS);
        asked.map(|n| n.min(barriers.unwrap_or(n))).or(barriers)
    }

    /// What decides about the slots of a loop that gets `depth` of the `law` it asks for.
    pub fn bound(&self, found: &Found, (depth, law): (u64, u64)) -> DepthBound {
        match self.options.depth {
            Some(_) => DepthBound::Asked,
            None if depth >= law => DepthBound::Law,
            None if found.num_stages.is_some_and(|n| n.max(LEAST) <= depth) => DepthBound::NumStages,
            None => DepthBound::Capacity,
        }
    }

    /// The slots that are wanted where the depth law asks for `law`.
    pub fn depth(&self, law: u64, cap: Option<u64>) -> u64 {
        let best = law.saturating_add(self.options.slack_slots).min(1 << 10);
        match (self.options.depth, cap) {
            (Some(asked), _) => asked.min(1 << 10),
            (None, Some(cap)) => cap.min(best),
            (None, None) => best,
        }
    }
}

impl Draft {
    /// What became of the loop: its loads, its schedule, and why its ring is as deep as it is.
    pub fn done(self, slack: u64) -> (PipelinedLoads, ScheduledLoop, RingDepth) {
        let Draft { found, pipelined, answer, law, depth, bound, unlimited_ii, rounds, late, .. } = self;
        let slack = if bound == DepthBound::Law { slack.min(depth.saturating_sub(law)) } else { 0 };
        let ring = RingDepth { slots: depth, law, slack, bound, unlimited_ii, rounds };
        let (scf_for, tiles, pending) = (found.scf_for, found.tiles, pipelined.pending);
        let loads = PipelinedLoads { scf_for, tiles, late, pending, depth, law };
        (loads, ScheduledLoop { pipelined, answer, together: None }, ring)
    }

    /// Writes down an attempt at its depth, which needed so many bytes where it did not fit.
    pub fn tried(&mut self, need: Option<u64>) {
        let (depth, pending, ii) = (self.depth, self.pipelined.pending, self.answer.ii);
        self.rounds.push(DepthRound { depth, pending, ii, need });
    }

    /// The schedule for as many slots as the loop has now; one that is given stays.
    pub fn reschedule(&mut self, wanted: &Wanted<'_>) -> Result<(), Box<Diagnostic>> {
        if wanted.given.is_some() {
            return Ok(());
        }
        let name = self.pipelined.graph.name.clone();
        (self.pipelined, self.answer) = scheduled(wanted, self.found.scf_for, &name, Some(self.depth))?;
        Ok(())
    }
}

/// The slots that a schedule's copies ask for.
pub(crate) fn law(pipelined: &PipelinedLoop, answer: &Answer, found: &Found) -> u64 {
    let ours = |value: usize| {
        let copy = pipelined.copies.get(value).copied().flatten();
        copy.is_some_and(|op| found.tiles.iter().any(|t| t.op == op))
    };
    answer.values.iter().filter(|v| ours(v.id)).map(|v| v.depth).max().unwrap_or(1)
}

/// Products that a trip of a loop leaves unfinished (C30).
pub(crate) fn pending(kernel: &Module, scf_for: OpId) -> u64 {
    waits::find(kernel, scf_for).into_iter().map(|(_, pending)| pending).max().unwrap_or(0)
}

/// The graph of a loop with at most so many slots in its ring.
pub(crate) fn graph(
    wanted: &Wanted<'_>,
    scf_for: OpId,
    name: &str,
    max_depth: Option<u64>,
) -> Result<PipelinedLoop, Box<Diagnostic>> {
    let Wanted { kernel, shape, target, .. } = *wanted;
    let instruction = Some(shape.instruction());
    let pending = pending(kernel, scf_for);
    let graph =
        GraphOptions { pending, max_depth, instruction, one_partition: true, ..GraphOptions::default() };
    loop_graph(kernel, scf_for, name, target, graph).map_err(|error| {
        Box::new(refuse(kernel, scf_for, Code::Target, error.to_string()).rule(error.rule()))
    })
}

pub(crate) fn scheduled(
    wanted: &Wanted<'_>,
    scf_for: OpId,
    name: &str,
    max_depth: Option<u64>,
) -> Result<(PipelinedLoop, Answer), Box<Diagnostic>> {
    let Wanted { kernel, options, .. } = *wanted;
    let pipelined = graph(wanted, scf_for, name, max_depth)?;
    let answer = {
        let valid = validate(&pipelined.graph).map_err(|errors| invalid_graph(&errors))?;
        schedule(&valid, &searched(&options.schedule, pipelined.graph.nodes.len()))
            .map_err(|error| no_schedule(kernel, scf_for, &error))?
    };
    Ok((pipelined, answer))
}

/// How a loop of so many operations is scheduled: each step of a search takes longer and finds less the more there are, so
/// that above [`MANY`] their number falls with its square.
fn searched(options: &ScheduleOptions, nodes: usize) -> ScheduleOptions {
    let (nodes, many) = (nodes.max(MANY) as u64, MANY as u64);
    options.clone().steps(options.steps.saturating_mul(many * many) / nodes.saturating_mul(nodes).max(1))
}
