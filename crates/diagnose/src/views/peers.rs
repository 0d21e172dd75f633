//! The view `peers`: whom the program talks to, how long answers take, what fails.

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use crate::facts::Facts;
use crate::facts::peers::{PeerFacts, Role};
use whyslow_model::{Cell, Column, Nanos, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "peers",
    summary: "the other ends of sockets: requests, answer times, connections, failures",
    by: &[],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let timed = facts.capture.has_durations();
    let rows: Vec<_> = facts
        .peers
        .iter()
        .filter(|peer| ask.fds.peer.as_deref().is_none_or(|asked| peer.name.contains(asked)))
        .filter(|peer| ask.fds.port.is_none_or(|asked| peer.port() == Some(asked)))
        .map(|peer| row(peer, timed))
        .collect();
    let mut notes: Vec<String> = nothing_because(facts, "peers").into_iter().collect();
    if !rows.is_empty() {
        notes.push(
            "p50, p99, max: of a server, from a request to the first byte of its answer; of a client, from its \
             request to the first byte of our answer. waited: in waits for it alone."
                .to_string(),
        );
    }
    let table = Table {
        name: VIEW.name,
        question: "Whom does it talk to, and how long do answers take?".to_string(),
        columns: vec![
            Column::new("role", "role"),
            Column::optional("protocol", "protocol", 4),
            Column::new("requests", "requests"),
            Column::optional("p50", "p50", 2),
            Column::optional("p99", "p99", 1),
            Column::new("max", "max"),
            Column::optional("unanswered", "unanswered", 3),
            Column::optional("waited", "waited", 2),
            Column::optional("connections", "connections", 3),
            Column::optional("failed_connects", "failed", 3),
            Column::optional("error", "error", 5),
            Column::optional("sent", "sent", 6),
            Column::optional("received", "received", 6),
            Column::new("peer", "peer"),
        ],
        rows,
        total: None,
        notes,
    };
    finish(table, ask, if timed { "waited" } else { "requests" })
}

fn row(peer: &PeerFacts, timed: bool) -> Vec<Cell> {
    let role = match peer.role {
        Role::Server => "server",
        Role::Client => "client",
    };
    vec![
        Cell::Text(role.to_string()),
        Cell::text(peer.protocol),
        Cell::Count(peer.requests),
        Cell::duration(peer.answers.percentile(0.5)),
        Cell::duration(peer.answers.percentile(0.99)),
        Cell::duration(peer.answers.max()),
        Cell::Count(peer.unanswered.count),
        if timed { Cell::Duration(Nanos::new(peer.wait_ns)) } else { Cell::Unknown },
        Cell::Count(peer.opened),
        Cell::Count(peer.failed()),
        Cell::text(peer.main_failure().map(|errno| errno.name())),
        Cell::Bytes(peer.sent),
        Cell::Bytes(peer.received),
        Cell::Text(peer.name.to_string()),
    ]
}
