//! Refusals: what was wrong, where, by which rule, and what to do about it (S10, S12, S42, S57).

use serde::Serialize;

/// A JSON text that is no loop graph or answer (S10).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}, at `{path}`: {message}")]
pub struct ReadError {
    /// Line, from 1; 0 when the text could not be decoded at all.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The field, as `nodes[3].latency`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl ReadError {
    /// The remedy for every reading error.
    pub const HELP: &'static str = "write the loop graph as the format asks: whole numbers, known types";

    pub(crate) fn on_line(mut self, offset: usize) -> Self {
        self.line += offset;
        self
    }
}

/// One reason why a loop graph is refused (S12).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {kind}")]
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
    /// A resource without units.
    #[error("resource `{0}` has no unit")]
    ZeroCount(String),
    /// An operation's latency is negative.
    #[error("latency {0} is negative")]
    NegativeLatency(i64),
    /// An edge's or value use's distance is negative.
    #[error("distance {0} is negative")]
    NegativeDistance(i64),
    /// A circuit within one iteration that no order satisfies.
    #[error("the nodes {} wait for each other within one iteration (latencies sum to {latency})", circuit_text(.nodes))]
    ZeroDistanceCircuit {
        /// The operations of the circuit, in order.
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
    /// An agent that is not declared.
    #[error("agent {0} is not declared")]
    UnknownAgent(usize),
}

fn circuit_text(nodes: &[usize]) -> String {
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
            Self::ZeroCount(_) => "ZeroCount",
            Self::NegativeLatency(_) => "NegativeLatency",
            Self::NegativeDistance(_) => "NegativeDistance",
            Self::ZeroDistanceCircuit { .. } => "ZeroDistanceCircuit",
            Self::SelfConflict { .. } => "SelfConflict",
            Self::TooLarge { .. } => "TooLarge",
            Self::ValueWithoutUse(_) => "ValueWithoutUse",
            Self::ValueBytes(_) => "ValueBytes",
            Self::ValueDepth { .. } => "ValueDepth",
            Self::PeerSpace { .. } => "PeerSpace",
            Self::DuplicateValue(_) => "DuplicateValue",
            Self::UnknownSpace(_) => "UnknownSpace",
            Self::UnknownAgent(_) => "UnknownAgent",
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
            Self::PeerSpace { .. } => "S58",
            Self::UnknownAgent(_) => "S61",
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
            Self::ZeroCount(_) => "give it at least one unit, or remove it",
            Self::NegativeLatency(_) => {
                "a node's latency is the time to its result; only edges may be negative"
            }
            Self::NegativeDistance(_) => "count iterations from the writer to the later reader",
            Self::ZeroDistanceCircuit { .. } => {
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
            Self::UnknownAgent(_) => "declare it in `agents`",
        }
    }
}

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The graph is refused; all reasons, at most 100 (S12).
    #[error("the loop graph is refused: {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Graph(Vec<GraphError>),
    /// It is proved that there is no schedule (S42).
    #[error("no schedule exists {}", .up_to.map_or("at any II".to_owned(), |ii| format!("up to II {ii}")))]
    Infeasible {
        /// The largest II refuted; `None`: every II is.
        up_to: Option<i64>,
    },
    /// Nothing was found within the limits, and nothing proved (S42).
    #[error("no schedule found within the limits; II is at least {lower_bound}")]
    GaveUp {
        /// Every smaller II is refuted.
        lower_bound: i64,
    },
    /// Even the least depths do not fit (S57).
    #[error(
        "space `{space}` needs {need} bytes at the least depths and has {have}; the largest value is {largest}"
    )]
    BudgetInfeasible {
        /// The memory space.
        space: String,
        /// Bytes needed at the least depths.
        need: u64,
        /// Bytes there are.
        have: u64,
        /// Id of the value with the most bytes.
        largest: usize,
    },
    /// An agent model that cannot carry the loop (S61-S63).
    #[error("no assignment to agents: {0}")]
    Agents(String),
    /// An answer handed in does not belong to the graph.
    #[error("the answer does not fit the graph: {0}")]
    Answer(String),
    /// An option is out of its range.
    #[error("option `{option}`: {message}")]
    BadOption {
        /// The option.
        option: &'static str,
        /// What is wrong.
        message: String,
    },
    /// A schedule failed its own check: a defect of this crate, reported instead of a wrong answer (S28).
    #[error("internal check failed: {0}")]
    Check(String),
}

/// The machine-readable form of a refusal (S27).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorRecord {
    /// Stable name of the reason.
    pub code: String,
    /// The rule.
    pub rule: String,
    /// The place.
    pub at: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// All reasons, when there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<ErrorRecord>,
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

impl ScheduleError {
    /// The machine-readable form; for a refused graph that of its first reason, the others in `all`.
    pub fn record(&self) -> ErrorRecord {
        if let Self::Graph(errors) = self
            && let Some(first) = errors.first()
        {
            let all =
                if errors.len() > 1 { errors.iter().map(GraphError::record).collect() } else { Vec::new() };
            return ErrorRecord { all, ..first.record() };
        }
        let (code, rule, at, help) = match self {
            Self::Graph(_) => ("Graph", "S12", ".", "correct the loop graph"),
            Self::Infeasible { .. } => ("Infeasible", "S42", "edges", "widen the windows, or raise max_ii"),
            Self::GaveUp { .. } => ("GaveUp", "S42", ".", "raise steps, time_limit or max_ii"),
            Self::BudgetInfeasible { .. } => {
                ("BudgetInfeasible", "S57", "budgets", "use smaller tiles, or lower min_depth")
            }
            Self::Agents(_) => ("Agents", "S61", "agents", "add an agent of the kind that is missing"),
            Self::Answer(_) => ("Answer", "S72", ".", "pass the answer that was made for this graph"),
            Self::BadOption { option, .. } => ("BadOption", "S46", *option, "give a value in range"),
            Self::Check(_) => ("Check", "S71", ".", "report this loop: it is a defect of the scheduler"),
        };
        ErrorRecord {
            code: code.to_owned(),
            rule: rule.to_owned(),
            at: at.to_owned(),
            message: self.to_string(),
            help: help.to_owned(),
            all: Vec::new(),
        }
    }
}
