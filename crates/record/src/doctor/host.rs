//! Where this is, and what else a diagnosis can look at.

use super::machine::Machine;
use super::{Answer, Area, Check, NeededFor};
use crate::namespace::{FIRST_PID_NAMESPACE, PID_NAMESPACE};

/// Why this looks like a container; `None` where it does not.
pub(super) fn container(machine: &Machine) -> Option<String> {
    for (file, kind) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if machine.exists(file) {
            return Some(format!("{kind} ({file})"));
        }
    }
    if let Some(space) = machine.link(PID_NAMESPACE).filter(|space| space != FIRST_PID_NAMESPACE) {
        return Some(format!("a namespace of processes of its own ({space})"));
    }
    let groups = machine.read("/proc/1/cgroup").ok()?;
    let marks = ["/docker", "/kubepods", "/lxc", "/libpod", "/containerd", "/machine.slice"];
    let mark = marks.iter().find(|mark| groups.contains(*mark))?;
    Some(format!("{mark} in /proc/1/cgroup"))
}

pub(super) static CONTAINER: Check = Check {
    name: "container",
    area: Area::Host,
    need: NeededFor::Context,
    look: |machine| match container(machine) {
        Some(sign) if machine.link(PID_NAMESPACE).as_deref() == Some(FIRST_PID_NAMESPACE) => {
            let found = format!("{sign}, with the host's processes");
            Answer::ok(found, "all processes of the host are visible")
        }
        Some(sign) => Answer::ok(
            sign,
            "only this container's processes can be named by number; BPF needs rights over the host",
        ),
        None => Answer::ok("no sign of one", "all processes of the host are visible"),
    },
};

pub(super) static CGROUPS: Check = Check {
    name: "control groups",
    area: Area::Host,
    need: NeededFor::Extra,
    look: |machine| {
        let Ok(mounts) = machine.read("/proc/self/mountinfo") else {
            return Answer::unknown(
                "/proc/self/mountinfo cannot be read",
                "perhaps no limits and throttling",
            );
        };
        // ... mount point (5th) ... - type source options (proc(5)).
        let of_type = |wanted: &str| {
            mounts.lines().any(|line| {
                let behind = line.split_once(" - ").map(|(_, behind)| behind);
                behind.and_then(|behind| behind.split(' ').next()) == Some(wanted)
            })
        };
        match (of_type("cgroup"), of_type("cgroup2")) {
            (false, true) => Answer::ok("v2", "throttling and limits are known"),
            (true, false) => Answer::ok("v1", "throttling and limits are known; pressure of a group is not"),
            (true, true) => Answer::ok(
                "v1 and v2",
                "throttling and limits are known from v1; groups are told apart by v2",
            ),
            (false, false) => Answer::missing(
                "none is mounted",
                "no throttling, no limits, no choice by group or container",
            )
            .remedy("sudo mount -t cgroup2 none /sys/fs/cgroup"),
        }
    },
};

pub(super) static DELAY_ACCOUNTING: Check = Check {
    name: "delay accounting",
    area: Area::Host,
    need: NeededFor::Extra,
    look: |machine| match machine.number("/proc/sys/kernel/task_delayacct") {
        Some(0) => Answer::missing(
            "kernel.task_delayacct = 0",
            "without BPF: no time waited for disks and swap, a process",
        )
        .remedy("sudo sysctl kernel.task_delayacct=1"),
        Some(value) => {
            Answer::ok(format!("kernel.task_delayacct = {value}"), "time waited for disks and swap is known")
        }
        None => Answer::unknown(
            "no kernel.task_delayacct",
            "without BPF: perhaps no time waited for disks and swap",
        ),
    },
};

pub(super) static PRESSURE: Check = Check {
    name: "pressure",
    area: Area::Host,
    need: NeededFor::Extra,
    look: |machine| match machine.read("/proc/pressure/cpu") {
        Ok(_) => Answer::ok("/proc/pressure", "shortage of CPU, memory and disks is known"),
        Err(_) if machine.exists("/proc/pressure") => {
            Answer::missing("/proc/pressure cannot be read", "shortage of CPU, memory and disks is not known")
                .remedy("boot with psi=1")
        }
        Err(_) => Answer::missing("no /proc/pressure", "shortage of CPU, memory and disks is not known")
            .remedy("boot with psi=1, on a kernel of 4.20 or later"),
    },
};

/// What the rings and our own state take at most, kB; with room for the program that is recorded.
const WANTED_KB: u64 = 512 << 10;

pub(super) static MEMORY: Check = Check {
    name: "memory",
    area: Area::Host,
    need: NeededFor::Extra,
    look: |machine| {
        let text = machine.read("/proc/meminfo").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
        let available: Option<u64> =
            line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
        match available {
            None => {
                Answer::unknown("MemAvailable is not told", "a recording takes about 100 MiB for its rings")
            }
            Some(kb) if kb < WANTED_KB => Answer::missing(
                format!("{} MiB available", kb >> 10),
                "a recording takes about 100 MiB for its rings: the program may suffer",
            )
            .remedy("free some memory before you record"),
            Some(kb) => {
                Answer::ok(format!("{} MiB available", kb >> 10), "room for the rings of a recording")
            }
        }
    },
};

/// Descriptors that a recording may need: maps, links, perf events of each CPU, files.
const WANTED_FILES: u64 = 512;

pub(super) static OPEN_FILES: Check = Check {
    name: "open files",
    area: Area::Host,
    need: NeededFor::Extra,
    look: |machine| {
        let limits = machine.read("/proc/self/limits").unwrap_or_default();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        let soft = line.and_then(|line| line.split_ascii_whitespace().next());
        let means = "room for programs, rings and files";
        match soft.map(str::parse::<u64>) {
            Some(Ok(limit)) if limit < WANTED_FILES => Answer::missing(
                format!("ulimit -n = {limit}"),
                "perhaps too few for programs, rings and files",
            )
            .remedy("ulimit -n 1024"),
            Some(Ok(limit)) => Answer::ok(format!("ulimit -n = {limit}"), means),
            Some(Err(_)) => Answer::ok("ulimit -n = unlimited", means),
            None => Answer::unknown("/proc/self/limits cannot be read", "perhaps too few descriptors"),
        }
    },
};
