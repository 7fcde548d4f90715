//! A CSV file as columns, read some rows at a time.
//!
//! The separator is the one of comma, semicolon and tab that is most frequent in the header. Every
//! column is kept as numbers, with the first cell that is none, and, as long as it has few
//! different values, as groups: any column can then be an input or name the environment.

use std::collections::HashMap;

use csv::{ByteRecord, ReaderBuilder};
use serde::{Deserialize, Serialize};

use super::DatasetError;

/// Largest file [bytes].
pub const MOST_BYTES: usize = 200_000_000;
/// Most rows below the header.
pub const MOST_ROWS: usize = 2_000_000;
/// Most columns.
pub const MOST_COLUMNS: usize = 100;
/// Most different values of a column that can name the environment.
pub const MOST_GROUPS: usize = 1_000;
/// Largest size of a number; beyond it squares of squares leave the finite numbers.
const LARGEST: f64 = 1e50;
/// Longest heading or name of an environment [characters]; the rest is left out.
const LONGEST_TEXT: usize = 100;
/// Rows that a page shows.
const PREVIEW: usize = 5;
/// Separators that are recognised.
const SEPARATORS: [u8; 3] = *b",;\t";

/// A file that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Columns in the order of the file.
    pub columns: Vec<Column>,
    rows: usize,
    preview: Vec<Vec<String>>,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Its cells as numbers; NaN where a cell is none.
    pub numbers: Vec<f64>,
    /// Its cells as groups of equal text, if there are not too many.
    pub groups: Option<Groups>,
    not_a_number: Option<BadCell>,
    range: Option<(f64, f64)>,
}

/// Cells as numbers of their group, in the order in which groups first appear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups {
    /// Text and number of rows of each group.
    pub names: Vec<(String, usize)>,
    /// Group of each row.
    pub of_row: Vec<u32>,
    known: HashMap<Vec<u8>, u32>,
}

/// A cell that is not a number of ordinary size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BadCell {
    /// Its row.
    pub row: usize,
    /// What it holds.
    pub text: String,
}

impl BadCell {
    /// What to say of it.
    pub fn problem(&self) -> String {
        if self.text.is_empty() {
            return "the cell is empty; a number is needed".to_owned();
        }
        format!("'{}' is not a number between -1e50 and 1e50", self.text)
    }
}

/// What a page has to know of a file to let the visitor choose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Number of rows below the header.
    pub rows: usize,
    /// The columns.
    pub columns: Vec<ColumnOutline>,
    /// The first rows.
    pub preview: Vec<Vec<String>>,
}

/// What a page has to know of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnOutline {
    /// Its heading.
    pub name: String,
    /// Smallest and largest number.
    pub range: Option<(f64, f64)>,
    /// The first cell that is not a number.
    pub not_a_number: Option<BadCell>,
    /// Different values with their number of rows, if there are few.
    pub groups: Option<Vec<(String, usize)>>,
}

/// Reads a file, some rows at a time, so that whoever waits can do something else in between.
pub struct TableReader<'a> {
    reader: csv::Reader<&'a [u8]>,
    record: ByteRecord,
    table: Table,
}

impl<'a> TableReader<'a> {
    /// Reads the header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, DatasetError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.len() > MOST_BYTES {
            return Err(DatasetError::File(format!(
                "the file may have at most {} MB, but has {:.0} MB",
                MOST_BYTES / 1_000_000,
                bytes.len() as f64 / 1e6
            )));
        }
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator(bytes))
            .from_reader(bytes);
        let mut record = ByteRecord::new();
        let found = reader.read_byte_record(&mut record).map_err(unreadable)?;
        if !found {
            return Err(DatasetError::File(
                "the file is empty; its first row must name the columns".to_owned(),
            ));
        }
        let columns = headings(&record)?.into_iter().map(Column::new).collect();
        let (rows, preview) = (0, Vec::new());
        Ok(Self {
            reader,
            record,
            table: Table {
                columns,
                rows,
                preview,
            },
        })
    }

    /// Reads up to `rows` rows more; says whether there may be others.
    pub fn read(&mut self, rows: usize) -> Result<bool, DatasetError> {
        for _ in 0..rows {
            let found = self
                .reader
                .read_byte_record(&mut self.record)
                .map_err(unreadable)?;
            if !found {
                return Ok(false);
            }
            self.table.push(&self.record)?;
        }
        Ok(true)
    }

    /// Rows read so far.
    pub fn rows(&self) -> usize {
        self.table.rows
    }

    /// The table, once all rows are read.
    pub fn finish(self) -> Result<Table, DatasetError> {
        if self.table.rows == 0 {
            return Err(DatasetError::File(
                "the file has a header but no rows below it".to_owned(),
            ));
        }
        Ok(self.table)
    }
}

impl Table {
    /// Reads a whole file.
    pub fn read(bytes: &[u8]) -> Result<Self, DatasetError> {
        let mut reader = TableReader::new(bytes)?;
        while reader.read(10_000)? {}
        reader.finish()
    }

