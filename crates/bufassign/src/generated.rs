//! Problems for unit tests.

use crate::Problem;
use warploom_testing::bufassign::{Choices, problem as generated};

/// A generated problem. The generators know this crate as another one knows it, so it goes through JSON.
pub(crate) fn problem(seed: u64) -> Problem {
    let text = serde_json::to_string(&generated(&mut Choices::seeded(seed))).unwrap_or_default();
    Problem::from_json(&text).unwrap_or_else(|e| panic!("{e}"))
}
