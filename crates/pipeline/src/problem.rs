//! The assignment problem of a scheduled kernel (B1-B5).
//!
//! Regions: what comes before the loop (only if tiles are loaded for the epilogue), the loop, the epilogue.
//! Values: the operands on one pipe, the epilogue's tiles, the staging buffers of the stores.

use warploom_bufassign::{
    Agent, Consumer, Exit, Op, Options, Problem, Producer, Region, RegionKind, Repeat, Role as Access,
    TargetSpec, Value,
};
use warploom_sched::Answer;
use warploom_target::Target;
use warploom_target::cost::{CostError, Op as Cost};

use crate::graph::{PipelinedLoop, Role, load_cost};
use crate::select::Selection;
use crate::tma::TilePlan;

/// Region ids.
const BEFORE: u64 = 0;
const LOOP: u64 = 1;
const AFTER: u64 = 2;

/// Agent ids.
fn agent(role: Role) -> u64 {
    match role {
        Role::Load => 0,
        Role::Math => 1,
    }
}

/// The value of tile number `index` of the epilogue; operands have the ids before.
pub(crate) fn tile_value(selection: &Selection, index: usize) -> u64 {
    (selection.loads.len() + index) as u64
}

/// The value of the staging buffer of store number `index`.
pub(crate) fn staging_value(selection: &Selection, index: usize) -> u64 {
    (selection.loads.len() + selection.tiles.len() + index) as u64
}

/// The problem for a schedule. `slack` more slots than the law asks for are modelled as reads that end `slack`
/// iterations later (S54).
///
/// # Errors
/// The chip has no cost for an operation.
pub(crate) fn problem(
    selection: &Selection,
    pipelined: &PipelinedLoop,
    answer: &Answer,
    target: &Target,
    slack: u64,
    limit: Option<u64>,
) -> Result<Problem, CostError> {
    let warps = selection.warpgroups().saturating_mul(target.threads.warps_per_group);
    let named = |role: Role, warps: u32| Agent { id: agent(role), name: role.name().to_owned(), warps };
    let line = |id: u64| Region { id, kind: RegionKind::Line, ii: None, stages: None, exit: Exit::Counted };
    let ii = unsigned(answer.ii);
    let steady = Region {
        id: LOOP,
        kind: RegionKind::Loop,
        ii: Some(ii),
        stages: Some(unsigned(answer.stages)),
        exit: Exit::Counted,
    };
    let mut builder = Builder { ops: Vec::new(), values: Vec::new() };
    builder.in_loop(selection, pipelined, answer, slack.saturating_mul(ii));
    builder.around(selection, target)?;
    let mut regions = vec![steady, line(AFTER)];
    if !selection.tiles.is_empty() {
        regions.insert(0, line(BEFORE));
    }
    Ok(Problem {
        name: pipelined.graph.name.clone(),
        target: TargetSpec::Named(target.name().to_owned()),
        repeat: Repeat::None,
        options: Options { smem_limit: limit, ..Options::default() },
        agents: vec![named(Role::Load, target.threads.warps_per_group), named(Role::Math, warps)],
        regions,
        ops: builder.ops,
        values: builder.values,
        layouts: Vec::new(),
        edges: Vec::new(),
        reserved: Vec::new(),
    })
}

struct Builder {
    ops: Vec<Op>,
    values: Vec<Value>,
}

impl Builder {
    /// The nodes of the schedule with their numbers, and one ring per operand.
    fn in_loop(&mut self, selection: &Selection, pipelined: &PipelinedLoop, answer: &Answer, slack: u64) {
        let wait = pipelined.nodes.len().saturating_sub(1);
        let dot = wait.saturating_sub(1);
        for (node, place) in pipelined.graph.nodes.iter().zip(&answer.nodes) {
            let Some(&(_, role)) = pipelined.nodes.get(node.id) else { continue };
            let asynchronous = node.id != wait;
            let mut latency = unsigned(node.latency);
            if node.id == wait {
                // The slot is free when the other agent has seen the arrival.
                latency = latency.saturating_add(pipelined.handoff).saturating_add(slack);
            }
            self.ops.push(Op {
                id: node.id as u64,
                name: node.name.clone(),
                region: Some(LOOP),
                agent: agent(role),
                stage: unsigned(place.stage),
                cycle: Some(unsigned(place.cycle)),
                order: Some(place.order as u64),
                latency,
                is_async: asynchronous,
            });
        }
        let pending = i64::try_from(pipelined.pending).unwrap_or(0);
        for (index, load) in selection.loads.iter().enumerate() {
            let role = if index == selection.dot.a.load { Access::WgmmaA } else { Access::WgmmaB };
            let read = |op: usize, distance: i64| Consumer { op: op as u64, role, distance, in_place: false };
            let mut value = tile(
                index as u64,
                &load.name,
                &load.plan,
                Producer { op: index as u64, role: Access::TmaLoad },
            );
            value.consumers = vec![read(dot, 0), read(wait, pending)];
            value.init = true;
            value.pipe = Some(0);
            self.values.push(value);
        }
    }

