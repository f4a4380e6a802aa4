//! Schedules, depths and places of the rings of a kernel that one agent runs (S51-S57, B65-B67, C24).

use warploom_bufassign::{
    Agent, Assignment, Consumer, ErrorKind, Exit, Op, Options as BufferOptions, Problem, Producer, Region,
    RegionKind, Repeat, Role, TargetSpec, Value, assign,
};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode};
use warploom_sched::{Answer, schedule, validate};
use warploom_target::Target;

use super::Ahead;
use super::find::Found;
use super::shape::Shape;
use crate::compile::Options;
use crate::depth::assign_error;
use crate::loops::{GraphOptions, Part, PipelinedLoop, loop_graph};
use crate::place::refuse;

/// The loops with their schedules, and where their rings lie.
pub(super) struct Planned {
    pub loops: Vec<Ahead>,
    pub buffers: Option<(Problem, Assignment)>,
}

impl Planned {
    /// The number of the first value of loop number `index` in the assignment.
    pub fn first_value(&self, index: usize) -> u64 {
        self.loops.iter().take(index).map(|l| l.tiles.len() as u64).sum()
    }
}

/// A loop on its way: what is wanted, and what was found.
struct Draft {
    found: Found,
    /// The most slots it may have.
    cap: Option<u64>,
    pipelined: PipelinedLoop,
    answer: Answer,
    /// Slots by the depth law at the best II.
    law: u64,
    /// Slots it gets.
    depth: u64,
}

/// The fewest slots of a ring that is filled ahead: one read, one written.
const LEAST: u64 = 2;

