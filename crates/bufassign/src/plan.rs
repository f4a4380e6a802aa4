//! The four phases in sequence, up to but without the capacity verdict (B46, B53, B54).

use crate::barriers::{self, Barriers};
use crate::classify::{self, Decision};
use crate::forced::{Group, groups};
use crate::handshake::{self, Shake};
use crate::lifetime::{self, Lifetimes};
use crate::mbarriers::Mbarriers;
use crate::model::Model;
use crate::orders::{Orders, SlotOrder};
use crate::output::{AssignError, AssignNote, Class, ErrorKind};
use crate::packed::Packed;
use crate::place::{Placed, Plot};
use crate::price::{Price, Shared, shared};

/// Everything decided, whether it fits or not.
pub(crate) struct Plan {
    pub life: Lifetimes,
    pub shakes: Vec<Shake>,
    pub barriers: Barriers,
    /// Decision per unit.
    pub decisions: Vec<Decision>,
    /// Classes with storage, by their first units.
    pub plots: Vec<Plot>,
    /// Ring slots per unit.
    pub depth: Vec<i64>,
    /// Waits of a value's write for its own write before (B78).
    pub rewrites: Vec<SlotOrder>,
    pub smem: Placed,
    pub tmem: Placed,
    pub mbarriers: Mbarriers,
    pub notes: Vec<AssignNote>,
    pub emittable: bool,
    pub price: Price,
}

impl Plan {
    /// Plots of a class, with their index in `plots`.
    pub fn of_class(&self, class: Class) -> Vec<usize> {
        (0..self.plots.len()).filter(|&k| self.plots[k].class == class).collect()
    }
}

/// Runs the phases.
///
/// # Errors
/// The first failing phase's record.
pub(crate) fn plan(model: &Model<'_>) -> Result<Plan, AssignError> {
    let life = lifetime::resolve(model)?;
    let shakes = handshake::decide(model, &life);
    let mut orders = Orders::new(model, &life).map_err(|region| {
        let id = model.regions[region].id;
        let m = format!("with the values' handshakes of region {id} they make an op wait for itself");
        AssignError::invalid("edges", m)
    })?;
    let groups = groups(model, &life, &mut orders, &shakes)?;
    orders.keep_writes(model, &life);
    let barriers = barriers::assign(model, &life, &orders.graphs, &shakes)?;
    for &(region, x, y, d) in &barriers.relied {
        orders.rely(region, [(x, y, d)]);
    }
    let (plots, decisions) = plots(model, &life, groups)?;
    let start = Shared { orders, plots, notes: Vec::new() };
    let (Shared { orders, plots, mut notes }, placed, price) = shared(model, &life, &shakes, start);
    if model.is_late() {
        notes.push(AssignNote {
            rule: "B60".into(),
            phase: 4,
            text: "the time was up before all had been tried; with another limit or machine the answer may be another"
                .into(),
            values: Vec::new(),
        });
    }
    if orders.is_spent() {
        notes.push(AssignNote {
            rule: "B53".into(),
            phase: 4,
            text: "the budget for merges that change a ring's depth or insert a wait was spent".into(),
            values: Vec::new(),
        });
    }
    let emittable = barriers.emittable && decisions.iter().all(|d| !d.illegal);
    let Packed { smem, tmem, mbarriers } = placed;
    Ok(Plan {
        depth: orders.depth,
        rewrites: orders.rewrites,
        life,
        shakes,
        barriers,
        decisions,
        plots,
        smem,
        tmem,
        mbarriers,
        notes,
        emittable,
        price,
    })
}

/// Classes of the groups and their first size (B34..B38).
fn plots(
    model: &Model<'_>,
    life: &Lifetimes,
    groups: Vec<Group>,
) -> Result<(Vec<Plot>, Vec<Decision>), AssignError> {
    let mut errors = Vec::new();
    let none = Decision { class: Class::BarrierOnly, why: None, illegal: false, space: 0 };
    let mut decisions = vec![none; life.units.len()];
    let mut chain_of: Vec<Vec<usize>> = vec![Vec::new(); life.units.len()];
    for v in 0..model.values.len() {
        chain_of[life.unit_of[v]].push(v);
    }
    let mut plots = Vec::new();
    for g in groups {
        let values: Vec<usize> = g.ring.units.iter().flat_map(|&k| chain_of[k].iter().copied()).collect();
        match plot(model, life, g, values) {
            Ok((plot, decision)) => {
                for &k in &plot.ring.units {
                    decisions[k] = decision;
                }
                if matches!(plot.class, Class::Smem | Class::Tmem) {
                    plots.push(plot);
                }
            }
            Err(e) => errors.push(e),
        }
    }
    plots.sort_by_key(|p| p.ring.units.iter().min().copied());
    match AssignError::collect(errors) {
        Some(e) => Err(e),
        None => Ok((plots, decisions)),
    }
}

fn plot(
    model: &Model<'_>,
    life: &Lifetimes,
    g: Group,
    mut values: Vec<usize>,
) -> Result<(Plot, Decision), AssignError> {
    values.sort_unstable();
    let decision = classify::decide(model, life, &values)?;
    let fp = classify::footprint(model, life, &values, &decision)?;
    let id = values.iter().filter(|&&v| life.owner[v] == v).map(|&v| model.values[v].id).min().unwrap_or(0);
    let mut plot = Plot {
        id,
        class: decision.class,
        space: decision.space,
        ring: g.ring,
        layout: g.layout,
        layout_size: 0,
        slot_orders: g.slot_orders,
        size: fp.size,
        align: fp.align,
        half_lanes: fp.half_lanes,
    };
    if let Some(l) = g.layout {
        let layout = &model.layouts[l];
        plot.layout_size = layout.bytes;
        plot.align = plot.align.max(layout.align);
        plot.half_lanes = false;
        for &v in values.iter().filter(|&&v| life.owner[v] == v) {
            leaf_holds(model, life, &values, v, &decision)?;
        }
    }
    Ok((plot, decision))
}

/// A leaf is large enough for its value, and every slot is aligned for it (B20, B37).
fn leaf_holds(
    model: &Model<'_>,
    life: &Lifetimes,
    values: &[usize],
    v: usize,
    decision: &Decision,
) -> Result<(), AssignError> {
    let leaf = model.values[v].layout.and_then(|(l, leaf)| model.layouts[l].leaves.get(leaf));
    let Some(leaf) = leaf else { return Ok(()) };
    let alone = classify::footprint(model, life, &[v], decision)?;
    let phase = if decision.class == Class::Tmem { classify::TMEM } else { classify::SMEM };
    let refuse = |rule: &str, why: String| {
        Err(classify::fail(model, life, values, v, ErrorKind::Impossible, rule, phase, &why))
    };
    if leaf.bytes < alone.size {
        return refuse("B20", format!("its leaf has {} of the {} it needs", leaf.bytes, alone.size));
    }
    if leaf.first % alone.align != 0 || (leaf.slots > 1 && leaf.stride % alone.align != 0) {
        return refuse("B37", format!("a slot of its leaf is not aligned to {}", alone.align));
    }
    Ok(())
}
