//! `π ← π − η ∇L(π)`: the paper's Algorithm 1, all tasks at once, on any device.
//!
//! A step only enqueues work. The error is summed on the device and read after every 500 steps, when the
//! trainer itself looks for divergence and plateaus, and whenever somebody awaits [`Trainer::loss`]:
//! whoever looks, and how often, changes nothing.
//!
//! With [`Optimiser::Lbfgs`] a step is one iteration on all rows, on the host ([`FullBatch`]).

use std::{f64::consts::PI, sync::Arc};

use burn::tensor::{DType, Device, Tensor, TensorData};
use rand::seq::SliceRandom as _;

use super::{
    Batch, Direct, Learner, LearnerError, Optimiser, Scaling, Settings, Shape,
    adam::Adam,
    batches::{Batches, HostRows, check_tasks, shares_inputs},
    full_batch::FullBatch,
    host_ops, learner, method,
    net::is_fused,
};
use crate::{random::generator, systems::Task};

/// Of all numbers on the device.
const PRECISION: DType = DType::F32;
/// Streams of the seed.
const FIRST_PARAMETERS: u64 = 100;
const ROW_ORDER: u64 = 101;
const HELD_OUT: u64 = 102;
/// Part of the points of a shared grid that training does not see.
const HELD_POINTS: f64 = 0.02;
/// Points from which on a shared grid can spare some: a hole in a coarse one costs more accuracy
/// than all else.
const SPARING_GRID: usize = 1_000;
/// Part of the rows of trajectories that training does not see.
const HELD_ROWS: f64 = 0.05;
/// Blocks of neighbouring rows in which trajectories are held out.
const HELD_BLOCKS: usize = 8;
/// Steps after which the trainer judges their error. Divergence and plateaus are noticed then and at the
/// end, so that this is part of the result.
const JUDGED: usize = 500;
/// Factor on the learning rate when training is restarted.
const RESTART_FACTOR: f64 = 0.3;
/// Part of the steps without improvement after which the rest of the schedule is shortened.
const PATIENCE: f64 = 0.25;
/// Smallest relative improvement of the error that counts.
const IMPROVEMENT: f64 = 0.01;
/// Part of the steps that the shortened end of the schedule takes.
const SHORT_END: f64 = 0.1;

/// How far training is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Steps done since the start or restart.
    pub step: usize,
    /// Steps that it will have made at its end, as the schedule is now.
    pub steps: usize,
    /// Part of the schedule that is done, 0 to 1.
    pub done: f64,
    /// Part of the work that is done, 0 to 1: a step over some of the rows is less of it.
    pub work: f64,
    /// Learning rate of the next step.
    pub rate: f64,
    /// Mean-square error of the last interval in the target's unit squared, once read back.
    pub error: Option<f64>,
    /// What happened that the reader should know: a restart, an early end.
    pub notices: Vec<String>,
}

impl Progress {
    /// The notices since the last call with this count of them.
    pub fn news(&self, told: &mut usize) -> &[String] {
        let news = self.notices.get(*told..).unwrap_or_default();
        *told = self.notices.len();
        news
    }
}

/// Trains one learner on a device.
#[derive(Debug)]
pub struct Trainer {
    settings: Settings,
    learner: Arc<dyn Learner>,
    direct: Option<Arc<dyn Direct>>,
    full_batch: Option<FullBatch>,
    tasks: Vec<Task>,
    scaling: Scaling,
    held: Vec<usize>,
    seed: u64,
    device: Device,
    batches: Batches,
    parameters: Tensor<1>,
    adam: Adam,
    rate: f64,
    step: usize,
    done: f64,
    pace: f64,
    /// Work of the steps so far, in usual steps.
    work: f64,
    /// Errors since somebody read them, and since they were judged.
    errors: ErrorSum,
    judged: ErrorSum,
    best: (f64, f64),
    restarted: bool,
    last_error: Option<f64>,
    notices: Vec<String>,
}

/// Errors summed on the device until somebody asks.
#[derive(Debug)]
struct ErrorSum {
    sum: Tensor<1>,
    count: usize,
}

