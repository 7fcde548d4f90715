//! The cartpole follows a sine; its cart becomes heavier on the way.

use super::{
    AdaptiveTrial, Compared, Trials, both, change_step, check_change,
    watch::{Seen, Watch},
};
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller},
        controllers::WINDOW,
        error::ControlError,
        feedback::{Feedback, TipFeedback},
        plant::Plant,
        recovery::Recovery,
        reference::{DISTURBANCE, Reference},
        shots::Shots,
        tracking::tip_distance,
    },
    identification::{
        budget::{Budgeted, Punctuality},
        online::OnlineModel,
    },
    systems::{Robot as _, System as _, cartpole::Cartpole},
};

/// Cart and pole before the change [kg].
pub use crate::control::reference::START_MASSES as START;
/// Steps between which the change happens.
const CHANGE_STEPS: (usize, usize) = (250, 700);

/// What is done in every trial.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveTrials {
    /// The robot.
    pub cartpole: Cartpole,
    /// Factor on the cart's mass, above 0 (default 2).
    pub factor: f64,
    /// Step of the change; `None` draws one for every trial.
    pub change_step: Option<usize>,
    /// White force on the cart [N], 0 or more (default 0.05).
    pub disturbance: f64,
}

impl Default for AdaptiveTrials {
    fn default() -> Self {
        Self {
            cartpole: Cartpole::default(),
            factor: 2.0,
            change_step: None,
            disturbance: DISTURBANCE,
        }
    }
}

impl Trials for AdaptiveTrials {
    fn check(&self) -> Result<(), ControlError> {
        self.cartpole.check(&[self.factor * START[0], START[1]])?;
        let steps = Reference::cartpole_sine(&self.cartpole)?.len();
        check_change(self.change_step, (WINDOW, steps - 1))
    }

    /// One trial, and a run without any change for its false alarms. The model begins with
    /// [`WINDOW`] shots of the plant as it is at first.
    fn trial<M: OnlineModel + Clone>(
        &self,
        seed: u64,
        model: &mut dyn FnMut() -> Result<Budgeted<M>, ControlError>,
    ) -> Result<AdaptiveTrial, ControlError> {
        let reference = Reference::cartpole_sine(&self.cartpole)?;
        let change = change_step(self.change_step, CHANGE_STEPS, seed);
        let mut changing = self.plant(seed)?;
        changing.schedule(change, 0, self.factor * START[0])?;
        let mut watch = Watch::new(change, self.factor * START[0]);
        let shots = Shots::of(&self.cartpole, &START, WINDOW, self.disturbance, seed)?;
        let mut warm = || -> Result<Budgeted<M>, ControlError> {
            let mut model = model()?;
            model.warm_up(&shots.inputs, &shots.targets);
            Ok(model)
        };
        let run = self.run(changing.clone(), &reference, warm()?, &mut watch);
        let run = ControlError::survived(run)?;
        let mut quiet = Watch::new(usize::MAX, START[0]);
        let calm = self.plant(seed.wrapping_add(1 << 32))?;
        let calm = self.run(calm, &reference, warm()?, &mut quiet);
        let punctuality = both(run, ControlError::survived(calm)?);
        let compared = self.compare(&changing, &reference)?;
        Ok(AdaptiveTrial::of(&watch, &quiet, punctuality, compared))
    }
}

impl AdaptiveTrials {
    fn plant(&self, seed: u64) -> Result<Plant<Cartpole>, ControlError> {
        Plant::new(
            self.cartpole.clone(),
            &START,
            &[0.0; 4],
            self.disturbance,
            seed,
        )
    }

    fn run<M: OnlineModel + Clone>(
        &self,
        plant: Plant<Cartpole>,
        reference: &Reference,
        model: Budgeted<M>,
        watch: &mut Watch,
    ) -> Result<Punctuality, ControlError> {
        let feedback = Recovery::cartpole(&self.cartpole, reference);
        let controller =
            Controller::new(&self.cartpole, reference.clone(), feedback, model, WINDOW)?;
        let mut run = AdaptiveLoop::new(plant, controller);
        while let Some(tick) = run.step()? {
            let estimate = tick.estimate.as_ref();
            watch.see(&Seen {
                step: tick.step,
                mass: estimate.and_then(|e| e.values.first().copied()),
                standard_error: estimate.and_then(|e| e.standard_errors.first().copied()),
                alarm: tick.detected,
                error: tip_distance(&self.cartpole, &tick.state, &tick.reference),
            });
        }
        Ok(run.controller().model().punctuality().clone())
    }

    /// Tracking errors of the formulas: of the oracle with the adaptive controller's feedback, which is
    /// strong after the change and far off, and with the usual one alone, and of the textbook, which
    /// has the controller's feedback but is told of no change.
    fn compare(
        &self,
        plant: &Plant<Cartpole>,
        reference: &Reference,
    ) -> Result<Compared, ControlError> {
        let oracle = |masses: &[f64], x: &[f64]| self.cartpole.inverse(masses, x);
        let textbook = |_: &[f64], x: &[f64]| self.cartpole.analytic_inverse(&START, x);
        let weak = TipFeedback::adaptive(self.cartpole.clone());
        let recovering = Recovery::cartpole(&self.cartpole, reference);
        let follow = |formula: Formula, feedback: Box<dyn Feedback>, told: bool| {
            self.tracking(plant.clone(), reference, formula, feedback, told)
        };
        Ok(Compared {
            oracle: follow(&oracle, Box::new(recovering.clone()), true)?,
            oracle_plain: Some(follow(&oracle, Box::new(weak), true)?),
            analytic: Some(follow(&textbook, Box::new(recovering), false)?),
        })
    }

    /// Tracking error of a formula, whose feedback may be told the true masses of every step.
    fn tracking(
        &self,
        mut plant: Plant<Cartpole>,
        reference: &Reference,
        formula: Formula,
        mut feedback: Box<dyn Feedback>,
        told: bool,
    ) -> Result<f64, ControlError> {
        let mut distance = 0.0;
        let mut known = plant.parameters().to_vec();
        for k in 0..reference.len() {
            let (masses, target) = (plant.parameters().to_vec(), &reference.states[k]);
            feedback.observe(told && masses != known, told.then_some(&masses));
            feedback.see(plant.state(), target);
            let predicted = formula(&masses, &reference.features(&self.cartpole, k));
            let correction = feedback.input(k, plant.state(), target);
            let state = plant.apply(predicted + correction)?;
            distance += tip_distance(&self.cartpole, state, &reference.states[k + 1]);
            known = masses;
        }
        Ok(distance)
    }
}

/// The input for true masses and features.
type Formula<'a> = &'a dyn Fn(&[f64], &[f64]) -> f64;
