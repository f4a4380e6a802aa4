//! Both spaces packed and the mbarriers behind the data (B39, B54).

use crate::handshake::Shake;
use crate::lifetime::Lifetimes;
use crate::mbarriers::{Mbarriers, layout as mbarrier_layout, words};
use crate::model::{Machine, Model};
use crate::orders::Orders;
use crate::output::Class;
use crate::pack;
use crate::place::{Ground, Placed, Plot, place, problem_of};

/// Where everything lies.
pub(crate) struct Packed {
    pub smem: Placed,
    pub tmem: Placed,
    pub mbarriers: Mbarriers,
}

/// Capacity of shared memory in force.
pub(crate) fn smem_limit(model: &Model<'_>) -> u64 {
    model.options.smem_limit.map_or(model.limits.smem_block, |l| l.min(model.limits.smem_block))
}

/// Columns of tensor memory.
fn columns(model: &Model<'_>) -> u64 {
    model.limits.tmem.map_or(0, |t| t.columns)
}

fn of_class(plots: &[Plot], class: Class) -> Vec<&Plot> {
    plots.iter().filter(|p| p.class == class).collect()
}

/// Bytes that data may take beside the mbarriers.
fn data_limit(model: &Model<'_>, life: &Lifetimes, orders: &Orders, shakes: &[Shake]) -> u64 {
    let words = words(model, life, shakes, &orders.depth);
    let word = model.limits.mbarrier_bytes;
    smem_limit(model).saturating_sub(words.saturating_mul(word)) / word * word
}

impl Packed {
    /// Packs, with up to `nodes` nodes of search; `insert` lets classes overlay that need a wait for it.
    pub fn new(
        model: &Model<'_>,
        life: &Lifetimes,
        orders: &mut Orders,
        shakes: &[Shake],
        plots: &[Plot],
        (insert, nodes): (bool, u64),
    ) -> Packed {
        let capacity = data_limit(model, life, orders, shakes);
        let ground = Ground { reserved: &model.reserved_smem, capacity, lanes: false, nodes };
        let plots_smem = of_class(plots, Class::Smem);
        let smem = match &model.limits.machine {
            Some(machine) => in_spaces(model, life, orders, shakes, &plots_smem, machine, (insert, nodes)),
            None => place(model, life, orders, shakes, &plots_smem, &ground, insert),
        };
        let ground = Ground { reserved: &model.reserved_tmem, capacity: columns(model), lanes: true, nodes };
        let tmem = place(model, life, orders, shakes, &of_class(plots, Class::Tmem), &ground, insert);
        let mbarriers = mbarrier_layout(model, life, shakes, &orders.depth, smem.peak);
        Packed { smem, tmem, mbarriers }
    }

    /// Whether both spaces hold what is in them.
    pub fn fits(&self, model: &Model<'_>) -> bool {
        self.smem.over.is_none()
            && self.mbarriers.used <= smem_limit(model)
            && self.tmem.peak <= columns(model)
    }

    /// Bytes and columns, for a choice between plans that do not fit.
    pub fn total(&self) -> u64 {
        self.mbarriers.used.saturating_add(self.tmem.peak)
    }
}

/// Packs each space of a machine by itself, at its addresses (B82).
fn in_spaces(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    plots: &[&Plot],
    machine: &Machine,
    (insert, nodes): (bool, u64),
) -> Placed {
    let mut all =
        Placed { offsets: vec![0; plots.len()], upper: vec![false; plots.len()], ..Placed::default() };
    all.load_bound = pack::load_bound(&problem_of(model, life, plots));
    for (k, space) in machine.spaces.iter().enumerate() {
        let here: Vec<usize> = (0..plots.len()).filter(|&p| plots[p].space == k).collect();
        if here.is_empty() {
            continue;
        }
        let own: Vec<&Plot> = here.iter().map(|&p| plots[p]).collect();
        let reserved = model.reserved_own.get(k).map_or(&[][..], Vec::as_slice);
        let ground = Ground { reserved, capacity: space.bytes, lanes: false, nodes };
        let placed = place(model, life, orders, shakes, &own, &ground, insert);
        for (&p, offset) in here.iter().zip(&placed.offsets) {
            all.offsets[p] = space.base.saturating_add(*offset);
        }
        all.peak = all.peak.max(space.base.saturating_add(placed.peak));
        all.infeasible |= placed.infeasible;
        all.overlays.extend(placed.overlays);
        if placed.peak > space.bytes {
            all.over.get_or_insert((k, placed.peak));
        }
    }
    all
}

/// Whether the fullest moment alone is too much for shared memory.
pub(crate) fn overloaded(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &Orders,
    shakes: &[Shake],
    plots: &[Plot],
) -> bool {
    let load = pack::load_bound(&problem_of(model, life, &of_class(plots, Class::Smem)));
    load > data_limit(model, life, orders, shakes)
}
