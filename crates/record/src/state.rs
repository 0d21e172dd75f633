//! What is there as a recording begins.

use crate::options::{Mode, Options};
use crate::target::{self, ProcRoot};
use serde::{Deserialize, Serialize};
use whyslow_model::{Event, FdEntry, ProcessInfo, SourceId};

/// Processes, threads and descriptors.
#[derive(Serialize, Deserialize, Default)]
pub(crate) struct State {
    pub(crate) processes: Vec<ProcessInfo>,
    pub(crate) descriptors: Vec<FdEntry>,
}

impl State {
    pub(crate) fn of(events: Vec<Event<'static>>) -> State {
        let mut state = State::default();
        for event in events {
            match event {
                Event::Process(info) => state.processes.push(info),
                Event::Fd(entry) => state.descriptors.push(*entry),
                _ => {}
            }
        }
        state
    }
}

/// Processes, threads and descriptors as they are now.
pub(crate) fn state_of(options: &Options) -> Vec<Event<'static>> {
    let mut state = Vec::new();
    let mut keep = |event: Event<'_>| match event {
        Event::Process(info) => state.push(Event::Process(info)),
        Event::Fd(entry) => {
            // The pipes by which our own child waits for its start are gone when it starts.
            let ours =
                entry.pid == options.from_exec_of && entry.fd.is_some_and(|fd| closes_on_exec(entry.pid, fd));
            if !ours {
                state.push(Event::Fd(entry));
            }
        }
        Event::Note(note) => state.push(Event::Note(note)),
        _ => {}
    };
    match options.mode {
        // Nobody asks for what is open.
        Mode::None => target::processes(&options.pids, &ProcRoot::live(), &mut keep),
        _ => drop(target::snapshot(&options.pids, &ProcRoot::live(), SourceId::default(), &mut keep)),
    }
    state
}

/// fcntl(2): `O_CLOEXEC` in the flags of /proc/PID/fdinfo.
fn closes_on_exec(pid: Option<u32>, fd: i32) -> bool {
    let path = format!("/proc/{}/fdinfo/{fd}", pid.unwrap_or_default());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & libc::O_CLOEXEC != 0)
}
