//! The JSON Schema of input and output, generated from the structs (B9).

use crate::{AssignFailure, Assignment, Problem};
use schemars::schema_for;

/// One JSON object with the schemas of the problem, the answer and the failure.
pub fn json_schema() -> String {
    let all = serde_json::json!({
        "problem": schema_for!(Problem),
        "assignment": schema_for!(Assignment),
        "failure": schema_for!(AssignFailure),
    });
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    /// `docs/buffers.schema.json` is what the structs say. After a change of the structs write the
    /// new text there: the failing test prints where it stands.
    #[test]
    fn the_file_in_docs_is_up_to_date() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/buffers.schema.json");
        let there = std::fs::read_to_string(file).unwrap_or_default();
        let fresh = std::env::temp_dir().join("buffers.schema.json");
        if there != super::json_schema() {
            std::fs::write(&fresh, super::json_schema()).unwrap();
        }
        assert!(there == super::json_schema(), "out of date; the new text is in {}", fresh.display());
    }
}
