//! No rule and no part of the diagnosis decides by a sentence: what is compared are fields, and sentences are made of them.

use std::path::{Path, PathBuf};

/// What reads a sentence back.
const READS: [&str; 7] = [
    ".contains(",
    ".starts_with(",
    ".ends_with(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".find(",
    ".split_once(",
];
/// The fields that are sentences, or were.
const SENTENCES: [&str; 5] = [".title", ".cause", ".verify", ".share_of", ".via"];
/// What makes the verdict's own sentence leaves out what the title says already.
const MAKES_SENTENCES: [&str; 2] = ["verdict.rs", "verdict"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if MAKES_SENTENCES.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The lines outside of tests that read a sentence, or compare a whole with words.
fn readers(source: &str) -> Vec<&str> {
    let code = source.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
    let code = code.map(str::trim).filter(|line| !line.starts_with("//"));
    let reads = |line: &&str| {
        let of_sentence = |field: &&str| READS.iter().any(|read| line.contains(&format!("{field}{read}")));
        let is_words = line.contains(".share_of == \"") || line.contains(".of == \"");
        SENTENCES.iter().any(of_sentence) || is_words
    };
    code.filter(reads).collect()
}

#[test]
fn nothing_is_decided_by_a_sentence() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in [own.join("src"), own.join("../rules/src")] {
        sources(&folder, &mut files);
    }
    assert!(files.len() > 150, "{} files", files.len());
    let mut wrong = Vec::new();
    for path in files.iter().filter(|path| !path.to_string_lossy().ends_with("tests.rs")) {
        let source = std::fs::read_to_string(path).unwrap();
        wrong.extend(readers(&source).iter().map(|line| format!("{}: {line}", path.display())));
    }
    assert!(wrong.is_empty(), "give the finding a field instead:\n{}", wrong.join("\n"));
    assert_eq!(readers("if finding.title.contains(\"disk\") {\n").len(), 1);
    assert_eq!(readers("one.share_of == \"wall time\"\n").len(), 1);
    assert!(readers("names.contains(&finding.title)\n#[cfg(test)]\nfinding.title.contains(x)\n").is_empty());
}
