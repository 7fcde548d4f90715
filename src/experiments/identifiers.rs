//! Identifiers of models, kept: making one takes validation tasks, and those of a capacitor take
//! as long as its training data.

use std::{cell::RefCell, collections::VecDeque, sync::Arc};

use super::run::{Stop, breathe};
use crate::{
    engine::pacing::{Host, Pace},
    identification::{
        identifier::Identifier,
        learned::{LearnedError, LearnedModel, validation_of_model},
    },
    learners::Model,
    systems::{Split, System},
};

/// Most identifiers that are kept.
const MOST_KEPT: usize = 8;

struct Entry {
    model: Arc<Model>,
    seed: u64,
    identifier: Identifier<LearnedModel>,
}

thread_local! {
    /// Oldest first.
    static KEPT: RefCell<VecDeque<Entry>> = const { RefCell::new(VecDeque::new()) };
}

/// The identifier of a model of `system`, as it was made before or made now.
pub fn of_model(
    model: &Arc<Model>,
    system: &dyn System,
    seed: u64,
) -> Result<Identifier<LearnedModel>, LearnedError> {
    if let Some(identifier) = find(model, seed) {
        return Ok(identifier);
    }
    let identifier = Identifier::of_model(model, system, seed)?;
    keep(model, seed, identifier.clone());
    Ok(identifier)
}

/// Makes the identifier of a model that can have one, and lets others run between two validation
/// tasks.
pub(super) async fn prepare(
    model: &Arc<Model>,
    system: &dyn System,
    seed: u64,
    host: &impl Host,
) -> Result<(), Stop> {
    if LearnedModel::new(model.clone()).is_err() {
        return Ok(());
    }
    let mut pace = Pace::new(0);
    let mut validation = Vec::new();
    for (phi, seed) in validation_of_model(model, system, seed) {
        validation.push(system.task(&phi, Split::Test, seed)?);
        if pace.slice_is_over() {
            breathe(host).await?;
        }
    }
    let identifier = Identifier::of_validation(model, system, validation)?;
    keep(model, seed, identifier);
    Ok(())
}

fn keep(model: &Arc<Model>, seed: u64, identifier: Identifier<LearnedModel>) {
    KEPT.with_borrow_mut(|kept| {
        if kept.len() == MOST_KEPT {
            kept.pop_front();
        }
        kept.push_back(Entry {
            model: model.clone(),
            seed,
            identifier,
        });
    });
}

/// A model belongs to one system, so that the model and the seed are enough.
fn find(model: &Arc<Model>, seed: u64) -> Option<Identifier<LearnedModel>> {
    KEPT.with_borrow(|kept| {
        let same = |entry: &&Entry| Arc::ptr_eq(&entry.model, model) && entry.seed == seed;
        kept.iter().find(same).map(|entry| entry.identifier.clone())
    })
}
