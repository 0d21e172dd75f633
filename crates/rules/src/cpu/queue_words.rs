//! What is said of threads that wait for a CPU.

use whyslow_model::Measurement;

/// Why they do, where nobody tells who had it. `all`: the CPUs of the host, where that is more than they ran on. `p99`: the wait of one of a
/// hundred, where it is as long as a quota's.
pub(super) fn why(
    used: &str,
    among_themselves: bool,
    all: Option<&Measurement>,
    p99: Option<&Measurement>,
) -> String {
    match (all, among_themselves, p99) {
        (Some(all), ..) => {
            format!("{used}, of {all} in all: they wait for each other, or for whoever has the rest.")
        }
        (None, true, _) => format!("{used}: they wait for each other."),
        (None, false, Some(p99)) => format!(
            "{used}, and the longest of a hundred waits took {p99}: a CPU quota stops them (cgroup cpu.max), or others hold the CPUs."
        ),
        (None, false, None) => {
            format!("{used}: others take the rest, or only some CPUs are allowed to them.")
        }
    }
}

/// Who waits how long, for which part of their time, beside whom. Who else has the CPUs is what an engineer must know first.
pub(super) fn title(wait: &str, beside: &str, of_time: &str, each: &str) -> String {
    match beside.starts_with(' ') {
        true => format!("{wait}{beside}: {of_time}{each}"),
        false => format!("{wait}, {of_time}{beside}{each}"),
    }
}

/// The end of a title that names nobody.
pub(super) fn nobody(among_themselves: bool, others_are_known: bool) -> String {
    match (among_themselves, others_are_known) {
        (true, _) => ": the recorded threads fill the CPUs themselves",
        (false, true) => ", though no other process takes that much CPU",
        (false, false) => "; who took the CPUs is not recorded",
    }
    .to_string()
}
