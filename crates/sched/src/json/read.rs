//! Loop graphs and answers from JSON: one object, or one per line (S10).

use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use crate::model::partition::PartitionModel;
use crate::model::read_error::{ReadError, ReadErrorKind};
use crate::model::start::StartSchedule;
use serde::de::DeserializeOwned;

/// Reads one loop graph from JSON text. Unknown fields are ignored.
///
/// # Errors
/// [`ReadError`] with line, column and path where the text is no JSON or a field has the wrong type.
pub fn read_graph(text: &str) -> Result<LoopGraph, ReadError> {
    read(text)
}

/// Reads one answer (a schedule) from JSON text.
///
/// # Errors
/// [`ReadError`] with line, column and path where the text is no JSON or a field has the wrong type.
pub fn read_answer(text: &str) -> Result<Answer, ReadError> {
    read(text)
}

/// Reads what a chip allows partitions from JSON text; what is left out has its default (S97).
///
/// # Errors
/// [`ReadError`] with line, column and path where the text is no JSON or a field has the wrong type.
pub fn read_partition_model(text: &str) -> Result<PartitionModel, ReadError> {
    read(text)
}

/// Reads a schedule to begin with from JSON text: a whole answer, or an II and start times (S105).
///
/// # Errors
/// [`ReadError`] with line, column and path where the text is no JSON or a field has the wrong type.
pub fn read_start(text: &str) -> Result<StartSchedule, ReadError> {
    read(text)
}

/// Reads any interchange value, with the path of the offending field in the error.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
        let path = e.path().to_string();
        read_error(e.inner(), path)
    })?;
    reader.end().map_err(|e| read_error(&e, ".".to_owned()))?;
    Ok(value)
}

fn read_error(e: &serde_json::Error, path: String) -> ReadError {
    let full = e.to_string();
    // serde_json repeats the place at the end of its message; it is a field of its own here.
    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(m, _)| m).to_owned();
    ReadError { kind: ReadErrorKind::Format, line: e.line(), column: e.column(), path, message }
}

/// Reads a file's worth of loop graphs: one JSON object (over any number of lines), or one per line (JSONL).
///
/// Blank lines are skipped; a bad line becomes an error record and the others are still read (S10).
pub fn read_graphs(text: &str) -> Vec<Result<LoopGraph, ReadError>> {
    let filled = text.lines().filter(|l| !l.trim().is_empty()).count();
    if filled <= 1 {
        let (skipped, line) = first_filled(text);
        return vec![read_graph(line).map_err(|e| e.on_line(skipped))];
    }
    // A file is JSONL when its first line is a whole JSON value; otherwise it is one object over many lines.
    let (_, first) = first_filled(text);
    if serde_json::from_str::<serde::de::IgnoredAny>(first).is_err() {
        let whole = read_graph(text);
        if whole.is_ok() || !first.trim_end().ends_with('}') {
            return vec![whole];
        }
    }
    text.lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty())
        .map(|(i, l)| read_graph(l).map_err(|e| e.on_line(i)))
        .collect()
}

fn first_filled(text: &str) -> (usize, &str) {
    text.lines().enumerate().find(|(_, l)| !l.trim().is_empty()).unwrap_or((0, ""))
}
