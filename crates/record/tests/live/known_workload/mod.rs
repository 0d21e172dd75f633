//! Known workloads, recorded: a thread of this process does a thing a prime number of times, and what was recorded is held
//! against that and against another source that counts it.

mod block;
mod budget;
mod call_stacks;
mod few;
mod files;
mod ids;
mod in_flight;
mod meanwhile;
mod net;
mod payload;
mod samples;
mod signals;
mod totals;
mod waits;

use crate::common::skipped;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use whyslow_model::line::LineThread;
use whyslow_model::{
    BlockIo, CallFlags, CallStack, Coverage, Event, FileIo, LineFormat, Loss, Meanwhile, Nanos, NetEvent,
    SampledStack, SourceId, Stack, StackId, Stretch, ThreadTotals,
};
use whyslow_record::{Mode, Options, RecordError, Session};

/// How often each workload does its thing.
pub(crate) const TIMES: usize = 23;

/// What was recorded of a thread.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) tid: u32,
    pub(crate) samples: Vec<SampledStack>,
    pub(crate) call_stacks: Vec<CallStack>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) blocks: Vec<BlockIo>,
    pub(crate) net: Vec<NetEvent>,
    pub(crate) totals: Vec<ThreadTotals>,
    pub(crate) files: Vec<FileIo>,
    pub(crate) meanwhile: Vec<Meanwhile>,
    pub(crate) stretches: Vec<Stretch>,
    /// Name and siginfo.
    pub(crate) signals: Vec<(String, String)>,
    /// Calls that did not return, as a trace shows them.
    pub(crate) unfinished: Vec<String>,
    /// How long calls took that had begun before, of those that returned.
    pub(crate) began_before: Vec<Nanos>,
    pub(crate) losses: Vec<Loss>,
    /// Calls that were recorded one by one, by name.
    pub(crate) calls: BTreeMap<String, u64>,
    /// Calls that were counted.
    pub(crate) counted: BTreeMap<String, u64>,
    /// Lost and produced rows of calls, as the recording tells them.
    pub(crate) calls_told: (u64, u64),
    /// How much of the calls was recorded, span by span.
    pub(crate) coverage: Vec<Coverage>,
}

impl Seen {
    /// The functions of a stack, innermost first; modules where there is no name.
    pub(crate) fn functions(&self, id: Option<StackId>) -> Vec<String> {
        let stack = self.stacks.iter().find(|stack| Some(stack.id) == id);
        let frames = stack.into_iter().flat_map(|stack| &stack.frames);
        frames.map(|frame| frame.function.clone().or(frame.module.clone()).unwrap_or_default()).collect()
    }

    /// Nothing of `table` was lost, and it produced as many rows as were seen.
    pub(crate) fn assert_whole(&self, table: &str, rows: usize) {
        let loss =
            self.losses.iter().find(|loss| loss.table == table).expect("each table has a row of losses");
        assert_eq!((loss.lost, loss.produced), (0, rows as u64), "{table}");
    }
}

/// The options of a test that records only one of the things.
pub(crate) fn only(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options {
        mode: Mode::Full,
        follow: false,
        wait_stacks: false,
        sample_hz: 0,
        block: false,
        net: false,
        signals: false,
        totals: false,
        ..Options::default()
    };
    change(&mut options);
    options
}

/// Waits until a thread of this process sleeps, and has slept for some ms.
pub(crate) fn falls_asleep(tid: u32) {
    thread_falls_asleep(std::process::id(), tid);
}

/// The same of a thread of any process.
pub(crate) fn thread_falls_asleep(pid: u32, tid: u32) {
    let look = || {
        let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).unwrap();
        let line =
            |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_string();
        ["State:", "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"].map(line)
    };
    let until = Instant::now() + Duration::from_secs(60);
    let (mut before, mut times) = (look(), 0);
    while times < 4 {
        assert!(Instant::now() < until, "thread {tid} does not sleep: {before:?}");
        std::thread::sleep(Duration::from_millis(5));
        let now = look();
        times = if now == before && now[0].contains("S (") { times + 1 } else { 0 };
        before = now;
    }
}

