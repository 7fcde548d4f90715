//! The experiments on the command line.

#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
mod data_train;
#[cfg(not(target_arch = "wasm32"))]
mod figures;
#[cfg(not(target_arch = "wasm32"))]
mod merits;
#[cfg(not(target_arch = "wasm32"))]
mod names;
#[cfg(not(target_arch = "wasm32"))]
mod output;
#[cfg(not(target_arch = "wasm32"))]
mod pretrain;
#[cfg(not(target_arch = "wasm32"))]
mod serve;
#[cfg(not(target_arch = "wasm32"))]
mod systems;
#[cfg(not(target_arch = "wasm32"))]
mod table;
#[cfg(not(target_arch = "wasm32"))]
mod times;
#[cfg(not(target_arch = "wasm32"))]
mod track;
#[cfg(not(target_arch = "wasm32"))]
mod train;
#[cfg(not(target_arch = "wasm32"))]
mod tune;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use clap::Parser as _;
    match Command::parse().run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("camel: {message}");
            std::process::ExitCode::FAILURE
        }
    }
}

/// Interpretable meta-learning of physical systems.
#[cfg(not(target_arch = "wasm32"))]
#[derive(clap::Parser)]
#[command(version)]
enum Command {
    /// Serve a built site on 127.0.0.1.
    Serve(serve::Serve),
    /// Run the experiment of a share link.
    Train(train::Train),
    /// Train the models that are shipped with the site.
    Pretrain(pretrain::Pretrain),
    /// Train and evaluate every method on every system, as the paper's tables do.
    Table(table::Table),
    /// Try the same changes of the settings for every method on every system.
    Tune(tune::Tune),
    /// Compute the curves of the paper's figures.
    Figures(figures::Figures),
    /// Measure a training step of every method on every system.
    Times(times::Times),
    /// Identify the parameters of many random environments.
    Identify(merits::Identify),
    /// Change a mass in many adaptive runs, without telling the controller.
    Adaptive(merits::Adaptive),
    /// Follow the swing-up of many cartpoles or arms with different models.
    Track(track::Track),
    /// Identify from planned measurements, against random points or a sine.
    Design(track::DesignTrials),
    /// List the systems with their parameters, units and ranges.
    Systems,
    /// Simulate a robot and write its states as CSV.
    Simulate(systems::Simulate),
    /// Evaluate a static field at points.
    Field(systems::FieldAt),
    /// Compute the arm's swing-up anew (public/references/arm-swing-up.json).
    Reference,
    /// Write a data set, one CSV file an environment.
    Data(systems::Data),
    /// Learn from a CSV file and adapt to one of its environments.
    DataTrain(data_train::DataTrain),
}

#[cfg(not(target_arch = "wasm32"))]
impl Command {
    fn run(self) -> Result<(), String> {
        match self {
            Self::Serve(serve) => serve.run(),
            Self::Train(train) => train.run(),
            Self::Pretrain(pretrain) => pretrain.run(),
            Self::Table(table) => table.run(),
            Self::Tune(tune) => tune.run(),
            Self::Figures(figures) => figures.run(),
            Self::Times(times) => times.run(),
            Self::Identify(identify) => identify.run(),
            Self::Adaptive(adaptive) => adaptive.run(),
            Self::Track(track) => track.run(),
            Self::Design(design) => design.run(),
            Self::Systems => systems::list(),
            Self::Simulate(simulate) => simulate.run(),
            Self::Field(field) => field.run(),
            Self::Reference => systems::write_reference(),
            Self::Data(data) => data.run(),
            Self::DataTrain(train) => train.run(),
        }
    }
}
