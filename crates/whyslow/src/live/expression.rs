//! `-e openat,%network`: which calls to print, as people know it from strace.

use anyhow::bail;
use std::collections::BTreeSet;
use whyslow_model::Syscall;
use whyslow_model::syscall::Class;
use whyslow_record::decode::table;

/// The numbers of the calls that the expressions name; `None` where they name all.
///
/// # Errors
/// For a name that is none.
pub(crate) fn calls_of(expressions: &[String]) -> anyhow::Result<Option<Vec<u16>>> {
    let mut chosen = BTreeSet::new();
    for expression in expressions {
        let list = expression.strip_prefix("trace=").unwrap_or(expression);
        let (list, all_but) = match list.strip_prefix('!') {
            Some(list) => (list, true),
            None => (list, false),
        };
        let mut named = BTreeSet::new();
        for word in list.split(',').filter(|word| !word.is_empty()) {
            let before = named.len();
            named.extend(table::rows().filter(|row| is_named(row.name, word)).map(|row| row.nr));
            if named.len() == before && word != "all" && word != "none" {
                bail!(
                    "-e {word}: no such call\nnext: a name (openat), a pattern (/^sched_), or a class (%file, %desc, %network, %process, %memory, %signal, %time)"
                );
            }
            if word == "all" {
                named.extend(table::rows().map(|row| row.nr));
            }
        }
        if all_but {
            named = table::rows().map(|row| row.nr).filter(|nr| !named.contains(nr)).collect();
        }
        chosen.extend(named);
    }
    Ok((!expressions.is_empty()).then(|| chosen.into_iter().collect()))
}

fn is_named(name: &str, word: &str) -> bool {
    let class = Syscall::lookup(name.as_bytes()).map(|syscall| syscall.info().class);
    match word.strip_prefix('%').unwrap_or(word) {
        "file" if word.starts_with('%') => class == Some(Class::File),
        "desc" => matches!(class, Some(Class::Descriptor)),
        "network" | "net" => class == Some(Class::Network),
        "process" => class == Some(Class::Process),
        "memory" => class == Some(Class::Memory),
        "signal" => class == Some(Class::Signal),
        "time" if word.starts_with('%') => class == Some(Class::Time),
        "file" => class == Some(Class::File),
        _ => {
            name == word
                || word.strip_prefix('/').is_some_and(|part| name.contains(part.trim_start_matches('^')))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_classes() {
        let calls = |text: &str| calls_of(&[text.to_string()]).unwrap().unwrap();
        assert_eq!(calls("read"), [libc_read()]);
        assert!(calls("trace=openat,read").len() == 2);
        assert!(calls("%network").len() > 10);
        assert!(!calls("!read").contains(&libc_read()));
        assert!(calls_of(&["frobnicate".to_string()]).is_err());
        assert_eq!(calls_of(&[]).unwrap(), None);
    }

    /// read(2) has number 0 on x86-64.
    fn libc_read() -> u16 {
        table::rows().find(|row| row.name == "read").expect("read is in the table").nr
    }
}
