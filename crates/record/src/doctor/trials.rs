//! What is found out only by trying it: whether programs load, whether tracing works.

use super::rights::{may_load_bpf, way_to_rights};
use super::{Answer, Area, Check, Need};
use crate::ptrace;

/// How a trial went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trial {
    /// It worked; with a remark.
    Works(String),
    /// It was refused, and why.
    Fails(String),
    /// It could not be tried, and why.
    NotTried(String),
}

/// All trials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trials {
    /// The BPF programs that a recording needs are loaded and attached.
    pub bpf: Trial,
    /// So are the others.
    pub bpf_extras: Trial,
    /// A program for the entry of a function of the kernel is loaded.
    pub fentry: Trial,
    /// A child is recorded by ptrace.
    pub ptrace: Trial,
}

/// Calls of the child that is recorded for a trial.
const CALLS: u32 = 300;

impl Trials {
    /// Tries all, on this machine.
    pub fn live() -> Trials {
        let [bpf, bpf_extras, fentry] = try_bpf();
        // In a thread of its own: the recorder hears of all children of its thread.
        let ptrace = std::thread::spawn(try_ptrace).join();
        let ptrace = ptrace.unwrap_or_else(|_| Trial::NotTried("the trial broke off".to_string()));
        Trials { bpf, bpf_extras, fentry, ptrace }
    }
}

#[cfg(feature = "bpf")]
fn try_bpf() -> [Trial; 3] {
    use crate::bpf::probe;
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_string();
    let (needed, extras) = match probe::programs(&|_| true) {
        Ok(refused) if refused.is_empty() => {
            let all = crate::programs::PROGRAMS.len();
            (Trial::Works("they load and attach".to_string()), Trial::Works(format!("all {all} programs do")))
        }
        Ok(refused) => (Trial::Works("they load and attach".to_string()), Trial::Fails(refused.join("; "))),
        Err(error) => {
            let why = first_line(error.to_string());
            (Trial::Fails(why), Trial::NotTried("without the others they are of no use".to_string()))
        }
    };
    let fentry = match probe::fentry() {
        Ok(()) => Trial::Works("a program for the entry of vfs_read loads".to_string()),
        Err(error) => Trial::Fails(error.to_string()),
    };
    [needed, extras, fentry]
}

#[cfg(not(feature = "bpf"))]
fn try_bpf() -> [Trial; 3] {
    let without = || Trial::NotTried("this whyslow was built without BPF".to_string());
    [without(), without(), without()]
}

fn try_ptrace() -> Trial {
    match ptrace::calibrate(CALLS) {
        Ok(price) => Trial::Works(format!(
            "a child was recorded; that adds {:.1} us to a call",
            price.added() / 1000.0
        )),
        Err(error) => Trial::Fails(error.to_string()),
    }
}

pub(super) static BPF_PROGRAMS: Check = Check {
    name: "BPF programs",
    area: Area::Kernel,
    need: Need::Bpf,
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
    need: Need::Extra,
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
    need: Need::Context,
    look: |machine| match &machine.trials().fentry {
        Trial::Works(what) => Answer::ok(what, "functions of the kernel can be counted: --probe"),
        Trial::Fails(why) => Answer::missing(why, "nothing but --probe: whyslow records at tracepoints"),
        Trial::NotTried(why) => Answer::unknown(why, "nothing but --probe: whyslow records at tracepoints"),
    },
};

pub(super) static PTRACE: Check = Check {
    name: "ptrace",
    area: Area::Ptrace,
    need: Need::Ptrace,
    look: |machine| match &machine.trials().ptrace {
        Trial::Works(what) => Answer::ok(what, "live recording works without BPF, at a high cost"),
        Trial::Fails(why) => Answer::missing(why, "no live recording by ptrace")
            .remedy("in a container: --cap-add SYS_PTRACE --security-opt seccomp=unconfined"),
        Trial::NotTried(why) => Answer::unknown(why, "perhaps no live recording by ptrace"),
    },
};
