//! MiniMalloc's CSV: reading in any column order, printing with offsets (B61).

use super::{LiveSpan, PackItem, PackOptions, PackOutcome, PackProblem, TimeSegment, pack};
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

/// A packing problem read from CSV, with its rows for printing.
#[derive(Clone, Debug)]
pub struct CsvProblem {
    /// The problem.
    pub problem: PackProblem,
    /// The file, and where its rows are: a text and a list, where a million rows of their own would take most of the time.
    text: String,
    header: Range<usize>,
    rows: Vec<Range<usize>>,
    columns: Columns,
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
    /// Nothing is wrong as far as the file was read, but the time was up ([`PackOptions::deadline`]).
    pub late: bool,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    let column = column.map(str::to_string);
    CsvError { line, column, field: None, message: message.into(), late: false }
}

/// The columns of a file, by their places.
#[derive(Clone, Debug)]
struct Columns(Vec<Column>);

impl Columns {
    fn place(&self, c: Column) -> Option<usize> {
        self.0.iter().position(|x| *x == c)
    }

    fn has(&self, c: Column) -> bool {
        self.0.contains(&c)
    }
}

/// There are no more kinds of columns, and none stands twice.
const MOST_COLUMNS: usize = 9;
/// Rows after which the time is looked at.
const OFTEN: usize = 4096;

impl CsvProblem {
    /// Reads a CSV file; blank lines are skipped.
    ///
    /// # Errors
    /// The first line that does not fit.
    pub fn parse(text: &str, capacity: Option<u64>) -> Result<CsvProblem, CsvError> {
        CsvProblem::read(text, capacity, &PackOptions::default())
    }

    /// Reads a CSV file as far as there is time.
    ///
    /// # Errors
    /// As [`CsvProblem::parse`], and where the time is up.
    pub fn read(
        text: &str,
        capacity: Option<u64>,
        options: &PackOptions<'_>,
    ) -> Result<CsvProblem, CsvError> {
        if capacity == Some(0) {
            return Err(bad(1, None, "the capacity is 0; nothing fits"));
        }
        let mut lines = lines(text).filter(|l| !l.1.is_empty());
        let (at, header) =
            lines.next().ok_or_else(|| bad(1, None, "the file is empty; a header is needed"))?;
        let columns = header_columns(at, &text[header.clone()])?;
        let mut problem =
            PackProblem { segments: vec![TimeSegment::Linear], capacity, ..PackProblem::default() };
        // Asked for membership alone, so its order never shows.
        let mut ids = HashSet::new();
        let mut rows = Vec::new();
        for (line, row) in lines {
            if !rows.is_empty() && rows.len().is_multiple_of(OFTEN) && options.is_late() {
                let message = format!("the time was up after {} rows", rows.len());
                return Err(CsvError { late: true, ..bad(line, None, message) });
            }
            let (id, item) = read_row(line, &text[row.clone()], &columns).map_err(|e| {
                let at = e.column.as_deref().and_then(column);
                CsvError { field: at.and_then(|at| columns.place(at)), ..e }
            })?;
            if !ids.insert(id) {
                return Err(bad(line, None, format!("the id '{id}' is used twice")));
            }
            problem.items.push(item);
            rows.push(row);
        }
        if let Err(e) = problem.validate() {
            let row = e.item.and_then(|i| rows.get(i)).unwrap_or(&header);
            let line = 1 + text[..row.start].matches('\n').count();
            return Err(bad(line, None, e.message));
        }
        Ok(CsvProblem { problem, text: text.to_owned(), header, rows, columns })
    }

    /// The id of an item, if there is such an item.
    pub fn id(&self, item: usize) -> Option<&str> {
        let row = self.text.get(self.rows.get(item)?.clone())?;
        row.split(',').nth(self.columns.place(Column::Id)?).map(str::trim)
    }

    /// The rows as read, with the offsets.
    pub fn print(&self, offsets: &[u64]) -> String {
        let at = self.columns.place(Column::Offset);
        let mut out = String::with_capacity(self.text.len() + 8 * self.rows.len());
        out.push_str(&self.text[self.header.clone()]);
        out.push_str(if at.is_some() { "\n" } else { ",offset\n" });
        for (row, offset) in self.rows.iter().zip(offsets) {
            let row = &self.text[row.clone()];
            // Writing to a string does not fail.
            let _ = match at {
                Some(at) => {
                    let before = row.split(',').take(at).map(|f| f.len() + 1).sum();
                    let rest = row[before..].find(',').map_or("", |k| &row[before + k..]);
                    writeln!(out, "{}{offset}{rest}", &row[..before])
                }
                None => writeln!(out, "{row},{offset}"),
            };
        }
        out
    }
}

/// Every line without blanks at its ends, from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    text[at..].split('\n').enumerate().map(move |(n, line)| {
        let from = at + line.len() - line.trim_start().len();
        at += line.len() + 1;
        (n + 1, from..from + line.trim().len())
    })
}

fn header_columns(at: usize, header: &str) -> Result<Columns, CsvError> {
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
        _ => Ok(Columns(columns)),
    }
}

fn read_row<'a>(line: usize, row: &'a str, columns: &Columns) -> Result<(&'a str, PackItem), CsvError> {
    let (mut fields, mut count) = ([""; MOST_COLUMNS], 0);
    for field in row.split(',') {
        if let Some(place) = fields.get_mut(count) {
            *place = field.trim();
        }
        count += 1;
    }
    if count != columns.0.len() {
        return Err(bad(line, None, format!("{count} fields, the header has {}", columns.0.len())));
    }
    let field = |c| columns.place(c).and_then(|k| fields.get(k)).copied();
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
    let inclusive = columns.has(Column::End);
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
    // One span nearly always: a list that grows would begin with room for four.
    let mut out = Vec::with_capacity(1);
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
