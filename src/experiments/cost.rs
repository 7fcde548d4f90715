//! The paper's Table 1 with numbers: what a method learns, what it adapts, and which derivatives it
//! needs.

/// The sizes of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Weights of the shared network, p.
    pub weights: u64,
    /// Length of the task vector, r.
    pub rank: u64,
    /// Length of the contexts of CoDA and CAVIA, d_ξ.
    pub context: u64,
    /// Training tasks, T.
    pub tasks: u64,
}

impl Default for Sizes {
    /// The cartpole of the experiments.
    fn default() -> Self {
        Self {
            weights: 1_000,
            rank: 3,
            context: 3,
            tasks: 10,
        }
    }
}

impl Sizes {
    /// Smallest and largest number of each, in the order of [`Self::list`].
    pub const RANGES: [(u64, u64); 4] =
        [(1, 1_000_000_000), (1, 1_000), (1, 1_000), (1, 1_000_000)];

    /// All four: p, r, d_ξ, T.
    pub fn list(self) -> [u64; 4] {
        [self.weights, self.rank, self.context, self.tasks]
    }

    /// Sizes from a list as [`Self::list`] gives it, if each is in its range.
    pub fn of_list(list: [u64; 4]) -> Option<Self> {
        let fits = |(value, (low, high)): (&u64, (u64, u64))| (low..=high).contains(value);
        let [weights, rank, context, tasks] = list;
        list.iter().zip(Self::RANGES).all(fits).then_some(Self {
            weights,
            rank,
            context,
            tasks,
        })
    }

    /// As it stands in a link.
    pub fn write(self) -> String {
        self.list().map(|size| size.to_string()).join(" ")
    }

    /// Reads what [`Self::write`] has written.
    pub fn read(text: &str) -> Option<Self> {
        let sizes: Vec<u64> = text
            .split(' ')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        Self::of_list(sizes.try_into().ok()?)
    }
}

/// What a method costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Name for people.
    pub method: &'static str,
    /// The meta-parameters π.
    pub meta: &'static str,
    /// Their number, as a formula.
    pub formula: &'static str,
    /// Their number.
    pub meta_size: u64,
    /// The adaptation rule A(π, D).
    pub rule: &'static str,
    /// Numbers in the task's weights w.
    pub task_size: u64,
    /// Order of the derivatives that training takes.
    pub training_order: u8,
    /// Order of the derivatives that adaptation takes.
    pub adaptation_order: u8,
}

/// Every method; the first three are the columns of the paper's table.
pub fn costs(sizes: Sizes) -> [Cost; 6] {
    let Sizes {
        weights: p,
        rank: r,
        context: d,
        tasks,
    } = sizes;
    let cost = |method, meta, (formula, meta_size), rule, task_size, (training, adaptation)| Cost {
        method,
        meta,
        formula,
        meta_size,
        rule,
        task_size,
        training_order: training,
        adaptation_order: adaptation,
    };
    [
        cost(
            "CAMEL",
            "θ, ω₁ … ω_T",
            ("p + r T", p + r * tasks),
            "least squares",
            r,
            (1, 0),
        ),
        cost(
            "CoDA",
            "θ, Θ, ξ₁ … ξ_T",
            ("p + p d + d T", p + p * d + d * tasks),
            "Θξ, ξ by descent",
            p,
            (1, 1),
        ),
        cost("MAML", "θ", ("p", p), "−α∇ℓ, all weights", p, (2, 1)),
        cost(
            "ANIL",
            "θ, w₀",
            ("p + r", p + r),
            "−α∇ℓ, last layer",
            r,
            (2, 1),
        ),
        cost(
            "R2-D2",
            "θ, λ",
            ("p + 1", p + 1),
            "ridge regression",
            r,
            (1, 0),
        ),
        cost("CAVIA", "θ", ("p", p), "−α∇ℓ, inputs ξ", d, (2, 1)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::{Learner, METHODS, Settings, Shape, learner, net::Mlp};

    #[test]
    fn sizes_survive_a_link_and_bad_ones_are_refused() {
        let sizes = Sizes::of_list([12_345, 2, 4, 8]);
        assert_eq!(Sizes::read("12345 2 4 8"), sizes);
        assert_eq!(sizes.map(Sizes::write).as_deref(), Some("12345 2 4 8"));
        for text in [
            "",
            "1 2 3",
            "0 1 1 1",
            "1 1 1 9999999",
            "a b c d",
            "-1 1 1 1",
        ] {
            assert_eq!(Sizes::read(text), None, "{text}");
        }
    }

    /// The weights p of the network of a learner, its head included where no other parameter is one.
    fn shared_weights(built: &dyn Learner, settings: &Settings) -> usize {
        if let Some(backbone) = built.backbone() {
            return backbone.weight_count();
        }
        let rank = settings.rank;
        let (inputs, outputs, head) = match settings.method.as_str() {
            "maml" => (INPUTS, rank, rank),
            "cavia" => (INPUTS + rank, 1, 0),
            _ => (INPUTS, 1, 0),
        };
        let sizes = [&[inputs], &settings.hidden[..], &[outputs]].concat();
        Mlp::new(sizes).unwrap().weight_count() + head
    }

    const INPUTS: usize = 2;

    #[test]
    fn the_formulas_count_what_every_learner_learns() {
        for method in METHODS.iter().filter(|method| !method.zero_shot) {
            let settings = Settings::new("charges-quadrupole", method.name).unwrap();
            for tasks in [5, 9] {
                let inputs = INPUTS;
                let built = learner(&settings, Shape { inputs, tasks }).unwrap();
                let rank = settings.rank as u64;
                let costs = costs(Sizes {
                    weights: shared_weights(&*built, &settings) as u64,
                    rank,
                    context: rank,
                    tasks: tasks as u64,
                });
                let cost = costs.into_iter().find(|c| c.method == method.title);
                let counted = cost.map(|cost| cost.meta_size);
                let learned = built.parameter_count() as u64;
                assert_eq!(counted, Some(learned), "{}, {tasks} tasks", method.title);
            }
        }
    }

    #[test]
    fn every_cost_is_of_a_method() {
        for cost in costs(Sizes::default()) {
            let of_it = METHODS.iter().filter(|m| m.title == cost.method);
            assert_eq!(of_it.count(), 1, "{}", cost.method);
        }
    }
}
