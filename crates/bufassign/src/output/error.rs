//! The one structured failure record (B73).

use super::record::{Class, Why};
use super::space::MapEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Why a problem could not be assigned: a boxed [`AssignDiagnostic`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[non_exhaustive]
pub struct AssignError(pub Box<AssignDiagnostic>);

impl Deref for AssignError {
    type Target = AssignDiagnostic;
    fn deref(&self) -> &AssignDiagnostic {
        &self.0
    }
}

impl DerefMut for AssignError {
    fn deref_mut(&mut self) -> &mut AssignDiagnostic {
        &mut self.0
    }
}

impl std::error::Error for AssignError {}

/// What kind of refusal (each names the rule that was broken).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The problem itself is malformed: mend the named field (B4).
    InvalidInput,
    /// `view_of` links loop, or a producer needs its own result in the same iteration (B15).
    CyclicChain,
    /// An op of the value has no place in time, or the first uses have no `init` (B15).
    NoAnchor,
    /// Nobody reads the value (B15).
    NoConsumer,
    /// No root at the end of the back-cone (B15).
    Unanchored,
    /// A use completes no later than the producer issues (B15).
    EndsBeforeStart,
    /// A view does not lie inside its owner (B14).
    ViewOutOfBounds,
    /// A use of an old version is not ordered before the op that overwrites it (B19).
    OverwrittenBeforeRead,
    /// Values of one root cannot be ordered on one ring (B20).
    ChainUnordered,
    /// A layout has fewer slots than the lifetime asks for (B20).
    LayoutTooShallow,
    /// Bytes that the author shares are live twice (B20).
    AliasLive,
    /// The named-barrier pool is exhausted (B33).
    BarrierPool,
    /// The roles of a chain have no space in common (B34).
    ClassConflict,
    /// The space cannot hold the value at all, whatever the plan (B35, B42, B46).
    Impossible,
    /// A hardware limit other than capacity (B39, B45).
    Limit,
    /// The packed total exceeds the capacity (B47).
    Capacity,
    /// The assigner's own checker refused its answer: a bug of this crate (B75).
    Internal,
}

/// One structured record, the same in text, JSON and `explain` (B73).
///
/// A field that the failing phase did not reach is `None` (B74).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AssignDiagnostic {
    /// Rule.
    pub code: String,
    /// Kind.
    pub kind: ErrorKind,
    /// Phase 1 to 4; none before phase 1.
    pub phase: Option<u8>,
    /// The phase's fixed string first, then what and why.
    pub message: String,
    /// JSON path of the offending field, for malformed input.
    pub path: Option<String>,
    /// The loop concerned.
    #[serde(rename = "loop")]
    pub in_loop: Option<LoopInfo>,
    /// The value concerned.
    pub value: Option<ValueInfo>,
    /// The named-barrier pool at the failure.
    pub barrier_pool: Option<Vec<PoolSlot>>,
    /// Shared memory at the failure, sorted by offset.
    pub smem_map: Option<Vec<MapEntry>>,
    /// Tensor memory at the failure, in columns.
    pub tmem_map: Option<Vec<MapEntry>>,
    /// The class decision and its inputs.
    pub classification: Option<Classification>,
    /// How sure the verdict is.
    pub outcome: Option<PackVerdict>,
    /// What would be needed, in the unit of `limit`.
    pub need: Option<u64>,
    /// What there is: bytes, columns, slots or ids.
    pub limit: Option<u64>,
    /// No plan can need less than this.
    pub load_bound: Option<u64>,
    /// Steps that would help, best first (B66).
    pub advice: Option<Vec<Remedy>>,
    /// Further failures of the phase.
    pub also: Option<Vec<AlsoFailure>>,
}

/// The loop concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopInfo {
    /// Region id.
    pub region: u64,
    /// Initiation interval in cycles.
    pub ii: u64,
    /// Stages.
    pub stages: u64,
}

/// The value concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueInfo {
    /// Id.
    pub id: u64,
    /// Name.
    pub name: String,
    /// [stage, cycle], once known.
    pub start: Option<[u64; 2]>,
    /// [stage, cycle], once known.
    pub end: Option<[u64; 2]>,
    /// Cycles.
    pub length: Option<u64>,
    /// Ring slots.
    pub depth: Option<u64>,
}

/// One slot of the named-barrier pool and who holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PoolSlot {
    /// Slot.
    pub slot: u32,
    /// Hardware id, if it has one.
    pub id: Option<u32>,
    /// Holders in order of binding.
    pub holders: Vec<PoolHolder>,
    /// Why the failing value could not join: `overlap`, `order` or `region`.
    pub blocked: Option<String>,
}

/// A holder of a slot and its arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PoolHolder {
    /// Value id.
    pub value: u64,
    /// Region id.
    pub region: u64,
    /// Start modulo II.
    pub start: u64,
    /// Length in cycles.
    pub length: u64,
}

/// The class decision and what it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Classification {
    /// Class, if one was found.
    pub class: Option<Class>,
    /// Why.
    pub why: Option<Why>,
    /// Element type.
    pub element: Option<String>,
    /// Its width in bits.
    pub bits: Option<u64>,
    /// Tile shape.
    pub shape: Vec<u64>,
    /// Bytes of one stage.
    pub stage_bytes: u64,
    /// The size rule's threshold in bytes.
    pub threshold: u64,
    /// Whether the chip has tensor memory.
    pub feature: bool,
    /// Spaces legal for every role.
    pub legal: Vec<String>,
    /// Every role of the chain.
    pub roles: Vec<String>,
}

