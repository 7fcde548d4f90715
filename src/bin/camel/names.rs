//! Names of systems and methods, refused before anything is trained or measured.

use camel_lab::{
    learners::{METHODS, method},
    systems::{NAMES, by_name},
};

/// The given systems, each once, or all.
pub fn systems(given: &[String]) -> Result<Vec<String>, String> {
    let check = |name: &str| by_name(name).map(drop).map_err(|error| error.to_string());
    checked(given, NAMES, check)
}

/// The given methods, each once, or all.
pub fn methods(given: &[String]) -> Result<Vec<String>, String> {
    let check = |name: &str| method(name).map(drop).map_err(|error| error.to_string());
    checked(given, METHODS.iter().map(|method| method.name), check)
}

/// The given methods, each once, or all, without those that have no training of their own.
pub fn trained_methods(given: &[String]) -> Result<Vec<String>, String> {
    let trained = METHODS.iter().filter(|method| !method.zero_shot);
    checked(given, trained.map(|method| method.name), |name| {
        let found = method(name).map_err(|error| error.to_string())?;
        match found.zero_shot {
            false => Ok(()),
            true => Err(format!(
                "{name} has no training of its own: it uses the model of {}",
                found.trained_as
            )),
        }
    })
}

/// The given names, each once, or all there are, if none is refused.
pub fn checked<'a>(
    given: &[String],
    all: impl IntoIterator<Item = &'a str>,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for name in given {
        check(name)?;
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    if names.is_empty() {
        names.extend(all.into_iter().map(str::to_owned));
    }
    Ok(names)
}
