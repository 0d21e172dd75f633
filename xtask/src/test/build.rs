//! Builds the tests and finds what was built.

use super::child::Mark;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An executable of tests that speaks libtest's interface.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct TestBinary {
    /// `PACKAGE` of a library or of a package's only program, `PACKAGE::NAME` of an integration test.
    pub(crate) suite: String,
    pub(crate) executable: PathBuf,
    /// The package's folder, in which its tests run.
    pub(crate) folder: PathBuf,
}

/// What a build made.
#[derive(Debug, Default)]
pub(crate) struct Built {
    pub(crate) tests: Vec<TestBinary>,
    /// The program itself, which scripts test; not there where only other packages' tests were built.
    pub(crate) whyslow: Option<PathBuf>,
    /// What the compiler and its lints warn of.
    pub(crate) warnings: usize,
}

/// The cargo that runs us, else the one of the path. Our own crates are compiled by clippy's driver, which is rustc with more lints:
/// a `cargo clippy` of its own would compile all that we depend on a second time.
pub(crate) fn cargo(root: &Path, mark: &Mark) -> Command {
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // A toolchain of rustup's has both in one folder.
    let driver = cargo.with_file_name("clippy-driver");
    let driver = if driver.is_absolute() && driver.exists() { driver } else { "clippy-driver".into() };
    let mut command = Command::new(cargo);
    without_own_package(&mut command);
    mark.put_on(command.current_dir(root).env("RUSTC_WORKSPACE_WRAPPER", driver));
    command
}

/// Takes away what `cargo run` says of xtask: build scripts that ask for it (ring's does) would run anew after each cargo of the shell's,
/// and all that is built on them.
pub(crate) fn without_own_package(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|of| name.to_string_lossy().starts_with(of)) {
            command.env_remove(name);
        }
    }
}

/// The integration tests, by the name of their file, that are enough to run what is called so; `None`: everything is built.
pub(crate) fn enough_for(names: &[String]) -> Option<Vec<String>> {
    let of_test = |name: &String| {
        let (_, file) = name.split_once('/')?.0.split_once("::")?;
        (!file.is_empty() && !file.starts_with("bin-")).then(|| file.to_string())
    };
    names.iter().map(of_test).collect::<Option<Vec<_>>>().filter(|files| !files.is_empty())
}

/// Builds all tests, or `only` those, and lints all that it compiles. What the compiler has to say goes to standard error as it comes.
pub(crate) fn build(root: &Path, mark: &Mark, only: Option<&[String]>) -> Result<Built> {
    // Always of the whole workspace: for a single package cargo would choose other features of what it depends on, and build that anew.
    let format = if std::io::stderr().is_terminal() { "json-diagnostic-rendered-ansi" } else { "json" };
    let mut child = cargo(root, mark)
        .args(["test", "--workspace", "--no-run", "--message-format", format])
        .args(only.unwrap_or_default().iter().flat_map(|file| ["--test", file]))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cargo")?;
    let messages = BufReader::new(child.stdout.take().context("a pipe from cargo")?);
    let mut built = Found::default();
    for line in messages.lines() {
        let line = line?;
        // Besides its messages cargo may let through what a build script prints.
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            built.see(&message);
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("it does not build: cargo's {status}; the errors stand above");
    }
    Ok(built.done())
}

/// What cargo's messages say.
#[derive(Debug, Default)]
struct Found {
    /// Package, kind and name of the target, executable, folder.
    tests: Vec<(String, String, String, PathBuf, PathBuf)>,
    whyslow: Option<PathBuf>,
    warnings: usize,
}

impl Found {
    fn see(&mut self, message: &Value) {
        if message["reason"] == "compiler-message" {
            let diagnostic = &message["message"];
            // The last one of a crate only counts those before it, and has no code and no place.
            let is_sum =
                diagnostic["spans"].as_array().is_none_or(Vec::is_empty) && diagnostic["code"].is_null();
            self.warnings += usize::from(diagnostic["level"] == "warning" && !is_sum);
            let rendered = diagnostic["rendered"].as_str().unwrap_or_default();
            eprint!("{rendered}");
            return;
        }
        let Some(executable) = message["executable"].as_str() else { return };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let target = &message["target"];
        let (name, kind) = (text(&target["name"]), text(&target["kind"][0]));
        if message["profile"]["test"] == true {
            let folder = PathBuf::from(text(&message["manifest_path"])).parent().map(Path::to_path_buf);
            let package = package_name(&text(&message["package_id"]));
            self.tests.push((package, kind, name, executable.into(), folder.unwrap_or_default()));
        } else if kind == "bin" && name == "whyslow" {
            self.whyslow = Some(executable.into());
        }
    }

    fn done(self) -> Built {
        let libraries: BTreeSet<String> = self
            .tests
            .iter()
            .filter(|(_, kind, ..)| kind != "bin" && kind != "test")
            .map(|(package, ..)| package.clone())
            .collect();
        let mut tests: Vec<TestBinary> = self
            .tests
            .into_iter()
            .map(|(package, kind, name, executable, folder)| {
                let suite = match kind.as_str() {
                    "test" => format!("{package}::{name}"),
                    "bin" if name != package || libraries.contains(&package) => {
                        format!("{package}::bin-{name}")
                    }
                    _ => package,
                };
                TestBinary { suite, executable, folder }
            })
            .collect();
        tests.sort_by(|a, b| a.suite.cmp(&b.suite));
        Built { tests, whyslow: self.whyslow, warnings: self.warnings }
    }
}

