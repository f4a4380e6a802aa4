//! `warploom rule`: what a rule says, how it is known, who checks it, which error it gives.

use serde_json::{Value, json};
use warploom_ir::diag::Report;
use warploom_rules::{Page, Rule, nearest, pages};

use crate::io::{Failure, Io};

/// Print a rule that an error cites, or list them.
///
///   warploom rule C31
///   warploom rule C
///   warploom rule
///
/// The pages are those of docs/rules.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A code such as C31, R01, HB13, or a page such as C; without it, every rule with its title
    code: Option<String>,
    /// One JSON value on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

impl Args {
    /// Prints the rule or the list.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let Some(code) = &self.code else { return self.list(io, pages()) };
        if let Some(page) = pages().iter().find(|p| p.name.eq_ignore_ascii_case(code)) {
            return self.list(io, std::slice::from_ref(page));
        }
        match warploom_rules::rule(code) {
            Some(rule) if self.json => io.json(&record(&rule)),
            Some(rule) => io.stdout(format!("{rule}\n").as_bytes()),
            None if self.json => {
                let near: Vec<_> = nearest(code).iter().map(|r| r.code).collect();
                io.json(&json!({"ok": false, "code": code, "nearest": near}))?;
                Err(Failure::Answered)
            }
            None => Err(Failure::plain(unknown(code))),
        }
    }

    fn list(&self, io: &Io, pages: &[Page]) -> Result<(), Failure> {
        let rules = |page: &Page| page.rules().filter_map(Result::ok).collect::<Vec<_>>();
        if self.json {
            let all = pages.iter().flat_map(rules);
            return io
                .json(&all.map(|r| json!({"code": r.code, "title": r.title, "page": r.page})).collect());
        }
        let mut text = String::new();
        for page in pages {
            text += &format!("{}\n", page.title());
            for rule in rules(page) {
                text += &format!("  {:<5} {}\n", rule.code, rule.title);
            }
        }
        io.stdout(text.as_bytes())
    }
}

fn record(rule: &Rule) -> Value {
    json!({"code": rule.code, "title": rule.title, "statement": rule.statement, "source": rule.source,
           "checked_by": rule.checked_by, "error": rule.error, "page": rule.page})
}

fn unknown(code: &str) -> Report {
    let report = Report::error("rule", format!("there is no rule `{code}`"));
    let near = |report: Report, rule: &Rule| report.note("nearest", format!("{} {}", rule.code, rule.title));
    nearest(code).iter().fold(report, near).note("instead", "`warploom rule` lists every rule")
}
