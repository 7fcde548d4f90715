//! Online adaptive control (paper, Algorithm 2): `u = F(x̄; ŵ) + d̂ + feedback`, ŵ updated each step.
//!
//! d̂ is what the model expects to leave unexplained in the coming step, for a model that estimates
//! it. The feedback may become stronger after the model's own alarm.
//!
//! The [`Plant`] owns the true parameters and their changes. The [`Controller`] owns the reference,
//! the feedback and the model, and is called with nothing but measured states and the inputs it
//! chose itself: it has no way to learn that or when something changes but to notice.

use serde::{Deserialize, Serialize};

use super::{
    error::{ControlError, check_length},
    feedback::Feedback,
    plant::Plant,
    reference::Reference,
};
use crate::{
    identification::online::{Estimate, OnlineModel},
    systems::Robot,
};

/// What tracks a reference with a model that adapts.
#[derive(Clone, Debug)]
pub struct Controller<F, M> {
    /// Features of the reference, computed once: row k for step k.
    features: Vec<Vec<f64>>,
    reference: Reference,
    feedback: F,
    model: M,
    /// What the model identified last.
    estimate: Option<Estimate>,
    step: usize,
    /// Steps after the last of which the first comes again, for a reference without an end.
    repeats: Option<(usize, usize)>,
}

impl<F: Feedback, M: OnlineModel> Controller<F, M> {
    /// Tracks `reference`, which must be longer than the `window` of steps that adaptation takes.
    pub fn new(
        robot: &dyn Robot,
        reference: Reference,
        feedback: F,
        model: M,
        window: usize,
    ) -> Result<Self, ControlError> {
        check_length(reference.len(), window)?;
        let features = (0..reference.len())
            .map(|k| reference.features(robot, k))
            .collect();
        Ok(Self {
            features,
            reference,
            feedback,
            estimate: model.identify(),
            model,
            step: 0,
            repeats: None,
        })
    }

    /// Goes back to step `first` instead of making step `end`: a reference without an end. Both
    /// must be steps of the reference, in this order.
    pub fn repeating(mut self, (first, end): (usize, usize)) -> Result<Self, ControlError> {
        if first >= end || end >= self.reference.len() {
            return Err(ControlError::Setting {
                name: "the end of the repeated part",
                value: end as f64,
                allowed: format!("above {first} and below {}", self.reference.len()),
            });
        }
        self.repeats = Some((first, end));
        Ok(self)
    }

    /// Starts the reference anew; what the model has learned stays.
    pub fn restart(&mut self) {
        self.step = 0;
    }

    /// Number of the step of the reference that comes next.
    pub fn step(&self) -> usize {
        self.step
    }

    /// The input for the measured state; `None` at the end of the reference.
    pub fn input(&mut self, state: &[f64]) -> Option<f64> {
        let predicted = self.model.predict(self.features.get(self.step)?);
        let target = self.reference.states.get(self.step)?;
        self.feedback.see(state, target);
        let correction = self.feedback.input(self.step, state, target);
        Some(predicted + self.model.disturbance() + correction)
    }

    /// Learns from the features that were measured under `input` and goes on to the next step;
    /// true when the model noticed a change.
    pub fn observe(&mut self, features: &[f64], input: f64) -> bool {
        self.step += 1;
        if let Some((first, end)) = self.repeats
            && self.step == end
        {
            self.step = first;
        }
        let changed = self.model.observe(features, input);
        self.estimate = self.model.identify();
        let found = self.estimate.as_ref();
        let parameters = found.map(|estimate| estimate.values.as_slice());
        self.feedback.observe(changed, parameters);
        changed
    }

    /// State that the reference asks for now.
    pub fn target(&self) -> &[f64] {
        let last = self.reference.states.len() - 1;
        &self.reference.states[self.step.min(last)]
    }

    /// What the model identifies, if it does.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.estimate.as_ref()
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }
}

/// What one step of the loop did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// Number of the step, from 0.
    pub step: usize,
    /// State after the step.
    pub state: Vec<f64>,
    /// State that the reference has there.
    pub reference: Vec<f64>,
    /// Input that was applied.
    pub input: f64,
    /// Identified parameters with error bars, if the model identifies.
    pub estimate: Option<Estimate>,
    /// Whether the model noticed a change in this step.
    pub detected: bool,
    /// The true parameters, which the controller does not see.
    pub truth: Vec<f64>,
}

/// A plant under adaptive control, tick by tick.
#[derive(Clone, Debug)]
pub struct AdaptiveLoop<R, F, M> {
    plant: Plant<R>,
    controller: Controller<F, M>,
}

impl<R: Robot, F: Feedback, M: OnlineModel> AdaptiveLoop<R, F, M> {
    /// Puts a plant under control.
    pub fn new(plant: Plant<R>, controller: Controller<F, M>) -> Self {
        Self { plant, controller }
    }

