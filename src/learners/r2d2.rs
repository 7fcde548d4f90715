//! `w = (VᵀV/n + λI)⁻¹ Vᵀy/n`: R2-D2, a ridge regression inside the meta-loss.
//!
//! The model is F(x; θ, w) = c(x; θ) + wᵀv(x; θ). The head is solved for on one half of a batch, the
//! meta-loss is the error on the other half, and the derivative goes through the solution; the
//! ridge λ = exp ρ is learned. With A = VᵀV/n + λI, B = Vᵀy/n, and A⁻¹ and w₀ = A⁻¹B taken as
//! constants, `w = w₀ + A⁻¹(B − A w₀)` has the exact value and the exact first derivative.

use std::sync::Arc;

use burn::tensor::Tensor;
use nalgebra::{DMatrix, DVectorView, DVectorViewMut, Dyn, LU};
use rand_chacha::ChaCha8Rng;

use super::{
    Adapted, Backbone, Batch, Learner, LearnerError, Loss, Method, Prior, Settings, Shape, Shots,
    Workspace,
    backbone::apply_heads,
    direct::{AffineLoss, Direct},
    heads::{Features, Head, HeadRule, Problem, Pulls},
    net::Scalar,
    ridge::Regression,
};

/// R2-D2.
pub(super) const METHOD: Method = Method {
    name: "r2d2",
    title: "R2-D2",
    equation: "F(x; θ, w) = c(x; θ) + wᵀ v(x; θ), w by ridge regression inside training",
    zero_shot: false,
    trained_as: "r2d2",
    lbfgs: true,
    first_order: false,
    shared_part: true,
};

/// Smallest ridge at the start, so that its logarithm is finite.
const LEAST_RIDGE: f64 = 1e-9;

/// Ridge regression differentiable discriminator, here for regression.
#[derive(Debug)]
struct R2d2 {
    backbone: Backbone,
    first_ridge: f64,
}

pub(super) fn build(settings: &Settings, shape: Shape) -> Result<Arc<dyn Learner>, LearnerError> {
    Ok(Arc::new(R2d2 {
        backbone: Backbone::new(settings, shape.inputs)?,
        first_ridge: settings.ridge.max(LEAST_RIDGE),
    }))
}

impl R2d2 {
    /// The heads `[T, r]` that solve the ridge regression on the support rows.
    fn heads(&self, features: Tensor<3>, targets: Tensor<2>, ridge: Tensor<1>) -> Tensor<2> {
        let [groups, rows, rank] = features.dims();
        let transposed = features.clone().swap_dims(1, 2).div_scalar(rows as f64);
        let place = (&features.device(), features.dtype());
        let identity = identity(rank, place);
        let gram = transposed.clone().matmul(features) + identity * ridge.reshape([1, 1, 1]);
        let targets = if groups == 1 {
            targets.transpose().unsqueeze_dim::<3>(0)
        } else {
            targets.unsqueeze_dim::<3>(2)
        };
        let moments = transposed.matmul(targets);
        let solution = solve(gram, moments);
        if groups == 1 {
            solution.squeeze_dim::<2>(0).transpose()
        } else {
            solution.squeeze_dim::<2>(2)
        }
    }
}

fn identity(rank: usize, place: (&burn::tensor::Device, burn::tensor::DType)) -> Tensor<3> {
    let mut values = vec![0.0f64; rank * rank];
    values.iter_mut().step_by(rank + 1).for_each(|v| *v = 1.0);
    Tensor::from_data(
        burn::tensor::TensorData::new(values, [1, rank, rank]),
        place,
    )
}

/// X = A⁻¹B of symmetric positive A `[X, r, r]` and B `[X, r, k]`, with its exact first derivative.
fn solve(a: Tensor<3>, b: Tensor<3>) -> Tensor<3> {
    let inverse = inverse(a.clone().detach());
    let start = inverse.clone().matmul(b.clone().detach());
    let defect = b - a.matmul(start.clone());
    start + inverse.matmul(defect)
}

/// A⁻¹ of symmetric positive matrices `[X, r, r]` by Gauss–Jordan elimination without exchange of
/// rows, which such matrices do not need. Tensor operations only, so nothing is read back.
fn inverse(a: Tensor<3>) -> Tensor<3> {
    let [groups, rank, _] = a.dims();
    let place = (&a.device(), a.dtype());
    let identity = identity(rank, place);
    let mut table = Tensor::cat(vec![a, identity.clone().expand([groups, rank, rank])], 2);
    for k in 0..rank {
        let row = table.clone().narrow(1, k, 1);
        let row = row.clone() / row.narrow(2, k, 1);
        let column = table.clone().narrow(2, k, 1) - identity.clone().narrow(2, k, 1);
        table = table - column * row;
    }
    table.narrow(2, rank, rank)
}

/// Heads that solve the ridge regression, A w = B.
#[derive(Debug)]
struct Solved;

/// The factors of A, memory for a head, and the sum of the tasks' pulls at A.
#[derive(Debug, Default)]
struct Factored {
    factors: Option<LU<f64, Dyn, Dyn>>,
    ridge: f64,
    head: Head,
    by_gram: Vec<f64>,
}

impl Factored {
    /// Puts A⁻¹b in the place of b.
    fn solve(factors: &Option<LU<f64, Dyn, Dyn>>, b: &mut [f64]) {
        let rank = b.len();
        let mut view = DVectorViewMut::from_slice(b, rank);
        if !factors.as_ref().is_some_and(|lu| lu.solve_mut(&mut view)) {
            b.fill(f64::NAN);
        }
    }
}

