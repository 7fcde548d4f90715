//! Lists the models that are shipped with the site, so that the page asks only for those.

use std::{env, fs, io, path::Path};

const FOLDER: &str = "public/weights";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed={FOLDER}");
    let names = fs::read_dir(FOLDER)?.map(|entry| Ok(entry?.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.sort();
    let place = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&place).join("shipped.rs"), format!("&{names:?}"))
}
