//! Schedules, depths and places of the rings of a kernel that one agent runs (S51-S57, B65-B67, C24).

use std::collections::BTreeSet;

use warploom_bufassign::{
    Agent, Assignment, Consumer, ErrorKind, Exit, Op, Options as BufferOptions, Problem, Producer, Region,
    RegionKind, Repeat, Reserved, Role, Space, TargetSpec, Value, assign,
};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode};
use warploom_sched::{Answer, schedule, validate};
use warploom_target::Target;

use super::engine::Engine;
use super::factors::Factor;
use super::find::Found;
use super::resume::Given;
use super::shape::{Layout, Shape};
use super::staged::Staged;
use super::stored::Stored;
use super::{Ahead, apart};
use crate::compile::Options;
use crate::depth::assign_error;
use crate::loops::{GraphOptions, Part, PipelinedLoop, loop_graph};
use crate::place::refuse;
use crate::waits;

/// What a kernel needs beside the rings of its loops.
pub(super) struct Beside {
    pub staged: Vec<Staged>,
    pub stored: Vec<Stored>,
    pub factors: Vec<Factor>,
    pub engine: Engine,
}

/// The loops with their schedules, and where their rings lie.
pub(super) struct Planned {
    pub loops: Vec<Ahead>,
    pub beside: Beside,
    /// Bytes of shared memory.
    pub shared: u64,
    pub buffers: Option<(Problem, Assignment)>,
}

impl Planned {
    /// The number of the first value of loop number `index` in the assignment.
    pub fn first_value(&self, index: usize) -> u64 {
        self.loops.iter().take(index).map(|l| l.tiles.len() as u64).sum()
    }
}

/// A loop on its way: what is wanted, and what was found.
pub(super) struct Draft {
    pub found: Found,
    /// The most slots it may have.
    pub cap: Option<u64>,
    pub pipelined: PipelinedLoop,
    pub answer: Answer,
    /// Slots by the depth law at the best II.
    pub law: u64,
    /// Slots it gets.
    pub depth: u64,
    /// Tiles copied within their iteration, where each has one slot.
    pub late: Option<BTreeSet<OpId>>,
}

impl Draft {
    /// The fewest slots that it can have, one of each tile taking turns aside.
    fn least(&self) -> u64 {
        LEAST + self.pipelined.pending
    }

    /// Bytes of all its slots.
    fn bytes(&self) -> u64 {
        self.depth * self.found.tiles.iter().map(|t| t.bytes()).sum::<u64>()
    }
}

/// The fewest slots of a ring that is filled ahead: one read, one written.
pub(super) const LEAST: u64 = 2;

/// What is planned beside the loops.
pub(super) struct Wanted<'a> {
    pub kernel: &'a Module,
    pub shape: &'a Shape,
    pub target: &'a Target,
    pub options: &'a Options,
    /// Bytes of shared memory that staged and stored tiles take, from 0 on.
    pub taken: u64,
    /// The schedules and places that the kernel carries already.
    pub given: Option<Given>,
}

