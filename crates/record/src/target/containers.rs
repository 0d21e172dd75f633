//! The names of containers, out of what their runtimes keep in files: Docker, containerd (Kubernetes), Podman and CRI-O.
//! No daemon is asked. Kubernetes' links to logs name pods for any runtime.

use super::root::{ProcRoot, read_at_most};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Read of a file that describes one container, and of one that describes all.
const ONE: u64 = 4 << 20;
const ALL: u64 = 64 << 20;
/// Names looked at in a directory at most.
const ENTRIES: usize = 20_000;

/// What a container goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// The name that its runtime shows, as given or made up: `web`, `shop-web-1`.
    pub(super) name: Option<String>,
    /// The pod, the service of a composition: several containers may have it.
    pub(super) groups: BTreeSet<String>,
}

impl Names {
    /// True where a person means it by `wanted`.
    pub(super) fn are(&self, wanted: &str) -> bool {
        let pod_and_name =
            |(pod, name): (&str, &str)| self.groups.contains(pod) && self.name.as_deref() == Some(name);
        self.name.as_deref() == Some(wanted)
            || self.groups.contains(wanted)
            || wanted.rsplit_once('/').is_some_and(pod_and_name)
    }

    fn take(&mut self, name: Option<String>, groups: impl IntoIterator<Item = String>) {
        let clean = |name: &str| name.trim_start_matches('/').to_string();
        self.name = self.name.take().or(name.as_deref().map(clean).filter(|name| !name.is_empty()));
        self.groups.extend(groups.into_iter().filter(|group| !group.is_empty()));
    }
}

/// The names of the containers `ids`, as far as they are told.
pub(super) fn names(root: &ProcRoot, ids: &BTreeSet<String>) -> BTreeMap<String, Names> {
    let mut found: BTreeMap<String, Names> = ids.iter().map(|id| (id.clone(), Names::default())).collect();
    let docker = docker_folder(root);
    let tasks = folders(&root.path("/run/containerd/io.containerd.runtime.v2.task"));
    for (id, names) in &mut found {
        if let Some(docker) = json::<Docker>(&docker.join("containers").join(id).join("config.v2.json"), ONE)
        {
            let compose = docker.config.labels.into_iter().filter(|(label, _)| label == COMPOSE);
            names.take(docker.name, compose.map(|(_, service)| service));
        }
        let podman = root.path("/run/containers/storage/overlay-containers").join(id).join("userdata");
        for folder in tasks.iter().map(|namespace| namespace.join(id)).chain([podman]) {
            if let Some(bundle) = json::<Bundle>(&folder.join("config.json"), ONE) {
                let of = |keys: &[&str]| keys.iter().find_map(|key| bundle.annotations.get(*key).cloned());
                names.take(of(CONTAINER_NAMES), of(POD_NAMES));
            }
        }
    }
    for list in podman_lists(root) {
        for container in json::<Vec<Podman>>(&list, ALL).unwrap_or_default() {
            if let Some(names) = found.get_mut(&container.id) {
                names.take(container.names.into_iter().next(), None);
            }
        }
    }
    for entry in entries(&root.path("/var/log/containers")) {
        // pod_namespace_container-ID.log: none of the names has an underscore.
        let parts = entry.file_name().and_then(|name| name.to_str()?.strip_suffix(".log")?.rsplit_once('-'));
        let Some((names, id)) = parts else { continue };
        let mut parts = names.split('_');
        if let (Some(known), Some(pod), Some(_), Some(name)) =
            (found.get_mut(id), parts.next(), parts.next(), parts.next())
        {
            known.take(Some(name.to_string()), [pod.to_string()]);
        }
    }
    found
}

/// Label of a service of Docker Compose.
const COMPOSE: &str = "com.docker.compose.service";
/// Annotations that containerd's and CRI-O's plugins for Kubernetes write.
const CONTAINER_NAMES: &[&str] =
    &["io.kubernetes.cri.container-name", "io.kubernetes.container.name", "nerdctl/name"];
const POD_NAMES: &[&str] = &["io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"];

/// `config.v2.json` of Docker.
#[derive(Deserialize)]
struct Docker {
    #[serde(rename = "Name")]
    name: Option<String>,
    #[serde(rename = "Config", default)]
    config: DockerConfig,
}

#[derive(Deserialize, Default)]
struct DockerConfig {
    #[serde(rename = "Labels", default, deserialize_with = "or_none")]
    labels: BTreeMap<String, String>,
}

/// Where Docker keeps its state: `data-root` of its configuration, else the usual place.
#[derive(Deserialize)]
struct DockerDaemon {
    #[serde(rename = "data-root")]
    data_root: Option<PathBuf>,
}

