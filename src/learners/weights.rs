//! Trained models as safetensors: bytes out, bytes in.
//!
//! | tensor | shape | |
//! |---|---|---|
//! | `parameters` | `[P]` | meta-parameters π; single precision where that loses nothing |
//! | `input_centre`, `input_scale` | `[d]` | standardisation of the inputs |
//! | `target_scaling` | `[2]` | centre and scale of the targets |
//! | `contexts` | `[T, k]` | contexts of the training tasks |
//! | `task_parameters` | `[T, n]` | physical parameters φ of the training tasks |
//! | `validation_rmse` | `[1]` | error on held-out rows |
//!
//! The settings are JSON in the file's metadata.

use std::collections::HashMap;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use super::{LearnerError, Model, Scaling, Settings, TrainedTask, error::finite};

/// Value of the metadata entry `format`.
const FORMAT: &str = "camel-lab weights 1";
/// Most numbers that a file may hold.
const MOST_NUMBERS: usize = 20_000_000;
/// Most training tasks of a file.
const MOST_TASKS: usize = 10_000;

/// A model as the bytes of a safetensors file.
pub fn export(model: &Model) -> Result<Vec<u8>, LearnerError> {
    let settings = serde_json::to_string(&model.settings).map_err(unreadable)?;
    let metadata = HashMap::from([
        ("format".to_owned(), FORMAT.to_owned()),
        ("settings".to_owned(), settings),
    ]);
    let scaling = &model.scaling;
    let flatten = |rows: &dyn Fn(&TrainedTask) -> Vec<f64>| -> (Vec<usize>, Vec<f64>) {
        let rows: Vec<Vec<f64>> = model.tasks.iter().map(rows).collect();
        let shape = vec![rows.len(), rows.first().map_or(0, Vec::len)];
        (shape, rows.concat())
    };
    let flat = |values: &[f64]| (vec![values.len()], values.to_vec());
    let tensors = [
        ("parameters", flat(&model.parameters)),
        ("input_centre", flat(&scaling.input_centre)),
        ("input_scale", flat(&scaling.input_scale)),
        (
            "target_scaling",
            flat(&[scaling.target_centre, scaling.target_scale]),
        ),
        ("contexts", flatten(&|task| task.context.clone())),
        ("task_parameters", flatten(&|task| task.parameters.clone())),
        ("validation_rmse", flat(&[model.validation])),
    ];
    let bytes: Vec<_> = tensors
        .iter()
        .map(|(name, (shape, values))| (name, shape, encode(values)))
        .collect();
    let views = bytes
        .iter()
        .map(|(name, shape, (kind, bytes))| {
            TensorView::new(*kind, (*shape).clone(), bytes).map(|view| (**name, view))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable)?;
    safetensors::serialize(views, Some(metadata)).map_err(unreadable)
}

/// The model that the bytes of a safetensors file hold.
pub fn import(bytes: &[u8]) -> Result<Model, LearnerError> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(unreadable)?;
    let metadata = header.metadata().clone().unwrap_or_default();
    match metadata.get("format").map(String::as_str) {
        Some(FORMAT) => {}
        found => {
            return Err(LearnerError::Weights(format!(
                "the format must be '{FORMAT}', but is {found:?}"
            )));
        }
    }
    let settings = metadata.get("settings").map_or("", String::as_str);
    let settings: Settings = serde_json::from_str(settings).map_err(unreadable)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(unreadable)?;
    let (target_centre, target_scale) = match vector(&tensors, "target_scaling")?[..] {
        [centre, scale] => (centre, scale),
        ref other => return Err(shape_error("target_scaling", "[2]", &[other.len()])),
    };
    let scaling = Scaling {
        input_centre: vector(&tensors, "input_centre")?,
        input_scale: vector(&tensors, "input_scale")?,
        target_centre,
        target_scale,
    };
    check_scales(&scaling)?;
    let validation = match vector(&tensors, "validation_rmse")?[..] {
        [value] => value,
        ref other => return Err(shape_error("validation_rmse", "[1]", &[other.len()])),
    };
    let parameters = vector(&tensors, "parameters")?;
    Model::new(settings, parameters, scaling, tasks(&tensors)?, validation)
}

fn tasks(tensors: &SafeTensors) -> Result<Vec<TrainedTask>, LearnerError> {
    let contexts = matrix(tensors, "contexts")?;
    let parameters = matrix(tensors, "task_parameters")?;
    if contexts.len() != parameters.len() {
        return Err(LearnerError::Weights(format!(
            "there must be a context for each training task, but there are {} for {}",
            contexts.len(),
            parameters.len()
        )));
    }
    let pairs = parameters.into_iter().zip(contexts);
    Ok(pairs
        .map(|(parameters, context)| TrainedTask {
            parameters,
            context,
        })
        .collect())
}

