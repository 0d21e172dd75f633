//! Chores of the project. See [`USAGE`].

mod bench_log;
mod bench_profile;
mod generate;
mod layers;
mod new_rule;
mod sizes;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

const USAGE: &str = "\
usage: cargo xtask layers              fail on a dependency that the house does not allow
       cargo xtask sizes               fail on a file that is too long
       cargo xtask new rule GROUP/ID   write a new rule: its file, its registry lines, its case
       cargo xtask gen [--check]       write the generated files, or fail where they are stale
       cargo xtask bench-log SAMPLE OUT MB   repeat a recorded log until it has the size
       cargo xtask bench-profile OUT SAMPLES [SEED]   write a pprof file of a large service";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["layers"] => layers::check(&root()),
        ["sizes"] => sizes::check(&root()),
        ["new", "rule", name] => new_rule::write(&root(), name),
        ["bench-log", sample, out, megabytes] => {
            bench_log::write(Path::new(sample), Path::new(out), megabytes.parse()?)
        }
        ["bench-profile", out, samples] => bench_profile::write(Path::new(out), samples.parse()?, 0),
        ["bench-profile", out, samples, seed] => {
            bench_profile::write(Path::new(out), samples.parse()?, seed.parse()?)
        }
        ["gen"] => generate::run(&root(), false),
        ["gen", "--check"] => generate::run(&root(), true),
        _ => bail!("{USAGE}"),
    }
}

/// The project's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// All files below `folder` with that extension, sorted.
fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_below(&path, extension)?);
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What `cargo xtask` checks, as tests: a run of all tests needs no build of its own for it.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrow_is_allowed() -> Result<()> {
        layers::check(&root())
    }

    #[test]
    fn every_file_is_small_enough() -> Result<()> {
        sizes::check(&root())
    }

    #[test]
    fn generated_files_are_fresh() -> Result<()> {
        generate::run(&root(), true)
    }
}
