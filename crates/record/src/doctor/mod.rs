//! What this machine allows, what is missing, and the way out: a list of checks, each an entry in [`CHECKS`].

mod host;
mod kernel;
mod machine;
mod recorders;
mod rights;
mod tracing;
mod trials;

pub use machine::Machine;
pub use trials::{Trial, Trials};

use serde::Serialize;

/// One thing to look at.
pub struct Check {
    /// Its name, as printed.
    pub name: &'static str,
    /// What it belongs to.
    pub area: Area,
    /// What is lost where the answer is [`CheckState::Missing`].
    pub need: NeededFor,
    /// Looks.
    pub look: fn(&Machine) -> Answer,
}

/// What a check belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// What the kernel was built with and how it is locked.
    Kernel,
    /// What this process may do.
    Rights,
    /// The fallback.
    Ptrace,
    /// What else a diagnosis looks at.
    Host,
}

/// What needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NeededFor {
    /// Recording with BPF.
    Bpf,
    /// Recording by ptrace.
    Ptrace,
    /// Neither: one kind of evidence, or comfort.
    Extra,
    /// Nothing: a circumstance that explains the others.
    Context,
}

/// How it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Not there, or it stands in the way.
    Missing,
    /// Not visible from here.
    Unknown,
}

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// How it stands.
    pub state: CheckState,
    /// What is there, in the system's own words.
    pub found: String,
    /// What that means for a recording.
    pub means: &'static str,
    /// The command or step that mends it, where there is one and it is needed.
    pub remedy: Option<String>,
}

impl Answer {
    fn ok(found: impl Into<String>, means: &'static str) -> Answer {
        Answer { state: CheckState::Ok, found: found.into(), means, remedy: None }
    }

    fn missing(found: impl Into<String>, means: &'static str) -> Answer {
        Answer { state: CheckState::Missing, ..Answer::ok(found, means) }
    }

    fn unknown(found: impl Into<String>, means: &'static str) -> Answer {
        Answer { state: CheckState::Unknown, ..Answer::ok(found, means) }
    }

    fn remedy(self, remedy: impl Into<String>) -> Answer {
        Answer { remedy: Some(remedy.into()), ..self }
    }
}

/// All checks, in the order of the report.
pub static CHECKS: &[&Check] = &[
    &kernel::VERSION,
    &kernel::BTF,
    &kernel::LOCKDOWN,
    &recorders::BPF_PROGRAMS,
    &recorders::BPF_EXTRAS,
    &kernel::TRACEFS,
    &recorders::FENTRY,
    &kernel::KPROBES,
    &kernel::CLOCK_SOURCE,
    &rights::CAP_BPF,
    &rights::CAP_PERFMON,
    &rights::CAP_SYS_PTRACE,
    &rights::CAP_SYS_ADMIN,
    &rights::CAP_SYS_RESOURCE,
    &rights::USER_NAMESPACE,
    &rights::NO_NEW_PRIVILEGES,
    &rights::UNPRIVILEGED_BPF,
    &rights::PERF_PARANOID,
    &rights::KERNEL_SYMBOLS,
    &rights::STRANGERS_FILES,
    &tracing::PTRACE_SCOPE,
    &tracing::SECCOMP,
    &recorders::PTRACE,
    &host::CONTAINER,
    &host::CGROUPS,
    &host::DELAY_ACCOUNTING,
    &host::PRESSURE,
    &host::MEMORY,
    &host::OPEN_FILES,
];

/// How a program can be recorded on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ability {
    /// With BPF: calls, scheduler, disks, network, at little cost.
    Bpf,
    /// By ptrace only: calls, at a high cost.
    Ptrace,
    /// Not at all: only what other tools captured can be read.
    CapturesOnly,
}

/// One check with its answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckResult {
    /// The check.
    pub name: &'static str,
    /// What it belongs to.
    pub area: Area,
    /// What needs it.
    pub need: NeededFor,
    /// What it found.
    #[serde(flatten)]
    pub answer: Answer,
}

/// The result of all checks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Examination {
    /// What is possible, by trial.
    pub ability: Ability,
    /// The checks.
    pub checks: Vec<CheckResult>,
}

/// Makes all checks.
pub fn examine(machine: &Machine) -> Examination {
    let line = |check: &&Check| CheckResult {
        name: check.name,
        area: check.area,
        need: check.need,
        answer: (check.look)(machine),
    };
    let ability = match machine.trials() {
        Trials { bpf: Trial::Works(_), .. } => Ability::Bpf,
        Trials { ptrace: Trial::Works(_), .. } => Ability::Ptrace,
        _ => Ability::CapturesOnly,
    };
    Examination { ability, checks: CHECKS.iter().map(line).collect() }
}

#[cfg(test)]
mod tests;
