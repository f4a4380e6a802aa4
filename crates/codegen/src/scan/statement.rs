//! PTX as a list of statements: just enough to see registers and jumps.

use std::collections::BTreeMap;

use crate::flow::{Step, natural_loops};

/// What a statement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement<'a> {
    /// `$L__BB0_1:`
    Label(&'a str),
    /// A line that starts with a dot, or a brace.
    Directive,
    /// An instruction.
    Instruction {
        /// `%p1` of `@%p1` or `@!%p1`.
        guard: Option<&'a str>,
        /// Name with its modifiers.
        opcode: &'a str,
        /// The text behind the name.
        operands: &'a str,
    },
}

/// A statement with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Line in the text, from 1.
    pub number: usize,
    /// The text without comment.
    pub text: &'a str,
    /// What it is.
    pub statement: Statement<'a>,
}

impl<'a> Line<'a> {
    /// Name and operands of an instruction.
    pub fn instruction(&self) -> Option<(&'a str, &'a str)> {
        match self.statement {
            Statement::Instruction { opcode, operands, .. } => Some((opcode, operands)),
            _ => None,
        }
    }

    /// Where an instruction jumps to, and whether it may also fall through.
    pub fn jump(&self) -> Option<(&'a str, bool)> {
        match self.statement {
            Statement::Instruction { guard, opcode: "bra" | "bra.uni", operands } => {
                Some((operands.trim(), guard.is_some()))
            }
            _ => None,
        }
    }

    /// Whether control ends here.
    pub fn ends(&self) -> bool {
        matches!(self.statement, Statement::Instruction { guard: None, opcode: "ret" | "exit" | "trap", .. })
    }
}

/// The registers named in a text, in order: `%r1`, `%rd2`, `%p3`, ..; special registers too.
pub fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.split('%').skip(1).filter_map(|rest| {
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        let name = rest.get(..end)?;
        (!name.is_empty()).then_some(name)
    })
}

/// The natural loops of the functions in a text, innermost ones included: indices of their instructions.
pub fn loops(lines: &[Line]) -> Vec<Vec<usize>> {
    let label = |line: &Line| match line.statement {
        Statement::Label(name) => Some(name.to_owned()),
        _ => None,
    };
    let labels: BTreeMap<String, usize> =
        lines.iter().enumerate().filter_map(|(i, line)| Some((label(line)?, i))).collect();
    let step = |line: &Line| Step {
        target: line.jump().and_then(|(name, _)| labels.get(name).copied()),
        falls: !line.ends() && line.jump().is_none_or(|(_, conditional)| conditional),
    };
    let steps: Vec<Step> = lines.iter().map(step).collect();
    let code = |body: Vec<usize>| body.into_iter().filter(|&i| lines[i].instruction().is_some()).collect();
    natural_loops(&steps).into_iter().map(|(_, body)| code(body)).collect()
}

/// Splits a text into statements, several on a line included. Comments are dropped.
pub fn statements(ptx: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for (i, line) in ptx.lines().enumerate() {
        let mut rest = line.split("//").next().unwrap_or("").trim();
        while !rest.is_empty() {
            let end = label(rest).or_else(|| rest.find(';').map(|at| at + 1)).unwrap_or(rest.len());
            let (text, others) = rest.split_at(end);
            rest = others.trim_start();
            let text = text.trim_end();
            lines.push(Line { number: i + 1, text, statement: classify(text) });
        }
    }
    lines
}

/// Length of the label a text starts with, colon included.
fn label(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'))?;
    let rest = text.get(end..)?;
    (end > 0 && rest.starts_with(':') && !rest.starts_with("::")).then_some(end + 1)
}

fn classify(text: &str) -> Statement<'_> {
    if let Some(label) = text.strip_suffix(':') {
        return Statement::Label(label.trim());
    }
    if text.starts_with(['.', '{', '}', '(', ')']) {
        return Statement::Directive;
    }
    let text = text.trim_end_matches(';').trim_end();
    let (guard, rest) = match text.strip_prefix('@') {
        Some(rest) => {
            let rest = rest.trim_start_matches('!');
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (Some(rest[..end].trim_start_matches('%')), rest[end..].trim_start())
        }
        None => (None, text),
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    Statement::Instruction { guard, opcode: &rest[..end], operands: rest[end..].trim() }
}
