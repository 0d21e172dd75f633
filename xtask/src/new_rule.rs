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
    let rules = root.join("crates/diagnose/src/rules");
    let file = rules.join(group).join(format!("{module}.rs"));
    let case = root.join("cases").join(group).join(format!("{id}.md"));
    for path in [&file, &case] {
        if path.exists() {
            bail!("{}: exists already", path.display());
        }
    }
    std::fs::create_dir_all(rules.join(group))?;
    std::fs::create_dir_all(root.join("cases").join(group))?;

    let group_mod = rules.join(group).join("mod.rs");
    let mut registry = std::fs::read_to_string(rules.join("mod.rs"))?;
    if !group_mod.exists() {
        std::fs::write(&group_mod, format!("//! Rules about {group}.\n\n"))?;
        registry = insert_sorted(&registry, &format!("mod {group};"), |line| {
            line.starts_with("mod ") && line.ends_with(';')
        });
    }
    let entry = format!("    &{group}::{module}::RULE,");
    registry =
        insert_sorted(&registry, &entry, |line| line.starts_with("    &") && line.ends_with("::RULE,"));
    std::fs::write(rules.join("mod.rs"), registry)?;
    let modules = std::fs::read_to_string(&group_mod)?;
    let line = format!("pub(super) mod {module};");
    std::fs::write(&group_mod, insert_sorted(&modules, &line, |line| line.starts_with("pub(super) mod ")))?;
    std::fs::write(&file, RULE.replace("{id}", id).replace("{group}", group).replace("{module}", &module))?;
    std::fs::write(&case, CASE.replace("{id}", id))?;
    for path in [file, case, group_mod] {
        println!("wrote {}", path.strip_prefix(root).unwrap_or(&path).display());
    }
    println!("next: write the check and the case, then `CASE={id} cargo test -p whyslow --test cases`");
    Ok(())
}

/// Puts `line` before the first line of its kind that sorts behind it, else behind the last of its kind.
fn insert_sorted(text: &str, line: &str, of_kind: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let before = lines.iter().position(|known| of_kind(known) && *known > line);
    let behind = lines.iter().rposition(|known| of_kind(known)).map(|at| at + 1);
    lines.insert(before.or(behind).unwrap_or(lines.len()), line);
    lines.join("\n") + "\n"
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
use crate::facts::Facts;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "{id}",
    group: "{group}",
    summary: "",
    source: include_str!("{module}.rs"),
    needs: &[Need::Calls],
    check,
};

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
    fn lines_find_their_place() {
        let text = "//! x\n\nmod a;\nmod c;\n\nend\n";
        let of_kind = |line: &str| line.starts_with("mod ");
        assert_eq!(insert_sorted(text, "mod b;", of_kind), "//! x\n\nmod a;\nmod b;\nmod c;\n\nend\n");
        assert_eq!(insert_sorted(text, "mod d;", of_kind), "//! x\n\nmod a;\nmod c;\nmod d;\n\nend\n");
    }
}