fn check_scales(scaling: &Scaling) -> Result<(), LearnerError> {
    finite("input_centre", &scaling.input_centre)?;
    finite("target_scaling", &[scaling.target_centre])?;
    let scales = scaling.input_scale.iter().chain([&scaling.target_scale]);
    for &scale in scales {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(LearnerError::Weights(format!(
                "scales must be positive, but one is {scale}"
            )));
        }
    }
    if scaling.input_centre.is_empty() || scaling.input_centre.len() != scaling.input_scale.len() {
        return Err(shape_error(
            "input_scale",
            &format!("[{}] and not empty", scaling.input_centre.len()),
            &[scaling.input_scale.len()],
        ));
    }
    Ok(())
}

/// Single precision if every number survives it, else double.
fn encode(values: &[f64]) -> (Dtype, Vec<u8>) {
    if values.iter().all(|&v| f64::from(v as f32) == v) {
        let bytes = values.iter().flat_map(|&v| (v as f32).to_le_bytes());
        (Dtype::F32, bytes.collect())
    } else {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes());
        (Dtype::F64, bytes.collect())
    }
}

fn decode(tensors: &SafeTensors, name: &str) -> Result<(Vec<usize>, Vec<f64>), LearnerError> {
    let view = tensors.tensor(name).map_err(unreadable)?;
    let bytes = view.data();
    let count: usize = view.shape().iter().product();
    if count > MOST_NUMBERS {
        return Err(LearnerError::Weights(format!(
            "{name} may have at most {MOST_NUMBERS} numbers, but has {count}"
        )));
    }
    let values = match view.dtype() {
        Dtype::F32 => {
            let (numbers, _) = bytes.as_chunks::<4>();
            let numbers = numbers.iter().map(|b| f32::from_le_bytes(*b).into());
            numbers.collect()
        }
        Dtype::F64 => {
            let (numbers, _) = bytes.as_chunks::<8>();
            numbers.iter().map(|b| f64::from_le_bytes(*b)).collect()
        }
        other => {
            return Err(LearnerError::Weights(format!(
                "{name} must be F32 or F64, but is {other:?}"
            )));
        }
    };
    Ok((view.shape().to_vec(), values))
}

fn vector(tensors: &SafeTensors, name: &str) -> Result<Vec<f64>, LearnerError> {
    match decode(tensors, name)? {
        (shape, values) if shape == [values.len()] => Ok(values),
        (shape, _) => Err(shape_error(name, "one-dimensional", &shape)),
    }
}

fn matrix(tensors: &SafeTensors, name: &str) -> Result<Vec<Vec<f64>>, LearnerError> {
    match decode(tensors, name)? {
        (shape, values) if shape.len() == 2 && shape[1] > 0 => {
            Ok(values.chunks_exact(shape[1]).map(<[f64]>::to_vec).collect())
        }
        (shape, _) if shape.len() == 2 && shape[0] <= MOST_TASKS => Ok(vec![vec![]; shape[0]]),
        (shape, _) => Err(shape_error(name, "a matrix", &shape)),
    }
}

fn shape_error(name: &str, expected: &str, given: &[usize]) -> LearnerError {
    LearnerError::Weights(format!(
        "{name} must be {expected}, but has shape {given:?}"
    ))
}