impl Trainer {
    /// A trainer on `device`. A method that is trained as another one is
    /// trained as that one.
    pub fn new(
        settings: &Settings,
        tasks: &[Task],
        seed: u64,
        device: &Device,
    ) -> Result<Self, LearnerError> {
        check_tasks(tasks)?;
        let mut settings = settings.clone();
        settings.method = method(&settings.method)?.trained_as.to_owned();
        let shape = Shape {
            inputs: tasks[0].inputs.dim,
            tasks: tasks.len(),
        };
        let learner = learner(&settings, shape)?;
        let scaling = Scaling::of(tasks, settings.centre_targets());
        let (held, rows) = split_rows(tasks, seed);
        let device = device.clone().without_autodiff();
        let rng = generator(seed, ROW_ORDER);
        let place = (&device, PRECISION);
        let parameters = first_parameters(&*learner, seed, place);
        let full_batch = match settings.optimiser {
            Optimiser::Adam => None,
            Optimiser::Lbfgs => {
                // Learners that adapt to a part of the rows get a part of every trajectory.
                let mut mixed = rows.clone();
                mixed.shuffle(&mut generator(seed, ROW_ORDER));
                let data = HostRows::of(tasks, &scaling, &mixed);
                let host = is_fused(&parameters);
                Some(second_order(&*learner, host, data, seed, settings.steps)?)
            }
        };
        let batches = Batches::new(tasks, &scaling, rows, settings.batch, place, rng);
        Ok(Self {
            adam: Adam::new(settings.weight_decay, settings.clip),
            direct: learner.direct().filter(|_| is_fused(&parameters)),
            full_batch,
            errors: ErrorSum::new(place),
            judged: ErrorSum::new(place),
            rate: settings.learning_rate,
            pace: 1.0 / settings.steps as f64,
            settings,
            learner,
            tasks: tasks.to_vec(),
            scaling,
            held,
            seed,
            batches,
            parameters,
            device,
            step: 0,
            done: 0.0,
            work: 0.0,
            best: (f64::INFINITY, 0.0),
            restarted: false,
            last_error: None,
            notices: Vec::new(),
        })
    }

    /// Whether the schedule is at its end.
    pub fn finished(&self) -> bool {
        self.done >= 1.0
    }

    /// Enqueues one step, and waits for the device where the error is to be judged; does nothing once
    /// finished.
    pub async fn step(&mut self) -> Result<(), LearnerError> {
        if self.finished() {
            return Ok(());
        }
        self.work += self.work_of(1);
        if self.full_batch.is_some() {
            self.second_order_step();
        } else {
            self.adam_step()?;
        }
        self.step += 1;
        self.done = (self.done + self.pace).min(1.0);
        if self.done > 1.0 - 0.5 * self.pace {
            self.done = 1.0;
        }
        if self.finished() || self.step.is_multiple_of(JUDGED) {
            self.judge().await?;
        }
        Ok(())
    }

    fn adam_step(&mut self) -> Result<(), LearnerError> {
        let (gradient, error) = self.differentiate()?;
        let rate = self.rate();
        self.parameters
            .inplace(|parameters| self.adam.step(parameters, gradient, rate));
        self.add_error(error);
        Ok(())
    }

    fn add_error(&mut self, error: Tensor<1>) {
        self.errors.add(error.clone());
        self.judged.add(error);
    }

    /// The gradient `[P]` of the meta-loss of the next batch, and its error `[1]`.
    fn differentiate(&mut self) -> Result<(Tensor<1>, Tensor<1>), LearnerError> {
        let batch = self.batches.draw();
        let parameters = self.parameters.clone();
        match &self.direct {
            Some(direct) => Ok(host_ops::direct_gradient(direct, parameters, &batch)),
            None => differentiated(&*self.learner, parameters, &batch),
        }
    }

    /// The gradient of the next batch, to compare devices; the parameters stay where they are.
    pub async fn gradient(&mut self) -> Result<Vec<f64>, LearnerError> {
        let (gradient, _) = self.differentiate()?;
        read(gradient.to_data_async().await)
    }

    /// Waits until the device has done the steps so far.
    pub async fn settle(&self) -> Result<(), LearnerError> {
        self.errors.read().await.map(drop)
    }

