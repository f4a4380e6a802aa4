//! What `--tune` tried, as text and as JSON.

use serde_json::{Value, json};
use warploom::{Candidate, Tuned};

/// A table, best first.
pub fn text(tuned: &Tuned) -> String {
    let mut out =
        format!("tuned: {} tried, {} differ, best first\n", tuned.tried, tuned.candidates().count());
    out += "  cycles a tile  CTAs/SM  slots  II         registers        shared B  TMEM\n";
    for c in tuned.candidates() {
        let ii: Vec<String> = c.facts.loops.iter().map(|l| l.ii.to_string()).collect();
        let registers: Vec<String> = c.facts.partitions.iter().map(|a| a.registers.to_string()).collect();
        out += &format!(
            "  {:>13}  {:>7}  {:>5}  {:<9}  {:<15}  {:>8}  {:>4}\n",
            c.cycles,
            c.resident,
            c.depth.map_or("-".to_owned(), |d| d.to_string()),
            ii.join(" "),
            registers.join(" "),
            c.facts.shared_bytes,
            c.facts.tmem_columns
        );
    }
    out
}

/// A list, best first.
pub fn json(tuned: &Tuned) -> Value {
    let one = |c: &Candidate| {
        let ii: Vec<i64> = c.facts.loops.iter().map(|l| l.ii).collect();
        json!({"cycles": c.cycles, "resident": c.resident, "residents": c.ctas, "depth": c.depth, "ii": ii,
               "slack_slots": c.options.pipeline.slack_slots, "shared": c.facts.shared_bytes,
               "registers": c.facts.partitions.iter().map(|a| a.registers).collect::<Vec<_>>(),
               "tmem": c.facts.tmem_columns})
    };
    tuned.candidates().map(one).collect()
}
