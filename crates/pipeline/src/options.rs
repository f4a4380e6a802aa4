//! How to compile a kernel.

use warploom_sched::Objective;

use crate::strategy::Partitions;

/// How to compile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompileOptions {
    /// The kernel to compile, where the file holds several.
    pub entry: Option<String>,
    /// Slots added to the depth law, capacity permitting, for copies slower than modelled (S54).
    pub slack_slots: u64,
    /// Exactly so many slots, or a refusal.
    pub depth: Option<u64>,
    /// Less shared memory than the chip has, bytes.
    pub smem_limit: Option<u64>,
    /// Who runs the kernel; none leaves it to the price.
    pub partitions: Option<Partitions>,
    /// The author's storage, laid out; operations bind to its leaves by `warploom.buffer` (A44).
    pub storage: Option<warploom_alias::AliasLayout>,
    /// How to schedule.
    pub schedule: warploom_sched::ScheduleOptions,
    /// Run the checkers of schedule, assignment and program on what was made. Default: in debug builds. What was read
    /// from a file is always checked.
    pub check: bool,
}

impl Default for CompileOptions {
    /// After II, what a kernel pays in every trip comes first: bytes, then length (S69).
    fn default() -> CompileOptions {
        CompileOptions {
            entry: None,
            slack_slots: 0,
            depth: None,
            smem_limit: None,
            partitions: None,
            storage: None,
            schedule: warploom_sched::ScheduleOptions::default().objective(Objective::Kernel),
            check: cfg!(debug_assertions),
        }
    }
}

impl CompileOptions {
    /// Names the kernel to compile, where the file holds several.
    #[must_use]
    pub fn entry(self, entry: Option<String>) -> Self {
        CompileOptions { entry, ..self }
    }

    /// Adds slots to the depth law, capacity permitting (S54).
    #[must_use]
    pub fn slack_slots(self, slack_slots: u64) -> Self {
        CompileOptions { slack_slots, ..self }
    }

    /// Asks for exactly so many slots; none takes what the depth law says.
    #[must_use]
    pub fn depth(self, depth: Option<u64>) -> Self {
        CompileOptions { depth, ..self }
    }

    /// Sets less shared memory than the chip has, in bytes; none takes what it has.
    #[must_use]
    pub fn smem_limit(self, smem_limit: Option<u64>) -> Self {
        CompileOptions { smem_limit, ..self }
    }

    /// Says who runs the kernel: one partition, or several; none leaves it to the price.
    #[must_use]
    pub fn partitions(self, partitions: Option<Partitions>) -> Self {
        CompileOptions { partitions, ..self }
    }

    /// Sets the author's storage, laid out (A44).
    #[must_use]
    pub fn storage(self, storage: Option<warploom_alias::AliasLayout>) -> Self {
        CompileOptions { storage, ..self }
    }

    /// Sets how to schedule.
    #[must_use]
    pub fn schedule(self, schedule: warploom_sched::ScheduleOptions) -> Self {
        CompileOptions { schedule, ..self }
    }

    /// Runs the checkers of schedule, assignment and program, or not.
    #[must_use]
    pub fn check(self, check: bool) -> Self {
        CompileOptions { check, ..self }
    }
}
