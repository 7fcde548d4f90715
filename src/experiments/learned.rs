//! A trained model as the identification and the controllers see it.

use std::sync::Arc;

use crate::{
    identification::model::AffineModel,
    learners::{Model, Workspace},
};

/// A trained model that is affine in its context, with memory of its own.
#[derive(Clone, Debug)]
pub struct Learned {
    model: Arc<Model>,
    workspace: Workspace,
}

impl Learned {
    /// The model, if it is affine in its context.
    pub fn new(model: Arc<Model>) -> Option<Self> {
        let probe = vec![0.0; model.input_size()];
        model.features(&probe).ok()?;
        Some(Self {
            model,
            workspace: Workspace::default(),
        })
    }
}

impl AffineModel for Learned {
    fn size(&self) -> usize {
        self.model.context_size()
    }

    fn features_into(&mut self, inputs: &[f64], features: &mut [f64]) -> f64 {
        // The sizes were checked when it was made, so this cannot fail; a row of another length
        // would give no number rather than a wrong one.
        self.model
            .features_into(inputs, features, &mut self.workspace)
            .unwrap_or(f64::NAN)
    }
}
