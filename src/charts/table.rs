//! A table of text that can be shown, copied and saved.

use serde::{Deserialize, Serialize};

/// A table: one heading a column, one text a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What the table shows.
    pub title: String,
    /// Column headings.
    pub columns: Vec<String>,
    /// Cells, row after row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            title: title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Comma-separated values as in RFC 4180, with `\n` between rows.
    pub fn to_csv(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| csv_cell(c)).collect();
            cells.join(",") + "\n"
        };
        std::iter::once(&self.columns)
            .chain(&self.rows)
            .map(|row| line(row))
            .collect()
    }

    /// A GitHub-flavoured Markdown table.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells
                .iter()
                .map(|c| c.replace('|', "\\|").replace(['\n', '\r'], " "))
                .collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<String> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, _)| if self.is_numeric(i) { "--:" } else { "---" }.to_owned())
            .collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.columns) + &format!("|{}|\n", rule.join("|")) + &rows
    }

    /// A LaTeX `tabular` with the rules of the `booktabs` package.
    pub fn to_latex(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| latex_cell(c)).collect();
            cells.join(" & ") + " \\\\\n"
        };
        let align: String = (0..self.columns.len())
            .map(|i| if self.is_numeric(i) { 'r' } else { 'l' })
            .collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!(
            "% {}\n\\begin{{tabular}}{{{align}}}\n\\toprule\n{}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n",
            self.title.replace(['\n', '\r'], " "),
            line(&self.columns),
        )
    }

    /// Whether every filled cell of a column begins like a number.
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self
            .rows
            .iter()
            .filter_map(|r| r.get(column))
            .filter(|c| !c.is_empty())
            .peekable();
        cells.peek().is_some()
            && cells.all(|c| {
                let c = c.trim_start_matches(['−', '-', '+', '<', '≈', ' ']);
                c.starts_with(|d: char| d.is_ascii_digit() || d == '∞' || d == '–')
            })
    }
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn latex_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '±' => out.push_str("$\\pm$"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '∞' => out.push_str("$\\infty$"),
            'φ' => out.push_str("$\\varphi$"),
            'ω' => out.push_str("$\\omega$"),
            'σ' => out.push_str("$\\sigma$"),
            'ε' => out.push_str("$\\varepsilon$"),
            '²' => out.push_str("$^2$"),
            '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new("Errors", ["method", "error, 5 shots"]);
        table.push(["φ-CAMEL", "0.01 ± 0.002"]);
        table.push(["a \"quoted\" | name_1", "−3"]);
        table
    }

    #[test]
    fn csv_is_read_back_by_a_csv_reader() {
        let text = example().to_csv();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().unwrap(), vec!["method", "error, 5 shots"]);
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows[1], vec!["a \"quoted\" | name_1", "−3"]);
    }

    #[test]
    fn markdown_aligns_numbers_to_the_right_and_escapes_bars() {
        let text = example().to_markdown();
        assert!(text.contains("|---|--:|"), "{text}");
        assert!(text.contains("\\| name_1"), "{text}");
    }

    #[test]
    fn latex_escapes_what_latex_would_read() {
        let text = example().to_latex();
        assert!(text.contains("name\\_1"), "{text}");
        assert!(
            text.contains("$\\varphi$-CAMEL & 0.01 $\\pm$ 0.002 \\\\"),
            "{text}"
        );
        assert!(text.contains("{lr}"), "{text}");
    }
}
