//! `cargo xtask new rule GROUP/ID`: a rule's file, its registry lines and its case. The new rule compiles and
//! never fires; its case fails until it is written.

use anyhow::{Context, Result, bail};
use std::path::Path;

pub(crate) fn write(root: &Path, name: &str) -> Result<()> {
    let (group, id) = name.split_once('/').context("expected GROUP/ID, as in files/stat-per-entry")?;
    for word in [group, id] {
        let kebab =
            word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if word.is_empty() || !kebab {
            bail!("`{word}`: expected lower-case words joined by `-`; an id names the smell, not the cure");
        }
    }
    let module = id.replace('-', "_");
    let rules = root.join("crates/rules/src");
    let file = rules.join(group).join(format!("{module}.rs"));
    let case = root.join("cases").join(group).join(format!("{id}.md"));
    for path in [&file, &case] {
        if path.exists() {
            bail!("{}: exists already", path.display());
        }
    }
    std::fs::create_dir_all(rules.join(group))?;
    std::fs::create_dir_all(root.join("cases").join(group))?;

    let registry = rules.join("lib.rs");
    let text = std::fs::read_to_string(&registry)?;
    std::fs::write(&registry, registered(&text, group, &module))?;
    std::fs::write(&file, RULE.replace("{id}", id).replace("{group}", group).replace("{module}", &module))?;
    std::fs::write(&case, CASE.replace("{id}", id))?;
    for path in [file, case, registry] {
        println!("wrote {}", path.strip_prefix(root).unwrap_or(&path).display());
    }
    println!("next: write the check and the case, then `CASE={id} cargo test -p whyslow --test cases`");
    Ok(())
}

/// The registry with the rule in its group (made where it is new) and in the list.
fn registered(text: &str, group: &str, module: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let opening = format!("mod {group} {{");
    let start = match lines.iter().position(|line| *line == opening) {
        Some(start) => start,
        None => {
            let at = lines.iter().position(|line| line.starts_with("/// All rules.")).unwrap_or(lines.len());
            let made = [format!("/// Rules about {group}."), opening, "}".to_string(), String::new()];
            lines.splice(at..at, made);
            at + 1
        }
    };
    let end = start + lines[start..].iter().position(|line| line == "}").unwrap_or(lines.len() - start);
    insert_sorted(&mut lines, start..end, format!("    pub(super) mod {module};"), "    pub(super) mod ");
    let list = lines.iter().position(|line| line.starts_with("pub static RULES")).unwrap_or(0);
    let list_end = list + lines[list..].iter().position(|line| line == "];").unwrap_or(0);
    insert_sorted(&mut lines, list..list_end, format!("    &{group}::{module}::RULE,"), "    &");
    lines.join("\n") + "\n"
}

/// Puts `line` within the range before the first line of its kind that sorts behind it, else at the end.
fn insert_sorted(lines: &mut Vec<String>, within: std::ops::Range<usize>, line: String, kind: &str) {
    let behind = lines[within.clone()].iter().position(|known| known.starts_with(kind) && *known > line);
    lines.insert(behind.map_or(within.end, |at| within.start + at), line);
}

const RULE: &str = r##"//! # {id}
//!
//! ## What it is
//!
//! ## Why it is slow
//!
//! ## Example
//! ```text
//! ```
//!
//! ## What to do instead
//!
//! ## When it is wrong

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "{id}",
    group: "{group}",
    summary: "",
    source: include_str!("{module}.rs"),
    needs: &[Need::Calls],
    check,
};

#[gated]
fn check(_facts: &Facts, _out: &mut Findings<'_>) {}
"##;

const CASE: &str = "# {id}

## fires: the slow program
```capture slow.st
```

## quiet: its healthy twin
```capture healthy.st
```

## not-judged: only a table of counts
```capture counts.txt
```
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_find_their_place() {
        let text = "//! x\n\n/// Files.\nmod files {\n    pub(super) mod a;\n    pub(super) mod c;\n}\n\n\
                    /// All rules.\npub static RULES: &[&Rule] = &[\n    &files::a::RULE,\n    &files::c::RULE,\n];\n";
        let with = registered(text, "files", "b");
        assert!(with.contains("mod a;\n    pub(super) mod b;\n    pub(super) mod c;\n}"), "{with}");
        assert!(with.contains("&files::a::RULE,\n    &files::b::RULE,\n    &files::c::RULE,\n];"), "{with}");
        let new_group = registered(text, "gpu", "z");
        assert!(
            new_group.contains("/// Rules about gpu.\nmod gpu {\n    pub(super) mod z;\n}\n\n/// All rules."),
            "{new_group}"
        );
        assert!(new_group.contains("&files::c::RULE,\n    &gpu::z::RULE,\n];"), "{new_group}");
    }
}
