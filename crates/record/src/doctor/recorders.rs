//! Which ways to record work here, as the trials showed.

use super::rights::{may_load_bpf, way_to_rights};
use super::{Answer, Area, Check, NeededFor, Trial};

pub(super) static BPF_PROGRAMS: Check = Check {
    name: "BPF programs",
    area: Area::Kernel,
    need: NeededFor::Bpf,
    look: |machine| match &machine.trials().bpf {
        Trial::Works(what) => Answer::ok(what, "live recording works, at little cost"),
        Trial::Fails(why) => {
            let answer = Answer::missing(why, "no live recording with BPF");
            if may_load_bpf(machine) == Some(true) {
                answer.remedy("see what else is missing here; in a container, try on the host")
            } else {
                answer.remedy(way_to_rights(machine))
            }
        }
        Trial::NotTried(why) => Answer::unknown(why, "no live recording with BPF from this program")
            .remedy("use a whyslow built with the feature `bpf`"),
    },
};

pub(super) static BPF_EXTRAS: Check = Check {
    name: "further programs",
    area: Area::Kernel,
    need: NeededFor::Extra,
    look: |machine| {
        let without = "a recording leaves that out";
        match &machine.trials().bpf_extras {
            Trial::Works(what) => Answer::ok(what, "stacks, devices, TCP and signals are recorded too"),
            Trial::Fails(why) if may_load_bpf(machine) == Some(true) => Answer::missing(why, without),
            Trial::Fails(why) => Answer::missing(why, without).remedy(way_to_rights(machine)),
            Trial::NotTried(why) => Answer::unknown(why, without),
        }
    },
};

pub(super) static FENTRY: Check = Check {
    name: "fentry programs",
    area: Area::Kernel,
    need: NeededFor::Context,
    look: |machine| match &machine.trials().fentry {
        Trial::Works(what) => Answer::ok(what, "functions of the kernel can be counted: --probe"),
        Trial::Fails(why) => Answer::missing(why, "nothing but --probe: whyslow records at tracepoints"),
        Trial::NotTried(why) => Answer::unknown(why, "nothing but --probe: whyslow records at tracepoints"),
    },
};

pub(super) static PTRACE: Check = Check {
    name: "ptrace",
    area: Area::Ptrace,
    need: NeededFor::Ptrace,
    look: |machine| match &machine.trials().ptrace {
        Trial::Works(what) => Answer::ok(what, "live recording works without BPF, at a high cost"),
        Trial::Fails(why) => Answer::missing(why, "no live recording by ptrace")
            .remedy("in a container: --cap-add SYS_PTRACE --security-opt seccomp=unconfined"),
        Trial::NotTried(why) => Answer::unknown(why, "perhaps no live recording by ptrace"),
    },
};