/// Schedules every loop and finds rings that fit: what the depth law asks for, then one slot less where most bytes
/// are, until everything fits.
pub(super) fn plan(
    kernel: &Module,
    found: Vec<Found>,
    shape: &Shape,
    target: &Target,
    options: &Options,
) -> Result<Planned, Vec<Diagnostic>> {
    let mut drafts = Vec::new();
    let mut errors = Vec::new();
    for (number, found) in found.into_iter().enumerate() {
        match draft(kernel, found, number, target, options) {
            Ok(draft) => drafts.push(draft),
            Err(error) => errors.push(*error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if drafts.is_empty() {
        return Ok(Planned { loops: Vec::new(), buffers: None });
    }
    loop {
        match fit(kernel, &drafts, shape, target, options) {
            Ok(buffers) => {
                let loops = drafts.into_iter().map(Draft::done).collect();
                return Ok(Planned { loops, buffers: Some(buffers) });
            }
            Err(Misfit::Other(error)) => return Err(vec![*error]),
            Err(Misfit::Capacity { need, limit }) => {
                let asked = options.depth.is_some();
                let deepest = drafts
                    .iter_mut()
                    .filter(|d| d.depth > LEAST && !asked)
                    .max_by_key(|d| d.depth * d.found.tiles.iter().map(|t| t.bytes()).sum::<u64>());
                let Some(deepest) = deepest else {
                    return Err(vec![too_big(kernel, &drafts, need, limit)]);
                };
                let depth = deepest.depth - 1;
                deepest.cap = Some(depth);
                let name = deepest.pipelined.graph.name.clone();
                let (pipelined, answer) =
                    scheduled(kernel, deepest.found.scf_for, &name, Some(depth), target, options)
                        .map_err(|error| vec![*error])?;
                (deepest.pipelined, deepest.answer, deepest.depth) = (pipelined, answer, depth);
            }
        }
    }
}

impl Draft {
    fn done(self) -> Ahead {
        let Draft { found, pipelined, answer, law, depth, .. } = self;
        Ahead { scf_for: found.scf_for, tiles: found.tiles, pipelined, answer, depth, law }
    }
}

/// A loop at the depth that is wanted.
fn draft(
    kernel: &Module,
    found: Found,
    number: usize,
    target: &Target,
    options: &Options,
) -> Result<Draft, Box<Diagnostic>> {
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
        return Err(Box::new(error.rule("C24").note("instead", "a depth of 2 or more")));
    }
    let cap = options.depth.or(found.num_stages.map(|n| n.max(LEAST)));
    let free = scheduled(kernel, found.scf_for, &name, None, target, options)?;
    let law = law(&free.0, &free.1, &found).max(LEAST);
    let wanted = law.saturating_add(options.slack_slots).min(1 << 10);
    let depth = match (options.depth, cap) {
        (Some(asked), _) => asked.min(1 << 10),
        (None, Some(cap)) => cap.min(wanted),
        (None, None) => wanted,
    };
    let (pipelined, answer) = match depth < law {
        true => scheduled(kernel, found.scf_for, &name, Some(depth), target, options)?,
        false => free,
    };
    Ok(Draft { found, cap, pipelined, answer, law, depth })
}

/// The slots that a schedule's copies ask for.
fn law(pipelined: &PipelinedLoop, answer: &Answer, found: &Found) -> u64 {
    let ours = |value: usize| {
        let copy = pipelined.copies.get(value).copied().flatten();
        copy.is_some_and(|op| found.tiles.iter().any(|t| t.op == op))
    };
    answer.values.iter().filter(|v| ours(v.id)).map(|v| v.depth).max().unwrap_or(1)
}

fn scheduled(
    kernel: &Module,
    scf_for: OpId,
    name: &str,
    max_depth: Option<u64>,
    target: &Target,
    options: &Options,
) -> Result<(PipelinedLoop, Answer), Box<Diagnostic>> {
    let graph = GraphOptions { pending: 0, max_depth, register_copies: Some(1) };
    let pipelined = loop_graph(kernel, scf_for, name, target, graph).map_err(|error| {
        Box::new(refuse(kernel, scf_for, Code::Target, error.to_string()).rule(error.rule()))
    })?;
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
fn fit(
    kernel: &Module,
    drafts: &[Draft],
    shape: &Shape,
    target: &Target,
    options: &Options,
) -> Result<(Problem, Assignment), Misfit> {
    let mut slack = vec![0u64; drafts.len()];
    for _ in 0..8 {
        let problem = problem(kernel, drafts, &slack, shape, target, options);
        let assignment = assign(&problem, &problem.options).map_err(|error| match error.kind {
            ErrorKind::Capacity => Misfit::Capacity {
                need: error.need.unwrap_or(0),
                limit: error.limit.unwrap_or(target.smem.per_cta),
            },
            _ => Misfit::Other(Box::new(assign_error(&error))),
        })?;
        let mut settled = true;
        let mut value = 0;
        for (draft, slack) in drafts.iter().zip(&mut slack) {
            let records = draft.found.tiles.iter().zip(value..).filter_map(|(_, id)| assignment.record(id));
            let depths: Vec<u64> = records.map(|r| r.depth).collect();
            value += draft.found.tiles.len() as u64;
            let (least, most) = (depths.iter().min().copied(), depths.iter().max().copied());
            match (least, most) {
                (Some(least), Some(most)) if least == draft.depth && most == draft.depth => {}
                (Some(least), Some(most)) if most <= draft.depth => {
                    *slack += draft.depth - least;
                    settled = false;
                }
                _ => return Err(Misfit::Other(internal("the assignment asks for a deeper ring"))),
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

/// The assignment problem: one agent, one region and one pipe for each loop.
fn problem(
    kernel: &Module,
    drafts: &[Draft],
    slack: &[u64],
    shape: &Shape,
    target: &Target,
    options: &Options,
) -> Problem {
    let (mut regions, mut ops, mut values) = (Vec::new(), Vec::<Op>::new(), Vec::new());
    for ((pipe, draft), slack) in (0u64..).zip(drafts).zip(slack) {
        let ii = unsigned(draft.answer.ii).max(1);
        let stages = Some(unsigned(draft.answer.stages).max(1));
        regions.push(Region { id: pipe, kind: RegionKind::Loop, ii: Some(ii), stages, exit: Exit::Counted });
        let first = ops.len() as u64;
        for (node, place) in draft.pipelined.graph.nodes.iter().zip(&draft.answer.nodes) {
            let copies = draft
                .pipelined
                .nodes
                .get(node.id)
                .is_some_and(|n| n.part == Part::Whole && kernel.ops[n.op].opcode == Opcode::Load);
            let copied =
                |v: &&warploom_sched::Value| draft.pipelined.copies.get(v.id).is_some_and(Option::is_some);
            let uses = draft.pipelined.graph.values.iter().filter(copied).flat_map(|v| &v.uses);
            let end = uses.filter(|u| u.node == node.id).map(|u| unsigned(u.end)).max();
            let latency = match end {
                Some(end) => unsigned(node.latency).max(end).saturating_add(slack.saturating_mul(ii)),
                None => unsigned(node.latency),
            };
            ops.push(Op {
                id: first + node.id as u64,
                name: node.name.clone(),
                region: Some(pipe),
                agent: 0,
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
                producer: Some(Producer { op: first + node, role: Role::CpAsync }),
                consumers: uses.iter().map(read).collect(),
                init: true,
                pipe: Some(pipe),
                ..Value::default()
            });
        }
    }
    let warps = u32::try_from(shape.warps).unwrap_or(u32::MAX);
    Problem {
        name: drafts.first().map_or_else(String::new, |d| {
            d.pipelined.graph.name.split('/').next().unwrap_or_default().to_owned()
        }),
        target: TargetSpec::Named(target.name().to_owned()),
        repeat: Repeat::None,
        options: BufferOptions { smem_limit: options.smem_limit, ..BufferOptions::default() },
        agents: vec![Agent { id: 0, name: "main".to_owned(), warps }],
        regions,
        ops,
        values,
        layouts: Vec::new(),
        edges: Vec::new(),
        reserved: Vec::new(),
    }
}

/// The refusal of C92: who needs how much, and what would fit.
fn too_big(kernel: &Module, drafts: &[Draft], need: u64, limit: u64) -> Diagnostic {
    let owners: Vec<String> = drafts
        .iter()
        .flat_map(|d| {
            d.found.tiles.iter().map(move |t| format!("{} ring {} x {}", t.name, d.depth, t.bytes()))
        })
        .collect();
    let at = drafts.first().map_or(kernel.root, |d| d.found.scf_for);
    refuse(kernel, at, Code::Capacity, format!("shared memory {need} B of {limit} B"))
        .rule("C92")
        .note("", owners.join(", "))
        .note("instead", "smaller tiles: a ring needs two slots")
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
