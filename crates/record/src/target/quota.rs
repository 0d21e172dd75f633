//! Control groups that may use only so much CPU time, and how often and how long the kernel stopped them for it.

use super::cgroup::{Hierarchy, hierarchies, memberships};
use super::root::{ProcRoot, decimal, read_at_most};
use std::path::{Path, PathBuf};
use whyslow_model::Tid;

/// A control group with a CPU quota.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuotaGroup {
    /// Its path below the root of the hierarchy.
    pub(crate) path: String,
    /// CPUs that it may use.
    pub(crate) cpus: f64,
    /// Its `cpu.stat`.
    stat: PathBuf,
}

/// What `cpu.stat` counts (Documentation/scheduler/sched-bwc.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Throttling {
    /// Periods in which the group ran.
    pub(crate) periods: u64,
    /// Of these, the ones in which it was stopped.
    pub(crate) stopped_periods: u64,
    /// How long it was stopped, over all CPUs, ns. The kernel counts a stop when it ends.
    pub(crate) stopped_ns: u64,
}

impl QuotaGroup {
    /// The counters now; `None` where they cannot be read: the group is gone.
    pub(crate) fn throttling(&self) -> Option<Throttling> {
        parse_stat(&read_at_most(&self.stat, 4 << 10).ok()?)
    }
}

/// `nr_periods 8`, and in version 1 `throttled_time` in ns, in version 2 `throttled_usec`.
fn parse_stat(text: &[u8]) -> Option<Throttling> {
    let value = |name: &str| {
        let mut lines = text.split(|byte| *byte == b'\n');
        lines.find_map(|line| decimal::<u64>(line.strip_prefix(name.as_bytes())?.strip_prefix(b" ")?))
    };
    let stopped_ns =
        value("throttled_time").or_else(|| value("throttled_usec").map(|us| us.saturating_mul(1_000)));
    Some(Throttling {
        periods: value("nr_periods")?,
        stopped_periods: value("nr_throttled")?,
        stopped_ns: stopped_ns?,
    })
}

/// Where CPU time is shared out.
#[derive(Debug)]
pub(crate) struct CpuGroups {
    root: ProcRoot,
    /// `None` where it is not mounted.
    hierarchy: Option<Hierarchy>,
}

impl CpuGroups {
    /// Groups of one path, from the process's own up to the root.
    const MAX_DEPTH: usize = 32;

    /// Of that system.
    pub(crate) fn of(root: ProcRoot) -> CpuGroups {
        let mounted = hierarchies(&root);
        let is_cpu = |hierarchy: &&Hierarchy| hierarchy.controllers.iter().any(|name| name == "cpu");
        let unified = || mounted.iter().find(|hierarchy| hierarchy.controllers.is_empty());
        let hierarchy = mounted.iter().find(is_cpu).or_else(unified).cloned();
        CpuGroups { root, hierarchy }
    }

    /// The group of a process, by its path.
    pub(crate) fn of_process(&self, pid: Tid) -> Option<String> {
        let hierarchy = self.hierarchy.as_ref()?;
        let own = memberships(&self.root, pid);
        own.into_iter().find(|group| group.controllers == hierarchy.controllers).map(|group| group.path)
    }

    /// Of a group and those around it, the ones with a quota.
    pub(crate) fn with_quota(&self, path: &str) -> Vec<QuotaGroup> {
        let Some(hierarchy) = &self.hierarchy else { return Vec::new() };
        let around = Path::new(path).ancestors().take(Self::MAX_DEPTH).filter_map(Path::to_str);
        around.filter_map(|path| self.quota(hierarchy, path)).collect()
    }

    fn quota(&self, hierarchy: &Hierarchy, path: &str) -> Option<QuotaGroup> {
        // Above the root of our name space nothing can be read.
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        let directory = self.root.path(hierarchy.mount.join(path.trim_start_matches('/')));
        let words = |file: &str| read_at_most(&directory.join(file), 256).ok();
        let first = |text: Vec<u8>| text.split(|byte| byte.is_ascii_whitespace()).next().map(<[u8]>::to_vec);
        let (quota, period) = if hierarchy.controllers.is_empty() {
            let text = words("cpu.max")?;
            let mut words = text.split(|byte| byte.is_ascii_whitespace());
            (words.next()?.to_vec(), words.next()?.to_vec())
        } else {
            (first(words("cpu.cfs_quota_us")?)?, first(words("cpu.cfs_period_us")?)?)
        };
        // `max` and -1 stand for none.
        let (quota, period) = (decimal::<u64>(&quota)?, decimal::<u64>(&period).filter(|us| *us > 0)?);
        Some(QuotaGroup {
            path: path.to_string(),
            cpus: quota as f64 / period as f64,
            stat: directory.join("cpu.stat"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(mounts: &str, own: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/mounts", mounts);
        write("proc/7/cgroup", own);
        files.iter().for_each(|(path, text)| write(path, text));
        root
    }

    #[test]
    fn version_2_has_quotas_at_several_heights() {
        let root = tree(
            "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
            "0::/pod/app\n",
            &[
                ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
                ("sys/fs/cgroup/pod/app/cpu.max", "max 100000\n"),
                (
                    "sys/fs/cgroup/pod/cpu.stat",
                    "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 250\n",
                ),
            ],
        );
        let groups = CpuGroups::of(ProcRoot::at(root.path()));
        assert_eq!(groups.of_process(7).as_deref(), Some("/pod/app"));
        let found = groups.with_quota("/pod/app");
        assert_eq!(found.iter().map(|group| (&*group.path, group.cpus)).collect::<Vec<_>>(), [("/pod", 1.5)]);
        let told = Throttling { periods: 10, stopped_periods: 4, stopped_ns: 250_000 };
        assert_eq!(found[0].throttling(), Some(told));
    }

    #[test]
    fn version_1_rules_where_it_has_the_cpu() {
        let root = tree(
            "cgroup2 /u cgroup2 rw 0 0\ncgroup /c cgroup rw,cpu,cpuacct 0 0\n",
            "3:cpu,cpuacct:/app\n0::/other\n",
            &[
                ("c/cpu.cfs_quota_us", "-1\n"),
                ("c/cpu.cfs_period_us", "100000\n"),
                ("c/app/cpu.cfs_quota_us", "20000\n"),
                ("c/app/cpu.cfs_period_us", "100000\n"),
                ("c/app/cpu.stat", "nr_periods 3\nnr_throttled 0\nthrottled_time 0\nnr_bursts 0\n"),
            ],
        );
        let groups = CpuGroups::of(ProcRoot::at(root.path()));
        let found = groups.with_quota(&groups.of_process(7).unwrap());
        assert_eq!(found.iter().map(|group| (&*group.path, group.cpus)).collect::<Vec<_>>(), [("/app", 0.2)]);
        assert_eq!(found[0].throttling().map(|told| told.periods), Some(3));
    }

    #[test]
    fn what_cannot_be_read_is_no_quota() {
        let nothing = tree("", "0::/\n", &[]);
        let groups = CpuGroups::of(ProcRoot::at(nothing.path()));
        assert_eq!((groups.of_process(7), groups.with_quota("/")), (None, Vec::new()));
        let odd = tree(
            "cgroup2 /u cgroup2 rw 0 0\n",
            "0::/../x\n",
            &[("u/cpu.max", "5 0\n"), ("u/cpu.stat", "nr_periods x\n")],
        );
        assert_eq!(CpuGroups::of(ProcRoot::at(odd.path())).with_quota("/../x"), Vec::new());
        assert_eq!(parse_stat(b"nr_periods 1\nnr_throttled 1\n"), None);
    }
}