impl Wanted<'_> {
    /// The most slots that caller or author allow a loop.
    pub fn cap(&self, found: &Found) -> Option<u64> {
        self.options.depth.or(found.num_stages.map(|n| n.max(LEAST)))
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

/// Schedules every loop and finds rings that fit: what the depth law asks for, then one slot less where most bytes
/// are, then slots in turns, until everything fits.
pub(super) fn plan(
    wanted: &Wanted<'_>,
    found: Vec<Found>,
    mut beside: Beside,
) -> Result<Planned, Vec<Diagnostic>> {
    let mut drafts = Vec::new();
    let mut errors = Vec::new();
    let mut first = 0;
    for (number, found) in found.into_iter().enumerate() {
        let tiles = found.tiles.len() as u64;
        match draft(wanted, found, number, first) {
            Ok(draft) => drafts.push(draft),
            Err(found) => errors.extend(found),
        }
        first += tiles;
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if drafts.is_empty() {
        let limit = wanted.options.smem_limit.unwrap_or(wanted.target.smem.per_cta);
        if wanted.taken > limit {
            return Err(vec![too_big(wanted, &drafts, wanted.taken, limit)]);
        }
        return Ok(Planned { loops: Vec::new(), beside, shared: wanted.taken, buffers: None });
    }
    loop {
        let fitted = fit(wanted, &drafts).and_then(|buffers| {
            let shared = lay_stores(wanted, &mut beside.engine, &buffers.1)?;
            Ok((buffers, shared))
        });
        match fitted {
            Ok(((problem, mut assignment), mut shared)) => {
                if let Some(given) = &wanted.given {
                    assignment = given.assignment(&problem, assignment, wanted.target)?;
                    shared = match lay_stores(wanted, &mut beside.engine, &assignment) {
                        Ok(shared) => shared,
                        Err(Misfit::Other(error)) => return Err(vec![*error]),
                        Err(Misfit::Capacity { need, limit }) => {
                            return Err(vec![too_big(wanted, &drafts, need, limit)]);
                        }
                    };
                }
                let buffers = (problem, assignment);
                let loops = drafts.into_iter().map(Draft::done).collect();
                return Ok(Planned { loops, beside, shared, buffers: Some(buffers) });
            }
            Err(Misfit::Other(error)) => return Err(vec![*error]),
            Err(Misfit::Capacity { need, limit }) => {
                if !shrink(wanted, &mut drafts).map_err(|error| vec![*error])? {
                    return Err(vec![too_big(wanted, &drafts, need, limit)]);
                }
            }
        }
    }
}

/// Places what is stored behind the loops over their rings; where shared memory ends then.
fn lay_stores(wanted: &Wanted<'_>, engine: &mut Engine, assignment: &Assignment) -> Result<u64, Misfit> {
    let used = assignment.smem.used.max(wanted.taken);
    let barriers = assignment.records.iter().filter_map(|r| r.full).min().unwrap_or(used);
    let need = engine.lay_stores(wanted.taken, barriers, used);
    let limit = wanted.options.smem_limit.unwrap_or(wanted.target.smem.per_cta);
    if need > limit { Err(Misfit::Capacity { need, limit }) } else { Ok(need) }
}

/// Takes a slot from the loop with most bytes; `false` where nothing can be taken.
fn shrink(wanted: &Wanted<'_>, drafts: &mut [Draft]) -> Result<bool, Box<Diagnostic>> {
    if wanted.options.depth.is_some() || wanted.given.as_ref().is_some_and(Given::assigned) {
        return Ok(false);
    }
    let late = |d: &Draft| match d.pipelined.pending {
        0 => apart::late(wanted.kernel, d.found.scf_for, &d.found.tiles),
        // Slots of the trip before are still read.
        _ => None,
    };
    if let Some(deepest) = drafts.iter_mut().filter(|d| d.depth > d.least()).max_by_key(|d| d.bytes()) {
        deepest.depth -= 1;
        deepest.cap = Some(deepest.depth);
        return deepest.reschedule(wanted).map(|()| true);
    }
    // Then tiles in turns, and where none can, all tiles in one slot: nothing runs ahead.
    let two = || drafts.iter().enumerate().filter(|(_, d)| d.depth == LEAST);
    let widest = |turns: bool| {
        two().filter(|(_, d)| !turns || late(d).is_some()).max_by_key(|(_, d)| d.bytes()).map(|(n, _)| n)
    };
    // Asynchronous products gain nothing then.
    let alone = || widest(false).filter(|_| wanted.shape.layout != Layout::Wgmma);
    let Some(widest) = widest(true).or_else(alone).and_then(|n| drafts.get_mut(n)) else {
        return Ok(false);
    };
    widest.late = Some(apart::turns(wanted.kernel, widest.found.scf_for, &widest.found.tiles));
    widest.depth = 1;
    widest.reschedule(wanted).map(|()| true)
}

impl Draft {
    fn done(self) -> Ahead {
        let Draft { found, pipelined, answer, law, depth, late, .. } = self;
        Ahead { scf_for: found.scf_for, tiles: found.tiles, late, pipelined, answer, depth, law }
    }

    /// The schedule for as many slots as the loop has now; one that is given stays.
    fn reschedule(&mut self, wanted: &Wanted<'_>) -> Result<(), Box<Diagnostic>> {
        if wanted.given.is_some() {
            return Ok(());
        }
        let name = self.pipelined.graph.name.clone();
        (self.pipelined, self.answer) = scheduled(wanted, self.found.scf_for, &name, Some(self.depth))?;
        Ok(())
    }
}

/// A loop at the depth that is wanted.
fn draft(wanted: &Wanted<'_>, found: Found, number: usize, first: u64) -> Result<Draft, Vec<Diagnostic>> {
    let (kernel, options) = (wanted.kernel, wanted.options);
    let kernel_name = kernel
        .functions()
        .find(|&f| crate::loops::is_inside(kernel, found.scf_for, f))
        .and_then(|f| kernel.symbol_name(f))
        .unwrap_or("kernel")
        .to_owned();
    let name = format!("{kernel_name}/loop{number}");
    if options.depth.is_some_and(|depth| depth < LEAST) {
        let text = "a ring of one slot cannot be filled ahead";
        let error = refuse(kernel, found.scf_for, Code::Loop, text);
        return Err(vec![error.rule("C24").note("instead", "a depth of 2 or more")]);
    }
    if let Some(given) = &wanted.given {
        return given.draft(wanted, found, &name, first);
    }
    let cap = wanted.cap(&found);
    let at_most = |slots| scheduled(wanted, found.scf_for, &name, slots).map_err(|error| vec![*error]);
    let free = at_most(None)?;
    let least = LEAST + free.0.pending;
    let law = law(&free.0, &free.1, &found).max(least);
    let depth = wanted.depth(law, cap);
    if depth < least {
        let text = format!("a ring of {depth} slots cannot be filled ahead beside an unfinished product");
        return Err(vec![refuse(kernel, found.scf_for, Code::Loop, text).rule("C30")]);
    }
    let (pipelined, answer) = if depth < law { at_most(Some(depth))? } else { free };
    Ok(Draft { found, cap, pipelined, answer, law, depth, late: None })
}

/// The slots that a schedule's copies ask for.
pub(super) fn law(pipelined: &PipelinedLoop, answer: &Answer, found: &Found) -> u64 {
    let ours = |value: usize| {
        let copy = pipelined.copies.get(value).copied().flatten();
        copy.is_some_and(|op| found.tiles.iter().any(|t| t.op == op))
    };
    answer.values.iter().filter(|v| ours(v.id)).map(|v| v.depth).max().unwrap_or(1)
}

/// Products that a trip of a loop leaves unfinished (C30).
pub(super) fn pending(kernel: &Module, scf_for: OpId) -> u64 {
    waits::find(kernel, scf_for).into_iter().map(|(_, pending)| pending).max().unwrap_or(0)
}

/// The graph of a loop with at most so many slots in its ring.
pub(super) fn graph(
    wanted: &Wanted<'_>,
    scf_for: OpId,
    name: &str,
    max_depth: Option<u64>,
) -> Result<PipelinedLoop, Box<Diagnostic>> {
    let Wanted { kernel, shape, target, .. } = *wanted;
    let instruction = Some(shape.instruction());
    let pending = pending(kernel, scf_for);
    let graph = GraphOptions { pending, max_depth, instruction, one_agent: true, ..GraphOptions::default() };
    loop_graph(kernel, scf_for, name, target, graph).map_err(|error| {
        Box::new(refuse(kernel, scf_for, Code::Target, error.to_string()).rule(error.rule()))
    })
}

fn scheduled(
    wanted: &Wanted<'_>,
    scf_for: OpId,
    name: &str,
    max_depth: Option<u64>,
) -> Result<(PipelinedLoop, Answer), Box<Diagnostic>> {
    let Wanted { kernel, options, .. } = *wanted;
    let pipelined = graph(wanted, scf_for, name, max_depth)?;
    let answer = {
        let valid = validate(&pipelined.graph).map_err(|errors| {
            let text = errors.first().map(ToString::to_string).unwrap_or_default();
            Box::new(
                Diagnostic::error(Code::Internal, format!("the loop graph is invalid: {text}")).rule("S12"),
            )
        })?;
        schedule(&valid, &options.schedule).map_err(|error| {
            let text = format!("the loop cannot be scheduled: {error}");
            Box::new(refuse(kernel, scf_for, Code::Loop, text).rule("S42"))
        })?
    };
    Ok((pipelined, answer))
}

/// Why rings could not be placed.
enum Misfit {
    Capacity { need: u64, limit: u64 },
    Other(Box<Diagnostic>),
}

/// Places the rings at the depths of the drafts. The assignment finds depths by a law of its own (B17); reads are
/// modelled as ending later where a ring is deeper than its schedule needs (S54).
fn fit(wanted: &Wanted<'_>, drafts: &[Draft]) -> Result<(Problem, Assignment), Misfit> {
    let tiles = drafts.iter().map(|d| d.found.tiles.len()).sum();
    let mut slack = vec![0u64; tiles];
    for _ in 0..8 {
        let problem = problem(wanted, drafts, &slack);
        let assignment = assign(&problem, &problem.options).map_err(|error| match error.kind {
            ErrorKind::Capacity => Misfit::Capacity {
                need: error.need.unwrap_or(0),
                limit: error.limit.unwrap_or(wanted.target.smem.per_cta),
            },
            _ => Misfit::Other(Box::new(assign_error(&error))),
        })?;
        let depths = drafts.iter().flat_map(|d| d.found.tiles.iter().map(|_| d.depth));
        let mut settled = true;
        for ((id, depth), slack) in (0u64..).zip(depths).zip(&mut slack) {
            let given = assignment.record(id).map_or(0, |r| r.depth);
            if given < depth {
                *slack += depth - given;
                settled = false;
            }
        }
        if settled {
            return Ok((problem, assignment));
        }
    }
    Err(Misfit::Other(internal("the tiles of a ring ask for different depths")))
}

fn internal(text: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Internal, text).rule("B17"))
}

