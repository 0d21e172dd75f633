//! What the tests of the readers share: events as text, and the captures beside the project.

#![allow(dead_code)]

use std::fmt::Display;
use std::path::PathBuf;
use whyslow_model::{Event, Nanos, Ret, SourceInfo, Timestamp};
use whyslow_read::{Input, InputError, ReadOptions, read};

/// All that was read, as text that can be compared.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
pub(crate) struct Seen {
    pub(crate) events: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) sources: Vec<String>,
}

/// Says that the test cannot run here: `cargo xtask test` counts by this line. What a test says of a part of it begins with `note: `.
pub(crate) fn skipped(reason: impl Display) {
    println!("skipped: {}", reason.to_string().trim().replace('\n', "; "));
}

/// The captures of the repository.
pub(crate) fn own() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures"))
}

/// The captures that people published; `None` (and said so) where there are none beside this checkout.
pub(crate) fn published() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    if path.is_dir() {
        return Some(path);
    }
    skipped("no published captures beside the checkout (../shared/captures)");
    None
}

pub(crate) fn bytes(name: &str, data: &[u8]) -> Input {
    Input::Bytes { name: name.to_string(), data: data.to_vec() }
}

/// Reads into text; nothing usable is no failure here.
pub(crate) fn see(inputs: &[Input], threads: usize) -> Seen {
    let mut seen = Seen::default();
    let mut sink = |event: Event<'_>| match event {
        Event::Note(note) => seen.notes.push(format!("{:?} {}", note.kind, note.text)),
        Event::Source(info) => {
            check_accounts(&info);
            seen.sources.push(format!("{info:?}"));
        }
        // Whose a trace is, is tested beside the code.
        Event::Trace(_) => {}
        event => seen.events.push(describe(&event)),
    };
    match read(inputs, &ReadOptions { threads }, &(), &mut sink) {
        Ok(_) | Err(InputError::Nothing { .. }) => seen,
    }
}

/// No line is counted twice.
fn check_accounts(info: &SourceInfo) {
    assert!(info.events + info.rejects + info.foreign <= info.lines, "{info:?}");
}

/// An event in one line.
pub(crate) fn describe(event: &Event<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let time = |ts: Timestamp| {
        ts.get().map_or("-".to_string(), |ns| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000))
    };
    let call = |call: &whyslow_model::Call<'_>| {
        let dur =
            if call.dur == Nanos::UNKNOWN { "-".to_string() } else { format!("{}ns", call.dur.or_zero()) };
        let ret = match call.ret {
            Ret::Value(value) => value.to_string(),
            Ret::Unknown => "?".to_string(),
        };
        let errno = if call.errno.is_error() { call.errno.name() } else { "" };
        let listed = if call.syscall.is_listed() { "" } else { "*" };
        let flags: Vec<&str> = [
            (whyslow_model::CallFlags::END_NOT_SEEN, "no end"),
            (whyslow_model::CallFlags::START_NOT_SEEN, "no start"),
            (whyslow_model::CallFlags::LIBRARY, "library"),
            (whyslow_model::CallFlags::JOINED, "joined"),
        ]
        .iter()
        .filter(|(flag, _)| call.flags.contains(*flag))
        .map(|(_, name)| *name)
        .collect();
        format!(
            "{}-{} tid {} at {} for {dur}: {}{listed}({}) = {ret} {errno} [{}] {flags:?}",
            call.line,
            call.end_line,
            call.tid,
            time(call.ts),
            text(call.name),
            text(call.args),
            text(call.ret_note),
        )
    };
    match event {
        Event::Call(inner) => format!("call {}", call(inner)),
        Event::Enter(inner) => format!("enter {}", call(inner)),
        Event::Signal(signal) => {
            format!(
                "signal tid {} at {}: {} {}",
                signal.tid,
                time(signal.ts),
                text(signal.name),
                text(signal.info)
            )
        }
        Event::Exit(exit) => {
            format!(
                "exit tid {} at {}: {:?} {:?}",
                exit.tid,
                time(exit.ts),
                exit.status,
                exit.signal.map(text)
            )
        }
        Event::Frame { tid, text: frame } => format!("frame tid {tid}: {}", text(frame)),
        other => format!("{other:?}"),
    }
}
