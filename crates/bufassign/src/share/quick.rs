//! Pairs of values that nothing orders, told apart in a few comparisons.
//!
//! Without inserted waits two values share a slot only if the order graph already has the last read of each
//! before the next write of the other (B51). Among thousands of values most pairs fail that, so what the graph
//! knows of each value is laid out flat: when its writer issues, and from where on in each partition's sequence its
//! bytes are known to be free.

use crate::lifetime::{Lifetimes, Unit};
use crate::model::Model;
use crate::order::Order;
use crate::orders::Orders;
use crate::place::Plot;

/// Values of classes that hold a single one, at the graphs that were in force when it was made.
pub(super) struct Quick {
    revision: u64,
    /// By class; none where nothing can be said.
    ends: Vec<Option<End>>,
    /// From where on the bytes of a value are free, by partition: [`End::free`] is the first of its region's.
    free: Vec<i64>,
}

/// Times and places on the circle of a loop: turns are taken off, and added where a comparison wraps.
#[derive(Clone, Copy)]
struct End {
    /// Cycles of the first write and of the end, below the period.
    start: i64,
    end: i64,
    len: i64,
    period: i64,
    /// The writer's partition, its place there, and the places of one turn.
    partition: usize,
    place: i64,
    turn: i64,
    free: usize,
}

/// Nothing later than this is compared.
const FAR: i128 = 1 << 60;

impl Quick {
    pub fn new(model: &Model<'_>, life: &Lifetimes, orders: &Orders, plots: &[Plot]) -> Quick {
        let mut quick = Quick { revision: orders.revision, ends: Vec::new(), free: Vec::new() };
        for plot in plots {
            let one = plot.ring.depth == 1 && plot.ring.units.len() == 1;
            let unit = &life.units[plot.ring.units[0]];
            let region = &model.regions[unit.region];
            let free = quick.free.len();
            let end = (one && region.is_loop)
                .then(|| End::of(&orders.graphs[unit.region], unit, region.ii, &mut quick.free))
                .flatten();
            if end.is_none() {
                quick.free.truncate(free);
            }
            quick.ends.push(end);
        }
        quick
    }

    /// Whether it still speaks of the graphs in force.
    pub fn holds(&self, orders: &Orders) -> bool {
        self.revision == orders.revision
    }

    /// Whether two classes of one region, each as it was, cannot share without a wait.
    pub fn refuses(&self, i: usize, j: usize) -> bool {
        let (Some(x), Some(y)) = (&self.ends[i], &self.ends[j]) else { return false };
        let ahead = y.start - x.start + if y.start < x.start { x.period } else { 0 };
        let room = ahead >= x.len && x.period - ahead >= y.len && ahead > 0;
        !room || !self.frees_for(x, y) || !self.frees_for(y, x)
    }

    /// The bytes of one are known to be free before the next write of the other.
    fn frees_for(&self, from: &End, to: &End) -> bool {
        let turn = if from.end > to.start { to.turn } else { 0 };
        self.free[from.free + to.partition] <= to.place + turn
    }
}

impl End {
    /// What the graph of a loop says of a unit; its free places go behind the others.
    fn of(graph: &Order, unit: &Unit, ii: i64, free: &mut Vec<i64>) -> Option<End> {
        let near = |x: i128| if x.abs() < FAR { i64::try_from(x).ok() } else { None };
        let producer = unit.producer?;
        let (partition, place) = graph.seat(producer)?;
        let (writes, ends) = (unit.start.div_euclid(ii), unit.end.div_euclid(ii));
        let first = free.len();
        for (partition, turn) in graph.turns().enumerate() {
            let reads = unit.uses.iter().map(|u| (u.op, u.distance));
            let alone = unit.uses.is_empty().then_some((producer, 0));
            let mut from = i128::MIN;
            for (op, distance) in reads.chain(alone) {
                from = from.max(match graph.freed(op, partition) {
                    Some(place) => place.checked_add(turn.checked_mul(i128::from(distance))?)?,
                    None => FAR * 2,
                });
            }
            free.push(match from < FAR {
                true => near(from - turn * i128::from(ends))?,
                false => i64::MAX,
            });
        }
        let turn = graph.turns().nth(partition)?;
        Some(End {
            start: unit.start.rem_euclid(ii),
            end: unit.end.rem_euclid(ii),
            len: unit.length(),
            period: ii,
            partition,
            place: near(place - turn * i128::from(writes))?,
            turn: near(turn)?,
            free: first,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Quick;
    use crate::circle::Circle;
    use crate::generated::problem;
    use crate::orders::Orders;
    use crate::output::Class;
    use crate::place::Plot;
    use crate::ring::Ring;
    use crate::{handshake, lifetime, model};

    /// What is refused in a few comparisons is refused by the graph; and it is most of what the graph refuses.
    #[test]
    fn refuses_nothing_that_the_graph_orders() {
        let (mut refused, mut missed, mut united) = (0, 0, 0);
        for seed in 0u64..400 {
            let p = problem(seed);
            let Ok(m) = model::build(&p, &p.options) else { continue };
            let Ok(life) = lifetime::resolve(&m) else { continue };
            let shakes = handshake::decide(&m, &life);
            let Ok(mut orders) = Orders::new(&m, &life) else { continue };
            let plots: Vec<Plot> = (0..life.units.len())
                .map(|k| Plot {
                    id: 0,
                    class: Class::Smem,
                    space: 0,
                    ring: Ring::single(k, life.units[k].depth),
                    layout: None,
                    layout_size: 0,
                    slot_orders: Vec::new(),
                    size: 1,
                    align: 1,
                    half_lanes: false,
                })
                .collect();
            let quick = Quick::new(&m, &life, &orders, &plots);
            for i in 0..plots.len() {
                for j in 0..plots.len() {
                    let region = life.units[i].region;
                    let ii = m.regions[region].is_loop.then_some(m.regions[region].ii);
                    let deep = plots[i].ring.depth > 1 || plots[j].ring.depth > 1;
                    if i == j || deep || life.units[j].region != region {
                        continue;
                    }
                    let room = Circle::of(&life, &plots[i], ii).room(&life, j);
                    let ordered = room.is_some_and(|(_, mut over)| {
                        orders.settle(&m, &life, &shakes, region, (&[], 1), &mut over, false)
                    });
                    match (quick.refuses(i, j), ordered) {
                        (true, ordered) => {
                            assert!(!ordered, "seed {seed}: {i} and {j}");
                            refused += 1;
                        }
                        (false, true) => united += 1,
                        (false, false) => missed += u32::from(ii.is_some()),
                    }
                }
            }
        }
        assert!(refused > 4 * missed && united > 20, "{refused} {missed} {united}");
    }
}
