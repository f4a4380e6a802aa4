//! MiniMalloc's CSV: reading in any column order, printing with offsets (B61).

use super::{LiveSpan, PackItem, PackOptions, PackOutcome, PackProblem, TimeSegment, pack};
use std::fmt::Write;

/// A packing problem read from CSV, with its rows for printing.
#[derive(Clone, Debug)]
pub struct CsvProblem {
    /// The problem.
    pub problem: PackProblem,
    header: String,
    rows: Vec<String>,
    ids: Vec<String>,
    /// Column that already holds offsets, if any.
    offset_column: Option<usize>,
}

/// Why a CSV file was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CsvError {
    /// Line, from 1.
    pub line: usize,
    /// Column name, if one is at fault.
    pub column: Option<String>,
    /// Which field of the line that is, from 0; `None` where the line has no such field.
    pub field: Option<usize>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl std::fmt::Display for CsvError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.column {
            Some(c) => write!(f, "line {}, column '{c}': {} [B61]", self.line, self.message),
            None => write!(f, "line {}: {} [B61]", self.line, self.message),
        }
    }
}

impl std::error::Error for CsvError {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Id,
    Lower,
    /// Exclusive.
    Upper,
    /// Inclusive.
    End,
    Size,
    Alignment,
    Offset,
    Gaps,
    Hint,
}

fn column(name: &str) -> Option<Column> {
    Some(match name {
        "id" | "buffer" | "buffer_id" => Column::Id,
        "lower" | "start" | "begin" => Column::Lower,
        "upper" => Column::Upper,
        "end" => Column::End,
        "size" => Column::Size,
        "alignment" => Column::Alignment,
        "offset" => Column::Offset,
        "gaps" => Column::Gaps,
        "hint" => Column::Hint,
        _ => return None,
    })
}

fn bad(line: usize, column: Option<&str>, message: impl Into<String>) -> CsvError {
    CsvError { line, column: column.map(str::to_string), field: None, message: message.into() }
}

impl CsvProblem {
    /// Reads a CSV file; blank lines are skipped.
    ///
    /// # Errors
    /// The first line that does not fit.
    pub fn parse(text: &str, capacity: Option<u64>) -> Result<CsvProblem, CsvError> {
        if capacity == Some(0) {
            return Err(bad(1, None, "the capacity is 0; nothing fits"));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().enumerate().map(|(n, l)| (n + 1, l.trim())).filter(|l| !l.1.is_empty());
        let (at, header) =
            lines.next().ok_or_else(|| bad(1, None, "the file is empty; a header is needed"))?;
        let columns = header_columns(at, header)?;
        let mut out = CsvProblem {
            problem: PackProblem { segments: vec![TimeSegment::Linear], capacity, ..PackProblem::default() },
            header: header.to_string(),
            rows: Vec::new(),
            ids: Vec::new(),
            offset_column: columns.iter().position(|c| *c == Column::Offset),
        };
        // Asked for membership alone, so its order never shows.
        let mut ids = std::collections::HashSet::new();
        let mut lines_of = Vec::new();
        for (line, row) in lines {
            let (id, item) = read_row(line, row, &columns).map_err(|e| {
                let at = e.column.as_deref().and_then(column);
                CsvError { field: at.and_then(|at| columns.iter().position(|c| *c == at)), ..e }
            })?;
            if !ids.insert(id) {
                return Err(bad(line, None, format!("the id '{id}' is used twice")));
            }
            out.problem.items.push(item);
            out.rows.push(row.to_string());
            out.ids.push(id.to_string());
            lines_of.push(line);
        }
        if let Err(e) = out.problem.validate() {
            let line = e.item.and_then(|i| lines_of.get(i)).copied();
            return Err(bad(line.unwrap_or(at), None, e.message));
        }
        Ok(out)
    }

    /// The id of every item, in the order of the problem.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The rows as read, with the offsets.
    pub fn print(&self, offsets: &[u64]) -> String {
        let mut out = String::new();
        let header = if self.offset_column.is_some() { String::new() } else { ",offset".into() };
        let _ = writeln!(out, "{}{header}", self.header);
        for (row, offset) in self.rows.iter().zip(offsets) {
            match self.offset_column {
                Some(at) => {
                    let fields = row
                        .split(',')
                        .enumerate()
                        .map(|(k, f)| if k == at { offset.to_string() } else { f.to_string() });
                    let _ = writeln!(out, "{}", fields.collect::<Vec<_>>().join(","));
                }
                None => {
                    let _ = writeln!(out, "{row},{offset}");
                }
            }
        }
        out
    }
}

fn header_columns(at: usize, header: &str) -> Result<Vec<Column>, CsvError> {
    let mut columns: Vec<Column> = Vec::new();
    for (field, name) in header.split(',').map(str::trim).enumerate() {
        let wrong = |message| CsvError { field: Some(field), ..bad(at, Some(name), message) };
        let c = column(name).ok_or_else(|| wrong("unknown column"))?;
        if columns.contains(&c) {
            return Err(wrong("the column stands twice"));
        }
        columns.push(c);
    }
    let has = |c| columns.contains(&c);
    let missing = [(has(Column::Id), "id"), (has(Column::Lower), "lower"), (has(Column::Size), "size")];
    if let Some((_, name)) = missing.iter().find(|m| !m.0) {
        return Err(bad(at, Some(name), "the column is missing"));
    }
    match (has(Column::Upper), has(Column::End)) {
        (true, true) => Err(bad(at, Some("end"), "either upper (exclusive) or end (inclusive), not both")),
        (false, false) => Err(bad(at, Some("upper"), "the column is missing")),
        _ => Ok(columns),
    }
}

fn read_row<'a>(line: usize, row: &'a str, columns: &[Column]) -> Result<(&'a str, PackItem), CsvError> {
    let fields: Vec<&str> = row.split(',').map(str::trim).collect();
    if fields.len() != columns.len() {
        let m = format!("{} fields, the header has {}", fields.len(), columns.len());
        return Err(bad(line, None, m));
    }
    let field = |c| columns.iter().position(|x| *x == c).and_then(|k| fields.get(k)).copied();
    let number = |c, name: &str| -> Result<Option<i64>, CsvError> {
        match field(c).filter(|f| !f.is_empty()) {
            None => Ok(None),
            Some(text) => {
                let n = text.parse::<i64>().ok().filter(|n| (0..1 << 60).contains(n));
                n.map(Some)
                    .ok_or_else(|| bad(line, Some(name), format!("'{text}' is no number from 0 to 2^60")))
            }
        }
    };
    let need = |n: Option<i64>, name: &str| n.ok_or_else(|| bad(line, Some(name), "the field is empty"));
    let inclusive = columns.contains(&Column::End);
    let lower = need(number(Column::Lower, "lower")?, "lower")?;
    let upper = match inclusive {
        true => need(number(Column::End, "end")?, "end")? + 1,
        false => need(number(Column::Upper, "upper")?, "upper")?,
    };
    if upper <= lower {
        return Err(bad(line, None, format!("the lifetime ends at {upper}, not after its start at {lower}")));
    }
    let size = need(number(Column::Size, "size")?, "size")?.unsigned_abs();
    let align = number(Column::Alignment, "alignment")?.unwrap_or(1).unsigned_abs();
    if align == 0 {
        return Err(bad(line, Some("alignment"), "an alignment is at least 1"));
    }
    let fixed = number(Column::Offset, "offset")?.map(i64::unsigned_abs);
    let live = spans(line, field(Column::Gaps).unwrap_or(""), lower, upper, size, inclusive)?;
    Ok((field(Column::Id).unwrap_or(""), PackItem { size, align, fixed, live }))
}

