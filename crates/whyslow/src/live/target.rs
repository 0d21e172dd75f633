//! Whom to record: the selection looked up, named for people, and looked up again for who joins later.

use super::args::LiveArgs;
use crate::output::say;
use std::collections::BTreeSet;
use whyslow_record::target::{ProcRoot, Resolved, Selection};

/// The processes of a selection.
pub(super) struct Target {
    selection: Selection,
    root: ProcRoot,
    known: BTreeSet<u32>,
    /// True where later processes can belong to it without being children.
    joins: bool,
}

impl Target {
    /// Looks the selection up.
    pub(super) fn find(args: &LiveArgs) -> anyhow::Result<(Target, Resolved)> {
        let selection = args.selection();
        let root = ProcRoot::live();
        let resolved = selection.resolve(&root)?;
        for remark in &resolved.remarks {
            say!("whyslow: {}", crate::output::plain(remark));
        }
        let known = resolved.pids().into_iter().collect();
        let joins = !(selection.names.is_empty()
            && selection.cgroups.is_empty()
            && selection.containers.is_empty()
            && selection.units.is_empty()
            && selection.ports.is_empty());
        Ok((Target { selection, root, known, joins }, resolved))
    }

    /// Processes that belong to it by now and did not before.
    pub(super) fn joined(&mut self) -> Vec<u32> {
        if !self.joins {
            return Vec::new();
        }
        let Ok(now) = self.selection.resolve_again(&self.root) else {
            return Vec::new();
        };
        now.pids().into_iter().filter(|pid| self.known.insert(*pid)).collect()
    }

    /// False once none of its processes is there any more.
    pub(super) fn lives(&self) -> bool {
        self.selection.all || self.joins || self.known.iter().any(|pid| alive(*pid))
    }
}

/// Whether a process is there and no zombie. One whose first thread has ended lives on in the others, as for a moment does
/// one that runs a new program from another thread.
fn alive(pid: u32) -> bool {
    lives_by(&std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default())
}

/// By what proc_pid_stat(5) says: field 3 is the state of the first thread, field 20 the number of threads.
fn lives_by(stat: &str) -> bool {
    let Some((_, behind)) = stat.rsplit_once(')') else { return false };
    let mut fields = behind.split_ascii_whitespace();
    match fields.next() {
        None => false,
        Some("Z" | "X") => {
            fields.nth(16).and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 1)
        }
        Some(_) => true,
    }
}

/// The selection in words: `pid 4711 (java)`, `3 processes (nginx)`.
pub(super) fn in_words(resolved: &Resolved, all: bool) -> String {
    if all {
        return "all processes".to_string();
    }
    match resolved.processes.as_slice() {
        [one] => format!("pid {} ({})", one.pid, one.name),
        several => {
            let names: BTreeSet<&str> = several.iter().map(|process| process.name.as_str()).collect();
            let shown: Vec<&str> = names.iter().take(3).copied().collect();
            let more = if names.len() > shown.len() { ", …" } else { "" };
            format!("{} processes ({}{more})", several.len(), shown.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lives_by;

    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        let with = |state, threads| {
            lives_by(&format!("7 (a) b) {state} 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 {threads} 0 99 0"))
        };
        assert!(with("S", 1) && with("Z", 2));
        assert!(!with("Z", 1) && !with("Z", 0) && !lives_by(""));
    }
}
