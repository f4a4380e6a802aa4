//! Places the rings of one partition in shared memory (B1-B5, B65-B67, C92).

use warploom_bufassign::{
    AccessRole, AssignOptions, Assignment, BufferValue, Consumer, ErrorKind, Exit, Problem, Producer,
    RegionKind, Repeat, Reserved, ScheduledOp, ScheduledRegion, Sharing, Space, TargetSpec, WarpPartition,
    assign,
};
use warploom_ir::Opcode;
use warploom_ir::diag::{Code, Diagnostic};

use crate::buffers::depth::assign_error;
use crate::buffers::draft::{Draft, Wanted};
use crate::loops::Part;
use crate::place::refuse;
use crate::sharing::writes_are_ordered;

/// Why rings could not be placed.
pub(crate) enum Misfit {
    Capacity { need: u64, limit: u64 },
    Other(Box<Diagnostic>),
}

/// Places the rings at the depths of the drafts. The assignment finds depths by a law of its own (B17); reads are
/// modelled as ending later where a ring is deeper than its schedule needs (S54).
pub(crate) fn fit(wanted: &Wanted<'_>, drafts: &[Draft]) -> Result<(Problem, Assignment), Misfit> {
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
        let mut agreed = true;
        for ((id, depth), slack) in (0u64..).zip(depths).zip(&mut slack) {
            let given = assignment.record(id).map_or(0, |r| r.depth);
            if given < depth {
                *slack += depth - given;
                agreed = false;
            }
        }
        if agreed {
            writes_are_ordered(&assignment).map_err(Misfit::Other)?;
            return Ok((problem, assignment));
        }
    }
    Err(Misfit::Other(internal("the tiles of a ring ask for different depths")))
}

pub(crate) fn internal(text: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Internal, text).rule("B17"))
}

/// The partition of copies that one lane issues: it hands slots to all warps by pairs of barriers, as another partition
/// would.
pub(crate) const COPIES: u64 = 1;

/// The assignment problem: one partition, one region and one pipe for each loop.
pub(crate) fn problem(wanted: &Wanted<'_>, drafts: &[Draft], slack: &[u64]) -> Problem {
    let Wanted { kernel, shape, target, options, taken, .. } = *wanted;
    let (mut regions, mut ops, mut values) = (Vec::new(), Vec::<ScheduledOp>::new(), Vec::new());
    let mut slack = slack;
    for (pipe, draft) in (0u64..).zip(drafts) {
        let (own, others) = slack.split_at_checked(draft.found.tiles.len()).unwrap_or_default();
        slack = others;
        let ii = unsigned(draft.answer.ii).max(1);
        let stages = Some(unsigned(draft.answer.stages).max(1));
        regions.push(ScheduledRegion {
            id: pipe,
            kind: RegionKind::Loop,
            ii: Some(ii),
            stages,
            exit: Exit::Counted,
            inside: None,
        });
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
            ops.push(ScheduledOp {
                id: first + node.id as u64,
                name: node.name.clone(),
                region: Some(pipe),
                partition: if copies && draft.found.engine() { COPIES } else { 0 },
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
            let of_tile = |value: &&warploom_sched::LoopValue| {
                draft.pipelined.copies.get(value.id).copied().flatten() == Some(tile.op)
            };
            let node = draft.pipelined.node(tile.op, Part::Whole).unwrap_or(0) as u64;
            let role = if tile.plan.is_some() { AccessRole::TmaLoad } else { AccessRole::CpAsync };
            // Tiles that take turns are handed over apart: each kind has barriers of its own.
            let turns =
                tile.plan.is_some() && draft.late.as_ref().is_some_and(|late| late.contains(&tile.op));
            let own_pipe = if turns { pipe + drafts.len() as u64 } else { pipe };
            let uses = graph.values.iter().find(of_tile).map(|v| v.uses.clone()).unwrap_or_default();
            let read = |u: &warploom_sched::ValueUse| Consumer {
                op: first + u.node as u64,
                role: AccessRole::SharedRead,
                distance: u.distance,
                in_place: false,
            };
            values.push(BufferValue {
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
                ..BufferValue::default()
            });
        }
    }
    let warps = u32::try_from(shape.warps).unwrap_or(u32::MAX);
    let engine = drafts.iter().any(|d| d.found.engine());
    let mut partitions = vec![WarpPartition { id: 0, name: "main".to_owned(), warps }];
    if engine {
        partitions.push(WarpPartition { id: COPIES, name: "elected lane".to_owned(), warps: 1 });
    }
    Problem {
        name: drafts.first().map_or_else(String::new, |d| {
            d.pipelined.graph.name.split('/').next().unwrap_or_default().to_owned()
        }),
        target: TargetSpec::Named(target.name().to_owned()),
        // Slots of the copy engine are handed on by their own barriers only, so that no two rings may share bytes; nor may
        // those whose products are not waited for between loops.
        repeat: if engine || wanted.tensor.crossing { Repeat::Overlapped } else { Repeat::None },
        // Nothing emits a wait that is not there anyway.
        options: AssignOptions::default().smem_limit(options.smem_limit).sharing(Sharing::Implied),
        partitions,
        regions,
        ops,
        values,
        layouts: Vec::new(),
        edges: Vec::new(),
        reserved: if taken > 0 { vec![kept(taken)] } else { Vec::new() },
    }
}

/// The bytes of tiles that are copied where they stand, and of exchanges between warps.
pub(crate) fn kept(bytes: u64) -> Reserved {
    Reserved { space: Space::Smem, offset: 0, bytes, name: "tiles copied in place, exchange".to_owned() }
}

/// The refusal of C92: who needs how much, and what would fit.
pub(crate) fn too_big(wanted: &Wanted<'_>, drafts: &[Draft], need: u64, limit: u64) -> Diagnostic {
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

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
