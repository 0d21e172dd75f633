//! Calls that are under way as the recording ends: nobody sees them return, so that what their arguments point to is read
//! from outside, while they wait.

use crate::bpf::layout::{Fields, Header, MAX_RECORD, kind};
use crate::decode::table;
use crate::ptrace::memory::{Moment, Stage, read_pieces};
use crate::raw::{RawFlags, pad};

/// What a record tells of a call (`struct call_record`, programs/calls/calls.bpf.c).
struct UnderWay {
    tid: u32,
    nr: u16,
    args: [u64; 6],
}

impl UnderWay {
    /// `None` for a record of anything else.
    fn of(record: &[u8]) -> Option<UnderWay> {
        let header = Header::of(record).filter(|header| header.kind == kind::CALL)?;
        if RawFlags(header.flags).contains(RawFlags::COMPAT) {
            return None;
        }
        let mut fields = Fields(record.get(Header::SIZE..)?);
        let _dur = fields.u32()?;
        let nr = fields.u16()?;
        let (_count, _ret) = (fields.u16()?, fields.u64()?);
        let mut args = [0; 6];
        for arg in &mut args {
            *arg = fields.u64()?;
        }
        Some(UnderWay { tid: header.tid, nr, args })
    }

    /// Whether the thread is in this very call: proc_pid_syscall(5) tells its number and arguments of who waits.
    fn is_under_way(&self) -> bool {
        let told = std::fs::read_to_string(format!("/proc/{}/syscall", self.tid)).unwrap_or_default();
        let mut words = told.split_ascii_whitespace();
        let same_number = words.next().and_then(|word| word.parse().ok()) == Some(self.nr);
        let arg = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        same_number && self.args.iter().all(|known| words.next().and_then(arg) == Some(*known))
    }
}

/// Appends what the arguments of a call point to, where `record` tells of one under way and its thread is still in it.
/// Payload is left alone: a buffer that is to be filled holds what came before.
pub(crate) fn complete(record: &mut Vec<u8>) {
    let Some(call) = UnderWay::of(record) else { return };
    let Some(spec) = table::spec(call.nr).filter(|spec| !spec.pieces.is_empty()) else { return };
    let mut memory = Vec::new();
    let moment = Moment { tid: call.tid, args: &call.args, stage: Stage::UnderWay };
    let complete = read_pieces(spec, moment, 0, &mut Vec::new(), &mut memory);
    // Looked at afterwards: what was read is then of this call and no later one.
    if !call.is_under_way() {
        return;
    }
    pad(&mut memory);
    let length = record.len() + memory.len();
    if length > MAX_RECORD {
        return;
    }
    record.extend_from_slice(&memory);
    record[..2].copy_from_slice(&(length as u16).to_ne_bytes());
    if !complete {
        record[Header::FLAGS] |= RawFlags::PIECE_MISSING.0;
    }
}
