//! The arrows between crates that the house allows (docs/ARCHITECTURE.md), checked against the manifests and
//! against the rules' own imports.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Crate, and the crates of ours that it may depend on. `xtask` stands outside of the house.
const ALLOWED: &[(&str, &[&str])] = &[
    ("whyslow-model", &[]),
    ("whyslow-profile", &["whyslow-model"]),
    ("whyslow-counters", &["whyslow-model"]),
    ("whyslow-read", &["whyslow-model", "whyslow-profile", "whyslow-counters"]),
    ("whyslow-report", &["whyslow-model"]),
    ("whyslow-wire", &[]),
    ("whyslow-host", &["whyslow-model", "whyslow-counters"]),
    ("whyslow-record", &["whyslow-model", "whyslow-wire"]),
    ("whyslow-store", &["whyslow-model"]),
    ("whyslow-diagnose", &["whyslow-model", "whyslow-wire", "whyslow-profile"]),
    (
        "whyslow",
        &[
            "whyslow-model",
            "whyslow-read",
            "whyslow-profile",
            "whyslow-report",
            "whyslow-diagnose",
            "whyslow-host",
            "whyslow-record",
            "whyslow-store",
        ],
    ),
    ("xtask", &["whyslow-diagnose"]),
];

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut wrong = crate_arrows(root)?;
    wrong.extend(rule_imports(root)?);
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    println!("layers: every arrow is allowed");
    Ok(())
}

fn crate_arrows(root: &Path) -> Result<Vec<String>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata: JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata: packages")?;
    let ours: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            wrong.push(format!(
                "{name}: not in the house; add it to xtask/src/layers.rs and docs/ARCHITECTURE.md"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            // Tests may look from outside at the whole.
            let is_test = dependency["kind"] == "dev";
            if ours.contains(&to) && !allowed.contains(&to) && !is_test {
                wrong.push(format!("{name} -> {to}: the house does not allow this arrow"));
            }
        }
    }
    Ok(wrong)
}

/// A rule never calls a rule.
fn rule_imports(root: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let rules = root.join("crates/diagnose/src/rules");
    for path in super::files_below(&rules, "rs")? {
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        for (number, line) in text.lines().enumerate() {
            if line.contains("crate::rules") || line.contains("super::super") {
                wrong.push(format!(
                    "{}:{}: a rule reads facts, never another rule",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    Ok(wrong)
}
