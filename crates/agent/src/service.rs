//! Which service a process is of, and which version of it runs.

use std::io::Read;
use std::path::{Path, PathBuf};
use whyslow_model::cgroup::unit_of;
use whyslow_model::{ProcessInfo, ProgramName, visible};

/// Read of a process's environment at most; the kernel's own limit of arguments and environment is larger.
const MOST_ENVIRONMENT: u64 = 256 << 10;
/// Letters of a version at most: a longer one is another thing.
const LONGEST_VERSION: usize = 64;
/// Digits of a build-id that stand for a version.
const BUILD_ID_DIGITS: usize = 12;

/// The service of a process: its systemd unit, else its container, else its program.
pub(crate) fn service_of(info: &ProcessInfo) -> String {
    let unit = info.cgroup.as_deref().and_then(unit_of).filter(|unit| is_a_service(unit));
    if let Some(unit) = unit {
        return unit.strip_suffix(".service").unwrap_or(unit).to_string();
    }
    match &info.container {
        Some(id) => id.clone(),
        None => program_of(info),
    }
}

/// All that a user runs is below one of the others.
fn is_a_service(unit: &str) -> bool {
    unit.ends_with(".service") && !unit.starts_with("user@")
}

/// What people call its program: of an interpreter the script.
pub(crate) fn program_of(info: &ProcessInfo) -> String {
    let comm = info.comm.as_deref();
    let started = ProgramName::of_cmdline(info.cmdline.as_deref().unwrap_or_default(), comm);
    let file = info.exe.as_deref().map(|exe| exe.rsplit('/').next().unwrap_or(exe));
    let name = started.script.as_deref().or(started.under.as_deref()).or(file).or(comm).unwrap_or("unknown");
    visible::line(name).into_owned()
}

/// The version of a process that lives: what its environment says, else the begin of its program's build-id. Unknown where it has ended.
pub(crate) fn version_of(pid: u32) -> Option<String> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let mut environment = Vec::new();
    if let Ok(file) = std::fs::File::open(folder.join("environ")) {
        // What was read before an error counts.
        let _ = file.take(MOST_ENVIRONMENT).read_to_end(&mut environment);
    }
    version_in(&environment).or_else(|| build_id(&folder.join("exe")))
}

/// The version that an environment names: `OTEL_SERVICE_VERSION` before others.
fn version_in(environment: &[u8]) -> Option<String> {
    /// Versions of what most programs have in their environment and are not of the program.
    const OTHERS: [&str; 9] = ["PYTHON_", "NODE_", "RUBY_", "JAVA_", "GO", "BASH_", "PHP_", "NPM_", "YARN_"];
    let pairs = environment
        .split(|byte| *byte == 0)
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='));
    let pairs: Vec<(&str, &str)> = pairs.filter(|(_, value)| is_version(value)).collect();
    let named = pairs.iter().find(|(name, _)| *name == "OTEL_SERVICE_VERSION").or_else(|| {
        let told = |(name, _): &&(&str, &str)| {
            matches!(*name, "VERSION" | "APP_VERSION" | "SERVICE_VERSION" | "IMAGE_TAG")
                || name.ends_with("_VERSION") && !OTHERS.iter().any(|other| name.starts_with(other))
        };
        pairs
            .iter()
            .find(|pair| matches!(pair.0, "APP_VERSION" | "SERVICE_VERSION" | "VERSION" | "IMAGE_TAG"))
            .or_else(|| pairs.iter().find(told))
    });
    named.map(|(_, value)| (*value).to_string())
}

/// A short word with a digit, that is no secret by its length and its letters: `1.8.2`, `v3`, `2026-11-27`, `a1b2c3d`.
fn is_version(value: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_');
    (1..=LONGEST_VERSION).contains(&value.len())
        && value.bytes().all(letters)
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && whyslow_privacy::redact(value) == value
}

/// The begin of the build-id of a program.
fn build_id(program: &Path) -> Option<String> {
    let id = whyslow_record::build_id(program)?;
    let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(digits.get(..BUILD_ID_DIGITS)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(cgroup: &str, container: Option<&str>, cmdline: &str, comm: &str) -> ProcessInfo {
        ProcessInfo {
            pid: 7,
            comm: Some(comm.into()),
            cmdline: Some(cmdline.into()),
            cgroup: Some(cgroup.into()),
            container: container.map(str::to_string),
            ..ProcessInfo::default()
        }
    }

    #[test]
    fn a_service_is_a_unit_a_container_or_a_program() {
        for (cgroup, container, cmdline, comm, service) in [
            ("/system.slice/nginx.service", None, "nginx: worker process", "nginx", "nginx"),
            ("/docker/3f4e", Some("3f4e5d6c7b8a"), "python3 app.py", "python3", "3f4e5d6c7b8a"),
            (
                "/user.slice/user-0.slice/session-4.scope",
                None,
                "python3 /srv/app.py --port 1",
                "python3",
                "app.py",
            ),
            ("/user.slice/user@0.service", None, "/usr/bin/orderd -x", "orderd", "orderd"),
            ("/", None, "", "kworker", "kworker"),
        ] {
            assert_eq!(service_of(&process(cgroup, container, cmdline, comm)), service);
        }
    }

    #[test]
    fn a_version_is_told_by_the_environment_and_is_no_secret() {
        let version = |text: &str| version_in(text.replace(' ', "\0").as_bytes());
        assert_eq!(version("SHOP_VERSION=1.8 OTEL_SERVICE_VERSION=2.0.1").as_deref(), Some("2.0.1"));
        assert_eq!(version("PYTHON_VERSION=3.11 SHOP_VERSION=1.8").as_deref(), Some("1.8"));
        assert_eq!(version("PYTHON_VERSION=3.11 PATH=/bin"), None);
        assert_eq!(version("APP_VERSION=https://x:y@z/1"), None);
        assert_eq!(version("APP_VERSION=latest"), None);
    }

    #[test]
    fn a_program_that_lives_has_a_version_or_none() {
        let version = version_of(std::process::id());
        assert!(version.is_none_or(|version| !version.is_empty()));
        assert_eq!(version_of(u32::MAX), None);
    }
}
