//! The scheduled form: `warploom.cycle/stage/order/partition` on operations, `warploom.ii/stages` on the loops.

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic, Diagnostics};
use warploom_ir::{Attr, Module, OpId};
use warploom_sched::{
    Algorithm, Answer, NodeTime, ScheduleOutcome, ValueDepth, bounds, check, depths, validate,
};

use super::{TextForm, mark_form};
use crate::loops::{Part, PipelinedLoop, Replicas};
use crate::place::refuse;

/// The name of a mark: those of the moves that an operation asks for have a prefix of their own.
fn mark(part: Part, what: &str) -> String {
    let prefix = match part {
        Part::Whole => "",
        Part::Read => "read_",
        Part::TmemLoad => "tmem_load_",
        Part::TmemStore => "tmem_store_",
        Part::Write => "write_",
    };
    format!("warploom.{prefix}{what}")
}

/// On a loop: how many replicas the computing partition has there (Q40).
const REPLICAS: &str = "warploom.replicas";

/// On a loop with replicas: cycles from one to the next.
const APART: &str = "warploom.replicas_apart";

/// How many replicas a scheduled loop has, 1 where it does not say.
///
/// # Errors
/// A number below 2 or above 64, or no distance.
pub(crate) fn replicas(module: &Module, scf_for: OpId) -> Result<Replicas, Diagnostics> {
    let number =
        |name: &str| module.attr(scf_for, name).map(|a| a.as_i64().and_then(|n| u64::try_from(n).ok()));
    match (number(REPLICAS), number(APART)) {
        (None, None) => Ok(Replicas::ONE),
        (Some(Some(count @ 2..=64)), Some(Some(apart))) => Ok(Replicas { count, apart }),
        _ => {
            let text = format!("`{REPLICAS}` must be from 2 to 64, and `{APART}` cycles");
            Err(refuse(module, scf_for, Code::Verify, text).rule("Q40").into())
        }
    }
}

/// The kernel with the schedules of its loops written on it.
pub fn scheduled<'a>(
    kernel: &Module,
    loops: impl IntoIterator<Item = (&'a PipelinedLoop, &'a Answer)>,
    target: &Target,
) -> Module {
    let mut module = kernel.clone();
    mark_form(&mut module, TextForm::Scheduled, target);
    let number = |value: i64| Attr::i32(i32::try_from(value).unwrap_or(i32::MAX));
    for (pipelined, answer) in loops {
        let attrs = &mut module.ops[pipelined.scf_for].attrs;
        attrs.set("warploom.ii", number(answer.ii));
        attrs.set("warploom.stages", number(answer.stages));
        if pipelined.replicas != Replicas::ONE {
            let Replicas { count, apart } = pipelined.replicas;
            attrs.set(REPLICAS, number(i64::try_from(count).unwrap_or(i64::MAX)));
            attrs.set(APART, number(i64::try_from(apart).unwrap_or(i64::MAX)));
        }
        // The others do the same, each at an equal distance behind the one before.
        let first = pipelined.nodes.iter().zip(&answer.nodes).filter(|(n, _)| n.replica == 0);
        for (node, place) in first {
            let attrs = &mut module.ops[node.op].attrs;
            attrs.set(mark(node.part, "cycle"), number(place.cycle));
            attrs.set(mark(node.part, "stage"), number(place.stage));
            attrs.set(mark(node.part, "order"), number(i64::try_from(place.order).unwrap_or(i64::MAX)));
            attrs.set(mark(node.part, "partition"), Attr::string(pipelined.partition(node)));
        }
    }
    module
}

/// The schedule written on a kernel, checked.
///
/// # Errors
/// Marks that are missing, replicas, and every rule of the scheduler that the marks break.
pub fn schedule_from(
    module: &Module,
    scf_for: OpId,
    pipelined: &PipelinedLoop,
) -> Result<Answer, Diagnostics> {
    if replicas(module, scf_for)? != Replicas::ONE {
        return Err(refuse(module, scf_for, Code::Verify, "one partition has no replicas")
            .rule("Q40")
            .into());
    }
    let (ii, stages, nodes) = read(module, scf_for, pipelined)?;
    let answer = complete(pipelined, ii, stages, nodes).map_err(|error| vec![*error])?;
    check::schedule(&pipelined.graph, &answer)
        .and_then(|()| check::depths(&pipelined.graph, &answer))
        .map_err(|violations| {
            let refusal = |v: &check::ScheduleViolation| {
                let op = named_node(pipelined, &v.at).unwrap_or(scf_for);
                refuse(module, op, Code::Verify, format!("the schedule is broken: {v}")).rule(v.kind.rule())
            };
            violations.iter().map(refusal).collect::<Vec<_>>()
        })?;
    Ok(answer)
}

