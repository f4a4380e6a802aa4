//! ScheduleOptions of the schedulers (S46).

use crate::model::answer::Algorithm;
use crate::model::error::ScheduleError;
use crate::model::observer::Observer;
use crate::model::partition::PartitionModel;
use crate::model::start::StartSchedule;
use std::time::Duration;

/// What is made small after the II (S41, S69).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Objective {
    /// The length, then the bytes.
    #[default]
    Latency,
    /// The bytes, then the length: what a kernel pays in every iteration comes first.
    Kernel,
    /// Nothing: the II was asked for.
    Interval,
}

impl std::str::FromStr for Objective {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        match text {
            "latency" => Ok(Self::Latency),
            "kernel" => Ok(Self::Kernel),
            "interval" => Ok(Self::Interval),
            _ => Err(ScheduleError::BadOption {
                option: "objective",
                message: format!("`{text}` is none of latency, kernel and interval"),
            }),
        }
    }
}

/// How to schedule. Start from [`ScheduleOptions::default`] and set what differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleOptions {
    /// Default: [`Algorithm::Auto`].
    pub algorithm: Algorithm,
    /// Default: [`Objective::Latency`].
    pub objective: Objective,
    /// Placements per operation that `ims` may spend at one II. Default: 6 (Rau 1996).
    pub ratio: u32,
    /// Retries of `ims` per II with shaken priorities. Default: 0.
    pub restarts: u32,
    /// Seed of the restarts. Default: 0.
    pub seed: u64,
    /// Search nodes per question asked of the exact search; `exact` multiplies it. Default: 20,000.
    pub steps: u64,
    /// Above so many operations with a use, only heuristics run (S40). Default: 600.
    pub contract_limit: usize,
    /// Smallest II tried. Default: 1.
    pub min_ii: i64,
    /// Largest II tried. Default: none.
    pub max_ii: Option<i64>,
    /// Outer guard on wall time, checked between steps (S45). Default: none.
    pub time_limit: Option<Duration>,
    /// Slots added to values that are written from before their writer's result on, as asynchronous copies are;
    /// never above `max_depth`, and not when scheduling within a budget (S54). Default: 0.
    pub slack_slots: u64,
    /// The machine to find partitions for: who issues what is then part of the answer (S97). Default: none.
    pub partition: Option<PartitionModel>,
    /// A schedule to begin with; the answer is none that is worse. One that is not legal is named in the answer, and not
    /// used (S105). Default: none.
    pub start: Option<StartSchedule>,
    /// Told of progress, and able to cancel (S45). Default: none.
    pub observer: Option<Observer>,
}

impl Default for ScheduleOptions {
    fn default() -> Self {
        ScheduleOptions {
            algorithm: Algorithm::Auto,
            objective: Objective::Latency,
            ratio: 6,
            restarts: 0,
            seed: 0,
            steps: 20_000,
            contract_limit: 600,
            min_ii: 1,
            max_ii: None,
            time_limit: None,
            slack_slots: 0,
            partition: None,
            start: None,
            observer: None,
        }
    }
}

impl ScheduleOptions {
    /// Sets the algorithm.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Sets the objective.
    #[must_use]
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// Sets the placements per operation of `ims`.
    #[must_use]
    pub fn ratio(mut self, ratio: u32) -> Self {
        self.ratio = ratio;
        self
    }

    /// Sets the number of randomised retries.
    #[must_use]
    pub fn restarts(mut self, restarts: u32) -> Self {
        self.restarts = restarts;
        self
    }

    /// Sets the seed of the retries.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the search nodes per question.
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// Sets the number of operations above which only heuristics run.
    #[must_use]
    pub fn contract_limit(mut self, limit: usize) -> Self {
        self.contract_limit = limit;
        self
    }

    /// Sets the smallest II tried.
    #[must_use]
    pub fn min_ii(mut self, ii: i64) -> Self {
        self.min_ii = ii;
        self
    }

    /// Sets the largest II tried.
    #[must_use]
    pub fn max_ii(mut self, ii: Option<i64>) -> Self {
        self.max_ii = ii;
        self
    }

    /// Sets the outer guard on wall time.
    #[must_use]
    pub fn time_limit(mut self, limit: Option<Duration>) -> Self {
        self.time_limit = limit;
        self
    }

    /// Sets the slots added to asynchronously written values.
    #[must_use]
    pub fn slack_slots(mut self, slots: u64) -> Self {
        self.slack_slots = slots;
        self
    }

    /// Sets the machine to find partitions for.
    #[must_use]
    pub fn partition(mut self, model: Option<PartitionModel>) -> Self {
        self.partition = model;
        self
    }

    /// Sets a schedule to begin with.
    #[must_use]
    pub fn start(mut self, start: Option<StartSchedule>) -> Self {
        self.start = start;
        self
    }

    /// Sets who is told of progress and may cancel.
    #[must_use]
    pub fn observer(mut self, observer: Option<Observer>) -> Self {
        self.observer = observer;
        self
    }
}
