//! What this process may do: its capabilities, and what the system keeps from it.

use super::machine::Machine;
use super::trials::Trial;
use super::{Answer, Area, Check, NeededFor};

/// Numbers of `include/uapi/linux/capability.h`.
const SYS_PTRACE: u32 = 19;
const SYS_ADMIN: u32 = 21;
const SYS_RESOURCE: u32 = 24;
const PERFMON: u32 = 38;
const BPF: u32 = 39;

/// Whether this process has the capabilities that loading tracing programs needs: the two of its own, or the old one
/// for all.
pub(super) fn may_load_bpf(machine: &Machine) -> Option<bool> {
    let admin = machine.has_capability(SYS_ADMIN)?;
    Some(admin || (machine.has_capability(BPF)? && machine.has_capability(PERFMON)?))
}

/// How to get the capabilities, here.
pub(super) fn way_to_rights(machine: &Machine) -> String {
    if machine.status("NoNewPrivs").as_deref() == Some("1") {
        return "this process can gain no rights (no_new_privs): start whyslow from another shell or service"
            .to_string();
    }
    let bound = |number| machine.may_gain_capability(number) == Some(false);
    let way = match bound(BPF) || bound(PERFMON) {
        false => {
            "sudo whyslow …, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep $(which whyslow)"
        }
        true if super::host::container(machine).is_some() => {
            "start the container with --cap-add BPF --cap-add PERFMON --cap-add SYS_PTRACE, or run whyslow on the host"
        }
        true => {
            "these capabilities are shut out here: start whyslow from a login shell; in a unit: CapabilityBoundingSet="
        }
    };
    way.to_string()
}

fn capability(machine: &Machine, number: u32, with: &'static str, without: &'static str) -> Answer {
    let covers = matches!(number, BPF | PERFMON);
    match (machine.has_capability(number), machine.has_capability(SYS_ADMIN)) {
        (None, _) => Answer::unknown("/proc/self/status cannot be read", without),
        (Some(true), _) => Answer::ok("in effect", with),
        (Some(false), Some(true)) if covers => Answer::ok("CAP_SYS_ADMIN stands in for it", with),
        (Some(false), _) => Answer::missing("not in effect", without),
    }
}

/// With the way to get it, where it is missing.
fn needed(machine: &Machine, answer: Answer) -> Answer {
    if answer.state == super::CheckState::Missing { answer.remedy(way_to_rights(machine)) } else { answer }
}

pub(super) static CAP_BPF: Check = Check {
    name: "CAP_BPF",
    area: Area::Rights,
    need: NeededFor::Bpf,
    look: |machine| {
        needed(machine, capability(machine, BPF, "programs may be loaded", "no program may be loaded"))
    },
};

pub(super) static CAP_PERFMON: Check = Check {
    name: "CAP_PERFMON",
    area: Area::Rights,
    need: NeededFor::Bpf,
    look: |machine| {
        needed(machine, capability(machine, PERFMON, "programs may trace", "no program may trace"))
    },
};

pub(super) static CAP_SYS_PTRACE: Check = Check {
    name: "CAP_SYS_PTRACE",
    area: Area::Rights,
    need: NeededFor::Extra,
    look: |machine| {
        let with = "maps and symbols of any process can be read; who is not root reads descriptors with CAP_DAC_READ_SEARCH too";
        let without = "of other users' processes neither open files nor symbols can be read, nor can ptrace record them";
        needed(machine, capability(machine, SYS_PTRACE, with, without))
    },
};

pub(super) static CAP_SYS_ADMIN: Check = Check {
    name: "CAP_SYS_ADMIN",
    area: Area::Rights,
    need: NeededFor::Context,
    look: |machine| {
        let with = "stands in for CAP_BPF and CAP_PERFMON";
        capability(machine, SYS_ADMIN, with, "not needed beside CAP_BPF and CAP_PERFMON")
    },
};

pub(super) static CAP_SYS_RESOURCE: Check = Check {
    name: "CAP_SYS_RESOURCE",
    area: Area::Rights,
    need: NeededFor::Context,
    look: |machine| {
        // kernel/bpf/syscall.c charges the memory control group since 5.11.
        let without = "not needed: the memory of BPF counts for the control group, not for `ulimit -l`";
        capability(machine, SYS_RESOURCE, "limits could be raised", without)
    },
};