/// The loop of all replicas with the schedule that is written for the first of them, checked; `one` is the loop of one.
///
/// # Errors
/// Those of [`schedule_from`], and turns that do not go round.
pub(crate) fn replicas_from(
    module: &Module,
    scf_for: OpId,
    one: &PipelinedLoop,
    replicas: Replicas,
) -> Result<(PipelinedLoop, Answer), Diagnostics> {
    let broken = |text: String| {
        let text = format!("the schedule is broken: {text}");
        Diagnostics::from(refuse(module, scf_for, Code::Verify, text).rule("Q41"))
    };
    let (ii, stages, nodes) = read(module, scf_for, one)?;
    let valid = validate(&one.graph).map_err(|errors| broken(errors.to_string()))?;
    let times: Vec<i64> = nodes.iter().map(|place| place.time).collect();
    let (all, answer) =
        one.replicas_answer(&valid, replicas, ii, &times).map_err(|error| broken(error.to_string()))?;
    if let Some(place) = nodes.iter().zip(&answer.nodes).find(|(written, follows)| written != follows) {
        let (node, order) = (place.0.id, place.1.order);
        return Err(broken(format!("node {node} has order {order} where replicas are equally far apart")));
    }
    if answer.stages != stages {
        return Err(broken(format!("it has {} stages with its replicas", answer.stages)));
    }
    match all.turns(module, &answer) {
        Some(_) => Ok((all, answer)),
        None => Err(broken("the replicas do not take turns".to_owned())),
    }
}

/// II, stages and places as they are written.
fn read(
    module: &Module,
    scf_for: OpId,
    pipelined: &PipelinedLoop,
) -> Result<(i64, i64, Vec<NodeTime>), Diagnostics> {
    let mut errors = Vec::new();
    let mut read = |op: OpId, name: &str| -> i64 {
        let found = module.attr(op, name).and_then(Attr::as_i64);
        found.unwrap_or_else(|| {
            let text = format!("a scheduled kernel needs `{name}` on {}", module.op_name(op));
            errors.push(refuse(module, op, Code::Verify, text).rule("S72"));
            0
        })
    };
    let (ii, stages) = (read(scf_for, "warploom.ii"), read(scf_for, "warploom.stages"));
    let mut nodes = Vec::new();
    for (id, node) in pipelined.nodes.iter().enumerate() {
        let [stage, cycle, order] =
            ["stage", "cycle", "order"].map(|what| read(node.op, &mark(node.part, what)));
        let time = stage.saturating_mul(ii).saturating_add(cycle);
        let order = usize::try_from(order).unwrap_or(usize::MAX);
        nodes.push(NodeTime { id, time, stage, cycle, order, partition: None });
    }
    for node in &pipelined.nodes {
        let (op, needs) = (node.op, pipelined.partition(node));
        let partition = module.attr(op, &mark(node.part, "partition")).and_then(Attr::as_str);
        if partition != Some(needs) {
            let text = format!("{} is issued by partition {:?}", module.op_name(op), partition.unwrap_or(""));
            errors.push(refuse(module, op, Code::Verify, text).rule("S62").note("needs", needs));
        }
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    Ok((ii, stages, nodes))
}

/// The operation of a violation that names a node.
fn named_node(pipelined: &PipelinedLoop, at: &str) -> Option<OpId> {
    let id: usize = at.strip_prefix("node ")?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    pipelined.nodes.get(id).map(|node| node.op)
}

/// Everything of an answer that follows from the times.
fn complete(
    pipelined: &PipelinedLoop,
    ii: i64,
    stages: i64,
    nodes: Vec<NodeTime>,
) -> Result<Answer, Box<Diagnostic>> {
    let graph = &pipelined.graph;
    let valid = validate(graph).map_err(|errors| {
        let text = errors.first().map(ToString::to_string).unwrap_or_default();
        Box::new(Diagnostic::error(Code::Internal, format!("the loop graph is invalid: {text}")).rule("S12"))
    })?;
    let bounds = bounds(&valid);
    let ends = nodes.iter().zip(&graph.nodes).map(|(place, node)| place.time.saturating_add(node.latency));
    let length = ends.max().unwrap_or(0);
    let mut answer = Answer {
        name: graph.name.clone(),
        outcome: if ii == bounds.mii { ScheduleOutcome::ProvenOptimal } else { ScheduleOutcome::Best },
        ii,
        mii: bounds.mii,
        res_mii: bounds.res_mii,
        rec_mii: bounds.rec_mii,
        lower_bound: bounds.mii,
        optimal: ii == bounds.mii,
        length,
        length_optimal: false,
        stages,
        in_flight: length.div_euclid(ii.max(1)) + i64::from(length.rem_euclid(ii.max(1)) != 0),
        algorithm: Algorithm::default(),
        steps: 0,
        micros: 0,
        nodes,
        values: Vec::new(),
        bytes: None,
        rec_ratio: bounds.rec_ratio.map(|(latency, distance)| [latency, distance]),
        critical_recurrence: bounds.critical_recurrence,
        critical_resource: bounds
            .critical_resource
            .and_then(|r| graph.resources.get(r))
            .map(|r| r.name.clone()),
        partitions: Vec::new(),
        split: None,
        bindings: Vec::new(),
        spaces: Vec::new(),
        stopped_by: None,
        start_refused: None,
    };
    answer.in_flight = answer.in_flight.max(1);
    answer.values = depths(&valid, &answer)
        .iter()
        .map(|d| ValueDepth { id: d.id, depth: d.depth, lifetime: d.lifetime })
        .collect();
    let bytes = answer.values.iter().zip(&graph.values).map(|(d, v)| d.depth.saturating_mul(v.bytes));
    answer.bytes = Some(bytes.fold(0, u64::saturating_add));
    Ok(answer)
}
