//! What the interleavings of `warploom ptx` say, as text and as JSON.

use serde_json::{Value, json};
use warploom_emulator::{Coverage, Report};

use super::super::machine;
use crate::io::{Failure, Input, Io, answered};

/// A buffer against what was expected.
pub struct Comparison {
    pub name: String,
    pub error: f64,
    pub tolerance: f64,
}

impl Comparison {
    fn right(&self) -> bool {
        self.error <= self.tolerance
    }
}

/// What all interleavings together say.
#[derive(Default)]
pub struct Answer {
    /// Interleavings asked for; fewer are in `rows` where the time was over.
    asked: usize,
    text: String,
    said: Vec<(String, Option<u32>, Option<u32>)>,
    pub rows: Vec<Value>,
    pub failed: usize,
    depends: bool,
    pub differ: bool,
    /// What all of them reached.
    coverage: Coverage,
    /// Lines of synchronising instructions that can be left out, where that was asked.
    pub dispensable: Option<Vec<u32>>,
}

impl Answer {
    /// Nothing yet, of so many interleavings.
    pub fn of(asked: usize) -> Answer {
        Answer { asked, ..Answer::default() }
    }

    /// Adds an interleaving.
    pub fn add(&mut self, report: &Report, compared: Vec<Comparison>, input: &Input) {
        let ok = report.clean() && compared.iter().all(Comparison::right);
        self.failed += usize::from(!ok);
        self.depends |= report.stats.data_dependent;
        self.coverage.join(&report.coverage);
        let (errors, s) = (report.errors().count(), &report.stats);
        let verdict = if ok { "clean ".to_owned() } else { "FAILED".to_owned() };
        self.text += &format!(
            "{:<12} {verdict}  {errors} errors, {} remarks, {} warp instructions, {} operations, {} bytes copied\n",
            report.policy.to_string(),
            report.findings.len() - errors,
            s.steps,
            s.operations,
            s.bytes_copied
        );
        for c in &compared {
            let word = if c.right() { "is right" } else { "DIFFERS" };
            self.text += &format!(
                "  {} {word}: relative error {:.2e}, allowed {:.1e}\n",
                c.name, c.error, c.tolerance
            );
        }
        let mut found = Vec::new();
        for f in &report.findings {
            let key = (f.code.clone(), f.first.as_ref().map(|p| p.line), f.second.as_ref().map(|p| p.line));
            // What another interleaving found already is in its text.
            if !self.said.contains(&key) {
                found.push(machine::finding(f, &input.text));
                self.said.push(key);
            }
        }
        self.text += &answered(&found, input);
        for sight in &report.seen {
            self.text += &format!("{sight}\n");
        }
        let compared: Vec<Value> = compared
            .iter()
            .map(|c| {
                json!({"name": c.name, "relative_error": c.error, "tolerance": c.tolerance, "right": c.right()})
            })
            .collect();
        self.rows.push(json!({"policy": report.policy.to_string(), "clean": report.clean(), "passed": ok,
                              "findings": report.findings, "stats": report.stats, "expected": compared,
                              "coverage": report.coverage, "seen": report.seen}));
    }

    /// Prints everything.
    ///
    /// # Errors
    /// [`Failure::Answered`] where an interleaving failed.
    pub fn print(self, io: &Io, as_json: bool, entry: &str, target: &str) -> Result<(), Failure> {
        if as_json {
            let mut all = json!({"ok": self.failed == 0, "entry": entry, "target": target,
                                 "results_differ": self.differ, "asked": self.asked, "runs": self.rows});
            if let Some(lines) = &self.dispensable {
                all["dispensable"] = json!(lines);
            }
            io.json(&all)?;
        } else {
            let mut text = self.text;
            if self.depends {
                text += "note: a branch depends on loaded data, so other inputs may take other paths\n";
            }
            if self.differ {
                text += "note: the results differ between interleavings\n";
            }
            if let Some(lines) = &self.dispensable {
                let list: Vec<String> = lines.iter().map(u32::to_string).collect();
                text += &match list.is_empty() {
                    true => "note: no synchronising instruction can be left out of this launch\n".to_owned(),
                    false => format!(
                        "note: this launch can do without the synchronisation of each of the lines {} alone\n",
                        list.join(", ")
                    ),
                };
            }
            let runs = self.rows.len();
            if runs < self.asked {
                text += &format!("note: the time was over behind {runs} of {} interleavings\n", self.asked);
            }
            let c = &self.coverage;
            for (lines, what) in [(&c.never, "never ran"), (&c.trivial, "had nothing to wait for")] {
                if !lines.is_empty() {
                    let list: Vec<String> = lines.iter().map(u32::to_string).collect();
                    text += &format!("note: synchronising lines {} {what}\n", list.join(", "));
                }
            }
            for hint in &c.hints {
                text += &format!("  {hint}\n");
            }
            text += &format!(
                "{entry} on {target}: {} of {runs} interleavings clean, {} of {} synchronising instructions reached\n",
                runs - self.failed,
                c.reached(),
                c.instructions
            );
            io.stdout(text.as_bytes())?;
        }
        if self.failed == 0 { Ok(()) } else { Err(Failure::Answered) }
    }
}
