//! Identification of a method without features: the affine map of its training contexts.

use nalgebra::DMatrix;

use super::{
    affine_map::{AffineMap, Offset, Rank},
    error::IdentificationError,
    identifier::{Identified, Prior, is_determined},
    learned::tasks_of,
    online::Estimate,
    quantile::widening,
};
use crate::learners::{Adapted, Model};

/// The map from contexts to parameters, with at most as many directions as there are parameters: a
/// map with more would pass through all training tasks and know nothing of its own error.
pub(super) fn context_map(model: &Model) -> Result<AffineMap, IdentificationError> {
    let (contexts, parameters) = tasks_of(model);
    let rank = Rank::AtMost(parameters.first().map_or(0, Vec::len));
    AffineMap::fit(&contexts, &parameters, rank, Offset::Free)
}

/// The parameters that an adapted model's context stands for. The error bars are the map's own; what
/// the shots leave open is not in them, since such a method does not know it: it may end its gradient steps
/// farther from the context of the environment than the bars reach, and they say so ([`Identified::map_alone`]).
pub fn identify_by_map(
    model: &Model,
    adapted: &Adapted,
) -> Result<Identified, IdentificationError> {
    let map = context_map(model)?;
    let estimate = read(&map, adapted.context())?;
    let spread = Prior::of_tasks(&tasks_of(model).1).spread;
    let known = estimate.standard_errors.iter().zip(&spread);
    Ok(Identified {
        determined: known
            .map(|(error, spread)| is_determined(*error, *spread))
            .collect(),
        estimate,
        rank: map.rank(),
        condition: map.condition(),
        map_alone: true,
    })
}

/// The parameters of a context with the map's own error bars: those of an error whose size was found from
/// as few numbers as there are training tasks beyond those that determine the map.
pub(super) fn read(map: &AffineMap, context: &[f64]) -> Result<Estimate, IdentificationError> {
    let exact = DMatrix::zeros(context.len(), context.len());
    let errors = map.covariance(context, &exact)?.diagonal();
    let wider = widening(map.freedom().max(1) as f64);
    Ok(Estimate {
        values: map.apply(context)?.as_slice().to_vec(),
        standard_errors: errors.iter().map(|v| wider * v.max(0.0).sqrt()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learners::weights,
        systems::{Samples, Split, System as _, cartpole::Cartpole},
    };

    #[test]
    fn a_method_without_features_has_error_bars_of_its_map_alone() {
        let shipped = [
            include_bytes!("../../public/weights/cartpole-cavia.safetensors").as_slice(),
            include_bytes!("../../public/weights/cartpole-coda.safetensors"),
            include_bytes!("../../public/weights/cartpole-maml.safetensors"),
        ];
        let system = Cartpole::default();
        let task = system.task(&[2.0, 0.3], Split::Test, 1).unwrap();
        let dim = task.inputs.dim;
        let inputs = Samples {
            dim,
            values: task.inputs.values[..100 * dim].to_vec(),
        };
        for bytes in shipped {
            let model = weights::import(bytes).unwrap();
            let adapted = model.adapt(&inputs, &task.targets[..100]).unwrap();
            let found = identify_by_map(&model, &adapted).unwrap();
            let bars = &found.estimate.standard_errors;
            assert!(bars.iter().all(|bar| *bar > 1e-6), "{found:?}");
            assert!(found.map_alone);
            assert_eq!(found.rank, 2, "{found:?}");
            assert!(found.condition >= 1.0, "{found:?}");
        }
    }
}
