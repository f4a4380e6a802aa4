//! Reading and writing loop graphs and answers as JSON: one object, or one per line, plain or gzipped (S10).

use crate::answer::Answer;
use crate::error::{ReadError, ScheduleError};
use crate::graph::{Agent, Edge, LoopGraph, Node, Resource, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::Read;

/// A loop graph as written: an edge may leave its latency out (S5).
#[derive(Deserialize)]
pub(crate) struct RawGraph {
    #[serde(default)]
    name: String,
    #[serde(default)]
    resources: Vec<Resource>,
    nodes: Vec<Node>,
    #[serde(default)]
    edges: Vec<RawEdge>,
    #[serde(default)]
    values: Vec<Value>,
    #[serde(default)]
    budgets: BTreeMap<String, u64>,
    #[serde(default)]
    reserved: BTreeMap<String, u64>,
    #[serde(default)]
    trip_count: Option<u64>,
    #[serde(default)]
    agents: Vec<Agent>,
}

#[derive(Deserialize)]
struct RawEdge {
    src: usize,
    dst: usize,
    latency: Option<i64>,
    #[serde(default)]
    distance: i64,
}

impl From<RawGraph> for LoopGraph {
    fn from(raw: RawGraph) -> Self {
        let latency_of = |src: usize| raw.nodes.get(src).map_or(0, |n| n.latency);
        let edges = raw
            .edges
            .iter()
            .map(|e| Edge {
                src: e.src,
                dst: e.dst,
                latency: e.latency.unwrap_or_else(|| latency_of(e.src)),
                distance: e.distance,
            })
            .collect();
        LoopGraph {
            name: raw.name,
            resources: raw.resources,
            edges,
            nodes: raw.nodes,
            values: raw.values,
            budgets: raw.budgets,
            reserved: raw.reserved,
            trip_count: raw.trip_count,
            agents: raw.agents,
        }
    }
}

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
    ReadError { line: e.line(), column: e.column(), path, message }
}

/// Unpacks gzip when `bytes` start with its magic number, and checks that the text is UTF-8.
///
/// # Errors
/// [`ReadError`] at line 0 for a damaged archive, or at the line of the first byte that is not UTF-8.
pub fn decode_text(bytes: &[u8]) -> Result<String, ReadError> {
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut unpacked).map_err(|e| ReadError {
            line: 0,
            column: 0,
            path: ".".to_owned(),
            message: format!("damaged gzip archive: {e}"),
        })?;
        unpacked.as_slice()
    } else {
        bytes
    };
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|e| {
        let good = bytes.get(..e.valid_up_to()).unwrap_or_default();
        let line = 1 + good.iter().filter(|&&b| b == b'\n').count();
        let column = 1 + good.iter().rev().take_while(|&&b| b != b'\n').count();
        ReadError { line, column, path: ".".to_owned(), message: "not UTF-8 text".to_owned() }
    })
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

/// The JSON record of an outcome, on one line (S27): the answer, or `{name, error:{...}}`.
pub fn record(name: &str, outcome: &Result<Answer, ScheduleError>) -> String {
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
        "code": "Read", "rule": "S10", "at": at, "message": e.message, "help": ReadError::HELP } }))
}

/// Any interchange value as JSON on one line.
pub fn to_line<T: serde::Serialize>(value: &T) -> String {
    // Only maps with keys that are not strings and failing writers make this fail; there are none here.
    serde_json::to_string(value).unwrap_or_default()
}
