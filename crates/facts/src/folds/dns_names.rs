//! Names that were asked of a name server, and what the answers said.

use crate::Fold;
use crate::args::payload;
use crate::exemplar::Exemplar;
use crate::folds::peers::{DNS_PORT, port_of};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{Nanos, Syscall, Timestamp};

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
    /// The thread of the first answer.
    pub tid: Tid,
    /// The first answer.
    pub line: Exemplar,
}

/// Names by answer.
#[derive(Debug, Default)]
pub struct DnsNames {
    /// The names that were answered.
    pub names: HashMap<Box<str>, Name, foldhash::fast::RandomState>,
    /// Answers.
    pub answers: u64,
    /// The last question of each thread.
    asked: HashMap<Tid, (Box<str>, Timestamp), foldhash::fast::RandomState>,
}

impl DnsNames {
    /// Names kept.
    const MAX_NAMES: usize = 2_048;
    /// Threads whose last question is remembered.
    const MAX_ASKING: usize = 2_048;
    /// The answer code NXDOMAIN (RFC 1035, 4.1.1).
    const NXDOMAIN: u8 = 3;

    fn asked(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let Some(name) = payload::dns_question(call.args) else { return };
        if self.asked.len() < Self::MAX_ASKING || self.asked.contains_key(&call.tid) {
            self.asked.insert(call.tid, (name.into(), call.ts));
        }
    }

    fn answered(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let (Some(code), Some(name)) =
            (payload::dns_answer_code(call.args), payload::dns_question(call.args))
        else {
            return;
        };
        self.answers += 1;
        if self.names.len() >= Self::MAX_NAMES && !self.names.contains_key(&*name) {
            return;
        }
        // The answer to the second query of the same name finds the question taken.
        let asked = match self.asked.get(&call.tid) {
            Some((question, _)) if **question == *name => self.asked.remove(&call.tid),
            _ => None,
        };
        let time = asked.map_or(Nanos::ZERO, |(_, ts)| call.end().since(ts));
        let row = self.names.entry(name.into()).or_insert_with(|| Name {
            missing: 0,
            found: 0,
            missing_ns: 0,
            tid: call.tid,
            line: Exemplar::of(call),
        });
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
        if life.and_then(|life| port_of(life.peer()?)) != Some(DNS_PORT) || seen.call.ok().is_none() {
            return;
        }
        let reads = seen.call.syscall.info().moves == Moves::Read || seen.call.syscall == Syscall::RECVMMSG;
        if reads { self.answered(seen) } else { self.asked(seen) }
    }
}
