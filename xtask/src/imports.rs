//! Which module of a crate takes what from which other one: its `use`s, and the paths in its code, outside of tests.
//!
//! Read from the text, without the compiler: a path is one that begins with `crate`, `super`, `self` or a module of its own.
//! A name that a module only passes on (`pub use`, or a `use` that its children see) leads to the module that has the item.

use crate::tokens::{Kind, Token, tokens, without_tests};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The names of the modules from the crate's root on; the root's is empty.
pub(crate) type Module = Vec<String>;

/// A name of another module, as it stands somewhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Import {
    pub(crate) from: Module,
    /// The module that has the item.
    pub(crate) to: Module,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    /// As it was written.
    pub(crate) path: String,
}

/// The modules of one crate.
#[derive(Default)]
pub(crate) struct Modules {
    modules: BTreeMap<Module, Contents>,
}

/// What stands in a module.
#[derive(Default)]
struct Contents {
    file: PathBuf,
    /// Names of the items that are made here.
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths in the code.
    paths: Vec<(Vec<String>, usize)>,
    /// Names by which a `*` may be meant, with the line of the first.
    names: BTreeMap<String, usize>,
}

/// One leaf of a `use`.
struct Use {
    path: Vec<String>,
    /// `None` for `*`.
    name: Option<String>,
    line: usize,
}

/// As deep as one name is passed on by others: more is a circle of names.
const DEEPEST: usize = 16;

impl Modules {
    /// Reads the crate whose sources are below `src`: from `lib.rs` or `main.rs` on, along its `mod`s.
    pub(crate) fn read(src: &Path) -> Result<Modules> {
        let roots: Vec<PathBuf> = ["lib.rs", "main.rs"].iter().map(|name| src.join(name)).collect();
        let [root] = roots.iter().filter(|root| root.is_file()).collect::<Vec<_>>()[..] else {
            bail!("{}: expected a lib.rs or a main.rs, and not both", src.display());
        };
        let mut modules = Modules::default();
        modules.file(root, src, Module::new())?;
        Ok(modules)
    }

    /// True where the module makes an item of that name.
    pub(crate) fn has(&self, module: &Module, item: &str) -> bool {
        self.modules.get(module).is_some_and(|known| known.items.contains(item))
    }

    /// Reads a file and the modules that it declares, which stand in `folder`.
    fn file(&mut self, file: &Path, folder: &Path, module: Module) -> Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let all = tokens(&text);
        let depth = module.len();
        let mut reader =
            Reader { tokens: &without_tests(&all), file, at: 0, children: Vec::new(), found: Vec::new() };
        reader.module(module)?;
        let Reader { children, found, .. } = reader;
        self.modules.extend(found);
        for child in children {
            // That of a module in braces stands in a folder of that name.
            let folder = folder.join(child[depth..].iter().collect::<PathBuf>());
            let flat = folder.with_extension("rs");
            let path = if flat.is_file() { flat } else { folder.join("mod.rs") };
            self.file(&path, &folder, child)?;
        }
        Ok(())
    }

    /// All imports of one module from another.
    pub(crate) fn imports(&self) -> Vec<Import> {
        let mut found = BTreeSet::new();
        for (from, contents) in &self.modules {
            let mut add = |to: Option<Module>, path: String, line: usize| {
                if let Some(to) = to.filter(|to| to != from) {
                    found.insert(Import { from: from.clone(), to, file: contents.file.clone(), line, path });
                }
            };
            for one in &contents.uses {
                let target = self.absolute(from, &one.path).and_then(|path| self.owner(&path, 0));
                add(target.clone(), one.path.join("::"), one.line);
                if let (None, Some(open)) = (&one.name, target) {
                    for (name, line) in &contents.names {
                        let is_named = contents.uses.iter().any(|one| one.name.as_ref() == Some(name));
                        if !is_named && !contents.items.contains(name) && !self.has(&open, name) {
                            let passed_on = self.passed_on(&open, name).and_then(|path| self.owner(&path, 0));
                            add(passed_on, format!("{}::{name} (by `*`)", one.path.join("::")), *line);
                        }
                    }
                }
            }
            for (path, line) in &contents.paths {
                add(self.absolute(from, path).and_then(|path| self.owner(&path, 0)), path.join("::"), *line);
            }
        }
        found.into_iter().collect()
    }

    /// A path from the crate's root; `None` for one into another crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let mut base = module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Module::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {}
            name => {
                let child: Module = base.iter().cloned().chain([name.to_string()]).collect();
                if !self.modules.contains_key(&child) {
                    return None;
                }
            }
        }
        while rest.first().is_some_and(|name| name == "super") {
            base.pop()?;
            rest = &rest[1..];
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// The module that has the item of an absolute path.
    fn owner(&self, path: &[String], depth: usize) -> Option<Module> {
        let length = (0..=path.len()).rev().find(|length| self.modules.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let module = module.to_vec();
        if let Some(name) = rest.first()
            && depth < DEEPEST
            && !self.has(&module, name)
            && let Some(mut next) = self.passed_on(&module, name)
        {
            next.extend_from_slice(&rest[1..]);
            return self.owner(&next, depth + 1);
        }
        Some(module)
    }

    /// The path that a module has for a name that is not its own.
    fn passed_on(&self, module: &Module, name: &str) -> Option<Vec<String>> {
        let contents = self.modules.get(module)?;
        if let Some(one) = contents.uses.iter().find(|one| one.name.as_deref() == Some(name)) {
            return self.absolute(module, &one.path);
        }
        let open = contents.uses.iter().filter(|one| one.name.is_none());
        open.filter_map(|one| self.absolute(module, &one.path)).find_map(|open| {
            self.has(&open, name).then(|| open.into_iter().chain([name.to_string()]).collect())
        })
    }
}

/// Reads the tokens of one file.
struct Reader<'r, 't> {
    tokens: &'r [Token<'t>],
    file: &'r Path,
    at: usize,
    /// Modules in files of their own.
    children: Vec<Module>,
    found: Vec<(Module, Contents)>,
}

