//! Small kernels, right and wrong, of every kind of mistake that compute-sanitizer, WEFT and the memory model of PTX name,
//! each with what must be said about it under every policy (E9, E66, E95, E99, E100).
//!
//! `tests/verdicts` holds the kernels and the table. A name is the kind of mistake, then `wrong`, `right`, or `tricky`: right,
//! though it looks wrong. No false alarm and nothing missed is the only result that passes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Finding, Launch, Module, Policy, Report, RunOptions, Severity};

const POLICIES: [Policy; 7] = [
    Policy::Eager,
    Policy::Lazy,
    Policy::Random(1),
    Policy::Random(2),
    Policy::Random(3),
    Policy::Random(4),
    Policy::Pct(5),
];
/// Schedules more for what only some show.
const SEEDS: u64 = 24;
const CLEAN: &str = "clean";

fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A row of the table.
struct Row {
    name: String,
    grid: u32,
    cluster: u32,
    strict: bool,
    /// Codes of which one must be reported; none for a clean kernel.
    codes: Vec<String>,
    /// It is enough that one of the policies, or of some more seeds, reports it: what the others do is right.
    some: bool,
    /// Codes that may be remarked on.
    remarks: Vec<String>,
}

fn table() -> Vec<Row> {
    let text = file("expectations.txt");
    let rows = text.lines().filter(|l| !l.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let (remarks, codes): (Vec<&str>, Vec<&str>) =
            cells[4].split('|').filter(|c| *c != CLEAN).partition(|c| c.starts_with('~'));
        let some = codes.iter().any(|c| c.starts_with('?'));
        let codes = codes.into_iter().map(|c| c.trim_start_matches('?').to_string()).collect();
        let remarks = remarks.into_iter().map(|c| c.trim_start_matches('~').to_string()).collect();
        Row {
            name: cells[0].to_string(),
            grid: cells[1].parse().unwrap(),
            cluster: cells[2].parse().unwrap(),
            strict: cells[3] == "strict",
            codes,
            some,
            remarks,
        }
    });
    rows.collect()
}

fn modules() -> Vec<Module> {
    let names = [
        "memory.ptx",
        "undefined.ptx",
        "shared.ptx",
        "copies.ptx",
        "lanes.ptx",
        "barriers.ptx",
        "order.ptx",
        "products.ptx",
        "tensor_memory.ptx",
        "phases.ptx",
        "engines.ptx",
        "models.ptx",
        "accumulators.ptx",
        "waits.ptx",
        "clusters.ptx",
    ];
    names.iter().map(|n| Module::parse(&file(n)).unwrap_or_else(|e| panic!("{n}: {e}"))).collect()
}

/// Runs a kernel; returns the report, and destination and memory afterwards.
fn run(module: &Module, row: &Row, policy: Policy) -> (Report, Vec<u8>) {
    let entry = module.entry(&row.name).unwrap();
    if let Some(refusal) = entry.refusal() {
        panic!("{refusal}");
    }
    let mut device = Device::new(&Target::named(&module.target).unwrap());
    let words: Vec<u8> = (0..512_u32).flat_map(|i| (i * 7 + 3).to_le_bytes()).collect();
    let source = device.alloc_from(&words, "source").unwrap();
    let destination = device.alloc_from(&[0; 4096], "destination").unwrap();
    let memory = device.alloc_from(&[0; 1024], "memory").unwrap();
    let launch = Launch {
        grid: [row.grid, 1, 1],
        cluster: [row.cluster, 1, 1],
        args: vec![Arg::Ptr(source), Arg::Ptr(destination), Arg::Ptr(memory)],
        ..Launch::of(entry)
    };
    let options = RunOptions::default().policy(policy).strict(row.strict).max_steps(300_000);
    let report = device.run(module, &launch, &options).unwrap_or_else(|e| panic!("{}: {e}", row.name));
    let bytes = [device.read(destination).unwrap(), device.read(memory).unwrap()].concat();
    (report, bytes)
}

/// What is wrong with a verdict, if anything.
fn judge(row: &Row, report: &Report) -> Option<String> {
    let remark = |f: &&Finding| f.severity == Severity::Note && row.remarks.contains(&f.code);
    let codes: BTreeSet<&str> =
        report.findings.iter().filter(|f| !remark(f)).map(|f| f.code.as_str()).collect();
    if row.codes.is_empty() {
        return (!codes.is_empty()).then(|| format!("false alarm {codes:?}\n{report}"));
    }
    let found = report.errors().any(|f| row.codes.contains(&f.code));
    (!found).then(|| format!("missed {:?}, found {codes:?}", row.codes))
}

#[test]
fn every_kernel_gets_its_verdict_under_every_policy() {
    let (rows, modules) = (table(), modules());
    let mut wrong = Vec::new();
    for row in &rows {
        let module = modules.iter().find(|m| m.entry(&row.name).is_ok());
        let module = module.unwrap_or_else(|| panic!("no kernel {}", row.name));
        let verdict = |policy: Policy| {
            let amiss = judge(row, &run(module, row, policy).0)?;
            Some(format!("{} {policy:?}: {amiss}", row.name))
        };
        if row.some {
            let mut more = POLICIES.into_iter().chain((6..6 + SEEDS).map(Policy::Random));
            wrong.extend(if more.any(|p| verdict(p).is_none()) { None } else { verdict(POLICIES[0]) });
        } else {
            wrong.extend(POLICIES.into_iter().filter_map(verdict));
        }
    }
    let bad = rows.iter().filter(|r| !r.codes.is_empty()).count();
    println!("{} kernels, {bad} of them wrong, {} verdicts amiss", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table names every kernel, each with one of the three forms, and only the wrong ones have codes.
#[test]
fn the_table_is_whole() {
    let rows = table();
    assert!(rows.len() >= 120, "{}", rows.len());
    let names: BTreeSet<&str> = rows.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "a kernel stands twice");
    let modules = modules();
    let kernels: BTreeSet<&str> = modules.iter().flat_map(Module::entries).map(|e| e.name.as_str()).collect();
    assert_eq!(names, kernels);
    for row in &rows {
        let form = row.name.rsplit('_').next().unwrap();
        assert!(["wrong", "right", "tricky"].contains(&form), "{}", row.name);
        assert_eq!(form == "wrong", !row.codes.is_empty(), "{}", row.name);
    }
}

/// What a clean kernel computes does not depend on the schedule, but for one that stores whether a flag was up already.
#[test]
fn clean_kernels_compute_the_same_under_every_policy() {
    let modules = modules();
    let mut amiss: BTreeMap<String, usize> = BTreeMap::new();
    for row in table().iter().filter(|r| r.codes.is_empty()) {
        let module = modules.iter().find(|m| m.entry(&row.name).is_ok()).unwrap();
        let first = run(module, row, POLICIES[0]).1;
        let differ = POLICIES.iter().filter(|p| run(module, row, **p).1 != first).count();
        if differ != 0 {
            amiss.insert(row.name.clone(), differ);
        }
    }
    amiss.remove("strong_flag_tricky");
    assert!(amiss.is_empty(), "{amiss:?}");
}
