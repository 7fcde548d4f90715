//! The data of the paper's table of compute times.

use camel_lab::experiments::{list_file::ListFile, record::StepTime, step_times::step_times};

use crate::{names, output::write};

/// Arguments of `camel times`.
#[derive(clap::Args)]
pub struct Times {
    /// Systems, with commas between; all if left out.
    #[arg(long, value_delimiter = ',')]
    systems: Vec<String>,
    /// Time for each method on each system [s].
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// File that keeps the times. `-` is standard output.
    #[arg(long, default_value = "-")]
    json: String,
}

impl Times {
    /// Measures all and writes them.
    pub fn run(self) -> Result<(), String> {
        if !(self.seconds.is_finite() && self.seconds > 0.0) {
            let seconds = self.seconds;
            return Err(format!("the seconds must be above 0, but are {seconds}"));
        }
        let systems = names::systems(&self.systems)?;
        let mut file = ListFile::<StepTime>::open(&self.json)?;
        for system in systems {
            let times = step_times(&system, self.seconds).map_err(|error| error.to_string())?;
            for time in &times {
                eprintln!(
                    "{system} {}: {:.3} ms a step",
                    time.method,
                    1e3 * time.seconds
                );
            }
            file.add(times)?;
        }
        if self.json == "-" {
            write("-", &file.text()?)?;
        }
        Ok(())
    }
}
