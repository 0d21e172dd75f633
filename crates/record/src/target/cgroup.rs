//! Control groups: where the hierarchies are mounted, which groups a process is in, and the container or systemd
//! unit that a group's path names.

use super::root::{ProcRoot, bounded, decimal, read_at_most};
use super::wildcard;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use whyslow_model::Tid;
use whyslow_model::cgroup::container_of;

/// One hierarchy: the unified one (version 2), or that of some controllers of version 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// `cpu`, `cpuacct`, `name=systemd`; empty for the unified one.
    pub(super) controllers: Vec<String>,
    /// Where it is mounted, as the processes here see it.
    pub(super) mount: PathBuf,
}

/// A group that new processes may be born into, for the BPF side to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupDir {
    /// A controller of its hierarchy (`cpu`, `name=systemd`); `None` in the unified one (version 2).
    pub controller: Option<String>,
    /// The path below the hierarchy's mount point: `/system.slice/nginx.service`.
    pub path: String,
    /// The kernel's number of it, which is the inode number of its directory: `bpf_get_current_cgroup_id` for the
    /// unified hierarchy, `task->cgroups->subsys[…]->cgroup->kn->id` for another.
    pub id: u64,
}

/// One line of `/proc/PID/cgroup` (cgroups(7)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Membership {
    /// As in [`Hierarchy::controllers`].
    pub(super) controllers: Vec<String>,
    /// The path of the group.
    pub(super) path: String,
}

impl Membership {
    fn is_unified(&self) -> bool {
        self.controllers.is_empty()
    }
}

/// The groups that a process is in. Empty where that cannot be read.
pub(super) fn memberships(root: &ProcRoot, pid: Tid) -> Vec<Membership> {
    read_at_most(&root.of(pid, "cgroup"), 1 << 20).map_or(Vec::new(), |text| parse_memberships(&text))
}

