//! The view `peers`: who listens, who talks to whom, how long answers take, what fails.

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use whyslow_facts::Facts;
use whyslow_facts::folds::peers::{CountedPeer, PeerFacts, Role, host_of, port_of};
use whyslow_facts::folds::requests::{Side, UNKNOWN_PROTOCOL};
use whyslow_facts::services::{Listener, OtherEnd, Services};
use whyslow_facts::who::process_name;
use whyslow_model::{Cell, Column, FdKind, Nanos, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "peers",
    of_calls: true,
    summary: "the other ends of sockets: requests, answer times, connections, failures",
    by: &[],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let timed = facts.capture.has_durations();
    let services = Services::of(facts);
    let wanted = |name: &str| {
        ask.fds.peer.as_deref().is_none_or(|asked| name.contains(asked))
            && ask.fds.port.is_none_or(|asked| port_of(name) == Some(asked))
    };
    let mut rows: Vec<_> = facts
        .peers
        .by_process()
        .filter(|peer| wanted(&peer.name))
        .map(|peer| row(facts, &services, peer, timed))
        .collect();
    let listeners = services.listeners.iter().filter(|listener| wanted(&listener.address));
    rows.extend(listeners.map(|listener| listens(facts, listener)));
    let mut notes: Vec<String> = nothing_because(facts, "peers").into_iter().collect();
    if facts.mostly_counted() {
        let counted = facts.peers.counted.iter().filter(|peer| wanted(&peer.name));
        rows.extend(counted.map(|peer| counted_row(facts, peer)));
        notes.push(
            "counted: all calls on the connections to that service, added up in the kernel; the other rows are of calls that were slow."
                .to_string(),
        );
    }
    if !rows.is_empty() {
        notes.push(
            "p50, p99, max: of a server, from a request to the first byte of its answer; of a client, from its \
             request to the first byte of our answer. waited: in waits for it alone."
                .to_string(),
        );
    }
    let streams = |peer: &PeerFacts| {
        let side = if peer.role == Role::Server { Side::Client } else { Side::Server };
        facts.requests.streams(side, peer.process, &peer.name).is_stream()
    };
    if facts.peers.by_process().any(streams) {
        notes.push(
            "No requests: what goes over the connection is a feed, a log or the like, not questions and answers.".to_string(),
        );
    }
    if facts.peers.by_process().any(|peer| services.other_end(facts, peer).processes.is_empty()) {
        notes.push(
            "No process at the other end: it is not in the capture, or its address is not.".to_string(),
        );
    }
    let table = Table {
        name: VIEW.name,
        question: "Who talks to whom, and how long do answers take?".to_string(),
        columns: columns(),
        rows,
        total: None,
        notes,
    };
    finish(table, ask, if timed { "waited" } else { "requests" })
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("process", "process"),
        Column::new("role", "has as"),
        Column::optional("protocol", "protocol", 4),
        Column::new("requests", "requests"),
        Column::optional("errors", "errors", 2),
        Column::optional("p50", "p50", 2),
        Column::optional("p99", "p99", 1),
        Column::optional("max", "max", 4),
        Column::optional("unanswered", "unanswered", 3),
        Column::optional("waited", "waited", 2),
        Column::optional("connections", "connections", 3),
        Column::optional("failed_connects", "failed", 3),
        Column::optional("calls", "calls", 3),
        Column::optional("time", "time", 3),
        Column::optional("error", "error", 5),
        Column::optional("sent", "sent", 6),
        Column::optional("received", "received", 6),
        Column::new("peer", "peer"),
        Column::optional("peer_process", "peer's process", 1),
    ]
}

