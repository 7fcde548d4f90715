//! Files that results are collected in: arrays of JSON objects, one a line, whole at any time.
#![cfg(not(target_arch = "wasm32"))]

use std::{
    cmp::Ordering,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    figures::{Curve, FIGURES},
    record::{Record, StepTime},
    table::{Cell, place},
    tuning::Tried,
};

/// What can be collected in a file.
pub trait Listed: Serialize + DeserializeOwned {
    /// What a file of it is called.
    const LIST: &'static str;

    /// Whether both are the same result, which a file holds once.
    fn replaces(&self, other: &Self) -> bool;

    /// The order in the file.
    fn order(&self, other: &Self) -> Ordering;
}

/// Results on their way to a file.
#[derive(Debug)]
pub struct ListFile<T> {
    /// `None` for what is only kept in memory.
    path: Option<PathBuf>,
    /// The results so far, in their order.
    pub items: Vec<T>,
}

impl<T: Listed> ListFile<T> {
    /// Opens a file with what it holds, or a new one; `-` is kept in memory only. A file of
    /// something else is left as it is; one that cannot be written is noticed at once.
    pub fn open(place: &str) -> Result<Self, String> {
        if place == "-" {
            return Ok(Self {
                path: None,
                items: Vec::new(),
            });
        }
        let path = Path::new(place);
        let file = Self {
            path: Some(path.to_owned()),
            items: read(path)?,
        };
        file.write()?;
        Ok(file)
    }

    /// Takes over what another file holds, in the place of results that are the same.
    pub fn take_from(&mut self, other: &Path) -> Result<(), String> {
        let text = fs::read_to_string(other)
            .map_err(|error| format!("cannot read {}: {error}", other.display()))?;
        self.add(parse(other, &text)?)
    }

    /// Adds results, in the place of the same ones of an earlier run, and writes the file, with what
    /// another process may have added to it.
    pub fn add(&mut self, new: Vec<T>) -> Result<(), String> {
        if let Some(path) = &self.path {
            self.items = read(path)?;
        }
        for item in new {
            self.items.retain(|old| !item.replaces(old));
            self.items.push(item);
        }
        self.items.sort_by(T::order);
        self.write()
    }

    /// All of it as JSON text.
    pub fn text(&self) -> Result<String, String> {
        let lines: Result<Vec<_>, _> = self.items.iter().map(serde_json::to_string).collect();
        let lines = lines.map_err(|error| error.to_string())?;
        Ok(format!("[\n{}\n]\n", lines.join(",\n")))
    }

    /// Writes a neighbour and renames it, so that a kill leaves the old file or the new one.
    fn write(&self) -> Result<(), String> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut part = path.clone().into_os_string();
        part.push(format!(".{}.part", std::process::id()));
        let written = fs::write(&part, self.text()?).and_then(|()| fs::rename(&part, path));
        written.map_err(|error| {
            let _ = fs::remove_file(&part);
            format!("cannot write {}: {error}", path.display())
        })
    }
}

impl Listed for Record {
    const LIST: &'static str = "a table of records";

    fn replaces(&self, other: &Self) -> bool {
        Cell::of(self).names(other)
    }

    fn order(&self, other: &Self) -> Ordering {
        let key = |record: &Self| (place(&record.system, &record.method), record.shots);
        let noise = self.noise.total_cmp(&other.noise);
        key(self).cmp(&key(other)).then(noise)
    }
}

impl Listed for Curve {
    const LIST: &'static str = "a list of curves";

    fn replaces(&self, other: &Self) -> bool {
        (&self.figure, &self.system, &self.method) == (&other.figure, &other.system, &other.method)
    }

    fn order(&self, other: &Self) -> Ordering {
        let figure = |curve: &Self| FIGURES.iter().position(|name| *name == curve.figure);
        let key = |curve: &Self| (figure(curve), place(&curve.system, &curve.method));
        key(self).cmp(&key(other))
    }
}

impl Listed for StepTime {
    const LIST: &'static str = "a list of times";

    fn replaces(&self, other: &Self) -> bool {
        (&self.system, &self.method) == (&other.system, &other.method)
    }

    fn order(&self, other: &Self) -> Ordering {
        let key = |time: &Self| place(&time.system, &time.method);
        key(self).cmp(&key(other))
    }
}

impl Listed for Tried {
    const LIST: &'static str = "a list of what was tried";

    fn replaces(&self, other: &Self) -> bool {
        self.candidate() == other.candidate() && self.shots == other.shots
    }

    /// Of one cell the best comes first.
    fn order(&self, other: &Self) -> Ordering {
        let key = |tried: &Self| (place(&tried.system, &tried.method), tried.shots, tried.seed);
        let error = |tried: &Self| tried.nmse.unwrap_or(f64::INFINITY);
        let errors = error(self).total_cmp(&error(other));
        key(self).cmp(&key(other)).then(errors)
    }
}