    fn second_order_step(&mut self) {
        let Some(search) = &mut self.full_batch else {
            return;
        };
        let moved = search.step();
        let place = (&self.device, PRECISION);
        if moved.to_all_rows {
            // Errors of other rows do not compare.
            self.errors = ErrorSum::new(place);
            self.judged = ErrorSum::new(place);
            self.best = (f64::INFINITY, self.done);
            self.notices.push(format!(
                "from step {} on, training goes over all rows and no longer over a quarter of them; \
                 the error may rise there, as it now counts rows that nothing was fitted to before",
                self.step + 1
            ));
        }
        let error = Tensor::from_data([search.error()], place);
        self.add_error(error);
        if !moved.on {
            self.pace = 1.0;
            self.notices.push(format!(
                "no step made the error smaller after step {}; training ended there",
                self.step
            ));
        }
    }

    /// The learning rate of the next step: a cosine from the setting to zero.
    fn rate(&self) -> f64 {
        0.5 * self.rate * (1.0 + (PI * self.done).cos())
    }

    /// The mean-square error of the steps since the last call, in the target's unit squared. It is no
    /// finite number where training has left these, or was restarted since.
    pub async fn loss(&mut self) -> Result<f64, LearnerError> {
        let Some(error) = self.errors.read().await? else {
            return Ok(self.last_error.unwrap_or(f64::NAN));
        };
        self.errors = ErrorSum::new((&self.device, PRECISION));
        let error = error * self.scaling.target_scale.powi(2);
        if error.is_finite() {
            self.last_error = Some(error);
        }
        Ok(error)
    }

    /// Restarts once with a smaller learning rate and the whole schedule if training has left the
    /// finite numbers, and shortens the schedule if the error no longer falls; while only some of the
    /// rows are gone over, it goes on with all of them instead.
    async fn judge(&mut self) -> Result<(), LearnerError> {
        let Some(error) = self.judged.read().await? else {
            return Ok(());
        };
        self.judged = ErrorSum::new((&self.device, PRECISION));
        if !error.is_finite() {
            return self.restart();
        }
        self.notice_plateau(error);
        Ok(())
    }

    fn restart(&mut self) -> Result<(), LearnerError> {
        if self.restarted || self.full_batch.is_some() {
            return Err(LearnerError::Diverged {
                step: self.step,
                rate: self.restarted.then_some(self.rate),
            });
        }
        self.restarted = true;
        self.rate *= RESTART_FACTOR;
        self.notices.push(format!(
            "training diverged by step {}; it was restarted with learning rate {}",
            self.step, self.rate
        ));
        let place = (&self.device, PRECISION);
        self.parameters = first_parameters(&*self.learner, self.seed, place);
        let Settings {
            weight_decay, clip, ..
        } = self.settings;
        self.adam = Adam::new(weight_decay, clip);
        (self.step, self.done, self.pace) = (0, 0.0, self.usual_pace());
        self.work = 0.0;
        self.best = (f64::INFINITY, 0.0);
        Ok(())
    }

    /// Part of the schedule that a step is, unless it was shortened.
    fn usual_pace(&self) -> f64 {
        1.0 / self.settings.steps as f64
    }

    fn notice_plateau(&mut self, error: f64) {
        if error < self.best.0 * (1.0 - IMPROVEMENT) {
            self.best = (error, self.done);
        }
        let usual_pace = self.usual_pace();
        let short_pace = (1.0 - self.done) / (SHORT_END * self.settings.steps as f64);
        let stuck = self.done - self.best.1 > PATIENCE;
        if stuck && self.full_batch.as_mut().is_some_and(FullBatch::leave_draft) {
            // What the rest of the rows have to say comes first.
            return;
        }
        if stuck && self.pace == usual_pace && short_pace > usual_pace {
            self.pace = short_pace;
            self.notices.push(format!(
                "the error no longer fell at step {}; the rest of the schedule was shortened",
                self.step
            ));
        }
    }

    /// The work of so many further steps, in usual ones.
    fn work_of(&self, steps: usize) -> f64 {
        let search = self.full_batch.as_ref();
        search.map_or(steps as f64, |search| search.work(steps))
    }

    /// How far training is.
    pub fn progress(&self) -> Progress {
        let left = ((1.0 - self.done) / self.pace).round() as usize;
        Progress {
            step: self.step,
            steps: self.step + left,
            done: self.done,
            work: if left == 0 {
                1.0
            } else {
                self.work / (self.work + self.work_of(left))
            },
            rate: self.rate(),
            error: self.last_error,
            notices: self.notices.clone(),
        }
    }

