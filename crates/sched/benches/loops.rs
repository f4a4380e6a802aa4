//! `cargo bench -p warploom-sched --bench loops -- [--json] [--misses] [--curve] [--only ALGORITHM] [--time-limit S]`
//!
//! Schedules the loops of `shared/data/loops` (and of `crates/pipeline/tests/fixtures/loops`, where present) with
//! every algorithm and compares with the proven optima: a table, or JSON. `--misses` lists the loops that fall
//! short, `--curve` times synthetic large loops instead. Absent files are skipped.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use warploom_sched::{
    Algorithm, Answer, LoopGraph, Options, check, decode_text, read_graph, schedule, validate,
};

struct Loop {
    graph: LoopGraph,
    best_ii: Option<i64>,
    best_length: Option<i64>,
    length_proven: bool,
    best_bytes: Option<u64>,
}

struct Outcome {
    answer: Option<Answer>,
    micros: f64,
    violations: usize,
}

#[derive(Default)]
struct Args {
    json: bool,
    misses: bool,
    curve: bool,
    only: Option<Algorithm>,
    time_limit: Option<Duration>,
}

fn main() {
    let Some(args) = arguments() else {
        eprintln!(
            "usage: loops [--json] [--misses] [--curve] [--only auto|ims|sms|exact] [--time-limit SECONDS]"
        );
        std::process::exit(2);
    };
    if args.curve {
        return curve(&args);
    }
    let mut rows = Vec::new();
    for (file, loops) in files() {
        for algorithm in [Algorithm::Ims, Algorithm::Sms, Algorithm::Auto, Algorithm::Exact] {
            if args.only.is_none_or(|only| only == algorithm) {
                let outcomes: Vec<Outcome> = loops.iter().map(|l| run(&l.graph, algorithm, &args)).collect();
                if args.misses {
                    misses(&loops, &outcomes, algorithm);
                }
                rows.push(row(&file, algorithm, &loops, &outcomes));
            }
        }
    }
    if rows.is_empty() {
        println!("skipped: shared/data/loops is not beside the workspace");
    } else if args.json {
        println!("{}", serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        table(&rows);
    }
}

fn arguments() -> Option<Args> {
    let mut args = Args::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => args.json = true,
            "--misses" => args.misses = true,
            "--curve" => args.curve = true,
            "--only" => args.only = Some(words.next()?.parse().ok()?),
            "--time-limit" => args.time_limit = Some(Duration::from_secs_f64(words.next()?.parse().ok()?)),
            // cargo bench passes this on
            "--bench" => {}
            _ => return None,
        }
    }
    Some(args)
}

fn files() -> Vec<(String, Vec<Loop>)> {
    let start = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folders = ["shared/data/loops", "crates/pipeline/tests/fixtures/loops"];
    let mut found = Vec::new();
    for folder in folders.iter().filter_map(|f| start.ancestors().map(|a| a.join(f)).find(|p| p.is_dir())) {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !(name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")) {
                continue;
            }
            let Ok(text) = std::fs::read(&path).map_err(|_| ()).and_then(|b| decode_text(&b).map_err(|_| ()))
            else {
                continue;
            };
            let loops: Vec<Loop> = text.lines().filter_map(read_loop).collect();
            if !loops.is_empty() {
                found.push((name, loops));
            }
        }
    }
    found
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

fn run(graph: &LoopGraph, algorithm: Algorithm, args: &Args) -> Outcome {
    let exact = (algorithm == Algorithm::Exact).then_some(Duration::from_secs(10));
    let options = Options::default().algorithm(algorithm).time_limit(args.time_limit.or(exact));
    let start = Instant::now();
    let answer = validate(graph).ok().and_then(|valid| schedule(&valid, &options).ok());
    let micros = start.elapsed().as_secs_f64() * 1e6;
    let violations = answer.as_ref().map_or(1, |a| check::all(graph, a).err().map_or(0, |v| v.len()));
    Outcome { answer, micros, violations }
}

fn misses(loops: &[Loop], outcomes: &[Outcome], algorithm: Algorithm) {
    for (l, o) in loops.iter().zip(outcomes) {
        let Some(a) = &o.answer else {
            println!("{algorithm} {}: no answer", l.graph.name);
            continue;
        };
        let ii_off = l.best_ii.is_some_and(|b| a.ii != b) || !a.optimal;
        let length_off = l.best_ii == Some(a.ii) && l.best_length.is_some_and(|b| a.length > b);
        let fewer = l.best_length.is_some_and(|b| a.length < b) && l.best_ii == Some(a.ii);
        if ii_off || length_off || fewer || !a.length_optimal || o.micros > 3e3 || o.violations > 0 {
            println!(
                "{algorithm} {}: II {} (bound {}, best {:?}), length {}{} (best {:?}{}), {:.1} ms, {} steps",
                l.graph.name,
                a.ii,
                a.lower_bound,
                l.best_ii,
                a.length,
                if a.length_optimal { " proved" } else { "" },
                l.best_length,
                if l.length_proven { " proven" } else { "" },
                o.micros / 1e3,
                a.steps
            );
        }
    }
}

