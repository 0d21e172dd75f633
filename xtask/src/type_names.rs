//! No two public types of the workspace share a name: a name that stands for two things has to be learned twice.

use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names that two types share by intent, each with its reason. None so far.
const SHARED: &[(&str, &str)] = &[];

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut found: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for folder in ["crates", "query"] {
        for entry in std::fs::read_dir(root.join(folder))? {
            let src = entry?.path().join("src");
            if src.is_dir() {
                collect(&src, &mut found)?;
            }
        }
    }
    let wrong = wrong(&found, SHARED);
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    println!("type names: {} types, {} names shared by intent", found.len(), SHARED.len());
    Ok(())
}

fn wrong(found: &BTreeMap<String, BTreeSet<PathBuf>>, known: &[(&str, &str)]) -> Vec<String> {
    let shared = found.iter().filter(|(_, files)| files.len() > 1);
    let new = shared.filter(|(name, _)| !known.iter().any(|(one, _)| one == name)).map(|(name, files)| {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        format!("{name}: a public type in each of {}: rename the one that fewer files use", files.join(", "))
    });
    let is_shared = |name: &str| found.get(name).is_some_and(|files| files.len() > 1);
    let gone = known.iter().map(|(name, _)| name).filter(|name| !is_shared(name));
    new.chain(gone.map(|name| format!("{name}: one type has this name by now: take it off the list")))
        .collect()
}

fn collect(folder: &Path, found: &mut BTreeMap<String, BTreeSet<PathBuf>>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            for name in public_types(&std::fs::read_to_string(&path)?) {
                found.entry(name).or_default().insert(path.clone());
            }
        }
    }
    Ok(())
}

/// The public structs, enums, unions and traits that a file defines.
fn public_types(source: &str) -> Vec<String> {
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let rest =
            ["struct ", "enum ", "union ", "trait "].iter().find_map(|kind| rest.strip_prefix(kind))?;
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        (end > 0).then(|| rest[..end].to_string())
    };
    source.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_two_types_is_wrong_and_so_is_one_on_the_list_that_is_not_shared() {
        let files = |of: &[&str]| of.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        let found = BTreeMap::from([
            ("Span".to_string(), files(&["a.rs", "b.rs"])),
            ("Cost".to_string(), files(&["a.rs"])),
        ]);
        assert_eq!(wrong(&found, &[("Cost", "a reason")]).len(), 2);
        assert!(wrong(&found, &[("Span", "a reason")]).is_empty());
    }

    #[test]
    fn only_public_types_count() {
        let source =
            "pub struct A<'a> {\n    pub enum B;\npub(crate) struct C;\nstruct D;\npub trait E: F {\n";
        assert_eq!(public_types(source), ["A", "B", "E"]);
    }

    #[test]
    fn the_workspace_holds_it() -> Result<()> {
        check(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("..")))
    }
}