/// The package's name in its id: `path+file:///folder#name@0.1.0`, or without `name@` where the folder is called so.
fn package_name(id: &str) -> String {
    let (url, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name,
        None => url.rsplit('/').next().unwrap_or(url),
    }
    .to_string()
}

/// Packages with documentation that has examples to run.
pub(crate) fn with_doc_tests(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        let library = folder.join("src/lib.rs");
        if !library.exists() {
            continue;
        }
        let mut has_some = false;
        for path in crate::files_below(&folder.join("src"), "rs")? {
            has_some |= has_doc_test(&std::fs::read_to_string(path)?);
        }
        if has_some {
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))?;
            let name = manifest.lines().find_map(|line| line.strip_prefix("name = \""));
            found.extend(name.and_then(|name| name.strip_suffix('"')).map(str::to_string));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a documentation comment opens a block of code that rustdoc would run.
fn has_doc_test(source: &str) -> bool {
    let mut is_open = false;
    for line in source.lines() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            is_open = false;
            continue;
        };
        let Some(language) = text.trim().strip_prefix("```") else { continue };
        if !is_open {
            let is_rust = |word: &str| {
                matches!(word, "rust" | "should_panic" | "no_run" | "compile_fail")
                    || word.starts_with("edition")
            };
            if language.is_empty() || language.split(',').all(|word| is_rust(word.trim())) {
                return true;
            }
        }
        is_open = !is_open;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &str, name: &str, is_test: bool) -> Value {
        serde_json::json!({
            "reason": "compiler-artifact",
            "package_id": "path+file:///src/crates/read#whyslow-read@0.1.0",
            "manifest_path": "/src/crates/read/Cargo.toml",
            "target": { "kind": [kind], "name": name },
            "profile": { "test": is_test },
            "executable": format!("/target/debug/{name}"),
        })
    }

    #[test]
    fn executables_are_found_in_the_messages() {
        let mut found = Found::default();
        found.see(&message("test", "it", true));
        found.see(&message("lib", "whyslow_read", true));
        found.see(&message("bin", "whyslow-read", true));
        found.see(&message("bin", "whyslow", false));
        found.see(&serde_json::json!({ "reason": "build-finished" }));
        found.see(&serde_json::json!({ "reason": "compiler-artifact", "executable": null }));
        let built = found.done();
        let suites: Vec<&str> = built.tests.iter().map(|test| test.suite.as_str()).collect();
        assert_eq!(suites, ["whyslow-read", "whyslow-read::bin-whyslow-read", "whyslow-read::it"]);
        assert_eq!(built.tests[2].folder, Path::new("/src/crates/read"));
        assert_eq!(built.whyslow.as_deref(), Some(Path::new("/target/debug/whyslow")));
    }

    #[test]
    fn warnings_are_counted_without_their_sum() {
        let warning = |level: &str, code: Value, spans: Value| {
            serde_json::json!({
                "reason": "compiler-message",
                "message": { "level": level, "code": code, "spans": spans, "rendered": "" },
            })
        };
        let place = serde_json::json!([{ "file_name": "src/lib.rs" }]);
        let mut found = Found::default();
        found.see(&warning("warning", serde_json::json!({ "code": "clippy::len_zero" }), place.clone()));
        found.see(&warning("warning", Value::Null, place.clone()));
        found.see(&warning("warning", Value::Null, serde_json::json!([])));
        found.see(&warning("note", Value::Null, place));
        assert_eq!(found.done().warnings, 2);
    }

    #[test]
    fn what_is_called_by_its_suite_needs_no_other() {
        let enough =
            |names: &[&str]| enough_for(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(
            enough(&["whyslow::cases/files/", "whyslow-read::it/x"]),
            Some(vec!["cases".into(), "it".into()])
        );
        assert_eq!(enough(&["whyslow::cases/files/", "fsync"]), None);
        assert_eq!(enough(&["live-bpf/deadlock"]), None);
        assert_eq!(enough(&["files/stat-per-entry: fires::x"]), None);
        assert_eq!(enough(&[]), None);
    }

    #[test]
    fn a_package_is_named() {
        assert_eq!(package_name("path+file:///a/crates/read#whyslow-read@0.1.0"), "whyslow-read");
        assert_eq!(package_name("path+file:///a/xtask#0.1.0"), "xtask");
    }

    #[test]
    fn examples_in_documentation_are_found() {
        assert!(has_doc_test("/// ```\n/// one();\n/// ```\n"));
        assert!(has_doc_test("    //! ```rust,no_run\n    //! one();\n    //! ```\n"));
        assert!(!has_doc_test("/// ```text\n/// out\n/// ```\n"));
        assert!(!has_doc_test("// ```\n// no documentation\n"));
    }
}
