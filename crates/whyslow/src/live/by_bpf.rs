//! Recording by BPF: starts, watches over it, ends it.

use super::args::LiveArgs;
use super::attend::Attend;
use super::host::Beside;
use super::line::LiveLine;
use super::profile::Look;
use super::rights;
use super::signals::{Arrival, Arrivals};
use super::target::{self, Target};
use super::{Ended, Recording};
use crate::global::Global;
use anyhow::Context;
use std::path::Path;
use std::time::{Duration, Instant};
use whyslow_model::{Coverage, Event, Sink};
use whyslow_record::{Command, Options, Session};

/// Between two looks at how things go.
const TICK: Duration = Duration::from_millis(40);
/// Between two looks for who joined, at least.
const JOIN_EVERY: Duration = Duration::from_millis(250);
/// Of the time that may go into these looks, one part in so many.
const JOIN_SHARE: u32 = 50;

pub(super) fn record(
    args: &LiveArgs,
    spool: &Path,
    follow: Option<&mut dyn Sink>,
    global: &Global,
    beside: Option<&mut Beside>,
) -> anyhow::Result<Ended> {
    record_attended(args, spool, follow, global, beside, None)
}

/// With `attend`, somebody is told of each tick, and nothing may follow the recording.
pub(super) fn record_attended(
    args: &LiveArgs,
    spool: &Path,
    mut follow: Option<&mut dyn Sink>,
    global: &Global,
    mut beside: Option<&mut Beside>,
    mut attend: Option<&mut dyn Attend>,
) -> anyhow::Result<Ended> {
    let mut arrivals = Arrivals::listen().context("listening for signals")?;
    let mut options = Options {
        spool: spool.into(),
        show_secrets: global.show_secrets,
        few_in_full: true,
        ..args.options()
    };
    if let Some(attend) = &attend {
        attend.adjust(&mut options);
    }
    let mut command = None;
    let mut watched = None;
    let words;
    if args.command.is_empty() {
        let (found, resolved) = Target::find(args)?;
        words = target::in_words(&resolved, args.all);
        for process in &resolved.processes {
            if process.whole {
                options.pids.push(process.pid);
            } else {
                options.tids.extend(&process.tids);
            }
        }
        watched = Some(found);
    } else {
        if args.all {
            // While the command runs: with the names of those that are there already.
            options.pids = Target::find(args)?.1.pids();
        }
        let started = Command::start(&args.command)?;
        words = args.command[0].to_string_lossy().into_owned();
        options.pids.push(started.pid());
        options.from_exec_of = Some(started.pid());
        command = Some(started);
    }
    let pids = options.pids.clone();
    let mut session = Session::start(options)?;
    if let Some(attend) = &mut attend {
        attend.begin(&session, &words)?;
    }
    if let Some(command) = &mut command {
        command.release()?;
    }
    // A profile may start jcmd, and is written where its user says at the end.
    if args.profile.is_none() {
        let kept = attend.as_ref().map(|attend| attend.folder());
        rights::of_recorder(&[Some(spool.parent()), Some(kept)].map(Option::flatten), command.is_some());
    }
    let line = LiveLine::new(&words, args.length(), args.profile.is_some(), global);
    let mut look = Look::default();
    let mut ended = None;
    let (mut looked, mut join_every) = (Instant::now(), JOIN_EVERY);
    let mut told_thinning = false;
    let mut told_taken = 0;
    loop {
        std::thread::sleep(TICK);
        let progress = session.tick()?;
        line.show(&progress);
        if let Some(sink) = follow.as_deref_mut() {
            session.follow(sink)?;
            if let Some(beside) = beside.as_deref_mut() {
                beside.pour(sink);
            }
        }
        if let Some(attend) = &mut attend {
            if let Some(beside) = beside.as_deref_mut() {
                beside.pour(&mut |event: Event<'_>| attend.figure(event));
            }
            for text in attend.tick(&mut session)? {
                line.say(&text);
            }
        }
        if !told_thinning
            && matches!(progress.calls_now, Some(Coverage::Counts | Coverage::None))
            && progress.elapsed > Duration::from_millis(500)
            && args.mode == super::args::ModeArg::Adaptive
        {
            line.say(&format!(
                "overhead limit ({} %) reached: {} from here on; use --mode full, or a higher --max-overhead",
                args.max_overhead(),
                if progress.calls_now == Some(Coverage::Counts) { "only counts" } else { "no calls" },
            ));
            told_thinning = true;
        }
        for taken in session.taken_in(told_taken) {
            line.say(&format!("records also {}", crate::output::plain(&taken)));
            told_taken += 1;
        }
        let mut end = progress.failed || args.length().is_some_and(|length| progress.elapsed >= length);
        for arrival in arrivals.take(command.is_some()) {
            match (arrival, &command) {
                (Arrival::PassOn(signal), Some(command)) => command.signal(signal),
                _ => end = true,
            }
        }
        if let Some(attend) = attend.as_mut().filter(|_| arrivals.asked()) {
            attend.asked();
        }
        if let Some(command) = &mut command {
            ended = command.poll()?;
            end |= ended.is_some();
        }
        if let Some(target) = watched.as_mut().filter(|_| looked.elapsed() >= join_every) {
            let began = Instant::now();
            let joined = target.joined();
            join_every = JOIN_EVERY.max(began.elapsed() * JOIN_SHARE);
            if !joined.is_empty() {
                session.watch(&joined)?;
            }
            looked = Instant::now();
            end |= !target.lives();
        }
        if let Some(profile) = &args.profile {
            look.now_and_then(&pids);
            if end {
                session.end_sampling();
                look.at_end(&pids, profile);
            }
        }
        if end {
            break;
        }
    }
    if let Some(beside) = beside.as_deref_mut() {
        beside.end();
    }
    if let Some(attend) = attend {
        attend.end(&mut session).iter().for_each(|text| line.say(text));
    }
    let mut recorded = session.stop()?;
    line.finish(&recorded);
    if let Some(sink) = follow {
        recorded.rest(&words, sink)?;
        if let Some(beside) = beside {
            beside.pour(sink);
        }
    }
    // The recording is over before its time: the command goes on without us, and we wait for it.
    let command = match command {
        None => None,
        Some(command) => Some(match ended {
            Some(status) => status,
            None => command.wait(|| {
                let mut signals = Vec::new();
                for arrival in arrivals.take(true) {
                    if let Arrival::PassOn(signal) = arrival {
                        signals.push(signal);
                    }
                }
                signals
            })?,
        }),
    };
    let window = (recorded.began, recorded.ended);
    let clock_offset = recorded.clock_offset();
    let recorded = Recording::Spooled(Box::new(recorded));
    Ok(Ended {
        recorded,
        target: words,
        window,
        clock_offset,
        command,
        last: look,
        samples: Vec::new(),
        _spool: None,
    })
}
