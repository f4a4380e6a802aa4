//! The cost part of a data file: units, and for each operation its duration and latency (T30-T38).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Amount;
use crate::Element;

/// A functional unit of an SM. Rates are for the whole SM, in its clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// How many operations can hold the unit at once.
    pub count: u32,
    /// Bytes per clock.
    pub bytes_per_clk: Option<Amount>,
    /// Bytes per clock and SM when every SM of the chip pulls at once; see
    /// [`Target::with_all_sms_pulling`](crate::Target::with_all_sms_pulling).
    pub chip_bytes_per_clk: Option<Amount>,
    /// Elements per clock.
    pub elements_per_clk: Option<Amount>,
    /// Multiply-accumulates per clock, by operand type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub macs_per_clk: BTreeMap<Element, Amount>,
    /// Warps that together reach the full rate; W fewer get W parts of it (T32). 1 if not given.
    pub full_rate_warps: Option<u32>,
    /// Operations take its clocks in turn, so that it bounds what they take together and no two exclude each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interleaved: bool,
}

/// What a class of native instructions takes beside an issue slot (T42).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// Lanes per clock of the whole SM, by the unit that runs them.
    pub lanes_per_clk: BTreeMap<String, Amount>,
    /// Source of the numbers.
    pub origin: Origin,
}

/// What is counted, to be divided by a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Work {
    /// Bytes of the tile.
    Bytes,
    /// Elements of the tile; of the input, for a reduction. Lanes, for a trip; moves of lanes, for what moves bytes.
    Elements,
    /// Multiply-accumulates of the whole product.
    Macs,
    /// Bytes that tensor-core instructions read from shared memory, counted once per instruction.
    OperandBytes,
    /// Instructions that warps issue for the product: those that multiply, and those that bring operands into registers.
    Instructions,
}

/// Where a number comes from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A starting guess to be replaced.
    Unverified,
    /// Computed from documented rates, or carried over from another chip.
    Derived,
    /// Taken from a published measurement.
    Published,
    /// Measured by us; see [`Measurement`].
    Measured,
}

/// How a number was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Product.
    pub device: String,
    /// Clock during the run, MHz.
    pub clock_mhz: u32,
    /// Date, year first.
    pub date: String,
    /// Distance between the quartiles, in clocks.
    pub spread: Amount,
}

/// Costs of one kind of operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpEntry {
    /// How long units are held.
    pub duration: DurationRule,
    /// From issue to visible result.
    pub latency: LatencyRule,
    /// Clocks of the issuing partition's instruction stream (S65); [`OpKind::usual_issue`] if not given, or
    /// else the duration.
    ///
    /// [`OpKind::usual_issue`]: super::OpKind::usual_issue
    pub issue: Option<u64>,
}

/// `clamp(fixed + ceil(work / rate) + other terms, min, max)` clocks on a unit (T32).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationRule {
    /// The unit that is held.
    pub unit: String,
    /// Clocks whatever the size.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed: u64,
    /// What is divided by the rate.
    pub work: Option<Work>,
    /// Work per clock; the unit's own rate if not given.
    pub rate: Option<Amount>,
    /// Clocks per whole KiB of the tile.
    pub clk_per_kib: Option<Amount>,
    /// Clocks per 16384 elements, in proportion ("/E0" in T34).
    pub clk_per_16k_elements: Option<Amount>,
    /// Points (work, clocks), ascending, joined by straight lines; in the place of a rate (T40).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<(u64, u64)>,
    /// Native instructions of each element's work, by class of `[instruction]`: each holds the units of its class, and an
    /// issue slot (T42). What moves bytes counts each move of a lane.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub native: BTreeMap<String, Amount>,
    /// Native instructions of each row that is reduced, likewise: what goes between the lanes that share it, of which there
    /// are no more than elements.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub native_per_row: BTreeMap<String, Amount>,
    /// The same of each exchange of an element of a row with another lane that shares it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub native_per_exchange: BTreeMap<String, Amount>,
    /// The same of each address in global memory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub native_per_address: BTreeMap<String, Amount>,
    /// The same of each mask of a whole move.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub native_per_mask: BTreeMap<String, Amount>,
    /// The same of each mask that may leave out a part of a move.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub native_per_partial_mask: BTreeMap<String, Amount>,
    /// Least result.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min: u64,
    /// Greatest result.
    pub max: Option<u64>,
    /// Other units the operation holds. One that needs longer holds up the first unit too (T36).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoRule>,
    /// Source of the numbers.
    pub origin: Origin,
    /// Details, if measured.
    pub measured: Option<Measurement>,
}

/// A further unit held from the start of an operation; terms as in [`DurationRule`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlsoRule {
    /// The unit that is held.
    pub unit: String,
    /// What is divided by the rate.
    pub work: Option<Work>,
    /// Work per clock; the unit's own rate if not given.
    pub rate: Option<Amount>,
    /// Clocks per 16384 elements, in proportion.
    pub clk_per_16k_elements: Option<Amount>,
    /// Least result.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min: u64,
}

/// `max(fixed + terms, min)` clocks from issue to visible result, never less than the duration (T31, T32).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyRule {
    /// Clocks whatever the size.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed: u64,
    /// Clocks per KiB of the tile: of whole KiB, unless `partial_kib`.
    pub clk_per_kib: Option<Amount>,
    /// Counts a KiB that is not full in proportion.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial_kib: bool,
    /// Clocks per 16384 elements, in proportion ("/E0" in T34).
    pub clk_per_16k_elements: Option<Amount>,
    /// Clocks for each further hardware copy beyond the first; with `box_bytes` and `box_max`.
    pub box_step: Option<u64>,
    /// Bytes along the innermost dimension that one hardware copy takes.
    pub box_bytes: Option<u64>,
    /// Further copies beyond which nothing is added.
    pub box_max: Option<u64>,
    /// From this K on, in elements, `long_fixed` stands for `fixed`.
    pub long_k: Option<u64>,
    /// See `long_k`.
    pub long_fixed: Option<u64>,
    /// Clocks for each element of a row that is reduced: the chain of those that one lane has.
    pub clk_per_row_element: Option<Amount>,
    /// Adds the duration.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plus_duration: bool,
    /// What the points of `table` count.
    pub work: Option<Work>,
    /// Points (work, clocks) as in [`DurationRule::table`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<(u64, u64)>,
    /// Least result.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min: u64,
    /// Source of the numbers.
    pub origin: Origin,
    /// Details, if measured.
    pub measured: Option<Measurement>,
}

impl DurationRule {
    /// The terms of the first unit and of all others, in file order.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Terms<'_>> {
        let first = Terms {
            unit: &self.unit,
            fixed: self.fixed,
            work: self.work,
            rate: self.rate,
            clk_per_kib: self.clk_per_kib,
            clk_per_16k_elements: self.clk_per_16k_elements,
            table: &self.table,
            min: self.min,
            max: self.max,
        };
        let others = self.also.iter().map(|also| Terms {
            unit: &also.unit,
            fixed: 0,
            work: also.work,
            rate: also.rate,
            clk_per_kib: None,
            clk_per_16k_elements: also.clk_per_16k_elements,
            table: &[],
            min: also.min,
            max: None,
        });
        std::iter::once(first).chain(others)
    }
}

/// What holds one unit.
pub(crate) struct Terms<'a> {
    pub unit: &'a str,
    pub fixed: u64,
    pub work: Option<Work>,
    pub rate: Option<Amount>,
    pub clk_per_kib: Option<Amount>,
    pub clk_per_16k_elements: Option<Amount>,
    pub table: &'a [(u64, u64)],
    pub min: u64,
    pub max: Option<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}
