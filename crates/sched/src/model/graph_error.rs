//! Loop graphs that are refused: what was wrong, where, by which rule, and what to do about it (S12).

use crate::model::record::ErrorRecord;
use std::fmt;
use std::ops::Deref;

/// All reasons why a loop graph is refused, in array order; at most 100 (S12).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphErrors(Vec<GraphError>);

impl GraphErrors {
    /// These reasons; `None` when there are none.
    pub(crate) fn of(errors: Vec<GraphError>) -> Option<Self> {
        (!errors.is_empty()).then_some(GraphErrors(errors))
    }
}

impl Deref for GraphErrors {
    type Target = [GraphError];

    fn deref(&self) -> &[GraphError] {
        &self.0
    }
}

impl IntoIterator for GraphErrors {
    type Item = GraphError;
    type IntoIter = std::vec::IntoIter<GraphError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for GraphErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.iter().take(1).try_for_each(|e| write!(f, "{e}"));
        match self.0.len() {
            0 | 1 => first,
            n => first.and_then(|()| write!(f, " (and {} more)", n - 1)),
        }
    }
}

impl std::error::Error for GraphErrors {}

/// One reason why a loop graph is refused (S12).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {kind}")]
#[non_exhaustive]
pub struct GraphError {
    /// The place, as `nodes[3].uses[0]`.
    pub at: String,
    /// The reason.
    pub kind: GraphErrorKind,
}

/// The reasons of S12 for refusing a loop graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphErrorKind {
    /// The graph has no operation.
    #[error("the loop has no operation")]
    EmptyGraph,
    /// Ids must be `0..n-1` in array order.
    #[error("node id {found} where {expected} was expected")]
    NodeId {
        /// The id that stands there.
        found: usize,
        /// The id that should.
        expected: usize,
    },
    /// An edge or a value names an operation that does not exist.
    #[error("there is no node {node}; the loop has {nodes}")]
    UnknownNode {
        /// The missing operation.
        node: usize,
        /// The number of operations.
        nodes: usize,
    },
    /// Two resources have one name.
    #[error("resource `{0}` is declared twice")]
    DuplicateResource(String),
    /// A use names a resource that is not declared.
    #[error("resource `{0}` is not declared")]
    UnknownResource(String),
    /// A use that may take no resource at all.
    #[error("it names no resource")]
    NoAlternative,
    /// A use names one of its alternatives twice.
    #[error("`{0}` stands among its alternatives twice")]
    RepeatedAlternative(String),
    /// Alternatives have different numbers of units.
    #[error("`{first}` has {count} units and `{second}` {other}; alternatives have equal numbers")]
    UnequalAlternatives {
        /// The first alternative.
        first: String,
        /// Its units.
        count: u64,
        /// Another.
        second: String,
        /// Its units.
        other: u64,
    },
    /// One of several alternatives is interleaved.
    #[error("`{0}` is interleaved, and one of several alternatives")]
    InterleavedAlternative(String),
    /// A loop and one inside it do not agree on whether a resource is interleaved.
    #[error("`{0}` is interleaved in one of two loops around each other")]
    InterleavedElsewhere(String),
    /// A resource without units.
    #[error("resource `{0}` has no unit")]
    ZeroCount(String),
    /// An operation's latency is negative.
    #[error("latency {0} is negative")]
    NegativeLatency(i64),
    /// An edge's or value use's distance is negative.
    #[error("distance {0} is negative")]
    NegativeDistance(i64),
    /// A recurrence within one iteration that no order satisfies.
    #[error("the nodes {} wait for each other within one iteration (latencies sum to {latency})", recurrence_text(.nodes))]
    ZeroDistanceRecurrence {
        /// The operations of the recurrence, in order.
        nodes: Vec<usize>,
        /// The sum of its latencies.
        latency: i64,
    },
    /// An operation's own uses exceed the units there are.
    #[error("its own uses need {need} units of `{resource}` at once, there are {have}")]
    SelfConflict {
        /// The resource.
        resource: String,
        /// Units needed at once.
        need: u64,
        /// Units there are.
        have: u64,
    },
    /// A limit of S2 is exceeded.
    #[error("{what} is {value}, above the limit of {limit}")]
    TooLarge {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: i128,
        /// The limit.
        limit: i128,
    },
    /// Nothing reads the value.
    #[error("value {0} has no use")]
    ValueWithoutUse(usize),
    /// The value has no size.
    #[error("value {0} has 0 bytes")]
    ValueBytes(usize),
    /// `max_depth` is 0 or below `min_depth`.
    #[error("max_depth {max} is below {min}")]
    ValueDepth {
        /// The least depth, at least 1.
        min: u64,
        /// The largest depth.
        max: u64,
    },
    /// One group of values in two spaces.
    #[error("group {group} lies in `{first}` and in `{second}`")]
    PeerSpace {
        /// The group.
        group: usize,
        /// The space of its first value.
        first: String,
        /// The other space.
        second: String,
    },
    /// Two values have one id.
    #[error("value id {0} is used twice")]
    DuplicateValue(usize),
    /// A value's space has no budget, in a call that needs one.
    #[error("there is no budget for space `{0}`")]
    UnknownSpace(String),
    /// A partition that is not declared.
    #[error("partition {0} is not declared")]
    UnknownPartition(usize),
    /// An operation is a loop that is not given.
    #[error("there is no loop `{0}` beside this one")]
    UnknownLoop(String),
    /// Several loops have the name that an operation means.
    #[error("there are several loops `{0}` beside this one")]
    DuplicateLoop(String),
    /// A loop contains itself.
    #[error("loop `{0}` contains itself")]
    LoopInItself(String),
    /// A loop without iterations inside another one.
    #[error("it has no iteration")]
    NoTrip,
    /// The number of iterations of an inner loop is not known, and something does not bear more of them.
    #[error("the number of iterations inside is not known, but {0}")]
    NotStretchable(&'static str),
}

