//! Runs the experiment of a share link, as the page does.

use camel_lab::{
    engine::{
        native::Job,
        protocol::{Event, Work},
    },
    experiments::{link::Link, report::Report, spec::Spec},
};

/// Arguments of `camel train`.
#[derive(clap::Args)]
pub struct Train {
    /// The share link, or its part after `#`.
    #[arg(default_value = "")]
    link: String,
    /// Print the whole report as JSON.
    #[arg(long)]
    json: bool,
}

impl Train {
    /// Trains and prints what the page shows.
    pub fn run(self) -> Result<(), String> {
        let spec = read(&self.link)?;
        let report = follow(Job::start(Work::Experiment(spec)))?;
        if self.json {
            let text = serde_json::to_string(&report).map_err(|error| error.to_string())?;
            println!("{text}");
        } else {
            print!("{report}");
        }
        Ok(())
    }
}

/// On the command line a link has to be right: its remarks are errors.
fn read(text: &str) -> Result<Spec, String> {
    let fragment = text.split_once('#').map_or(text, |(_, fragment)| fragment);
    let (link, remarks) = Link::read(fragment);
    if remarks.is_empty() {
        return Ok(link.spec);
    }
    Err(remarks
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; "))
}

fn follow(job: Job) -> Result<Report, String> {
    for event in &job.events {
        match event {
            Event::Started { device } => eprintln!("device: {} ({})", device.name, device.reason),
            Event::Note(note) => eprintln!("{note}"),
            Event::Progress(p) => eprint!(
                "\rstep {}/{}  loss {:.3e}  {:.0} steps/s  {:.0} s left   ",
                p.step, p.steps, p.loss, p.steps_per_second, p.seconds_left
            ),
            Event::Finished(report) => {
                eprintln!();
                return report.open();
            }
            Event::Cancelled => return Err("the run was cancelled".to_owned()),
            Event::Failed(message) => return Err(message),
            _ => {}
        }
    }
    Err("the run ended without a result".to_owned())
}
