//! The functions that names and patterns mean: looked up in the kernel's own list of symbols, and what they return in its type
//! information.

use super::MOST_FUNCTIONS;
use crate::error::RecordError;
use crate::target::near;
use libbpf_rs::btf::types::{Func, FuncProto, Int, IntEncoding};
use libbpf_rs::btf::{Btf, BtfKind, ReferencesType};
use std::collections::{BTreeMap, BTreeSet};

/// What of a function's result tells that it failed (`RETURNS_…` of the program).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Returns {
    /// Nothing: it returns no errno, or nobody knows.
    NoErrno = 0,
    /// An `int` below zero.
    Int = 1,
    /// A `long` below zero, or a pointer that is an error (`ERR_PTR`).
    Long = 2,
}

/// A function to count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Function {
    /// Its module; `None` for the kernel itself.
    module: Option<String>,
    pub(super) name: String,
    pub(super) returns: Returns,
}

impl Function {
    /// As it is asked for, and as the kernel wants it named: `module:function`.
    pub(super) fn target(&self) -> String {
        match &self.module {
            Some(module) => format!("{module}:{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Functions by module and name, each with how many there are of that name.
type Symbols = BTreeMap<(Option<String>, String), u32>;

/// The functions that `asked` means.
///
/// # Errors
/// Where a name is no function of this kernel, or they are too many.
pub(crate) fn find(asked: &[String]) -> Result<Vec<Function>, RecordError> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let path = "/proc/kallsyms";
    let text = std::fs::read(path).map_err(|source| RecordError::Unreadable { path: path.into(), source })?;
    let mut found = chosen(&String::from_utf8_lossy(&text), asked)?;
    let types = Btf::from_vmlinux().ok();
    for function in &mut found {
        if let (None, Some(types)) = (&function.module, &types) {
            function.returns = returns(types, &function.name);
        }
    }
    Ok(found)
}

/// Reads lines such as `ffffffff81000000 T vfs_read` and `ffffffffc0000000 t find [ext4]`: code alone.
fn symbols(text: &str) -> Symbols {
    let mut symbols = Symbols::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (Some("t" | "T" | "w" | "W"), Some(name)) = (words.next(), words.next()) else { continue };
        // Space before a function that is aligned (since Linux 6.2).
        if name.starts_with("__pfx_") {
            continue;
        }
        let module = words.next().map(|module| module.trim_matches(['[', ']']).to_string());
        *symbols.entry((module, name.to_string())).or_default() += 1;
    }
    symbols
}

fn chosen(text: &str, asked: &[String]) -> Result<Vec<Function>, RecordError> {
    let symbols = symbols(text);
    let mut found: Vec<Function> = Vec::new();
    for one in asked {
        let fail = |why: String, next: String| RecordError::Probe { asked: one.clone(), why, next };
        let (module, pattern) = match one.split_once(':') {
            Some((module, pattern)) => (Some(module), pattern),
            None => (None, one.as_str()),
        };
        let in_module = |of: &Option<String>| module.is_none_or(|module| of.as_deref() == Some(module));
        let is_pattern = pattern.contains(['*', '?']);
        let matches: Vec<(&(Option<String>, String), &u32)> = symbols
            .iter()
            .filter(|((of, name), count)| match is_pattern {
                // What the compiler made of a function (name.isra.0), and names that several have, are meant by none.
                true => {
                    in_module(of)
                        && **count == 1
                        && !name.contains('.')
                        && like(pattern.as_bytes(), name.as_bytes())
                }
                false => in_module(of) && name == pattern,
            })
            .collect();
        if matches.is_empty() {
            return Err(fail(
                format!("this kernel has no such function{}", inlined(&symbols, pattern)),
                nearest(&symbols, pattern),
            ));
        }
        let copies: u32 = matches.iter().map(|(_, count)| **count).sum();
        if !is_pattern && copies > 1 {
            let next = "name one that calls it, or its module (`module:function`)".to_string();
            return Err(fail(format!("{copies} functions of this kernel have that name"), next));
        }
        for ((module, name), _) in matches {
            let function = Function { module: module.clone(), name: name.clone(), returns: Returns::NoErrno };
            if !found.contains(&function) {
                found.push(function);
            }
        }
        if found.len() > MOST_FUNCTIONS {
            let why =
                format!("{} functions are meant, and {MOST_FUNCTIONS} can be probed at a time", found.len());
            return Err(fail(why, "name fewer, or a narrower pattern".to_string()));
        }
    }
    Ok(found)
}

/// True where `name` is as `pattern` says: `*` stands for any characters, `?` for one.
fn like(mut pattern: &[u8], mut name: &[u8]) -> bool {
    // Where to go on if what follows the last `*` does not fit.
    let mut again: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern, name) {
            ([], []) => return true,
            ([b'*', rest @ ..], _) => {
                again = Some((rest, name));
                pattern = rest;
            }
            ([first, rest @ ..], [next, behind @ ..]) if *first == b'?' || first == next => {
                (pattern, name) = (rest, behind);
            }
            _ => match again {
                Some((rest, [_, behind @ ..])) => {
                    again = Some((rest, behind));
                    (pattern, name) = (rest, behind);
                }
                _ => return false,
            },
        }
    }
}

