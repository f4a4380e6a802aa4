//! OR-Tools' CP-SAT as an outside oracle: a Python program that reads loops and writes start times.

use crate::sets::Loop;
use crate::{Figures, Outcome};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use warploom_sched::{check, to_line};

/// The models, in Python: of times, of partitions and times, and of lengths at one II.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/loops/oracle.py");
pub const OF_SPLITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/loops/oracle_split.py");
pub const OF_LENGTHS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/loops/oracle_length.py");

/// The oracle's answer for every loop, seen by the checker.
///
/// # Errors
/// Why there is none: no Python, no OR-Tools, a program that failed.
pub fn ask(python: &Path, loops: &[Loop], limit: f64) -> Result<Vec<Outcome>, String> {
    let lines: Vec<String> = loops.iter().map(|l| to_line(&l.graph)).collect();
    let answers = answers(python, PROGRAM, &lines, limit)?;
    loops.iter().zip(&answers).map(|(l, line)| outcome(l, line)).collect()
}

/// What a program answers to these lines, line by line.
///
/// # Errors
/// Why there is nothing: no Python, no OR-Tools, a program that failed.
pub fn answers(python: &Path, program: &str, lines: &[String], limit: f64) -> Result<Vec<String>, String> {
    let start = std::env::current_dir().map_err(|e| e.to_string())?;
    let python = start.ancestors().map(|a| a.join(python)).find(|p| p.exists());
    let python = python.ok_or("no such Python")?;
    let mut child = Command::new(python)
        .args([program, &limit.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let text: String = lines.iter().map(|l| l.clone() + "\n").collect();
    let mut input = child.stdin.take().ok_or("no standard input")?;
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let written = writer.join().map_err(|_| "the writer failed".to_owned())?;
    written.map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err("the program failed".to_owned());
    }
    let answers: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    if answers.len() != lines.len() {
        return Err(format!("{} answers to {} loops", answers.len(), lines.len()));
    }
    Ok(answers)
}

/// Ends the run: who asks for the oracle wants its answer, and a table without it would look complete.
pub fn missing(what: &str, reason: &str) -> ! {
    eprintln!(
        "CP-SAT on {what}: {reason}\ninstead: `make bench-oracle` installs OR-Tools, or leave --oracle out"
    );
    std::process::exit(1)
}

fn outcome(l: &Loop, line: &str) -> Result<Outcome, String> {
    let json: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let micros = json["micros"].as_f64().unwrap_or(0.0);
    if json["ii"].is_null() {
        return Ok(Outcome { answer: None, micros, scheduled: None, proved: None, violations: 0 });
    }
    let verdict = check::verdict(&l.graph, line).map_err(|e| e.to_string())?;
    let number = |key: &str| json[key].as_i64().unwrap_or(0);
    let answer = Figures {
        ii: number("ii"),
        mii: number("mii"),
        lower_bound: number("lower_bound"),
        optimal: json["optimal"].as_bool().unwrap_or(false),
        length: number("length"),
        length_optimal: json["length_optimal"].as_bool().unwrap_or(false),
        bytes: None,
        steps: 0,
    };
    Ok(Outcome {
        answer: Some(answer),
        micros,
        scheduled: None,
        proved: None,
        violations: verdict.violations.len(),
    })
}