fn row(facts: &Facts, services: &Services, peer: &PeerFacts, timed: bool) -> Vec<Cell> {
    let (role, side) = match peer.role {
        Role::Server => ("server", Side::Client),
        Role::Client => ("client", Side::Server),
    };
    let seen = peer.protocol.or_else(|| protocol_of(facts, side, peer));
    // A feed, a log: its changes of direction are no requests.
    let is_stream = seen.is_none() && facts.requests.streams(side, peer.process, &peer.name).is_stream();
    let protocol = seen.or_else(|| (peer.requests > 0 && takes_turns(peer)).then_some(UNKNOWN_PROTOCOL));
    // Where the protocol is not known nothing tells which answers are errors.
    let told = peer.process.filter(|_| seen.is_some_and(|protocol| protocol != "TLS"));
    let errors = told.map(|process| facts.requests.failed(side, process, &peer.name));
    let answers = |time: Nanos| if is_stream { Cell::Unknown } else { Cell::duration(time) };
    vec![
        peer.process.map_or(Cell::Unknown, |process| Cell::Text(process_name(facts, process))),
        Cell::Text(role.to_string()),
        Cell::text(protocol),
        if is_stream { Cell::Unknown } else { Cell::Count(peer.requests) },
        errors.map_or(Cell::Unknown, Cell::Count),
        answers(peer.answers.percentile(0.5)),
        answers(peer.answers.percentile(0.99)),
        answers(peer.answers.max()),
        Cell::Count(peer.unanswered.count),
        if timed { Cell::Duration(Nanos::new(peer.wait_ns)) } else { Cell::Unknown },
        Cell::Count(peer.opened),
        Cell::Count(peer.failed()),
        Cell::Unknown,
        Cell::Unknown,
        Cell::text(peer.main_failure().map(|errno| errno.name())),
        Cell::Bytes(peer.sent),
        Cell::Bytes(peer.received),
        Cell::Text(match &peer.host {
            Some(host) => format!("{} ({host})", peer.name),
            None => peer.name.to_string(),
        }),
        other_end(facts, &services.other_end(facts, peer)),
    ]
}

/// The row of a service of which calls were only added up.
fn counted_row(facts: &Facts, peer: &CountedPeer) -> Vec<Cell> {
    let (role, name) = match peer.role {
        Role::Server => ("server", peer.name.to_string()),
        Role::Client => ("client", format!("clients of {}", peer.name)),
    };
    let used = &peer.used;
    let time = Nanos::new(used.total_ns());
    let cell = |column: Column| match column.key {
        "process" => Cell::Text(process_name(facts, peer.process)),
        "role" => Cell::Text(format!("{role}, counted")),
        "calls" => Cell::Count(used.calls()),
        "time" if used.reads.timed.saturating_add(used.writes.timed) > 0 => Cell::Duration(time),
        "sent" => Cell::Bytes(used.writes.bytes),
        "received" => Cell::Bytes(used.reads.bytes),
        "peer" => Cell::Text(name.clone()),
        _ => Cell::Unknown,
    };
    columns().into_iter().map(cell).collect()
}

/// True for a connection of which changes of direction are told.
fn takes_turns(peer: &PeerFacts) -> bool {
    matches!(peer.kind, FdKind::Tcp | FdKind::Unix | FdKind::Socket)
}

/// What the requests of that process and peer are, by one of those that are kept.
fn protocol_of(facts: &Facts, side: Side, peer: &PeerFacts) -> Option<&'static str> {
    let mut records = facts.requests.records().filter(|record| {
        record.side == side
            && Some(record.process) == peer.process
            && record.peer.as_deref().is_some_and(|name| host_of(name) == &*peer.name)
    });
    records.find_map(|record| facts.requests.endpoint(record.endpoint)?.protocol)
}

/// `1200 feed.py, 1190 Catalog and others`; unknown where nobody is in the capture.
fn other_end(facts: &Facts, end: &OtherEnd) -> Cell {
    /// More names make a row too long for a terminal.
    const MOST: usize = 2;
    if end.processes.is_empty() {
        return Cell::Unknown;
    }
    let names: Vec<String> =
        end.processes.iter().take(MOST).map(|process| process_name(facts, *process)).collect();
    let more = end.processes.len() > MOST || end.and_others;
    Cell::Text(names.join(", ") + if more { " and others" } else { "" })
}

/// The row of a listening socket.
fn listens(facts: &Facts, listener: &Listener) -> Vec<Cell> {
    let cell = |column: Column| match column.key {
        "process" => Cell::Text(process_name(facts, listener.process)),
        "role" => Cell::Text("listens".to_string()),
        "peer" => Cell::Text(listener.address.to_string()),
        _ => Cell::Unknown,
    };
    columns().into_iter().map(cell).collect()
}
