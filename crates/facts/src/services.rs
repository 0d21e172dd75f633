//! Who serves whom: the processes that listen, and the processes at both ends of a conversation, where both are in the
//! capture.

use crate::folds::peers::{PeerFacts, Role, host_of, is_loopback, plain, port_of};
use crate::{Facts, ProcessId};
use hashbrown::HashMap;

/// A process that listens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The process.
    pub process: ProcessId,
    /// `0.0.0.0:8080`, `/run/app.sock`.
    pub address: Box<str>,
}

/// The processes of a capture, and who of them is at the other end of a peer's row.
#[derive(Debug, Default)]
pub struct Services {
    /// Who listens, a row a process and address.
    pub listeners: Vec<Listener>,
    /// By address asked, who listens there.
    owners: HashMap<Box<str>, Vec<ProcessId>>,
}

/// Who is at the other end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherEnd {
    /// The processes, as far as they are in the capture.
    pub processes: Vec<ProcessId>,
    /// There are others besides: they asked too.
    pub and_others: bool,
}

impl Services {
    /// Listening sockets looked at.
    const MAX_LISTENERS: usize = 4_096;
    /// The part of the requests served that the known clients must have asked, for there to be no others: the capture
    /// begins and ends amid requests.
    const ALL: f64 = 0.9;

    /// From the listening sockets that are open at the end.
    pub fn of(facts: &Facts) -> Services {
        let mut services = Services::default();
        for (process, owner) in facts.world.threads.processes() {
            for (_, life) in owner.slots.iter() {
                let Some(life) = facts.world.fds.get(life).filter(|life| life.listening) else { continue };
                let Some(address) = life.local() else { continue };
                let listener = Listener { process, address: address.into() };
                if services.listeners.len() < Self::MAX_LISTENERS && !services.listeners.contains(&listener) {
                    services.listeners.push(listener);
                }
            }
        }
        for peer in facts.peers.by_process().filter(|peer| peer.role == Role::Server) {
            if !services.owners.contains_key(&peer.name) {
                services.owners.insert(peer.name.clone(), services.owners_of(facts, &peer.name));
            }
        }
        services
    }

    /// Those who listen where a peer of that name was asked.
    pub(crate) fn listening_at(&self, asked: &str) -> &[ProcessId] {
        self.owners.get(asked).map(Vec::as_slice).unwrap_or_default()
    }

    /// Those who listen at what `asked` names; of several that share the socket those who took connections.
    fn owners_of(&self, facts: &Facts, asked: &str) -> Vec<ProcessId> {
        let here = |listener: &&Listener| listens_at(&listener.address, asked);
        let all: Vec<ProcessId> =
            self.listeners.iter().filter(here).map(|listener| listener.process).collect();
        let serves = |process: &ProcessId| {
            facts.peers.by_process().any(|peer| peer.role == Role::Client && peer.process == Some(*process))
        };
        let serving: Vec<ProcessId> = all.iter().copied().filter(serves).collect();
        if serving.is_empty() { all } else { serving }
    }

    /// The processes at the other end of `peer`.
    pub fn other_end(&self, facts: &Facts, peer: &PeerFacts) -> OtherEnd {
        if peer.role == Role::Server {
            let processes = self.owners.get(&peer.name).cloned().unwrap_or_default();
            return OtherEnd { processes, and_others: false };
        }
        let Some(server) = peer.process else { return OtherEnd::default() };
        let mut found = OtherEnd::default();
        let mut asked = 0u64;
        for client in facts.peers.by_process().filter(|client| client.role == Role::Server) {
            let owners = self.owners.get(&client.name).map(Vec::as_slice).unwrap_or_default();
            let Some(process) = client.process.filter(|_| owners.contains(&server)) else { continue };
            if !same_host(host_of(&client.name), &peer.name) {
                continue;
            }
            // Of workers that share a socket each served a part.
            asked = asked.saturating_add(client.requests / owners.len().max(1) as u64);
            if !found.processes.contains(&process) {
                found.processes.push(process);
            }
        }
        found.and_others = !found.processes.is_empty() && (asked as f64) < Self::ALL * peer.requests as f64;
        found
    }
}

