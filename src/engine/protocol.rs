//! What the page and the engine say to each other, as JSON text.
//!
//! The engine says [`Reply::Ready`] once; requests before that are lost. The page answers with
//! [`Request::Hello`], and both refuse to work with another [`PROTOCOL`] (see [`agree`]).

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use super::parcel::Parcel;
use crate::charts::nullable;
use crate::experiments::{
    bench::{Measured, Plan},
    dataset::{
        report::{DataReport, DataSpec},
        table::Outline,
    },
    explore::{Answer, Origin},
    live::{Command, Tick},
    online_run::{OnlineRun, OnlineSpec},
    record::Record,
    report::{Adaptation, Report},
    rerun::Rerun,
    spec::Spec,
};

/// Version of these messages.
pub const PROTOCOL: u32 = 4;

/// Whether the other side, which speaks this protocol, is understood; if not, what a visitor can do.
pub fn agree(protocol: u32) -> Result<(), String> {
    if protocol == PROTOCOL {
        return Ok(());
    }
    Err(format!(
        "the page and its engine are of different versions (protocols {protocol} and {PROTOCOL}); reload the page to get both anew"
    ))
}

/// From the page to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "a request lives for a moment")]
pub enum Request {
    /// The page's protocol version.
    Hello {
        /// Its [`PROTOCOL`].
        protocol: u32,
    },
    /// Run something.
    Start {
        /// Number of the job, chosen by the page; every event carries it.
        job: u32,
        /// What to run.
        work: Box<Work>,
    },
    /// Do something to a running demonstration.
    Command {
        /// Number of its job.
        job: u32,
        /// What to do.
        command: Command,
    },
    /// Stop a job.
    Cancel {
        /// Its number.
        job: u32,
    },
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Work {
    /// Trains and evaluates a model.
    Experiment(Spec),
    /// Asks a trained model about an environment.
    Explore(Spec),
    /// Takes over a model that was trained earlier, so that it can be asked.
    Adopt {
        /// What it was trained for.
        spec: Box<Spec>,
        /// The model.
        weights: Weights,
        /// Where the page has it from.
        origin: Origin,
    },
    /// Runs the live demonstration until it is cancelled.
    Live,
    /// Reads the visitor's file and says what is in it.
    Outline,
    /// Learns from the visitor's file.
    Dataset(Box<DataSpec>),
    /// Makes cells of a table again.
    Rerun(Rerun),
    /// Measures this machine.
    Bench(Plan),
    /// Runs online control once, in (a multiple of) real time.
    Online(OnlineSpec),
}

/// From the engine to the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// The engine has loaded.
    Ready {
        /// Its [`PROTOCOL`].
        protocol: u32,
        /// Whether it can use WebGPU.
        gpu: bool,
    },
    /// Something happened in a job.
    Event {
        /// The job's number.
        job: u32,
        /// What happened.
        event: Event,
    },
    /// The engine has panicked and is gone.
    Crashed {
        /// What it said.
        message: String,
    },
}

/// The course of a job: its data (`Making`, `Data`), by which its device is chosen, `Started`, `Progress` and
/// results on the way, then one of the events of which [`Event::is_last`] holds. `Note` and `Alive` may come at
/// any time before that, and a second `Started` where the device failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The job has begun.
    Started {
        /// Where it runs.
        device: DeviceUsed,
    },
    /// Nothing new, but it works.
    Alive,
    /// Something the visitor should know.
    Note(String),
    /// How far it is.
    Progress(Progress),
    /// How many of the training environments have been simulated.
    Making {
        /// So many.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// The training data exist.
    Data {
        /// Tasks.
        tasks: usize,
        /// Samples in each.
        samples: usize,
    },
    /// The model is trained and adapted.
    Adapted(Parcel<Adaptation>),
    /// Steps of the live demonstration.
    Ticks(Parcel<Ticks>),
    /// The trained model as a safetensors file.
    Weights(Weights),
    /// A cell of a table.
    Record(Parcel<Record>),
    /// A measurement of a benchmark.
    Measured(Parcel<Measured>),
    /// Steps of a run of online control.
    Online(Parcel<OnlineRun>),
    /// The end, with everything.
    Finished(Parcel<Report>),
    /// The answer of a trained model.
    Answered(Parcel<Answer>),
    /// The end of [`Work::Outline`].
    Outline(Parcel<Outline>),
    /// The end of [`Work::Dataset`].
    Learned(Parcel<DataReport>),
    /// The end; everything has been said.
    Done,
    /// The end of a job that may be faster on WebGPU, and why. It starts again in the engine that has it.
    TryWebgpu(String),
    /// Stopped on request.
    Cancelled,
    /// Stopped by an error.
    Failed(String),
}

