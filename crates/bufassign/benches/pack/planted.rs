//! Problems with a plan that is known to exist, and the growth of the packer (B85).

use crate::clock;
use crate::plants::Plant;
use std::time::{Duration, Instant};
use warploom_bufassign::pack::{PackOptions, PackOutcome, PackProblem, check_pack, pack};
use warploom_testing::bufassign::Choices;

/// Planted families of 150, 200 and 250 buffers at 95 to 100 % load, so many seeds each, so many seconds of
/// processor time each.
pub fn planted(seeds: u64, seconds: u64, threads: usize) {
    let (mut fitted, mut all) = (0, 0);
    for plant in Plant::ALL {
        for buffers in [150, 200, 250] {
            for load in [95, 97, 98, 99, 100] {
                let (mut times, mut fit) = (Vec::new(), 0);
                for seed in 0..seeds {
                    let seed = (seed * 1000 + buffers as u64) * 101 + load;
                    let p = plant.problem(buffers, load, &mut Choices::seeded(seed));
                    let start = clock::seconds();
                    let options = PackOptions::default().node_budget(u64::MAX).threads(threads);
                    let outcome =
                        clock::stopped_after(seconds as f64, |stop| pack(&p, &options.stop(Some(stop))));
                    times.push(clock::seconds() - start);
                    check_pack(&p, &outcome).unwrap();
                    fit += u64::from(matches!(outcome, PackOutcome::Fits { .. }));
                }
                times.sort_by(f64::total_cmp);
                let name = format!("{plant:?}").to_lowercase();
                println!(
                    "planted {name:<10} {buffers} buffers, load {load:>3} %: {fit} of {seeds} fit, median {:.2} s",
                    times.get(times.len() / 2).unwrap_or(&0.0)
                );
                (fitted, all) = (fitted + fit, all + seeds);
            }
        }
    }
    println!("planted, all together: {fitted} of {all} fit in {seconds} s each");
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
            let start = Instant::now();
            let outcome = pack(&p, &PackOptions::default().deadline(Some(start + Duration::from_secs(20))));
            let seconds = start.elapsed().as_secs_f64();
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
