//! A trained meta-model on the host: adapts to shots, predicts, gives contexts. No tensors.

use std::sync::Arc;

use super::{
    Learner, LearnerError, Scaling, Settings, Shape, Shots,
    error::{finite, length},
    learner, method,
};
use crate::systems::Samples;

/// A training task as the trained model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedTask {
    /// Its physical parameters φ.
    pub parameters: Vec<f64>,
    /// Its context after training.
    pub context: Vec<f64>,
}

/// A model adapted to one task.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapted {
    pub(super) context: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Adapted {
    /// A model that its context determines.
    pub(super) fn of_context(context: Vec<f64>) -> Self {
        Self {
            context,
            weights: Vec::new(),
        }
    }

    /// The task's vector that is used for identification.
    pub fn context(&self) -> &[f64] {
        &self.context
    }
}

/// Memory that predictions reuse, so that a control loop does not allocate.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(super) inputs: Vec<f64>,
    pub(super) features: Vec<f64>,
    pub(super) net: super::host::Scratch,
}

/// A trained meta-model.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) settings: Settings,
    pub(super) shape: Shape,
    pub(super) learner: Arc<dyn Learner>,
    pub(super) parameters: Vec<f64>,
    pub(super) scaling: Scaling,
    pub(super) tasks: Vec<TrainedTask>,
    pub(super) validation: f64,
}

impl Model {
    /// Puts a model together and checks that its parts fit.
    pub(super) fn new(
        settings: Settings,
        parameters: Vec<f64>,
        scaling: Scaling,
        tasks: Vec<TrainedTask>,
        validation: f64,
    ) -> Result<Self, LearnerError> {
        let shape = Shape {
            inputs: scaling.input_centre.len(),
            tasks: tasks.len(),
        };
        let learner = learner(&settings, shape)?;
        length(
            "meta-parameters",
            learner.parameter_count(),
            parameters.len(),
        )?;
        length("input scales", shape.inputs, scaling.input_scale.len())?;
        for task in &tasks {
            length("a context", learner.context_size(), task.context.len())?;
            finite("contexts", &task.context)?;
            finite("task_parameters", &task.parameters)?;
        }
        finite("validation_rmse", &[validation])?;
        finite("meta-parameters", &parameters)?;
        Ok(Self {
            settings,
            shape,
            learner,
            parameters,
            scaling,
            tasks,
            validation,
        })
    }

    /// What it was trained with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The training tasks: physical parameters and contexts.
    pub fn tasks(&self) -> &[TrainedTask] {
        &self.tasks
    }

    /// Numbers in an input row.
    pub fn input_size(&self) -> usize {
        self.shape.inputs
    }

    /// Length of a context.
    pub fn context_size(&self) -> usize {
        self.learner.context_size()
    }

    /// All meta-parameters π.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Number of meta-parameters.
    pub fn parameter_count(&self) -> usize {
        self.parameters.len()
    }

    /// Centres and scales of inputs and targets.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Root-mean-square error on rows of the training tasks that training did not see, in the
    /// target's unit.
    pub fn validation_rmse(&self) -> f64 {
        self.validation
    }

    /// Fewest shots from which the model adapts.
    pub fn least_shots(&self) -> usize {
        self.learner.least_shots()
    }

    /// Adapts to shots of a new task.
    pub fn adapt(&self, inputs: &Samples, targets: &[f64]) -> Result<Adapted, LearnerError> {
        length("an input row", self.input_size(), inputs.dim)?;
        length("targets", inputs.len(), targets.len())?;
        let needed = self.learner.least_shots();
        if targets.len() < needed {
            let given = targets.len();
            return Err(LearnerError::TooFewShots { given, needed });
        }
        finite("inputs", &inputs.values)?;
        finite("targets", targets)?;
        let mut scaled = Vec::with_capacity(inputs.values.len());
        self.scaling.inputs_into(&inputs.values, &mut scaled);
        let targets: Vec<f64> = targets.iter().map(|&y| self.scaling.target(y)).collect();
        let shots = Shots {
            inputs: &scaled,
            targets: &targets,
        };
        let adapted = self.learner.adapt(&self.parameters, shots)?;
        finite("the adapted context", &adapted.context)?;
        finite("the adapted weights", &adapted.weights)?;
        Ok(adapted)
    }

    /// The adapted model that a context stands for, such as one computed from known physical
    /// parameters.
    pub fn with_context(&self, context: &[f64]) -> Result<Adapted, LearnerError> {
        length("a context", self.context_size(), context.len())?;
        finite("a context", context)?;
        self.learner.with_context(&self.parameters, context)
    }

    /// The model of training task `task`, if there is one of that number.
    pub fn trained(&self, task: usize) -> Option<Result<Adapted, LearnerError>> {
        self.tasks.get(task).map(|t| self.with_context(&t.context))
    }

    /// Predicts the targets of input rows.
    pub fn predict(&self, adapted: &Adapted, inputs: &Samples) -> Result<Vec<f64>, LearnerError> {
        length("an input row", self.input_size(), inputs.dim)?;
        let mut outputs = vec![0.0; inputs.len()];
        self.predict_into(
            adapted,
            &inputs.values,
            &mut outputs,
            &mut Workspace::default(),
        )?;
        Ok(outputs)
    }

    /// Predicts the targets of input rows without allocating once the workspace is warm.
    pub fn predict_into(
        &self,
        adapted: &Adapted,
        rows: &[f64],
        outputs: &mut [f64],
        workspace: &mut Workspace,
    ) -> Result<(), LearnerError> {
        length("input rows", outputs.len() * self.input_size(), rows.len())?;
        length("a context", self.context_size(), adapted.context.len())?;
        let weights = self.learner.adapted_weights();
        length("adapted weights", weights, adapted.weights.len())?;
        let mut inputs = std::mem::take(&mut workspace.inputs);
        self.scaling.inputs_into(rows, &mut inputs);
        self.learner
            .predict(&self.parameters, adapted, &inputs, outputs, workspace);
        workspace.inputs = inputs;
        for output in outputs {
            *output = self.scaling.restore(*output);
        }
        Ok(())
    }

    /// The features of one input row in the target's unit, `y = bias + wᵀ features` with a context
    /// w. Writes the features and returns the bias. Allocates nothing once the workspace is warm.
    ///
    /// Only models that are affine in their context have features.
    pub fn features_into(
        &self,
        row: &[f64],
        features: &mut [f64],
        workspace: &mut Workspace,
    ) -> Result<f64, LearnerError> {
        let backbone = self.learner.backbone().ok_or(LearnerError::Unsupported {
            method: method(&self.settings.method)?.title,
            action: "give features: it is not affine in its context",
        })?;
        length("an input row", self.input_size(), row.len())?;
        length("features", backbone.rank(), features.len())?;
        let mut inputs = std::mem::take(&mut workspace.inputs);
        self.scaling.inputs_into(row, &mut inputs);
        let mut bias = [0.0];
        backbone.evaluate(&self.parameters, &inputs, features, &mut bias, workspace);
        workspace.inputs = inputs;
        for feature in features {
            *feature *= self.scaling.target_scale;
        }
        Ok(self.scaling.restore(bias[0]))
    }

    /// The features of one input row and the bias, see [`Self::features_into`].
    pub fn features(&self, row: &[f64]) -> Result<(Vec<f64>, f64), LearnerError> {
        let mut features = vec![0.0; self.context_size()];
        let bias = self.features_into(row, &mut features, &mut Workspace::default())?;
        Ok((features, bias))
    }
}