impl Reader<'_, '_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn was(&self, back: usize, text: &str) -> bool {
        self.at.checked_sub(back).is_some_and(|at| self.is(at, text))
    }

    fn word(&self, at: usize) -> Option<String> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| token.text.to_string())
    }

    /// Reads up to the brace that closes the module, or to the end of the file.
    fn module(&mut self, module: Module) -> Result<()> {
        let mut contents = Contents { file: self.file.to_path_buf(), ..Contents::default() };
        let mut depth = 0usize;
        while let Some(token) = self.tokens.get(self.at).copied() {
            let next = self.word(self.at + 1);
            match token.text {
                _ if token.kind == Kind::Text => {}
                "{" | "(" | "[" => depth += 1,
                "}" if depth == 0 => {
                    self.at += 1;
                    break;
                }
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                "path" if self.was(1, "[") && self.is(self.at + 1, "=") => bail!(
                    "{}:{}: `#[path]` outside of tests is not followed: name the file as its module",
                    self.file.display(),
                    token.line
                ),
                // `impl Trait + use<'a>` imports nothing.
                "use" if !self.is(self.at + 1, "<") => {
                    self.at += 1;
                    self.tree(&[], &mut contents.uses)?;
                    continue;
                }
                "mod" if next.is_some() => {
                    self.child(&module, next.unwrap_or_default())?;
                    continue;
                }
                "macro_rules" if depth == 0 => contents.items.extend(self.word(self.at + 2)),
                "fn" | "struct" | "enum" | "union" | "trait" | "const" | "static" | "type" if depth == 0 => {
                    contents
                        .items
                        .extend(next.filter(|name| !["fn", "unsafe", "mut"].contains(&name.as_str())));
                    if self.is(self.at + 1, "mut") {
                        contents.items.extend(self.word(self.at + 2));
                    }
                }
                _ if token.kind == Kind::Word && !self.was(1, "::") && !self.was(1, ".") => {
                    self.name(&token, &mut contents);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.found.push((module, contents));
        Ok(())
    }

    /// A module in braces, or in a file of its own.
    fn child(&mut self, parent: &Module, name: String) -> Result<()> {
        let child: Module = parent.iter().cloned().chain([name]).collect();
        let opens = self.is(self.at + 2, "{");
        self.at += 3;
        if opens {
            return self.module(child);
        }
        self.children.push(child);
        Ok(())
    }

    /// A word in the code: the beginning of a path, or a name that a `*` may have brought.
    fn name(&mut self, token: &Token<'_>, contents: &mut Contents) {
        let begins = matches!(token.text, "crate" | "super" | "self") && self.is(self.at + 1, "::");
        // `pub(in crate::x)` names no item.
        let is_range = self.was(1, "in") && self.was(2, "(") && self.was(3, "pub");
        let mut path = vec![token.text.to_string()];
        self.at += 1;
        while self.is(self.at, "::")
            && let Some(word) = self.word(self.at + 1)
        {
            path.push(word);
            self.at += 2;
        }
        if begins && !is_range {
            contents.paths.push((path, token.line));
            return;
        }
        let is_call = path.len() > 1 || self.is(self.at, "(") || self.is(self.at, "!");
        if is_call || token.text.starts_with(|first: char| first.is_uppercase()) {
            contents.names.entry(token.text.to_string()).or_insert(token.line);
        }
    }

    /// The rest of a `use` up to its end: `a::{b, c as d, self}`.
    fn tree(&mut self, before: &[String], found: &mut Vec<Use>) -> Result<()> {
        let mut path = before.to_vec();
        let Some(line) = self.tokens.get(self.at).map(|token| token.line) else { return Ok(()) };
        loop {
            let Some(token) = self.tokens.get(self.at).copied() else {
                bail!("{}:{line}: a `use` without an end", self.file.display());
            };
            self.at += 1;
            match token.text {
                "::" => {
                    // `::std::x` is of another crate, as a name that is no module.
                    if path.is_empty() {
                        path.push(String::new());
                    }
                }
                "*" => found.push(Use { path: path.clone(), name: None, line: token.line }),
                "{" => {
                    while !self.is(self.at, "}") {
                        self.tree(&path, found)?;
                        self.at += usize::from(self.is(self.at, ","));
                    }
                    self.at += 1;
                }
                "as" => {
                    if let (Some(last), name) = (found.last_mut(), self.word(self.at)) {
                        last.name = name;
                    }
                    self.at += 1;
                }
                ";" | "," | "}" => {
                    self.at -= 1;
                    if token.is(";") && before.is_empty() {
                        self.at += 1;
                    }
                    return Ok(());
                }
                word => {
                    if word != "self" || path.is_empty() {
                        path.push(word.to_string());
                    }
                    if !self.is(self.at, "::") {
                        found.push(Use { path: path.clone(), name: path.last().cloned(), line: token.line });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A crate made of these files, and what its modules import.
    pub(crate) fn of_files(files: &[(&str, &str)]) -> Result<Modules> {
        let folder = tempfile::tempdir()?;
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().context("a folder")?)?;
            std::fs::write(path, text)?;
        }
        Modules::read(folder.path())
    }

    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let shown = |import: Import| {
            format!("{}->{} {}:{}", import.from.join("::"), import.to.join("::"), import.path, import.line)
        };
        of_files(files).expect("a crate").imports().into_iter().map(shown).collect()
    }

    #[test]
    fn uses_and_paths_are_imports() {
        let found = imports(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use super::b::{self, B as C, d::{E, F}};\nuse std::fmt;\nuse crate::c;\n"),
            ("b.rs", "//! super::a::A\nfn f() {\n  let x = crate::a::f(\"super::c::X\");\n}\npub mod d;"),
            (
                "b/d.rs",
                "fn f(x: super::super::c::C) {}\npub(in crate::b) fn g() {}\nfn h<'a>() -> impl Sized + use<'a> {}",
            ),
            ("c.rs", "#[cfg(test)]\nmod tests {\n  use crate::a::A;\n}\n"),
        ]);
        let expected = [
            "a->b super::b:1",
            "a->b super::b::B:1",
            "a->b::d super::b::d::E:1",
            "a->b::d super::b::d::F:1",
            "a->c crate::c:3",
            "b->a crate::a::f:3",
            "b::d->c super::super::c::C:1",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_passed_on_is_taken_from_where_it_is_made() {
        let found = imports(&[
            ("lib.rs", "mod a;\nmod b;\npub use a::{A as Other, g};\npub use b::*;\nstruct Own;"),
            ("a.rs", "pub struct A; pub fn g() {}"),
            ("b/mod.rs", "mod c;\nmod d;\nuse c::C;\npub struct B;"),
            ("b/c.rs", "pub struct C; use crate::{B, Other, Own};"),
            ("b/d.rs", "use super::*;\nfn f() -> C { crate::g() }"),
        ]);
        let expected = [
            "->a a::A:3",
            "->a a::g:3",
            "->b b:4",
            "b->b::c c::C:3",
            "b::c-> crate::Own:1",
            "b::c->a crate::Other:1",
            "b::c->b crate::B:1",
            "b::d->a crate::g:2",
            "b::d->b super:1",
            "b::d->b::c super::C (by `*`):2",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn modules_in_braces_are_modules() {
        let found = imports(&[
            ("lib.rs", "mod a { pub mod b { use super::super::c::C; } mod e; }\nmod c;"),
            ("a/e.rs", "use super::b;"),
            ("c.rs", "pub struct C;"),
        ]);
        assert_eq!(found, ["a::b->c super::super::c::C:1", "a::e->a::b super::b:1"]);
    }

    #[test]
    fn a_file_under_another_name_is_refused() {
        let error =
            of_files(&[("lib.rs", "#[path = \"x.rs\"]\nmod a;"), ("x.rs", "")]).err().expect("an error");
        assert!(error.to_string().contains("lib.rs:1: `#[path]`"), "{error}");
    }
}