fn unreadable(error: impl std::fmt::Display) -> LearnerError {
    LearnerError::Weights(error.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        learners::{METHODS, Shape, learner},
        random::generator,
        systems::Samples,
    };

    fn model(method: &str) -> Model {
        let mut settings = Settings::new("cartpole", method).unwrap();
        (settings.rank, settings.hidden) = (2, vec![4, 3]);
        let shape = Shape {
            inputs: 3,
            tasks: 2,
        };
        let learner = learner(&settings, shape).unwrap();
        let mut rng = generator(1, 0);
        let mut parameters = learner.initial_parameters(&mut rng);
        parameters
            .iter_mut()
            .for_each(|p| *p = f64::from(*p as f32));
        let scaling = Scaling {
            input_centre: vec![0.1, -0.2, 3.0],
            input_scale: vec![1.5, 0.3, 2.0],
            target_centre: 0.7,
            target_scale: 4.1,
        };
        let tasks = (0..2).map(|t| TrainedTask {
            parameters: vec![t as f64, 0.3],
            context: (0..learner.context_size())
                .map(|_| rng.random_range(-1.0..1.0))
                .collect(),
        });
        Model::new(settings, parameters, scaling, tasks.collect(), 0.05).unwrap()
    }

    #[test]
    fn a_model_survives_export_and_import() {
        for method in METHODS {
            let model = model(method.name);
            let copy = import(&export(&model).unwrap()).unwrap();
            assert_eq!(copy.settings, model.settings);
            assert_eq!(copy.parameters, model.parameters);
            assert_eq!(copy.scaling, model.scaling);
            assert_eq!(copy.tasks, model.tasks);
            assert_eq!(copy.validation, model.validation);
        }
    }

    #[test]
    fn parameters_and_contexts_of_another_shape_are_named() {
        for method in METHODS {
            let short = |name, expected| LearnerError::Length {
                name,
                expected,
                given: expected - 1,
            };
            let whole = model(method.name);
            let mut cut = whole.clone();
            cut.parameters.pop();
            let error = import(&export(&cut).unwrap()).unwrap_err();
            let expected = short("meta-parameters", whole.parameters.len());
            assert_eq!(error, expected, "{}", method.name);

            let mut cut = whole.clone();
            for task in &mut cut.tasks {
                task.context.pop();
            }
            let error = import(&export(&cut).unwrap()).unwrap_err();
            let expected = short("a context", whole.context_size());
            assert_eq!(error, expected, "{}", method.name);
        }
    }

    #[test]
    fn a_model_that_another_method_adapted_is_refused() {
        let inputs = Samples {
            dim: 3,
            values: (0..18).map(f64::from).collect(),
        };
        let [camel, maml] = ["camel", "maml"].map(model);
        let of_camel = camel.adapt(&inputs, &[0.5; 6]).unwrap();
        let error = maml.predict(&of_camel, &inputs).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with("adapted weights"), "{said}");
        let of_maml = maml.adapt(&inputs, &[0.5; 6]).unwrap();
        assert!(camel.predict(&of_maml, &inputs).is_err());
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused_by_name() {
        type Damage = fn(&mut Model);
        let damages: [(&str, Damage); 4] = [
            ("meta-parameters", |model| model.parameters[3] = f64::NAN),
            ("contexts", |model| model.tasks[1].context[0] = f64::NAN),
            ("task_parameters", |model| {
                model.tasks[1].parameters[1] = f64::INFINITY;
            }),
            ("validation_rmse", |model| model.validation = f64::NAN),
        ];
        for (name, damage) in damages {
            let mut damaged = model("camel");
            damage(&mut damaged);
            let error = import(&export(&damaged).unwrap()).unwrap_err();
            let said = error.to_string();
            assert!(said.starts_with(name) && said.contains("finite"), "{said}");
        }
    }

    #[test]
    fn weights_of_another_format_are_refused() {
        let views: [(&str, TensorView); 0] = [];
        let bytes = safetensors::serialize(views, None).unwrap();
        let error = import(&bytes).unwrap_err().to_string();
        assert!(error.contains(FORMAT), "{error}");
    }

    /// Uses a model in every way that a page does, if the bytes hold one.
    fn try_out(bytes: &[u8]) {
        let Ok(model) = import(bytes) else { return };
        let dim = model.input_size();
        let values = (0..6 * dim).map(|i| (i as f64).sin()).collect();
        let inputs = Samples { dim, values };
        let of_context = model.with_context(&vec![0.0; model.context_size()]);
        let of_shots = model.adapt(&inputs, &[0.5; 6]);
        let trained = model.trained(0).unwrap_or_else(|| of_context.clone());
        for adapted in [of_context, of_shots, trained].into_iter().flatten() {
            assert_eq!(model.predict(&adapted, &inputs).unwrap().len(), 6);
        }
        let _ = model.features(inputs.row(0));
        assert!(export(&model).is_ok());
    }

    #[test]
    fn a_hundred_thousand_random_and_mutated_files_never_panic() {
        let wholes: Vec<Vec<u8>> = METHODS
            .iter()
            .map(|method| export(&model(method.name)).unwrap())
            .collect();
        let mut rng = generator(9, 0);
        for round in 0..100_000 {
            let whole = &wholes[round % wholes.len()];
            let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
            let mut bytes = if round % 4 == 0 {
                let length = rng.random_range(0..100);
                (0..length).map(|_| rng.random_range(0..=255)).collect()
            } else {
                whole.clone()
            };
            for _ in 0..rng.random_range(1..6) {
                // Most changes hit the header, where shapes and settings are.
                let end = bytes.len().min(if rng.random_bool(0.8) {
                    header
                } else {
                    usize::MAX
                });
                if end == 0 {
                    break;
                }
                let place = rng.random_range(0..end);
                match rng.random_range(0..4) {
                    0 => bytes.truncate(place),
                    1 => bytes[place] = rng.random_range(b'0'..=b'9'),
                    _ => bytes[place] = rng.random_range(0..=255),
                }
            }
            try_out(&bytes);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(import(&bytes).is_err());
        }

        #[test]
        fn a_damaged_file_is_an_error_or_a_usable_model(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            end in any::<prop::sample::Index>(),
            cut in any::<bool>(),
        ) {
            let mut bytes = export(&model("camel")).unwrap();
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if cut {
                bytes.truncate(end.index(bytes.len()));
            }
            try_out(&bytes);
        }
    }
}
