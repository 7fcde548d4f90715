//! A visitor's own data: a CSV file with one row a sample.
//!
//! One column names the environment, one is the target, some are inputs, and some may hold physical
//! parameters that are known ([`roles`]). The file is read by the engine ([`table`]), cut into one
//! task an environment ([`tasks`]) and learned like any other system ([`run`]).

pub mod example;
pub mod report;
pub mod roles;
pub mod run;
pub mod table;
pub mod tasks;

use thiserror::Error;

/// Why a file cannot be used. The header is row 1; blank lines are not counted.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum DatasetError {
    /// The file as a whole.
    #[error("{0}")]
    File(String),
    /// One row of the file.
    #[error("row {row}: {problem}")]
    Row {
        /// Its number.
        row: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// One cell of the file.
    #[error("row {row}, column '{column}': {problem}")]
    Cell {
        /// Number of its row.
        row: usize,
        /// Name of its column.
        column: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The choice of columns, of the environment or of the shots.
    #[error("{0}")]
    Choice(String),
}
