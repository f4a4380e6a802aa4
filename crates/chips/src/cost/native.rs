//! What native instructions hold: the prices that come from counted machine code (T42).

use std::collections::BTreeMap;

use super::entry::DurationRule;
use super::op::Use;
use super::{Amount, unit};
use crate::Target;

/// What there is of what native instructions are counted of.
pub(super) struct Counted {
    pub elements: u64,
    pub rows: u64,
    pub exchanges: u64,
    pub addresses: u64,
    pub masks: u64,
    pub partial: u64,
}

/// Clocks that each unit is held, at its full rate, by the native instructions of so much: the lanes of each class over the
/// rates of its units, and an issue slot for all of them.
pub(super) fn native_clocks<'a>(
    target: &'a Target,
    rule: &'a DurationRule,
    counted: &Counted,
) -> BTreeMap<&'a str, u64> {
    let mut clocks: BTreeMap<&str, u64> = BTreeMap::new();
    let mut add = |unit: &'a str, rate: Amount, lanes: u64| {
        let held = clocks.entry(unit).or_default();
        *held = held.saturating_add(rate.clocks_for(lanes).unwrap_or(0));
    };
    let mut issued: u64 = 0;
    // What goes between the lanes of a row is no more than the elements.
    let each = [
        (&rule.native, counted.elements, u64::MAX),
        (&rule.native_per_row, counted.rows, counted.elements),
        (&rule.native_per_exchange, counted.exchanges, u64::MAX),
        (&rule.native_per_address, counted.addresses, u64::MAX),
        (&rule.native_per_mask, counted.masks, u64::MAX),
        (&rule.native_per_partial_mask, counted.partial, u64::MAX),
    ];
    let lanes = each.into_iter().flat_map(|(counts, number, most)| {
        counts.iter().map(move |(class, count)| (class, count.scaled(number, 1).min(most)))
    });
    for (class, lanes) in lanes {
        issued = issued.saturating_add(lanes);
        let units = target.instruction.get(class).map(|native| &native.lanes_per_clk);
        units.into_iter().flatten().for_each(|(unit, &rate)| add(unit, rate, lanes));
    }
    if let Some(slots) = target.unit.get(unit::ISSUE).and_then(|issue| issue.elements_per_clk)
        && issued > 0
    {
        add(unit::ISSUE, slots, issued);
    }
    clocks
}

/// Holds a unit for so many clocks more.
pub(super) fn hold(uses: &mut Vec<Use>, unit: &str, clocks: u64) {
    match uses.iter_mut().find(|held| held.unit == unit) {
        Some(held) => held.duration = held.duration.saturating_add(clocks),
        None => uses.push(Use { unit: unit.to_owned(), duration: clocks, start: 0 }),
    }
}
