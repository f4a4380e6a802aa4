//! Columns of text.

/// Rows of cells, printed in columns two blanks apart.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this heading; none if it is empty.
    pub fn new(heading: &[&str]) -> Table {
        let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
        Table { rows: if heading.is_empty() { Vec::new() } else { vec![heading] } }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub fn print(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
            text.push_str(format!("  {}", cells.join("  ")).trim_end());
            text.push('\n');
        }
        text
    }
}
