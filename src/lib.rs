//! Interpretable meta-learning of physical systems, in the browser and on the command line.
//!
//! Data flows one way: a link or a form gives a checked [`experiments::spec::Spec`]; the
//! [`engine`] runs it on a device and streams events; the report is drawn by [`charts`] and
//! [`ui`], and gives a new link.
//!
//! The science (`systems`, `learners`, `identification`, `control`, `experiments`) knows nothing
//! of browsers and runs the same natively.

pub mod charts;
pub mod control;
pub mod engine;
pub mod experiments;
pub mod identification;
pub mod learners;
pub mod random;
pub mod systems;
pub mod ui;
