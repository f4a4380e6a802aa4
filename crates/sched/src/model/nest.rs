//! Loops around loops (S104).

use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use crate::model::start::{StartSchedule, StartTime};
use serde::{Deserialize, Serialize};

/// The schedule of a loop and of those inside it (S104).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestAnswer {
    /// The schedule of the outer loop.
    #[serde(flatten)]
    pub answer: Answer,
    /// The loops inside, by operation.
    #[serde(default)]
    pub inner: Vec<InnerRun>,
    /// The outer loop with the inner ones as holds of units: what [`answer`](Self::answer) schedules.
    #[serde(skip)]
    pub outer: LoopGraph,
}

/// How a loop inside another one runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InnerRun {
    /// The operation of the outer loop.
    pub node: usize,
    /// Iterations.
    pub trips: u64,
    /// Cycles from its first start to its last result; at least one where the number of iterations is not known.
    pub run: i64,
    /// The cycle of the outer loop's table before which each further iteration inserts as many cycles as the inner II, where
    /// their number is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grows_at: Option<i64>,
    /// Its schedule.
    pub nest: NestAnswer,
}

impl NestAnswer {
    /// The schedule of the outer loop where the inner ones make so many more iterations than their least number, in the order
    /// of [`inner`](Self::inner). Those of known number, and those left out, make none.
    ///
    /// Rings keep their depths. `None` where a time does not fit 64 bits.
    pub fn stretched(&self, more: &[u64]) -> Option<StartSchedule> {
        let old = i128::from(self.answer.ii.max(1));
        let inserts: Vec<(i128, i128)> = self
            .inner
            .iter()
            .zip(more)
            .filter_map(|(run, &more)| {
                let cycles = i128::from(run.nest.answer.ii) * i128::from(more);
                Some((i128::from(run.grows_at?), cycles))
            })
            .collect();
        let stretch = |time: i128| {
            // What is inserted after cycle 0, up to it.
            let passed = inserts
                .iter()
                .map(|(at, cycles)| ((time - at).div_euclid(old) - (-at).div_euclid(old)) * cycles);
            time + passed.sum::<i128>()
        };
        let ii = i64::try_from(old + inserts.iter().map(|(_, cycles)| cycles).sum::<i128>()).ok()?;
        let nodes = self.answer.nodes.iter().map(|v| {
            let time = i64::try_from(stretch(v.time.into())).ok()?;
            Some(StartTime { id: v.id, time })
        });
        Some(StartSchedule { ii, nodes: nodes.collect::<Option<_>>()? })
    }
}
