//! The loops of `tests/fixtures`, and generated ones.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use serde_json::Value;
use std::path::Path;
use warploom_sched::{LoopGraph, decode_text, read_graph, to_line};
use warploom_testing::sched::{Source, kernel_loop, planted_loop};

/// A loop and the JSON object it was read from.
pub struct Sample {
    pub graph: LoopGraph,
    pub json: Value,
}

impl Sample {
    pub fn number(&self, part: &str, field: &str) -> Option<i64> {
        self.json.get(part)?.get(field)?.as_i64()
    }

    fn generated(graph: LoopGraph) -> Self {
        Sample { json: serde_json::from_str(&to_line(&graph)).expect("JSON"), graph }
    }
}

/// All loops of a file of `tests/fixtures`.
pub fn load(file: &str) -> Vec<Sample> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(file);
    let bytes = std::fs::read(&path).expect("a fixture of the package");
    let text = decode_text(&bytes).expect("UTF-8");
    let lines = text.lines().filter(|l| !l.trim().is_empty());
    lines
        .map(|l| Sample {
            graph: read_graph(l).expect("a loop graph"),
            json: serde_json::from_str(l).expect("JSON"),
        })
        .collect()
}

/// Every valid loop of the folder.
pub fn corpus() -> Vec<Sample> {
    let files = ["conformance.jsonl", "gpu.jsonl", "operators.jsonl"];
    let all: Vec<Sample> = files.iter().flat_map(|f| load(f)).collect();
    assert!(all.len() > 50);
    all.into_iter().filter(|s| s.json.pointer("/expect/error").is_none()).collect()
}

/// The same, and generated loops of up to 120 operations.
pub fn wide_corpus() -> Vec<Sample> {
    let planted = (0..120).map(|seed| planted_loop(&mut Source::seed(seed)).graph);
    let kernels = (0..30).map(|seed| kernel_loop(&mut Source::seed(seed)));
    let generated = planted.chain(kernels).map(Sample::generated);
    corpus().into_iter().chain(generated).filter(|s| s.graph.nodes.len() <= 120).collect()
}

/// Two copies and a product, the loop of the crate's front page.
pub fn gemm() -> LoopGraph {
    let mut g = LoopGraph::new("gemm");
    g.add_resource("TMA", 1).add_resource("TC", 1);
    let a = g.add_node("a", 556, &[("TMA", 0, 96)]);
    let b = g.add_node("b", 556, &[("TMA", 0, 96)]);
    let m = g.add_node("m", 559, &[("TC", 0, 256)]);
    g.add_edge(a, m, 556, 0).add_edge(b, m, 556, 0).add_edge(m, m, 256, 1);
    g.add_value(a, 16_384, "smem", &[(m, 0, 559)]);
    g.add_value(b, 16_384, "smem", &[(m, 0, 559)]);
    g
}
