//! What the rules about input and output share: the worst streams, their subject, what another size would cost.

use crate::engine::Subjects;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::often::{Names, Often};
use crate::sums;
use std::collections::BTreeSet;
use whyslow_facts::{Facts, IoStats, Place, Stream};
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, FdKind, Measurement, Nanos, SampleKind, SaturatingSum, Subject, Syscall};

/// The buffer that the fixes name: from 64 KiB on, a larger one gains little (GNU coreutils' `ioblksize.h`
/// measured 128 KiB; each doubling from 64 KiB on gains a few per cent).
pub(super) const GOOD_BUFFER: u64 = 64 * 1024;
/// A run of one-byte calls from which on it is no prompt, password or probe: about a millisecond.
pub(super) const MIN_RUN: u64 = 1_000;
/// Copying out of the page cache, ns a byte: 1 GB/s, which any machine of the last ten years reaches.
pub(super) const COPY_NS_PER_BYTE: u64 = 1;

/// All places that were read, written or synced: those whose calls the kernel added up stand for the few of their calls that were
/// seen one by one.
#[gated]
pub(crate) fn with_sums(facts: &Facts) -> impl Iterator<Item = &Stream> {
    let summed: BTreeSet<&str> = facts.summed.iter().filter_map(|stream| stream.path.as_deref()).collect();
    let single = facts.streams.iter().filter(move |stream| {
        summed.is_empty() || stream.path.as_deref().is_none_or(|path| !summed.contains(path))
    });
    single.chain(&facts.summed)
}

/// The part that the calls of one side take, by the thread that made them.
#[gated]
pub(super) fn share(facts: &Facts, stream: &Stream, io: &IoStats, time: Nanos, count: u64) -> Share {
    let told =
        match io.only_thread().filter(|_| stream.of_sums).and_then(|tid| sums::share_of(facts, tid, time)) {
            Some(share) => share,
            None => guards::share_of_storm(facts, io.only_thread(), time, count),
        };
    let by_samples = sampled(facts, stream, io).filter(|part| told.value.is_some_and(|value| value < *part));
    by_samples.map_or_else(|| told.clone(), |part| Share::of_time(part, told.of.clone()))
}

/// From this part of all reads or writes that were seen on they are those of one place.
const NEARLY_ALL: f64 = 0.9;

/// The part of its thread's time in which samples were taken in such calls, where hardly any are made elsewhere: calls of less than a
/// microsecond take as long again to enter and leave the kernel, which is not in their own times. `None` without samples.
#[gated]
fn sampled(facts: &Facts, stream: &Stream, io: &IoStats) -> Option<f64> {
    // What goes to a socket is more than a way in and out.
    let is_plain = matches!(stream.kind, FdKind::File | FdKind::Pipe);
    let thread = facts.world.threads.thread_of(io.only_thread()?).filter(|_| is_plain)?;
    let reads = std::ptr::eq(io, &stream.reads);
    let seen =
        with_sums(facts).map(|other| if reads { other.reads.calls.count } else { other.writes.calls.count });
    if (io.calls.count as f64) < NEARLY_ALL * seen.saturating_sum() as f64 {
        return None;
    }
    let moves = if reads { Moves::Read } else { Moves::Write };
    let is_such =
        |name: &str| Syscall::lookup(name.as_bytes()).is_some_and(|call| call.info().moves == moves);
    let calls = facts.samples.system_calls(SampleKind::OnCpu, thread.process);
    let ns = calls.iter().filter(|call| is_such(call.name)).map(|call| call.weight.ns).saturating_sum();
    let wall = thread.sched.as_deref()?.wall().get().filter(|wall| *wall > 0)?;
    (ns > 0).then(|| (ns as f64 / wall as f64).min(1.0))
}

/// Calls that were kept for a part of the time stand for the rest from this number on.
const SAMPLE: u64 = 200;

/// True for `least` calls and more: where each call was kept for a part of the recording alone, by how often they came in that part.
#[gated]
pub(super) fn are_many(facts: &Facts, count: u64, least: u64) -> bool {
    let whole = facts.window.whole().as_secs_f64();
    let in_all = facts.window.per_second(count).zip(whole).map(|(rate, seconds)| rate * seconds);
    count >= least || count >= SAMPLE && in_all.is_some_and(|in_all| in_all >= least as f64)
}

