//! Whom the agent records: each criterion looked up by itself, since one that fits nobody now may fit somebody later.

use crate::settings::AgentSettings;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use whyslow_record::target::{ProcRoot, Selection, TargetError};

/// Between two looks for who joined, at least.
const EVERY: Duration = Duration::from_secs(2);
/// Of the time that may go into these looks, one part in so many.
const SHARE: u32 = 1_000;

/// The processes that are meant.
pub(crate) struct Watched {
    criteria: Vec<Selection>,
    root: ProcRoot,
    known: BTreeSet<u32>,
    due: Instant,
    /// Criteria that fit nobody now, in words.
    pub(crate) missing: Vec<String>,
    all: bool,
}

impl Watched {
    pub(crate) fn of(settings: &AgentSettings) -> Watched {
        let whole = settings.selection();
        let one = || Selection { children: true, ..Selection::default() };
        let mut criteria = Vec::new();
        criteria.extend(whole.units.iter().map(|unit| Selection { units: vec![unit.clone()], ..one() }));
        criteria
            .extend(whole.containers.iter().map(|id| Selection { containers: vec![id.clone()], ..one() }));
        criteria.extend(whole.names.iter().map(|name| Selection { names: vec![name.clone()], ..one() }));
        criteria.extend(whole.ports.iter().map(|port| Selection { ports: vec![*port], ..one() }));
        criteria.extend(whole.cgroups.iter().map(|path| Selection { cgroups: vec![path.clone()], ..one() }));
        criteria.extend(whole.pids.iter().map(|pid| Selection { pids: vec![*pid], ..one() }));
        if whole.all {
            criteria = vec![Selection { all: true, ..one() }];
        }
        let (root, due) = (ProcRoot::live(), Instant::now());
        Watched { criteria, root, known: BTreeSet::new(), due, missing: Vec::new(), all: whole.all }
    }

    /// All that there are now.
    pub(crate) fn all_now(&mut self) -> Vec<u32> {
        self.known = self.look();
        self.known.iter().copied().collect()
    }

    /// Those that joined since, where it is time to look.
    pub(crate) fn joined(&mut self) -> Vec<u32> {
        // Of all processes the kernel's side takes in those that begin.
        if self.all || Instant::now() < self.due {
            return Vec::new();
        }
        let began = Instant::now();
        let now = self.look();
        let joined = now.difference(&self.known).copied().collect();
        self.known = now;
        self.due = Instant::now() + EVERY.max(began.elapsed() * SHARE);
        joined
    }

    fn look(&mut self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        self.missing.clear();
        for one in &self.criteria {
            match one.resolve_again(&self.root) {
                Ok(resolved) => found.extend(resolved.pids()),
                Err(TargetError::Ourselves { .. }) => {}
                Err(error) => self.missing.push(error.to_string()),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_later_joins_and_who_is_missing_is_told() {
        let name = format!("whyslow-watched-{}", std::process::id());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("started");
        let pids = vec![child.id()];
        let settings = AgentSettings { names: vec![name], pids, ..AgentSettings::default() };
        let mut watched = Watched::of(&settings);
        assert_eq!(watched.all_now(), [child.id()]);
        assert_eq!(watched.missing.len(), 1, "{:?}", watched.missing);
        watched.known.clear();
        assert_eq!(watched.joined(), [child.id()]);
        child.kill().and_then(|()| child.wait()).expect("ended");
        watched.due = Instant::now();
        assert!(watched.joined().is_empty() && watched.missing.len() == 2);
    }
}
