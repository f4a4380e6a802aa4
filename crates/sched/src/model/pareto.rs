//! What the II costs in bytes (S100).

use crate::model::answer::Answer;
use serde::{Deserialize, Serialize};

/// The II against the bytes of one memory space (S100).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParetoCurve {
    /// The space.
    pub space: String,
    /// From the least II to the fewest bytes: each point has fewer bytes and a greater II than the one before.
    pub points: Vec<ParetoPoint>,
    /// Between neighbours no schedule was left out for want of time or room in the list. Whether the II of a point is the least
    /// for its bytes, its answer says.
    pub complete: bool,
}

/// A point of the curve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParetoPoint {
    /// Bytes taken in the space, what is reserved included.
    pub bytes: u64,
    /// The schedule. Its [`lower_bound`](Answer::lower_bound) holds for these bytes and all fewer.
    pub answer: Answer,
}