    /// The epilogue's tiles, copied while the loop runs and so alive throughout it, and the stores.
    fn around(&mut self, selection: &Selection, target: &Target) -> Result<(), CostError> {
        let mut cycle = 0;
        for (order, load) in (0u64..).zip(&selection.tiles) {
            let latency = load_cost(load, target)?.latency;
            self.line_op(format!("load {}", load.name), BEFORE, Role::Load, cycle, order, latency, true);
            cycle = cycle.saturating_add(latency);
        }
        let (mut cycle, mut order) = (0u64, 0u64);
        let warps = selection.warpgroups().saturating_mul(target.threads.warps_per_group);
        for (index, store) in selection.stores.iter().enumerate() {
            let bytes = store.plan.bytes;
            let write = target.cost(&Cost::Shared { bytes }, warps)?.latency;
            let copy = target.cost(&Cost::TmaStore { bytes }, 1)?.latency;
            let put =
                self.line_op(format!("put {}", store.name), AFTER, Role::Math, cycle, order, write, false);
            cycle = cycle.saturating_add(write);
            let send = self.line_op(
                format!("store {}", store.name),
                AFTER,
                Role::Math,
                cycle,
                order + 1,
                copy,
                true,
            );
            cycle = cycle.saturating_add(copy);
            order += 2;
            let id = staging_value(selection, index);
            let mut value = tile(id, &store.name, &store.plan, Producer { op: put, role: Access::RegWrite });
            value.consumers =
                vec![Consumer { op: send, role: Access::TmaStore, distance: 0, in_place: false }];
            self.values.push(value);
        }
        // Tiles are read while the first result is written: those two never share bytes.
        let (first_tile, first_put) = (selection.loads.len() as u64, self.first_put());
        for (index, load) in (0u64..).zip(&selection.tiles) {
            let load_op = self.loading(index);
            let mut value = tile(
                first_tile + index,
                &load.name,
                &load.plan,
                Producer { op: load_op, role: Access::TmaLoad },
            );
            value.consumers =
                vec![Consumer { op: first_put, role: Access::RegRead, distance: 0, in_place: false }];
            self.values.push(value);
        }
        self.values.sort_by_key(|v| v.id);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn line_op(
        &mut self,
        name: String,
        region: u64,
        role: Role,
        cycle: u64,
        order: u64,
        latency: u64,
        is_async: bool,
    ) -> u64 {
        let id = self.ops.len() as u64;
        let agent = agent(role);
        let (region, cycle, order) = (Some(region), Some(cycle), Some(order));
        self.ops.push(Op { id, name, region, agent, stage: 0, cycle, order, latency, is_async });
        id
    }

    fn first_put(&self) -> u64 {
        self.ops.iter().find(|op| op.region == Some(AFTER)).map_or(0, |op| op.id)
    }

    fn loading(&self, index: u64) -> u64 {
        let before = self.ops.iter().filter(|op| op.region == Some(BEFORE));
        before.skip(usize::try_from(index).unwrap_or(0)).map(|op| op.id).next().unwrap_or(0)
    }
}

fn tile(id: u64, name: &str, plan: &TilePlan, producer: Producer) -> Value {
    Value {
        id,
        name: name.to_owned(),
        root: Some(id),
        shape: plan.tile(),
        element: Some(plan.element.clone()),
        swizzle: u64::from(plan.swizzle),
        align: plan.align(),
        producer: Some(producer),
        ..Value::default()
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
