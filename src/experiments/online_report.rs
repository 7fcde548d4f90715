//! A run of online control as a file: what was run, where, with which version, and what happened.

use serde::{Deserialize, Serialize};

use super::{
    online_run::{MOST_POINTS, OnlineRun, OnlineSpec, duration},
    saved::{Saveable, SavedError},
};
use crate::engine::protocol::DeviceUsed;

/// A run and everything that is needed to repeat and to draw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnlineReport {
    /// What was run.
    pub spec: OnlineSpec,
    /// Where it ran.
    pub device: DeviceUsed,
    /// Version of the program.
    pub version: String,
    /// Estimates, errors, changes that were noticed, and times of a tick.
    pub run: OnlineRun,
}

impl OnlineReport {
    /// A run that begins. It is too small for anything but the CPU.
    pub fn new(spec: OnlineSpec) -> Self {
        Self {
            spec,
            device: DeviceUsed {
                name: "cpu".to_owned(),
                ..DeviceUsed::default()
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: OnlineRun::default(),
        }
    }
}

impl Saveable for OnlineReport {
    const FORMAT: &'static str = "camel-lab online 1";
    const KIND: &'static str = "a run of online control";

    fn check(&self) -> Result<(), SavedError> {
        let wrong = |problem: String| Err(SavedError::Inconsistent(problem));
        let Self { spec, run, .. } = self;
        let length = duration(&spec.system).unwrap_or(0.0);
        // What a link cannot hold cannot be chosen on the page either.
        let linked = OnlineSpec::of_view(&spec.system, &spec.in_view(""));
        if length == 0.0 || linked.is_none_or(|linked| linked.in_view("") != spec.in_view("")) {
            return wrong(format!(
                "a run of '{}' cannot have the controller '{}', the factor {} and the time {}",
                super::spec::shortened(&spec.system),
                super::spec::shortened(&spec.method),
                spec.factor,
                spec.time
            ));
        }
        if run.points.len() > MOST_POINTS {
            return wrong(format!(
                "a run has at most {MOST_POINTS} points, but this one has {}",
                run.points.len()
            ));
        }
        let mut times = run.points.iter().map(|p| &p.time).chain(&run.noticed);
        match times.find(|time| !(0.0..=length).contains(*time)) {
            Some(time) => wrong(format!(
                "a time must be between 0 and {length} s, but is {time}"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{
        fuzz,
        online_run::OnlinePoint,
        report::Report,
        saved::{self, read, write},
    };

    fn report() -> OnlineReport {
        let point = |time: f64, estimate: Option<f64>| OnlinePoint {
            time,
            truth: 1.5,
            estimate,
            standard_error: estimate.map(|mass| 0.1 * mass),
            error: 0.1 + 0.2,
            oracle: Some(0.1),
            missed: 1,
        };
        OnlineReport {
            run: OnlineRun {
                anew: true,
                points: vec![point(0.0, None), point(0.02, Some(1.4))],
                noticed: vec![0.02],
                ticks: 2,
                missed: 1,
                seconds_a_tick: 5.7e-5,
                seconds_a_step: 9.1e-5,
                total: Some(0.6),
                total_oracle: Some(0.2),
            },
            ..OnlineReport::new(OnlineSpec::usual("cartpole"))
        }
    }

    #[test]
    fn a_saved_run_is_opened_again_with_all_that_was_seen() {
        let text = write(&report(), &[], "Browser 1").unwrap();
        assert_eq!(saved::format(&text).as_deref(), Some(OnlineReport::FORMAT));
        for part in [
            "\"browser\":\"Browser 1\"",
            "\"name\":\"cpu\"",
            env!("CARGO_PKG_VERSION"),
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(read::<OnlineReport>(&text).unwrap().report, report());
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        let said = |change: fn(&mut OnlineReport)| {
            let mut broken = report();
            change(&mut broken);
            let text = write(&broken, &[], "").unwrap();
            read::<OnlineReport>(&text).unwrap_err().to_string()
        };
        assert!(said(|r| r.spec.system = "arm".to_owned()).contains("a run of 'arm' cannot"));
        assert!(said(|r| r.spec.method = "magic".to_owned()).contains("controller 'magic'"));
        assert!(said(|r| r.spec.factor = -1.0).contains("factor -1"));
        assert!(said(|r| r.spec.time = 99.0).contains("time 99"));
        assert!(said(|r| r.run.points[1].time = 25.0).contains("but is 25"));
        assert!(said(|r| r.run.noticed[0] = -1.0).contains("but is -1"));
        let many = |r: &mut OnlineReport| r.run.points = vec![r.run.points[0]; MOST_POINTS + 1];
        assert!(said(many).contains("this one has 501"));
        let text = write(&report(), &[], "").unwrap();
        let other = read::<Report>(&text).unwrap_err().to_string();
        assert!(other.contains("but is 'camel-lab online 1'"), "{other}");
        let short = text.replace("\"truth\"", "\"lie\"");
        let error = read::<OnlineReport>(&short).unwrap_err().to_string();
        assert!(error.contains("does not hold a run of online control: missing field"));
    }

    #[test]
    fn a_hundred_thousand_damaged_runs_of_online_control_never_panic() {
        let whole = write(&report(), &[], "Browser 1").unwrap();
        fuzz::damaged(&whole, |text| {
            if let Ok(saved) = read::<OnlineReport>(text) {
                assert!(saved.report.check().is_ok());
            }
        });
    }
}
