//! What stands in the way of ptrace.

use super::machine::Machine;
use super::{Answer, Area, Check, NeededFor};

const SYS_PTRACE: u32 = 19;

pub(super) static PTRACE_SCOPE: Check = Check {
    name: "ptrace scope",
    area: Area::Ptrace,
    need: NeededFor::Ptrace,
    look: |machine| {
        let Some(scope) = machine.number("/proc/sys/kernel/yama/ptrace_scope") else {
            return Answer::ok("no kernel.yama.ptrace_scope", "processes of the same user can be traced");
        };
        let found = format!("kernel.yama.ptrace_scope = {scope}");
        let capable = machine.has_capability(SYS_PTRACE) == Some(true);
        match scope {
            0 => Answer::ok(found, "processes of the same user can be traced"),
            1 | 2 if capable => Answer::ok(found, "no matter with CAP_SYS_PTRACE"),
            1 => {
                Answer::missing(found, "only commands that whyslow starts can be traced, no running process")
                    .remedy("sudo whyslow …, or: sudo sysctl kernel.yama.ptrace_scope=0")
            }
            2 => Answer::missing(found, "nothing can be traced without CAP_SYS_PTRACE")
                .remedy("sudo whyslow …"),
            _ => Answer::missing(found, "nothing can be traced until the next boot").remedy(
                "boot with kernel.yama.ptrace_scope at 2 or less; or record with BPF, which needs no tracing",
            ),
        }
    },
};

pub(super) static SECCOMP: Check = Check {
    name: "seccomp",
    area: Area::Ptrace,
    need: NeededFor::Context,
    look: |machine| match machine.status("Seccomp").as_deref() {
        Some("0") => Answer::ok("no filter", "all calls are open"),
        Some(_) if works(machine) => Answer::ok("a filter is set", "it lets pass what a recording needs"),
        Some(_) => Answer::missing("a filter is set", "it may refuse bpf, perf_event_open and ptrace")
            .remedy("in a container: --security-opt seccomp=unconfined"),
        None => {
            Answer::unknown("not told by this kernel", "a filter may refuse bpf, perf_event_open and ptrace")
        }
    },
};

fn works(machine: &Machine) -> bool {
    use super::Trial::Works;
    let trials = machine.trials();
    matches!((&trials.bpf, &trials.ptrace), (Works(_), Works(_)))
}
