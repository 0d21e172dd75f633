//! Names that were asked of a name server, and what the answers said.

use crate::Fold;
use crate::args::payload;
use crate::exemplar::Exemplar;
use crate::folds::peers::{DNS_PORT, host_of, port_of};
use crate::world::fds::Origin;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{Nanos, Syscall, Timestamp, text};

/// One name.
#[derive(Debug)]
pub struct Name {
    /// Answers that say that there is no such name (NXDOMAIN).
    pub missing: u64,
    /// Other answers without an error.
    pub found: u64,
    /// Time from query to the answers that say there is no such name, ns. Queries for both kinds of addresses are under way at a
    /// time: only one is counted.
    pub missing_ns: u64,
    /// strace cut it off (`-s`): names that begin alike share a row.
    pub is_cut: bool,
    /// Of a cut one, the lengths of the queries that were told that there is no such name, and of those that were answered, bytes: other
    /// lengths are other names.
    pub missing_lengths: Vec<u64>,
    /// As [`Name::missing_lengths`].
    pub found_lengths: Vec<u64>,
    /// The name server that was asked first.
    pub server: Box<str>,
    /// The thread of the first answer.
    pub tid: Tid,
    /// The first answer.
    pub line: Exemplar,
}

/// A question on its way.
#[derive(Debug)]
struct Asked {
    /// `None` where the capture has no bytes of the query: several that are sent in one call.
    name: Option<Box<str>>,
    at: Timestamp,
    /// Bytes of the query; 0 where they are not told.
    length: u64,
}

/// Names by answer.
#[derive(Debug, Default)]
pub struct DnsNames {
    /// The names that were answered.
    pub names: HashMap<Box<str>, Name, foldhash::fast::RandomState>,
    /// Answers.
    pub answers: u64,
    /// The last question of each thread.
    asked: HashMap<Tid, Asked, foldhash::fast::RandomState>,
}

impl DnsNames {
    /// Names kept.
    const MAX_NAMES: usize = 2_048;
    /// Threads whose last question is remembered.
    const MAX_ASKING: usize = 2_048;
    /// The answer code NXDOMAIN (RFC 1035, 4.1.1).
    const NXDOMAIN: u8 = 3;

    /// Lengths of queries kept of a name.
    const MAX_LENGTHS: usize = 16;

    fn asked(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let name = payload::dns_question(call.args).or_else(|| Some(payload::dns_cut(call.args)?.0));
        if self.asked.len() < Self::MAX_ASKING || self.asked.contains_key(&call.tid) {
            let length = match call.syscall {
                Syscall::SENDMMSG => first_length(call.args).unwrap_or(0),
                _ => seen.bytes,
            };
            self.asked.insert(call.tid, Asked { name: name.map(Into::into), at: call.ts, length });
        }
    }

    fn answered(&mut self, seen: &Seen<'_>, server: &str) {
        let call = seen.call;
        let whole = || Some((payload::dns_question(call.args)?, payload::dns_answer_code(call.args)?, false));
        let cut = || {
            let (name, code) = payload::dns_cut(call.args)?;
            Some((name, code?, true))
        };
        let Some((name, code, is_cut)) = whole().or_else(cut) else { return };
        self.answers += 1;
        if self.names.len() >= Self::MAX_NAMES && !self.names.contains_key(&*name) {
            return;
        }
        // The answer to the second query of the same name finds the question taken.
        let asked = match self.asked.get(&call.tid) {
            Some(asked) if asked.name.as_deref().is_none_or(|known| known == name) => {
                self.asked.remove(&call.tid)
            }
            _ => None,
        };
        let end = if call.end().is_known() { call.end() } else { call.ts };
        let time = asked.as_ref().map_or(Nanos::ZERO, |asked| end.since(asked.at));
        let length = asked.map_or(0, |asked| asked.length);
        let row = self.names.entry(name.into()).or_insert_with(|| Name {
            missing: 0,
            found: 0,
            missing_ns: 0,
            is_cut,
            missing_lengths: Vec::new(),
            found_lengths: Vec::new(),
            server: server.into(),
            tid: call.tid,
            line: Exemplar::of(call),
        });
        let lengths = match code {
            Self::NXDOMAIN => Some(&mut row.missing_lengths),
            0 => Some(&mut row.found_lengths),
            _ => None,
        };
        if let Some(lengths) = lengths.filter(|known| is_cut && length > 0 && known.len() < Self::MAX_LENGTHS)
            && !lengths.contains(&length)
        {
            lengths.push(length);
        }
        match code {
            Self::NXDOMAIN => {
                row.missing += 1;
                row.missing_ns += time.or_zero();
            }
            0 => row.found += 1,
            _ => {}
        }
    }
}

impl Fold for DnsNames {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves != Moves::None || matches!(syscall, Syscall::SENDMMSG | Syscall::RECVMMSG)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if !seen.kind.is_socket() {
            return;
        }
        let life = seen.life.and_then(|life| world.fds.get(life));
        let Some(life) = life.filter(|_| seen.call.ok().is_some()) else { return };
        let server = match life.peer() {
            Some(peer) if port_of(peer) == Some(DNS_PORT) => host_of(peer),
            // Where it was connected before the capture, its bytes tell.
            None if life.origin == Origin::BeforeCapture && counts_one_question(seen.call.args) => "",
            _ => return,
        };
        let reads = seen.call.syscall.info().moves == Moves::Read || seen.call.syscall == Syscall::RECVMMSG;
        if reads { self.answered(seen, server) } else { self.asked(seen) }
    }
}

/// A look that costs little: a DNS header says that there is one question (RFC 1035, 4.1.1).
fn counts_one_question(args: &[u8]) -> bool {
    /// An address or a header of a message may stand before the payload.
    const LOOKED_AT: usize = 200;
    let head = &args[..args.len().min(LOOKED_AT)];
    memchr::memmem::find(head, br"\0\1\0").is_some() || memchr::memmem::find(head, br"\x00\x01\x00").is_some()
}

/// The length of the first message of a sendmmsg.
fn first_length(args: &[u8]) -> Option<u64> {
    let from = memchr::memmem::find(args, b"iov_len=")? + b"iov_len=".len();
    u64::try_from(text::decimal(&args[from..])?.0).ok()
}
