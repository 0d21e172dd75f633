//! What calls seen beside a profile say of it: which file or peer the profiled process moves most bytes of, and how many a call;
//! or which call it makes most often.

use crate::gate::gated;
use crate::words;
use hashbrown::HashMap;
use whyslow_facts::exemplar::Exemplars;
use whyslow_facts::{Facts, IoStats, ProcessId, ProfileFacts, Stream};
use whyslow_model::SaturatingSum;

/// What of the calls a kind of cost has to do with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing that calls would show.
    Nothing,
    /// What is read.
    Read,
    /// What is read or written.
    Moved,
    /// The calls themselves.
    Calls,
}

/// What the calls show, as a sentence, with the lines that show it.
pub(super) struct Shown<'f> {
    pub(super) text: String,
    pub(super) stream: &'f Stream,
    pub(super) exemplars: &'f Exemplars,
}

/// Fewer calls are a start or an end, not what a program does.
const MIN_CALLS: u64 = 50;
/// With less than this part of the bytes (or calls) no file or peer stands for the rest.
const MOST: f64 = 0.50;

/// The file or peer that has most of it; `None` where no calls of the process were seen, or none stands out.
#[gated]
pub(super) fn shown<'f>(facts: &'f Facts, profile: &ProfileFacts, beside: Beside) -> Option<Shown<'f>> {
    let process = facts.process_of(profile).filter(|_| beside != Beside::Nothing)?;
    let amount = |io: &IoStats| if beside == Beside::Calls { io.calls.count } else { io.calls.bytes };
    let both = |stream: &'f Stream| [(stream, &stream.reads, true), (stream, &stream.writes, false)];
    let of_process = |io: &IoStats| io.calls.count > 0 && facts.process_of_thread(io.tid) == Some(process);
    let all: Vec<_> = facts
        .streams
        .iter()
        .flat_map(both)
        .filter(|(_, io, is_read)| of_process(io) && (*is_read || beside != Beside::Read))
        .collect();
    let total = all.iter().map(|(_, io, _)| amount(io)).saturating_sum();
    let (stream, io, is_read) = all.into_iter().max_by_key(|(_, io, _)| amount(io))?;
    let part = amount(io) as f64 / total.max(1) as f64;
    if part < MOST || io.calls.count < MIN_CALLS {
        return None;
    }
    let verb = if is_read { "read" } else { "write" };
    let each = words::bytes(io.calls.bytes / io.calls.count);
    let text = match beside {
        Beside::Calls => {
            let often = most_often(facts, process).map_or(String::new(), |text| format!(" {text}"));
            format!(
                "{often} Of its reads and writes {} are {verb}s of {}, at {each} a {verb}.",
                words::percent(part),
                stream.name
            )
        }
        _ => format!(
            " Of the bytes that it {} {} are of {}, at {each} a {verb} ({}).",
            if beside == Beside::Read { "reads" } else { "reads and writes" },
            words::percent(part),
            stream.name,
            words::plural(io.calls.count, verb)
        ),
    };
    Some(Shown { text, stream, exemplars: &io.exemplars })
}

/// `Of its calls 93 % are read.`
#[gated]
fn most_often(facts: &Facts, process: ProcessId) -> Option<String> {
    let mut counts = HashMap::new();
    let threads = facts.world.threads.iter().filter(|(_, thread)| thread.process == process);
    for (syscall, stats) in threads.flat_map(|(_, thread)| thread.all_calls()) {
        let sum: &mut u64 = counts.entry(syscall).or_insert(0u64);
        *sum = sum.saturating_add(stats.count);
    }
    let total: u64 = counts.values().sum();
    let (syscall, count) = counts.into_iter().max_by_key(|(syscall, count)| (*count, syscall.0))?;
    let part = count as f64 / total.max(1) as f64;
    (part >= MOST).then(|| format!("Of its calls {} are {}.", words::percent(part), facts.name_of(syscall)))
}
