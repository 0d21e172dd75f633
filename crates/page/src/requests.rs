//! Requests: those that facts keep one by one, and what is known of all.

use crate::data::{PageEndpoint, PageRequests};
use crate::texts::Texts;
use crate::threads::Threads;
use std::cmp::Reverse;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;

/// The requests, `most` of them one by one; `None` where there are none. Tells how many are not among those.
pub(crate) fn requests(
    facts: &Facts,
    threads: &Threads,
    most: usize,
    texts: &mut Texts,
) -> Option<(PageRequests, u64)> {
    let (all, origin) = (&facts.requests, facts.window.start.get()?);
    if all.count() == 0 {
        return None;
    }
    let mut kept: Vec<_> =
        all.records().filter(|record| record.begin.is_known() && record.dur.is_known()).collect();
    kept.sort_by_key(|record| (record.number, Reverse(record.dur)));
    // A request may be kept twice: as slow and as failed.
    kept.dedup_by_key(|record| record.number);
    if kept.len() > most {
        kept.sort_by_key(|record| (!record.failed(), Reverse(record.dur), record.number));
        kept.truncate(most);
    }
    kept.sort_by_key(|record| (record.begin, record.number));
    let mut out = PageRequests::default();
    let mut last = 0;
    for record in &kept {
        let start = record.begin.or_zero() as i64 - origin as i64;
        let name = all.endpoint(record.endpoint).map_or("unknown", |row| &row.name);
        out.endpoint.push(texts.id(name));
        out.served.push(record.side == Side::Server);
        out.start.push(start - last);
        out.took.push(record.dur.or_zero());
        out.failed.push(record.failed());
        out.thread.push(threads.place(record.answered_by.unwrap_or(record.tid)));
        out.peer.push(record.peer.as_ref().map(|peer| texts.id(peer)));
        last = start;
    }
    for row in all.endpoints() {
        let percentile = |q: f64| row.stats.percentile(q).get();
        out.endpoints.push(PageEndpoint {
            endpoint: texts.id(&row.name),
            count: row.stats.count.saturating_add(row.open),
            p50: percentile(0.5),
            p95: percentile(0.95),
            p99: percentile(0.99),
            max: row.stats.max().get(),
            failed: row.stats.errors,
        });
    }
    let left_out = all.count().saturating_sub(kept.len() as u64);
    Some((out, left_out))
}
