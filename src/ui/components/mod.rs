//! The parts that pages are made of. Nothing here knows of experiments.

mod chart_view;
mod data_table;
mod drop_zone;
mod empty;
mod field_canvas;
mod menu;
mod notice;
mod number_field;
mod playback;
mod progress_bar;
mod readout;
mod robot_canvas;
mod scale;
mod segmented;
mod select_field;
mod share_box;
mod slider;

pub use chart_view::{ChartTools, ChartView};
pub use data_table::DataTable;
pub use drop_zone::DropZone;
pub use empty::Empty;
pub use field_canvas::FieldCanvas;
pub use menu::{Menu, MenuItem};
pub use notice::{Notice, Tone};
pub use number_field::NumberField;
pub use playback::Playback;
pub use progress_bar::ProgressBar;
pub use readout::Readout;
pub use robot_canvas::RobotCanvas;
pub use scale::Scale;
pub use segmented::Segmented;
pub use select_field::SelectField;
pub use share_box::ShareBox;
pub use slider::Slider;
