//! Modules that import each other in a circle. In each folder of a crate every file, and every folder with what is in it, is a
//! unit; units side by side may import each other one way only. A module and what is below it are one unit: they may use each
//! other.

use crate::imports::{Import, Modules};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The imports between the units of one folder, by who imports and whom.
type Units<'i> = BTreeMap<&'i str, BTreeMap<&'i str, Vec<&'i Import>>>;

/// The circles of the crate below `src`, each with what to do; file names are told from `root` on.
pub(crate) fn find(root: &Path, src: &Path) -> Result<Vec<String>> {
    let imports = Modules::read(src)?.imports();
    let mut folders: BTreeMap<&[String], Units<'_>> = BTreeMap::new();
    for import in &imports {
        let shared = import.from.iter().zip(&import.to).take_while(|(from, to)| from == to).count();
        if let (Some(from), Some(to)) = (import.from.get(shared), import.to.get(shared)) {
            let units = folders.entry(&import.from[..shared]).or_default();
            units.entry(from).or_default().entry(to).or_default().push(import);
        }
    }
    let mut told = Vec::new();
    for (folder, units) in &folders {
        for circle in circles(units) {
            told.push(tell(root, &place(root, src, folder), units, &circle));
        }
    }
    Ok(told)
}

fn place(root: &Path, src: &Path, folder: &[String]) -> String {
    let path = folder.iter().fold(src.to_path_buf(), |path, name| path.join(name));
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}

/// Units that all reach each other, each set once.
fn circles<'i>(units: &Units<'i>) -> Vec<Vec<&'i str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        units.keys().map(|unit| (*unit, reach(units, unit))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (unit, reaches) in &reached {
        if reaches.contains(unit) && !seen.contains(unit) {
            let back =
                |other: &&&str| reached.get(*other).is_some_and(|from_there| from_there.contains(unit));
            let circle: Vec<&str> = reaches.iter().filter(back).copied().collect();
            seen.extend(circle.iter().copied());
            found.push(circle);
        }
    }
    found
}

/// All units that `from` imports, itself or by others.
fn reach<'i>(units: &Units<'i>, from: &str) -> BTreeSet<&'i str> {
    let next = |unit: &str| units.get(unit).into_iter().flat_map(|to| to.keys().copied());
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = next(from).collect();
    while let Some(unit) = open.pop() {
        if reached.insert(unit) {
            open.extend(next(unit));
        }
    }
    reached
}

/// Which units, by which imports, and what to do.
fn tell(root: &Path, place: &str, units: &Units<'_>, circle: &[&str]) -> String {
    let mut text = format!("{place}: {} import each other in a circle:\n", circle.join(", "));
    for from in circle {
        for (to, imports) in units.get(from).into_iter().flatten().filter(|(to, _)| circle.contains(to)) {
            let mut lines: BTreeMap<(&Path, usize), Vec<&str>> = BTreeMap::new();
            for import in imports {
                lines.entry((&import.file, import.line)).or_default().push(&import.path);
            }
            for ((file, line), paths) in lines {
                let file = file.strip_prefix(root).unwrap_or(file).display();
                text += &format!("  {from} -> {to}: {file}:{line}: {}\n", paths.join(", "));
            }
        }
    }
    text + "  Move what several of them need into the file where it belongs by its meaning, or into one of its own that imports none \
            of them; files that make no sense without each other are one file, or a module with its children."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join("src").join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("written");
        }
        find(folder.path(), &folder.path().join("src")).expect("a crate")
    }

    #[test]
    fn a_circle_is_told_with_its_imports() {
        let told = circles_of(&[
            ("lib.rs", "mod a; mod b; mod c; mod d; pub use c::C;"),
            ("a.rs", "\nuse crate::b::B;"),
            ("b.rs", "pub struct B; fn f(c: crate::C) {}"),
            ("c.rs", "pub struct C;\nuse super::a;"),
            ("d.rs", "use super::a; use crate::C;"),
        ]);
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(told.starts_with("src: a, b, c import each other in a circle:\n"), "{told}");
        for line in [
            "  a -> b: src/a.rs:2: crate::b::B\n",
            "  b -> c: src/b.rs:1: crate::C\n",
            "  c -> a: src/c.rs:2: super::a\n",
        ] {
            assert!(told.contains(line), "{told}");
        }
        assert!(!told.contains("src/d.rs"), "{told}");
    }

    #[test]
    fn a_folder_is_one_unit_with_its_module() {
        let told = circles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod inner; pub struct A; use inner::I;"),
            ("a/inner.rs", "use super::A; pub struct I; use crate::b::deep::D;"),
            ("b/mod.rs", "pub mod deep;"),
            ("b/deep.rs", "pub struct D; fn f() { crate::a::g(); }"),
        ]);
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(told.starts_with("src: a, b import"), "{told}");
    }

    #[test]
    fn one_way_and_up_and_down_is_allowed() {
        let told = circles_of(&[
            ("main.rs", "mod a; mod b; struct Top; use b::B;"),
            ("a.rs", "mod inner; pub struct A; use inner::I; use crate::{b::B, Top};"),
            ("a/inner.rs", "use super::A; pub struct I; use crate::b::B;"),
            ("b.rs", "pub struct B; use crate::Top;\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        ]);
        assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn each_folder_is_looked_at() {
        let told = circles_of(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod x; mod y; mod z;"),
            ("a/x.rs", "use super::y::Y;"),
            ("a/y.rs", "pub struct Y; use super::x;"),
            ("a/z.rs", "use super::x;"),
        ]);
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(told.starts_with("src/a: x, y import"), "{told}");
    }
}
