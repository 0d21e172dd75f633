//! What the kernel was built with, and how it is locked.

use super::{Answer, Area, Check, NeededFor, Trial};

/// The first version whose BPF has all that the programs use: `bpf_task_pt_regs` (kernel/trace/bpf_trace.c as of 5.15);
/// storage of a task in tracing programs came with 5.12.
const OLDEST_FOR_BPF: (u32, u32) = (5, 15);
/// The first with `PTRACE_GET_SYSCALL_INFO` (ptrace(2)).
const OLDEST_FOR_PTRACE: (u32, u32) = (5, 3);

pub(super) static VERSION: Check = Check {
    name: "version",
    area: Area::Kernel,
    need: NeededFor::Bpf,
    look: |machine| {
        let Ok(release) = machine.read("/proc/sys/kernel/osrelease") else {
            return Answer::unknown("/proc/sys/kernel/osrelease cannot be read", "perhaps too old for BPF");
        };
        match major_and_minor(&release) {
            None => Answer::unknown(release, "perhaps too old for BPF"),
            Some(version) if version >= OLDEST_FOR_BPF => Answer::ok(release, "new enough"),
            Some(version) if version >= OLDEST_FOR_PTRACE => {
                Answer::missing(release, "too old for BPF; recording by ptrace works")
                    .remedy("a kernel of 5.15 or later; till then, record by ptrace")
            }
            Some(_) => Answer::missing(release, "too old for live recording")
                .remedy("a kernel of 5.15 or later; till then, record with strace and read its log"),
        }
    },
};

fn major_and_minor(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

pub(super) static BTF: Check = Check {
    name: "BTF",
    area: Area::Kernel,
    need: NeededFor::Bpf,
    look: |machine| {
        if machine.exists("/sys/kernel/btf/vmlinux") {
            return Answer::ok(
                "/sys/kernel/btf/vmlinux",
                "programs find their way in this kernel's structures",
            );
        }
        if !machine.exists("/sys/kernel") {
            return Answer::unknown("/sys is not visible", "without BTF no program loads")
                .remedy("sudo mount -t sysfs none /sys");
        }
        Answer::missing("no /sys/kernel/btf/vmlinux", "no program loads: they would not find their way")
            .remedy("a kernel built with CONFIG_DEBUG_INFO_BTF=y, as the distributions' own are; till then, record by ptrace")
    },
};

const LOCKDOWN_FILE: &str = "/sys/kernel/security/lockdown";

pub(super) static LOCKDOWN: Check = Check {
    name: "lockdown",
    area: Area::Kernel,
    need: NeededFor::Bpf,
    look: |machine| {
        let Ok(modes) = machine.read(LOCKDOWN_FILE) else {
            if matches!(machine.trials().bpf, Trial::Works(_)) {
                // kernel/trace/bpf_trace.c refuses the helpers that read the kernel in that mode.
                return Answer::ok("not `confidentiality`, as programs load", "programs may read the kernel");
            }
            return Answer::unknown(
                format!("{LOCKDOWN_FILE} is not visible"),
                "in `confidentiality` mode programs may not read the kernel",
            )
            .remedy("to see it: sudo mount -t securityfs none /sys/kernel/security");
        };
        let mode = modes.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(mode, _)| mode);
        match mode {
            Some("confidentiality") => {
                Answer::missing(modes, "programs may not read the kernel: no recording with BPF")
                    .remedy("boot without lockdown=confidentiality; till then, record by ptrace")
            }
            Some("integrity") => {
                Answer::ok(modes, "tracepoints work; fentry and kprobes, which --probe needs, may be refused")
            }
            Some(_) => Answer::ok(modes, "the kernel is not locked"),
            None => Answer::unknown(modes, "in `confidentiality` mode programs may not read the kernel"),
        }
    },
};

pub(super) static TRACEFS: Check = Check {
    name: "tracefs",
    area: Area::Kernel,
    need: NeededFor::Extra,
    look: |machine| {
        let places = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
        if let Some(place) = places.iter().find(|place| machine.exists(&format!("{place}/events"))) {
            return Answer::ok(*place, "the formats of tracepoints can be read");
        }
        Answer::missing(
            "not mounted, or not visible to this user",
            "nothing for whyslow's own programs; tools that attach by name need it",
        )
        .remedy("sudo mount -t tracefs none /sys/kernel/tracing")
    },
};

pub(super) static KPROBES: Check = Check {
    name: "kprobes",
    area: Area::Kernel,
    need: NeededFor::Context,
    look: |machine| {
        let devices = "/sys/bus/event_source/devices";
        if !machine.exists(devices) {
            return Answer::unknown(
                format!("{devices} is not visible"),
                "nothing but --probe: whyslow records at tracepoints",
            );
        }
        if machine.exists(&format!("{devices}/kprobe")) {
            return Answer::ok("the kernel has them", "functions of the kernel can be counted: --probe");
        }
        Answer::missing(
            "the kernel has none (CONFIG_KPROBES)",
            "nothing but --probe: whyslow records at tracepoints",
        )
    },
};

const CLOCK_FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

pub(super) static CLOCK_SOURCE: Check = Check {
    name: "clock source",
    area: Area::Kernel,
    need: NeededFor::Extra,
    look: |machine| match machine.read(CLOCK_FILE).as_deref() {
        Ok(slow @ ("hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" | "xen")) => Answer::missing(
            slow,
            "reading the clock is slow: each call that is recorded costs microseconds more, and so does each \
             clock_gettime of the program itself",
        )
        .remedy("find out why the fast one was given up: dmesg | grep -i clocksource"),
        Ok(clock) => Answer::ok(clock, "reading the clock is cheap"),
        Err(error) => Answer::unknown(format!("{CLOCK_FILE}: {error}"), "perhaps each record costs more"),
    },
};
