//! What online error bars are worth: how often those of freshly trained models cover the truth.
//!
//! At one mass the final error of one model is nearly the same in all runs: its own, on this reference.
//! Error bars speak of models and masses as well as of runs, so their shares are counted over several of each;
//! the shipped model's, mass by mass, are counted in `identification::learned`.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]
#![cfg(not(target_arch = "wasm32"))]

use std::{sync::Arc, thread, time::Duration};

use camel_lab::{
    control::trials::{AdaptiveReport, AdaptiveTrials, Steps, adaptive_trials},
    experiments::training::train,
    identification::{identifier::Identifier, learned::LearnedModel},
    learners::Settings,
    systems::{Split, System as _, cartpole::Cartpole},
};

/// Seeds of the trainings, none of which any setting was chosen with.
const TRAININGS: std::ops::Range<u64> = 300..310;
/// Factors on the cart's mass for each of them, a trial each.
const MASSES: u32 = 20;
/// No tick is missed on a busy machine: what is tested here is not speed.
const PATIENT: Duration = Duration::from_secs(3_600);

fn trained(seed: u64) -> Identifier<LearnedModel> {
    let system = Cartpole::default();
    let settings = Settings::new("cartpole", "camel").unwrap();
    let environments = system.environments(Split::Train, seed);
    let (model, ..) = train(&system, &settings, &environments, seed, |_| ()).unwrap();
    Identifier::of_model(&Arc::new(model), &system, seed).unwrap()
}

fn report(
    identifier: &Identifier<LearnedModel>,
    factor: f64,
    trials: usize,
    seed: u64,
) -> AdaptiveReport {
    let setting = AdaptiveTrials {
        factor,
        ..AdaptiveTrials::default()
    };
    let model = || Ok(identifier.online(setting.disturbance)?);
    adaptive_trials(&setting, trials, seed, PATIENT, model).unwrap()
}

/// What one training is worth.
struct Merits {
    /// Of each mass of a sweep from half to four times the cart's: is it covered soon after the change, noticed
    /// or not, and at the end?
    soon: Vec<f64>,
    end: Vec<f64>,
    /// What happens after a doubling.
    doubled: AdaptiveReport,
}

impl Merits {
    /// Tracking error after a doubling, over the oracle's.
    fn ratio(&self) -> f64 {
        self.doubled.tracking_error / self.doubled.tracking_error_oracle
    }

    /// Whether a doubling is noticed, weighed and followed as it should be.
    fn is_good(&self) -> bool {
        let within = |steps: Steps, most| steps.median.is_some_and(|median| median <= most);
        within(self.doubled.detection_delay, 8.0)
            && within(self.doubled.steps_within_10pct, 40.0)
            && within(self.doubled.steps_within_5pct, 200.0)
            && self.doubled.false_alarms_per_10k <= 1.0
            && self.ratio() <= 1.5
    }
}

fn merits(seed: u64) -> Merits {
    let identifier = trained(seed);
    let sweep = |k| 0.5 * 8.0_f64.powf((f64::from(k) + 0.5) / f64::from(MASSES));
    let first = 1_000 * seed;
    let reports: Vec<AdaptiveReport> = (0..MASSES)
        .map(|k| report(&identifier, sweep(k), 1, first + u64::from(k)))
        .collect();
    let covered = |share: fn(&AdaptiveReport) -> Option<f64>| -> Vec<f64> {
        reports.iter().filter_map(share).collect()
    };
    Merits {
        soon: covered(|report| report.coverage_95_soon),
        end: covered(|report| report.coverage_95),
        doubled: report(&identifier, 2.0, 10, first),
    }
}

fn share(all: &[Merits], covered: fn(&Merits) -> &[f64]) -> f64 {
    let covered: Vec<f64> = all.iter().flat_map(covered).copied().collect();
    assert_eq!(covered.len(), TRAININGS.count() * MASSES as usize);
    covered.iter().sum::<f64>() / covered.len() as f64
}

#[test]
fn bars_of_fresh_models_cover_new_masses_and_a_doubled_cart_is_followed_nearly_as_the_oracle_does()
{
    let all: Vec<Merits> = thread::scope(|scope| {
        let runs: Vec<_> = TRAININGS
            .map(|seed| scope.spawn(move || merits(seed)))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let soon = share(&all, |merits| &merits.soon);
    let end = share(&all, |merits| &merits.end);
    let ratios: Vec<f64> = all.iter().map(Merits::ratio).collect();
    println!("covered: {soon:.3} soon, {end:.3} at the end; of the oracle's error: {ratios:.2?}");
    for share in [soon, end] {
        assert!(
            (0.85..=0.99).contains(&share),
            "{soon} soon, {end} at the end"
        );
    }
    // Of trainings 100 to 129 one, 108, has errors on this reference that its own rows do not show.
    let bad = all.iter().filter(|merits| !merits.is_good()).count();
    assert!(bad <= 1, "{bad} trainings; {ratios:.2?}");
    assert!(ratios.iter().all(|ratio| *ratio < 2.0), "{ratios:.2?}");
}
