//! The thresholds of the rules, as their source has them: docs/THRESHOLDS.md, and a copy of the project in which each can be
//! scaled at run time (`truth/run sweep`).

use crate::tokens::{Kind, Token, tokens};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

/// Where rules are.
const RULES: &str = "crates/rules/src";
/// What the last sweep measured (`truth/run sweep` writes it).
const SWEPT: &str = "truth/runs/thresholds.tsv";
/// Types of numbers that are thresholds.
const NUMBERS: [&str; 7] = ["f64", "u64", "u32", "u16", "i64", "usize", "Nanos"];
/// Words in the comments of bounds of lists: they decide nothing.
const OF_LISTS: [&str; 11] = [
    "Findings",
    "listed",
    "named",
    "Named",
    "shown",
    "quoted",
    "reported",
    "at most",
    "noise",
    "told of",
    "looked at",
];

/// A constant of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Threshold {
    /// Below `crates/rules/src`: `io/small_reads.rs`.
    file: String,
    name: String,
    /// The type: one of [`NUMBERS`].
    kind: String,
    /// As it is written.
    value: String,
    /// Its comment.
    reason: String,
}

impl Threshold {
    /// `io/small_reads::SMALL`
    fn path(&self) -> String {
        format!("{}::{}", self.file.trim_end_matches(".rs"), self.name)
    }

    fn unit(&self) -> &'static str {
        let (name, reason) = (self.name.as_str(), self.reason.to_ascii_lowercase());
        match self.kind.as_str() {
            "Nanos" => "time",
            _ if name.contains("PER_S") || reason.contains(" a second") => "1/s",
            _ if name.contains("BYTES") || reason.contains(" bytes") => "bytes",
            "f64" if self.value.trim().starts_with("0.") => "share",
            "f64" => "ratio or count",
            _ => "count",
        }
    }
}

/// The thresholds of one file.
fn of_file(file: &str, source: &str) -> Vec<Threshold> {
    let mut found = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
            continue;
        }
        if line.starts_with("#[cfg(test)]") {
            break;
        }
        let mut whole = line.to_string();
        let is_const = line.split_whitespace().take(2).any(|word| word == "const") && line.contains(':');
        while is_const && !whole.contains(';') {
            let Some(next) = lines.next() else { break };
            whole = format!("{whole} {}", next.trim());
        }
        let reason = std::mem::take(&mut comment).join(" ");
        if is_const && let Some((name, kind, value)) = parts(&whole) {
            let is_bound = kind == "usize" && OF_LISTS.iter().any(|words| reason.contains(words));
            // One letter is a formula's.
            if NUMBERS.contains(&kind) && !is_bound && name.len() > 1 {
                let (name, kind, value) = (name.to_string(), kind.to_string(), value.to_string());
                found.push(Threshold { file: file.to_string(), name, kind, value, reason });
            }
        }
    }
    found
}

/// Name, type and value of `pub const NAME: TYPE = VALUE;`.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = line.split_once("const ")?;
    let (name, rest) = rest.split_once(':')?;
    let (kind, rest) = rest.split_once('=')?;
    let (value, _) = rest.split_once(';')?;
    let name = name.trim();
    let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_name.then_some((name, kind.trim(), value.trim()))
}

/// The names of all constants that are numbers.
fn numbers(source: &str) -> Vec<String> {
    let constants = source.lines().filter_map(parts);
    constants.filter(|(_, kind, _)| NUMBERS.contains(kind)).map(|(name, ..)| name.to_string()).collect()
}

/// All thresholds, by file.
fn all(root: &Path) -> Result<Vec<Threshold>> {
    let folder = root.join(RULES);
    let mut found = Vec::new();
    for path in super::files_below(&folder, "rs")? {
        let source = std::fs::read_to_string(&path)?;
        let file = path.strip_prefix(&folder)?.display().to_string();
        found.extend(of_file(&file, &source));
    }
    Ok(found)
}

/// What a sweep measured of one threshold: cells of the page for half, same and double.
type Swept = HashMap<String, BTreeMap<String, String>>;

