//! Swing-ups followed with different models, and measurements planned or not.

use camel_lab::{
    control::tracking_trials::{Correction, SwingsUp, TrackingReport, TrackingTrials},
    identification::{active::ActiveTrials, identifier::Identifier},
    learners,
    systems::{self, arm::Arm, cartpole::Cartpole},
};
use serde::Serialize;

use crate::{output::write, pretrain::shipped_or_trained};

/// Arguments of `camel track`.
#[derive(clap::Args)]
pub struct Track {
    /// Names of the systems, cartpole or arm, with commas between.
    #[arg(long, value_delimiter = ',', default_value = "cartpole")]
    system: Vec<String>,
    /// Controllers, with commas between.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "analytic,camel,anil,coda,maml,r2d2,oracle"
    )]
    methods: Vec<String>,
    /// Samples of each environment to adapt to.
    #[arg(long, default_value_t = 50)]
    shots: usize,
    /// Number of test environments.
    #[arg(long, default_value_t = 25)]
    trials: usize,
    /// Seed of environments, samples and of training where it is needed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Use the paper's weak feedback instead of the regulator along the reference.
    #[arg(long)]
    paper_feedback: bool,
    /// Leave the error over time out.
    #[arg(long)]
    summary: bool,
    /// Where to write the figures as JSON, a list of them for several systems; `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

/// Controllers that no model is trained for.
const FORMULAS: [&str; 2] = ["analytic", "oracle"];

/// The figures of `camel track` for one system.
#[derive(Serialize)]
struct Figures {
    system: String,
    shots: usize,
    trials: usize,
    seed: u64,
    feedback: Correction,
    methods: Vec<TrackingReport>,
}

impl Track {
    /// Lets every controller follow the swing-up of every system.
    pub fn run(self) -> Result<(), String> {
        for method in self.methods.iter().filter(|name| !is_formula(name)) {
            learners::method(method).map_err(|error| error.to_string())?;
        }
        let figures = self.system.iter().map(|system| self.figures(system));
        let figures: Vec<Figures> = figures.collect::<Result<_, _>>()?;
        match figures.as_slice() {
            [one] => write_json(&self.json, one),
            several => write_json(&self.json, &several),
        }
    }

    fn figures(&self, system: &str) -> Result<Figures, String> {
        let feedback = if self.paper_feedback {
            Correction::Paper
        } else {
            Correction::Regulator
        };
        let setting = TrackingTrials {
            shots: self.shots,
            trials: self.trials,
            seed: self.seed,
            correction: feedback,
        };
        let methods = match system {
            "cartpole" => self.all(&Cartpole::default(), system, setting),
            "arm" => self.all(&Arm::default(), system, setting),
            other => Err(format!(
                "swing-ups are for cartpole and arm, but the system is '{other}'"
            )),
        }?;
        Ok(Figures {
            methods,
            system: system.to_owned(),
            shots: self.shots,
            trials: self.trials,
            seed: self.seed,
            feedback,
        })
    }

    fn all<R: SwingsUp>(
        &self,
        robot: &R,
        system: &str,
        setting: TrackingTrials,
    ) -> Result<Vec<TrackingReport>, String> {
        let cases = setting.cases(robot).map_err(|error| error.to_string())?;
        let one = |method: &String| {
            let model = match is_formula(method) {
                true => None,
                false => Some(shipped_or_trained(system, method, self.seed)?),
            };
            let mut report = setting
                .run(robot, &cases, method, model.as_ref())
                .map_err(|error| error.to_string())?;
            if self.summary {
                report.error_over_time.clear();
            }
            Ok(report)
        };
        self.methods.iter().map(one).collect()
    }
}

fn is_formula(name: &str) -> bool {
    FORMULAS.contains(&name)
}

/// Arguments of `camel design`.
#[derive(clap::Args)]
pub struct DesignTrials {
    /// Name of the system: one of the charges, or cartpole.
    #[arg(long, default_value = "charges-pair")]
    system: String,
    /// Most points of a field, or steps of an input; 20 and 100 if left out.
    #[arg(long)]
    samples: Option<usize>,
    /// Standard deviation of the measurement noise, in the target's unit.
    #[arg(long, default_value_t = 0.05)]
    noise: f64,
    /// Number of test environments.
    #[arg(long, default_value_t = 50)]
    trials: usize,
    /// Seed of environments, noise and of training where it is needed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where to write the figures as JSON; `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

impl DesignTrials {
    /// Identifies from planned and from usual measurements.
    pub fn run(self) -> Result<(), String> {
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return Err(format!(
                "the noise must be 0 or more, but is {}",
                self.noise
            ));
        }
        let text = |error: &dyn std::error::Error| error.to_string();
        let system = systems::by_name(&self.system).map_err(|error| text(&error))?;
        let moves = match (system.field(), self.system.as_str()) {
            (Some(_), _) => false,
            (None, "cartpole") => true,
            (None, other) => {
                return Err(format!(
                    "measurements are planned for fields and for the cartpole, but the system is '{other}'"
                ));
            }
        };
        let model = shipped_or_trained(&self.system, "camel", self.seed)?;
        let mut identifier = Identifier::of_model(&model, system.as_ref(), self.seed)
            .map_err(|error| text(&error))?;
        let setting = ActiveTrials {
            trials: self.trials,
            samples: self.samples.unwrap_or(if moves { 100 } else { 20 }),
            noise: self.noise,
            seed: self.seed,
        };
        let report = if moves {
            setting.excitation(&Cartpole::default(), &mut identifier)
        } else {
            setting.points(system.as_ref(), &mut identifier)
        };
        write_json(&self.json, &report.map_err(|error| text(&error))?)
    }
}

fn write_json(place: &str, figures: &impl Serialize) -> Result<(), String> {
    let lines = serde_json::to_string_pretty(figures).map_err(|error| error.to_string())?;
    write(place, &(lines + "\n"))
}
