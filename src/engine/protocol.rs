//! What the page and the engine say to each other, as JSON text.
//!
//! The engine says [`Reply::Ready`] once; requests before that are lost. The page answers with
//! [`Request::Hello`], and both refuse to work with another [`PROTOCOL`].

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::experiments::{
    live::{Command, Tick},
    report::{Partial, Report},
    spec::Spec,
};

/// Version of these messages.
pub const PROTOCOL: u32 = 1;

/// From the page to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        work: Work,
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
    /// Runs the live demonstration until it is cancelled.
    Live,
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

/// The course of a job: `Started`, any number of `Note`, `Progress` and `Partial`, then one of
/// `Finished`, `Cancelled` and `Failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The job has begun.
    Started {
        /// Where it runs.
        device: DeviceUsed,
    },
    /// Something the visitor should know.
    Note(String),
    /// How far it is.
    Progress(Progress),
    /// A result on the way.
    Partial(Partial),
    /// Steps of the live demonstration.
    Ticks {
        /// The steps since the last message.
        ticks: Vec<Tick>,
        /// Time that one step took [s].
        seconds_a_tick: f64,
    },
    /// The end, with everything.
    Finished(Box<Report>),
    /// Stopped on request.
    Cancelled,
    /// Stopped by an error.
    Failed(String),
}

impl Event {
    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Finished(_) | Self::Cancelled | Self::Failed(_))
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
    /// Training loss: mean squared error, in the target's unit squared.
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
    fn a_damaged_message_is_an_error() {
        assert!(decode::<Request>("{\"Start\":{\"job\":1").is_err());
    }
}