/// `0::/path`, `4:memory:/path`, `2:cpu,cpuacct:/path`.
fn parse_memberships(text: &[u8]) -> Vec<Membership> {
    let line = |line: &[u8]| {
        let mut parts = line.splitn(3, |byte| *byte == b':');
        decimal::<u32>(parts.next()?)?;
        let controllers = parts.next()?.split(|byte| *byte == b',').filter(|name| !name.is_empty());
        let controllers = controllers.map(bounded).collect();
        let path = bounded(parts.next().filter(|path| path.first() == Some(&b'/'))?);
        Some(Membership { controllers, path })
    };
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// The path to show for a process: that of the unified hierarchy, unless it is the root one there and version 1 rules
/// (its cpu controller then, or any that knows more).
pub(super) fn path_of(groups: &[Membership]) -> Option<&str> {
    let unified = groups.iter().find(|group| group.is_unified());
    let cpu = groups.iter().find(|group| group.controllers.iter().any(|name| name == "cpu"));
    let telling = |group: &&Membership| group.path != "/";
    [unified, cpu]
        .into_iter()
        .flatten()
        .find(telling)
        .or_else(|| groups.iter().find(telling))
        .or(unified)
        .or(cpu)
        .map(|group| group.path.as_str())
}

/// The container that any of the groups names.
pub(super) fn container_of_groups(groups: &[Membership]) -> Option<&str> {
    groups.iter().find_map(|group| container_of(&group.path))
}

/// True where `path` is the group of the systemd unit `unit` (`nginx`, `nginx.service`, `nginx*`, `user-1000.slice`) or below
/// it.
pub(super) fn is_of_unit(path: &str, unit: &str) -> bool {
    path.split('/').filter(|part| !part.is_empty()).any(|part| {
        wildcard::matches(unit, part)
            || part.strip_prefix(unit).is_some_and(|rest| matches!(rest, ".service" | ".scope" | ".slice"))
    })
}

/// True where `path` is the group `group` or below it.
pub(super) fn is_below(path: &str, group: &str) -> bool {
    let group = group.trim_end_matches('/');
    path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The hierarchies that are mounted.
pub(super) fn hierarchies(root: &ProcRoot) -> Vec<Hierarchy> {
    // A host mounts thousands of file systems when it runs hundreds of containers; its own groups come first.
    let text = read_at_most(&root.path("/proc/mounts"), 4 << 20).unwrap_or_default();
    let mut found: Vec<Hierarchy> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut words = line.split(|byte| *byte == b' ').skip(1);
        let (Some(mount), Some(kind), Some(options)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let controllers = match kind {
            b"cgroup2" => Vec::new(),
            b"cgroup" => {
                options.split(|byte| *byte == b',').filter(|name| is_controller(name)).map(bounded).collect()
            }
            _ => continue,
        };
        if kind == b"cgroup" && controllers.is_empty()
            || found.iter().any(|known| known.controllers == controllers)
        {
            continue;
        }
        // A blank in a mount point stands as `\040`.
        found.push(Hierarchy { controllers, mount: PathBuf::from(bounded(mount).replace("\\040", " ")) });
    }
    found
}

/// An option that is none of the mount's own (cgroups(7), mount(8)).
fn is_controller(option: &[u8]) -> bool {
    !matches!(
        option,
        b"rw"
            | b"ro"
            | b"relatime"
            | b"noatime"
            | b"nosuid"
            | b"nodev"
            | b"noexec"
            | b"xattr"
            | b"clone_children"
            | b"none"
            | b"all"
            | b"noprefix"
            | b"seclabel"
            | b"cpuset_v2_mode"
    ) && !option.starts_with(b"release_agent=")
}

impl Hierarchy {
    /// The group at `path` in it, if there is one.
    pub(super) fn group(&self, root: &ProcRoot, path: &str) -> Option<CgroupDir> {
        // Nothing outside of the hierarchy.
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        let directory = root.path(self.mount.join(path.trim_start_matches('/')));
        let meta = std::fs::metadata(directory).ok().filter(|meta| meta.is_dir())?;
        let path = path.trim_matches('/');
        Some(CgroupDir {
            controller: self.controllers.first().cloned(),
            path: format!("/{path}"),
            id: meta.ino(),
        })
    }
}

/// The groups that `wanted` means: a directory below a mount point (one group), or a path, which several hierarchies
/// may have.
pub(super) fn groups_named(root: &ProcRoot, hierarchies: &[Hierarchy], wanted: &str) -> Vec<CgroupDir> {
    // The innermost mount point: `/sys/fs/cgroup` may be a tmpfs or the unified hierarchy above the others.
    let below = hierarchies
        .iter()
        .filter_map(|hierarchy| {
            let rest = Path::new(wanted).strip_prefix(&hierarchy.mount).ok()?;
            Some((hierarchy, rest.to_str()?))
        })
        .max_by_key(|(hierarchy, _)| hierarchy.mount.as_os_str().len());
    match below {
        Some((hierarchy, path)) => hierarchy.group(root, path).into_iter().collect(),
        None => hierarchies.iter().filter_map(|hierarchy| hierarchy.group(root, wanted)).collect(),
    }
}

/// True where a process of these memberships is in the group, or below it.
pub(super) fn is_in(groups: &[Membership], group: &CgroupDir) -> bool {
    groups.iter().any(|own| {
        let same = match &group.controller {
            Some(controller) => own.controllers.contains(controller),
            None => own.is_unified(),
        };
        same && is_below(&own.path, &group.path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_paths() {
        let path = "/system.slice/system-postgresql.slice/postgresql@15-main.service";
        assert!(is_of_unit(path, "postgresql@15-main") && is_of_unit(path, "system-postgresql.slice"));
        assert!(is_of_unit(path, "postgresql@*.service") && is_of_unit(path, "*-main*"));
        assert!(!is_of_unit(path, "postgresql") && !is_of_unit(path, "") && !is_of_unit(path, "nginx*"));
        assert!(
            is_below("/a/b", "/a") && is_below("/a", "/a/") && is_below("/a", "/") && !is_below("/ab", "/a")
        );
    }

    #[test]
    fn memberships_of_both_versions() {
        let groups =
            parse_memberships(b"4:memory:/m/1\n2:cpu,cpuacct:/c\n9:name=systemd:/s:x\n0::/\nrubbish\n");
        assert_eq!(groups.len(), 4);
        assert_eq!((groups[1].controllers.len(), groups[2].path.as_str()), (2, "/s:x"));
        assert_eq!(path_of(&groups), Some("/c"));
        assert_eq!(path_of(&groups[3..]), Some("/"));
        assert_eq!(path_of(&groups[..1]), Some("/m/1"));
        assert_eq!(path_of(&[]), None);
    }

    #[test]
    fn groups_of_this_machine() {
        let root = ProcRoot::live();
        let hierarchies = hierarchies(&root);
        if hierarchies.is_empty() {
            return println!("skipped: no control groups are mounted");
        }
        let own = memberships(&root, std::process::id());
        for hierarchy in &hierarchies {
            let Some(own) = own.iter().find(|own| own.controllers == hierarchy.controllers) else { continue };
            let Some(group) = hierarchy.group(&root, &own.path) else {
                println!("skipped: {} shows another part of the tree", hierarchy.mount.display());
                continue;
            };
            assert!(group.id > 0 && is_in(std::slice::from_ref(own), &group), "{group:?}");
            let directory = hierarchy.mount.join(own.path.trim_start_matches('/'));
            let named = groups_named(&root, &hierarchies, directory.to_str().expect("UTF-8"));
            assert_eq!(named, [group]);
        }
    }
}
