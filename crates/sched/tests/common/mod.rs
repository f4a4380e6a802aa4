//! The loops of the reference folder, for tests that skip when it is absent.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use serde_json::Value;
use std::path::PathBuf;
use warploom_sched::{LoopGraph, decode_text, read_graph};

/// A loop and the JSON object it was read from.
pub struct Sample {
    pub graph: LoopGraph,
    pub json: Value,
}

impl Sample {
    pub fn number(&self, part: &str, field: &str) -> Option<i64> {
        self.json.get(part)?.get(field)?.as_i64()
    }
}

/// The folder `shared/data/loops` beside the workspace root.
pub fn folder() -> Option<PathBuf> {
    let start = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let found = start.ancestors().map(|a| a.join("shared/data/loops")).find(|p| p.is_dir());
    if found.is_none() {
        println!("skipped: shared/data/loops is not beside the workspace");
    }
    found
}

/// All loops of a file; empty when the folder is absent.
pub fn load(file: &str) -> Vec<Sample> {
    let Some(path) = folder().map(|f| f.join(file)) else { return Vec::new() };
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: {file} is missing");
        return Vec::new();
    };
    let text = decode_text(&bytes).expect("UTF-8");
    let lines = text.lines().filter(|l| !l.trim().is_empty());
    lines
        .map(|l| Sample {
            graph: read_graph(l).expect("a loop graph"),
            json: serde_json::from_str(l).unwrap(),
        })
        .collect()
}

/// Every valid loop of the folder.
pub fn corpus() -> Vec<Sample> {
    let files = ["conformance.jsonl", "circt.jsonl", "gpu.jsonl", "origami.jsonl", "machsuite.jsonl.gz"];
    let all = files.iter().flat_map(|f| load(f));
    all.filter(|s| s.json.pointer("/expect/error").is_none()).collect()
}
