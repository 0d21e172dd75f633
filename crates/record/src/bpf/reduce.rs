//! Payload and arguments of programs on their way to the spool: a disk must not hold what may be a secret, not even until the
//! recording is converted.

use crate::arguments;
use crate::bpf::layout::{Header, MAX_RECORD, kind};
use crate::bpf::streams::Streams;
use crate::decode::table;
use crate::raw::{MemoryPiece, RawFlags, pad, pieces, push_piece};
use crate::spec::{CallSpec, Size};

/// Bytes of a record of a call before its arguments (`CALL_FIXED`, programs/calls/calls.bpf.c).
const CALL_FIXED: usize = 32;
/// Where the number of the call stands in it, and how many arguments it has (the lowest 3 bits).
const CALL_NUMBER: usize = 20;
const CALL_ARGUMENTS: usize = 22;
/// Where the number of the thread stands in every record.
const THREAD: usize = 4;

/// Bytes that are handed on at once where records are rewritten.
const CHUNK: usize = 256 << 10;

/// Which of the records of calls are rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reduces {
    /// Payload is reduced to what names a request.
    pub(crate) payload: bool,
    /// Secrets in arguments of programs are replaced.
    pub(crate) arguments: bool,
}

/// Reduces the payload in stretches of records, and hides secrets in arguments.
pub(crate) struct Reducer {
    /// What the calls do, by their number.
    does: Vec<Does>,
    streams: Streams,
    out: Vec<u8>,
    reduced: Vec<u8>,
}

/// What a call does that matters here.
#[derive(Clone, Copy)]
enum Does {
    Nothing,
    /// Moves payload.
    Moves(&'static CallSpec),
    /// Hands over text in which secrets stand.
    Tells,
    /// Closes the descriptor that this argument names.
    Closes(usize),
    ClosesMany,
}

/// How a record is rewritten.
#[derive(Clone, Copy)]
enum Rewrite {
    Payload(&'static CallSpec),
    Arguments,
}

impl Does {
    fn of(nr: i64, reduces: Reduces) -> Does {
        match nr {
            _ if reduces.arguments && arguments::has_secrets(nr as u16) => Does::Tells,
            _ if !reduces.payload => Does::Nothing,
            libc::SYS_close => Does::Closes(0),
            // What had the new number is closed.
            libc::SYS_dup2 | libc::SYS_dup3 => Does::Closes(1),
            libc::SYS_close_range => Does::ClosesMany,
            _ => match table::spec(nr as u16) {
                Some(spec) if spec.pieces.iter().any(|piece| piece.payload) => Does::Moves(spec),
                _ => Does::Nothing,
            },
        }
    }
}

impl Reducer {
    pub(crate) fn new(reduces: Reduces) -> Reducer {
        // The drain must not stand still at the first program that is started.
        if reduces.arguments {
            whyslow_privacy::prepare();
        }
        Reducer {
            does: (0..table::NUMBERS).map(|nr| Does::of(nr as i64, reduces)).collect(),
            streams: Streams::new(),
            out: Vec::new(),
            reduced: Vec::new(),
        }
    }

    /// Hands on the records of `stretch` with all payload reduced and secrets hidden. What is no whole record is left out.
    pub(crate) fn pass(&mut self, stretch: &[u8], mut with: impl FnMut(&[u8])) {
        // Records that stay as they are are handed on in stretches as long as they come.
        let (mut at, mut done) = (0, 0);
        while let Some(length) = length_of(&stretch[at..]) {
            let record = &stretch[at..at + length];
            if let Some(rewrite) = self.wanted(record) {
                if self.out.len() + at - done >= CHUNK {
                    self.flush(&mut with);
                    with(&stretch[done..at]);
                } else {
                    self.out.extend_from_slice(&stretch[done..at]);
                }
                self.rewrite(record, rewrite);
                done = at + length;
            }
            at += length;
        }
        self.flush(&mut with);
        if at > done {
            with(&stretch[done..at]);
        }
    }

    fn flush(&mut self, with: &mut impl FnMut(&[u8])) {
        if !self.out.is_empty() {
            with(&self.out);
            self.out.clear();
        }
    }

    /// How this record is to be rewritten, where it has memory that must not stay.
    fn wanted(&mut self, record: &[u8]) -> Option<Rewrite> {
        let is_call = matches!(*record.get(2)?, kind::CALL | kind::ENTER);
        let nr = u16::from_ne_bytes(*record.get(CALL_NUMBER..)?.first_chunk()?);
        match *self.does.get(nr as usize).filter(|_| is_call)? {
            Does::Nothing => None,
            Does::Moves(spec) => (record.len() > memory_at(record)?).then_some(Rewrite::Payload(spec)),
            Does::Tells => (record.len() > memory_at(record)?).then_some(Rewrite::Arguments),
            Does::Closes(argument) => {
                self.streams.close(argument_of(record, argument)?);
                None
            }
            Does::ClosesMany => {
                self.streams.close_all();
                None
            }
        }
    }