/// The agent of copies that one lane issues: it hands slots to all warps by pairs of barriers, as another agent would.
const COPIES: u64 = 1;

/// The assignment problem: one agent, one region and one pipe for each loop.
fn problem(wanted: &Wanted<'_>, drafts: &[Draft], slack: &[u64]) -> Problem {
    let Wanted { kernel, shape, target, options, taken, .. } = *wanted;
    let (mut regions, mut ops, mut values) = (Vec::new(), Vec::<Op>::new(), Vec::new());
    let mut slack = slack;
    for (pipe, draft) in (0u64..).zip(drafts) {
        let (own, others) = slack.split_at_checked(draft.found.tiles.len()).unwrap_or_default();
        slack = others;
        let ii = unsigned(draft.answer.ii).max(1);
        let stages = Some(unsigned(draft.answer.stages).max(1));
        regions.push(Region { id: pipe, kind: RegionKind::Loop, ii: Some(ii), stages, exit: Exit::Counted });
        let first = ops.len() as u64;
        for (node, place) in draft.pipelined.graph.nodes.iter().zip(&draft.answer.nodes) {
            let copies = draft.pipelined.nodes.get(node.id).is_some_and(|n| {
                n.part == Part::Whole
                    && matches!(kernel.ops[n.op].opcode, Opcode::Load | Opcode::DescriptorLoad)
            });
            // A reader ends as late as the tile that it reads is wanted (S54).
            let ends = draft.pipelined.graph.values.iter().flat_map(|v| {
                let copy = draft.pipelined.copies.get(v.id).copied().flatten();
                let tile = draft.found.tiles.iter().position(|t| Some(t.op) == copy);
                let late = tile.and_then(|t| own.get(t)).copied().unwrap_or(0).saturating_mul(ii);
                let reads = v.uses.iter().filter(move |u| copy.is_some() && u.node == node.id);
                reads.map(move |u| unsigned(node.latency).max(unsigned(u.end)).saturating_add(late))
            });
            let latency = ends.max().unwrap_or(unsigned(node.latency));
            ops.push(Op {
                id: first + node.id as u64,
                name: node.name.clone(),
                region: Some(pipe),
                agent: if copies && draft.found.engine() { COPIES } else { 0 },
                stage: unsigned(place.stage),
                cycle: Some(unsigned(place.cycle)),
                order: Some(place.order as u64),
                latency,
                is_async: copies,
            });
        }
        for tile in &draft.found.tiles {
            let id = values.len() as u64;
            let graph = &draft.pipelined.graph;
            let of_tile = |value: &&warploom_sched::Value| {
                draft.pipelined.copies.get(value.id).copied().flatten() == Some(tile.op)
            };
            let node = draft.pipelined.node(tile.op, Part::Whole).unwrap_or(0) as u64;
            let role = if tile.plan.is_some() { Role::TmaLoad } else { Role::CpAsync };
            // Tiles that take turns are handed over apart: each kind has barriers of its own.
            let turns =
                tile.plan.is_some() && draft.late.as_ref().is_some_and(|late| late.contains(&tile.op));
            let own_pipe = if turns { pipe + drafts.len() as u64 } else { pipe };
            let uses = graph.values.iter().find(of_tile).map(|v| v.uses.clone()).unwrap_or_default();
            let read = |u: &warploom_sched::ValueUse| Consumer {
                op: first + u.node as u64,
                role: Role::SharedRead,
                distance: u.distance,
                in_place: false,
            };
            values.push(Value {
                id,
                name: format!("{}{}", if pipe == 0 { String::new() } else { pipe.to_string() }, tile.name),
                root: Some(id),
                shape: tile.tile.shape().to_vec(),
                element: Some(tile.tile.elem().to_string()),
                bytes: Some(tile.bytes()),
                swizzle: u64::from(tile.swizzle),
                align: tile.align(),
                producer: Some(Producer { op: first + node, role }),
                consumers: uses.iter().map(read).collect(),
                init: true,
                pipe: Some(own_pipe),
                ..Value::default()
            });
        }
    }
    let warps = u32::try_from(shape.warps).unwrap_or(u32::MAX);
    let engine = drafts.iter().any(|d| d.found.engine());
    let mut agents = vec![Agent { id: 0, name: "main".to_owned(), warps }];
    if engine {
        agents.push(Agent { id: COPIES, name: "elected lane".to_owned(), warps: 1 });
    }
    Problem {
        name: drafts.first().map_or_else(String::new, |d| {
            d.pipelined.graph.name.split('/').next().unwrap_or_default().to_owned()
        }),
        target: TargetSpec::Named(target.name().to_owned()),
        // Slots of the copy engine are handed on by their own barriers only, so that no two rings may share bytes.
        repeat: if engine { Repeat::Overlapped } else { Repeat::None },
        options: BufferOptions { smem_limit: options.smem_limit, ..BufferOptions::default() },
        agents,
        regions,
        ops,
        values,
        layouts: Vec::new(),
        edges: Vec::new(),
        reserved: if taken > 0 { vec![staged(taken)] } else { Vec::new() },
    }
}

