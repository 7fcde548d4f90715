//! `c(x; θ) + wᵀv(x; θ)`: the feature net v, the optional bias net c, and heads w on top of them.
//!
//! CAMEL, ANIL and R2-D2 differ only in where the head w comes from.

use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;

use super::{LearnerError, Workspace, net::Mlp, settings::Settings};

/// The nets that all tasks share. Their weights come first in the flat parameters: v, then c.
#[derive(Clone, Debug, PartialEq)]
pub struct Backbone {
    features: Mlp,
    bias: Option<Mlp>,
}

impl Backbone {
    /// Nets for rows of `inputs` numbers.
    pub(super) fn new(settings: &Settings, inputs: usize) -> Result<Self, LearnerError> {
        let net = |hidden: &[usize], outputs| {
            let sizes: Vec<usize> = [&[inputs], hidden, &[outputs]].concat();
            Mlp::new(sizes)
        };
        Ok(Self {
            features: net(&settings.hidden, settings.rank)?,
            bias: match settings.bias.as_slice() {
                [] => None,
                hidden => Some(net(hidden, 1)?),
            },
        })
    }

    /// The feature net v and the bias net c.
    pub(super) fn nets(&self) -> (&Mlp, Option<&Mlp>) {
        (&self.features, self.bias.as_ref())
    }

    /// Number of features r.
    pub fn rank(&self) -> usize {
        self.features.output_size()
    }

    /// Whether there is a bias net c.
    pub fn has_bias(&self) -> bool {
        self.bias.is_some()
    }

    /// Number of weights of both nets.
    pub fn weight_count(&self) -> usize {
        self.features.weight_count() + self.bias.as_ref().map_or(0, Mlp::weight_count)
    }

    /// Seeded first weights.
    pub(super) fn initial_weights(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut weights = self.features.initial_weights(rng);
        if let Some(bias) = &self.bias {
            weights.extend(bias.initial_weights(rng));
        }
        weights
    }

    /// The features v(x) `[X, N, r]` and the bias c(x) `[X, N]` of inputs `[X, N, d]`.
    pub(super) fn forward(
        &self,
        parameters: &Tensor<1>,
        x: &Tensor<3>,
    ) -> (Tensor<3>, Option<Tensor<2>>) {
        let count = self.features.weight_count();
        let weights = parameters.clone().narrow(0, 0, count).unsqueeze::<2>();
        let features = self.features.forward(weights, x.clone());
        let bias = self.bias.as_ref().map(|net| {
            let weights = parameters.clone().narrow(0, count, net.weight_count());
            let output = net.forward(weights.unsqueeze::<2>(), x.clone());
            output.squeeze_dim::<2>(2)
        });
        (features, bias)
    }

    /// Features v (rows of r) and bias c of standardised input rows, on the host.
    pub(super) fn evaluate(
        &self,
        parameters: &[f64],
        inputs: &[f64],
        features: &mut [f64],
        bias: &mut [f64],
        workspace: &mut Workspace,
    ) {
        let (first, rest) = parameters.split_at(self.features.weight_count());
        let scratch = &mut workspace.net;
        scratch.outputs(&self.features, first, inputs, features);
        match &self.bias {
            Some(net) => scratch.outputs(net, &rest[..net.weight_count()], inputs, bias),
            None => bias.fill(0.0),
        }
    }

    /// `c(x) + wᵀv(x)` of standardised input rows, on the host.
    pub(super) fn predict(
        &self,
        parameters: &[f64],
        head: &[f64],
        inputs: &[f64],
        outputs: &mut [f64],
        workspace: &mut Workspace,
    ) {
        let mut features = std::mem::take(&mut workspace.features);
        features.resize(outputs.len() * self.rank(), 0.0);
        self.evaluate(parameters, inputs, &mut features, outputs, workspace);
        for (output, row) in outputs.iter_mut().zip(features.chunks_exact(self.rank())) {
            *output += row.iter().zip(head).map(|(v, w)| v * w).sum::<f64>();
        }
        workspace.features = features;
    }

    /// Features of shots, and their targets without the bias; of several tasks on the same inputs, if
    /// there are targets of several, one task after the other.
    pub(super) fn regression(
        &self,
        parameters: &[f64],
        shots: super::Shots,
    ) -> (Vec<f64>, Vec<f64>) {
        let rows = shots.inputs.len() / self.features.input_size();
        let mut features = vec![0.0; rows * self.rank()];
        let mut bias = vec![0.0; rows];
        let mut workspace = Workspace::default();
        self.evaluate(
            parameters,
            shots.inputs,
            &mut features,
            &mut bias,
            &mut workspace,
        );
        let targets = shots.targets.iter().zip(bias.iter().cycle());
        (features, targets.map(|(y, c)| y - c).collect())
    }
}

/// Outputs wᵀv `[T, N]` of heads `[T, r]` on features `[X, N, r]`, X = 1 or T.
pub(super) fn apply_heads(features: Tensor<3>, heads: Tensor<2>) -> Tensor<2> {
    if features.dims()[0] == 1 {
        heads.matmul(features.squeeze_dim::<2>(0).transpose())
    } else {
        features
            .matmul(heads.unsqueeze_dim::<3>(2))
            .squeeze_dim::<2>(2)
    }
}

/// Σ_i e_i v_i `[T, r]` of residuals `[T, N]` on features `[X, N, r]`, X = 1 or T: the transpose of
/// [`apply_heads`].
pub(super) fn pull_heads(features: Tensor<3>, residuals: Tensor<2>) -> Tensor<2> {
    if features.dims()[0] == 1 {
        residuals.matmul(features.squeeze_dim::<2>(0))
    } else {
        residuals
            .unsqueeze_dim::<3>(1)
            .matmul(features)
            .squeeze_dim::<2>(1)
    }
}
