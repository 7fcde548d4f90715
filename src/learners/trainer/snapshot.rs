//! The model that a training has made so far: its parameters, the context of every training task and
//! its error on rows that training did not see.

use super::{Trainer, read};
use crate::learners::{Adapted, LearnerError, Model, Shots, TrainedTask, Workspace};

/// Rows of a training task from which its context is computed where π does not hold it.
const CONTEXT_ROWS: usize = 400;

impl Trainer {
    /// The model as it is now.
    pub async fn snapshot(&self) -> Result<Model, LearnerError> {
        self.snapshot_with(async || Ok(())).await
    }

    /// The same. `breathe` is awaited after every training task, to which some learners adapt for
    /// seconds; its error ends the work.
    pub async fn snapshot_with<E: From<LearnerError>>(
        &self,
        breathe: impl AsyncFn() -> Result<(), E>,
    ) -> Result<Model, E> {
        let parameters = self.current().await?;
        let mut contexts = Vec::with_capacity(self.tasks.len());
        for task in 0..self.tasks.len() {
            contexts.push(self.context(&parameters, task)?);
            breathe().await?;
        }
        let known = contexts.iter().map(|adapted| adapted.context.clone());
        let mut model = self.model(parameters, known.collect())?;
        model.validation = self.validation(&model, &contexts)?;
        Ok(model)
    }

    /// The same to try on new tasks only, without adapting to the training tasks: their contexts are
    /// zeros where training does not give them.
    pub async fn glance(&self) -> Result<Model, LearnerError> {
        let parameters = self.current().await?;
        let zeros = || vec![0.0; self.learner.context_size()];
        let known = |task| self.learner.trained_context(&parameters, task);
        let contexts = (0..self.tasks.len()).map(|task| known(task).unwrap_or_else(zeros));
        let contexts = contexts.collect();
        self.model(parameters, contexts)
    }

    /// The parameters as they are now.
    async fn current(&self) -> Result<Vec<f64>, LearnerError> {
        match &self.full_batch {
            Some(search) => search.parameters(&*self.learner),
            None => read(self.parameters.to_data_async().await),
        }
    }

    /// A model whose training tasks have these contexts.
    fn model(&self, parameters: Vec<f64>, contexts: Vec<Vec<f64>>) -> Result<Model, LearnerError> {
        let tasks = self.tasks.iter().zip(contexts);
        let tasks = tasks
            .map(|(task, context)| TrainedTask {
                parameters: task.parameters.clone(),
                context,
            })
            .collect();
        let (settings, scaling) = (self.settings.clone(), self.scaling.clone());
        Model::new(settings, parameters, scaling, tasks, 0.0)
    }

    /// The trained model.
    pub async fn finish(self) -> Result<Model, LearnerError> {
        self.snapshot().await
    }

    /// The model adapted to a training task.
    fn context(&self, parameters: &[f64], task: usize) -> Result<Adapted, LearnerError> {
        if let Some(context) = self.learner.trained_context(parameters, task) {
            return self.learner.with_context(parameters, &context);
        }
        let task = &self.tasks[task];
        let every = task.targets.len().div_ceil(CONTEXT_ROWS);
        let (mut rows, mut targets) = (Vec::new(), Vec::new());
        for i in (0..task.targets.len()).step_by(every) {
            rows.extend_from_slice(task.inputs.row(i));
            targets.push(self.scaling.target(task.targets[i]));
        }
        let mut inputs = Vec::new();
        self.scaling.inputs_into(&rows, &mut inputs);
        let shots = Shots {
            inputs: &inputs,
            targets: &targets,
        };
        self.learner.adapt(parameters, shots)
    }

    fn validation(&self, model: &Model, adapted: &[Adapted]) -> Result<f64, LearnerError> {
        let held = &self.held[..self.held.len().min(CONTEXT_ROWS)];
        let (mut inputs, mut outputs) = (Vec::new(), vec![0.0; held.len()]);
        let mut workspace = Workspace::default();
        let mut sum = 0.0;
        for (task, adapted) in self.tasks.iter().zip(adapted) {
            inputs.clear();
            inputs.extend(held.iter().flat_map(|&row| task.inputs.row(row)));
            model.predict_into(adapted, &inputs, &mut outputs, &mut workspace)?;
            for (output, &row) in outputs.iter().zip(held) {
                sum += (output - task.targets[row]).powi(2);
            }
        }
        let count = self.tasks.len() * held.len();
        Ok((sum / count.max(1) as f64).sqrt())
    }
}
