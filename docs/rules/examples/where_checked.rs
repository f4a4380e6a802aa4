//! Writes the items `Checked by` of the pages from the code (`make rules`).
//!
//! A rule that no file of `crates`, `fuzz` or `bench` cites keeps what its page says.

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs;
use std::io::{self, Write};

use warploom_rules::pages;

/// Files listed of each kind.
const LISTED: usize = 3;

/// Columns of a page.
const WIDTH: usize = 110;

fn main() -> io::Result<()> {
    let texts = common::texts()?;
    let citing = common::citing(&texts);
    for page in pages() {
        let mut text = page.text.to_owned();
        for rule in page.rules().filter_map(Result::ok) {
            let Some(files) = citing.get(rule.code) else { continue };
            let anchor = format!("<a id=\"{}\"></a>", rule.code);
            let item = "\n- **Checked by:** ";
            let place = text.find(&anchor).and_then(|at| text[at..].find(item).map(|n| at + n + 1));
            let end = place.and_then(|start| text[start..].find("\n- **Error:** ").map(|n| start + n));
            let (Some(start), Some(end)) = (place, end) else { continue };
            text.replace_range(start..end, &wrapped(&format!("- **Checked by:** {}", listed(files))));
        }
        if text != page.text {
            let path = common::root().join(format!("docs/rules/{}.md", page.name));
            fs::write(&path, &text)?;
            writeln!(io::stdout(), "docs/rules/{}.md", page.name)?;
        }
    }
    Ok(())
}

/// Checkers, code and tests, the most citations first.
fn listed(files: &[&str]) -> String {
    let is_test = |f: &str| f.contains("/tests/") || f.ends_with("/tests.rs") || f.starts_with("fuzz/");
    let is_checker = |f: &str| f.contains("/check/") || f.ends_with("/check.rs") || f.contains("/scan/");
    type Kind<'a> = (&'a str, &'a dyn Fn(&str) -> bool);
    let kinds: [Kind<'_>; 3] = [
        ("checker", &|f| !is_test(f) && is_checker(f)),
        ("code", &|f| !is_test(f) && !is_checker(f)),
        ("tests", &is_test),
    ];
    let lists = kinds.iter().filter_map(|(name, of)| {
        let all: Vec<_> = files.iter().filter(|f| of(f)).collect();
        let shown: Vec<_> = all.iter().take(LISTED).map(|f| format!("`{f}`")).collect();
        let more = all.len().saturating_sub(LISTED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!all.is_empty()).then(|| format!("{name}: {}{rest}", shown.join(", ")))
    });
    lists.collect::<Vec<_>>().join("; ")
}

/// The item in lines, each but the first indented.
fn wrapped(item: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in item.split(' ') {
        if column > 0 && column + 1 + word.len() > WIDTH {
            out.push_str("\n  ");
            column = 2;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out
}
