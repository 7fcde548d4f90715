//! Where results go: a file, or standard output.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Writes text to a file; `-` is standard output.
pub fn write(place: &str, lines: &str) -> Result<(), String> {
    if place == "-" {
        return match io::stdout().write_all(lines.as_bytes()) {
            // Whoever reads the pipe has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            outcome => outcome.map_err(|error| error.to_string()),
        };
    }
    fs::write(place, lines).map_err(|error| cannot_write(Path::new(place), &error))
}

/// Makes a folder where there is none and tries to write in it: whoever trains first and writes then
/// would lose the training.
pub fn prepare_folder(folder: &Path) -> Result<(), String> {
    let probe = folder.join(format!(".camel-{}.part", std::process::id()));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&probe, []))
        .and_then(|()| fs::remove_file(&probe))
        .map_err(|error| cannot_write(folder, &error))
}

/// What to say when a file cannot be written.
pub fn cannot_write(place: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", place.display())
}