/// Begins a recording; `None`, with the reason printed, where it is not possible here.
pub(crate) fn start(options: Options) -> Option<Session> {
    match Session::start(options) {
        Ok(session) => Some(session),
        Err(error @ (RecordError::NoRights | RecordError::Load { .. })) => {
            skipped(format_args!("{error}"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Records what a thread does in `work`. `probe` is called with its number when the recording has begun and before it ends;
/// the thread does nothing then. `None`, with the reason printed, where recording is not possible here.
pub(crate) fn record<P, W: Send + 'static>(
    options: Options,
    work: impl FnOnce() -> W + Send + 'static,
    mut probe: impl FnMut(u32) -> P,
) -> Option<(Seen, W, [P; 2])> {
    let (tell_tid, tid) = channel();
    let (go, gone) = channel::<()>();
    let (tell_done, done) = channel();
    let (end, ended): (_, Receiver<()>) = channel();
    let thread = std::thread::spawn(move || {
        tell_tid.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
        if gone.recv().is_ok() {
            tell_done.send(work()).unwrap();
        }
        // Until the recording has ended.
        let _ = ended.recv();
    });
    let tid = tid.recv().unwrap();
    falls_asleep(tid);
    let folder = tempfile::tempdir().unwrap();
    let mut options = options;
    if options.spool.as_os_str().is_empty() {
        options.spool = folder.path().into();
    }
    options.tids.push(tid);
    let mut session = start(options)?;
    let before = probe(tid);
    go.send(()).unwrap();
    let result = done.recv().unwrap();
    falls_asleep(tid);
    session.tick().unwrap();
    let after = probe(tid);
    let recorded = session.stop().unwrap();
    drop(end);
    thread.join().unwrap();
    assert!(recorded.trouble.is_none());
    assert_eq!(recorded.notes, [""; 0], "a program was refused");
    let mut seen = Seen { tid, losses: recorded.losses.clone(), ..Seen::default() };
    let mut sink = |event: Event<'_>| match event {
        Event::Sample(sample) => {
            let known =
                |id: Option<StackId>| id.is_none_or(|id| seen.stacks.iter().any(|stack| stack.id == id));
            assert!(known(sample.user) && known(sample.kernel), "a stack comes before who names it");
            seen.samples.push(sample);
        }
        Event::CallStack(made) => {
            assert!(
                seen.stacks.iter().any(|stack| stack.id == made.user),
                "a stack comes before who names it"
            );
            seen.call_stacks.push(made);
        }
        Event::Stack(stack) => seen.stacks.push(stack),
        Event::BlockIo(io) => seen.blocks.push(*io),
        Event::Net(event) => seen.net.push(*event),
        Event::FileIo(io) => seen.files.push(*io),
        Event::Meanwhile(one) => seen.meanwhile.push(*one),
        Event::Stretch(stretch) => seen.stretches.push(stretch),
        Event::ThreadTotals(totals) => seen.totals.push(totals),
        Event::Call(call) if call.flags.contains(CallFlags::END_NOT_SEEN) => {
            let mut line = Vec::new();
            call.write_line(&LineFormat { who: LineThread::Nobody, ..LineFormat::STRACE }, &mut line);
            seen.unfinished.push(String::from_utf8_lossy(&line).into_owned());
        }
        Event::Call(call) if call.flags.contains(CallFlags::START_NOT_SEEN) => {
            assert!(call.ts.is_known(), "{call:?}");
            seen.began_before.push(call.dur);
        }
        Event::Call(call) => {
            *seen.calls.entry(String::from_utf8_lossy(call.name).into_owned()).or_default() += 1;
        }
        Event::ThreadCounts(counts) => {
            *seen.counted.entry(counts.name.clone()).or_default() += counts.stats.count;
        }
        Event::Span(span) => seen.coverage.push(span.calls),
        Event::Loss(loss) if loss.table == "syscalls" => seen.calls_told = (loss.lost, loss.produced),
        Event::Signal(signal) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            seen.signals.push((text(signal.name), text(signal.info)));
        }
        _ => {}
    };
    recorded.replay("test", SourceId::default(), &mut sink).unwrap();
    Some((seen, result, [before, after]))
}
