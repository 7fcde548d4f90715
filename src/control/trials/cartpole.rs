//! The cartpole follows a sine; its cart becomes heavier on the way.

use super::{
    AdaptiveTrial, Compared, Trials, both, change_step, check_change,
    watch::{Seen, Watch},
};
use crate::{
    control::{
        adaptive::{AdaptiveLoop, Controller},
        cartpole_adaptive::CartpoleStart,
        controllers::{Fixed, WINDOW},
        error::ControlError,
        feedback::{Feedback, TipFeedback},
        oracle::Oracle,
        plant::{Change, Plant},
        recovery::Recovery,
        reference::{DISTURBANCE, Reference},
        tracking::tip_distance,
    },
    identification::{
        budget::{Budgeted, Punctuality},
        online::OnlineModel,
    },
    systems::{System as _, cartpole::Cartpole},
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
        let start = CartpoleStart::new(&self.cartpole, reference, self.disturbance, seed)?;
        let change = self.change(seed);
        let mut changing = start.plant(seed)?;
        changing.schedule(change)?;
        let mut watch = Watch::new(change.step, change.value);
        let run = AdaptiveLoop::new(changing.clone(), start.controller(model()?)?);
        let run = ControlError::survived(watched(run, &mut watch))?;
        let mut quiet = Watch::new(usize::MAX, START[0]);
        let calm = start.plant(seed.wrapping_add(1 << 32))?;
        let calm = AdaptiveLoop::new(calm, start.controller(model()?)?);
        let punctuality = both(run, ControlError::survived(watched(calm, &mut quiet))?);
        let compared = self.compare(&start, &changing, change)?;
        Ok(AdaptiveTrial::of(&watch, &quiet, punctuality, compared))
    }
}

impl AdaptiveTrials {
    /// The change of a trial.
    fn change(&self, seed: u64) -> Change {
        Change {
            step: change_step(self.change_step, CHANGE_STEPS, seed),
            parameter: 0,
            value: self.factor * START[0],
        }
    }

    /// Tracking errors of the formulas: of the oracle with the adaptive controller's feedback, which is
    /// strong after the change and far off, and with the usual one alone, and of the textbook, which
    /// has the controller's feedback but is told of no change.
    fn compare(
        &self,
        start: &CartpoleStart,
        plant: &Plant<Cartpole>,
        change: Change,
    ) -> Result<Compared, ControlError> {
        let oracle = || Oracle::new(self.cartpole.clone(), &START, change);
        let weak = TipFeedback::adaptive(self.cartpole.clone());
        let weak = start.with_feedback(weak, oracle())?;
        let textbook = Fixed(|x: &[f64]| self.cartpole.analytic_inverse(&START, x));
        let textbook = start.controller(textbook)?;
        Ok(Compared {
            oracle: distance(plant, start.controller(oracle())?)?,
            oracle_plain: Some(distance(plant, weak)?),
            analytic: Some(distance(plant, textbook)?),
        })
    }
}

/// Watches a run to its end and says how the model kept its budget.
fn watched<M: OnlineModel + Clone>(
    mut run: AdaptiveLoop<Cartpole, Recovery, Budgeted<M>>,
    watch: &mut Watch,
) -> Result<Punctuality, ControlError> {
    while let Some(tick) = run.step()? {
        let estimate = tick.estimate.as_ref();
        watch.see(&Seen {
            step: tick.step,
            mass: estimate.and_then(|e| e.values.first().copied()),
            standard_error: estimate.and_then(|e| e.standard_errors.first().copied()),
            alarm: tick.detected,
            error: tip_distance(run.plant().robot(), &tick.state, &tick.reference),
        });
    }
    Ok(run.controller().model().punctuality().clone())
}

/// Distances of a whole run together [m].
fn distance<F: Feedback, M: OnlineModel>(
    plant: &Plant<Cartpole>,
    controller: Controller<F, M>,
) -> Result<f64, ControlError> {
    let mut run = AdaptiveLoop::new(plant.clone(), controller);
    let mut distance = 0.0;
    while let Some(tick) = run.step()? {
        distance += tip_distance(run.plant().robot(), &tick.state, &tick.reference);
    }
    Ok(distance)
}
