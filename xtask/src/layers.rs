//! The arrows that the house allows (docs/ARCHITECTURE.md): between crates, checked against the manifests; between the modules
//! of a crate, where circles are forbidden ([`circles`]); between rules, where there are none.

use crate::circles;
use crate::imports::Modules;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Crate, and the crates of ours that it may depend on. `xtask` stands outside of the house.
const ALLOWED: &[(&str, &[&str])] = &[
    ("whyslow-model", &[]),
    ("whyslow-privacy", &["whyslow-model"]),
    ("whyslow-profile", &["whyslow-model"]),
    ("whyslow-counters", &["whyslow-model"]),
    ("whyslow-read", &["whyslow-model", "whyslow-profile", "whyslow-counters"]),
    ("whyslow-report", &["whyslow-model", "whyslow-privacy"]),
    ("whyslow-wire", &[]),
    ("whyslow-rights", &[]),
    ("whyslow-gate", &[]),
    ("whyslow-schema", &[]),
    ("whyslow-mcp", &["whyslow-model", "whyslow-schema"]),
    ("whyslow-unwind", &[]),
    ("whyslow-host", &["whyslow-model", "whyslow-privacy", "whyslow-counters"]),
    (
        "whyslow-record",
        &["whyslow-model", "whyslow-privacy", "whyslow-wire", "whyslow-rights", "whyslow-unwind"],
    ),
    ("whyslow-store", &["whyslow-model", "whyslow-privacy"]),
    ("whyslow-parts", &[]),
    ("whyslow-depot", &["whyslow-parts", "whyslow-privacy"]),
    ("whyslow-outlets", &["whyslow-model", "whyslow-parts", "whyslow-privacy", "whyslow-profile"]),
    ("whyslow-flight", &["whyslow-model", "whyslow-privacy", "whyslow-record", "whyslow-store"]),
    ("whyslow-facts", &["whyslow-model", "whyslow-wire", "whyslow-profile"]),
    ("whyslow-hosts", &["whyslow-model", "whyslow-facts"]),
    ("whyslow-chain", &["whyslow-model", "whyslow-facts"]),
    ("whyslow-account", &["whyslow-model", "whyslow-facts", "whyslow-chain"]),
    ("whyslow-hostcheck", &["whyslow-model", "whyslow-facts"]),
    (
        "whyslow-rules",
        &[
            "whyslow-model",
            "whyslow-wire",
            "whyslow-profile",
            "whyslow-facts",
            "whyslow-chain",
            "whyslow-hostcheck",
            "whyslow-gate",
        ],
    ),
    (
        "whyslow-views",
        &[
            "whyslow-model",
            "whyslow-profile",
            "whyslow-facts",
            "whyslow-chain",
            "whyslow-account",
            "whyslow-hostcheck",
        ],
    ),
    (
        "whyslow-export",
        &[
            "whyslow-model",
            "whyslow-privacy",
            "whyslow-profile",
            "whyslow-facts",
            "whyslow-chain",
            "whyslow-account",
        ],
    ),
    (
        "whyslow-page",
        &[
            "whyslow-model",
            "whyslow-privacy",
            "whyslow-profile",
            "whyslow-facts",
            "whyslow-chain",
            "whyslow-account",
            "whyslow-views",
            "whyslow-export",
            "whyslow-report",
        ],
    ),
    ("whyslow-diff", &["whyslow-model", "whyslow-profile", "whyslow-facts"]),
    (
        "whyslow-diagnose",
        &[
            "whyslow-model",
            "whyslow-privacy",
            "whyslow-profile",
            "whyslow-facts",
            "whyslow-chain",
            "whyslow-account",
            "whyslow-hostcheck",
            "whyslow-rules",
        ],
    ),
    ("whyslow-budget", &["whyslow-model", "whyslow-facts", "whyslow-rules"]),
    (
        "whyslow-agent",
        &[
            "whyslow-model",
            "whyslow-privacy",
            "whyslow-facts",
            "whyslow-account",
            "whyslow-diagnose",
            "whyslow-host",
            "whyslow-record",
            "whyslow-store",
            "whyslow-parts",
            "whyslow-outlets",
            "whyslow-flight",
            "whyslow-depot",
        ],
    ),
    (
        "whyslow",
        &[
            "whyslow-agent",
            "whyslow-budget",
            "whyslow-depot",
            "whyslow-parts",
            "whyslow-model",
            "whyslow-privacy",
            "whyslow-read",
            "whyslow-profile",
            "whyslow-report",
            "whyslow-facts",
            "whyslow-hostcheck",
            "whyslow-rules",
            "whyslow-views",
            "whyslow-diff",
            "whyslow-export",
            "whyslow-page",
            "whyslow-diagnose",
            "whyslow-host",
            "whyslow-hosts",
            "whyslow-record",
            "whyslow-store",
            "whyslow-flight",
            "whyslow-rights",
            "whyslow-schema",
            "whyslow-mcp",
        ],
    ),
    (
        "whyslow-fuzz",
        &[
            "whyslow-model",
            "whyslow-read",
            "whyslow-profile",
            "whyslow-report",
            "whyslow-unwind",
            "whyslow-wire",
            "whyslow-facts",
            "whyslow-views",
            "whyslow-diagnose",
            "whyslow-record",
            "whyslow-store",
        ],
    ),
    (
        "xtask",
        &[
            "whyslow-model",
            "whyslow-profile",
            "whyslow-record",
            "whyslow-rules",
            "whyslow-schema",
            "whyslow-store",
        ],
    ),
];

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut wrong = crate_arrows(root)?;
    wrong.extend(import_circles(root)?);
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

