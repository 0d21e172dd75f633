//! Facts without which a rule cannot judge, and the commands that supply them.

use whyslow_facts::Facts;
use whyslow_facts::host::{counted, metric_words};
use whyslow_model::syscall::Class;
use whyslow_model::{Metric, TimeState};

/// A fact that a rule cannot do without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Single calls, not a table of counts.
    Calls,
    /// How long calls took.
    Durations,
    /// When calls began.
    Clock,
    /// Calls of that class in the capture (a filter may hide them).
    Class(Class),
    /// At least one of these calls in the capture, or a capture that is known to be unfiltered.
    AnyOf(&'static [&'static str]),
    /// What descriptors lead to.
    Descriptors,
    /// How long servers took to answer: calls with durations, times and descriptors, or an access log that names the
    /// servers behind.
    Answers,
    /// Counts of calls, of a trace or a table.
    Counts,
    /// Counts of calls by thread, which a recorder keeps instead of single calls.
    Sums,
    /// A snapshot of open descriptors (lsof, /proc/PID/fd).
    Snapshot,
    /// Time on a CPU, runnable and blocked.
    Scheduling,
    /// A profile of CPU time: a file, or a recorder's samples.
    Profile,
    /// A profile of time, on a CPU or by the wall clock.
    SampledTime,
    /// Several profiles of CPU time of one program, each of known length.
    ProfileSeries,
    /// A table that only a recorder writes: `net`, `block_io`, `process_stats`.
    Table(&'static str),
    /// Figures of the host, of a time that was looked at: each of these metrics, of some thing. The text says what they are, and with which
    /// command they are had.
    Figures(&'static [Metric], &'static str, &'static str),
    /// What these grew by between two dumps of the kernel's counters, where no time is told: a count and no rate.
    Growth(&'static [Metric]),
    /// What no other finding explains of the asker's time, of these states. Such a rule is asked when all others have answered.
    Unclaimed(&'static [TimeState]),
    /// Any one of these.
    Either(&'static [Need]),
}

impl Need {
    /// Whether what is counted then is calls: where some are lost, it is a lower bound.
    pub(crate) fn is_of_calls(self) -> bool {
        match self {
            Need::Calls
            | Need::Durations
            | Need::Clock
            | Need::Class(_)
            | Need::AnyOf(_)
            | Need::Answers
            | Need::Counts
            | Need::Sums => true,
            Need::Either(needs) => needs.iter().any(|need| need.is_of_calls()),
            Need::Descriptors
            | Need::Snapshot
            | Need::Scheduling
            | Need::Profile
            | Need::SampledTime
            | Need::ProfileSeries
            | Need::Table(_)
            | Need::Unclaimed(_)
            | Need::Growth(_)
            | Need::Figures(..) => false,
        }
    }

    /// Whether it rests on how long calls took.
    pub(crate) fn is_of_times(&self) -> bool {
        match self {
            Need::Durations | Need::Answers => true,
            Need::Either(needs) => needs.iter().any(Need::is_of_times),
            _ => false,
        }
    }

    /// What is missing, and the command that supplies it; `None` where the facts have it.
    pub(crate) fn missing(self, facts: &Facts) -> Option<(String, String)> {
        let calls = facts.world.calls > 0;
        let recording = facts.capture.is_recording();
        let retake = || facts.capture.retake();
        match self {
            Need::Calls | Need::Durations | Need::Clock | Need::Class(_) | Need::AnyOf(_)
                if !calls && recording =>
            {
                let why = match facts.recording.only_counts() {
                    true => "single calls (recorded as counts only)",
                    false => "single calls (none was made while it was recorded)",
                };
                Some((why.to_string(), retake()))
            }
            Need::Answers if !facts.requests.names_servers_behind() => {
                [Need::Durations, Need::Clock, Need::Descriptors].iter().find_map(|need| need.missing(facts))
            }
            Need::Unclaimed(_) => Some(("where the time went".to_string(), retake())),
            Need::Calls if !calls => Some(("single calls".to_string(), retake())),
            Need::Durations if !facts.capture.has_durations() => {
                Some(("durations of calls".to_string(), retake()))
            }
            Need::Clock if !facts.capture.has_clock() => Some(("times of calls".to_string(), retake())),
            Need::Class(class) if !calls || facts.hides_class(class) => {
                let what = format!("{} calls", format!("{class:?}").to_lowercase());
                Some((what, retake()))
            }
            Need::AnyOf(names) if !calls || facts.hides(names) => {
                Some((format!("{} calls", names.join(", ")), retake()))
            }
            Need::Descriptors if !facts.knows_descriptors() && recording => {
                Some(("what descriptors lead to".to_string(), retake()))
            }
            Need::Descriptors if !facts.knows_descriptors() => Some((
                "what descriptors lead to".to_string(),
                "lsof -nP -p PID > trace.lsof   (or strace with -yy)".to_string(),
            )),
            Need::Sums if facts.world.counted == 0 => Some((
                "counts of calls by thread".to_string(),
                "whyslow record --mode counts -p PID".to_string(),
            )),
            Need::Counts if facts.total_calls() == 0 => Some(("counts of calls".to_string(), retake())),
            Need::Snapshot if facts.world.snapshot_rows == 0 && recording => {
                Some(("a list of open descriptors".to_string(), retake()))
            }
            Need::Snapshot if facts.world.snapshot_rows == 0 => {
                Some(("a list of open descriptors".to_string(), "lsof -nP -p PID > trace.lsof".to_string()))
            }
            Need::Scheduling if !facts.sched.is_known() => {
                Some(("when threads ran and when they waited for a CPU".to_string(), RECORD.to_string()))
            }
            Need::Profile if facts.profiles.of_cpu().next().is_none() => {
                Some(("where CPU time goes (a profile)".to_string(), RECORD.to_string()))
            }
            Need::SampledTime if facts.profiles.of_time().next().is_none() => {
                Some(("where time goes (a profile)".to_string(), RECORD.to_string()))
            }
            Need::ProfileSeries if facts.profiles.series().len() < 2 => Some((
                "an earlier profile of the same program, each of known length".to_string(),
                "whyslow diagnose before.pprof after.pprof   (whyslow profile -p PID -o after.pprof)"
                    .to_string(),
            )),
            Need::Table(table) if !facts.has_table(table) => {
                let what = match table {
                    "net" => "what TCP did (segments sent again, full backlogs)",
                    "block_io" => "requests to block devices",
                    "process_stats" => "page faults by thread",
                    "files" => "bytes and calls by file and thread",
                    "samples" => "samples of what runs, each with its time",
                    "offcpu" => "stacks of waits",
                    "parked" => "where goroutines wait",
                    other => other,
                };
                Some((what.to_string(), RECORD.to_string()))
            }
            Need::Figures(metrics, what, supply)
                if !metrics.iter().all(|metric| facts.host.knows(*metric)) =>
            {
                // What was counted since boot says nothing of now, but is worth a word.
                Some(match facts.host.only_counted(metrics) {
                    Some((of, reading)) if reading.last > 0.0 => (
                        format!(
                            "{what}: there is one look only, and it tells what was counted so far ({of}: {} {})",
                            metric_words(reading.metric),
                            counted(reading.metric, reading.last)
                        ),
                        TWO_LOOKS.to_string(),
                    ),
                    _ if metrics.iter().all(|metric| facts.host.tells(*metric)) => {
                        (format!("{what}: they are told since boot only, not for now"), supply.to_string())
                    }
                    _ => (what.to_string(), supply.to_string()),
                })
            }
            Need::Growth(metrics) if !metrics.iter().all(|metric| facts.host.knows_growth(*metric)) => {
                Some(("what the kernel counted between two looks".to_string(), TWO_DUMPS.to_string()))
            }
            Need::Either(needs) => {
                let missing: Vec<_> = needs.iter().map_while(|need| need.missing(facts)).collect();
                if missing.len() < needs.len() {
                    return None;
                }
                // Where one look is there, a second one is the nearest.
                let nearest = missing.iter().position(|(_, supply)| supply == TWO_LOOKS);
                missing.into_iter().nth(nearest.unwrap_or(0))
            }
            _ => None,
        }
    }
}

/// What turns counts into rates.
const TWO_LOOKS: &str =
    "the same file again, with the time of each: for i in 1 2; do date; cat FILE; sleep 10; done";

/// What tells what counts grew by.
const TWO_DUMPS: &str = "cat FILE > FILE.before; sleep 10; cat FILE > FILE.after";

/// What supplies that which no trace of calls shows.
const RECORD: &str = "whyslow record -p PID -o again.whyslow";
