//! A loop inside another one (S104).

use serde::{Deserialize, Serialize};

/// An operation that is a whole loop (S104).
///
/// It starts when its first iteration does. The operation's latency, those of its edges, the durations of its own uses and the
/// ends of its reads count from the end of the last iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InnerLoop {
    /// The name of the loop, which is given beside the outer one.
    #[serde(rename = "loop")]
    pub name: String,
    /// Its number of iterations, at least 1.
    pub trips: u64,
    /// `trips` is only the least number: the schedule is stretched for more of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_more: bool,
}
