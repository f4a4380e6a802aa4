//! Places in a text: lines, columns, and the stretch of a line that is shown.

use super::diagnostic::Diagnostic;

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextPlace {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl TextPlace {
    /// The byte offset of a line and a column in bytes, both from 1: the start of the text, of the line, or its end,
    /// where there is no such place. This is how readers of JSON count.
    pub fn offset_of(text: &str, line: usize, column: usize) -> usize {
        let start = match line.checked_sub(2) {
            None => 0,
            Some(before) => text.match_indices('\n').nth(before).map_or(text.len(), |(at, _)| at + 1),
        };
        let rest = text.get(start..).unwrap_or("");
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let mut at = start + column.saturating_sub(1).min(length);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Columns of source shown around a caret.
pub(super) const WIDTH: usize = 120;

impl Diagnostic {
    /// Line and column in the text that was read.
    pub fn place(&self, text: &str) -> Option<TextPlace> {
        let offset = self.offset? as usize;
        Some(LineCounter::new(text).place(offset))
    }
}

/// Counts lines, going on from the place asked for last.
pub(super) struct LineCounter<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl<'t> LineCounter<'t> {
    pub(super) fn new(text: &'t str) -> LineCounter<'t> {
        LineCounter { text, offset: 0, line: 1 }
    }

    /// Start of the line that holds an offset, and the offset, both on character boundaries.
    fn bounds(&self, offset: usize) -> (usize, usize) {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let start = self.text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |n| n + 1);
        (start, at)
    }

    pub(super) fn place(&mut self, offset: usize) -> TextPlace {
        let (start, at) = self.bounds(offset);
        if start < self.offset {
            (self.offset, self.line) = (0, 1);
        }
        let between = self.text.as_bytes().get(self.offset..start).unwrap_or(&[]);
        self.line += between.iter().filter(|b| **b == b'\n').count();
        self.offset = start;
        let column = 1 + self.text.get(start..at).map_or(0, |head| head.chars().count());
        TextPlace { line: self.line, column }
    }

    /// The part of the line around an offset that is shown, and the bytes of it under the caret.
    pub(super) fn excerpt(&self, offset: usize) -> (&'t str, std::ops::Range<usize>) {
        let (start, at) = self.bounds(offset);
        // No further than is shown: a line may have megabytes.
        let mut end = self.text.len().min(at + 2 * WIDTH);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let tail = self.text.get(at..end).unwrap_or("");
        let token = tail
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_.$%@#!^".contains(c)))
            .unwrap_or(tail.len())
            .min(WIDTH);
        // Control characters and line ends stay outside.
        let end = at + tail.find(['\n', '\r']).unwrap_or(tail.len());
        let mut first = start.max(at.saturating_sub(2 * WIDTH));
        while !self.text.is_char_boundary(first) {
            first += 1;
        }
        let shown = self.text.get(first..end).unwrap_or("");
        let caret = at - first;
        (shown, caret..(caret + token).min(shown.len()).max(caret))
    }
}
