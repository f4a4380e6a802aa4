//! A schedule to begin with (S105).

use crate::model::answer::Answer;
use serde::{Deserialize, Serialize};

/// A schedule to begin with: the scheduler gives nothing worse (S105). Read from JSON as
/// `{"ii":..,"nodes":[{"id":..,"time":..},..]}`, or from a whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartSchedule {
    /// Its II.
    pub ii: i64,
    /// The start of every operation.
    pub nodes: Vec<StartTime>,
}

/// The start of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartTime {
    /// The operation.
    pub id: usize,
    /// Cycles.
    pub time: i64,
}

impl From<&Answer> for StartSchedule {
    fn from(answer: &Answer) -> Self {
        let nodes = answer.nodes.iter().map(|v| StartTime { id: v.id, time: v.time }).collect();
        StartSchedule { ii: answer.ii, nodes }
    }
}

impl StartSchedule {
    /// The times by id; the schedule must have been checked.
    pub(crate) fn times(&self) -> Vec<i64> {
        let mut times = vec![0; self.nodes.len()];
        for v in &self.nodes {
            times.get_mut(v.id).into_iter().for_each(|t| *t = v.time);
        }
        times
    }
}
