//! Tables of results.

use crate::Outcome;
use crate::sets::Loop;
use serde_json::{Value, json};

/// Lists the loops on which an algorithm falls short, proves nothing, or is slow.
pub fn misses(loops: &[Loop], outcomes: &[Outcome], algorithm: &str) {
    for (l, o) in loops.iter().zip(outcomes) {
        let Some(a) = &o.answer else {
            println!("{algorithm} {}: no answer", l.graph.name);
            continue;
        };
        let ii_off = l.best_ii.is_some_and(|b| a.ii != b) || !a.optimal;
        let length_off = l.best_ii == Some(a.ii) && l.best_length.is_some_and(|b| a.length != b);
        if ii_off || length_off || !a.length_optimal || o.micros > 3e3 || o.violations > 0 {
            let millis = |micros: Option<f64>| micros.map_or("-".to_owned(), |m| format!("{:.1}", m / 1e3));
            println!(
                "{algorithm} {} ({} ops): II {} (bound {}, best {:?}) after {} ms, proved after {} ms, length {}{} (best {:?}{}), {:.1} ms, {} steps{}",
                l.graph.name,
                l.graph.nodes.len(),
                a.ii,
                a.lower_bound,
                l.best_ii,
                millis(o.scheduled),
                millis(o.proved),
                a.length,
                if a.length_optimal { " proved" } else { "" },
                l.best_length,
                if l.length_proven { " proven" } else { "" },
                o.micros / 1e3,
                a.steps,
                if o.violations > 0 { ", CHECK FAILED" } else { "" },
            );
        }
    }
}

/// One line of the table.
pub fn row(set: &str, algorithm: &str, loops: &[Loop], outcomes: &[Outcome]) -> Value {
    let both = || loops.iter().zip(outcomes).filter_map(|(l, o)| Some((l, o.answer.as_ref()?)));
    let share =
        |hits: usize, of: usize| if of == 0 { Value::Null } else { json!(100.0 * hits as f64 / of as f64) };
    let known = loops.iter().filter(|l| l.best_ii.is_some()).count();
    let at_best = both().filter(|(l, a)| l.best_ii.is_some_and(|b| a.ii <= b)).count();
    let ratios: Vec<f64> = both().filter_map(|(l, a)| Some(a.ii as f64 / l.best_ii? as f64)).collect();
    let with_length = loops.iter().filter(|l| l.length_proven).count();
    let at_length = both()
        .filter(|(l, a)| l.length_proven && l.best_ii >= Some(a.ii) && l.best_length >= Some(a.length))
        .count();
    let over: u64 = both().filter_map(|(l, a)| Some(a.bytes?.saturating_sub(l.best_bytes?))).sum();
    let mut times: Vec<f64> = outcomes.iter().map(|o| o.micros).collect();
    times.sort_by(f64::total_cmp);
    let rank = |q: f64| times.get(((times.len() - 1) as f64 * q) as usize).copied().unwrap_or(0.0);
    // Bar of loops of GPU size: a schedule at the best II within 10 ms, its proof within a second.
    let scheduled = loops.iter().zip(outcomes).filter(|(l, o)| {
        let best = l.best_ii.is_some() && o.answer.as_ref().map(|a| a.ii) == l.best_ii;
        best && o.scheduled.is_some_and(|micros| micros < 1e4)
    });
    let proved = outcomes.iter().filter(|o| o.proved.is_some_and(|micros| micros < 1e6));
    // An outside program tells nothing of the kind.
    let timed = if outcomes.iter().any(|o| o.scheduled.is_some()) { loops.len() } else { 0 };
    json!({
        "set": set,
        "algorithm": algorithm,
        "loops": loops.len(),
        "optimal_ii_percent": share(at_best, known),
        "proved_percent": share(both().filter(|(_, a)| a.optimal).count(), loops.len()),
        "mean_ii_over_optimum": ratios.iter().sum::<f64>() / ratios.len().max(1) as f64,
        "least_length_percent": share(at_length, with_length),
        "length_proved_percent": share(both().filter(|(_, a)| a.length_optimal).count(), loops.len()),
        "scheduled_10ms_percent": share(scheduled.count(), timed),
        "proved_1s_percent": share(proved.count(), timed),
        "total_length": both().map(|(_, a)| a.length).sum::<i64>(),
        "bytes_over_best": over,
        "checker_failures": outcomes.iter().filter(|o| o.violations > 0).count(),
        "median_us": rank(0.5),
        "p90_us": rank(0.9),
        "p99_us": rank(0.99),
        "worst_us": rank(1.0),
        "total_ms": times.iter().sum::<f64>() / 1e3,
        "steps": both().map(|(_, a)| a.steps).sum::<u64>(),
    })
}

/// The columns: heading, key, width, digits after the point.
const COLUMNS: [(&str, &str, usize, usize); 17] = [
    ("loops", "loops", 5, 0),
    ("%opt II", "optimal_ii_percent", 7, 1),
    ("%proved", "proved_percent", 7, 1),
    ("II/opt", "mean_ii_over_optimum", 7, 4),
    ("%<10ms", "scheduled_10ms_percent", 7, 1),
    ("%prv<1s", "proved_1s_percent", 7, 1),
    ("%length", "least_length_percent", 7, 1),
    ("%l.prvd", "length_proved_percent", 7, 1),
    ("lengths", "total_length", 9, 0),
    ("bytes+", "bytes_over_best", 7, 0),
    ("fails", "checker_failures", 5, 0),
    ("median us", "median_us", 10, 1),
    ("p90 us", "p90_us", 10, 1),
    ("p99 us", "p99_us", 11, 1),
    ("worst us", "worst_us", 11, 1),
    ("total ms", "total_ms", 9, 1),
    ("steps", "steps", 10, 0),
];

/// Prints the rows.
pub fn table(rows: &[Value]) {
    let heading = COLUMNS.iter().map(|(name, _, width, _)| format!(" {name:>width$}"));
    println!("{:20} {:6}{}", "set", "alg", heading.collect::<String>());
    for r in rows {
        let text = |key: &str| r[key].as_str().unwrap_or("").to_owned();
        let cells = COLUMNS.iter().map(|&(_, key, width, digits)| match r[key].as_f64() {
            Some(v) => format!(" {v:>width$.digits$}"),
            None => format!(" {:>width$}", "-"),
        });
        println!("{:20} {:6}{}", text("set"), text("algorithm"), cells.collect::<String>());
    }
}