/// What the compiler made of a function of that name, in words.
fn inlined(symbols: &Symbols, name: &str) -> String {
    let prefix = format!("{name}.");
    match symbols.keys().find(|(_, known)| known.starts_with(&prefix)) {
        Some((_, known)) => format!("; the compiler made {known} of it"),
        None => "; it may be inlined where it is called".to_string(),
    }
}

/// What to do where there is no such name.
fn nearest(symbols: &Symbols, name: &str) -> String {
    let first = name.bytes().next();
    let candidates: BTreeSet<String> = symbols
        .keys()
        .map(|(_, known)| known)
        .filter(|known| known.bytes().next() == first && known.len().abs_diff(name.len()) < 4)
        .cloned()
        .collect();
    match near(name, candidates).as_slice() {
        [] => "grep its name in /proc/kallsyms".to_string(),
        names => format!("there are {}; all are in /proc/kallsyms", names.join(", ")),
    }
}

/// What a function returns, by its type.
fn returns(types: &Btf<'_>, name: &str) -> Returns {
    let Some(function) = types.type_by_name::<Func<'_>>(name) else { return Returns::NoErrno };
    let Ok(prototype) = FuncProto::try_from(function.referenced_type()) else { return Returns::NoErrno };
    let result = prototype.referenced_type().skip_mods_and_typedefs();
    if result.kind() == BtfKind::Ptr {
        return Returns::Long;
    }
    match Int::try_from(result) {
        Ok(number) if matches!(number.encoding, IntEncoding::Signed) && number.bits == 64 => Returns::Long,
        Ok(number) if matches!(number.encoding, IntEncoding::Signed) && number.bits == 32 => Returns::Int,
        _ => Returns::NoErrno,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T vfs_read
ffffffff81000010 T vfs_write
ffffffff81000020 t vfs_statx
ffffffff81000030 t twice
ffffffff81000040 t twice
ffffffff81000050 t gone.isra.0
ffffffff81000060 t __pfx_vfs_read
ffffffff81000070 D vfs_data
ffffffffc0000000 t ext4_find\t[ext4]
damaged
";

    fn names(asked: &[&str]) -> Result<Vec<String>, String> {
        let asked: Vec<String> = asked.iter().map(|one| one.to_string()).collect();
        let found = chosen(SYMBOLS, &asked).map_err(|error| error.to_string())?;
        Ok(found.iter().map(Function::target).collect())
    }

    #[test]
    fn names_patterns_and_modules_are_found_once() {
        assert_eq!(names(&["vfs_read", "vfs_*"]).unwrap(), ["vfs_read", "vfs_statx", "vfs_write"]);
        assert_eq!(names(&["ext4:*find"]).unwrap(), ["ext4:ext4_find"]);
        assert_eq!(names(&["ext4_find"]).unwrap(), ["ext4:ext4_find"]);
        assert_eq!(
            names(&["?wice*", "vfs_r*d"]).err().map(|error| error.contains("no such function")),
            Some(true)
        );
    }

    #[test]
    fn what_cannot_be_probed_says_why() {
        for (asked, told) in [
            ("vfs_raed", "vfs_read"),
            ("gone", "the compiler made gone.isra.0 of it"),
            ("twice", "2 functions of this kernel have that name"),
            ("vfs_data", "no such function"),
            ("__pfx_vfs_read", "no such function"),
            ("xfs:vfs_read", "no such function"),
            ("", "no such function"),
        ] {
            let error = names(&[asked]).unwrap_err();
            assert!(error.contains(told) && error.contains("next: "), "{asked}: {error}");
        }
    }

    #[test]
    fn more_than_can_be_probed_is_an_error_with_the_number() {
        let text: String = (0..20).map(|number| format!("ffffffff81000000 T many_{number}\n")).collect();
        let error = chosen(&text, &["many_*".to_string()]).unwrap_err().to_string();
        assert!(error.contains("20 functions are meant, and 16"), "{error}");
    }

    #[test]
    fn patterns_are_like_a_shells() {
        for (pattern, name, fits) in [
            ("tcp_*", "tcp_sendmsg", true),
            ("*_sendmsg", "tcp_sendmsg", true),
            ("t?p*msg", "tcp_sendmsg", true),
            ("*", "", true),
            ("*a*b*c", "xxaxxbxxcc", true),
            ("a*b", "a", false),
            ("a?", "a", false),
        ] {
            assert_eq!(like(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        }
        // What a stranger's pattern could make slow.
        assert!(!like("*a".repeat(200).as_bytes(), "a".repeat(199).as_bytes()));
    }
}