/// What a file holds; nothing if there is none.
fn read<T: Listed>(path: &Path) -> Result<Vec<T>, String> {
    match fs::read_to_string(path) {
        Ok(text) => parse(path, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

fn parse<T: Listed>(path: &Path, text: &str) -> Result<Vec<T>, String> {
    serde_json::from_str(text).map_err(|error| {
        format!(
            "{} is not {} ({error}); it was left as it is",
            path.display(),
            T::LIST
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{experiments::record::Summary, learners::Settings};

    fn record(system: &str, method: &str, mean: f64) -> Record {
        let summary = Summary {
            mean,
            std: 0.1,
            n: 5,
        };
        Record {
            system: system.to_owned(),
            method: method.to_owned(),
            shots: 10,
            seed: 0,
            noise: 0.0,
            spec: Settings::new(system, method).unwrap(),
            device: "CPU".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mse: summary,
            nmse: summary,
            training_seconds: 1.0,
            adaptation_seconds: 1e-3,
            identification_error: Some(summary),
            zero_shot_error: None,
            floor: None,
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("camel-lab-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn finished_cells_are_found_again_in_the_order_of_the_tables() {
        let folder = folder("resume");
        let path = folder.join("table.json");
        let mut file = ListFile::<Record>::open(path.to_str().unwrap()).unwrap();
        file.add(vec![record("cartpole", "anil", 0.2)]).unwrap();
        file.add(vec![record("cartpole", "camel", 0.1)]).unwrap();
        let again = ListFile::<Record>::open(path.to_str().unwrap()).unwrap();
        assert_eq!(again.items, file.items);
        assert_eq!(again.items[0].method, "camel");
        let kept: Vec<_> = fs::read_dir(&folder).unwrap().collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_cell_of_other_settings_seed_trials_or_version_is_not_done() {
        let done = record("cartpole", "camel", 0.1);
        let cell = Cell::of(&done);
        let settings = done.spec.clone();
        assert!(cell.is_done(&done, &settings));
        let mut others = vec![done.clone(), done.clone(), done.clone(), done];
        others[0].spec.steps += 1;
        others[1].seed = 1;
        others[2].mse.n = 4;
        others[3].version = "0.0.0".to_owned();
        for other in others {
            assert!(
                cell.names(&other) && !cell.is_done(&other, &settings),
                "{other:?}"
            );
        }
    }

    #[test]
    fn two_processes_on_one_file_keep_each_others_cells() {
        let folder = folder("shared");
        let path = folder.join("table.json");
        let open = || ListFile::<Record>::open(path.to_str().unwrap()).unwrap();
        let (mut one, mut other) = (open(), open());
        one.add(vec![record("arm", "camel", 0.1)]).unwrap();
        other.add(vec![record("arm", "maml", 1.0)]).unwrap();
        one.add(vec![record("arm", "coda", 0.5)]).unwrap();
        assert_eq!(open().items.len(), 3);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_remade_cell_takes_the_place_of_the_old_one() {
        let mut file = ListFile::<Record>::open("-").unwrap();
        file.add(vec![
            record("arm", "camel", 0.1),
            record("arm", "maml", 1.0),
        ])
        .unwrap();
        file.add(vec![record("arm", "camel", 0.2)]).unwrap();
        let means: Vec<_> = file.items.iter().map(|r| r.mse.mean).collect();
        assert_eq!(means, [0.2, 1.0]);
    }

    #[test]
    fn files_of_several_machines_are_merged() {
        let folder = folder("merge");
        let paths = ["a", "b"].map(|name| folder.join(name));
        for (path, method) in paths.iter().zip(["coda", "camel"]) {
            let mut file = ListFile::<Record>::open(path.to_str().unwrap()).unwrap();
            file.add(vec![record("upkie", method, 0.1)]).unwrap();
        }
        let mut all = ListFile::<Record>::open("-").unwrap();
        for path in &paths {
            all.take_from(path).unwrap();
        }
        let methods: Vec<_> = all.items.iter().map(|r| r.method.as_str()).collect();
        assert_eq!(methods, ["camel", "coda"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_corrupt_file_is_named_and_left_as_it_is() {
        let folder = folder("corrupt");
        let path = folder.join("table.json");
        fs::write(&path, "[{\"system\":").unwrap();
        let error = ListFile::<Record>::open(path.to_str().unwrap()).unwrap_err();
        assert!(error.contains("table.json is not a table"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[{\"system\":");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_at_once() {
        let error = ListFile::<Record>::open("/no/such/folder/table.json").unwrap_err();
        assert!(error.contains("/no/such/folder/table.json"), "{error}");
    }
}