/// Reads the lines `rule, threshold, factor, right, fired, found, present`.
fn swept(root: &Path) -> Swept {
    let mut cells: Swept = HashMap::new();
    for line in std::fs::read_to_string(root.join(SWEPT)).unwrap_or_default().lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [rule, path, factor, right, fired, found, present] = fields[..] else { continue };
        if (fired, present) == ("0", "0") {
            continue;
        }
        let cell = format!("{rule}: {right} of {fired}, {found} of {present}");
        let of_factor = cells.entry(path.to_string()).or_default().entry(factor.to_string()).or_default();
        if !of_factor.is_empty() {
            of_factor.push_str("<br>");
        }
        of_factor.push_str(&cell);
    }
    cells
}

/// docs/THRESHOLDS.md.
pub(crate) fn page(root: &Path) -> Result<String> {
    let mut out = String::from(
        "# The thresholds of the rules\n\n<!-- Generated by `cargo xtask gen`. -->\n\n\
         Each number that decides whether a rule fires, with its reason. *Half*, *same*, *double*: with the threshold scaled so, how many of the rule's warnings in \
         [the corpus](../truth/README.md) are about a program with its cause, and in how many of the programs with that cause it is found \
         (`truth/run sweep`); empty where no program of the corpus asks for it. Thresholds of facts, of the host's check and of chains are not listed.\n",
    );
    let measured = swept(root);
    let mut file = String::new();
    for threshold in all(root)? {
        if threshold.file != file {
            file.clone_from(&threshold.file);
            let _ = write!(
                out,
                "\n## {}\n\n| constant | value | unit | reason | half | same | double |\n|---|---|---|---|---|---|---|\n",
                file.trim_end_matches(".rs")
            );
        }
        let cell = |factor: &str| {
            let cells = measured.get(&threshold.path());
            cells.and_then(|cells| cells.get(factor)).cloned().unwrap_or_default()
        };
        let _ = writeln!(
            out,
            "| `{}` | `{}` | {} | {} | {} | {} | {} |",
            threshold.name,
            threshold.value,
            threshold.unit(),
            plain(&threshold.reason),
            cell("0.5"),
            cell("1"),
            cell("2")
        );
    }
    Ok(out)
}

/// A comment as a cell: no links of rustdoc, no bars.
fn plain(reason: &str) -> String {
    let mut text = reason.replace('|', "\\|");
    for (from, to) in [("[`", "`"), ("`]", "`"), ("<", "&lt;")] {
        text = text.replace(from, to);
    }
    text
}

