//! Times the packer and the assigner on one thread: `cargo bench --bench pack [-- --peer CMD]`.
//!
//! Every instance of the reference folder is packed within 1,048,576 bytes and checked; `--peer`
//! runs `CMD --input FILE --output OUT --capacity N` in turn on the same files. Then random problems of GPU size and the growth of
//! `assign`.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use warploom_bufassign::fuzzing::{Choices, packing};
use warploom_bufassign::pack::{CsvProblem, PackOptions, PackOutcome, check_pack, pack};
use warploom_bufassign::{Options, Problem, assign};

const CAPACITY: u64 = 1_048_576;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let peer = args.iter().position(|a| a == "--peer").and_then(|k| args.get(k + 1));
    instances(peer.map(String::as_str));
    random();
    growth();
}

fn instances(peer: Option<&str>) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/packing");
    let Ok(dir) = std::fs::read_dir(&root) else {
        println!("skipped: no reference instances beside the checkout");
        return;
    };
    let mut files: Vec<PathBuf> = dir.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "csv"));
    files.sort();
    let (mut ours, mut theirs) = (0.0, 0.0);
    for f in &files {
        let text = std::fs::read_to_string(f).unwrap();
        let name = f.file_name().unwrap_or_default().to_string_lossy().to_string();
        let t = Instant::now();
        let csv = CsvProblem::parse(&text, Some(CAPACITY)).unwrap();
        let outcome = pack(&csv.problem, &PackOptions { node_budget: 50_000_000, ..PackOptions::default() });
        let ms = t.elapsed().as_secs_f64() * 1e3;
        ours += ms;
        check_pack(&csv.problem, &outcome).unwrap();
        let verdict = match outcome {
            PackOutcome::Fits { peak, .. } => format!("fits, peak {peak}"),
            other => format!("{other:?}").chars().take(60).collect(),
        };
        print!("{name:<24} {ms:>10.2} ms  {verdict}");
        if let Some(peer) = peer {
            let t = Instant::now();
            let status = Command::new(peer)
                .arg(format!("--input={}", f.display()))
                .arg(format!("--output={}", std::env::temp_dir().join("peer.csv").display()))
                .arg(format!("--capacity={CAPACITY}"))
                .output();
            let ms = t.elapsed().as_secs_f64() * 1e3;
            theirs += ms;
            let ok = status.is_ok_and(|s| s.status.success());
            print!("  peer {ms:>10.2} ms{}", if ok { "" } else { " (failed)" });
        }
        println!();
    }
    println!("sum {ours:.1} ms{}", peer.map_or(String::new(), |_| format!(", peer {theirs:.1} ms")));
}

fn random() {
    let (mut times, mut proved, mut plans) = (Vec::new(), 0, 0);
    for seed in 0u64..500 {
        let mut p = packing(&mut Choices::seeded(seed));
        p.capacity = None;
        let t = Instant::now();
        let outcome = pack(&p, &PackOptions::default());
        times.push(t.elapsed().as_secs_f64() * 1e3);
        if let PackOutcome::Fits { optimal, .. } = outcome {
            plans += 1;
            proved += u32::from(optimal);
        }
    }
    times.sort_by(f64::total_cmp);
    println!(
        "random, 1..30 items: {proved} of {plans} proved optimal, median {:.3} ms",
        times[times.len() / 2]
    );
}

/// Values in a chain of loops, short-lived and of one shape, so that sharing and packing have work.
fn growth() {
    for n in [1000u64, 2500, 5000, 10_000] {
        let problem = chain(n);
        let t = Instant::now();
        let outcome = assign(&problem, &Options::default());
        let ms = t.elapsed().as_secs_f64() * 1e3;
        let what = outcome.map_or_else(
            |e| e.message.clone(),
            |a| format!("{} bytes, {} classes", a.smem.used, a.merge.len()),
        );
        println!("assign {n:>6} values {ms:>9.1} ms  {what}");
    }
}

fn chain(n: u64) -> Problem {
    let ops: Vec<String> = (0..2 * n)
        .map(|k| format!(r#"{{"id":{k},"region":0,"agent":0,"cycle":{},"order":{k},"latency":3}}"#, 5 * k))
        .collect();
    let values: Vec<String> = (0..n)
        .map(|v| {
            let bytes = 64 + 64 * (v % 7);
            format!(
                r#"{{"id":{v},"root":{v},"shape":[{bytes}],"element":"i8","producer":{{"op":{},"role":"reg_write"}},"consumers":[{{"op":{},"role":"reg_read"}}]}}"#,
                2 * v,
                (2 * v + 1 + 2 * (v % 5)).min(2 * n - 1)
            )
        })
        .collect();
    let text = format!(
        r#"{{"name":"chain","target":"sm_90a","agents":[{{"id":0,"warps":1}}],"regions":[{{"id":0,"kind":"loop","ii":{},"stages":1}}],"ops":[{}],"values":[{}]}}"#,
        10 * n + 10,
        ops.join(","),
        values.join(",")
    );
    Problem::from_json(&text).unwrap()
}