/// `config.json` of a bundle (OCI runtime specification).
#[derive(Deserialize)]
struct Bundle {
    #[serde(default, deserialize_with = "or_none")]
    annotations: BTreeMap<String, String>,
}

/// A row of Podman's and CRI-O's `containers.json`.
#[derive(Deserialize)]
struct Podman {
    id: String,
    #[serde(default, deserialize_with = "or_none")]
    names: Vec<String>,
}

/// `null` stands for nothing.
fn or_none<'de, T: Deserialize<'de> + Default, D: serde::Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

fn docker_folder(root: &ProcRoot) -> PathBuf {
    let told =
        json::<DockerDaemon>(&root.path("/etc/docker/daemon.json"), ONE).and_then(|daemon| daemon.data_root);
    root.path(told.unwrap_or_else(|| PathBuf::from("/var/lib/docker")))
}

/// Lists of root and of each user who runs containers without root.
fn podman_lists(root: &ProcRoot) -> Vec<PathBuf> {
    let below = |home: PathBuf| home.join(".local/share/containers/storage");
    let users = entries(&root.path("/home")).into_iter().map(below);
    let storages =
        [root.path("/var/lib/containers/storage"), below(root.path("/root"))].into_iter().chain(users);
    storages.map(|storage| storage.join("overlay-containers/containers.json")).collect()
}

/// Reads JSON; `None` where the file is not there, is none of that form, or is no plain file.
fn json<T: for<'de> Deserialize<'de>>(path: &Path, most: u64) -> Option<T> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    serde_json::from_slice(&read_at_most(path, most).ok()?).ok()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let visible = entries.flatten().filter(|entry| !entry.file_name().as_bytes().starts_with(b"."));
    visible.take(ENTRIES).map(|entry| entry.path()).collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> String {
        digit.to_string().repeat(64)
    }

    fn tree(files: &[(String, String)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        tree
    }

    #[test]
    fn each_runtime_tells_names() {
        let [docker, pod, podman, rootless, log] = ['a', 'b', 'c', 'd', 'e'].map(id);
        let tree = tree(&[
            (
                format!("data/containers/{docker}/config.v2.json"),
                format!(r#"{{"ID":"{docker}","Name":"/shop-web-1","Config":{{"Labels":{{"com.docker.compose.service":"web"}}}}}}"#),
            ),
            ("etc/docker/daemon.json".into(), r#"{"data-root":"/data"}"#.into()),
            (
                format!("run/containerd/io.containerd.runtime.v2.task/k8s.io/{pod}/config.json"),
                r#"{"ociVersion":"1.1.0","annotations":{"io.kubernetes.cri.container-name":"app","io.kubernetes.cri.sandbox-name":"shop-7d9f-x2"}}"#.into(),
            ),
            (
                "var/lib/containers/storage/overlay-containers/containers.json".into(),
                format!(r#"[{{"id":"{podman}","names":["db"],"layer":"x"}},{{"id":"other","names":null}}]"#),
            ),
            (
                "home/bob/.local/share/containers/storage/overlay-containers/containers.json".into(),
                format!(r#"[{{"id":"{rootless}","names":["cache"]}}]"#),
            ),
            (format!("var/log/containers/billing-0_prod_main-{log}.log"), String::new()),
        ]);
        let ids = [&docker, &pod, &podman, &rootless, &log].map(String::clone).into();
        let found = names(&ProcRoot::at(tree.path()), &ids);
        for (id, wanted) in [
            (&docker, &["shop-web-1", "web"][..]),
            (&pod, &["app", "shop-7d9f-x2", "shop-7d9f-x2/app"]),
            (&podman, &["db"]),
            (&rootless, &["cache"]),
            (&log, &["main", "billing-0"]),
        ] {
            for name in wanted {
                assert!(found[id].are(name), "{name} of {:?}", found[id]);
                assert_eq!(found.values().filter(|names| names.are(name)).count(), 1, "{name}");
            }
        }
        assert!(!found[&docker].are("shop") && !found[&docker].are(""));
    }

    #[test]
    fn damaged_files_tell_nothing() {
        let id = id('a');
        let file = format!("var/lib/docker/containers/{id}/config.v2.json");
        for text in ["", "{", "[]", r#"{"Name":7}"#, r#"{"Config":{"Labels":null}}"#, &"[".repeat(100_000)] {
            let tree = tree(&[
                (file.clone(), text.to_string()),
                ("var/lib/containers/storage/overlay-containers/containers.json".into(), text.to_string()),
                ("var/log/containers/no-id.log".into(), String::new()),
            ]);
            let found = names(&ProcRoot::at(tree.path()), &[id.clone()].into());
            assert_eq!(found[&id], Names::default(), "{text:.20}");
        }
    }
}
