//! The records of stacks that were read beside the kernel's side: written to the spool, and read back.

use crate::bpf::layout::{Fields, Header, copy_flag, kind};
use crate::bpf::spool::{SpoolRecord, SpoolWriter};
use crate::error::RecordError;
use whyslow_unwind::{
    Frames, StackEntry,
    registers::{LeafRegisters, Registers},
    runtimes::{FrameList, ListedFrames},
};

/// Marks a frame of a language among addresses; the rest is its number. No address of a user has this bit.
const LANGUAGE: u64 = 1 << 63;
/// A record's frames at most: what the kernel's own records have.
const MAX_FRAMES: usize = 256;

/// True where what stands for an address is the number of a frame of a language.
pub(crate) fn is_language_frame(address: u64) -> bool {
    address & LANGUAGE != 0
}

/// `struct stack_copy`.
pub(super) struct StackCopyRecord<'a> {
    pub(super) ts: u64,
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// Of a wait that is over; else of a sample.
    pub(super) of_wait: bool,
    pub(super) registers: Registers,
    pub(super) stack: &'a [u8],
}

impl StackCopyRecord<'_> {
    /// `None` where the record is not whole.
    pub(super) fn read(record: &[u8]) -> Option<StackCopyRecord<'_>> {
        let header = Header::of(record)?;
        let mut fields = Fields(record.get(Header::SIZE..header.length)?);
        let (pid, bytes) = (fields.u32()?, fields.u32()? as usize);
        let (ip, sp, bp) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let leaf =
            LeafRegisters { r9: fields.u64()?, r12: fields.u64()?, r13: fields.u64()?, r14: fields.u64()? };
        let registers = Registers { ip, sp, bp, leaf: Some(leaf) };
        let stack = fields.bytes(bytes)?;
        let of_wait = header.flags & copy_flag::OF_WAIT != 0;
        Some(StackCopyRecord { ts: header.ts, pid, tid: header.tid, of_wait, registers, stack })
    }
}

/// A `struct frames_copy`: when it was made, whose it is, and the frames; `None` where it is not whole.
pub(super) fn frames_copy(record: &[u8]) -> Option<(u64, u32, ListedFrames<'_>)> {
    let header = Header::of(record)?;
    let mut fields = Fields(record.get(Header::SIZE..header.length)?);
    let [head, holder, first, beside] = [fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?];
    let (_pid, count) = (fields.u32()?, fields.u32()?);
    let frames = fields.bytes((count as usize).min(FrameList::MOST) * FrameList::BYTES)?;
    let whole = header.flags & copy_flag::WHOLE != 0;
    Some((header.ts, header.tid, ListedFrames { head, holder, first, beside, frames, whole }))
}

/// A stream of stacks, each with the frames that are new in it before it.
pub(super) struct StackStream {
    name: &'static str,
    /// Frames of languages that the stream has told.
    told: usize,
}

impl StackStream {
    pub(super) fn new(name: &'static str) -> StackStream {
        StackStream { name, told: 0 }
    }

    /// Writes a stack of a process's thread down. After an error nothing more is written.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn tell(
        &mut self,
        spool: &mut SpoolWriter,
        ts: u64,
        (pid, tid): (u32, u32),
        stack: &[StackEntry],
        cut: bool,
        frames: &Frames,
        trouble: &mut Option<RecordError>,
    ) {
        if trouble.is_some() || stack.is_empty() {
            return;
        }
        let mut bytes = Vec::new();
        for frame in frames.since(self.told) {
            let mut body = Vec::with_capacity(16 + frame.function.len() + frame.file.len());
            body.extend_from_slice(&(self.told as u32).to_ne_bytes());
            body.extend_from_slice(&frame.line.to_ne_bytes());
            for text in [&*frame.function, &*frame.file, frame.language] {
                body.extend_from_slice(&(text.len() as u16).to_ne_bytes());
                body.extend_from_slice(text.as_bytes());
            }
            bytes.extend_from_slice(&Header::with(kind::FRAME, 0, ts, &body));
            self.told += 1;
        }
        let kind = if self.name == crate::bpf::spool::UNWOUND { kind::UNWOUND } else { kind::BLOCKED };
        let mut body = Vec::with_capacity(8 + stack.len() * 8);
        body.extend_from_slice(&pid.to_ne_bytes());
        body.extend_from_slice(&u32::from(cut || stack.len() > MAX_FRAMES).to_ne_bytes());
        for entry in stack.iter().take(MAX_FRAMES) {
            let address = match entry {
                StackEntry::Native(address) => address & !LANGUAGE,
                StackEntry::Language(id) => LANGUAGE | u64::from(id.0),
            };
            body.extend_from_slice(&address.to_ne_bytes());
        }
        bytes.extend_from_slice(&Header::with(kind, tid, ts, &body));
        if let Err(error) = spool.write(self.name, &bytes) {
            *trouble = Some(error);
        }
    }
}

