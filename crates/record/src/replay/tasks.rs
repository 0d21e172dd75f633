//! Records of threads: beginning, program, end.

use super::{MAX_THREADS, ReplayContext};
use crate::bpf::layout::{COMM_LENGTH, Fields, Header, kind};
use crate::bpf::spool::SpoolRecord;
use crate::decode::constants;
use whyslow_model::{Event, Exit, ProcessInfo, Sink};

/// The name of a signal, `SIGTERM`; its number where it has none.
fn signal_name(number: u32) -> String {
    constants::SIGNAL.name(u64::from(number)).map_or_else(|| format!("SIG{number}"), str::to_string)
}

impl ReplayContext {
    /// Reads `struct task_record` (programs/tasks/tasks.bpf.c).
    pub(super) fn task(&mut self, record: &SpoolRecord<'_>, sink: &mut dyn Sink) -> Option<()> {
        let mut fields = Fields(record.bytes.get(Header::SIZE..)?);
        let (pid, parent, exit_code) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let _parent_tid = fields.u32()?;
        let comm = fields.bytes(COMM_LENGTH)?;
        let comm = &comm[..memchr::memchr(0, comm).unwrap_or(comm.len())];
        let header = record.header;
        let now = self.clock.epoch(header.ts);
        if header.kind == kind::EXIT {
            // wait(2): the low seven bits are the signal, the next byte the status.
            let signal = (exit_code & 0x7f != 0).then(|| signal_name(exit_code & 0x7f));
            let status = signal.is_none().then_some((exit_code >> 8 & 0xff) as i32);
            let signal = signal.as_deref().map(str::as_bytes);
            sink.push(Event::Exit(Exit {
                source: self.source,
                line: self.line,
                tid: header.tid,
                ts: now,
                status,
                signal,
            }));
            self.ended(header.tid);
            self.found.remove(&header.tid);
            self.rare.samples().thread_ended(header.tid, sink);
            return Some(());
        }
        self.belongs(header.tid, pid);
        if header.kind == kind::TASK && self.found.len() < MAX_THREADS {
            self.found.insert(header.tid, header.ts);
        }
        if header.kind == kind::EXEC && self.calls.from_exec_of == Some(pid) {
            self.calls.from_exec_of = None;
        }
        if header.kind == kind::EXEC || header.tid == pid {
            self.rare.samples().program_began(pid, header.tid, sink);
        }
        let mut info = ProcessInfo {
            pid,
            tid: Some(header.tid),
            comm: Some(String::from_utf8_lossy(comm).into_owned()),
            parent: Some(parent),
            executed: header.kind == kind::EXEC,
            ..ProcessInfo::default()
        };
        if header.kind == kind::FORK {
            info.start = now;
        }
        sink.push(Event::Process(info));
        Some(())
    }
}