/// Writes a copy of the project into `out` in which each threshold of a rule can be scaled at run time, and the program that does so.
pub(crate) fn sweep_tree(root: &Path, out: &Path) -> Result<()> {
    for folder in ["crates", "truth/sweep"] {
        copy(&root.join(folder), &out.join(folder))?;
    }
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let members = r#"members = ["crates/*", "fuzz", "xtask"]"#;
    anyhow::ensure!(
        manifest.contains(members),
        "Cargo.toml: its members are others: adapt xtask/src/thresholds.rs"
    );
    write_if_new(
        &out.join("Cargo.toml"),
        &manifest.replace(members, r#"members = ["crates/*", "truth/sweep"]"#),
    )?;
    for name in ["Cargo.lock", "rust-toolchain.toml"] {
        write_if_new(&out.join(name), &std::fs::read_to_string(root.join(name))?)?;
    }
    let folder = out.join(RULES);
    let thresholds = all(root)?;
    let mut sources = Vec::new();
    for path in super::files_below(&root.join(RULES), "rs")? {
        let file = path.strip_prefix(root.join(RULES))?.display().to_string();
        sources.push((file, std::fs::read_to_string(&path)?));
    }
    let mut fixed = fixed_names(&sources);
    // A name that is a threshold in one file and the bound of a list in another is left alone: imports are not followed.
    for (file, source) in &sources {
        let own: BTreeSet<String> =
            of_file(file, source).into_iter().map(|threshold| threshold.name).collect();
        fixed.extend(numbers(source).into_iter().filter(|name| !own.contains(name)));
    }
    let names: BTreeSet<&str> = thresholds.iter().map(|threshold| threshold.name.as_str()).collect();
    for (file, source) in &sources {
        let own: HashMap<&str, usize> = thresholds
            .iter()
            .enumerate()
            .filter(|(_, threshold)| threshold.file == *file && !fixed.contains(&threshold.name))
            .map(|(number, threshold)| (threshold.name.as_str(), number))
            .collect();
        let mut text = scaled(source, &own, &names, &fixed);
        if file == "lib.rs" {
            text = text.replacen(
                "pub mod engine;",
                "#![allow(non_snake_case)]\n\n#[allow(missing_docs)]\npub mod sweep;\npub mod engine;",
                1,
            );
        }
        write_if_new(&folder.join(file), &text)?;
    }
    let paths: Vec<String> =
        thresholds.iter().map(|threshold| format!("    {:?},\n", threshold.path())).collect();
    let module =
        std::fs::read_to_string(root.join("truth/sweep/scale.rs")).context("truth/sweep/scale.rs")?;
    write_if_new(
        &folder.join("sweep.rs"),
        &format!("{module}\n/// All thresholds.\npub const PATHS: &[&str] = &[\n{}];\n", paths.concat()),
    )?;
    println!("{}: {} thresholds, {} of them stay as they are", out.display(), thresholds.len(), fixed.len());
    Ok(())
}

/// Names that are used where only a constant may stand: in items of other types, and in patterns.
fn fixed_names(sources: &[(String, String)]) -> BTreeSet<String> {
    let mut fixed = BTreeSet::new();
    for (_, source) in sources {
        let tokens = tokens(source);
        for (at, token) in tokens.iter().enumerate() {
            let is_item = (token.is("const") || token.is("static"))
                && tokens.get(at + 2).is_some_and(|next| next.is(":"));
            let is_number =
                tokens.get(at + 3).is_some_and(|kind| NUMBERS.contains(&kind.text)) && token.is("const");
            if is_item && !is_number {
                let until = tokens[at..].iter().position(|token| token.is(";")).unwrap_or(0);
                // A closure asks when it is called.
                let item = tokens[at + 3..at + until].iter().take_while(|token| !token.is("|"));
                fixed.extend(item.filter(|token| is_constant(token)).map(|token| token.text.to_string()));
            }
            // `NAME =>`, `NAME..`, `..=NAME` of a pattern, and the length of an array.
            let next = |n: usize| tokens.get(at + n).map_or("", |token| token.text);
            if is_constant(token)
                && ((next(1) == "=" && next(2) == ">")
                    || (next(1) == "]" && at > 0 && tokens[at - 1].is(";")))
            {
                fixed.insert(token.text.to_string());
            }
        }
    }
    fixed
}

fn is_constant(token: &Token<'_>) -> bool {
    token.kind == Kind::Word
        && token.text.len() > 1
        && token.text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && token.text.starts_with(|first: char| first.is_ascii_uppercase())
}

/// The source with its own thresholds as functions, and all uses of thresholds as calls.
fn scaled(
    source: &str,
    own: &HashMap<&str, usize>,
    names: &BTreeSet<&str>,
    fixed: &BTreeSet<String>,
) -> String {
    let tokens = tokens(source);
    let offset = |token: &Token<'_>| token.text.as_ptr() as usize - source.as_ptr() as usize;
    // Other files' thresholds are used by an import or a path.
    let imported: BTreeSet<&str> = imports(&tokens).filter(|name| names.contains(name)).collect();
    let (mut out, mut from) = (String::new(), 0);
    let (mut in_use, mut value_end) = (false, None);
    for (at, token) in tokens.iter().enumerate() {
        let start = offset(token);
        let is = |n: isize, text: &str| {
            at.checked_add_signed(n).and_then(|at| tokens.get(at)).is_some_and(|token| token.is(text))
        };
        in_use = (in_use || token.is("use")) && !token.is(";");
        if value_end == Some(at) {
            out.push_str(&source[from..start]);
            out.push_str(") }");
            (from, value_end) = (start + 1, None);
            continue;
        }
        let name = token.text;
        if token.is("const") && own.contains_key(tokens.get(at + 1).map_or("", |next| next.text)) {
            let (name, kind) = (tokens[at + 1].text, tokens[at + 3].text);
            out.push_str(&source[from..start]);
            let function = kind.to_ascii_lowercase();
            let _ = write!(out, "fn {name}() -> {kind} {{ crate::sweep::{function}({}, ", own[name]);
            from = offset(&tokens[at + 5]);
            value_end = tokens[at..].iter().position(|token| token.is(";")).map(|length| at + length);
            continue;
        }
        let is_defined = start < from || is(-1, "const");
        let is_known = own.contains_key(name)
            || imported.contains(name)
            || (of_module(&tokens, at) && names.contains(name));
        if is_constant(token) && !in_use && !is_defined && is_known && !fixed.contains(name) && !is(1, "(") {
            let end = start + name.len();
            out.push_str(&source[from..end]);
            out.push_str("()");
            from = end;
        }
    }
    out.push_str(&source[from..]);
    out
}

/// True behind `module::`; behind `Type::` it is another crate's.
fn of_module(tokens: &[Token<'_>], at: usize) -> bool {
    let is_lower = |token: &Token<'_>| token.text.starts_with(|first: char| first.is_ascii_lowercase());
    at >= 2 && tokens[at - 1].is("::") && is_lower(&tokens[at - 2])
}

/// The constants that `use` brings in.
fn imports<'t>(tokens: &[Token<'t>]) -> impl Iterator<Item = &'t str> {
    let mut found = Vec::new();
    let mut in_use = false;
    for token in tokens {
        in_use = (in_use || token.is("use")) && !token.is(";");
        if in_use && is_constant(token) {
            found.push(token.text);
        }
    }
    found.into_iter()
}

