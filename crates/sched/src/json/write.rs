//! Loop graphs, answers and refusals as JSON, one object a line.

use crate::model::error::ScheduleError;
use crate::model::read_error::ReadError;

/// The JSON record of an outcome, on one line (S27): an answer of any kind, or `{name, error:{...}}`.
pub fn record<T: serde::Serialize>(name: &str, outcome: &Result<T, ScheduleError>) -> String {
    match outcome {
        Ok(answer) => to_line(answer),
        Err(e) => {
            let first = e.record();
            to_line(&serde_json::json!({ "name": name, "error": first }))
        }
    }
}

/// The JSON record of a graph that could not be read.
pub fn read_error_record(name: &str, e: &ReadError) -> String {
    let at = format!("line {}, column {}, {}", e.line, e.column, e.path);
    to_line(&serde_json::json!({ "name": name, "error": {
        "code": e.kind.code(), "rule": "S10", "at": at, "message": e.message, "help": e.kind.help() } }))
}

/// Any interchange value as JSON on one line.
pub fn to_line<T: serde::Serialize>(value: &T) -> String {
    // Only maps with keys that are not strings and failing writers make this fail; there are none here.
    serde_json::to_string(value).unwrap_or_default()
}
