//! Swing-ups that were followed with the adapted models, as `camel track` writes them.

use serde::Deserialize;

use super::{Results, method_title, title};
use crate::{
    charts::{
        Table,
        number::{metres, significant},
    },
    control::tracking_trials::TrackingReport,
};

/// The swing-ups of one system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SwingUps {
    /// Name of the system.
    pub system: String,
    /// Samples of each environment that were adapted to.
    pub shots: usize,
    /// Test environments.
    pub trials: usize,
    /// How each controller followed.
    pub methods: Vec<TrackingReport>,
}

impl Results {
    /// Who ended upright and how far from the reference, if a system swings up.
    pub fn swing_ups(&self, system: &str) -> Option<Table> {
        let of_system = |swing_ups: &&SwingUps| swing_ups.system == system;
        let swing_ups = self.swing_ups.iter().find(of_system)?;
        let name = format!(
            "{}: swing-ups with a model adapted from {} samples, {} robots",
            title(system),
            swing_ups.shots,
            swing_ups.trials
        );
        let columns = [
            "Controller",
            "Upright at the end [%]",
            "Total distance of the tip, median [m]",
            "Largest [m]",
        ];
        let mut table = Table::new(name, columns);
        for report in &swing_ups.methods {
            table.push([
                controller(&report.method),
                significant(100.0 * report.success, 3),
                metres(report.total_error.median),
                metres(report.total_error.max),
            ]);
        }
        Some(table)
    }
}

/// Name of a controller for people.
fn controller(name: &str) -> String {
    match name {
        "analytic" => "Textbook, no friction".to_owned(),
        "oracle" => "Oracle".to_owned(),
        _ => method_title(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_swing_ups_are_shown_for_the_robots_that_swing_up() {
        let text = include_str!("../../../public/results/tracking.json");
        let results = Results {
            swing_ups: serde_json::from_str(text).unwrap(),
            ..Results::default()
        };
        for system in ["cartpole", "arm"] {
            let table = results.swing_ups(system).unwrap();
            let first = |row: &&Vec<String>| row[0] == "CAMEL";
            let camel = table.rows.iter().find(first).unwrap();
            assert!(camel[1].parse::<f64>().unwrap() > 50.0, "{camel:?}");
            assert!(camel[2].parse::<f64>().unwrap() > 0.0, "{camel:?}");
            let oracle = table.rows.last().unwrap();
            assert_eq!(oracle[..3], ["Oracle", "100", "0"]);
        }
        assert_eq!(results.swing_ups("upkie"), None);
    }
}
