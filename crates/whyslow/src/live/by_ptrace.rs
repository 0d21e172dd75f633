//! Recording by ptrace, where BPF is not to be had: the same events, at a cost that is told first.

use super::args::{LiveArgs, Means};
use super::host::Beside;
use super::refusal::refusal;
use super::signals::{Arrival, Arrivals};
use super::target::{self, Target};
use super::{Ended, Recording};
use crate::global::Global;
use crate::output::say;
use anyhow::{Context, bail};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;
use whyslow_model::{Event, Sink, SourceId};
use whyslow_record::Clock;
use whyslow_record::decode::table;
use whyslow_record::ptrace::{self, Recorder, Translator};
use whyslow_record::target::ProcRoot;
use whyslow_store::{Meta, WriteOptions, Writer};

/// Calls of the measurement of its cost.
const CALIBRATION_CALLS: u32 = 300;

/// Whether to record by ptrace: asked for, or BPF is not to be had, which is then said.
pub(super) fn is_chosen(args: &LiveArgs) -> anyhow::Result<bool> {
    match args.by {
        Means::Ptrace => {}
        Means::Bpf => return Ok(false),
        Means::Sampling => {
            bail!("--by sampling shows no calls\nnext: leave --by away, or use whyslow diagnose -a")
        }
        Means::Auto => match refusal() {
            None => return Ok(false),
            Some(why) => {
                refuse_others(args)?;
                say!("whyslow: no recording by BPF here: {}", crate::output::plain(&why));
            }
        },
    }
    refuse_others(args)?;
    let cost = ptrace::calibrate(CALIBRATION_CALLS)?;
    say!(
        "whyslow: recording by ptrace: each call of the target takes about {:.0} us longer (bare {:.2} us), with \
         no scheduler, stack or disk data",
        cost.added() / 1e3,
        cost.bare / 1e3
    );
    Ok(true)
}

/// Refuses at once what the kernel would refuse after all was set up: processes of another user, without the right to trace them.
fn refuse_others(args: &LiveArgs) -> anyhow::Result<()> {
    /// CAP_SYS_PTRACE (linux/capability.h).
    const MAY_TRACE: u32 = 19;
    let own = std::fs::metadata("/proc/self")?.uid();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let rights =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok());
    if own == 0 || (rights.unwrap_or(0) >> MAY_TRACE) & 1 == 1 || !args.command.is_empty() {
        return Ok(());
    }
    let (_, resolved) = Target::find(args)?;
    let owner = |pid: u32| std::fs::metadata(format!("/proc/{pid}")).map_or(own, |process| process.uid());
    if let Some(pid) = resolved.pids().iter().find(|pid| owner(**pid) != own) {
        bail!(
            "process {pid} belongs to another user: only root may record it\nnext: the same command with sudo"
        );
    }
    Ok(())
}

pub(super) fn record(
    args: &LiveArgs,
    folder: &Path,
    follow: Option<&mut dyn Sink>,
    global: &Global,
    beside: Option<&mut Beside>,
) -> anyhow::Result<Ended> {
    let stored = folder.join("ptrace.whyslow");
    if let Some(sink) = follow {
        return run(args, sink, Recording::Told, global, beside);
    }
    let mut writer = Writer::create(&stored, Meta::default(), WriteOptions::CONVERT)?;
    let ended = run(args, &mut writer, Recording::Stored(stored), global, None)?;
    writer.finish()?;
    Ok(ended)
}

fn run(
    args: &LiveArgs,
    sink: &mut dyn Sink,
    recorded: Recording,
    global: &Global,
    mut beside: Option<&mut Beside>,
) -> anyhow::Result<Ended> {
    let mut arrivals = Arrivals::listen().context("listening for signals")?;
    let options = whyslow_record::Options { show_secrets: global.show_secrets, ..args.options() };
    let recorder_options = ptrace::PtraceOptions {
        follow: options.follow,
        syscalls: options.calls.clone(),
        filter_in_kernel: false,
        payload: options.payload as u16,
        spec: table::spec,
    };
    let clock = Clock::now();
    let began = Instant::now();
    let began_at = clock.now_epoch();
    let is_command = !args.command.is_empty();
    let (mut recorder, words, pids) = if let Some((program, rest)) = args.command.split_first() {
        let recorder = Recorder::spawn(program, rest, recorder_options)?;
        let pids = recorder.command_pid().into_iter().collect();
        (recorder, program.to_string_lossy().into_owned(), pids)
    } else {
        let (_, resolved) = Target::find(args)?;
        let pids = resolved.pids();
        (Recorder::attach(&pids, recorder_options)?, target::in_words(&resolved, args.all), pids)
    };
    let mut translator = Translator::new(&words, &options);
    let mut state = |event: Event<'_>| {
        if let Event::Fd(entry) = &event {
            translator.open_at_attach(entry);
        }
        sink.push(event);
    };
    whyslow_record::target::snapshot(&pids, &ProcRoot::live(), SourceId::default(), &mut state);
    let command = recorder.command_pid();
    let mut until = || {
        let mut end = args.length().is_some_and(|length| began.elapsed() >= length);
        for arrival in arrivals.take(is_command) {
            match (arrival, command) {
                (Arrival::PassOn(signal), Some(pid)) => whyslow_record::send_signal(pid, signal),
                _ => end = true,
            }
        }
        end
    };
    let summary = recorder.run(&mut until, &mut |event| {
        translator.take(event, sink);
        if let Some(beside) = beside.as_deref_mut() {
            beside.pour(sink);
        }
    })?;
    drop(recorder);
    if let Some(beside) = beside {
        beside.end();
        beside.pour(sink);
    }
    translator.finish(summary.lost, sink);
    say!(
        "whyslow: recorded {} by ptrace for {:.1} s: {} calls, {} lost",
        crate::output::plain(&words),
        began.elapsed().as_secs_f64(),
        summary.calls,
        summary.lost
    );
    if !summary.left.is_empty() {
        say!(
            "whyslow: {} threads did not stop to be let go; they are free once this ends",
            summary.left.len()
        );
    }
    let status = |ended| match ended {
        ptrace::ThreadEnd::Exit(status) => status as u8,
        ptrace::ThreadEnd::Signal(signal) => 128u8.wrapping_add(signal as u8),
    };
    let command = match (command, summary.command) {
        (_, Some(ended)) => Some(status(ended)),
        // It goes on untraced; its end is ours.
        (Some(pid), None) => Some(whyslow_record::wait_for(pid)?),
        (None, None) => None,
    };
    let window = (began_at, clock.now_epoch());
    Ok(Ended {
        recorded,
        target: words,
        window,
        clock_offset: clock.offset,
        command,
        last: Default::default(),
        samples: Vec::new(),
        _spool: None,
    })
}
