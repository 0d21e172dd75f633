//! Table `endpoints`: what is known of all requests.

use super::{Cell, Computed, Derived, NS, Rows, text, whole};

pub(super) static TABLE: Derived = Derived {
    name: "endpoints",
    about: "All requests that ask for the same.",
    columns: &[
        text("side", "server: it was asked. client: it asked."),
        text("protocol", "The protocol; null where it was not recognised."),
        text("endpoint", "What they ask for."),
        text("peer", "Whom they ask (client)."),
        whole("count", "", "Answered and aborted ones."),
        whole("failed", "", "Of these, those that failed or were aborted."),
        whole("open", "", "Those that were open at the end; not in count."),
        whole("time", NS, "Their time from begin to end, added up."),
        whole("p50", NS, "Half of them took no longer."),
        whole("p99", NS, "99 of 100 took no longer."),
        whole("longest", NS, "The slowest."),
        whole("request_bytes", "bytes", "Bytes of the requests."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    for row in of.facts.requests.endpoints().iter().filter(|row| row.stats.count + row.open > 0) {
        rows.add([
            Cell::text(Some(super::requests::side(row.side))),
            Cell::text(row.protocol),
            Cell::Text(of.shown(&row.name)),
            Cell::text(row.peer.as_deref()),
            Cell::whole(Some(row.stats.count)),
            Cell::whole(Some(row.stats.errors)),
            Cell::whole(Some(row.open)),
            Cell::nanos(row.stats.total()),
            Cell::nanos(row.stats.percentile(0.5)),
            Cell::nanos(row.stats.percentile(0.99)),
            Cell::nanos(row.stats.max()),
            Cell::whole(Some(row.request_bytes)),
        ]);
    }
}
