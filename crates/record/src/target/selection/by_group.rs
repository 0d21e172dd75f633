//! Processes by their control group: by its path, the container or the systemd unit whose it is.

use super::super::{containers, wildcard};
use super::*;
use whyslow_model::cgroup::container_of;

/// Containers named in an error.
const LISTED: usize = 8;

impl Search<'_> {
    pub(super) fn in_cgroup(&mut self, path: &str) -> Result<(), TargetError> {
        let root = self.root;
        if wildcard::is_pattern(path) {
            return self.in_cgroups_like(path);
        }
        let host = self.host()?;
        let groups = cgroup::groups_named(root, &host.hierarchies, path);
        if groups.is_empty() {
            return Err(self.no_cgroup(path)?);
        }
        let found =
            host.candidates_where(|candidate| groups.iter().any(|g| cgroup::is_in(&candidate.groups, g)));
        if found.is_empty() {
            return Err(TargetError::EmptyCgroup { path: path.to_string() });
        }
        self.choose(found);
        self.resolved.later.cgroups.extend(groups);
        Ok(())
    }

    fn no_cgroup(&mut self, path: &str) -> Result<TargetError, TargetError> {
        let there = self.host()?.candidates.iter().flat_map(|candidate| &candidate.groups);
        let near = near(path, there.map(|group| group.path.clone()).filter(|path| path != "/").collect());
        Ok(TargetError::NoCgroup { path: path.to_string(), near })
    }

    /// `pattern` is that of a path as /proc/PID/cgroup shows it, or of a directory below a mount point.
    fn in_cgroups_like(&mut self, pattern: &str) -> Result<(), TargetError> {
        let mounts = self.host()?.hierarchies.iter().map(|hierarchy| hierarchy.mount.clone());
        // The innermost: `/sys/fs/cgroup` may be above the others.
        let below = mounts
            .filter_map(|mount| pattern.strip_prefix(mount.to_str()?).filter(|rest| rest.starts_with('/')))
            .min_by_key(|rest| rest.len());
        let wanted = below.unwrap_or(pattern).trim_end_matches('/').to_string();
        let found = self.groups_where(|group| {
            let ends = group.path.match_indices('/').map(|(at, _)| at).skip(1).chain([group.path.len()]);
            ends.into_iter()
                .any(|end| group.path.get(..end).is_some_and(|path| wildcard::matches(&wanted, path)))
        })?;
        if found == 0 { Err(self.no_cgroup(pattern)?) } else { Ok(()) }
    }

    pub(super) fn in_container(&mut self, wanted: &str) -> Result<(), TargetError> {
        let root = self.root;
        let host = self.host()?;
        let container =
            |candidate: &Candidate| cgroup::container_of_groups(&candidate.groups).map(str::to_string);
        let known: BTreeSet<String> = host.candidates.iter().filter_map(container).collect();
        let names = containers::names(root, &known);
        let called = |id: &String| {
            let short: String = id.chars().take(12).collect();
            match names.get(id).and_then(|names| names.name.as_deref()) {
                Some(name) => format!("{short} ({name})"),
                None => short,
            }
        };
        let mut found: Vec<&String> =
            names.iter().filter(|(_, names)| names.are(wanted)).map(|(id, _)| id).collect();
        let pod = found.len() > 1 && found.iter().all(|id| names[*id].groups.contains(wanted));
        if found.is_empty() {
            let digits = wanted.to_ascii_lowercase();
            found = known.iter().filter(|id| !wanted.is_empty() && id.starts_with(&digits)).collect();
        }
        if found.is_empty() {
            found = host
                .candidates
                .iter()
                .filter(|candidate| calls_itself(root, candidate.pid, wanted))
                .filter_map(|candidate| known.get(cgroup::container_of_groups(&candidate.groups)?))
                .collect();
            found.sort();
            found.dedup();
        }
        match found.as_slice() {
            [] => {
                let known = known.iter().take(LISTED).map(called).collect();
                return Err(TargetError::NoContainer { id: wanted.to_string(), known });
            }
            [_] => {}
            several if pod => {
                let ids: Vec<String> = several.iter().map(|id| called(id)).collect();
                let text =
                    format!("{wanted:?} has {} containers: all are recorded ({})", ids.len(), ids.join(", "));
                self.resolved.remarks.push(text);
            }
            several => {
                let found = several.iter().take(LISTED).map(|id| called(id)).collect();
                return Err(TargetError::AmbiguousContainer { id: wanted.to_string(), found });
            }
        }
        let ids: Vec<String> = found.into_iter().cloned().collect();
        self.groups_where(|group| {
            container_of(&group.path).is_some_and(|id| ids.iter().any(|wanted| wanted == id))
        })?;
        Ok(())
    }

    pub(super) fn of_unit(&mut self, unit: &str) -> Result<(), TargetError> {
        if self.groups_where(|group| cgroup::is_of_unit(&group.path, unit))? > 0 {
            return Ok(());
        }
        let host = self.host()?;
        let paths =
            host.candidates.iter().flat_map(|candidate| &candidate.groups).map(|group| group.path.as_str());
        let units: BTreeSet<String> = paths
            .flat_map(|path| path.split('/'))
            .filter(|part| part.contains('.'))
            .map(str::to_string)
            .collect();
        Err(TargetError::NoUnit { unit: unit.to_string(), near: near(unit, units) })
    }

    /// Chooses the processes that are in a group which `matches`, and remembers these groups for later ones. How many.
    fn groups_where(&mut self, matches: impl Fn(&Membership) -> bool) -> Result<usize, TargetError> {
        let root = self.root;
        let host = self.host()?;
        let found = host.candidates_where(|candidate| candidate.groups.iter().any(&matches));
        let groups =
            host.candidates.iter().flat_map(|candidate| &candidate.groups).filter(|group| matches(group));
        let matching: BTreeSet<(&[String], &str)> =
            groups.map(|group| (group.controllers.as_slice(), group.path.as_str())).collect();
        let directories = matching.into_iter().filter_map(|(controllers, path)| {
            let hierarchy = host.hierarchies.iter().find(|hierarchy| hierarchy.controllers == controllers)?;
            hierarchy.group(root, path)
        });
        let directories: Vec<CgroupDir> = directories.collect();
        let count = found.len();
        self.resolved.later.cgroups.extend(directories);
        self.choose(found);
        Ok(count)
    }
}

/// True where the environment of a process has that name for its host: Kubernetes puts the pod's there, Docker what
/// `--hostname` says.
fn calls_itself(root: &ProcRoot, pid: Tid, wanted: &str) -> bool {
    /// Variables are few and short where a runtime writes them; this one comes early.
    const ENVIRONMENT: u64 = 64 << 10;
    let environment =
        super::super::root::read_at_most(&root.of(pid, "environ"), ENVIRONMENT).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| variable.strip_prefix(b"HOSTNAME="))
        .any(|name| !wanted.is_empty() && name == wanted.as_bytes())
}
