//! How deep the ring is, and what decided it (S51-S57, B65-B67, C6).

use warploom_bufassign::{AssignError, Assignment, ErrorKind, Problem, assign};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId};
use warploom_sched::{Answer, schedule, validate};
use warploom_target::Target;

use crate::compile::Options;
use crate::graph::{GraphOptions, PipelinedLoop, loop_graph};
use crate::place::refuse;
use crate::problem::problem;
use crate::select::Selection;

/// Why a ring has as many slots as it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The depth law of S51, B17, and the slots added by option.
    Law,
    /// More do not fit into shared memory.
    Capacity,
    /// `tt.num_stages` (C6).
    NumStages,
    /// The caller asked for just this depth.
    Asked,
}

/// One attempt at a depth (B67).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// Slots tried.
    pub depth: u64,
    /// Products that may be unfinished when a slot is given back.
    pub pending: u64,
    /// The II of the schedule with so many slots, cycles.
    pub ii: i64,
    /// Bytes of shared memory it needed, if it did not fit.
    pub need: Option<u64>,
}

/// The depth of the operands' ring, and how it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Depth {
    /// Slots.
    pub slots: u64,
    /// What the depth law asks for at the best II, without a limit.
    pub law: u64,
    /// Slots added beyond the law.
    pub slack: u64,
    /// What decided.
    pub bound: Bound,
    /// The II without a limit on slots, cycles.
    pub unlimited_ii: i64,
    /// Every attempt, in order.
    pub rounds: Vec<Round>,
}

/// A schedule, its assignment, and the depth they agree on.
pub(crate) struct Fitted {
    pub pipelined: PipelinedLoop,
    pub answer: Answer,
    pub problem: Problem,
    pub assignment: Assignment,
    pub depth: Depth,
}

/// More slots than any shared memory holds.
const MOST_SLOTS: u64 = 1 << 16;

/// What a search for a depth works on.
pub(crate) struct Search<'a> {
    pub module: &'a Module,
    pub selection: &'a Selection,
    /// The wait of the loop, for its place in the graph.
    pub wait: OpId,
    pub name: &'a str,
    pub target: &'a Target,
    pub options: &'a Options,
}

