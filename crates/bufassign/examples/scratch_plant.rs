#![allow(clippy::all, dead_code)]
#[path = "../benches/pack/clock.rs"]
mod clock;
#[path = "../benches/pack/plants.rs"]
mod plants;
use plants::Plant;
use warploom_bufassign::pack::*;
use warploom_testing::bufassign::Choices;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let after = |n: &str, d: &str| {
        args.iter().position(|a| a == n).and_then(|k| args.get(k + 1)).cloned().unwrap_or(d.into())
    };
    let names = after("--plants", "sweep,circle");
    let list = |s: String| s.split(',').map(|x| x.parse().unwrap()).collect::<Vec<u64>>();
    let (sizes, loads) = (list(after("--sizes", "150,200,250")), list(after("--loads", "95,97,98,99,100")));
    let seconds: f64 = after("--seconds", "4").parse().unwrap();
    let (from, seeds) =
        (after("--from", "0").parse::<u64>().unwrap(), after("--seeds", "1").parse::<u64>().unwrap());
    let verbose = args.iter().any(|a| a == "-v");
    let (mut fit, mut all, mut total) = (0, 0, 0.0);
    for plant in Plant::ALL {
        if names != "all" && !names.split(',').any(|n| n == format!("{plant:?}").to_lowercase()) {
            continue;
        }
        let (mut pf, mut pa, mut pt) = (0, 0, 0.0);
        let mut line = String::new();
        for &b in &sizes {
            for &load in &loads {
                for seed in from..from + seeds {
                    let seed = (seed * 1000 + b) * 101 + load;
                    let p = plant.problem(b as usize, load, &mut Choices::seeded(seed));
                    let o = PackOptions::default().node_budget(u64::MAX);
                    let (out, ms) =
                        clock::timed(|| clock::stopped_after(seconds, |stop| pack(&p, &o.stop(Some(stop)))));
                    check_pack(&p, &out).unwrap();
                    let ok = matches!(out, PackOutcome::Fits { .. });
                    assert!(!matches!(out, PackOutcome::ProvedInfeasible { .. }));
                    pa += 1;
                    pf += ok as u32;
                    pt += ms / 1e3;
                    if ok {
                        line += &format!(" {b}/{load}:{:.2}", ms / 1e3)
                    } else {
                        line += &format!(" {b}/{load}:--")
                    }
                }
            }
        }
        println!("{plant:?}: {pf} of {pa}, {pt:.1} s{}", if verbose { line } else { String::new() });
        fit += pf;
        all += pa;
        total += pt;
    }
    println!("all {fit} of {all}, {total:.1} s");
}
