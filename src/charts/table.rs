//! A table of text that can be shown, copied and saved.

use serde::{Deserialize, Serialize};

/// The narrow space between groups of digits.
const GAP: char = '\u{202f}';

/// What LaTeX calls the symbols that it does not read as they are.
const SYMBOLS: [(char, &str); 25] = [
    ('±', r"\pm"),
    ('−', "-"),
    ('×', r"\times"),
    ('∞', r"\infty"),
    ('≈', r"\approx"),
    ('≥', r"\geq"),
    ('∇', r"\nabla"),
    ('ℓ', r"\ell"),
    ('‖', r"\|"),
    ('′', "'"),
    ('²', "^2"),
    ('⁴', "^4"),
    ('ⁿ', "^n"),
    ('α', r"\alpha"),
    ('ε', r"\varepsilon"),
    ('θ', r"\theta"),
    ('λ', r"\lambda"),
    ('ξ', r"\xi"),
    ('π', r"\pi"),
    ('σ', r"\sigma"),
    ('φ', r"\varphi"),
    ('ω', r"\omega"),
    ('Θ', r"\Theta"),
    ('Σ', r"\Sigma"),
    ('→', r"\to"),
];

/// What LaTeX calls the marks that stand over a letter.
const ACCENTS: [(char, &str); 3] = [
    ('\u{304}', r"\bar"),
    ('\u{307}', r"\dot"),
    ('\u{308}', r"\ddot"),
];

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

    /// Comma-separated values as in RFC 4180, with `\n` between rows and numbers as programs read
    /// them.
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
                .map(|c| c.replace(GAP, "").replace('|', "\\|"))
                .map(|c| c.replace(['\n', '\r'], " "))
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
    let text = text.replace(GAP, "").replace('−', "-");
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// Dots and bars stand over the letter before them.
fn latex_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let mut piece = latex_char(c);
        while let Some(accent) = rest.peek().and_then(|&mark| named(&ACCENTS, mark)) {
            piece = format!("${accent}{{{}}}$", piece.trim_matches('$'));
            rest.next();
        }
        out += &piece;
    }
    out
}

fn latex_char(c: char) -> String {
    match c {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        '\\' => r"\textbackslash{}".to_owned(),
        '~' => r"\textasciitilde{}".to_owned(),
        '^' => r"\textasciicircum{}".to_owned(),
        GAP => r"\,".to_owned(),
        '\n' | '\r' => " ".to_owned(),
        '₀'..='₉' => format!("$_{}$", c as u32 - '₀' as u32),
        _ => named(&SYMBOLS, c).map_or_else(|| c.to_string(), |name| format!("${name}$")),
    }
}

fn named(names: &[(char, &'static str)], c: char) -> Option<&'static str> {
    let found = names.iter().find(|(symbol, _)| *symbol == c);
    found.map(|(_, name)| *name)
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
        assert_eq!(rows[1], vec!["a \"quoted\" | name_1", "-3"]);
    }

    #[test]
    fn groups_of_digits_are_apart_only_where_people_read_them() {
        let mut table = Table::new("Sizes", ["size"]);
        table.push(["1\u{202f}030"]);
        assert_eq!(table.to_csv(), "size\n1030\n");
        assert!(table.to_markdown().contains("| 1030 |"));
        assert!(table.to_latex().contains(r"1\,030 \\"));
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

    #[test]
    fn marks_stand_over_their_letter_in_latex() {
        assert_eq!(
            latex_cell("q\u{304}\u{307} − θ\u{308}₁"),
            r"$\dot{\bar{q}}$ $-$ $\ddot{\theta}$$_1$"
        );
    }

    #[test]
    fn latex_knows_every_symbol_of_the_costs_and_the_differences() {
        use crate::experiments::cost::{Sizes, costs};
        let differences = include_str!("../../public/differences.json");
        let costs = costs(Sizes::default()).map(|cost| cost.meta.to_owned() + cost.rule);
        // What LaTeX reads as it is.
        let plain = |c: char| c.is_ascii() || "…–“”·µûöü".contains(c);
        for c in latex_cell(&(differences.to_owned() + &costs.concat())).chars() {
            assert!(plain(c), "{c} is unknown to LaTeX");
        }
    }
}