/// The lifetime less its gaps: in a gap `a-b` the item is absent, in `a-b@lo:hi` only its bytes
/// `[lo, hi)` are in use.
fn spans(
    line: usize,
    gaps: &str,
    lower: i64,
    upper: i64,
    size: u64,
    inclusive: bool,
) -> Result<Vec<LiveSpan>, CsvError> {
    let wrong = |gap: &str| bad(line, Some("gaps"), format!("'{gap}' is not of the form 7-9 or 7-9@0:64"));
    let mut out = Vec::new();
    let mut at = lower;
    let span = |start: i64, end: i64, window| LiveSpan { segment: 0, start, len: end - start, window };
    for gap in gaps.split_whitespace() {
        let (times, window) = match gap.split_once('@') {
            Some((t, w)) => (t, Some(w)),
            None => (gap, None),
        };
        let (a, b) = times.split_once('-').ok_or_else(|| wrong(gap))?;
        let parse =
            |s: &str| s.parse::<i64>().ok().filter(|n| (0..1 << 60).contains(n)).ok_or_else(|| wrong(gap));
        let (a, b) = (parse(a)?, parse(b)? + i64::from(inclusive));
        if a < at || b <= a || b > upper {
            return Err(bad(
                line,
                Some("gaps"),
                format!("the gap '{gap}' is not inside the lifetime, after the gap before it"),
            ));
        }
        if a > at {
            out.push(span(at, a, None));
        }
        if let Some(w) = window {
            let (lo, hi) = w.split_once(':').ok_or_else(|| wrong(gap))?;
            let (lo, hi) = (parse(lo)?.unsigned_abs(), parse(hi)?.unsigned_abs());
            if lo >= hi || hi > size {
                return Err(bad(
                    line,
                    Some("gaps"),
                    format!("the window of '{gap}' is not inside the {size} bytes"),
                ));
            }
            out.push(span(a, b, Some((lo, hi))));
        }
        at = b;
    }
    if at < upper {
        out.push(span(at, upper, None));
    }
    Ok(out)
}

/// Packs a CSV file: its text, the outcome and, if it fits, the rows with their offsets. What the
/// command does.
///
/// # Errors
/// As [`CsvProblem::parse`].
pub fn pack_csv(
    text: &str,
    capacity: Option<u64>,
    options: &PackOptions<'_>,
) -> Result<(PackOutcome, Option<String>), CsvError> {
    let csv = CsvProblem::parse(text, capacity)?;
    let outcome = pack(&csv.problem, options);
    let printed = match &outcome {
        PackOutcome::Fits { offsets, .. } => Some(csv.print(offsets)),
        _ => None,
    };
    Ok((outcome, printed))
}
