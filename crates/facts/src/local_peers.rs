//! Peers on the same host by the process that listens there: `127.0.0.1:7410` is `scorer (910)`.

use crate::folds::peers::Role;
use crate::services::{self, Services};
use crate::{Facts, ProcessId};
use hashbrown::HashMap;
use std::borrow::Cow;
use whyslow_model::cgroup::container_of;
use whyslow_model::event::Tid;
use whyslow_model::{Entity, Trait};

/// Peers that are named: more would not be read.
const MOST: usize = 4_096;

impl Facts {
    /// Of the sockets that listen in the capture, else of those that a list of the whole host or the recording tells.
    pub(crate) fn name_local_peers(&mut self) {
        self.local_peers = named(self);
    }

    /// An address with the process that listens there, where it is known: `scorer (910, 127.0.0.1:7410)`.
    pub fn peer_words<'a>(&self, address: &'a str) -> Cow<'a, str> {
        match self.local_peers.get(address) {
            Some(name) => format!("{name}{address})").into(),
            None => address.into(),
        }
    }
}

fn named(facts: &Facts) -> HashMap<Box<str>, Box<str>> {
    let mut all: HashMap<Box<str>, Box<str>> = HashMap::new();
    let asked = facts.peers.by_process().filter(|peer| peer.role == Role::Server).take(MOST);
    let asked: Vec<(&str, Option<ProcessId>)> = asked.map(|peer| (&*peer.name, peer.process)).collect();
    if asked.is_empty() {
        return all;
    }
    let services = Services::of(facts);
    let listeners = facts.host.things_that(|of| matches!(of, Entity::Listener(_)));
    for &(address, _) in &asked {
        if all.contains_key(address) {
            continue;
        }
        // A container has ports of its own: what listens at the same one of the host is another program.
        let inside = || asked.iter().any(|&(name, asker)| name == address && is_in_container(facts, asker));
        let of_host = || {
            let mut here = listeners.iter().filter(|(of, thing)| {
                services::listens_at(of.name(), address) && thing.told(Trait::Name).is_some()
            });
            let (_, thing) = here.next()?;
            let name = thing.told(Trait::Name)?;
            if here.any(|(_, other)| other.told(Trait::Name) != Some(name)) {
                return None;
            }
            let pid = thing.told(Trait::Owner).and_then(|pid| pid.parse().ok());
            let script = pid.and_then(|pid| facts.host.thing(&Entity::Process(pid))?.name());
            Some(worded(script.as_deref().unwrap_or(name), &Vec::from_iter(pid)))
        };
        let known = of_capture(facts, services.listening_at(address));
        if let Some(name) = known.or_else(|| of_host().filter(|_| !inside())) {
            all.insert(address.into(), name.into());
        }
    }
    all
}

/// Several workers of one program share a socket; of different programs nobody knows which is meant.
fn of_capture(facts: &Facts, owners: &[ProcessId]) -> Option<String> {
    let threads = &facts.world.threads;
    let name = threads.known_process(*owners.first()?)?.name()?;
    let same =
        |process: &ProcessId| threads.known_process(*process).and_then(|known| known.name()) == Some(name);
    let pids: Vec<Tid> = owners.iter().filter_map(|process| threads.known_process(*process)?.pid).collect();
    owners.iter().all(same).then(|| worded(name, &pids))
}

fn is_in_container(facts: &Facts, process: Option<ProcessId>) -> bool {
    let known = process.and_then(|process| facts.world.threads.known_process(process));
    known.and_then(|process| process.cgroup.as_deref()).and_then(container_of).is_some()
}

/// `scorer (910`, to be closed behind its address.
fn worded(name: &str, pids: &[Tid]) -> String {
    match pids {
        [] => format!("{name} ("),
        [one] => format!("{name} ({one}, "),
        [first, ..] => format!("{name} ({first} and others, "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{
        Call, CaptureKind, Event, FigureRow, FigureTable, Nanos, Ret, Sink, SourceId, SourceInfo, Timestamp,
    };

    fn asking(listeners: &[(&str, &str, Option<&str>)]) -> Facts {
        let mut facts = Facts::default();
        facts.push(Event::Source(SourceInfo::new(SourceId::default(), "x", CaptureKind::Recording)));
        let address = r#"4, {sa_family=AF_INET, sin_port=htons(7410), sin_addr=inet_addr("127.0.0.1")}, 16"#;
        let calls = [
            ("socket", "AF_INET, SOCK_STREAM, 0", 4),
            ("connect", address, 0),
            ("sendto", "4, \"ask\", 3, 0, NULL, 0", 3),
            ("recvfrom", "4, \"yes\", 3, 0, NULL, NULL", 3),
        ];
        for (at, (name, args, ret)) in (1u64..).zip(calls) {
            let mut call = Call::new(name, args);
            (call.tid, call.pid) = (7, Some(7));
            (call.ts, call.dur, call.ret) =
                (Timestamp::new(at * 1_000_000), Nanos::new(1_000), Ret::Value(ret));
            facts.push(Event::Call(&call));
        }
        let mut table = FigureTable::new(SourceId::default(), "whyslow");
        for (address, name, pid) in listeners {
            let mut row = FigureRow::new(Entity::Listener((*address).into()));
            row.say(Trait::Name, *name);
            if let Some(pid) = pid {
                row.say(Trait::Owner, *pid);
            }
            table.rows.push(row);
        }
        facts.push(Event::Figures(Box::new(table)));
        facts.finish();
        facts
    }

    #[test]
    fn a_peer_is_named_by_who_listens_there() {
        let words = |listeners: &[(&str, &str, Option<&str>)]| {
            asking(listeners).peer_words("127.0.0.1:7410").into_owned()
        };
        assert_eq!(words(&[("0.0.0.0:7410", "scorer", Some("910"))]), "scorer (910, 127.0.0.1:7410)");
        assert_eq!(words(&[("127.0.0.1:7410", "scorer", None)]), "scorer (127.0.0.1:7410)");
        // Another port, another address, and two programs at one port.
        assert_eq!(words(&[("0.0.0.0:741", "scorer", Some("910"))]), "127.0.0.1:7410");
        assert_eq!(words(&[("10.0.0.1:7410", "scorer", Some("910"))]), "127.0.0.1:7410");
        let two = [("0.0.0.0:7410", "scorer", Some("910")), ("127.0.0.1:7410", "other", Some("911"))];
        assert_eq!(words(&two), "127.0.0.1:7410");
        assert_eq!(words(&[]), "127.0.0.1:7410");
    }
}
