//! Times the packer and the assigner, in processor time: `bench/pack [--data DIR] [--peer CMD] [--first N]
//! [--variants N] [--part NAME]`; `--part planted [--peer CMD] [--plant NAME] [--first N] [--seeds N] [--seconds S]
//! [--threads T]`.
//!
//! Every instance of others in DIR (*.csv) is packed within 1,048,576 bytes and checked; `--peer`
//! runs `CMD --input=FILE --output=OUT --capacity=N` in turn on the same files. Then instances nobody
//! has seen, made from the plans of the first ones; random problems of GPU size; planted problems; and
//! the growth of `assign` and of the packer.

#![allow(clippy::unwrap_used)]

#[path = "pack/clock.rs"]
mod clock;
#[path = "pack/peer.rs"]
mod peer;
#[path = "pack/planted.rs"]
mod planted;
#[path = "pack/plants.rs"]
mod plants;

use std::path::{Path, PathBuf};
use warploom_bufassign::pack::{
    CsvProblem, LiveSpan, PackItem, PackOptions, PackOutcome, PackProblem, TimeSegment, check_pack,
    load_bound, pack,
};
use warploom_bufassign::{AssignOptions, Problem, assign, check};
use warploom_testing::bufassign::{Choices, packing};

const CAPACITY: u64 = 1_048_576;
/// Processor time that a peer has for an instance.
const PEER_SECONDS: u64 = 600;

fn main() {
    // Cargo starts it in the crate's folder; the paths of its options are seen from the repository, as `bench/pack` says.
    if let Err(error) = std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")) {
        eprintln!("the repository's folder: {error}");
        std::process::exit(1);
    }
    let args: Vec<String> = std::env::args().collect();
    let after = |name: &str| args.iter().position(|a| a == name).and_then(|k| args.get(k + 1));
    let number = |name: &str, default| after(name).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (data, peer, part) = (after("--data"), after("--peer"), after("--part"));
    let wanted = |name: &str| part.is_none_or(|p| p == name);
    if wanted("instances") || wanted("unseen") {
        let plans = instances(data.map(Path::new), peer.map(String::as_str));
        if wanted("unseen") {
            unseen(&plans, number("--first", 0), number("--variants", 8));
        }
    }
    if wanted("random") {
        random();
    }
    if wanted("growth") {
        growth();
        planted::growth();
        planted::large_file();
    }
    if wanted("planted") {
        let threads = number("--threads", 1) as usize;
        let (seeds, first, seconds) = (number("--seeds", 3), number("--first", 0), number("--seconds", 10));
        let (peer, only) = (peer.map(String::as_str), after("--plant").map(String::as_str));
        planted::planted(&planted::Effort { seeds, first, only, seconds, threads, peer });
    }
}

/// Name of an instance, and lower, upper, size and offset of its buffers.
type Plan = (String, Vec<(i64, i64, u64, u64)>);

fn instances(data: Option<&Path>, peer: Option<&str>) -> Vec<Plan> {
    let mut plans = Vec::new();
    let Some(data) = data else {
        println!("no --data DIR: instances of others, and those made from their plans, are left out");
        return plans;
    };
    let dir = match std::fs::read_dir(data) {
        Ok(dir) => dir,
        Err(error) => {
            eprintln!("{}: {error}", data.display());
            std::process::exit(1);
        }
    };
    let mut files: Vec<PathBuf> = dir.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "csv"));
    files.sort();
    let (mut ours, mut theirs) = (0.0, 0.0);
    for f in &files {
        let text = std::fs::read_to_string(f).unwrap();
        let name = f.file_name().unwrap_or_default().to_string_lossy().to_string();
        let ((csv, outcome), ms) = clock::timed(|| {
            let csv = CsvProblem::parse(&text, Some(CAPACITY)).unwrap();
            let outcome = pack(&csv.problem, &PackOptions::default().node_budget(50_000_000));
            (csv, outcome)
        });
        ours += ms;
        check_pack(&csv.problem, &outcome).unwrap();
        if let PackOutcome::Fits { offsets, .. } = &outcome {
            let item =
                |(i, &o): (&PackItem, &u64)| (i.live[0].start, i.live[0].start + i.live[0].len, i.size, o);
            plans.push((name.clone(), csv.problem.items.iter().zip(offsets).map(item).collect()));
        }
        print!("{name:<24} {ms:>10.2} ms  {}", verdict(&csv.problem, &outcome));
        if let Some(command) = peer {
            let answer = peer::run(command, &csv.problem, Some(f), PEER_SECONDS);
            theirs += answer.ms;
            let plan = answer.plan.map_or_else(|why| format!("failed: {why}"), |peak| format!("peak {peak}"));
            print!("  peer {:>10.2} ms  {plan}", answer.ms);
        }
        println!();
    }
    println!("sum {ours:.1} ms{}", peer.map_or(String::new(), |_| format!(", peer {theirs:.1} ms")));
    plans
}