impl HeadRule for Solved {
    type Shared = Factored;

    fn share<T: Scalar>(&self, features: Features<T>, own: &[T], shared: &mut Factored) {
        let rank = features.rank();
        let mut matrix = DMatrix::zeros(rank, rank);
        features.gram_into(features.halves().0, matrix.as_mut_slice());
        shared.ridge = own[0].to_f64().exp();
        for k in 0..rank {
            matrix[(k, k)] += shared.ridge;
        }
        shared.factors = Some(matrix.lu());
        shared.head.resize(rank);
        shared.by_gram.clear();
        shared.by_gram.resize(rank * rank, 0.0);
    }

    fn error<T: Scalar>(
        &self,
        problem: Problem<T>,
        mut pulls: Pulls<T>,
        shared: &mut Factored,
    ) -> T {
        let (support, query) = problem.features.halves();
        let Factored { factors, head, .. } = shared;
        problem.vector_into(support.clone(), &mut head.weights);
        Factored::solve(factors, &mut head.weights);
        let error = problem.judge(head, query, &mut pulls);

        // ∂B = A⁻¹∂w, ∂A = −∂B wᵀ, ∂ρ = λ tr ∂A.
        let by_vector = &mut head.pull;
        Factored::solve(factors, by_vector);
        problem.pull_vector(by_vector, support, &mut pulls);
        let rank = by_vector.len();
        for (sums, by) in shared.by_gram.chunks_exact_mut(rank).zip(&*by_vector) {
            for (sum, w) in sums.iter_mut().zip(&head.weights) {
                *sum -= by * w;
            }
        }
        let [by, w] = [&*by_vector, &head.weights].map(|v| DVectorView::from_slice(v, rank));
        pulls.own[0] += T::from_f64(-shared.ridge * by.dot(&w));
        error
    }

    fn pull_shared<T: Scalar>(&self, features: Features<T>, pulled: &mut [T], shared: &Factored) {
        features.pull_gram(&shared.by_gram, features.halves().0, pulled);
    }
}

impl Learner for R2d2 {
    fn parameter_count(&self) -> usize {
        self.backbone.weight_count() + 1
    }

    fn initial_parameters(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut parameters = self.backbone.initial_weights(rng);
        parameters.push(self.first_ridge.ln());
        parameters
    }

    fn loss(&self, parameters: Tensor<1>, batch: &Batch) -> Loss {
        let (features, bias) = self.backbone.forward(&parameters, &batch.x);
        let targets = match bias {
            Some(bias) => batch.y.clone() - bias,
            None => batch.y.clone(),
        };
        let (support, query) = Batch {
            x: features,
            y: targets,
        }
        .halves();
        let ridge = parameters.narrow(0, self.backbone.weight_count(), 1).exp();
        let heads = self.heads(support.x, support.y, ridge);
        Loss::of_residuals(apply_heads(query.x, heads) - query.y)
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(AffineLoss {
            backbone: self.backbone.clone(),
            heads: Solved,
        }))
    }

    fn projected(&self) -> Option<Arc<dyn Direct>> {
        self.direct()
    }

    fn context_size(&self) -> usize {
        self.backbone.rank()
    }

    fn adapt(&self, parameters: &[f64], shots: Shots) -> Result<Adapted, LearnerError> {
        let (features, targets) = self.backbone.regression(parameters, shots);
        let ridge = parameters[self.backbone.weight_count()].exp() * targets.len() as f64;
        let prior = Prior::ridge(self.backbone.rank(), ridge);
        let regression = Regression::new(&features, &prior)?;
        Ok(Adapted::of_context(regression.solve(&targets)))
    }

    fn predict(
        &self,
        parameters: &[f64],
        adapted: &Adapted,
        inputs: &[f64],
        outputs: &mut [f64],
        workspace: &mut Workspace,
    ) {
        let head = adapted.context();
        self.backbone
            .predict(parameters, head, inputs, outputs, workspace);
    }

    fn backbone(&self) -> Option<&Backbone> {
        Some(&self.backbone)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, TensorData};
    use rand::RngExt as _;

    use super::*;
    use crate::random::generator;

    #[test]
    fn the_elimination_inverts_every_matrix_of_a_batch() {
        let (groups, rank) = (5, 6);
        let mut rng = generator(4, 0);
        let matrices: Vec<DMatrix<f64>> = (0..groups)
            .map(|_| {
                let root = DMatrix::from_fn(rank, rank, |_, _| rng.random_range(-1.0..1.0));
                &root * root.transpose() + DMatrix::identity(rank, rank) * 1e-3
            })
            .collect();
        let values: Vec<f64> = matrices.iter().flat_map(|m| m.iter().copied()).collect();
        let data = TensorData::new(values, [groups, rank, rank]);
        let inverses = inverse(Tensor::from_data(data, (&Device::flex(), DType::F64)));
        let inverses: Vec<f64> = inverses.try_into_vec_as().unwrap();
        for (matrix, inverse) in matrices.iter().zip(inverses.chunks(rank * rank)) {
            let product = matrix * DMatrix::from_column_slice(rank, rank, inverse);
            let defect = (product - DMatrix::<f64>::identity(rank, rank)).norm();
            assert!(defect < 1e-8, "{defect}");
        }
    }
}
