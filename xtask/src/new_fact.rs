//! `cargo xtask new fact NAME`: a fold's file, its `mod` line and its line in the registry of facts.

use anyhow::{Context, Result, bail};
use std::path::Path;

pub(crate) fn write(root: &Path, name: &str) -> Result<()> {
    let snake = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !snake || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        bail!("`{name}`: expected lower-case words joined by `_`, as in close_loops");
    }
    let source = root.join("crates/facts/src");
    let (file, modules, registry) =
        (source.join(format!("folds/{name}.rs")), source.join("folds/mod.rs"), source.join("all.rs"));
    if file.exists() {
        bail!("{}: exists already", file.display());
    }
    let type_name: String = name.split('_').map(capitalised).collect();
    let module_text = std::fs::read_to_string(&modules)?;
    let registry_text = std::fs::read_to_string(&registry)?;
    let registered = registered(&registry_text, name, &type_name).context(
        "crates/facts/src/all.rs: no `others {` behind `calls {`: where does the registry of folds end?",
    )?;
    std::fs::write(&modules, with_module(&module_text, name))?;
    std::fs::write(&registry, registered)?;
    std::fs::write(&file, FOLD.replace("{Type}", &type_name))?;
    for path in [file, modules, registry] {
        println!("wrote {}", path.strip_prefix(root).unwrap_or(&path).display());
    }
    println!("next: write the fold and its test, then `cargo test -p whyslow-facts {name}`");
    Ok(())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The list of modules with one more, in order.
fn with_module(text: &str, name: &str) -> String {
    let line = format!("pub mod {name};");
    let mut lines: Vec<&str> = text.lines().collect();
    let behind = lines.iter().position(|known| known.starts_with("pub mod ") && **known > *line);
    lines.insert(behind.unwrap_or(lines.len()), &line);
    lines.join("\n") + "\n"
}

/// The registry with one more fold of calls, the last.
fn registered(text: &str, name: &str, type_name: &str) -> Option<String> {
    let start = text.find("facts! {\n    calls {\n")?;
    let end = start + text[start..].find("    }\n    others {\n")?;
    let line = format!("        /// To be said.\n        {name}: folds::{name}::{type_name},\n");
    Some(format!("{}{line}{}", &text[..end], &text[end..]))
}

const FOLD: &str = r#"//! To be said: what this fold knows.

use super::fold::Fold;
use crate::world::{Seen, World};
use whyslow_model::Syscall;

/// To be said.
#[derive(Debug, Default)]
pub struct {Type} {}

impl Fold for {Type} {
    fn wants(&self, _: Syscall) -> bool {
        false
    }

    fn call(&mut self, _: &Seen<'_>, _: &World) {}
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fold_finds_its_places() {
        let text =
            "facts! {\n    calls {\n        /// A.\n        a: folds::a::A,\n    }\n    others {\n    }\n}\n";
        let with = registered(text, "big_reads", "BigReads").unwrap();
        assert!(with.contains("a: folds::a::A,\n        /// To be said.\n        big_reads: folds::big_reads::BigReads,\n    }\n    others {"), "{with}");
        assert_eq!(registered("calls", "x", "X"), None);
        assert_eq!(
            with_module("//! x\n\npub mod a;\npub mod c;\n", "b"),
            "//! x\n\npub mod a;\npub mod b;\npub mod c;\n"
        );
        assert_eq!("big_reads".split('_').map(capitalised).collect::<String>(), "BigReads");
    }

    #[test]
    fn the_registry_is_where_it_is_looked_for() {
        let registry = std::fs::read_to_string(crate::root().join("crates/facts/src/all.rs")).unwrap();
        assert!(registered(&registry, "x", "X").is_some());
    }
}
