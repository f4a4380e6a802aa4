//! Time against size, for the synthetic large loop of the specification (S96).

use crate::shapes::synthetic;
use crate::{Args, run};

/// A run is short beside what the machine's other work adds to it: the least time of so many counts.
const RUNS: usize = 3;

/// Time against size for the synthetic large loop of the specification (S96).
pub fn curve(args: &Args) {
    println!("{:>8} {:>8} {:>8} {:>9} {:>10}", "ops", "MII", "II", "length", "seconds");
    for n in [1_000, 3_000, 10_000, 30_000, 100_000] {
        let graph = synthetic(n, 0);
        let runs = (0..RUNS).map(|_| run(&graph, args.only.unwrap_or_default(), args));
        let Some(outcome) = runs.min_by(|a, b| a.micros.total_cmp(&b.micros)) else { continue };
        match outcome.answer {
            Some(a) => println!(
                "{n:>8} {:>8} {:>8} {:>9} {:>10.4}{}",
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