/// What an answer says, and what it rests on.
fn verdict(p: &PackProblem, outcome: &PackOutcome) -> String {
    match outcome {
        PackOutcome::Fits { peak, optimal, .. } => {
            let bound = load_bound(p);
            let proof = match optimal {
                true if *peak == bound => "the least, by the bound".into(),
                true => "the least, by search".into(),
                false => format!("the bound is {bound}"),
            };
            format!("fits, peak {peak}, {proof}")
        }
        PackOutcome::ProvedInfeasible { lower_bound, core } => {
            format!("no plan: {} items, bound {lower_bound}", core.len())
        }
        PackOutcome::GaveUp { lower_bound, .. } => format!("gave up, bound {lower_bound}"),
        other => format!("{other:?}"),
    }
}

/// Instances of the same kind: a plan's buffers cut in time or size, stretched into free room, mirrored
/// in time, in another order. A plan exists by construction, and there is less room than before.
fn unseen(plans: &[Plan], first: u64, variants: u64) {
    for (name, plan) in plans {
        let (mut times, mut fitted) = (Vec::new(), 0);
        for v in first..first + variants {
            let p = variant(plan, &mut Choices::seeded(v));
            let (outcome, ms) = clock::timed(|| pack(&p, &PackOptions::default().node_budget(2_000_000)));
            times.push(ms);
            check_pack(&p, &outcome).unwrap();
            fitted += u32::from(matches!(outcome, PackOutcome::Fits { .. }));
        }
        times.sort_by(f64::total_cmp);
        if let (Some(most), Some(median)) = (times.last(), times.get(times.len() / 2)) {
            println!("like {name:<19} {fitted} of {variants} fit, median {median:.1} ms, most {most:.1} ms");
        }
    }
}

fn variant(plan: &[(i64, i64, u64, u64)], c: &mut Choices<'_>) -> PackProblem {
    let mut items = plan.to_vec();
    for k in 0..plan.len() {
        let (a, b, size, at) = items[k];
        match c.below(16) {
            0 if b - a > 1 => {
                let cut = a + 1 + c.below((b - a).unsigned_abs() - 1).cast_signed();
                items[k].1 = cut;
                items.push((cut, b, size, at));
            }
            1 if size > 16_384 => {
                let low = size / 2048 * 1024;
                items[k].2 = low;
                items.push((a, b, size - low, at + low));
            }
            2..=4 => {
                let over = |o: &(i64, i64, u64, u64)| o.0 >= b && o.3 < at + size && at < o.3 + o.2;
                if let Some(next) = items.iter().filter(|o| over(o)).map(|o| o.0).min().filter(|n| *n > b) {
                    items[k].1 = b + 1 + c.below((next - b).unsigned_abs()).cast_signed();
                }
            }
            _ => {}
        }
    }
    let mirror = c.below(2) == 1;
    let end = items.iter().map(|i| i.1).max().unwrap_or(0);
    let mut p = PackProblem::linear(Some(CAPACITY));
    while !items.is_empty() {
        let (a, b, size, _) = items.swap_remove(c.below(items.len() as u64) as usize);
        if mirror {
            p.push(size, end - b, end - a)
        } else {
            p.push(size, a, b)
        };
    }
    p
}