    /// One control step; `None` at the end of the reference.
    pub fn step(&mut self) -> Result<Option<Tick>, ControlError> {
        let step = self.plant.steps();
        let before = self.plant.state().to_vec();
        let truth = self.plant.parameters().to_vec();
        let Some(input) = self.controller.input(&before) else {
            return Ok(None);
        };
        let state = self.plant.apply(input)?.to_vec();
        let features = self.plant.robot().features(&before, &state);
        let detected = self.controller.observe(&features, input);
        Ok(Some(Tick {
            step,
            state,
            reference: self.controller.target().to_vec(),
            input,
            estimate: self.controller.estimate().cloned(),
            detected,
            truth,
        }))
    }

    /// Puts the plant back to the start of the reference. The model keeps what it has learned.
    pub fn restart(&mut self) -> Result<(), ControlError> {
        self.controller.restart();
        self.plant.place(self.controller.target())
    }

    /// The plant, for the visitor who changes a mass.
    pub fn plant_mut(&mut self) -> &mut Plant<R> {
        &mut self.plant
    }

    /// The plant.
    pub fn plant(&self) -> &Plant<R> {
        &self.plant
    }

    /// The controller.
    pub fn controller(&self) -> &Controller<F, M> {
        &self.controller
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        control::{feedback::TipFeedback, recovery::Recovery},
        identification::{
            change::CusumSettings, model::KnownFeatures, online::OnlineLeastSquares,
            recursive::RecursiveSettings,
        },
        systems::cartpole::Cartpole,
    };

    type Known = OnlineLeastSquares<KnownFeatures<Cartpole>>;

    fn model() -> Known {
        let settings = RecursiveSettings {
            forgetting: 0.999,
            noise: 0.02,
            spread: vec![3.0; 2],
            drift: None,
        };
        let known = KnownFeatures::new(Cartpole::default());
        let change = Some(CusumSettings::EXACT);
        OnlineLeastSquares::new(known, &[1.0, 0.2], settings, change).unwrap()
    }

    /// Disturbances also move the accelerations that the features are made of, which biases the
    /// mass by about σ²/u²: 0.02 N keep that below the error bar.
    fn adaptive(seed: u64) -> AdaptiveLoop<Cartpole, Recovery, Known> {
        let robot = Cartpole::default();
        let reference = Reference::cartpole_sine(&robot).unwrap();
        let plant = Plant::new(robot.clone(), &[1.5, 0.3], &[0.0; 4], 0.02, seed).unwrap();
        let feedback = Recovery::cartpole(&robot, &reference);
        let controller = Controller::new(&robot, reference, feedback, model(), 50).unwrap();
        AdaptiveLoop::new(plant, controller)
    }

    /// Mass and error bar after running to the end, with the visitor's change at `moment`.
    fn weigh(seed: u64, moment: usize, mass: f64) -> (bool, Tick) {
        let mut run = adaptive(seed);
        let (mut noticed, mut last) = (false, None);
        while let Some(tick) = run.step().unwrap() {
            noticed |= tick.detected && tick.step >= moment;
            if tick.step == moment {
                run.plant_mut().change(0, mass).unwrap();
            }
            last = Some(tick);
        }
        (noticed, last.unwrap())
    }

    #[test]
    fn any_change_by_the_visitor_is_noticed_and_weighed() {
        for (moment, mass) in [(200, 3.0), (333, 0.8), (600, 6.0)] {
            let (noticed, tick) = weigh(1, moment, mass);
            assert!(noticed, "{mass} kg at {moment}");
            let estimate = tick.estimate.unwrap().values[0];
            assert!(
                (estimate / mass - 1.0).abs() < 0.02,
                "{estimate} for {mass} kg"
            );
        }
    }

    #[test]
    fn error_bars_cover_the_new_mass_as_often_as_they_say() {
        let covered = (0..200)
            .filter(|&seed| {
                let estimate = weigh(seed, 300, 3.0).1.estimate.unwrap();
                (estimate.values[0] - 3.0).abs() < 1.96 * estimate.standard_errors[0]
            })
            .count();
        assert!((170..=198).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn the_loop_stops_at_the_end_of_the_reference_and_starts_again_from_a_copy() {
        let start = adaptive(3);
        let mut first = start.clone();
        let ticks: Vec<Tick> = std::iter::from_fn(|| first.step().unwrap()).collect();
        assert_eq!(ticks.len(), 1200);
        assert_eq!(first.step().unwrap(), None);
        let mut again = start.clone();
        assert_eq!(again.step().unwrap().unwrap(), ticks[0]);
    }

    #[test]
    fn a_reference_shorter_than_the_adaptation_window_is_refused_with_both_numbers() {
        let robot = Cartpole::default();
        let short = Reference::open_loop(&robot, &[1.5, 0.3], &[0.0; 4], vec![1.0; 30]).unwrap();
        let feedback = TipFeedback::adaptive(robot.clone());
        let error = Controller::new(&robot, short, feedback, model(), 50).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("30 steps") && message.contains("50"),
            "{message}"
        );
    }
}
