//! The control flow of the functions in a text, block by block.

use std::collections::{BTreeMap, BTreeSet};

use super::statement::{Line, Statement};

/// A run of lines that is entered at its first and left at its last.
pub(super) struct Block {
    /// Whether a function starts here.
    pub entry: bool,
    /// The line behind the last.
    pub end: usize,
    /// First lines of the blocks that may follow.
    pub next: Vec<usize>,
}

/// The blocks of all functions by first line.
pub(super) fn blocks(lines: &[Line]) -> BTreeMap<usize, Block> {
    let labels: BTreeMap<&str, usize> = lines
        .iter()
        .enumerate()
        .filter_map(|(i, line)| match line.statement {
            Statement::Label(name) => Some((name, i)),
            _ => None,
        })
        .collect();
    let mut starts: BTreeSet<usize> = labels.values().copied().collect();
    let mut entries = BTreeSet::new();
    for (i, line) in lines.iter().enumerate() {
        if line.text.starts_with('{') && line.statement == Statement::Directive {
            entries.insert(i);
            starts.insert(i);
        }
        if line.jump().is_some() || line.ends() {
            starts.insert(i + 1);
        }
    }
    let mut all = BTreeMap::new();
    for &first in starts.iter().filter(|&&s| s < lines.len()) {
        let end = starts.range(first + 1..).next().copied().unwrap_or(lines.len()).min(lines.len());
        let last = &lines[end - 1];
        let target = last.jump().and_then(|(label, _)| labels.get(label).copied());
        let falls = !last.ends() && last.jump().is_none_or(|(_, conditional)| conditional);
        let next = target.into_iter().chain((falls && end < lines.len()).then_some(end)).collect();
        all.insert(first, Block { entry: entries.contains(&first), end, next });
    }
    all
}