fn recurrence_text(nodes: &[usize]) -> String {
    let mut text: String = nodes.iter().take(20).map(|n| format!("{n} -> ")).collect();
    if nodes.len() > 20 {
        text.push_str("... -> ");
    }
    text + &nodes.first().map(usize::to_string).unwrap_or_default()
}

impl GraphErrorKind {
    /// The variant's name, stable, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyGraph => "EmptyGraph",
            Self::NodeId { .. } => "NodeId",
            Self::UnknownNode { .. } => "UnknownNode",
            Self::DuplicateResource(_) => "DuplicateResource",
            Self::UnknownResource(_) => "UnknownResource",
            Self::NoAlternative => "NoAlternative",
            Self::RepeatedAlternative(_) => "RepeatedAlternative",
            Self::UnequalAlternatives { .. } => "UnequalAlternatives",
            Self::InterleavedAlternative(_) => "InterleavedAlternative",
            Self::InterleavedElsewhere(_) => "InterleavedElsewhere",
            Self::ZeroCount(_) => "ZeroCount",
            Self::NegativeLatency(_) => "NegativeLatency",
            Self::NegativeDistance(_) => "NegativeDistance",
            Self::ZeroDistanceRecurrence { .. } => "ZeroDistanceRecurrence",
            Self::SelfConflict { .. } => "SelfConflict",
            Self::TooLarge { .. } => "TooLarge",
            Self::ValueWithoutUse(_) => "ValueWithoutUse",
            Self::ValueBytes(_) => "ValueBytes",
            Self::ValueDepth { .. } => "ValueDepth",
            Self::PeerSpace { .. } => "PeerSpace",
            Self::DuplicateValue(_) => "DuplicateValue",
            Self::UnknownSpace(_) => "UnknownSpace",
            Self::UnknownPartition(_) => "UnknownPartition",
            Self::UnknownLoop(_) => "UnknownLoop",
            Self::DuplicateLoop(_) => "DuplicateLoop",
            Self::LoopInItself(_) => "LoopInItself",
            Self::NoTrip => "NoTrip",
            Self::NotStretchable(_) => "NotStretchable",
        }
    }

    /// The rule that is broken.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "S2",
            Self::NodeId { .. } | Self::NegativeLatency(_) => "S3",
            Self::SelfConflict { .. } => "S4",
            Self::NegativeDistance(_) => "S5",
            Self::DuplicateValue(_) => "S8",
            Self::NoAlternative
            | Self::RepeatedAlternative(_)
            | Self::UnequalAlternatives { .. }
            | Self::InterleavedAlternative(_) => "S103",
            Self::PeerSpace { .. } => "S58",
            Self::UnknownPartition(_) => "S61",
            Self::UnknownLoop(_)
            | Self::DuplicateLoop(_)
            | Self::LoopInItself(_)
            | Self::NoTrip
            | Self::InterleavedElsewhere(_)
            | Self::NotStretchable(_) => "S104",
            _ => "S12",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::EmptyGraph => "give the loop at least one operation",
            Self::NodeId { .. } => "number the nodes 0, 1, 2, ... in array order",
            Self::UnknownNode { .. } => "name a node of the list, or add the node",
            Self::DuplicateResource(_) => "keep one declaration and set its count",
            Self::UnknownResource(_) => "declare it in `resources`, or correct the name",
            Self::NoAlternative => "name the resource, or several of which one is taken",
            Self::RepeatedAlternative(_) => "name each alternative once",
            Self::UnequalAlternatives { .. } => {
                "declare each unit as a resource of its own, and name all of them"
            }
            Self::InterleavedAlternative(_) => {
                "declare one interleaved resource with the units of all of them"
            }
            Self::InterleavedElsewhere(_) => "declare it alike in all loops of the nest",
            Self::ZeroCount(_) => "give it at least one unit, or remove it",
            Self::NegativeLatency(_) => {
                "a node's latency is the time to its result; only edges may be negative"
            }
            Self::NegativeDistance(_) => "count iterations from the writer to the later reader",
            Self::ZeroDistanceRecurrence { .. } => {
                "give the edge that crosses iterations a distance of at least 1"
            }
            Self::SelfConflict { .. } => "raise the resource's count, or move the uses apart",
            Self::TooLarge { .. } => "scale the times down, or split the loop",
            Self::ValueWithoutUse(_) => "remove the value, or name its readers",
            Self::ValueBytes(_) => "give the slot's size in bytes",
            Self::ValueDepth { .. } => "raise max_depth, or lower min_depth",
            Self::PeerSpace { .. } => "put peers into one space, or into two groups",
            Self::DuplicateValue(_) => "number the values differently",
            Self::UnknownSpace(_) => "give a budget for this space",
            Self::UnknownPartition(_) => "declare it in `partitions`",
            Self::UnknownLoop(_) => "give it in the same file, and the whole nest to `schedule_nest`",
            Self::DuplicateLoop(_) => "give each loop a name of its own",
            Self::LoopInItself(_) => "name a loop that does not lead back here",
            Self::NoTrip => "give at least one iteration, or leave the operation out",
            Self::NotStretchable(_) => "give the number of iterations, or take that away",
        }
    }
}

impl GraphError {
    /// The machine-readable form.
    pub fn record(&self) -> ErrorRecord {
        ErrorRecord {
            code: self.kind.code().to_owned(),
            rule: self.kind.rule().to_owned(),
            at: self.at.clone(),
            message: self.kind.to_string(),
            help: self.kind.help().to_owned(),
            all: Vec::new(),
        }
    }
}