/// What a random problem of 4 to 30 items is made of.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    count: u64,
    alignments: &'static [u64],
    /// Periods of the circles that an item may lie on, beside the line.
    circles: &'static [i64],
    line: bool,
    /// One item in so many has a fixed offset; 0 for none.
    fixed: u64,
    /// Pairs that are kept apart whenever they live.
    separations: u64,
}

const PLAIN: Family = Family {
    name: "128-aligned, line and circles",
    count: 2000,
    alignments: &[128],
    circles: &[256, 400],
    line: true,
    fixed: 0,
    separations: 0,
};

const FAMILIES: [Family; 7] = [
    PLAIN,
    Family { name: "128-aligned, one line", count: 1000, circles: &[], ..PLAIN },
    Family { name: "128-aligned, one circle", count: 1000, circles: &[400], line: false, ..PLAIN },
    Family {
        name: "128 to 1024-aligned, line and circles",
        count: 1000,
        alignments: &[128, 256, 1024],
        ..PLAIN
    },
    Family {
        name: "128 to 1024-aligned, one line",
        count: 1000,
        alignments: &[128, 256, 512, 1024],
        circles: &[],
        ..PLAIN
    },
    Family { name: "fixed offsets", count: 1000, alignments: &[128, 256], fixed: 6, ..PLAIN },
    Family { name: "separations", count: 1000, alignments: &[128, 256], separations: 6, ..PLAIN },
];

impl Family {
    fn problem(&self, seed: u64) -> PackProblem {
        let mut c = Choices::seeded(seed);
        let circles = self.circles.iter().map(|&p| TimeSegment::Circular(p));
        let line = self.line || self.circles.is_empty();
        let segments: Vec<TimeSegment> =
            line.then_some(TimeSegment::Linear).into_iter().chain(circles).collect();
        let mut p = PackProblem { segments, ..PackProblem::default() };
        let n = 4 + c.below(27);
        let mut taken = 0;
        for _ in 0..n {
            let segment = c.below(p.segments.len() as u64) as usize;
            let (start, len) = (c.below(400).cast_signed(), 1 + c.below(299).cast_signed());
            let live = vec![LiveSpan { segment, start, len, window: None }];
            let align = self.alignments[c.below(self.alignments.len() as u64) as usize];
            let size = 128 * (1 + c.below(512));
            // Fixed items never contradict each other: each lies above those before.
            let fixed = (self.fixed > 0 && c.below(self.fixed) == 0).then(|| {
                let at = (taken + 128 * c.below(256)).next_multiple_of(align);
                taken = at + size;
                at
            });
            p.items.push(PackItem { size, align, fixed, live });
        }
        let pairs = (0..self.separations).map(|_| (c.below(n) as usize, c.below(n) as usize));
        p.separations = pairs.filter(|(a, b)| a != b).collect();
        p
    }
}

fn random() {
    for f in FAMILIES {
        family(f.name, f.count, |seed| f.problem(seed));
    }
    family("mixed, with separations and reserved ranges", 1000, |seed| PackProblem {
        capacity: None,
        ..packing(&mut Choices::seeded(seed))
    });
}

fn family(name: &str, count: u64, problem: impl Fn(u64) -> PackProblem) {
    let (mut times, mut open, mut by_bound) = (Vec::new(), Vec::new(), 0);
    for seed in 0..count {
        let p = problem(seed);
        let (outcome, ms) = clock::timed(|| pack(&p, &PackOptions::default()));
        times.push(ms);
        check_pack(&p, &outcome).unwrap();
        match outcome {
            PackOutcome::Fits { optimal: true, peak, .. } => by_bound += u64::from(peak == load_bound(&p)),
            _ => open.push(seed),
        }
    }
    let proved = count - open.len() as u64;
    times.sort_by(f64::total_cmp);
    let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{name:<44} {proved} of {count} proved optimal, {by_bound} by the bound, median {median:.3} ms, most {most:.1} ms, sum {:.0} ms",
        times.iter().sum::<f64>()
    );
    if !open.is_empty() {
        println!("{:<44} not proved: seeds {open:?}", "");
    }
}

