//! Ids to indices, and refusals that name the JSON path of the field at fault (B1, B4).

use super::types::MAX_TIME;
use crate::output::AssignError;
use std::collections::BTreeMap;
use std::fmt::Display;

pub(super) type Ids = BTreeMap<u64, usize>;

pub(super) fn bad(list: &str, id: u64, field: &str, why: impl Display) -> AssignError {
    AssignError::invalid(format!("{list}[id={id}].{field}"), why)
}

/// Puts a list in an order and indexes it by id; duplicates are refused.
pub(super) fn index<'a, T>(
    list: &str,
    items: &'a [T],
    order: &[usize],
    id: impl Fn(&T) -> u64,
) -> Result<(Vec<&'a T>, Ids), AssignError> {
    let sorted: Vec<&T> = order.iter().map(|&k| &items[k]).collect();
    let mut ids = Ids::new();
    for (k, x) in sorted.iter().enumerate() {
        if ids.insert(id(x), k).is_some() {
            return Err(bad(list, id(x), "id", "this id is used twice; ids are unique per list"));
        }
    }
    Ok((sorted, ids))
}

pub(super) fn find(ids: &Ids, id: u64, path: impl FnOnce() -> String) -> Result<usize, AssignError> {
    ids.get(&id).copied().ok_or_else(|| AssignError::invalid(path(), format!("no entry has id {id}")))
}

pub(super) fn time(x: u64, path: impl FnOnce() -> String) -> Result<i64, AssignError> {
    if x > MAX_TIME {
        return Err(AssignError::invalid(path(), format!("{x} cycles are more than {MAX_TIME}")));
    }
    Ok(x as i64)
}