/// Whether a socket that listens at `address` takes what is sent to `asked`, an address of this host.
pub(crate) fn listens_at(address: &str, asked: &str) -> bool {
    if address == asked {
        return true;
    }
    let (Some(port), host) = (port_of(address), host_of(address)) else { return false };
    port_of(asked) == Some(port)
        && (is_any(host) || same_host(host, host_of(asked)))
        && is_loopback(host_of(asked))
        || port_of(asked) == Some(port) && host_of(asked) == host
}

fn is_any(host: &str) -> bool {
    matches!(host, "0.0.0.0" | "*" | "[::]" | "::" | "[::ffff:0.0.0.0]")
}

fn same_host(one: &str, other: &str) -> bool {
    plain(one) == plain(other) || is_loopback(one) && is_loopback(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, tid: u32, at_ms: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        (call.tid, call.pid) = (tid, Some(tid));
        call.ts = Timestamp::new(1 + at_ms * 1_000_000);
        call.dur = Nanos::from_millis(0);
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    const ADDRESS: &str = "{sa_family=AF_INET, sin_port=htons(PORT), sin_addr=inet_addr(\"HOST\")}, 16";

    fn address(host: &str, port: u16) -> String {
        ADDRESS.replace("PORT", &port.to_string()).replace("HOST", host)
    }

    #[test]
    fn both_ends_in_one_capture() {
        let mut facts = Facts::default();
        push(&mut facts, 9, 0, "socket", "AF_INET, SOCK_STREAM, 0", 3);
        push(&mut facts, 9, 1, "bind", &format!("3, {}", address("0.0.0.0", 8080)), 0);
        push(&mut facts, 9, 2, "listen", "3, 128", 0);
        for (tid, host, port) in [(7, "127.0.0.1", 8080), (7, "10.0.0.9", 6379)] {
            push(&mut facts, tid, 3, "socket", "AF_INET, SOCK_STREAM, 0", 4);
            push(&mut facts, tid, 4, "connect", &format!("4, {}", address(host, port)), 0);
            push(&mut facts, tid, 6, "sendto", "4, \"ask\", 3, 0, NULL, 0", 3);
            push(&mut facts, tid, 9, "recvfrom", "4, \"yes\", 3, 0, NULL, NULL", 3);
            push(&mut facts, tid, 10, "close", "4", 0);
        }
        push(&mut facts, 9, 5, "accept", &format!("3, {}", address("127.0.0.1", 50000)), 5);
        push(&mut facts, 9, 7, "recvfrom", "5, \"ask\", 3, 0, NULL, NULL", 3);
        push(&mut facts, 9, 8, "sendto", "5, \"yes\", 3, 0, NULL, 0", 3);
        facts.finish();
        let pid = |process: &ProcessId| facts.world.threads.process(*process).pid.unwrap();
        let services = Services::of(&facts);
        assert_eq!(services.listeners.iter().map(|one| &*one.address).collect::<Vec<_>>(), ["0.0.0.0:8080"]);
        let mut ends: Vec<(String, Vec<u32>, bool)> = (facts.peers.by_process())
            .map(|peer| (peer, services.other_end(&facts, peer)))
            .map(|(peer, end)| {
                (peer.name.to_string(), end.processes.iter().map(pid).collect(), end.and_others)
            })
            .collect();
        ends.sort();
        assert_eq!(
            ends,
            [
                ("10.0.0.9:6379".to_string(), vec![], false),
                ("127.0.0.1".to_string(), vec![7], false),
                ("127.0.0.1:8080".to_string(), vec![9], false)
            ]
        );
    }

    #[test]
    fn addresses_that_are_the_same_socket() {
        assert!(listens_at("0.0.0.0:80", "127.0.0.1:80") && listens_at("[::]:80", "127.0.0.1:80"));
        assert!(listens_at("10.0.0.1:80", "10.0.0.1:80") && listens_at("/run/a.sock", "/run/a.sock"));
        // Another host may listen at the same port.
        assert!(!listens_at("0.0.0.0:80", "10.0.0.1:80") && !listens_at("127.0.0.1:80", "127.0.0.1:81"));
    }
}
