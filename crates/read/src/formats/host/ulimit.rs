//! `ulimit -a` of bash, dash, ksh and zsh, and `limit` of csh: the limit of open descriptors of the shell that was asked,
//! and of what it starts.
//!
//! ```text
//! open files                          (-n) 1024
//! nofiles                       1024
//! -n: file descriptors                1024
//! ```

use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, Metric};

pub(super) static ULIMIT: Tool =
    Tool { begins: |_| false, row: |line| limit(line).is_some(), open: || Box::new(Ulimit) };

/// How shells call a limit of open descriptors: bash, dash, ksh, zsh, csh.
const NAMES: [&str; 5] =
    ["open files (-n)", "nofiles", "nofiles (descriptors) (-n)", "-n: file descriptors", "descriptors"];

/// The limit of open descriptors; `None` on other lines.
fn limit<'l>(line: &Line<'l>) -> Option<&'l str> {
    let (value, name) = line.words.split_last()?;
    let name = name.join(" ");
    let is_value = *value == "unlimited" || number(value).is_some_and(|value| value >= 0.0);
    (is_value && NAMES.contains(&name.as_str())).then_some(*value)
}

/// Lines above and below that one, as shells print them.
fn is_other(line: &Line<'_>) -> bool {
    let Some((value, name)) = line.words.split_last() else { return false };
    let is_value = *value == "unlimited" || number(value).is_some();
    let lettered = |word: &&str| word.trim_start_matches('(').starts_with('-') && word.ends_with([')', ':']);
    let united = |word: &&str| word.contains('(') && word.ends_with(')');
    is_value && name.iter().any(|word| lettered(word) || united(word))
}

struct Ulimit;

impl Block for Ulimit {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(value) = limit(line) else {
            return if is_other(line) { Step::Used } else { Step::Other };
        };
        if let Some(value) = number(value) {
            let mut table = out.table("ulimit");
            let row = table.row(Entity::Command("shell".into()));
            row.set(Metric::FdLimit, value);
            line.sign(row);
            out.push(table);
        }
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}

#[cfg(test)]
mod tests {
    use crate::formats::host::tests::of;
    use whyslow_model::{Entity, Metric};

    #[test]
    fn open_files_of_every_shell() {
        let bash = "core file size              (blocks, -c) 0\nopen files                          (-n) 20000\npipe size                (512 bytes, -p) 8\nmax user processes                  (-u) 96365\n";
        let dash = "time(seconds)        unlimited\nprocess              96365\nnofiles              20000\nvmemory(kbytes)      unlimited\n";
        let zsh =
            "-t: cpu time (seconds)              unlimited\n-n: file descriptors                20000\n";
        let csh = "cputime      unlimited\ndescriptors  20000 \n";
        for (text, foreign) in [(bash, 1), (dash, 2), (zsh, 1), (csh, 1)] {
            let read = of(text.as_bytes());
            let shell = Entity::Command("shell".into());
            assert_eq!(read.figure("ulimit", &shell, Metric::FdLimit), Some(20_000.0), "{text}");
            assert_eq!((read.info.rejects, read.info.foreign), (0, foreign), "{text}");
        }
    }

    #[test]
    fn no_limit_is_no_figure() {
        assert_eq!(of(b"open files                          (-n) unlimited\n").tables.len(), 0);
        assert_eq!(of(b"open files of all (-n) 12 of 13\n").info.foreign, 1);
    }
}