/// Who writes and who reads the v-th value among some partitions.
type Flow = fn(u64, u64) -> (u64, u64);

/// Values in a loop, short-lived and of few shapes, so that sharing and packing have work: all of one partition,
/// whose program order says everything; each from one partition to the next, where handshakes do; and all from
/// one partition to others, where nothing says that one is read before another is written.
fn growth() {
    let around: Flow = |v, partitions| (v % partitions, (v + 1) % partitions);
    let star: Flow = |v, partitions| (0, 1 + v % (partitions - 1));
    let all = [1000, 2500, 5000, 10_000];
    grow("one partition", 1, around, &all);
    grow("around two partitions", 2, around, &all);
    grow("around three partitions", 3, around, &all);
    grow("from one to one partition", 2, star, &all);
    grow("from one to two partitions", 3, star, &all);
}

fn grow(name: &str, partitions: u64, flow: Flow, sizes: &[u64]) {
    for &n in sizes {
        let problem = chain(n, partitions, flow);
        let (outcome, ms) = clock::timed(|| assign(&problem, &AssignOptions::default()));
        let what = match outcome {
            Err(e) => e.message.clone(),
            Ok(a) => {
                let waits = a.merge.iter().flat_map(|m| &m.edges).filter(|e| !e.implied).count();
                let (verdict, ms) = clock::timed(|| check::check(&problem, &a));
                let verdict = verdict.map_or_else(|v| format!("{v:?}"), |()| "checked".into());
                let checked = format!("{verdict} in {ms:.1} ms");
                let (used, classes) = (a.smem.used, a.merge.len());
                format!("{checked}, {used} bytes, {classes} classes, {waits} waits")
            }
        };
        println!("assign {n:>6} values, {name:<23} {ms:>9.1} ms, {what}");
    }
}

/// Value v is written by op 2v and read a few ops later.
fn chain(n: u64, partitions: u64, flow: Flow) -> Problem {
    let reader = |v: u64| (2 * v + 1 + 2 * (v % 5)).min(2 * n - 1);
    let mut partition: Vec<u64> = (0..2 * n).map(|k| k / 2 % partitions).collect();
    for v in 0..n {
        let (writes, reads) = flow(v, partitions);
        partition[2 * v as usize] = writes;
        partition[reader(v) as usize] = reads;
    }
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(",");
    let seats = list(&mut (0..partitions).map(|id| format!(r#"{{"id":{id},"warps":1}}"#)));
    let ops = list(&mut (0..2 * n).map(|k| {
        let (partition, cycle) = (partition[k as usize], 5 * k);
        format!(r#"{{"id":{k},"region":0,"partition":{partition},"cycle":{cycle},"order":{k},"latency":3}}"#)
    }));
    let values = list(&mut (0..n).map(|v| {
        let (bytes, write, read) = (64 + 64 * (v % 7), 2 * v, reader(v));
        format!(
            r#"{{"id":{v},"root":{v},"shape":[{bytes}],"element":"i8","producer":{{"op":{write},"role":"reg_write"}},"consumers":[{{"op":{read},"role":"reg_read"}}]}}"#
        )
    }));
    let ii = 10 * n + 10;
    let text = format!(
        r#"{{"name":"chain","target":"sm_90a","partitions":[{seats}],"regions":[{{"id":0,"kind":"loop","ii":{ii},"stages":1}}],"ops":[{ops}],"values":[{values}]}}"#
    );
    Problem::from_json(&text).unwrap()
}
