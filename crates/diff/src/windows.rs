//! What may be said about time: whole runs, windows of known length, or nothing.

use whyslow_facts::Facts;
use whyslow_model::Nanos;

/// The two windows.
pub(super) struct Windows {
    before: Nanos,
    after: Nanos,
    /// Both captures show a program from its start to its end.
    pub(super) whole_runs: bool,
    tables: bool,
}

impl Windows {
    pub(super) fn of(before: &Facts, after: &Facts) -> Windows {
        Windows {
            before: before.window.length(),
            after: after.window.length(),
            whole_runs: is_whole_run(before) && is_whole_run(after),
            tables: [before, after].iter().any(|facts| facts.world.calls == 0 && !facts.tables.is_empty()),
        }
    }

    /// Both lengths in ns, where both are known and not nothing.
    pub(super) fn lengths(&self) -> Option<(f64, f64)> {
        let (before, after) = (self.before.get()?, self.after.get()?);
        (before > 0 && after > 0).then_some((before as f64, after as f64))
    }

    /// How much longer the second was watched: counts are set in relation to it. Whole runs need none: their
    /// length is part of what is compared.
    pub(super) fn exposure(&self) -> f64 {
        match self.lengths() {
            Some((before, after)) if !self.whole_runs => after / before,
            _ => 1.0,
        }
    }

    /// Why nothing is said about speed, where it is not.
    pub(super) fn refusal(&self) -> Option<String> {
        if self.lengths().is_some() {
            return None;
        }
        let known = |ns: Nanos| ns.or_zero() > 0;
        let which = match (known(self.before), known(self.after)) {
            (false, false) => "how long either capture lasted is unknown",
            (false, true) => "how long the first capture lasted is unknown",
            _ => "how long the second capture lasted is unknown",
        };
        let why = if self.tables { " (a table of strace -c does not tell it)" } else { "" };
        Some(format!(
            "No rate and no speed-up is claimed: {which}{why}. Record both with strace -f -ttT -o FILE for the same \
             time, or over the same work."
        ))
    }
}

/// True where every program that is traced starts and ends within the capture.
fn is_whole_run(facts: &Facts) -> bool {
    let mut traced = facts
        .world
        .threads
        .processes()
        .map(|(_, process)| process)
        .filter(|process| process.threads > 0 && process.parent.is_none());
    let first = traced.next();
    first.is_some_and(|first| first.started && first.exited)
        && traced.all(|other| other.started && other.exited)
}