/// The bytes of tiles that are copied where they stand, and of exchanges between warps.
fn staged(bytes: u64) -> Reserved {
    Reserved { space: Space::Smem, offset: 0, bytes, name: "staged tiles, exchange".to_owned() }
}

/// The refusal of C92: who needs how much, and what would fit.
fn too_big(wanted: &Wanted<'_>, drafts: &[Draft], need: u64, limit: u64) -> Diagnostic {
    let mut owners: Vec<String> = drafts
        .iter()
        .flat_map(|d| {
            d.found.tiles.iter().map(move |t| format!("{} ring {} x {}", t.name, d.depth, t.bytes()))
        })
        .collect();
    if wanted.taken > 0 {
        owners.push(format!("tiles in slots of their own {}", wanted.taken));
    }
    let at = drafts.first().map_or(wanted.kernel.root, |d| d.found.scf_for);
    let error = refuse(wanted.kernel, at, Code::Capacity, format!("shared memory {need} B of {limit} B"));
    let error = error.rule("C92").note("", owners.join(", "));
    // What is missing could come from shorter tiles of the loop that takes most.
    let most = drafts.iter().map(Draft::bytes).max().unwrap_or(0);
    let part = (1..8).map(|n| 1u64 << n).find(|part| need.saturating_sub(most - most / part) <= limit);
    match part {
        Some(part) => error.note("fits", format!("a loop that loads 1/{part} of it in a trip")),
        None => error.note("instead", "smaller tiles"),
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
