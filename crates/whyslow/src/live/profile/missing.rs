//! What a profile does not name, why, and how to get it: each runtime has its own way to tell what it compiled.

use super::super::capture_args::CaptureArgs;
use super::super::runtime::{Kind, Runtime};
use whyslow_model::Profile;
use whyslow_model::profile::{LocationId, StackSample};
use whyslow_rights::{Capabilities, held};

/// Of the profile's time; less is not worth a word.
const WORTH_A_WORD: f64 = 0.05;
/// Functions that nothing of the program has called: a stack that ends in one is whole.
const ROOTS: [&str; 8] =
    ["_start", "__libc_start", "main", "clone", "start_thread", "runtime.", "_dl_", "__restore_rt"];
/// A stack of so few frames that does not end in a root was cut by code without frame pointers.
const SHORT: usize = 2;

/// A line or two for each thing that is missing.
pub(super) fn in_names(profile: &Profile, runtimes: &[Runtime], args: &CaptureArgs) -> Vec<String> {
    let seen = Seen::of(profile);
    let mut told: Vec<String> = Vec::new();
    let mut kinds = Vec::new();
    for runtime in runtimes {
        let kind = std::mem::discriminant(&runtime.kind);
        if !kinds.contains(&kind) {
            kinds.push(kind);
            told.extend(of_runtime(runtime, &seen, args));
        }
    }
    if runtimes.is_empty() {
        if seen.short > WORTH_A_WORD {
            told.push(format!(
                "{:.0} % of the time has stacks that end early: that code keeps no frame pointer\n\
                 next: build it with -fno-omit-frame-pointer (Rust: -C force-frame-pointers=yes)",
                seen.short * 100.0
            ));
        }
        if let Some((file, share)) = seen.nameless.filter(|(_, share)| *share > WORTH_A_WORD) {
            let rights = if has(Capabilities::SYS_PTRACE) {
                ""
            } else {
                "another user's process takes root or CAP_SYS_PTRACE; else "
            };
            told.push(format!(
                "{:.0} % of the time is in {file}, which has no symbols\n\
                 next: {rights}keep them (no `strip`, no -s), install its debug symbols, or name their folder (--debug-dir)",
                share * 100.0
            ));
        }
    }
    if seen.kernel > WORTH_A_WORD && !has(Capabilities::SYSLOG) {
        told.push(format!(
            "{:.0} % of the time is in the kernel, whose functions have no names here\n\
             next: run as root, or with CAP_SYSLOG",
            seen.kernel * 100.0
        ));
    }
    told
}

fn has(one: Capabilities) -> bool {
    held().is_ok_and(|held| held.contains(one))
}

fn of_runtime(runtime: &Runtime, seen: &Seen<'_>, args: &CaptureArgs) -> Vec<String> {
    let Runtime { pid, kind, has_perf_map, keeps_frame_pointer } = runtime;
    let mut told = Vec::new();
    match kind {
        Kind::Jvm => {
            if !keeps_frame_pointer {
                told.push(format!(
                    "pid {pid} is a JVM whose compiled code keeps no frame pointer: its stacks end early\n\
                     next: start it with -XX:+PreserveFramePointer; jstack {pid} beside shows where its threads are"
                ));
            }
            if !has_perf_map && args.jvm_names {
                told.push(format!(
                    "pid {pid} did not tell the names of its compiled code: jcmd {pid} Compiler.perfmap failed\n\
                     next: run it as the JVM's user, with the jcmd of its own JDK (17 or later)"
                ));
            } else if !has_perf_map && seen.jit > WORTH_A_WORD {
                told.push(format!(
                    "{:.0} % of the time is in code that the JVM compiled, which has no names\n\
                     next: add --jvm-names, or run jcmd {pid} Compiler.perfmap meanwhile (JDK 17 or later)",
                    seen.jit * 100.0
                ));
            }
        }
        Kind::Node if !has_perf_map => told.push(format!(
            "pid {pid} is Node, and does not tell the names of its JavaScript\n\
             next: start it with node --perf-basic-prof"
        )),
        Kind::Python { minor } if !seen.has_python => told.push(match minor {
            Some(minor) if *minor < 12 => format!(
                "pid {pid} is Python 3.{minor}, which cannot tell its functions: only the interpreter's are shown\n\
                 next: Python 3.12 or later with -X perf; or py-spy record --format raw, which `whyslow profile` reads"
            ),
            _ if *has_perf_map => format!(
                "pid {pid} is Python whose interpreter keeps no frame pointer: its stacks end before its functions\n\
                 next: an interpreter built with CFLAGS=\"-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer\""
            ),
            _ => format!(
                "pid {pid} is Python, and does not tell its functions: only the interpreter's are shown\n\
                 next: start it with python3 -X perf, or with PYTHONPERFSUPPORT=1 (Python 3.12 or later)"
            ),
        }),
        Kind::Node | Kind::Python { .. } => {}
    }
    told
}

/// Shares of the profile's time, 0 to 1.
#[derive(Default)]
struct Seen<'p> {
    /// In compiled code without names.
    jit: f64,
    /// With stacks that end early.
    short: f64,
    /// In the kernel, without a name.
    kernel: f64,
    /// The file without symbols that has most of the time, and its share.
    nameless: Option<(&'p str, f64)>,
    has_python: bool,
}

impl<'p> Seen<'p> {
    fn of(profile: &'p Profile) -> Seen<'p> {
        let mut seen = Seen::default();
        let total = profile.total(1).max(1) as f64;
        let mut files: std::collections::HashMap<&str, f64> = std::collections::HashMap::new();
        for sample in profile.samples() {
            let share = sample.values.get(1).copied().unwrap_or(0) as f64 / total;
            let user: Vec<LocationId> =
                sample.stack.iter().copied().filter(|at| module(profile, *at) != "[kernel]").collect();
            let top = sample.stack.first();
            if top.is_some_and(|at| module(profile, *at) == "[kernel]" && profile.lines_of(*at).is_empty()) {
                seen.kernel += share;
            }
            let Some((first, last)) = user.first().zip(user.last()) else { continue };
            let jit = |at: &LocationId| module(profile, *at) == "[anon]" && profile.lines_of(*at).is_empty();
            if user.iter().any(jit) {
                seen.jit += share;
            }
            let is_root =
                name(profile, *last).is_some_and(|name| ROOTS.iter().any(|root| name.starts_with(root)));
            let is_pseudo = module(profile, *first).is_empty();
            if user.len() <= SHORT && !is_root && !is_pseudo {
                seen.short += share;
            }
            if profile.lines_of(*first).is_empty() && module(profile, *first).starts_with('/') {
                *files.entry(module(profile, *first)).or_default() += share;
            }
            seen.has_python |= has_python(profile, &sample);
        }
        seen.nameless = files.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        seen
    }
}

/// As Python's trampolines name them in their perf map: `py::main:/app/m.py` (docs.python.org, "Python support for the
/// perf profiler").
fn has_python(profile: &Profile, sample: &StackSample<'_>) -> bool {
    sample.stack.iter().any(|at| name(profile, *at).is_some_and(|name| name.starts_with("py::")))
}

/// The function that a location is in, not what was inlined into it.
fn name(profile: &Profile, at: LocationId) -> Option<&str> {
    let function = profile.function(profile.lines_of(at).last()?.function?)?;
    Some(profile.str(function.name))
}

fn module(profile: &Profile, at: LocationId) -> &str {
    let location = profile.locations.get(at.0 as usize);
    let mapping = location.and_then(|location| profile.mappings.get(location.mapping?.0 as usize));
    mapping.map_or("", |mapping| profile.str(mapping.file))
}
