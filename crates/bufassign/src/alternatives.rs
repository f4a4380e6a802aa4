//! Plans beside the best one, with what each costs (B80).

use crate::assign::{levels, planned};
use crate::input::{AssignOptions, Problem, Sharing};
use crate::model::Model;
use crate::nest;
use crate::output::{AssignError, Assignment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Merges with a wait that are added one by one.
const MOST_WAITS: usize = 16;

/// What a plan costs; one that ties fewer partitions comes first, then one with fewer waits, then one of less memory.
/// No plan adds to the II: every wait agrees with the times of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PlanPrice {
    /// Waits that tie a partition to another whose work it did not wait for before.
    pub couples: u64,
    /// Waits inserted so that values can share: pairs of a completion and an issue.
    pub waits: u64,
    /// Bytes of shared memory.
    pub smem: u64,
    /// Columns of tensor memory.
    pub tmem: u64,
}

/// A plan that fits, and its price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// What it costs.
    pub price: PlanPrice,
    /// The merges that it was made with.
    pub sharing: Sharing,
    /// The plan.
    pub assignment: Assignment,
}

/// Plans of different prices, the best first, `most` at most: without sharing, with the merges that are ordered already,
/// and with more and more merges that need a wait. Behind the deadline nothing more is looked for.
///
/// # Errors
/// As [`assign`](crate::assign), where nothing fits.
pub fn alternatives(
    problem: &Problem,
    options: &AssignOptions,
    most: usize,
    deadline: Option<Instant>,
) -> Result<Vec<Alternative>, AssignError> {
    let mut found: Vec<Alternative> = Vec::new();
    let mut refused = None;
    let flat = nest::flat(problem)?;
    let waits = (0..MOST_WAITS).chain([usize::MAX]).map(|most| (Sharing::Always, most));
    let modes = [Sharing::WhenNeeded, Sharing::Implied, Sharing::Off].map(|s| (s, usize::MAX));
    for (sharing, most_waits) in modes.into_iter().chain(waits) {
        let options = AssignOptions { sharing, ..options.clone() };
        let mut model = Model { deadline, most_waits, ..levels(problem, flat.as_ref(), &options)? };
        match planned(problem, &mut model) {
            Ok((assignment, (couples, waits))) => {
                let tmem = assignment.tmem.as_ref().map_or(0, |t| t.used);
                let price = PlanPrice { couples, waits, smem: assignment.smem.used, tmem };
                if !found.iter().any(|a| a.price == price) {
                    found.push(Alternative { price, sharing, assignment });
                }
            }
            Err(e) => {
                refused.get_or_insert(e);
            }
        }
        if model.is_late() {
            break;
        }
    }
    found.sort_by_key(|a| a.price);
    found.truncate(most);
    match refused.filter(|_| found.is_empty()) {
        Some(e) => Err(e),
        None => Ok(found),
    }
}