fn row(file: &str, algorithm: Algorithm, loops: &[Loop], outcomes: &[Outcome]) -> Value {
    let both = || loops.iter().zip(outcomes).filter_map(|(l, o)| Some((l, o.answer.as_ref()?)));
    let share =
        |hits: usize, of: usize| if of == 0 { Value::Null } else { json!(100.0 * hits as f64 / of as f64) };
    let known = both().filter(|(l, _)| l.best_ii.is_some()).count();
    let at_best = both().filter(|(l, a)| l.best_ii.is_some_and(|b| a.ii <= b)).count();
    let ratios: Vec<f64> = both().filter_map(|(l, a)| Some(a.ii as f64 / l.best_ii? as f64)).collect();
    let with_length = both().filter(|(l, _)| l.length_proven).count();
    let at_length = both()
        .filter(|(l, a)| l.length_proven && l.best_ii >= Some(a.ii) && l.best_length >= Some(a.length))
        .count();
    let over: u64 = both().filter_map(|(l, a)| Some(a.bytes?.saturating_sub(l.best_bytes?))).sum();
    let mut times: Vec<f64> = outcomes.iter().map(|o| o.micros).collect();
    times.sort_by(f64::total_cmp);
    let rank = |q: f64| times.get(((times.len() - 1) as f64 * q) as usize).copied().unwrap_or(0.0);
    json!({
        "file": file,
        "algorithm": algorithm.name(),
        "loops": loops.len(),
        "optimal_ii_percent": share(at_best, known),
        "proved_percent": share(both().filter(|(_, a)| a.optimal).count(), loops.len()),
        "mean_ii_over_optimum": ratios.iter().sum::<f64>() / ratios.len().max(1) as f64,
        "least_length_percent": share(at_length, with_length),
        "length_proved_percent": share(both().filter(|(_, a)| a.length_optimal).count(), loops.len()),
        "bytes_over_best": over,
        "checker_failures": outcomes.iter().filter(|o| o.violations > 0).count(),
        "median_us": rank(0.5),
        "p99_us": rank(0.99),
        "total_ms": times.iter().sum::<f64>() / 1e3,
        "steps": both().map(|(_, a)| a.steps).sum::<u64>(),
    })
}

fn table(rows: &[Value]) {
    println!(
        "{:22} {:6} {:>5} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>5} {:>10} {:>10} {:>10} {:>9}",
        "file",
        "alg",
        "loops",
        "%opt",
        "%proved",
        "II/opt",
        "%length",
        "%lproof",
        "bytes+",
        "fails",
        "median us",
        "p99 us",
        "total ms",
        "steps"
    );
    for r in rows {
        let text = |key: &str| r[key].as_str().unwrap_or("").to_owned();
        let number =
            |key: &str, digits: usize| r[key].as_f64().map_or("-".to_owned(), |v| format!("{v:.digits$}"));
        println!(
            "{:22} {:6} {:>5} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>5} {:>10} {:>10} {:>10} {:>9}",
            text("file"),
            text("algorithm"),
            number("loops", 0),
            number("optimal_ii_percent", 1),
            number("proved_percent", 1),
            number("mean_ii_over_optimum", 4),
            number("least_length_percent", 1),
            number("length_proved_percent", 1),
            number("bytes_over_best", 0),
            number("checker_failures", 0),
            number("median_us", 1),
            number("p99_us", 1),
            number("total_ms", 1),
            number("steps", 0),
        );
    }
}

/// Time against size for the synthetic large loop of the specification (S96).
fn curve(args: &Args) {
    println!("{:>8} {:>8} {:>8} {:>9} {:>10}", "ops", "MII", "II", "length", "seconds");
    for n in [1_000, 3_000, 10_000, 30_000, 100_000] {
        let graph = synthetic(n);
        let outcome = run(&graph, args.only.unwrap_or_default(), args);
        match outcome.answer {
            Some(a) => println!(
                "{n:>8} {:>8} {:>8} {:>9} {:>10.3}{}",
                a.mii,
                a.ii,
                a.length,
                outcome.micros / 1e6,
                if outcome.violations > 0 { "  CHECK FAILED" } else { "" }
            ),
            None => println!("{n:>8} no answer"),
        }
    }
}

/// Op i depends on 1-3 of the 64 before it; latencies from {1, 2, 4, 8, 30}; 8 resources of 1-4 units, durations
/// 1-4; every 200 ops a carried edge of distance 1-3 back over at most 50.
fn synthetic(n: usize) -> LoopGraph {
    let mut state = 0x1234_5678_9abc_def0u64 ^ n as u64;
    let mut random = move |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let mut g = LoopGraph::new(format!("synthetic {n}"));
    for r in 0..8 {
        g.add_resource(format!("R{r}"), 1 + r % 4);
    }
    const LATENCIES: [i64; 5] = [1, 2, 4, 8, 30];
    for i in 0..n {
        let resource = format!("R{}", random(8));
        let latency = LATENCIES[random(5) as usize];
        g.add_node(format!("op{i}"), latency, &[(&resource, 0, 1 + random(4))]);
        for _ in 0..(1 + random(3)).min(i as u64) {
            let src = i - 1 - random((i as u64).min(64)) as usize;
            let latency = g.nodes[src].latency;
            g.add_edge(src, i, latency, 0);
        }
        if i % 200 == 199 {
            let dst = i - random(50) as usize;
            g.add_edge(i, dst, latency, 1 + random(3) as i64);
        }
    }
    g
}
