//! What a process runs, and how well that goes by a name that a person gives it.

use super::root::{ProcRoot, bounded, read_at_most};
use std::os::unix::ffi::OsStrExt;
use whyslow_model::{ProgramName, Tid};
use whyslow_privacy::command_line::without_secrets;

/// Bytes read of a command line. It is cut at 4 KiB once secrets are gone, which need their surroundings.
const COMMAND_LINE: u64 = 16 << 10;

/// The program of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    /// The kernel's name of it.
    pub(super) comm: String,
    /// The name of its file.
    pub(super) file: Option<String>,
    /// What its arguments tell.
    pub(super) name: ProgramName,
    /// Its arguments without secrets, joined by blanks; `None` where there are none.
    pub(super) command: Option<String>,
}

/// How well a name fits, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It is one of the names.
    Whole,
    /// It is one without its ending or its package, or in other case: `app` for `app.py`, `shop` for `shop:app`.
    Stem,
    /// It is in one of the names.
    Part,
    /// It stands somewhere in the command line.
    CommandLine,
}

impl Program {
    pub(super) fn of(root: &ProcRoot, pid: Tid, comm: &[u8]) -> Program {
        let comm = bounded(comm);
        let file = std::fs::read_link(root.of(pid, "exe")).ok().and_then(|exe| {
            let name = exe.file_name()?.as_bytes();
            Some(bounded(name.strip_suffix(b" (deleted)").unwrap_or(name)))
        });
        let raw = read_at_most(&root.of(pid, "cmdline"), COMMAND_LINE).unwrap_or_default();
        let words: Vec<String> =
            raw.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(bounded).collect();
        let name = match words.as_slice() {
            // Written over by the process: its title.
            [title] => ProgramName::of_cmdline(title, Some(&comm)),
            words => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                ProgramName::of_arguments(&words, Some(&comm))
            }
        };
        Program { comm, file, name, command: without_secrets(&raw) }
    }

    /// What to call it.
    pub(super) fn shown(&self) -> &str {
        self.names().next().unwrap_or(&self.comm)
    }

    /// All its names, the best first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.name
            .names()
            .chain([self.comm.as_str()])
            .chain(self.file.as_deref())
            .filter(|name| !name.is_empty())
    }

    /// How well `wanted` names it; `None` where it does not.
    pub(super) fn fit(&self, wanted: &str) -> Option<Fit> {
        if wanted.is_empty() {
            return None;
        }
        if self.names().any(|name| name == wanted) {
            return Some(Fit::Whole);
        }
        let lower = wanted.to_lowercase();
        let named = |fits: &dyn Fn(&str) -> bool| self.names().any(|name| fits(&name.to_lowercase()));
        if named(&|name| stems(name).any(|stem| stem == lower)) {
            return Some(Fit::Stem);
        }
        if named(&|name| name.contains(&lower)) {
            return Some(Fit::Part);
        }
        let line = self.command.as_deref().unwrap_or_default().to_lowercase();
        line.contains(&lower).then_some(Fit::CommandLine)
    }
}

/// `shop.jar` and `shop`; `shop.wsgi:app` and `shop.wsgi`; `pkg.shop` and `shop`.
fn stems(name: &str) -> impl Iterator<Item = &str> {
    let before = [name.rsplit_once('.'), name.split_once(':')].into_iter().flatten().map(|(stem, _)| stem);
    let behind = name.rsplit_once('.').map(|(_, last)| last).filter(|last| last.len() > 3);
    [name].into_iter().chain(before).chain(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(comm: &str, words: &[&str]) -> Program {
        Program {
            comm: comm.to_string(),
            file: Some("python3.11".to_string()),
            name: ProgramName::of_arguments(words, Some(comm)),
            command: Some(words.join(" ")),
        }
    }

    #[test]
    fn as_a_person_names_it() {
        let app = program("python3", &["python3", "/srv/shop/app.py", "--config", "prod.yml"]);
        for (wanted, fit) in [
            ("app.py", Some(Fit::Whole)),
            ("/srv/shop/app.py", Some(Fit::Whole)),
            ("python3", Some(Fit::Whole)),
            ("python3.11", Some(Fit::Whole)),
            ("app", Some(Fit::Stem)),
            ("APP.PY", Some(Fit::Stem)),
            ("shop", Some(Fit::Part)),
            ("prod", Some(Fit::CommandLine)),
            ("redis", None),
            ("", None),
        ] {
            assert_eq!(app.fit(wanted), fit, "{wanted}");
        }
        assert_eq!(app.shown(), "app.py");
        let module = program("python3", &["python3", "-m", "acme.orders"]);
        assert_eq!((module.fit("acme.orders"), module.fit("orders")), (Some(Fit::Whole), Some(Fit::Stem)));
        let server = program("gunicorn", &["python3", "/usr/bin/gunicorn", "shop:app"]);
        assert_eq!(server.shown(), "gunicorn shop:app");
        for (wanted, fit) in [("gunicorn", Fit::Whole), ("shop:app", Fit::Whole), ("shop", Fit::Stem)] {
            assert_eq!(server.fit(wanted), Some(fit), "{wanted}");
        }
        // An editor that has the file open is no program of that name.
        let editor = program("vim", &["vim", "app.py"]);
        assert_eq!(editor.fit("app.py"), Some(Fit::CommandLine));
    }
}
