//! All rules over captures of real programs that people published (`../shared/captures`, where it is there): a warning that is not
//! in the list below is one that nobody asked for.

use crate::captures::published;
use std::path::{Path, PathBuf};
use whyslow_diagnose::diagnose;
use whyslow_facts::Facts;
use whyslow_model::Severity;

/// Captures that deserve a warning, by a part of their names: the rules that may warn of them. Each was looked at by hand.
const DESERVED: &[(&str, &[&str])] = &[
    // 8,897 clock_gettime as real calls: inside an enclave there is no vDSO.
    ("ClickBench-SGX", &["clock-syscall"]),
];

fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_in(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn published_captures_get_no_warning_that_nobody_asked_for() {
    let Some(root) = published() else { return };
    let mut files = Vec::new();
    for kind in ["strace", "strace-c", "lsof"] {
        files_in(&root.join(kind), &mut files);
    }
    assert!(files.len() > 50, "only {} captures at {}", files.len(), root.display());
    files.sort();
    let mut failures = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let deserved = DESERVED.iter().filter(|(part, _)| name.contains(part)).flat_map(|(_, rules)| *rules);
        let deserved: Vec<&str> = deserved.copied().collect();
        let inputs = [whyslow_read::Input::File(path.clone())];
        let mut facts = Facts::default();
        // What cannot be read at all is another test's concern.
        if whyslow_read::read(&inputs, &whyslow_read::ReadOptions::default(), &(), &mut facts).is_err() {
            continue;
        }
        facts.finish();
        for finding in diagnose(&facts).findings {
            let warns = matches!(finding.severity, Severity::Warning | Severity::Critical);
            if warns && !deserved.contains(&finding.id) {
                failures.push(format!("{name}: {}: {}", finding.id, finding.title));
            }
        }
    }
    println!("{} captures judged", files.len());
    assert!(failures.is_empty(), "{} warnings:\n{}", failures.len(), failures.join("\n"));
}
