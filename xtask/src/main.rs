//! Chores of the project. See [`USAGE`].

mod bench_log;
mod bench_profile;
mod bpf;
mod circles;
mod docs;
mod generate;
mod imports;
mod layers;
mod new_fact;
mod new_rule;
mod schemas;
#[cfg(test)]
mod setup_tests;
mod sizes;
mod thresholds;
mod tokens;
mod type_names;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

const USAGE: &str = "\
usage: cargo xtask test [--help]       build and run the tests (a program of its own: src/test/)
       cargo xtask layers              fail on a dependency that the house does not allow, on modules
                                       that import each other in a circle, on a rule that takes from a rule
       cargo xtask names               fail on two public types of one name
       cargo xtask sizes               fail on a file that is too long
       cargo xtask docs                fail on a link that leads nowhere, and on a document that the index lacks
       cargo xtask new rule GROUP/ID   write a new rule: its file, its registry lines, its case
       cargo xtask new fact NAME       write a new fold: its file and its registry lines
       cargo xtask gen [--check]       write the generated files, or fail where they are stale
       cargo xtask sweep-tree OUT      write a copy of the project in which thresholds of rules can be scaled
       cargo xtask bpf [--check]       compile the BPF programs (takes clang), or fail where the objects are stale
       cargo xtask bench-log SAMPLE OUT MB   repeat a recorded log until it has the size
       cargo xtask bench-profile OUT SAMPLES [SEED]   write a pprof file of a large service";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["layers"] => layers::check(&root()),
        ["names"] => type_names::check(&root()),
        ["sizes"] => sizes::check(&root()),
        ["docs"] => docs::check(&root()),
        ["new", "rule", name] => new_rule::write(&root(), name),
        ["new", "fact", name] => new_fact::write(&root(), name),
        ["bench-log", sample, out, megabytes] => {
            bench_log::write(Path::new(sample), Path::new(out), megabytes.parse()?)
        }
        ["bench-profile", out, samples] => bench_profile::write(Path::new(out), samples.parse()?, 0),
        ["bench-profile", out, samples, seed] => {
            bench_profile::write(Path::new(out), samples.parse()?, seed.parse()?)
        }
        ["sweep-tree", out] => thresholds::sweep_tree(&root(), Path::new(out)),
        ["bpf"] => bpf::compile(&root()),
        ["bpf", "--check"] => bpf::check_manifest(&root()).and_then(|()| report_bytes()),
        ["gen"] => generate::run(&root(), false),
        ["gen", "--check"] => generate::run(&root(), true),
        _ => bail!("{USAGE}"),
    }
}

/// The project's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Says whether compiling the BPF programs again makes the same bytes.
fn report_bytes() -> Result<()> {
    match bpf::check_bytes(&root())? {
        bpf::Bytes::Same => println!("bpf: compiling again makes the same bytes"),
        bpf::Bytes::Skipped(reason) => println!("skipped: compiling the BPF programs again: {reason}"),
    }
    Ok(())
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
    fn every_link_resolves() -> Result<()> {
        docs::check(&root())
    }

    /// `UPDATE_DOCS=1` writes them, as `cargo xtask gen` does.
    #[test]
    fn generated_files_are_fresh() -> Result<()> {
        generate::run(&root(), std::env::var_os("UPDATE_DOCS").is_none())
    }

    #[test]
    fn bpf_objects_fit_their_sources() -> Result<()> {
        bpf::check_manifest(&root())
    }

    #[test]
    fn bpf_objects_can_be_made_again() -> Result<()> {
        report_bytes()
    }
}
