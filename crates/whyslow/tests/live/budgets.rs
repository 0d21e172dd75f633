//! A program that keeps a budget and one that breaks it, run and recorded by `whyslow check`; and the commands of docs/BUDGETS.md.

use crate::budget_docs;
use crate::common::skipped;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A server whose argument is how often it looks for a file in each of its 50 requests.
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/orders.c");

const BUDGET: &str = r#"
limits = [
  "stat <= 10/request",
  "fsync <= 1/request",
  "bytes_written <= 1 MB/run",
  "requests >= 50",
  "max <= 1 min",
]
"#;

struct Place(TempDir);

impl Place {
    /// A folder with the server and its budget; `None` (and said so) where nothing can be compiled, or recorded by BPF.
    fn new() -> Option<Place> {
        let place = Place(tempfile::tempdir().unwrap());
        let built =
            Command::new("cc").args(["-O1", "-o"]).arg(place.path().join("orders")).arg(SERVER).output();
        match built {
            Err(error) => {
                skipped(format!("no cc here: {error}"));
                return None;
            }
            Ok(built) => assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr)),
        }
        std::fs::write(place.path().join("budget.toml"), BUDGET).unwrap();
        let output = place.run(&["record", "--by", "bpf", "-o", "try.whyslow", "--", "true"]);
        if !output.status.success() {
            skipped(String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(place)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null()).output().expect("whyslow")
    }

    /// The status and the text of a check of the server with so many stat calls a request.
    fn check(&self, options: &[&str], stats: &str) -> (Option<i32>, String) {
        let command = ["--", "./orders", stats];
        let output = self.run(&[&["check", "--budget", "budget.toml"][..], options, &command].concat());
        let told = [&output.stdout[..], &output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&told).into_owned())
    }
}

#[test]
fn a_server_keeps_its_budget_and_breaks_it() {
    let Some(place) = Place::new() else { return };
    let (code, told) = place.check(&[], "3");
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = place.check(&[], "30");
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("1 of 5 limits broken") && told.contains("broken      stat <= 10/request: 3"),
        "{told}"
    );
}

#[test]
fn by_ptrace_counts_are_judged_and_times_are_not() {
    let Some(place) = Place::new() else { return };
    let (code, told) = place.check(&["--by", "ptrace"], "3");
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("not judged  max <= 1 min: times are not the program's own"), "{told}");
}

#[test]
fn a_command_that_fails_keeps_no_budget() {
    let Some(place) = Place::new() else { return };
    let output = place.run(&["check", "--budget", "budget.toml", "--", "./orders"]);
    // It says 4 where its argument is missing; requests were not served, so that nothing is broken but their number.
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("not judged"), "{told}");
}

#[test]
fn commands_of_the_documents_run() {
    let Some(place) = Place::new() else { return };
    let import = place.path().join("import");
    std::fs::write(&import, "#!/bin/sh\nexec cat \"$1\" > copy\n").unwrap();
    std::fs::set_permissions(&import, PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(place.path().join("data.csv"), "1,2\n".repeat(1_000)).unwrap();
    std::fs::write(place.path().join("budget.toml"), budget_docs::blocks("toml").swap_remove(0)).unwrap();
    let recorded = place.run(&["record", "-o", "slow.whyslow", "--", "./import", "data.csv"]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    for args in budget_docs::checks() {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = place.run(&args);
        // A program that serves nobody: limits per request are not judged, and a baseline may be broken by chance.
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for name in ["check.md", "check.sarif", "check.xml", "base.json"] {
        assert!(place.path().join(name).exists(), "{name}");
    }
}
