//! Table `requests`: requests one by one, as far as they are kept so.

use super::{Cell, Computed, Derived, NS, NS_SINCE, Rows, flag, text, whole};
use std::cmp::Reverse;
use whyslow_facts::folds::requests::{Ending, Side};

pub(super) static TABLE: Derived = Derived {
    name: "requests",
    about: "A request, of each endpoint the slowest and the failed; endpoints counts all.",
    columns: &[
        whole("number", "", "From 1, in the order in which they began."),
        text("side", "server: it was asked. client: it asked."),
        text("protocol", "The protocol; null where it was not recognised."),
        text("endpoint", "What it asks for, with what differs taken out: GET /user/{id}."),
        text("detail", "The request with its own values."),
        text("peer", "The other end."),
        text("status", "What the answer said."),
        flag("failed", "True where the answer says so, or where there was none."),
        text("ending", "answered, aborted, open."),
        whole("pid", "", "The process."),
        whole("tid", "", "The thread that read it (server) or sent it (client)."),
        whole("ts", NS_SINCE, "When it began."),
        whole("dur", NS, "From its begin to the end of its answer."),
        whole("first_byte", NS, "From its begin to the begin of its answer."),
        whole("request_bytes", "bytes", "Size of the request."),
        whole("answer_bytes", "bytes", "Size of the answer."),
        whole("parent", "", "Number of the request in which it was made."),
        text("trace_id", "The trace that it says it belongs to."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    let all = &of.facts.requests;
    let mut kept: Vec<_> = all.records().collect();
    kept.sort_by_key(|record| (record.number, Reverse(record.dur)));
    // A request may be kept twice: as slow and as failed.
    kept.dedup_by_key(|record| record.number);
    for record in kept {
        let endpoint = all.endpoint(record.endpoint);
        let process = of.facts.world.threads.known_process(record.process);
        let first_byte = match record.first_byte.is_known() && record.begin.is_known() {
            true => Cell::nanos(record.first_byte.since(record.begin)),
            false => Cell::Null,
        };
        rows.add([
            Cell::whole(Some(record.number)),
            Cell::text(Some(side(record.side))),
            Cell::text(endpoint.and_then(|endpoint| endpoint.protocol)),
            Cell::text(endpoint.map(|endpoint| of.shown(&endpoint.name))),
            Cell::text(Some(of.shown(&record.detail)).filter(|detail| !detail.is_empty())),
            Cell::text(record.peer.as_deref()),
            Cell::text(record.status.as_ref().map(|status| status.text.as_ref())),
            Cell::Flag(record.failed()),
            Cell::text(Some(match record.ending {
                Ending::Answered => "answered",
                Ending::Aborted => "aborted",
                Ending::Open => "open",
            })),
            Cell::whole(process.and_then(|process| process.pid)),
            Cell::whole(Some(record.tid)),
            Cell::moment(record.begin),
            Cell::nanos(record.dur),
            first_byte,
            Cell::whole(Some(record.request_bytes)),
            Cell::whole(Some(record.answer_bytes)),
            Cell::whole(record.parent.map(|(number, _)| number)),
            Cell::text(record.trace_id.as_deref()),
        ]);
    }
}

/// Which end of a connection.
pub(super) fn side(side: Side) -> &'static str {
    match side {
        Side::Server => "server",
        Side::Client => "client",
    }
}
