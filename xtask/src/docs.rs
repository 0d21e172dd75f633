//! What the documents refer to is there: every relative link of every Markdown file, every heading that a link names, every
//! path of this repository in the guides; and docs/README.md lists every document.

use anyhow::{Context, Result, bail};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Folders without documents of ours.
const SKIPPED: &[&str] = &["target", ".git", "node_modules", "corpus", "artifacts"];
/// Where a path in backticks is a path of this repository.
const OUR_FOLDERS: &[&str] =
    &[".ci/", ".github/", "bench/", "cases/", "crates/", "docs/", "fuzz/", "scripts/", "xtask/"];
/// The index that lists every file of docs/.
const INDEX: &str = "docs/README.md";

/// What of a document matters here.
#[derive(Default)]
struct Document {
    /// Targets of links and pictures, with their lines.
    links: Vec<(usize, String)>,
    /// Text in backticks, with its lines.
    code: Vec<(usize, String)>,
    /// The names by which links reach its headings.
    anchors: BTreeSet<String>,
}

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut documents = BTreeMap::new();
    for path in markdown_below(root)? {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        documents.insert(name, Document::parse(&text));
    }
    let mut wrong = Vec::new();
    for (name, document) in &documents {
        for (line, link) in &document.links {
            if let Some(fault) = fault_of_link(root, &documents, name, link) {
                wrong.push(format!("{}:{line}: {link}: {fault}", name.display()));
            }
        }
        if is_guide(name) {
            for (line, code) in &document.code {
                if let Some(path) = path_of_ours(code).filter(|path| !root.join(path).exists()) {
                    wrong.push(format!("{}:{line}: `{path}` is not in the repository", name.display()));
                }
            }
        }
    }
    wrong.extend(missing_in_index(&documents)?);
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    let links: usize = documents.values().map(|document| document.links.len()).sum();
    println!("docs: {links} links of {} documents resolve", documents.len());
    Ok(())
}

/// Every Markdown file below the folder, without what is built, fetched or recorded.
fn markdown_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_ref()) && !name.ends_with(".whyslow") {
                found.extend(markdown_below(&path)?);
            }
        } else if path.extension().is_some_and(|known| known == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The documents that describe the tree as it is. A changelog names what was; cases quote captures.
fn is_guide(name: &Path) -> bool {
    name.starts_with("docs") || name == Path::new("README.md") || name == Path::new("CONTRIBUTING.md")
}

/// What is wrong with a link of the document `from`.
fn fault_of_link(
    root: &Path,
    documents: &BTreeMap<PathBuf, Document>,
    from: &Path,
    link: &str,
) -> Option<&'static str> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let folder = from.parent().unwrap_or(Path::new(""));
    let target = match path {
        "" => from.to_path_buf(),
        _ => match inside(&folder.join(path)) {
            Some(target) => target,
            None => return Some("leads out of the repository"),
        },
    };
    if !root.join(&target).exists() {
        return Some("no such file");
    }
    let known = |document: &Document| anchor.is_none_or(|anchor| document.anchors.contains(anchor));
    match documents.get(&target) {
        Some(document) if !known(document) => Some("no such heading"),
        _ => None,
    }
}

/// The path without `.` and `..`; none where it leaves the root.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir if clean.pop() => {}
            _ => return None,
        }
    }
    Some(clean)
}

/// The file or folder that a text in backticks names, where it names one of this repository and no pattern.
fn path_of_ours(code: &str) -> Option<&str> {
    let word = code.split_whitespace().next()?.trim_end_matches('/');
    let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    // NAME and ID stand for what the reader chooses.
    let capitals = |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    let placeholder = word.split(['/', '.', '_', '-']).any(capitals);
    let ours = OUR_FOLDERS.iter().any(|folder| word.starts_with(folder));
    let document = word.ends_with(".md");
    (ours && plain && (document || !placeholder)).then_some(word)
}

