//! What the rules about asking others share: whom a program asks, also where requests to the program itself are not seen,
//! and what that costs.

use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::folds::peers::{Role, is_loopback_address, port_of};
use whyslow_facts::folds::requests::{EndpointFacts, Side, UNKNOWN_PROTOCOL};
use whyslow_facts::{Facts, PeerFacts, ProcessId};
use whyslow_model::{FdKind, Nanos, Tid};

/// Commands of Redis that wait on purpose.
pub(super) const WAITING: &str = "BLPOP BRPOP BRPOPLPUSH BLMOVE BLMPOP BZPOPMIN BZPOPMAX BZMPOP XREAD XREADGROUP WAIT \
     SUBSCRIBE PSUBSCRIBE";

/// From here on an answer is slow: ten round trips within a data centre (0.5 ms each: Dean, "Numbers everyone should
/// know"). What takes less can be the way there and back, and the scheduler's doing.
pub(crate) const SLOW: Nanos = Nanos::from_millis(5);

/// The same of a server on this host: the way there and back, with two wake-ups, takes some tens of microseconds.
const SLOW_HERE: Nanos = Nanos::from_millis(1);
/// Calls of both ends in a turn, each of which a tracer may stop.
const STOPS_PER_TURN: u64 = 8;

/// From here on a turn with that server is long for what it asks, and not for the way there and back.
pub(super) fn slow_turn(facts: &Facts, server: &str) -> Nanos {
    let is_here = is_loopback_address(server) || server.starts_with(['/', '@']);
    let stops = facts.pace.stop.or_zero().saturating_mul(STOPS_PER_TURN);
    if is_here { Nanos::new(SLOW_HERE.or_zero().saturating_add(stops)).min(SLOW) } else { SLOW }
}

/// Round trips for one request from which on they are a loop: pages that ask for a handful of things do not reach it.
pub(super) const MANY: f64 = 10.0;

/// A request that is answered within this is quick, whatever it asks.
pub(super) const QUICK: Nanos = Nanos::from_millis(10);

/// An answer within this is not late for a person who waits for a page (Miller 1968, Nielsen 1993: a tenth of a second seems instant).
pub(crate) const LATE: Nanos = Nanos::from_millis(100);

/// Up to this many requests on a connection count as one: log-ins and settings come before it (the log-in of
/// PostgreSQL with SCRAM takes three turns, the query one, the farewell one).
pub(super) const MAX_REQUESTS: f64 = 5.0;

/// Whether `commands`, apart by spaces, has `command`.
pub(super) fn lists(commands: &str, command: &str) -> bool {
    commands.split(' ').any(|one| one == command)
}

/// True where requests that the program serves are seen: their time is the one that counts.
#[gated]
pub(crate) fn serves(facts: &Facts) -> bool {
    facts.requests.endpoints().iter().any(|row| row.side == Side::Server && row.stats.count > 0)
}

/// The servers that are asked over connections, by process. The other end of a pair of sockets is no server, and who only sends or takes
/// what comes up is not asked.
#[gated]
pub(super) fn servers(facts: &Facts) -> impl Iterator<Item = &PeerFacts> {
    let connects = |peer: &&PeerFacts| matches!(peer.kind, FdKind::Tcp | FdKind::Unix | FdKind::Socket);
    facts
        .peers
        .by_process()
        .filter(|peer| peer.role == Role::Server && is_address(&peer.name))
        .filter(connects)
        .filter(|peer| !is_stream(facts, peer.process, &peer.name))
}

/// True where what goes over the connections to `peer` are no questions and answers: a feed, a log, replication.
pub(super) fn is_stream(facts: &Facts, process: Option<ProcessId>, peer: &str) -> bool {
    facts.requests.streams(Side::Client, process, peer).is_stream()
}

/// What the protocol of `peer` is called where no decoder knows it; `None` where one does, and where it is encrypted.
#[gated]
pub(super) fn unknown_protocol(facts: &Facts, peer: &str) -> Option<String> {
    let mut rows = endpoints(facts, peer).filter(|row| row.stats.count > 0).peekable();
    let is_unknown = rows.peek().is_some() && rows.all(EndpointFacts::is_undecoded);
    is_unknown.then(|| UNKNOWN_PROTOCOL.to_string())
}

/// The mark of a finding about requests of a protocol that is not known.
pub(super) fn mark(row: &EndpointFacts) -> Option<String> {
    row.is_undecoded().then(|| UNKNOWN_PROTOCOL.to_string())
}

/// Who asks for a request that is served: `GET /orders`; where what is asked is not seen, `shop.py (812)`.
pub(super) fn server_words(facts: &Facts, row: &EndpointFacts) -> String {
    match row.is_hidden() {
        true => asker(facts, row.kept().next().map(|record| record.process)),
        false => row.name.to_string(),
    }
}

/// What is served: `GET /orders`; where that is not seen, `requests to 127.0.0.1:7000`.
pub(super) fn served_words(row: &EndpointFacts) -> String {
    match &row.local {
        Some(local) if row.is_hidden() => format!("requests to {local}"),
        None if row.is_hidden() => "its requests".to_string(),
        _ => row.name.to_string(),
    }
}

/// `10.0.0.1:8081 for GET /price/{id}`; where what is asked is not seen, `/run/store.sock (unknown protocol)`.
pub(super) fn whom_for_what(row: &EndpointFacts) -> String {
    let peer = row.peer.as_deref().unwrap_or("a server");
    match row.is_hidden() {
        true => format!("{peer} ({})", row.protocol_words().unwrap_or(UNKNOWN_PROTOCOL)),
        false => format!("{peer} for {}", row.name),
    }
}

