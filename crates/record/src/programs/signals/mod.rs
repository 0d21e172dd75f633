//! Signals as they are delivered to the watched threads.

use super::{Program, by_section, kind, object};
use crate::bpf::layout::Fields;
use crate::bpf::spool::SpoolRecord;
use crate::ptrace::{RawSignal, signal_name};

pub(super) static SIGNALS: Program = Program {
    name: "signals",
    summary: "signals delivered, with their sender",
    cost: "about 0.3 us a signal",
    tables: &["signals"],
    rare: &[("signals", &[kind::SIGNAL])],
    wanted: |options| options.signals,
    needed: false,
    object: object!("signals"),
    attach: &[&[by_section("signal_delivered")]],
};

/// One record, read: name and siginfo as strace prints them, no siginfo where the kernel had none; `None` where the
/// record is not whole.
pub(crate) fn decode(record: &SpoolRecord<'_>) -> Option<(String, String)> {
    let mut fields = Fields(record.body());
    let number = i32::from(record.header.flags);
    let pid = fields.u32()?;
    if fields.u32()? == 0 {
        return Some((signal_name(number), String::new()));
    }
    // siginfo_t on 64-bit machines (include/uapi/asm-generic/siginfo.h): number, errno, code, a gap, and what the code says.
    fields.bytes(8)?;
    let code = fields.u32()? as i32;
    fields.bytes(4)?;
    let rest = fields.0;
    let by_process =
        matches!(code, libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL) || number == libc::SIGCHLD;
    let fault = matches!(number, libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE) && code > 0;
    let signal = RawSignal {
        ts: record.header.ts,
        pid,
        tid: record.header.tid,
        signal: number,
        code,
        sender: if by_process { Some((Fields(rest).u32()?, Fields(rest.get(4..)?).u32()?)) } else { None },
        address: if fault { Some(Fields(rest).u64()?) } else { None },
    };
    Some((signal_name(number), signal.info()))
}