/// A line for each document that the index does not link to.
fn missing_in_index(documents: &BTreeMap<PathBuf, Document>) -> Result<Vec<String>> {
    let index = documents.get(Path::new(INDEX)).with_context(|| format!("{INDEX}: missing"))?;
    let listed: BTreeSet<PathBuf> = index
        .links
        .iter()
        .filter_map(|(_, link)| inside(&Path::new("docs").join(link.split('#').next().unwrap_or_default())))
        .collect();
    Ok(documents
        .keys()
        .filter(|name| name.starts_with("docs") && *name != Path::new(INDEX) && !listed.contains(*name))
        .map(|name| format!("{INDEX}: {} is not listed", name.display()))
        .collect())
}

impl Document {
    fn parse(text: &str) -> Document {
        let mut document = Document::default();
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line = |range: &Range<usize>| starts.partition_point(|start| *start <= range.start);
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push((line(&range), dest_url.into_string()));
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let found = attributes(&html).map(|link| (line(&range), link.to_string()));
                    document.links.extend(found);
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    document.add_anchor(&slug(&heading.take().unwrap_or_default()));
                }
                Event::Text(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::Code(code) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                    document.code.push((line(&range), code.into_string()));
                }
                _ => {}
            }
        }
        document
    }

    /// Of equal headings the second is reached by `-1`, the third by `-2`.
    fn add_anchor(&mut self, slug: &str) {
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let free =
            std::iter::once(slug.to_string()).chain(numbered).find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

/// What `src`, `srcset` and `href` of a piece of HTML name.
fn attributes(html: &str) -> impl Iterator<Item = &str> {
    ["src=\"", "srcset=\"", "href=\""]
        .into_iter()
        .flat_map(|name| html.match_indices(name).map(move |(at, name)| at + name.len()))
        .filter_map(|at| html.get(at..)?.split('"').next())
}

/// The name that code hosts give a heading: lower case, without punctuation, spaces as hyphens.
fn slug(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faults of a repository of these files.
    fn faults(files: &[(&str, &str)]) -> Result<String> {
        let root = tempfile::tempdir()?;
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            std::fs::write(path, text)?;
        }
        Ok(check(root.path()).err().map(|error| error.to_string()).unwrap_or_default())
    }

    #[test]
    fn what_is_there_is_found() -> Result<()> {
        let found = faults(&[
            (
                "README.md",
                "# A\n[b](docs/B.md#two-words-1) <img src=\"docs/p.svg\"> [c](#a) [d](https://x.org/none)\n",
            ),
            ("docs/README.md", "[B](B.md)\n\n```\n[no](link.md)\n```\n"),
            (
                "docs/B.md",
                "## Two words\n## Two `words`\n[up][r] `docs/p.svg` `docs/p_NAME.svg` `docs/<name>.md`\n\n[r]: ../README.md\n",
            ),
            ("docs/p.svg", ""),
        ])?;
        assert_eq!(found, "");
        Ok(())
    }

    #[test]
    fn what_is_missing_is_named() -> Result<()> {
        let found = faults(&[
            (
                "README.md",
                "one\n[b](docs/B.md#none)\n[c](none.md) <a href=\"no.html\">x</a>\n[d](../x) `crates/none/src`\n",
            ),
            ("docs/README.md", ""),
            ("docs/B.md", ""),
        ])?;
        let expected = [
            "README.md:2: docs/B.md#none: no such heading",
            "README.md:3: none.md: no such file",
            "README.md:3: no.html: no such file",
            "README.md:4: ../x: leads out of the repository",
            "README.md:4: `crates/none/src` is not in the repository",
            "docs/README.md: docs/B.md is not listed",
        ];
        assert_eq!(found.lines().collect::<Vec<_>>(), expected);
        Ok(())
    }

    #[test]
    fn headings_get_the_names_that_hosts_give_them() {
        assert_eq!(slug("What it can't see: TLS & `-s 256`"), "what-it-cant-see-tls---s-256");
    }
}