impl Event {
    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        matches!(
            self,
            Self::Finished(_)
                | Self::Answered(_)
                | Self::Outline(_)
                | Self::Learned(_)
                | Self::Done
                | Self::TryWebgpu(_)
                | Self::Cancelled
                | Self::Failed(_)
        )
    }
}

/// Steps of the live demonstration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticks {
    /// The steps since the last message.
    pub ticks: Vec<Tick>,
    /// Time that one step of each lane took [s].
    pub seconds_a_tick: Vec<f64>,
}

/// The bytes of a safetensors file; hexadecimal digits in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Weights(pub Vec<u8>);

impl From<Weights> for String {
    fn from(weights: Weights) -> Self {
        let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
        let bytes = weights.0.iter();
        bytes
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
            .collect()
    }
}

impl TryFrom<String> for Weights {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = text
            .chars()
            .map(|c| c.to_digit(16).map(|digit| digit as u8))
            .collect::<Option<Vec<u8>>>()
            .ok_or("weights must be hexadecimal digits")?;
        let (pairs, rest) = digits.as_chunks::<2>();
        if !rest.is_empty() {
            return Err("weights must have two hexadecimal digits a byte");
        }
        let bytes = pairs.iter().map(|[high, low]| high << 4 | low);
        Ok(Self(bytes.collect()))
    }
}

/// Where a job ran, and why there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUsed {
    /// `cpu` or `webgpu`.
    pub name: String,
    /// The adapter's own name, if it has one.
    pub adapter: String,
    /// Why this device.
    pub reason: String,
}

/// How far training is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Steps done.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// Training loss: mean squared error, in the target's unit squared; NaN before the first is known.
    #[serde(with = "nullable::number")]
    pub loss: f64,
    /// Speed.
    pub steps_per_second: f64,
    /// Time left [s].
    pub seconds_left: f64,
}

/// Writes a message.
pub fn encode(message: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(message)
}

/// Reads a message.
pub fn decode<M: DeserializeOwned>(text: &str) -> Result<M, serde_json::Error> {
    serde_json::from_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_wire() {
        let progress = Progress {
            step: 3,
            steps: 10,
            loss: 0.1 + 0.2,
            steps_per_second: 1e3,
            seconds_left: 7e-3,
        };
        let reply = Reply::Event {
            job: 7,
            event: Event::Progress(progress),
        };
        assert_eq!(decode::<Reply>(&encode(&reply).unwrap()).unwrap(), reply);
    }

    #[test]
    fn progress_without_a_loss_survives_the_wire() {
        let progress = Progress {
            step: 3,
            steps: 10,
            loss: f64::NAN,
            steps_per_second: 1e3,
            seconds_left: 7e-3,
        };
        let read: Progress = decode(&encode(&progress).unwrap()).unwrap();
        assert!(read.loss.is_nan() && read.step == 3, "{read:?}");
    }

    #[test]
    fn another_protocol_is_refused_with_both_numbers() {
        assert_eq!(agree(PROTOCOL), Ok(()));
        let why = agree(PROTOCOL + 7).unwrap_err();
        let both = format!("protocols {} and {PROTOCOL}", PROTOCOL + 7);
        assert!(why.contains(&both) && why.contains("reload"), "{why}");
    }

    #[test]
    fn weights_survive_the_wire() {
        let event = Event::Weights(Weights((0..=255).collect()));
        assert_eq!(decode::<Event>(&encode(&event).unwrap()).unwrap(), event);
        assert!(decode::<Weights>("\"0\"").is_err());
        assert!(decode::<Weights>("\"0g\"").is_err());
    }

    #[test]
    fn a_damaged_message_is_an_error() {
        assert!(decode::<Request>("{\"Start\":{\"job\":1").is_err());
    }
}
