//! What there is to say about figures: where ours are worse and why, and how to read them.

use serde::{Deserialize, Serialize};

use super::{Results, is_comparable, method_title};
use crate::{
    charts::number::significant,
    experiments::record::{Printed, Record, Summary},
};

/// A sentence on figures, from `public/results/remarks.json`. It begins in lower case and has no full
/// stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Of this number of shots only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shots: Option<usize>,
    /// Of this noise only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Why the figure is what it is.
    pub text: String,
}

impl Said {
    fn is_about(&self, record: &Record) -> bool {
        (&self.system, &self.method) == (&record.system, &record.method)
            && self.shots.is_none_or(|shots| shots == record.shots)
            && self.noise.is_none_or(|noise| noise == record.noise)
    }

    /// By itself, with what it is about.
    fn line(&self) -> String {
        let head = head(&self.method, self.shots, self.noise);
        sentence(format!("{head}: {}", self.text))
    }
}

impl Results {
    /// What there is to say about a system: every figure that is worse than the paper's with its
    /// reason, what is left out, and the other written remarks.
    pub fn remarks(&self, system: &str) -> Vec<String> {
        let worse: Vec<&Record> = self.of(system).filter(|r| self.is_worse(r)).collect();
        let lines = worse.iter().filter_map(|record| self.excuse(record));
        let left_out = self.left_out.iter().filter(|cell| cell.system == system);
        let left_out = left_out.map(|cell| {
            let head = head(&cell.method, cell.shots, cell.noise);
            sentence(format!("{head} is left out: {}", cell.reason))
        });
        let unused = |said: &&Said| !worse.iter().any(|record| said.is_about(record));
        let said = self.remarks.iter().filter(|said| said.system == system);
        let said = said.filter(unused).map(Said::line);
        lines.chain(left_out).chain(said).collect()
    }

    /// Records that are worse than the paper's without a reason.
    pub fn unexplained(&self) -> Vec<&Record> {
        let records = self.records.iter();
        records
            .filter(|record| self.is_worse(record) && self.reasons(record).is_empty())
            .collect()
    }

    /// Whether a figure is above the paper's.
    pub fn is_worse(&self, record: &Record) -> bool {
        self.ratio(record).is_some_and(|ratio| ratio > 1.0)
    }

    fn excuse(&self, record: &Record) -> Option<String> {
        let ratio = significant(self.ratio(record)?, 2);
        let head = head(&record.method, Some(record.shots), None);
        let mut parts = vec![format!("{head}: {ratio} × the paper's error")];
        parts.extend(self.reasons(record));
        Some(sentence(parts.join("; ")))
    }

    /// Why a figure is above the paper's, as far as it is known.
    fn reasons(&self, record: &Record) -> Vec<String> {
        let said = self.remarks.iter().filter(|said| said.is_about(record));
        let mut reasons: Vec<String> = said.map(|said| said.text.clone()).collect();
        let (ratio, summary) = match (self.ratio(record), self.printed(record)) {
            (Some(ratio), Some(printed)) => (ratio, compared(record, printed)),
            _ => return reasons,
        };
        let error = summary.std / (summary.n as f64).sqrt() / summary.mean;
        if ratio * (1.0 - 2.0 * error) <= 1.0 {
            let trials = summary.n;
            reasons.push(format!(
                "that is within two standard errors of our {trials} trials"
            ));
        }
        reasons
    }

    /// How the figures of a system are to be read.
    pub fn notes(&self, system: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let printed: Vec<&Printed> = self.printed.iter().filter(|p| p.system == system).collect();
        if printed.is_empty() {
            notes.push("The paper has no table of this system.".to_owned());
        } else if !is_comparable(system) {
            notes
                .push("The paper's figures are not comparable: other scale of torques.".to_owned());
        } else if printed.iter().any(|p| p.to_normalised.is_some()) {
            notes.push("Ours / paper compares normalised errors, over the mean squared target of all trials: the paper's figures were put on that scale first.".to_owned());
        } else {
            notes.push("Ours / paper compares mean squared errors as they are.".to_owned());
        }
        if matches!(system, "charges-dipole" | "charges-pair") {
            notes.push("The paper prints one row of charges; both the dipole and the pair stand beside it, on the scale of the pair, which the authors' code trains.".to_owned());
        }
        if self.of(system).any(|record| record.noise > 0.0) {
            notes.push("“True potentials, least squares” is the error of the exact potentials, fitted to the same noisy samples without regularisation; a method that knows what charges are usual can be below it.".to_owned());
        }
        notes
    }
}

/// What a ratio to the paper is taken of.
fn compared(record: &Record, printed: &Printed) -> Summary {
    match printed.to_normalised {
        Some(_) => record.nmse,
        None => record.mse,
    }
}

/// A method, and if need be the cell.
fn head(method: &str, shots: Option<usize>, noise: Option<f64>) -> String {
    let mut head = method_title(method);
    match shots {
        Some(0) => head.push_str(", φ given"),
        Some(shots) => head.push_str(&format!(", {shots} shots")),
        None => {}
    }
    if let Some(noise) = noise.filter(|noise| *noise > 0.0) {
        head.push_str(&format!(", noise {}", significant(noise, 2)));
    }
    head
}

fn sentence(mut text: String) -> String {
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}
