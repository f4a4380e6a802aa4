//! A subset of LLVM's FileCheck (A21): enough for the tests of this crate and for TLX's.

use hashbrown::HashMap;
use regex_lite::{Regex, escape};

use crate::error::{AliasError, AliasErrors, Pos};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    Plain,
    Not,
    Same,
    Next,
    Dag,
    Label,
    Count(u32),
}

struct Check<'a> {
    kind: Directive,
    pattern: &'a str,
    pos: Pos,
}

/// Looks for the `CHECK` lines of `source` in `output`, in order.
///
/// # Errors
/// A21 for each directive that is not met; the search goes on at the next label.
pub fn filecheck(source: &str, output: &str) -> Result<(), AliasErrors> {
    let checks = directives(source);
    if checks.is_empty() {
        let error = AliasError::new("A21", "no CHECK lines").help("write // CHECK: .. in the file");
        return Err(error.into());
    }
    let output = canonical(output);
    let mut errors = Vec::new();
    // Labels cut the output in sections first; variables without $ end at each.
    let mut sections: Vec<(usize, usize, usize)> = Vec::new();
    let mut from = 0;
    let mut start = 0;
    for (n, check) in checks.iter().enumerate().filter(|(_, c)| c.kind == Directive::Label) {
        match find(&output, from, output.len(), check.pattern, &mut HashMap::new()) {
            Ok(Some((at, end))) => {
                sections.push((start, n, at));
                (start, from) = (n, end);
            }
            _ => {
                errors.push(miss(check, "label not found"));
                return Err(errors.into());
            }
        }
    }
    sections.push((start, checks.len(), output.len()));
    let mut begin = 0;
    let mut vars: HashMap<String, String> = HashMap::new();
    for (first, last, end) in sections {
        vars.retain(|name, _| name.starts_with('$'));
        let section = checks.get(first..last).unwrap_or(&[]);
        if let Err(error) = block(&output, begin, end, section, &mut vars) {
            errors.push(error);
        }
        begin = end;
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}

fn miss(check: &Check<'_>, what: &str) -> AliasError {
    AliasError::new("A21", format!("{what}: {}", check.pattern)).at(check.pos)
}

/// Runs of blanks are one blank, as FileCheck does without --strict-whitespace.
fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        let now = c == ' ' || c == '\t';
        if !(now && blank) {
            out.push(if now { ' ' } else { c });
        }
        blank = now;
    }
    out
}

fn directives(source: &str) -> Vec<Check<'_>> {
    let mut out = Vec::new();
    for (n, line) in source.lines().enumerate() {
        let Some(at) = line.find("CHECK") else { continue };
        let before = line.get(..at).unwrap_or("");
        if before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            continue;
        }
        let Some((word, pattern)) = line.get(at + 5..).and_then(|t| t.split_once(':')) else { continue };
        let kind = match word {
            "" | "{LITERAL}" => Directive::Plain,
            "-NOT" => Directive::Not,
            "-SAME" => Directive::Same,
            "-NEXT" => Directive::Next,
            "-DAG" => Directive::Dag,
            "-LABEL" => Directive::Label,
            _ => match word.strip_prefix("-COUNT-").and_then(|n| n.parse().ok()) {
                Some(n) => Directive::Count(n),
                None => continue,
            },
        };
        let line = u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
        let pos = Pos { line, col: u32::try_from(at).unwrap_or(0).saturating_add(1) };
        out.push(Check { kind, pattern: pattern.trim(), pos });
    }
    out
}

