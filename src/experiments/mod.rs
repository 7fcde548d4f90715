//! An experiment from link to report: the checked [`spec::Spec`], its [`link`], the [`run`] and the
//! [`report::Report`].

pub mod evaluate;
pub mod link;
pub mod live;
pub mod report;
pub mod run;
pub mod spec;