/// How sure a verdict is (B33, B58).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum PackVerdict {
    /// No plan exists for these classes.
    ProvedInfeasible,
    /// None was found within the budget.
    GaveUp,
    /// More values are live at one cycle than the pool has slots.
    #[serde(rename = "impossible")]
    Impossible,
    /// A colouring may exist that the search did not find.
    #[serde(rename = "heuristic")]
    Heuristic,
}

/// A step that would help (B66).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Remedy {
    /// Reschedule with a larger II so that a ring needs one slot less.
    Shallower {
        /// Value.
        value: u64,
        /// Its depth now.
        depth: u64,
        /// The depth it would have.
        to: u64,
        /// Bytes of data saved in the physical plan.
        saves: u64,
        /// The least II that allows it, times kept.
        ii: u64,
        /// Whether that alone makes the plan fit.
        fits: bool,
    },
    /// Allow a sharing mode that was not tried.
    Share {
        /// The mode.
        sharing: crate::input::Sharing,
        /// Bytes of data saved.
        saves: u64,
        /// Whether that alone makes the plan fit.
        fits: bool,
    },
    /// One of the largest classes.
    Largest {
        /// Class id.
        class: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// Bytes lost to alignment between and inside rings.
    Padding {
        /// Bytes.
        padding: u64,
    },
}

/// A further failure of the same phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AlsoFailure {
    /// Rule.
    pub code: String,
    /// Kind.
    pub kind: ErrorKind,
    /// Value id, if one is concerned.
    pub value: Option<u64>,
    /// What and why.
    pub message: String,
}

/// The failing answer as one JSON object: `{"ok":false,"error":{..}}` (B9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AssignFailure {
    /// Always false.
    pub ok: bool,
    /// The record.
    pub error: AssignError,
}

impl AssignError {
    /// A record with everything but the first three fields unknown.
    pub(crate) fn new(
        kind: ErrorKind,
        code: &str,
        phase: Option<u8>,
        message: impl Into<String>,
    ) -> AssignError {
        AssignError(Box::new(AssignDiagnostic {
            code: code.to_string(),
            kind,
            phase,
            message: message.into(),
            path: None,
            in_loop: None,
            value: None,
            barrier_pool: None,
            smem_map: None,
            tmem_map: None,
            classification: None,
            outcome: None,
            need: None,
            limit: None,
            load_bound: None,
            advice: None,
            also: None,
        }))
    }

    /// Malformed input at a JSON path (B4).
    pub(crate) fn invalid(path: impl Into<String>, message: impl fmt::Display) -> AssignError {
        let path = path.into();
        let mut e = AssignError::new(ErrorKind::InvalidInput, "B4", None, format!("{path}: {message}"));
        e.path = Some(path);
        e
    }

    /// One line of JSON: `{"ok":false,"error":{..}}`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&AssignFailure { ok: false, error: self.clone() }).unwrap_or_default()
    }

    /// The first failure of several, lowest value id first, the others listed in `also` (B15).
    pub(crate) fn collect(mut all: Vec<AssignError>) -> Option<AssignError> {
        all.sort_by_key(|e| e.value.as_ref().map(|v| v.id));
        let mut rest = all.into_iter();
        let mut first = rest.next()?;
        let also: Vec<AlsoFailure> = rest
            .map(|e| AlsoFailure {
                code: e.code.clone(),
                kind: e.kind,
                value: e.value.as_ref().map(|v| v.id),
                message: e.message.clone(),
            })
            .collect();
        if !also.is_empty() {
            first.also = Some(also);
        }
        Some(first)
    }
}

impl fmt::Display for AssignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)?;
        if let Some(l) = &self.in_loop {
            write!(f, "\n  loop: region {}, II {}, {} stages", l.region, l.ii, l.stages)?;
        }
        if let Some(v) = &self.value {
            write!(f, "\n  value {} '{}'", v.id, v.name)?;
            if let (Some(s), Some(e), Some(l), Some(d)) = (v.start, v.end, v.length, v.depth) {
                write!(f, ": live ({}, {}) to ({}, {}), {l} cycles, depth {d}", s[0], s[1], e[0], e[1])?;
            }
        }
        if let (Some(need), Some(limit)) = (self.need, self.limit) {
            write!(f, "\n  needs {need} of {limit}")?;
        }
        if let Some(first) = self.advice.iter().flatten().next() {
            write!(f, "\n  remedy: {first}")?;
        }
        for a in self.also.iter().flatten() {
            write!(f, "\n  also: {} [{}]", a.message, a.code)?;
        }
        Ok(())
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes = |fits: &bool| if *fits { ", which fits" } else { "" };
        match self {
            Remedy::Shallower { value, depth, to, saves, ii, fits } => write!(
                f,
                "reschedule at II {ii}: value {value} then needs {to} slots instead of {depth} and \
                 {saves} bytes are saved{}",
                yes(fits)
            ),
            Remedy::Share { sharing, saves, fits } => {
                write!(f, "allow sharing {sharing:?}: saves {saves} bytes{}", yes(fits))
            }
            Remedy::Largest { class, bytes } => write!(f, "class {class} takes {bytes} bytes"),
            Remedy::Padding { padding } => write!(f, "{padding} bytes are lost to alignment"),
        }
    }
}
