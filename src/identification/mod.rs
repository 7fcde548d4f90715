//! Least squares, recursive least squares, change detection and error bars.
