//! The loops: files of known optima, and kernels that a generator makes.

use crate::shapes::{operators, stations, synthetic};
use crate::tiles::in_tiles;
use serde_json::Value;
use std::path::{Path, PathBuf};
use warploom_sched::{LoopGraph, decode_text, read_graph, validate};
use warploom_testing::sched::{
    LoopShape, Source, gpu_loop, kernel_loop, loop_graph, planted_loop, tile_loop,
};

/// A loop and what is known about it.
pub struct Loop {
    pub graph: LoopGraph,
    /// The smallest II known.
    pub best_ii: Option<i64>,
    /// The shortest length known at that II.
    pub best_length: Option<i64>,
    /// That length is proved to be the least.
    pub length_proven: bool,
    /// The fewest bytes known at that length.
    pub best_bytes: Option<u64>,
}

/// A named set of loops.
pub struct Set {
    pub name: String,
    pub loops: Vec<Loop>,
}

/// Our own loops, those that the pipeline makes of kernels, those of the data folder, if one is named, then
/// `generated` loops of each generator, from this seed on.
pub fn all(data: Option<&Path>, first: u64, generated: u64) -> Vec<Set> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut sets = folder(&own, None);
    sets.iter_mut().for_each(|s| s.name.insert_str(0, "own "));
    sets.extend(folder(&own.join("../../../pipeline/tests/fixtures/loops"), Some("kernels")));
    match data {
        Some(data) => sets.extend(folder(data, None)),
        None => eprintln!("no --data DIR: loops of others are left out"),
    }
    sets.extend(generated_sets(&COMMON, first, generated));
    sets.retain(|s| !s.loops.is_empty());
    sets
}

/// A generator of loops, and what its loops are called.
type Generator = (&'static str, fn(&mut Source<'_>) -> LoopGraph);

/// Those whose loops are in the table.
const COMMON: [Generator; 3] =
    [("generated kernels", kernel_loop), ("generated soups", gpu_loop), ("generated tiles", tile_loop)];

/// Those whose loops are in no table, and chose no setting.
const OTHERS: [Generator; 5] = [
    ("generated wide", |source| loop_graph(source, LoopShape::WIDE)),
    ("generated planted", |source| planted_loop(source).graph),
    ("generated synthetic", |source| synthetic(20 + source.below(81) as usize, source.below(1 << 32))),
    ("generated operators", operators),
    ("generated stations", stations),
];

/// Known kernels in tiles, and loops of every generator that there is, from this seed on.
pub fn every(first: u64, generated: u64) -> Vec<Set> {
    let all: Vec<Generator> = COMMON.into_iter().chain(OTHERS).collect();
    let known = Set { name: "in tiles".to_owned(), loops: in_tiles().into_iter().map(unknown).collect() };
    [known].into_iter().chain(generated_sets(&all, first, generated)).collect()
}

fn generated_sets(generators: &[Generator], first: u64, generated: u64) -> Vec<Set> {
    let made = |&(name, make): &Generator| Set {
        name: name.to_owned(),
        loops: (first..first.saturating_add(generated))
            .filter_map(|seed| generate(name, seed, make))
            .collect(),
    };
    generators.iter().map(made).filter(|s| !s.loops.is_empty()).collect()
}

fn generate(name: &str, seed: u64, make: fn(&mut Source<'_>) -> LoopGraph) -> Option<Loop> {
    let mut graph = make(&mut Source::seed(seed));
    graph.name = format!("{name} {seed}");
    validate(&graph).ok()?;
    Some(unknown(graph))
}

/// A loop of which nothing is known.
fn unknown(graph: LoopGraph) -> Loop {
    Loop { graph, best_ii: None, best_length: None, length_proven: false, best_bytes: None }
}

/// The loops of a file.
pub fn file(path: &Path) -> Option<Set> {
    let text = std::fs::read(path).ok().and_then(|b| decode_text(&b).ok())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Some(Set { name, loops: text.lines().filter_map(read_loop).collect() })
}

/// A set per file of the folder, or one set of this name.
fn folder(folder: &Path, name: Option<&str>) -> Vec<Set> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return Vec::new();
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    let mut sets: Vec<Set> = Vec::new();
    for path in paths {
        let listed = path.to_string_lossy();
        if !(listed.ends_with(".jsonl") || listed.ends_with(".jsonl.gz")) {
            continue;
        }
        let Some(mut set) = file(&path) else { continue };
        match sets.last_mut().filter(|_| name.is_some()) {
            Some(all) => all.loops.append(&mut set.loops),
            None => {
                set.name = name.map_or(set.name, str::to_owned);
                sets.push(set);
            }
        }
    }
    sets
}

fn read_loop(line: &str) -> Option<Loop> {
    let graph = read_graph(line).ok()?;
    validate(&graph).ok()?;
    let json: Value = serde_json::from_str(line).ok()?;
    let number = |path: &str| json.pointer(path).and_then(Value::as_i64);
    let proven = json.pointer("/reference/min_length_proven").and_then(Value::as_bool) == Some(true);
    let least = number("/reference/min_length_at_best_ii").filter(|_| proven).or(number("/expect/length"));
    Some(Loop {
        graph,
        best_ii: number("/reference/best_ii").or(number("/expect/ii")),
        length_proven: least.is_some(),
        best_length: least.or(number("/reference/best_length_at_best_ii")),
        best_bytes: number("/reference/min_bytes_at_min_length")
            .or(number("/expect/bytes"))
            .map(|b| b as u64),
    })
}