/// Modules that import each other in a circle, in all crates.
fn import_circles(root: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for folder in ["crates", "query"] {
        for entry in std::fs::read_dir(root.join(folder))? {
            let src = entry?.path().join("src");
            if src.is_dir() {
                wrong.extend(circles::find(root, &src)?);
            }
        }
    }
    wrong.extend(circles::find(root, &root.join("xtask/src"))?);
    wrong.sort();
    Ok(wrong)
}

/// A rule never takes from a rule, also not by a helper beside it: a rule is a file with a `static RULE`, which only the registry
/// names.
fn rule_imports(root: &Path) -> Result<Vec<String>> {
    let modules = Modules::read(&root.join("crates/rules/src"))?;
    let taken = modules.imports().into_iter().filter(|import| {
        let is_registry = import.to.starts_with(&import.from);
        modules.has(&import.to, "RULE") && !is_registry && !import.from.starts_with(&import.to)
    });
    let told = taken.map(|import| {
        format!(
            "{}:{}: {} takes from the rule {}: a rule reads facts, never another rule; move what both need into a helper without \
             a `static RULE`, into `guards`, or into a fact",
            import.file.strip_prefix(root).unwrap_or(&import.file).display(),
            import.line,
            import.path,
            import.to.join("::"),
        )
    });
    Ok(told.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_takes_from_helpers_only() -> Result<()> {
        let root = tempfile::tempdir()?;
        let group = root.path().join("crates/rules/src/io");
        std::fs::create_dir_all(&group)?;
        let rule =
            "pub(crate) static RULE: Rule = Rule { check };\nfn check() {}\npub(super) fn share() {}\n";
        std::fs::write(
            group.with_file_name("lib.rs"),
            "mod io { pub mod a; pub mod b; pub mod helper; }\nstatic RULES: &[&Rule] = &[&io::a::RULE, &io::b::RULE];",
        )?;
        std::fs::write(group.join("helper.rs"), "pub(super) fn common() {}\nfn f() { super::b::share() }")?;
        std::fs::write(group.join("b.rs"), format!("use super::helper::common;\n{rule}"))?;
        std::fs::write(
            group.join("a.rs"),
            format!("use super::helper;\n{rule}fn f() {{ crate::io::b::share() }}"),
        )?;
        let told = rule_imports(root.path())?;
        let begin = |text: &str| told.iter().any(|line| line.starts_with(text));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            begin("crates/rules/src/io/a.rs:5: crate::io::b::share takes from the rule io::b"),
            "{told:?}"
        );
        assert!(
            begin("crates/rules/src/io/helper.rs:2: super::b::share takes from the rule io::b"),
            "{told:?}"
        );
        Ok(())
    }
}