    /// Number of rows below the header.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What a page has to know of it.
    pub fn outline(&self) -> Outline {
        let column = |column: &Column| ColumnOutline {
            name: column.name.clone(),
            range: column.range,
            not_a_number: column.not_a_number.clone(),
            groups: column.groups.as_ref().map(|groups| groups.names.clone()),
        };
        Outline {
            rows: self.rows,
            columns: self.columns.iter().map(column).collect(),
            preview: self.preview.clone(),
        }
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Result<&Column, DatasetError> {
        self.columns
            .iter()
            .find(|column| column.name == name)
            .ok_or_else(|| DatasetError::Choice(format!("there is no column '{name}'")))
    }

    fn push(&mut self, record: &ByteRecord) -> Result<(), DatasetError> {
        // The header is row 1.
        let row = self.rows + 2;
        if self.rows == MOST_ROWS {
            return Err(DatasetError::File(format!(
                "the file may have at most {MOST_ROWS} rows, but has more"
            )));
        }
        if record.len() != self.columns.len() {
            return Err(DatasetError::Row {
                row,
                problem: format!(
                    "it has {} cells, but the header names {} columns",
                    record.len(),
                    self.columns.len()
                ),
            });
        }
        for (column, cell) in self.columns.iter_mut().zip(record) {
            column.push(cell.trim_ascii(), row);
        }
        if self.rows < PREVIEW {
            self.preview.push(record.iter().map(text).collect());
        }
        self.rows += 1;
        Ok(())
    }
}

impl Column {
    fn new(name: String) -> Self {
        Self {
            name,
            numbers: Vec::new(),
            groups: Some(Groups::default()),
            not_a_number: None,
            range: None,
        }
    }

    fn push(&mut self, cell: &[u8], row: usize) {
        let number = number(cell);
        if number.is_none() && self.not_a_number.is_none() {
            self.not_a_number = Some(BadCell {
                row,
                text: text(cell),
            });
        }
        if let Some(value) = number {
            let (low, high) = self.range.unwrap_or((value, value));
            self.range = Some((low.min(value), high.max(value)));
        }
        self.numbers.push(number.unwrap_or(f64::NAN));
        if let Some(groups) = &mut self.groups
            && !groups.push(cell)
        {
            self.groups = None;
        }
    }

    /// The cells, if all of them are numbers.
    pub fn numbers(&self) -> Result<&[f64], DatasetError> {
        match &self.not_a_number {
            None => Ok(&self.numbers),
            Some(bad) => Err(DatasetError::Cell {
                row: bad.row,
                column: self.name.clone(),
                problem: bad.problem(),
            }),
        }
    }
}

impl Groups {
    /// Adds a row; refuses one group too many.
    fn push(&mut self, cell: &[u8]) -> bool {
        let group = match self.known.get(cell) {
            Some(&group) => group,
            None if self.names.len() == MOST_GROUPS => return false,
            None => {
                let group = self.names.len() as u32;
                self.names.push((text(cell), 0));
                self.known.insert(cell.to_vec(), group);
                group
            }
        };
        self.names[group as usize].1 += 1;
        self.of_row.push(group);
        true
    }
}

fn separator(bytes: &[u8]) -> u8 {
    let header = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    let count = |separator: u8| header.iter().filter(|&&byte| byte == separator).count();
    let mut best = SEPARATORS[0];
    for separator in SEPARATORS {
        if count(separator) > count(best) {
            best = separator;
        }
    }
    best
}

fn headings(record: &ByteRecord) -> Result<Vec<String>, DatasetError> {
    let names: Vec<String> = record.iter().map(text).collect();
    let fault = |problem| DatasetError::Row { row: 1, problem };
    if names.len() > MOST_COLUMNS {
        return Err(fault(format!(
            "there may be at most {MOST_COLUMNS} columns, but there are {}",
            names.len()
        )));
    }
    if names.len() < 3 {
        return Err(fault(format!(
            "there must be at least 3 columns (environment, an input, target), but there are {}",
            names.len()
        )));
    }
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(fault(
            "it must name the columns, but it holds numbers".to_owned(),
        ));
    }
    for (number, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(fault(format!("column {} has no name", number + 1)));
        }
        if let Some(first) = names[..number].iter().position(|other| other == name) {
            return Err(fault(format!(
                "columns {} and {} are both called '{name}'",
                first + 1,
                number + 1
            )));
        }
    }
    Ok(names)
}

fn number(cell: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(cell).ok()?.parse().ok()?;
    (value.abs() <= LARGEST).then_some(value)
}

fn text(cell: &[u8]) -> String {
    let all = String::from_utf8_lossy(cell.trim_ascii());
    all.chars().take(LONGEST_TEXT).collect()
}

fn unreadable(error: csv::Error) -> DatasetError {
    DatasetError::File(format!("the file cannot be read as CSV: {error}"))
}

#[cfg(test)]
mod tests;