/// A frame of a language, by what stands for its address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrameRecord<'a> {
    /// In the place of an address.
    pub(crate) address: u64,
    /// From 1; 0 where it is unknown.
    pub(crate) line: u32,
    pub(crate) function: &'a str,
    /// Empty where it is unknown.
    pub(crate) file: &'a str,
    /// `python`.
    pub(crate) language: &'a str,
}

/// Reads a record of a frame; `None` where it is not whole.
pub(crate) fn language_frame<'a>(record: &SpoolRecord<'a>) -> Option<FrameRecord<'a>> {
    let mut fields = Fields(record.body());
    let (id, line) = (fields.u32()?, fields.u32()?);
    let mut text = || {
        let length = fields.u16()?;
        std::str::from_utf8(fields.bytes(length.into())?).ok()
    };
    let (function, file, language) = (text()?, text()?, text()?);
    Some(FrameRecord { address: LANGUAGE | u64::from(id), line, function, file, language })
}

/// The user part of a stack as it was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadStack {
    /// When, ns of the kernel's clock.
    pub(crate) ts: u64,
    /// Innermost first; frames of languages among addresses.
    pub(crate) frames: Vec<u64>,
    pub(crate) cut: bool,
}

/// Reads a record of a stack; `None` where it is not whole.
pub(crate) fn read_stack(record: &SpoolRecord<'_>) -> Option<ReadStack> {
    let mut fields = Fields(record.body());
    let (_pid, cut) = (fields.u32()?, fields.u32()? != 0);
    let frames = std::iter::from_fn(|| fields.u64()).take(MAX_FRAMES).collect();
    Some(ReadStack { ts: record.header.ts, frames, cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = SpoolWriter::new(folder.path());
        let mut frames = Frames::default();
        frames.language("python");
        let id = frames.id("save_row", "/srv/store.py", 88).expect("kept");
        let mut stream = StackStream::new(crate::bpf::spool::BLOCKED);
        let stack = [StackEntry::Native(0x40_1000), StackEntry::Language(id)];
        let mut trouble = None;
        for ts in [5, 7] {
            stream.tell(&mut spool, ts, (1, 2), &stack, ts == 7, &frames, &mut trouble);
        }
        assert!(trouble.is_none());
        let (mut named, mut stacks) = (Vec::new(), Vec::new());
        let mut reader = crate::bpf::spool::SpoolReader::new(folder.path(), false);
        let all = |record: SpoolRecord<'_>| match record.header.kind {
            kind::FRAME => {
                let frame = language_frame(&record).expect("whole");
                named.push((
                    frame.address,
                    frame.line,
                    format!("{} {} {}", frame.language, frame.function, frame.file),
                ));
            }
            _ => stacks.push((record.header.tid, read_stack(&record).expect("whole"))),
        };
        reader.read(u64::MAX, all).expect("read");
        assert_eq!(named, [(LANGUAGE, 88, "python save_row /srv/store.py".to_string())]);
        let told: Vec<_> = stacks.iter().map(|(tid, stack)| (*tid, stack.ts, stack.cut)).collect();
        assert_eq!(told, [(2, 5, false), (2, 7, true)]);
        assert_eq!(stacks[0].1.frames, [0x40_1000, LANGUAGE]);
        assert!(is_language_frame(stacks[0].1.frames[1]) && !is_language_frame(stacks[0].1.frames[0]));
    }
}