/// The same as a figure.
#[gated]
pub(super) fn many(count: u64, least: u64) -> Measurement {
    Measurement::count("calls", count).at_least(if count >= least { least } else { SAMPLE } as f64)
}

/// True where bytes go one by one, which is another smell: not where single bytes stand between larger pieces, as formatted text is written.
#[gated]
pub(super) fn is_byte_by_byte(io: &IoStats) -> bool {
    io.one_byte * 2 >= io.calls.count && io.longest_one_byte_run > MIN_RUN
}

/// What is not known of calls that were added up; empty where each was seen.
pub(super) fn sums_text(stream: &Stream) -> &'static str {
    match stream.of_sums {
        true => {
            " The calls were added up in the kernel: the sizes are the mean (each call: whyslow record --mode full)."
        }
        false => "",
    }
}

/// The worst streams first.
pub(super) fn worst(mut found: Vec<(Share, &Stream)>) -> Vec<(Share, &Stream)> {
    found.sort_by(|a, b| {
        b.0.value.unwrap_or(0.0).total_cmp(&a.0.value.unwrap_or(0.0)).then_with(|| a.1.name.cmp(&b.1.name))
    });
    found
}

/// The subject of a finding about the reads or writes of a stream.
pub(super) fn subject(facts: &Facts, stream: &Stream, io: &IoStats, syscall: &str) -> Subject {
    let mut subject = Subjects::thread(facts, io.tid);
    if io.shared {
        subject.tid = None;
    }
    Subject {
        path: stream.path.clone(),
        fd: stream.fd,
        peer: stream.peer.clone(),
        syscall: Some(syscall.to_string()),
        ..subject
    }
}

/// So many times a second and per request.
pub(super) fn how_often(facts: &Facts, names: &'static Names, count: u64) -> Often {
    Often::of(names, count, facts.window.per_second(count), &facts.work).by_request()
}

/// Bytes of a call of that side, on average; `None` where no call succeeded.
pub(super) fn bytes_per_call(io: &IoStats) -> Option<Measurement> {
    io.mean_size().map(|bytes| Measurement::bytes("bytes_per_call", bytes.round() as u64))
}

/// What the same bytes would cost in calls of [`GOOD_BUFFER`]: that many calls at the median price of today's
/// (and of a seek where each has one), and the copying. Unknown where no call was timed.
pub(super) fn projected(io: &IoStats, seeks: &CallStats) -> Nanos {
    let Some(median) = io.calls.percentile(0.5).get() else {
        return Nanos::UNKNOWN;
    };
    let calls = io.calls.bytes.div_ceil(GOOD_BUFFER);
    let seek = seeks.percentile(0.5).or_zero();
    let copying = io.calls.bytes.saturating_mul(COPY_NS_PER_BYTE);
    Nanos::new(calls.saturating_mul(median + seek).saturating_add(copying))
}

/// `a - b`; unknown where one is, zero where nothing is saved.
pub(super) fn difference(a: Nanos, b: Nanos) -> Nanos {
    match (a.get(), b.get()) {
        (Some(a), Some(b)) => Nanos::new(a.saturating_sub(b)),
        _ => Nanos::UNKNOWN,
    }
}

/// The sum; unknown where the first is.
pub(super) fn sum(a: Nanos, b: Nanos) -> Nanos {
    a.get().map_or(Nanos::UNKNOWN, |a| Nanos::new(a.saturating_add(b.or_zero())))
}

/// Time in the calls on a stream's files (`calls`), and between them while threads worked on what they had read; the calls alone
/// where the kernel counted more of them than were seen one by one.
#[gated]
pub(super) fn with_work(facts: &Facts, stream: &Stream, calls: Nanos) -> Nanos {
    let Some(calls) = calls.get() else { return Nanos::UNKNOWN };
    let files = facts.world.files.iter().filter(|(id, file)| match stream.place {
        _ if stream.files > 1 => Some(file.pattern()) == stream.path,
        place => place == Place::File(*id),
    });
    let work = files.map(|(id, _)| facts.work_on_content(id).or_zero());
    Nanos::new(work.fold(calls, u64::saturating_add))
}