impl Search<'_> {
    /// The deepest ring that is wanted and fits: what the law asks for, capped by the author, then one slot less
    /// at a time. Each cap goes to the scheduler as an edge (S55), so that II rises as far as it must and
    /// no further; nothing is cut behind the schedule's back.
    pub fn run(&self) -> Result<Fitted, Box<Diagnostic>> {
        let free = self.schedule(1, None)?;
        let (law, unlimited_ii) = (law(&free.1), free.1.ii);
        let (want, mut bound) = self.wanted(law);
        let mut rounds = Vec::new();
        for depth in (1..=want).rev() {
            // With one slot a product cannot be pending while the next copy runs (C30).
            let pending = u64::from(depth > 1);
            let (pipelined, answer) = match depth < law || pending == 0 {
                true => self.schedule(pending, Some(depth))?,
                false => free.clone(),
            };
            let slack = self.slack(&pipelined, &answer, depth);
            let problem = self.problem(&pipelined, &answer, slack)?;
            let mut round = Round { depth, pending, ii: answer.ii, need: None };
            match assign(&problem, &problem.options) {
                Ok(assignment) => {
                    rounds.push(round);
                    let slots = assignment.record(0).map_or(depth, |r| r.depth);
                    let depth = Depth { slots, law, slack, bound, unlimited_ii, rounds };
                    return Ok(Fitted { pipelined, answer, problem, assignment, depth });
                }
                Err(error) if error.kind == ErrorKind::Capacity => {
                    round.need = Some(error.need.unwrap_or(0));
                    rounds.push(round);
                    if depth == 1 || bound == Bound::Asked {
                        return Err(self.too_big(depth, &error));
                    }
                    bound = Bound::Capacity;
                }
                Err(error) => return Err(Box::new(assign_error(&error))),
            }
        }
        Err(Box::new(Diagnostic::error(Code::Internal, "no ring depth was tried").rule("B65")))
    }

    /// An assignment for a schedule that is given: as many slots as are wanted and fit, but never fewer than it needs.
    pub fn fit(&self, pipelined: PipelinedLoop, answer: Answer) -> Result<Fitted, Box<Diagnostic>> {
        let (law, ii) = (law(&answer), answer.ii);
        let (want, mut bound) = self.wanted(law);
        let mut rounds = Vec::new();
        for depth in (law..=want.max(law)).rev() {
            let slack = self.slack(&pipelined, &answer, depth);
            let problem = self.problem(&pipelined, &answer, slack)?;
            let mut round = Round { depth, pending: pipelined.pending, ii, need: None };
            match assign(&problem, &problem.options) {
                Ok(assignment) => {
                    rounds.push(round);
                    let slots = assignment.record(0).map_or(depth, |r| r.depth);
                    let depth = Depth { slots, law, slack, bound, unlimited_ii: ii, rounds };
                    return Ok(Fitted { pipelined, answer, problem, assignment, depth });
                }
                Err(error) if error.kind == ErrorKind::Capacity => {
                    round.need = Some(error.need.unwrap_or(0));
                    rounds.push(round);
                    if depth == law || bound == Bound::Asked {
                        return Err(self.too_big(depth, &error));
                    }
                    bound = Bound::Capacity;
                }
                Err(error) => return Err(Box::new(assign_error(&error))),
            }
        }
        Err(Box::new(Diagnostic::error(Code::Internal, "no ring depth was tried").rule("B65")))
    }

    /// The most slots that caller or author allow.
    pub fn cap(&self) -> Option<u64> {
        self.options.depth.or(self.selection.num_stages)
    }

    /// The slots that are wanted where the law asks for `law`, and who says so.
    fn wanted(&self, law: u64) -> (u64, Bound) {
        // More than this can not fit; the search need not start higher.
        let slot: u64 = self.selection.loads.iter().map(|l| l.plan.bytes).sum();
        let most = (self.target.smem.per_cta / slot.max(1)).saturating_add(1).max(law);
        let with_slack = law.saturating_add(self.options.slack_slots);
        match (self.options.depth, self.selection.num_stages) {
            (Some(asked), _) => (asked.clamp(1, MOST_SLOTS), Bound::Asked),
            (None, Some(cap)) if cap < with_slack => (cap.min(most), Bound::NumStages),
            (None, _) => (with_slack.min(most), Bound::Law),
        }
    }

    /// Slots beyond what a schedule needs, to come to `depth`: all that were asked for, or as many as slack was
    /// allowed.
    fn slack(&self, pipelined: &PipelinedLoop, answer: &Answer, depth: u64) -> u64 {
        let missing = depth.saturating_sub(law(answer));
        match (pipelined.pending, self.options.depth) {
            (0, _) => 0,
            (_, Some(_)) => missing,
            (_, None) => missing.min(self.options.slack_slots),
        }
    }

    /// Schedules the loop with at most `max_depth` slots.
    fn schedule(
        &self,
        pending: u64,
        max_depth: Option<u64>,
    ) -> Result<(PipelinedLoop, Answer), Box<Diagnostic>> {
        let pipelined = self.graph(pending, max_depth)?;
        let answer = {
            let valid = validate(&pipelined.graph).map_err(|errors| {
                let text = errors.first().map(ToString::to_string).unwrap_or_default();
                Box::new(
                    Diagnostic::error(Code::Internal, format!("the loop graph is invalid: {text}"))
                        .rule("S12"),
                )
            })?;
            schedule(&valid, &self.options.schedule).map_err(|error| {
                let text = format!("the loop cannot be scheduled: {error}");
                Box::new(refuse(self.module, self.selection.scf_for, Code::Loop, text).rule("S42"))
            })?
        };
        Ok((pipelined, answer))
    }

    /// The loop graph with a cap on slots.
    pub fn graph(&self, pending: u64, max_depth: Option<u64>) -> Result<PipelinedLoop, Box<Diagnostic>> {
        let options = GraphOptions { pending, max_depth };
        loop_graph(self.selection, self.wait, self.name, self.target, options)
            .map_err(|error| Box::new(self.no_cost(&error)))
    }

    /// The assignment problem of a schedule.
    pub fn problem(
        &self,
        pipelined: &PipelinedLoop,
        answer: &Answer,
        slack: u64,
    ) -> Result<Problem, Box<Diagnostic>> {
        problem(self.selection, pipelined, answer, self.target, slack, self.options.smem_limit)
            .map_err(|error| Box::new(self.no_cost(&error)))
    }

    fn no_cost(&self, error: &warploom_target::cost::CostError) -> Diagnostic {
        refuse(self.module, self.selection.scf_for, Code::Target, error.to_string()).rule(error.rule())
    }

    /// The refusal of C92: who needs how much, and what would fit.
    fn too_big(&self, depth: u64, error: &AssignError) -> Box<Diagnostic> {
        let selection = self.selection;
        let limit = error.limit.unwrap_or(self.target.smem.per_cta);
        let padded = |plan: &crate::tma::TilePlan| plan.bytes.next_multiple_of(plan.align());
        let rings = selection.loads.iter().map(|l| format!("{} ring {depth} x {}", l.name, padded(&l.plan)));
        let tiles = selection.tiles.iter().map(|t| format!("{} tile {}", t.name, padded(&t.plan)));
        let loop_bytes: u64 = selection.loads.iter().map(|l| padded(&l.plan).saturating_mul(depth)).sum();
        let tile_bytes: u64 = selection.tiles.iter().map(|t| padded(&t.plan)).sum();
        let stage_bytes = selection.stores.iter().map(|s| padded(&s.plan)).max().unwrap_or(0);
        let staging = (stage_bytes > loop_bytes).then(|| format!("staging {stage_bytes}"));
        let barriers = 16 * depth + 16 * selection.tiles.len() as u64;
        let owners: Vec<String> =
            rings.chain(tiles).chain(staging).chain([format!("barriers {barriers}")]).collect();
        let need = error.need.unwrap_or(loop_bytes.max(stage_bytes) + tile_bytes + barriers);
        let text = format!("shared memory {need} B of {limit} B");
        let refusal = refuse(self.module, selection.scf_for, Code::Capacity, text)
            .rule("C92")
            .note("", owners.join(", "))
            .note("fits", self.what_fits(depth, limit, tile_bytes));
        Box::new(refusal)
    }

    /// A number of slots, or else a smaller tile.
    fn what_fits(&self, depth: u64, limit: u64, tile_bytes: u64) -> String {
        let selection = self.selection;
        let slot: u64 =
            selection.loads.iter().map(|l| l.plan.bytes.next_multiple_of(l.plan.align()) + 16).sum();
        let slots = limit.saturating_sub(tile_bytes) / slot.max(1);
        if slots > 0 && slots < depth {
            return format!("{slots} slots");
        }
        let [m, n, k] = selection.dot.extents;
        let width = u64::from(selection.dot.element.bits()) / 8;
        let out: u64 = selection.stores.iter().map(|s| s.plan.element_bytes).max().unwrap_or(4);
        let epilogue: u64 = selection.tiles.iter().map(|t| t.plan.element_bytes).sum();
        let need =
            |m: u64, n: u64, k: u64| ((m + n) * k * width * 2).max(m * n * out) + m * n * epilogue + 128;
        let smaller = [(m, n, k / 2), (m, n / 2, k), (m / 2, n, k), (m / 2, n / 2, k / 2), (64, 64, 32)];
        let legal = |&(m, n, k): &(u64, u64, u64)| m >= 64 && n >= 8 && k * width >= 32;
        let found = smaller.into_iter().filter(legal).find(|&(m, n, k)| need(m, n, k) <= limit);
        found.map_or_else(|| "no tile".to_owned(), |(m, n, k)| format!("a tile of {m}x{n}x{k}"))
    }
}

/// Slots that a schedule's rings need.
pub(crate) fn law(answer: &Answer) -> u64 {
    answer.values.iter().map(|v| v.depth).max().unwrap_or(1)
}

/// An assignment error that the kernel's author can do nothing about.
pub(crate) fn assign_error(error: &AssignError) -> Diagnostic {
    Diagnostic::error(Code::Internal, format!("buffers cannot be assigned: {error}")).rule("B73")
}
