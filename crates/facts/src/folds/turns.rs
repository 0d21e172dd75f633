//! When messages left and came on connections between hosts: what two hosts' recordings tell of one exchange is how their clocks are compared.
//! Kept only where it is asked for ([`crate::Facts::keep_turns`]).

use crate::Fold;
use crate::folds::peers::is_loopback_address;
use crate::world::ids::LifeId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Syscall, Timestamp};

/// A message that went out, and the first bytes that came afterwards; or that came, and the first bytes that went out afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// When the call that sent began, ns: the message left no earlier.
    pub sent: u64,
    /// When the call that received returned, ns: the message came no later.
    pub came: u64,
}

/// The exchanges on one connection, of one process.
#[derive(Clone, Debug, Default)]
pub struct ConnectionTurns {
    /// The process, by the number that its thread had.
    pub tid: Tid,
    /// Our address, where it is known.
    pub local: Option<Box<str>>,
    /// The other one's.
    pub peer: Option<Box<str>>,
    /// Sent, then came: what this end asked.
    pub asked: Vec<Turn>,
    /// Came, then sent: what this end answered.
    pub answered: Vec<Turn>,
    /// The first bytes sent since something came.
    sent: Option<u64>,
    /// The first bytes that came since something was sent.
    came: Option<u64>,
}

/// Exchanges on TCP connections to other addresses than this host's own.
#[derive(Debug, Default)]
pub struct ConnectionTurnFacts {
    is_on: bool,
    of: HashMap<LifeId, ConnectionTurns>,
}

impl ConnectionTurnFacts {
    /// Connections that are kept, and exchanges of each: what a few hundred exchanges do not tell of two clocks, more do not tell.
    const MAX_CONNECTIONS: usize = 1_024;
    const MAX_TURNS: usize = 64;

    pub(crate) fn keep(&mut self) {
        self.is_on = true;
    }

    /// Each connection.
    pub fn connections(&self) -> impl Iterator<Item = &ConnectionTurns> {
        self.of.values()
    }
}

impl Fold for ConnectionTurnFacts {
    fn wants(&self, syscall: Syscall) -> bool {
        self.is_on && syscall.info().moves != Moves::None
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if seen.bytes == 0 || !matches!(seen.kind, FdKind::Tcp | FdKind::Socket) {
            return;
        }
        let Some(id) = seen.life else { return };
        let is_full = self.of.len() >= Self::MAX_CONNECTIONS;
        let turns = match self.of.get_mut(&id) {
            Some(turns) => turns,
            None if is_full => return,
            None => self.of.entry(id).or_default(),
        };
        turns.see(seen);
        if turns.local.is_none() || turns.peer.is_none() {
            let Some(life) = world.fds.get(id) else { return };
            turns.tid = seen.call.tid;
            let outside = |address: &str| (!is_loopback_address(address)).then(|| Box::from(address));
            turns.local = life.local().and_then(outside);
            turns.peer = life.peer().and_then(outside);
        }
    }
}

impl ConnectionTurns {
    fn see(&mut self, seen: &Seen<'_>) {
        let (from, to): (Timestamp, Timestamp) = (seen.call.ts, seen.call.end());
        match seen.call.syscall.info().moves {
            Moves::Write => {
                let Some(sent) = from.get() else { return };
                if let Some(came) = self.came.take() {
                    push(&mut self.answered, Turn { sent, came });
                    self.sent = None;
                }
                self.sent.get_or_insert(sent);
            }
            Moves::Read => {
                let Some(came) = to.get() else { return };
                if let Some(sent) = self.sent.take() {
                    push(&mut self.asked, Turn { sent, came });
                    self.came = None;
                }
                self.came.get_or_insert(came);
            }
            // What sendfile(2) moves is told by the calls around it.
            Moves::Move | Moves::None => {}
        }
    }
}

fn push(turns: &mut Vec<Turn>, turn: Turn) {
    if turns.len() < ConnectionTurnFacts::MAX_TURNS {
        turns.push(turn);
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    fn call(facts: &mut Facts, name: &'static str, args: &'static str, from: u64, to: u64) {
        let mut call = Call::new(name, args);
        (call.tid, call.pid, call.ret) = (7, Some(7), Ret::Value(10));
        (call.ts, call.dur) = (Timestamp::new(from), Nanos::new(to - from));
        facts.push(Event::Call(&call));
    }

    #[test]
    fn an_exchange_is_from_the_first_bytes_sent_to_the_first_that_come() {
        let mut facts = Facts::default();
        facts.keep_turns();
        let write = "3<TCP:[10.0.0.1:41000->10.0.0.2:80]>, \"GET / HTT\", 10";
        let read = "3<TCP:[10.0.0.1:41000->10.0.0.2:80]>, \"HTTP/1.1 2\", 10";
        for at in [100, 200] {
            call(&mut facts, "write", write, at, at + 1);
            call(&mut facts, "write", write, at + 2, at + 3);
            call(&mut facts, "read", read, at + 4, at + 50);
            call(&mut facts, "read", read, at + 51, at + 52);
        }
        let turns: Vec<_> = facts.turns.connections().collect();
        let [turns] = &turns[..] else { panic!("one connection: {turns:?}") };
        let pairs =
            |turns: &[super::Turn]| turns.iter().map(|turn| (turn.sent, turn.came)).collect::<Vec<_>>();
        assert_eq!(pairs(&turns.asked), [(100, 150), (200, 250)]);
        assert_eq!(pairs(&turns.answered), [(200, 150)]);
        assert_eq!(
            (turns.local.as_deref(), turns.peer.as_deref()),
            (Some("10.0.0.1:41000"), Some("10.0.0.2:80"))
        );
    }

    #[test]
    fn nothing_is_kept_unless_it_is_asked_for() {
        let mut facts = Facts::default();
        call(&mut facts, "write", "3<TCP:[10.0.0.1:41000->10.0.0.2:80]>, \"x\", 10", 1, 2);
        assert_eq!(facts.turns.connections().count(), 0);
    }
}