    /// Appends the record without what must not stay.
    fn rewrite(&mut self, record: &[u8], rewrite: Rewrite) {
        let Some((fixed, memory)) = memory_at(record).and_then(|at| record.split_at_checked(at)) else {
            return;
        };
        let start = self.out.len();
        self.out.extend_from_slice(fixed);
        match rewrite {
            Rewrite::Payload(spec) => self.reduce(record, spec, memory),
            Rewrite::Arguments => {
                let nr = record.get(CALL_NUMBER..).and_then(|bytes| bytes.first_chunk());
                arguments::hide(nr.map_or(0, |nr| u16::from_ne_bytes(*nr)), memory, &mut self.out);
                // What stands for a secret may be longer than the secret.
                if self.out.len() - start > MAX_RECORD {
                    self.out.truncate(start + fixed.len());
                    self.out[start + Header::FLAGS] |= RawFlags::PIECE_MISSING.0;
                }
            }
        }
        // All before it are whole records, so that its own start is where a record may begin.
        pad(&mut self.out);
        let length = (self.out.len() - start).min(MAX_RECORD) as u16;
        self.out[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    }

    /// Appends the pieces of memory with the payload reduced.
    fn reduce(&mut self, record: &[u8], spec: &CallSpec, memory: &[u8]) {
        let tid = record.get(THREAD..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or_default();
        let fd = argument_of(record, 0).unwrap_or(u32::MAX);
        let stream = self.streams.of(u32::from_ne_bytes(tid), fd);
        for piece in pieces(memory) {
            if !is_payload(spec, &piece) {
                push_piece(&mut self.out, piece);
                continue;
            }
            self.reduced.clear();
            stream.reduce(piece.bytes, &mut self.reduced);
            push_piece(&mut self.out, MemoryPiece { bytes: &self.reduced, reduced: true, ..piece });
        }
    }
}

/// Bytes of the record at the front; `None` where there is no whole one. A pad may be shorter than a header.
fn length_of(bytes: &[u8]) -> Option<usize> {
    let length = u16::from_ne_bytes(*bytes.first_chunk()?) as usize;
    (8..=bytes.len()).contains(&length).then_some(length)
}

/// Where the pieces of memory begin in the record of a call.
fn memory_at(record: &[u8]) -> Option<usize> {
    Some(CALL_FIXED + 8 * (*record.get(CALL_ARGUMENTS)? & 7) as usize)
}

/// The lower half of an argument of the call of this record.
fn argument_of(record: &[u8], number: usize) -> Option<u32> {
    if number >= (*record.get(CALL_ARGUMENTS)? & 7) as usize {
        return None;
    }
    record.get(CALL_FIXED + 8 * number..)?.first_chunk().map(|low| u32::from_ne_bytes(*low))
}

/// Whether a piece holds what the call moves; the arrays and addresses of vectored calls do not ([`Size`]).
pub(crate) fn is_payload(spec: &CallSpec, piece: &MemoryPiece<'_>) -> bool {
    spec.pieces.iter().any(|asked| {
        let first = match asked.size {
            Size::Iovec => 1,
            Size::Message => 4,
            _ => 0,
        };
        asked.payload && asked.arg == piece.arg && piece.part >= first
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::layout::Header;

    /// The record of a call with three arguments.
    fn record(nr: i64, ended: u64, pieces: &[MemoryPiece<'_>]) -> Vec<u8> {
        let mut record = vec![0; CALL_FIXED + 24];
        record[2] = kind::CALL;
        record[8..16].copy_from_slice(&ended.to_ne_bytes());
        record[CALL_NUMBER..][..2].copy_from_slice(&(nr as u16).to_ne_bytes());
        record[CALL_ARGUMENTS] = 3;
        for piece in pieces {
            push_piece(&mut record, *piece);
        }
        pad(&mut record);
        let length = record.len() as u16;
        record[..2].copy_from_slice(&length.to_ne_bytes());
        record
    }

    fn piece(arg: u8, part: u8, bytes: &[u8]) -> MemoryPiece<'_> {
        MemoryPiece { arg, part, bytes, cut: false, fault: false, reduced: false }
    }

    fn passed(stretch: &[u8]) -> Vec<u8> {
        let mut kept = Vec::new();
        Reducer::new(Reduces { payload: true, arguments: true })
            .pass(stretch, |bytes| kept.extend_from_slice(bytes));
        kept
    }

    /// Argument, part, bytes, and whether they are reduced.
    type SeenPiece = (u8, u8, String, bool);

    /// Time and pieces of each record.
    fn seen(mut stretch: &[u8]) -> Vec<(u64, Vec<SeenPiece>)> {
        let mut all = Vec::new();
        while let Some(header) = Header::of(stretch) {
            let (record, rest) = stretch.split_at(header.length);
            let memory = &record[memory_at(record).unwrap()..];
            let told = pieces(memory)
                .map(|it| (it.arg, it.part, String::from_utf8_lossy(it.bytes).into_owned(), it.reduced));
            all.push((header.ts, told.collect()));
            stretch = rest;
        }
        assert!(stretch.is_empty());
        all
    }

    #[test]
    fn payload_is_reduced_and_all_else_stays() {
        let request = b"GET /a?token=SECRET HTTP/1.1\r\nCookie: SECRET\r\n";
        let path = record(libc::SYS_openat, 1, &[piece(1, 0, b"/etc/SECRET")]);
        let plain = record(libc::SYS_write, 2, &[piece(1, 0, request)]);
        let vector = [piece(1, 0, &[7; 16]), piece(1, 1, request)];
        let vectored = record(libc::SYS_writev, 3, &vector);
        let sent = [piece(1, 0, &[7; 56]), piece(1, 1, b"\x02\0\0\x50"), piece(1, 4, b"token: SECRET")];
        let sent = record(libc::SYS_sendmsg, 4, &sent);
        let bare = record(libc::SYS_write, 5, &[]);
        let stretch = [path.clone(), plain, vectored, sent, bare.clone(), path.clone()].concat();
        let kept = passed(&stretch);
        let kept_request = "GET /a?token=* HTTP/1.1\r\n".to_string();
        let sevens = |count| String::from_utf8(vec![7; count]).unwrap();
        let open = |ts| (ts, vec![(1, 0, "/etc/SECRET".to_string(), false)]);
        assert_eq!(
            seen(&kept),
            [
                open(1),
                (2, vec![(1, 0, kept_request.clone(), true)]),
                (3, vec![(1, 0, sevens(16), false), (1, 1, kept_request, true)]),
                (
                    4,
                    vec![
                        (1, 0, sevens(56), false),
                        (1, 1, "\u{2}\0\0P".to_string(), false),
                        (1, 4, String::new(), true)
                    ]
                ),
                (5, vec![]),
                open(1),
            ]
        );
        let without = [path, bare].concat();
        assert_eq!(passed(&without), without);
        let many = stretch.repeat(2000);
        assert_eq!(passed(&many), kept.repeat(2000));
    }

    #[test]
    fn arguments_lose_their_secrets() {
        let words = [piece(1, 0, b"mysql"), piece(1, 1, b"-psecret"), piece(1, 2, b"db")];
        let exec = record(libc::SYS_execve, 1, &words);
        let path = record(libc::SYS_openat, 2, &[piece(1, 0, b"/etc/x")]);
        let stretch = [exec.clone(), path].concat();
        let told: Vec<_> = seen(&passed(&stretch)).into_iter().map(|(_, pieces)| pieces.len()).collect();
        assert_eq!(told, [3, 1]);
        assert_eq!(seen(&passed(&stretch))[0].1[1].2, "-p[redacted]");
        let mut kept = Vec::new();
        let mut nothing = Reducer::new(Reduces { payload: false, arguments: false });
        nothing.pass(&exec, |bytes| kept.extend_from_slice(bytes));
        assert_eq!(kept, exec);
        // However much longer it becomes, it is a record, and the next one is found.
        let many = b"-pa1 ".repeat(200);
        let long: Vec<_> = (0..8).map(|part| piece(1, part, &many)).collect();
        let exec = record(libc::SYS_execve, 1, &[&[piece(1, 0, b"mysql")][..], &long[1..]].concat());
        let kept = passed(&[exec, record(libc::SYS_close, 2, &[])].concat());
        assert_eq!(seen(&kept).iter().map(|(ts, _)| *ts).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn what_is_no_record_is_left_out() {
        let whole = record(libc::SYS_write, 1, &[piece(1, 0, b"secret")]);
        let cut = [&whole[..], &whole[..40]].concat();
        assert_eq!(seen(&passed(&cut)).len(), 1);
        for garbage in [&b""[..], &[0; 7], &[255; 64], &[0; 64], &[9, 0, 1, 0, 1, 1, 1, 1, 1]] {
            passed(garbage);
        }
    }
}
