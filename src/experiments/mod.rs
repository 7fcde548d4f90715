//! An experiment from link to report: the checked [`spec::Spec`], its [`link`], the [`run`] and the
//! [`report::Report`].

pub mod bench;
pub mod bench_accuracy;
pub mod bench_link;
pub mod bench_memory;
pub mod bench_sheet;
mod bench_steps;
pub mod compare;
pub mod cost;
pub mod curves;
pub mod data_cache;
pub mod dataset;
pub mod evaluate;
pub mod explore;
pub mod figures;
pub mod follow;
#[cfg(test)]
pub(crate) mod fuzz;
pub mod identifiers;
pub mod link;
pub mod list_file;
pub mod live;
pub mod online_report;
pub mod online_run;
pub mod parallel;
pub mod plan;
pub mod record;
pub mod report;
pub mod rerun;
pub mod run;
pub mod saved;
pub mod spec;
pub mod step_times;
pub mod table;
pub mod training;
pub mod tuning;
pub mod view;
