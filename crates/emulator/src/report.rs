//! What a run found out (E69, E72).

use crate::place::{Extent, FindingPlace, Values};
use crate::sight::Sight;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing; the run still counts as clean.
    Note,
    /// The kernel is wrong.
    Error,
}

/// Something wrong with the kernel, with the code of E66.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// `R01`, `D01`, ...
    pub code: String,
    /// Error or note.
    pub severity: Severity,
    /// Name of the entry.
    pub kernel: String,
    /// The CTA's position in the grid.
    pub cta: [u32; 3],
    /// What happened.
    pub message: String,
    /// What to do.
    pub remedy: String,
    /// The actor at whose step it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FindingPlace>,
    /// The other actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<FindingPlace>,
    /// Where in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extent: Option<Extent>,
    /// What the registers of the instruction held at the first time, where a warp was found at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<Values>,
    /// How often it was found.
    pub count: u64,
    /// Other pairs of lines with the same cause: accesses between the same synchronisations as these (E103).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<(u32, u32)>,
    /// The synchronisations before the two accesses of a race, by which findings of one cause are known.
    #[serde(skip)]
    pub(crate) since: Option<(u32, u32)>,
    /// Lanes of the first actor, where it is a warp.
    #[serde(skip)]
    pub(crate) lanes: u32,
}

impl Finding {
    /// Lines of both sides.
    pub(crate) fn lines(&self) -> (Option<u32>, Option<u32>) {
        (self.first.as_ref().map(|p| p.line), self.second.as_ref().map(|p| p.line))
    }

    /// Whether another finding has the same cause: the same lines, or races between the same synchronisations.
    pub(crate) fn same_cause(&self, other: &Finding) -> bool {
        fn kind(f: &Finding) -> (&str, Severity, &str) {
            (&f.code, f.severity, &f.kernel)
        }
        let same = self.lines() == other.lines() || self.since.is_some() && self.since == other.since;
        same && kind(self) == kind(other)
    }

    /// Counts another finding of the same cause.
    pub(crate) fn absorb(&mut self, other: &Finding) {
        self.count += other.count;
        let own = self.lines();
        let lines = [other.lines()].into_iter().filter_map(|(a, b)| Some((a?, b?)));
        for pair in lines.chain(other.pairs.iter().copied()) {
            let (a, b) = pair;
            let known = [pair, (b, a)].iter().any(|p| self.pairs.contains(p))
                || [(Some(a), Some(b)), (Some(b), Some(a))].contains(&own);
            if !known && self.pairs.len() < MOST_PAIRS {
                self.pairs.push(pair);
            }
        }
    }
}

/// Pairs of lines that are kept for one finding.
const MOST_PAIRS: usize = 16;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.severity == Severity::Error { "error" } else { "note" };
        let [x, y, z] = self.cta;
        write!(f, "{kind}[{}] {} in {} CTA ({x},{y},{z})", self.code, self.message, self.kernel)?;
        if let Some(e) = &self.extent {
            write!(f, "\n  where: {e}")?;
        }
        for (label, place) in [("at", &self.first), ("against", &self.second)] {
            if let Some(p) = place {
                write!(f, "\n  {label}: line {} {} by {}, time {}", p.line, p.opcode, p.actor, p.visit)?;
                if let Some(s) = &p.source {
                    write!(f, " ({s})")?;
                }
            }
        }
        if !self.registers.is_empty() {
            let list: Vec<String> = self.registers.iter().map(Values::to_string).collect();
            write!(f, "\n  with: {}", list.join("; "))?;
        }
        if !self.pairs.is_empty() {
            let pairs: Vec<String> = self.pairs.iter().map(|(a, b)| format!("{a} against {b}")).collect();
            write!(f, "\n  also: lines {}", pairs.join(", "))?;
        }
        if self.count > 1 {
            write!(f, "\n  {} times", self.count)?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n  instead: {}", self.remedy)?;
        }
        Ok(())
    }
}

/// Numbers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stats {
    /// Warp instructions.
    pub steps: u64,
    /// Warp instructions by opcode.
    pub opcodes: BTreeMap<String, u64>,
    /// Asynchronous operations.
    pub operations: u64,
    /// Bytes moved by asynchronous copies.
    pub bytes_copied: u64,
    /// One past the highest shared byte that was accessed.
    pub shared_used: u64,
    /// One past the highest TMEM column that was allocated.
    pub tmem_used: u32,
    /// Named barriers that were used, as a bit mask.
    pub barriers: u32,
    /// mbarriers that were initialised, counted over all CTAs.
    pub mbarriers: u64,
    /// A branch depended on data loaded from memory, so other inputs may take other paths (E70).
    pub data_dependent: bool,
}