/// What `whyslow requests --match` finds such requests by.
pub(super) fn to_match(row: &EndpointFacts) -> &str {
    match &row.peer {
        Some(peer) if row.is_hidden() => peer,
        _ => &row.name,
    }
}

/// How a finding says that it stands on changes of direction alone.
pub(super) fn by_direction(protocol: &Option<String>) -> &'static str {
    match protocol {
        Some(_) => {
            " Its protocol is not known here: a change of direction and back stands for a question and its answer."
        }
        None => "",
    }
}

/// True for questions of a protocol that is not known, which are all about as large: the same is asked, of another thing each time.
#[gated]
pub(super) fn asks_alike(row: &EndpointFacts) -> bool {
    row.is_undecoded() && row.stats.count > 0 && row.sizes.are_alike()
}

/// The name servers that are asked, by process: over UDP, so without a connection.
#[gated]
pub(super) fn name_servers(facts: &Facts) -> impl Iterator<Item = &PeerFacts> {
    facts.peers.by_process().filter(|peer| peer.role == Role::Server && is_name_server(peer))
}

/// True for one that is asked for names over UDP.
pub(super) fn is_name_server(peer: &PeerFacts) -> bool {
    peer.kind == FdKind::Udp && peer.protocol == Some("DNS")
}

/// `10.0.0.7:6379`, `/run/x.sock`, `@x`: what one can connect to.
pub(super) fn is_address(name: &str) -> bool {
    name.starts_with(['/', '@']) || port_of(name).is_some()
}

/// True for an address of this host's loopback: no network is between.
#[gated]
pub(super) fn is_here(name: &str) -> bool {
    is_loopback_address(name)
}

/// True where each question has a connection of its own, with a log-in before it: that is what costs, not the turns.
#[gated]
pub(super) fn connects_each_time(peer: &PeerFacts) -> bool {
    peer.opened as f64 * MAX_REQUESTS >= peer.requests as f64
}

/// What is asked of `peer`, as far as its protocol is known.
pub(super) fn endpoints<'a>(facts: &'a Facts, peer: &str) -> impl Iterator<Item = &'a EndpointFacts> {
    let rows = facts.requests.endpoints().iter();
    rows.filter(move |row| row.side == Side::Client && row.peer.as_deref() == Some(peer))
}

/// True where answers of `peer` are late because there is nothing to tell yet: blocking reads of a queue, consumers that only
/// acknowledge.
#[gated]
pub(super) fn waits_on_purpose(facts: &Facts, peer: &PeerFacts) -> bool {
    let time = |blocking: bool| {
        let rows = endpoints(facts, &peer.name);
        let rows =
            rows.filter(|row| lists(WAITING, row.name.split(' ').next().unwrap_or_default()) == blocking);
        rows.fold(0u64, |sum, row| sum.saturating_add(row.stats.total_ns))
    };
    let consumes = || {
        let asks =
            |row: &EndpointFacts| row.name.starts_with("basic.publish") || row.name.starts_with("basic.get");
        peer.protocol == Some("AMQP") && !endpoints(facts, &peer.name).any(asks)
    };
    time(true) > time(false) || consumes()
}

/// The part of the time of the thread that asks, or of the wall time where several do.
#[gated]
pub(super) fn share(facts: &Facts, tid: Option<Tid>, ns: u64, count: u64) -> Share {
    match whole(facts, tid) {
        0 => guards::share_of_ns(facts, tid, Nanos::new(ns), count),
        // Of calls that were only counted the thread's first and last tell nothing; its account does.
        whole => Share::of_time(
            (ns as f64 / guards::recorded_of(facts, whole, ns.checked_div(count)) as f64).min(1.0),
            match tid {
                Some(tid) if tid > 0 => format!("the time of thread {tid}"),
                // A trace of one thread alone shows no numbers.
                _ => "the thread's time".to_string(),
            },
        ),
    }
}

/// All that is told of a thread's time, ns; 0 where it is unknown.
pub(super) fn whole(facts: &Facts, tid: Option<Tid>) -> u64 {
    let id = tid.and_then(|tid| facts.world.threads.id_of(tid));
    id.and_then(|id| facts.accounts.of(id)).map_or(0, |account| account.total())
}

/// The name of the program that asks; `None` where it is unknown.
pub(super) fn program(facts: &Facts, process: Option<ProcessId>) -> Option<&str> {
    facts.world.threads.known_process(process?)?.name()
}

/// Who asks: `import.py (812)`.
pub(super) fn asker(facts: &Facts, process: Option<ProcessId>) -> String {
    let known = process.and_then(|process| facts.world.threads.known_process(process));
    match known.map(|process| (process.name(), process.pid)) {
        Some((Some(name), Some(pid))) => format!("{name} ({pid})"),
        Some((Some(name), None)) => name.to_string(),
        Some((None, Some(pid))) => format!("process {pid}"),
        Some((None, None)) | None => "the program".to_string(),
    }
}

/// A query that reads one thing by its key: asked again and again, it could be asked once for all.
pub(super) fn reads_one(row: &EndpointFacts) -> bool {
    /// How such queries begin.
    const READS: &str = "SELECT GET HGET HMGET HGETALL SMEMBERS LRANGE ZRANGE ZSCORE EXISTS find get gets";
    let reads = lists(READS, row.name.split(' ').next().unwrap_or_default());
    match row.protocol {
        // Without a table it asks for something of the session. What is cut may have one.
        Some("PostgreSQL" | "MySQL") => {
            reads && (row.name.to_ascii_uppercase().contains(" FROM ") || row.name.ends_with('…'))
        }
        Some("Redis" | "MongoDB" | "memcached") => reads,
        _ => false,
    }
}
