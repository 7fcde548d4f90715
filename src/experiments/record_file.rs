//! The file that a table is collected in: an array of [`Record`]s, whole at any time.
#![cfg(not(target_arch = "wasm32"))]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{record::Record, table};

/// A table on its way to a file.
#[derive(Debug)]
pub struct RecordFile {
    /// `None` for a table that is only kept in memory.
    path: Option<PathBuf>,
    /// The cells so far, in the order of the tables.
    pub records: Vec<Record>,
}

impl RecordFile {
    /// Opens a file with what it holds, or a new one. A file that is no table is left as it is; one
    /// that cannot be written is noticed at once.
    pub fn open(path: &Path) -> Result<Self, String> {
        let records = match fs::read_to_string(path) {
            Ok(text) => parse(path, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let file = Self {
            path: Some(path.to_owned()),
            records,
        };
        file.write()?;
        Ok(file)
    }

    /// A table that is only kept in memory.
    pub fn in_memory() -> Self {
        Self {
            path: None,
            records: Vec::new(),
        }
    }

    /// Takes over the cells of another file, in the place of cells that are the same.
    pub fn take_from(&mut self, other: &Path) -> Result<(), String> {
        let text = fs::read_to_string(other)
            .map_err(|error| format!("cannot read {}: {error}", other.display()))?;
        self.add(parse(other, &text)?)
    }

    /// Adds cells, in the place of the same ones of an earlier run, and writes the file.
    pub fn add(&mut self, new: Vec<Record>) -> Result<(), String> {
        for record in new {
            let cell = table::Cell::of(&record);
            self.records.retain(|old| !cell.names(old));
            self.records.push(record);
        }
        table::sort(&mut self.records);
        self.write()
    }

    /// The table as JSON text, one cell a line.
    pub fn text(&self) -> Result<String, String> {
        let lines: Result<Vec<_>, _> = self.records.iter().map(serde_json::to_string).collect();
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

fn parse(path: &Path, text: &str) -> Result<Vec<Record>, String> {
    serde_json::from_str(text).map_err(|error| {
        format!(
            "{} is not a table of records ({error}); it was left as it is",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{record::Summary, table::Cell},
        learners::Settings,
    };

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
        let mut file = RecordFile::open(&path).unwrap();
        file.add(vec![record("cartpole", "anil", 0.2)]).unwrap();
        file.add(vec![record("cartpole", "camel", 0.1)]).unwrap();
        let again = RecordFile::open(&path).unwrap();
        assert_eq!(again.records, file.records);
        assert_eq!(again.records[0].method, "camel");
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
    fn a_remade_cell_takes_the_place_of_the_old_one() {
        let mut file = RecordFile::in_memory();
        file.add(vec![
            record("arm", "camel", 0.1),
            record("arm", "maml", 1.0),
        ])
        .unwrap();
        file.add(vec![record("arm", "camel", 0.2)]).unwrap();
        let means: Vec<_> = file.records.iter().map(|r| r.mse.mean).collect();
        assert_eq!(means, [0.2, 1.0]);
    }

    #[test]
    fn files_of_several_machines_are_merged() {
        let folder = folder("merge");
        let paths = ["a", "b"].map(|name| folder.join(name));
        for (path, method) in paths.iter().zip(["coda", "camel"]) {
            let mut file = RecordFile::open(path).unwrap();
            file.add(vec![record("upkie", method, 0.1)]).unwrap();
        }
        let mut all = RecordFile::in_memory();
        for path in &paths {
            all.take_from(path).unwrap();
        }
        let methods: Vec<_> = all.records.iter().map(|r| r.method.as_str()).collect();
        assert_eq!(methods, ["camel", "coda"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_corrupt_file_is_named_and_left_as_it_is() {
        let folder = folder("corrupt");
        let path = folder.join("table.json");
        fs::write(&path, "[{\"system\":").unwrap();
        let error = RecordFile::open(&path).unwrap_err();
        assert!(error.contains("table.json is not a table"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[{\"system\":");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_at_once() {
        let error = RecordFile::open(Path::new("/no/such/folder/table.json")).unwrap_err();
        assert!(error.contains("/no/such/folder/table.json"), "{error}");
    }
}