/// Copies a folder; what is the same already is left alone, so that nothing is built again for it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            let (bytes, target) = (std::fs::read(&path)?, to.join(name));
            // Rules are written apart.
            let is_rule = target.to_string_lossy().contains(RULES);
            if !is_rule && std::fs::read(&target).ok().as_deref() != Some(&bytes) {
                std::fs::write(target, bytes)?;
            }
        }
    }
    Ok(())
}

fn write_if_new(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).ok().as_deref() != Some(text) {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "use super::streams::{GOOD, other};\n/// Fewer are\n/// over at once.\nconst MIN_READS: u64 = 1_000;\n\
        /// Findings at most.\nconst MOST: usize = 3;\npub(crate) const SLOW: Nanos =\n    Nanos::from_millis(3);\n\
        const KINDS: &[u64] = &[FIXED];\n/// Fixed.\nconst FIXED: u64 = 1;\nfn f(a: u64) -> bool { a > MIN_READS && g(SLOW) && a < GOOD && a == FIXED && x::FAR > 1 }\n";

    #[test]
    fn constants_are_found_with_their_reasons() {
        let found = of_file("io/a.rs", SOURCE);
        let names: Vec<&str> = found.iter().map(|threshold| threshold.name.as_str()).collect();
        assert_eq!(names, ["MIN_READS", "SLOW", "FIXED"]);
        assert_eq!(found[0].reason, "Fewer are over at once.");
        assert_eq!((found[1].value.as_str(), found[1].unit()), ("Nanos::from_millis(3)", "time"));
    }

    #[test]
    fn they_become_functions() {
        let sources = [("io/a.rs".to_string(), SOURCE.to_string())];
        let fixed = fixed_names(&sources);
        assert_eq!(fixed.iter().collect::<Vec<_>>(), ["FIXED"]);
        let own = HashMap::from([("MIN_READS", 0), ("SLOW", 1)]);
        let names = BTreeSet::from(["MIN_READS", "SLOW", "GOOD", "FAR", "FIXED"]);
        let text = scaled(SOURCE, &own, &names, &fixed);
        assert!(text.contains("fn MIN_READS() -> u64 { crate::sweep::u64(0, 1_000) }"), "{text}");
        assert!(
            text.contains("pub(crate) fn SLOW() -> Nanos { crate::sweep::nanos(1, Nanos::from_millis(3)) }"),
            "{text}"
        );
        assert!(
            text.contains("a > MIN_READS() && g(SLOW()) && a < GOOD() && a == FIXED && x::FAR() > 1"),
            "{text}"
        );
        assert!(text.contains("{GOOD, other}"), "{text}");
    }
}
