//! The comment above a threshold, read from the file where it stands while the rule is compiled.

use proc_macro2::Span;
use std::path::{Path, PathBuf};

/// What the comment of the constant at the end of `path` (`guards::FEW_CALLS`) says; empty where it is not found. `near` is in the file that
/// uses it.
pub(crate) fn of(path: &[String], near: Span) -> String {
    let Some(name) = path.last() else { return String::new() };
    let Some(file) = near.unwrap().local_file() else { return String::new() };
    places(&file, path)
        .iter()
        .find_map(|place| comment(&std::fs::read_to_string(place).ok()?, name))
        .unwrap_or_default()
}

/// Files in which the constant may stand, the likeliest first.
fn places(file: &Path, path: &[String]) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let folder = file.parent().unwrap_or(Path::new("."));
    let root = folder.ancestors().find(|above| above.file_name().is_some_and(|name| name == "src"));
    if let [.., module, _] = path {
        places.extend(
            [Some(folder), root].into_iter().flatten().map(|above| above.join(format!("{module}.rs"))),
        );
    } else {
        places.push(file.to_path_buf());
        places.extend(root.map(|root| root.join("guards.rs")));
        let mut beside: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .collect();
        beside.sort();
        places.extend(beside);
    }
    places
}

/// The lines `///` above `const NAME`.
fn comment(source: &str, name: &str) -> Option<String> {
    let mut lines: Vec<&str> = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            lines.push(text.trim());
            continue;
        }
        let defined = line.split_once("const ").and_then(|(_, rest)| rest.split_once(':'));
        if defined.is_some_and(|(defined, _)| defined.trim() == name) {
            return Some(lines.join(" "));
        }
        lines.clear();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn the_comment_of_a_constant_is_found() {
        let source =
            "/// Other.\nconst A: u64 = 1;\n/// Fewer are\n/// a save.\npub(crate) const MIN: u64 = 20;\n";
        assert_eq!(comment(source, "MIN").as_deref(), Some("Fewer are a save."));
        assert_eq!(comment(source, "MINI"), None);
    }
}