pub(super) static USER_NAMESPACE: Check = Check {
    name: "user namespace",
    area: Area::Rights,
    need: NeededFor::Bpf,
    look: |machine| {
        let Ok(map) = machine.read("/proc/self/uid_map") else {
            return Answer::unknown(
                "/proc/self/uid_map cannot be read",
                "root of a namespace may load nothing",
            );
        };
        let words: Vec<&str> = map.split_ascii_whitespace().collect();
        if words == ["0", "0", "4294967295"] {
            return Answer::ok("the host's own", "root here is root");
        }
        Answer::missing(
            format!("a nested one ({})", words.join(" ")),
            "root of a nested user namespace (a rootless container) may load no programs",
        )
        .remedy("run whyslow on the host, outside of the container")
    },
};

pub(super) static NO_NEW_PRIVILEGES: Check = Check {
    name: "no_new_privs",
    area: Area::Rights,
    need: NeededFor::Context,
    look: |machine| match machine.status("NoNewPrivs").as_deref() {
        Some("0") => Answer::ok("not set", "sudo and setcap have their effect"),
        Some(set) if may_load_bpf(machine) == Some(true) => {
            Answer::ok(set, "no matter: the rights are there")
        }
        Some(set) => Answer::missing(set, "sudo and setcap have no effect in this shell or service")
            .remedy("start whyslow from another shell; in a unit: NoNewPrivileges=no"),
        None => Answer::unknown("not told by this kernel", "perhaps sudo and setcap have no effect here"),
    },
};

pub(super) static UNPRIVILEGED_BPF: Check = Check {
    name: "unprivileged BPF",
    area: Area::Rights,
    need: NeededFor::Context,
    look: |machine| {
        let means = "no matter: tracing programs need CAP_BPF and CAP_PERFMON in any case";
        match machine.number("/proc/sys/kernel/unprivileged_bpf_disabled") {
            Some(value) => Answer::ok(format!("kernel.unprivileged_bpf_disabled = {value}"), means),
            None => Answer::unknown("kernel.unprivileged_bpf_disabled cannot be read", means),
        }
    },
};

pub(super) static PERF_PARANOID: Check = Check {
    name: "perf events",
    area: Area::Rights,
    need: NeededFor::Extra,
    look: |machine| {
        let allowed = may_load_bpf(machine) == Some(true) || machine.has_capability(PERFMON) == Some(true);
        match machine.number("/proc/sys/kernel/perf_event_paranoid") {
            Some(value) if allowed || value <= 0 => {
                Answer::ok(format!("kernel.perf_event_paranoid = {value}"), "CPUs can be sampled")
            }
            Some(value) => Answer::missing(
                format!("kernel.perf_event_paranoid = {value}, and no CAP_PERFMON"),
                "no samples of where the CPU time goes",
            )
            .remedy(way_to_rights(machine)),
            None => Answer::missing("no kernel.perf_event_paranoid", "no samples of where the CPU time goes")
                .remedy("a kernel built with CONFIG_PERF_EVENTS=y"),
        }
    },
};

pub(super) static KERNEL_SYMBOLS: Check = Check {
    name: "kernel symbols",
    area: Area::Rights,
    need: NeededFor::Extra,
    look: |machine| {
        let restrict = machine.number("/proc/sys/kernel/kptr_restrict");
        let found = match restrict {
            Some(value) => format!("kernel.kptr_restrict = {value}"),
            None => "kernel.kptr_restrict cannot be read".to_string(),
        };
        let symbols = machine.read("/proc/kallsyms");
        // The list may begin with the variables of each CPU, whose addresses count from 0.
        let is_shown =
            |line: &str| line.split(' ').next().is_some_and(|address| address.contains(|digit| digit != '0'));
        match symbols.as_deref().map(|text| (text.is_empty(), text.lines().any(is_shown))) {
            Ok((false, true)) => Answer::ok(found, "stacks show the kernel's functions by name"),
            Ok((false, false)) => Answer::missing(
                format!("{found}, addresses are hidden"),
                "stacks show no names of the kernel's functions",
            )
            .remedy(match restrict {
                Some(2..) => "sudo sysctl kernel.kptr_restrict=1, and sudo whyslow …",
                _ => "sudo whyslow …, or add cap_syslog to its capabilities",
            }),
            _ => Answer::missing("no /proc/kallsyms", "stacks show no names of the kernel's functions"),
        }
    },
};

pub(super) static STRANGERS_FILES: Check = Check {
    name: "strangers' files",
    area: Area::Rights,
    need: NeededFor::Context,
    look: |machine| match &machine.trials().reading {
        Trial::Works(how) => Answer::ok(
            how,
            "a command that reads files can write only its output, and run and connect to nothing",
        ),
        Trial::Fails(why) => {
            Answer::missing(why, "files are read all the same, with more rights than that takes")
        }
        Trial::NotTried(why) => {
            Answer::unknown(why, "perhaps files are read with more rights than that takes")
        }
    },
};
