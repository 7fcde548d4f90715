//! The cartpole's adaptive run as it begins, in trials and on the page alike.
//!
//! Plant and controllers are made apart: whoever wants a change tells the plant of it, and nothing that a
//! controller is made from could hold one.

use super::{
    adaptive::Controller,
    controllers::WINDOW,
    error::ControlError,
    feedback::Feedback,
    plant::Plant,
    recovery::Recovery,
    reference::{Reference, START_MASSES},
    shots::Shots,
};
use crate::{identification::online::OnlineModel, systems::cartpole::Cartpole};

/// What all plants and controllers of a run begin with.
#[derive(Clone, Debug)]
pub struct CartpoleStart {
    cartpole: Cartpole,
    reference: Reference,
    disturbance: f64,
    /// [`WINDOW`] shots of a plant with [`START_MASSES`].
    shots: Shots,
    feedback: Recovery,
}

impl CartpoleStart {
    /// A run along `reference` under a white force of `disturbance` [N]; the seed is that of the shots.
    pub fn new(
        cartpole: &Cartpole,
        reference: Reference,
        disturbance: f64,
        seed: u64,
    ) -> Result<Self, ControlError> {
        Ok(Self {
            shots: Shots::of(cartpole, &START_MASSES, WINDOW, disturbance, seed)?,
            feedback: Recovery::cartpole(cartpole, &reference),
            cartpole: cartpole.clone(),
            reference,
            disturbance,
        })
    }

    /// The plant at rest, whose disturbance has this seed.
    pub fn plant(&self, seed: u64) -> Result<Plant<Cartpole>, ControlError> {
        let robot = self.cartpole.clone();
        Plant::new(robot, &START_MASSES, &[0.0; 4], self.disturbance, seed)
    }

    /// A controller with a model that has adapted to the shots.
    pub fn controller<M: OnlineModel>(
        &self,
        model: M,
    ) -> Result<Controller<Recovery, M>, ControlError> {
        self.with_feedback(self.feedback.clone(), model)
    }

    /// The same with another feedback.
    pub fn with_feedback<F: Feedback, M: OnlineModel>(
        &self,
        feedback: F,
        mut model: M,
    ) -> Result<Controller<F, M>, ControlError> {
        model.warm_up(&self.shots.inputs, &self.shots.targets);
        let reference = self.reference.clone();
        Controller::new(&self.cartpole, reference, feedback, model, WINDOW)
    }
}
