//! Problems with a plan that is known to exist, and the growth of the packer (B85).

use crate::plants::Plant;
use crate::{clock, peer};
use std::time::{Duration, Instant};
use warploom_bufassign::pack::{CsvProblem, PackOptions, PackOutcome, PackProblem, check_pack, pack};
use warploom_testing::bufassign::Choices;

/// How much of each family is tried, and how hard.
pub struct Effort<'a> {
    pub seeds: u64,
    /// The first of them: others than those that the packer was tuned on.
    pub first: u64,
    /// One family alone, by its name.
    pub only: Option<&'a str>,
    /// Of processor time, for each problem.
    pub seconds: u64,
    pub threads: usize,
    /// A packer to run on the same problems.
    pub peer: Option<&'a str>,
}

/// Problems of one kind, and how many of them had a plan in time.
#[derive(Default)]
struct Tally {
    times: Vec<f64>,
    all: u64,
    fit: u64,
    peer: Vec<f64>,
    peer_fit: u64,
}

impl Tally {
    fn middle(times: &mut [f64]) -> f64 {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(0.0)
    }

    fn line(&mut self) -> String {
        let ours =
            format!("{} of {} fit, median {:.2} s", self.fit, self.all, Tally::middle(&mut self.times));
        if self.peer.is_empty() {
            return ours;
        }
        let theirs = Tally::middle(&mut self.peer);
        format!("{ours}; peer {} of {} fit, median {theirs:.2} s", self.peer_fit, self.peer.len())
    }

    fn try_one(&mut self, p: &PackProblem, effort: &Effort<'_>) {
        let options = PackOptions::default().node_budget(u64::MAX).threads(effort.threads);
        let most = effort.seconds as f64;
        let solve = || clock::stopped_after(most, |stop| pack(p, &options.stop(Some(stop))));
        let (outcome, ms) = clock::timed(solve);
        check_pack(p, &outcome).unwrap();
        // A plan exists, so none may be said to.
        assert!(!matches!(outcome, PackOutcome::ProvedInfeasible { .. }), "{p:?}");
        self.times.push(ms / 1e3);
        self.all += 1;
        self.fit += u64::from(matches!(outcome, PackOutcome::Fits { .. }));
        if let Some(command) = effort.peer.filter(|_| peer::takes(p)) {
            let answer = peer::run(command, p, None, effort.seconds);
            self.peer.push(answer.ms / 1e3);
            self.peer_fit += u64::from(answer.plan.is_ok());
        }
    }

    fn add(&mut self, other: Tally) {
        self.times.extend(other.times);
        self.peer.extend(other.peer);
        (self.all, self.fit) = (self.all + other.all, self.fit + other.fit);
        self.peer_fit += other.peer_fit;
    }
}

/// Planted families of 150, 200 and 250 buffers at 95 to 100 % load.
pub fn planted(effort: &Effort<'_>) {
    let mut total = Tally::default();
    let name = |plant: Plant| format!("{plant:?}").to_lowercase();
    for plant in Plant::ALL.into_iter().filter(|p| effort.only.is_none_or(|only| only == name(*p))) {
        for buffers in [150, 200, 250] {
            for load in [95, 97, 98, 99, 100] {
                let mut here = Tally::default();
                for seed in effort.first..effort.first + effort.seeds {
                    let seed = (seed * 1000 + buffers as u64) * 101 + load;
                    here.try_one(&plant.problem(buffers, load, &mut Choices::seeded(seed)), effort);
                }
                println!("planted {:<10} {buffers} buffers, load {load:>3} %: {}", name(plant), here.line());
                total.add(here);
            }
        }
    }
    println!("planted, all together, {} s each: {}", effort.seconds, total.line());
}

/// A CSV of a hundred megabytes: read, packed, printed.
pub fn large_file() {
    let (mut text, mut c, mut rows) = (String::from("id,lower,upper,size\n"), Choices::seeded(0), 0u64);
    while text.len() < 100_000_000 {
        text += &format!("{rows},{rows},{},{}\n", rows + 1 + c.below(40), 64 * (1 + c.below(64)));
        rows += 1;
    }
    let end = Instant::now() + Duration::from_secs(60);
    let (csv, read) = clock::timed(|| CsvProblem::parse(&text, None).unwrap());
    let (outcome, packed) = clock::timed(|| pack(&csv.problem, &PackOptions::default().deadline(Some(end))));
    let PackOutcome::Fits { offsets, peak, lower_bound, .. } = outcome else {
        return println!("{outcome:?}");
    };
    let (_, printed) = clock::timed(|| csv.print(&offsets));
    let (read, packed, printed) = (read / 1e3, packed / 1e3, printed / 1e3);
    let over = peak as f64 / lower_bound as f64;
    println!(
        "a CSV of 100 MB, {rows} rows: read in {read:.1} s, packed in {packed:.1} s, peak {over:.4} of the bound, printed in {printed:.1} s"
    );
}

/// Lifetimes without a capacity: short ones, of which some twenty meet, and long ones, of which most do.
pub fn growth() {
    for (name, sizes) in
        [("short", &[10_000u64, 100_000, 1_000_000][..]), ("long", &[2000, 20_000, 1_000_000][..])]
    {
        for &n in sizes {
            let mut c = Choices::seeded(n);
            let mut p = PackProblem::linear(None);
            for k in 0..n {
                let (from, most) = if name == "short" { (k, 40) } else { (c.below(n), n) };
                let from = from.cast_signed();
                p.push(64 * (1 + c.below(64)), from, from + 1 + c.below(most).cast_signed());
            }
            let end = Instant::now() + Duration::from_secs(20);
            let (outcome, ms) = clock::timed(|| pack(&p, &PackOptions::default().deadline(Some(end))));
            let seconds = ms / 1e3;
            if let PackOutcome::Fits { peak, lower_bound, optimal, .. } = outcome {
                let over = peak as f64 / lower_bound as f64;
                println!(
                    "pack {n:>9} {name:<5} lifetimes {seconds:>7.2} s, peak {over:.4} of the bound{}",
                    if optimal { ", optimal" } else { "" }
                );
            }
        }
    }
}