    /// Trains to the end; `report` is called about every `interval` steps.
    pub async fn run(
        &mut self,
        interval: usize,
        mut report: impl FnMut(&Progress),
    ) -> Result<(), LearnerError> {
        while !self.finished() {
            for _ in 0..interval.max(1) {
                self.step().await?;
            }
            self.loss().await?;
            report(&self.progress());
        }
        Ok(())
    }
}

impl ErrorSum {
    fn new(place: (&Device, DType)) -> Self {
        Self {
            sum: Tensor::zeros([1], place),
            count: 0,
        }
    }

    fn add(&mut self, error: Tensor<1>) {
        self.sum.inplace(|sum| sum + error);
        self.count += 1;
    }

    async fn read(&self) -> Result<Option<f64>, LearnerError> {
        if self.count == 0 {
            return Ok(None);
        }
        let data = self.sum.to_data_async().await;
        let sum = read(data)?.first().copied().unwrap_or(f64::NAN);
        Ok(Some(sum / self.count as f64))
    }
}

fn read<E: std::fmt::Debug>(data: Result<TensorData, E>) -> Result<Vec<f64>, LearnerError> {
    data.map_err(|e| LearnerError::Device(format!("{e:?}")))?
        .try_cast(DType::F64)
        .map_err(|e| LearnerError::Device(format!("{e:?}")))?
        .try_into_vec()
        .map_err(|e| LearnerError::Device(format!("{e:?}")))
}

/// The second-order search over all rows, which runs on the host.
fn second_order(
    learner: &dyn Learner,
    on_host: bool,
    rows: HostRows,
    seed: u64,
    steps: usize,
) -> Result<FullBatch, LearnerError> {
    let loss = learner.projected().filter(|_| on_host);
    let loss = loss.ok_or(LearnerError::Unsupported {
        method: "the optimiser lbfgs",
        action: "train this method on this device: it is for models that are affine in their context, on the processor",
    })?;
    let start = learner.initial_parameters(&mut generator(seed, FIRST_PARAMETERS));
    Ok(FullBatch::new(learner, loss, rows, start, steps))
}

fn first_parameters(learner: &dyn Learner, seed: u64, place: (&Device, DType)) -> Tensor<1> {
    let values = learner.initial_parameters(&mut generator(seed, FIRST_PARAMETERS));
    let shape = [values.len()];
    Tensor::from_data(TensorData::new(values, shape), place)
}

/// The gradient `[P]` of the meta-loss and its error `[1]`, by automatic differentiation.
fn differentiated(
    learner: &dyn Learner,
    parameters: Tensor<1>,
    batch: &Batch,
) -> Result<(Tensor<1>, Tensor<1>), LearnerError> {
    let parameters = parameters.autodiff().require_grad();
    let loss = learner.loss(parameters.clone(), batch);
    let gradient = parameters
        .grad_remove(&mut loss.objective.backward())
        .ok_or_else(|| LearnerError::Device("no gradient was computed".into()))?;
    Ok((gradient, loss.error.inner()))
}

/// Held-out rows and training rows: scattered points where tasks share a grid, blocks of neighbouring
/// rows where they follow trajectories. Few rows are all trained on, and then also judged on.
fn split_rows(tasks: &[Task], seed: u64) -> (Vec<usize>, Vec<usize>) {
    let rows = tasks[0].targets.len();
    let shared = shares_inputs(tasks);
    let part = if shared { HELD_POINTS } else { HELD_ROWS };
    let count = (rows as f64 * part) as usize;
    if count < HELD_BLOCKS || (shared && rows < SPARING_GRID) {
        return ((0..rows).collect(), (0..rows).collect());
    }
    if shared {
        let mut held: Vec<usize> = (0..rows).collect();
        held.shuffle(&mut generator(seed, HELD_OUT));
        let rest = held.split_off(count);
        return (held, rest);
    }
    let (every, length) = (rows / HELD_BLOCKS, count / HELD_BLOCKS);
    let offset = (every - length) / 2;
    (0..rows).partition(|row| (offset..offset + length).contains(&(row % every)))
}

mod snapshot;
#[cfg(test)]
mod tests;
