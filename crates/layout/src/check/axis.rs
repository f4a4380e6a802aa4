//! Reductions and scans carried out on lists of coordinates.

use super::machine::{Map, Threads};
use super::violation::{Place, Violation};
use crate::axis::AxisStep;
use crate::dim::Dim;
use crate::layout::Layout;

/// Every place with its number, and the coordinate of its element along an axis.
struct Places {
    threads: Threads,
    registers: u64,
    coordinates: Vec<u64>,
}

impl Places {
    fn of(layout: &Layout, axis: Dim) -> Result<Places, Violation> {
        let registers = layout.input_size(Dim::Register);
        let threads = Threads::of(layout, registers.saturating_mul(layout.output_size(axis)))?;
        let mut places = Places { threads, registers, coordinates: Vec::new() };
        let map = Map::of(layout);
        for number in 0..threads.count() * registers {
            let image = map.coordinates(map.at(places.place(number)));
            let along = image.iter().find(|(dim, _)| *dim == axis).map_or(0, |&(_, value)| value);
            places.coordinates.push(along);
        }
        Ok(places)
    }

    fn place(&self, number: u64) -> Place {
        Place { register: number % self.registers, ..self.threads.place(number / self.registers) }
    }

    /// The place that a step leads to.
    fn partner(&self, number: u64, step: &AxisStep) -> Result<usize, Violation> {
        let at = self.place(number);
        let other = Place {
            register: at.register ^ step.register,
            lane: at.lane ^ step.lane,
            warp: at.warp ^ step.warp,
            cta: at.cta ^ step.cta,
        };
        for (what, number, size) in [
            ("register", other.register, self.registers),
            ("lane", other.lane, self.threads.lanes),
            ("warp", other.warp, self.threads.warps),
            ("cta", other.cta, self.threads.ctas),
        ] {
            if number >= size {
                return Err(Violation::Beyond { at, what, number });
            }
        }
        Ok((self.threads.number(other) * self.registers + other.register) as usize)
    }
}

/// The slice of a place: its element's other coordinates.
fn slices(layout: &Layout, axis: Dim, places: &Places) -> Vec<Vec<(Dim, u64)>> {
    let map = Map::of(layout);
    let others = |number| {
        let mut image = map.coordinates(map.at(places.place(number)));
        image.retain(|(dim, _)| *dim != axis);
        image
    };
    (0..places.coordinates.len() as u64).map(others).collect()
}

/// After the steps of a reduction every place has combined every element of its slice once (G15).
pub fn reduction(layout: &Layout, axis: Dim, steps: &[AxisStep]) -> Result<(), Violation> {
    let places = Places::of(layout, axis)?;
    let slices = slices(layout, axis, &places);
    let mut lists: Vec<Vec<u64>> = places.coordinates.iter().map(|&along| vec![along]).collect();
    for step in steps {
        let mut joined = Vec::new();
        for number in 0..lists.len() {
            let other = places.partner(number as u64, step)?;
            let list = [lists[number].as_slice(), &lists[other]].concat();
            if slices[number] != slices[other] || list.len() as u64 > layout.output_size(axis) {
                return Err(Violation::Combined { at: places.place(number as u64), found: list });
            }
            joined.push(list);
        }
        lists = joined;
    }
    for (number, list) in lists.iter_mut().enumerate() {
        list.sort_unstable();
        if !list.iter().copied().eq(0..layout.output_size(axis)) {
            return Err(Violation::Combined { at: places.place(number as u64), found: list.clone() });
        }
    }
    Ok(())
}

/// After the steps of a scan every place has combined, in order, the elements up to its own, or from its own to the
/// end where `backward` says so (G15).
pub fn scan(layout: &Layout, axis: Dim, steps: &[AxisStep], backward: bool) -> Result<(), Violation> {
    let places = Places::of(layout, axis)?;
    let slices = slices(layout, axis, &places);
    let mut prefixes: Vec<Vec<u64>> = places.coordinates.iter().map(|&along| vec![along]).collect();
    let mut totals = prefixes.clone();
    let size = layout.output_size(axis);
    for step in steps {
        let (mut next_prefixes, mut next_totals) = (Vec::new(), Vec::new());
        for number in 0..totals.len() {
            let other = places.partner(number as u64, step)?;
            let upper = places.coordinates[number] & step.axis != 0;
            let (low, high) = if upper { (other, number) } else { (number, other) };
            let total = [totals[low].as_slice(), &totals[high]].concat();
            if slices[number] != slices[other] || total.len() as u64 > size {
                return Err(Violation::Combined { at: places.place(number as u64), found: total });
            }
            next_prefixes.push(match (upper, backward) {
                (true, false) => [totals[other].as_slice(), &prefixes[number]].concat(),
                (false, true) => [prefixes[number].as_slice(), &totals[other]].concat(),
                _ => prefixes[number].clone(),
            });
            next_totals.push(total);
        }
        (prefixes, totals) = (next_prefixes, next_totals);
    }
    for (number, (list, &along)) in prefixes.iter().zip(&places.coordinates).enumerate() {
        let wanted = if backward { along..size } else { 0..along + 1 };
        if !list.iter().copied().eq(wanted) {
            return Err(Violation::Combined { at: places.place(number as u64), found: list.clone() });
        }
    }
    Ok(())
}