impl Stats {
    pub(crate) fn add(&mut self, other: &Stats) {
        self.steps += other.steps;
        for (k, n) in &other.opcodes {
            *self.opcodes.entry(k.clone()).or_default() += n;
        }
        self.operations += other.operations;
        self.bytes_copied += other.bytes_copied;
        self.shared_used = self.shared_used.max(other.shared_used);
        self.tmem_used = self.tmem_used.max(other.tmem_used);
        self.barriers |= other.barriers;
        self.mbarriers += other.mbarriers;
        self.data_dependent |= other.data_dependent;
    }
}

/// Which of a kernel's synchronising instructions a run reached (E102). A clean run says nothing about the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Coverage {
    /// Barriers, waits, arrivals, fences, strong accesses in the text.
    pub instructions: u32,
    /// PTX lines of those that never ran.
    pub never: Vec<u32>,
    /// PTX lines of waits that only ever passed on a fresh barrier, with nothing to wait for.
    pub trivial: Vec<u32>,
    /// What kept them from being reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

/// Why a synchronising instruction was not reached (E102).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hint {
    /// PTX line of the instruction.
    pub line: u32,
    /// PTX line of the branch that always went the other way: of the instruction itself where its guard was false, of the
    /// end of the loop that had no further trip for a wait with nothing to wait for.
    pub branch: u32,
    /// `.loc` file, line and column of the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What the branch depends on: parameters with their values, extents of the launch, loaded data.
    pub depends: Vec<String>,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: line {}", self.line, self.branch)?;
        if let Some(source) = &self.source {
            write!(f, " ({source})")?;
        }
        match self.depends.as_slice() {
            [] => write!(f, " decides, always alike"),
            some => write!(f, " decides, by {}", some.join(", ")),
        }
    }
}

impl Coverage {
    /// What several runs of one kernel reached together.
    pub fn join(&mut self, other: &Coverage) {
        if self.instructions == 0 {
            *self = other.clone();
            return;
        }
        let missed = |c: &Coverage, line: &u32| c.never.contains(line) || c.trivial.contains(line);
        let mine = self.clone();
        self.never.retain(|line| other.never.contains(line));
        self.trivial = mine.never.iter().chain(&mine.trivial).copied().collect();
        self.trivial.retain(|line| missed(other, line) && !self.never.contains(line));
        self.trivial.sort_unstable();
        self.hints.retain(|hint| missed(other, &hint.line));
    }

    /// How many ran, and not only trivially.
    pub fn reached(&self) -> u32 {
        self.instructions.saturating_sub((self.never.len() + self.trivial.len()) as u32)
    }
}

/// What a run found out. The buffers stay in the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Name of the entry.
    pub kernel: String,
    /// Name of the chip.
    pub target: String,
    /// Policy and seed.
    pub policy: super::Policy,
    /// Findings in the order of CTAs, then of time.
    pub findings: Vec<Finding>,
    /// Counts.
    pub stats: Stats,
    /// Which synchronising instructions ran.
    #[serde(default)]
    pub coverage: Coverage,
    /// What the kernel printed, in the order of clusters, then of time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printed: String,
    /// What was seen where [`crate::RunOptions::look`] asked to look, in the order of clusters, then of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Sight>,
    /// What happened when, if [`crate::RunOptions::trace`] asked for it; not part of the JSON.
    #[serde(skip)]
    pub trace: Vec<TraceEvent>,
}

/// An instruction of a warp, or an asynchronous operation from issue to end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceEvent {
    /// The CTA's position in the grid.
    pub cta: [u32; 3],
    /// The warp of the CTA that ran or issued it.
    pub warp: u32,
    /// What kind of operation; `None` for an instruction.
    pub operation: Option<String>,
    /// PTX line, from 1.
    pub line: u32,
    /// The opcode with its modifiers.
    pub opcode: String,
    /// `.loc` file, line and column.
    pub source: Option<String>,
    /// Steps of the cluster before it (E3).
    pub begin: u64,
    /// Steps of the cluster when it was over.
    pub end: u64,
}

impl Report {
    /// Whether there are no errors; notes do not count.
    pub fn clean(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.severity == Severity::Error)
    }

    /// Whether some finding has this code.
    pub fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|f| f.code == code)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        let errors = self.errors().count();
        let notes = self.findings.len() - errors;
        write!(
            f,
            "{} on {} ({}): {errors} errors, {notes} notes; {} warp instructions, {} operations, {} bytes copied; \
             {} of {} synchronising instructions reached",
            self.kernel,
            self.target,
            self.policy,
            self.stats.steps,
            self.stats.operations,
            self.stats.bytes_copied,
            self.coverage.reached(),
            self.coverage.instructions
        )
    }
}
