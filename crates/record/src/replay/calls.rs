//! Records of calls, decoded.

use super::ReplayContext;
use crate::bpf::layout::{CountRow, Fields, Header};
use crate::bpf::spool::SpoolRecord;
use crate::counts;
use crate::decode::{self, CallText, NoNames, PrintOptions};
use crate::names::FdNames;
use crate::options::Options;
use crate::raw::{RawCall, RawFlags};
use std::collections::HashMap;
use whyslow_model::{Event, Sink};

/// exit(2) and exit_group(2) do not return: that they have no end is no gap of the recording.
const EXITS: [u16; 2] = [libc::SYS_exit as u16, libc::SYS_exit_group as u16];
/// execve(2), execveat(2).
const EXECS: [u16; 2] = [libc::SYS_execve as u16, libc::SYS_execveat as u16];

/// What is kept between the records of calls.
pub(super) struct Calls {
    print: PrintOptions,
    text: CallText,
    /// What descriptors are called, where that is to be printed.
    pub(super) names: Option<FdNames>,
    /// What calls of a thread will have destroyed when they return.
    entered: HashMap<u32, Entered>,
    /// The process whose first program begins the recording; `None` once it has begun.
    pub(super) from_exec_of: Option<u32>,
    /// Records of its calls before that: read, not told.
    pub(super) passed_over: u64,
    /// Calls were too many to be recorded one by one: those recorded before that showed are counted as well.
    pub(super) only_counted: bool,
    /// So many.
    pub(super) taken_for_counted: u64,
    pub(super) starts_not_seen: u64,
    pub(super) ends_not_seen: u64,
}

struct Entered {
    nr: u16,
    args: [u64; 6],
    memory: Vec<u8>,
}

/// Threads that are between the entry and the end of an exec at once.
const MAX_ENTERED: usize = 65_536;

impl Calls {
    pub(super) fn new(options: &Options) -> Calls {
        Calls {
            print: options.print(),
            text: CallText::default(),
            names: options.fd_names.then(FdNames::live),
            entered: HashMap::new(),
            from_exec_of: options.from_exec_of,
            passed_over: 0,
            only_counted: false,
            taken_for_counted: 0,
            starts_not_seen: 0,
            ends_not_seen: 0,
        }
    }
}

impl Calls {
    /// What was kept at the entry of this call.
    fn take_entered(&mut self, call: &RawCall<'_>) -> Option<Entered> {
        if self.entered.is_empty() {
            return None;
        }
        self.entered.remove(&call.tid).filter(|entered| entered.nr == call.nr)
    }
}

/// Reads `struct call_record` (programs/calls/calls.bpf.c).
pub(crate) fn raw<'a>(record: &SpoolRecord<'a>) -> Option<RawCall<'a>> {
    let mut fields = Fields(record.bytes.get(Header::SIZE..)?);
    let dur_low = fields.u32()?;
    let nr = fields.u16()?;
    let args_dur = fields.u16()?;
    let ret = fields.u64()? as i64;
    let mut args = [0; 6];
    for arg in args.iter_mut().take((args_dur & 7) as usize) {
        *arg = fields.u64()?;
    }
    let flags = RawFlags(record.header.flags);
    let ended = record.header.ts;
    let dur = u64::from(args_dur >> 3) << 32 | u64::from(dur_low);
    let entry_seen = !flags.contains(RawFlags::NO_ENTER);
    let returned = !flags.contains(RawFlags::NO_EXIT);
    Some(RawCall {
        enter: entry_seen.then(|| ended.saturating_sub(dur)),
        dur: (entry_seen && returned).then_some(dur),
        pid: 0,
        tid: record.header.tid,
        cpu: record.cpu,
        nr,
        flags,
        ret,
        args,
        memory: fields.0,
    })
}

impl ReplayContext {
    pub(super) fn enter(&mut self, record: &SpoolRecord<'_>) -> Option<()> {
        let call = raw(record)?;
        if self.calls.entered.len() < MAX_ENTERED {
            let entered = Entered { nr: call.nr, args: call.args, memory: call.memory.to_vec() };
            self.calls.entered.insert(call.tid, entered);
        }
        Some(())
    }

    pub(super) fn call(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        let mut call = raw(record)?;
        call.pid = self.process_of(call.tid);
        // What a command of ours does before it starts its program is our own doing.
        if self.calls.from_exec_of == Some(call.pid) {
            self.calls.passed_over += 1;
            return Some(());
        }
        if self.calls.only_counted && call.flags.contains(RawFlags::DETAIL) {
            self.calls.taken_for_counted += 1;
            let row = CountRow::of_call(call.tid, call.nr, call.dur, call.ret);
            counts::add(&mut self.counted, &row);
            return Some(());
        }
        // What was under way before is known to have lasted as long as its thread was watched, as a tracer shows it.
        // That is the first of its thread alone: of a later one the start is not known.
        let found = self.found.remove(&call.tid);
        if call.flags.contains(RawFlags::NO_ENTER) {
            call.enter = found;
            if !call.flags.contains(RawFlags::NO_EXIT) {
                call.dur = call.enter.map(|enter| record.header.ts.saturating_sub(enter));
            }
        }
        let entered = self.calls.take_entered(&call);
        let memory;
        if let Some(entered) = entered {
            let is_exec = EXECS.contains(&call.nr);
            if is_exec && call.ret == 0 {
                // The registers are the new program's.
                call.args = entered.args;
            }
            // What was handed over stands before what the kernel left there; of an exec that failed it was read again, and better.
            memory = match is_exec {
                true => [call.memory, &entered.memory].concat(),
                false => [entered.memory.as_slice(), call.memory].concat(),
            };
            call.memory = &memory;
        }
        if call.flags.contains(RawFlags::NO_ENTER) {
            self.calls.starts_not_seen += 1;
        }
        if call.flags.contains(RawFlags::NO_EXIT) && !EXITS.contains(&call.nr) {
            self.calls.ends_not_seen += 1;
        }
        let clock = self.clock;
        let (source, line) = (self.source, self.line);
        let Calls { print, text, names, .. } = &mut self.calls;
        decode::print(&call, &NoNames, print, text);
        if let Some(names) = names {
            // The names follow the calls, for which they need their text; then it is printed again with them.
            names.before(&text.to_call(&call, clock, source, line));
            decode::print(&call, names, print, text);
            text.name_result(&call, names);
            let call = text.to_call(&call, clock, source, line);
            sink.push(Event::Call(&call));
            names.after(&call);
        } else {
            sink.push(Event::Call(&text.to_call(&call, clock, source, line)));
        }
        Some(())
    }
}
