//! Files stay small: split by meaning before these limits.

use anyhow::{Result, bail};
use std::path::Path;

/// Lines of a rule.
const RULE: usize = 250;
/// Lines of a BPF program or one of its headers.
const BPF: usize = 250;
/// Lines of any other source file.
const SOURCE: usize = 600;

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    let places = [("crates", "rs"), ("xtask", "rs"), ("crates/record/src", "c"), ("crates/record/src", "h")];
    for (folder, extension) in places {
        for path in super::files_below(&root.join(folder), extension)? {
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            // The table of syscalls is data.
            if shown.contains("/target/") || shown.ends_with("model/src/syscall_rows.rs") {
                continue;
            }
            let limit = match extension {
                // The registry is a list.
                "rs" if shown.ends_with("diagnose/src/rules/mod.rs") => SOURCE,
                "rs" if shown.contains("diagnose/src/rules/") => RULE,
                "rs" => SOURCE,
                _ => BPF,
            };
            let lines = std::fs::read_to_string(&path)?.lines().count();
            if lines > limit {
                wrong.push(format!("{shown}: {lines} lines; at most {limit}: split it by meaning"));
            }
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    println!("sizes: every file is small enough");
    Ok(())
}