/// One section between labels.
fn block(
    output: &str,
    begin: usize,
    end: usize,
    checks: &[Check<'_>],
    vars: &mut HashMap<String, String>,
) -> Result<(), AliasError> {
    let mut at = begin;
    let mut nots: Vec<&Check<'_>> = Vec::new();
    // Where a run of DAG lines began, and the ends of its matches.
    let mut dag: Option<(usize, Vec<(usize, usize)>)> = None;
    for check in checks {
        if check.kind == Directive::Not {
            nots.push(check);
            continue;
        }
        if check.kind == Directive::Dag {
            let (from, taken) = dag.get_or_insert((at, Vec::new()));
            let mut search = *from;
            let found = loop {
                match find(output, search, end, check.pattern, vars).map_err(|e| e.at(check.pos))? {
                    Some((a, b)) if taken.iter().any(|(x, y)| a < *y && *x < b) => search = b.max(a + 1),
                    other => break other,
                }
            };
            let (a, b) = found.ok_or_else(|| miss(check, "not found"))?;
            taken.push((a, b));
            at = at.max(b);
            continue;
        }
        dag = None;
        let line_end = |from: usize| output.get(from..).and_then(|t| t.find('\n')).map_or(end, |n| from + n);
        let (from, to) = match check.kind {
            Directive::Same => (at, line_end(at).min(end)),
            Directive::Next => {
                let next = line_end(at).saturating_add(1).min(end);
                (next, line_end(next).min(end))
            }
            _ => (at, end),
        };
        let times = if let Directive::Count(n) = check.kind { n } else { 1 };
        let before = at;
        let mut first = None;
        let mut search = from;
        for _ in 0..times {
            let found = find(output, search, to, check.pattern, vars).map_err(|e| e.at(check.pos))?;
            let (a, b) = found.ok_or_else(|| miss(check, "not found"))?;
            first.get_or_insert(a);
            (search, at) = (b, b);
        }
        refuse_nots(output, before, first.unwrap_or(before), &nots, vars)?;
        nots.clear();
    }
    refuse_nots(output, at, end, &nots, vars)
}

fn refuse_nots(
    output: &str,
    from: usize,
    to: usize,
    nots: &[&Check<'_>],
    vars: &HashMap<String, String>,
) -> Result<(), AliasError> {
    for check in nots {
        if find(output, from, to, check.pattern, &mut vars.clone()).map_err(|e| e.at(check.pos))?.is_some() {
            return Err(miss(check, "found, but must not be"));
        }
    }
    Ok(())
}

/// The first match of a pattern in `output[from..to]`; sets the variables that it defines.
fn find(
    output: &str,
    from: usize,
    to: usize,
    pattern: &str,
    vars: &mut HashMap<String, String>,
) -> Result<Option<(usize, usize)>, AliasError> {
    let (regex, names) = compile(&canonical(pattern), vars)?;
    let Some(hay) = output.get(from..to.max(from)) else { return Ok(None) };
    let Some(found) = regex.captures(hay) else { return Ok(None) };
    for (group, name) in &names {
        if let Some(m) = found.get(*group) {
            vars.insert(name.clone(), m.as_str().to_owned());
        }
    }
    Ok(found.get(0).map(|m| (from + m.start(), from + m.end())))
}

/// `text {{re}} [[X:re]] [[X]]` as one regular expression, and which group is which variable.
fn compile(
    pattern: &str,
    vars: &HashMap<String, String>,
) -> Result<(Regex, Vec<(usize, String)>), AliasError> {
    let wrong = |what: &str| AliasError::new("A21", format!("{what} in pattern: {pattern}"));
    let mut out = String::from("(?m)");
    let mut names: Vec<(usize, String)> = Vec::new();
    let mut groups = 0;
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix("{{") {
            let (re, after) = tail.split_once("}}").ok_or_else(|| wrong("'{{' without '}}'"))?;
            out.push_str(&format!("(?:{re})"));
            groups += capture_groups(re);
            rest = after;
        } else if let Some(tail) = rest.strip_prefix("[[") {
            let end = closing(tail).ok_or_else(|| wrong("'[[' without ']]'"))?;
            let (inner, after) = (tail.get(..end).unwrap_or(""), tail.get(end + 2..).unwrap_or(""));
            let inner = inner.strip_prefix('#').unwrap_or(inner);
            match inner.split_once(':') {
                Some((name, re)) => {
                    groups += 1;
                    names.push((groups, name.to_owned()));
                    out.push_str(&format!("({re})"));
                    groups += capture_groups(re);
                }
                None => match names.iter().find(|(_, n)| n == inner) {
                    // regex-lite has no back-references; a repeated variable in one line is matched loosely.
                    Some(_) => out.push_str("[^ ,)]+"),
                    None => {
                        let value = vars.get(inner).ok_or_else(|| wrong("an undefined variable"))?;
                        out.push_str(&escape(value));
                    }
                },
            }
            rest = after;
        } else {
            let next = ["{{", "[["].iter().filter_map(|m| rest.find(m)).min().unwrap_or(rest.len());
            let (plain, after) = rest.split_at(next.max(1).min(rest.len()));
            out.push_str(&escape(plain));
            rest = after;
        }
    }
    Regex::new(&out).map(|r| (r, names)).map_err(|e| wrong(&e.to_string()))
}

/// Capturing parentheses of an expression.
fn capture_groups(re: &str) -> usize {
    let bytes = re.as_bytes();
    (0..bytes.len())
        .filter(|n| {
            bytes.get(*n) == Some(&b'(')
                && bytes.get(n + 1) != Some(&b'?')
                && n.checked_sub(1).and_then(|p| bytes.get(p)) != Some(&b'\\')
        })
        .count()
}

/// Where `]]` closes, brackets of the expression inside skipped.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 0usize;
    let mut n = 0;
    while let Some(b) = bytes.get(n) {
        match b {
            b'\\' => n += 1,
            b'[' => open += 1,
            b']' if open > 0 => open -= 1,
            b']' if bytes.get(n + 1) == Some(&b']') => return Some(n),
            _ => {}
        }
        n += 1;
    }
    None
}
