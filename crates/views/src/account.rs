//! The view `account`: where the time of what was asked about went, in rows that add up to it.

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use whyslow_account::{By, account_by};
use whyslow_facts::Facts;
use whyslow_model::figures::percent;
use whyslow_model::{
    AccountRow, Cell, Column, Known, Nanos, ParkedAt, RequestPart, RequestTimes, RequestsTime, RowDevice,
    Table, TimeAccount, TimeOf, WorkedOnContent,
};

/// The view.
pub(super) static VIEW: View = View {
    name: "account",
    of_calls: true,
    summary: "the account of time: who spends it, doing what or waiting for what, in rows that add up",
    by: &["row", "thread", "state", "object", "request", "line"],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let by = By::of_word(VIEW.grouping(ask)?).unwrap_or_default();
    let mut notes: Vec<String> = nothing_because(facts, "times").into_iter().collect();
    let account = account_by(facts, by);
    let requests = account.iter().filter(|_| by == By::Request).flat_map(|account| &account.requests);
    let mut rows: Vec<Vec<Cell>> = requests.flat_map(of_requests).collect();
    let is_by_request = !rows.is_empty();
    if !is_by_request {
        rows = account.iter().flat_map(|account| &account.rows).map(cells).collect();
    }
    if let Some(account) = &account {
        match is_by_request {
            true => notes.push(
                "share: of the time of all requests of the endpoint, and of the slowest (99th percentile and over, as far as they are kept) apart. Of all the calls of their own threads count, by kind; the slowest are followed through whom they waited for."
                    .to_string(),
            ),
            false => notes.push(whose(account)),
        }
        if account.idle_ns > 0 {
            let idle = Nanos::new(account.idle_ns);
            notes.push(format!(
                "Not in it: {idle} in which threads waited for work (clients, requests, tasks)."
            ));
        }
        notes.push(match account.demand.words() {
            Some(words) => format!("Demand: {words}."),
            None => "Demand: unknown whether work waited (none of its queues was sampled).".to_string(),
        });
        notes.extend(account.demand.callers.iter().map(|caller| format!("Caller: {}.", caller.words())));
        if by == By::Line {
            notes.push("line not known: no stack was recorded of it, or none of the program's own code stands on it.".to_string());
        }
        let has = |known: Known| !is_by_request && account.rows.iter().any(|row| row.known == known);
        if has(Known::InProportion) {
            notes.push("in-proportion: shared out by sums, which is all that is kept of calls shorter than a millisecond, or by samples.".to_string());
        }
        if has(Known::AtMost) {
            notes.push("at-most: the capture tells when calls began and not how long they took; it is the time to the next call.".to_string());
        }
        if has(Known::AtLeast) {
            notes.push("at-least: it had not ended when the capture did.".to_string());
        }
    }
    let table = Table {
        name: VIEW.name,
        question: "Where did the time go?".to_string(),
        columns: vec![
            Column::new("who", "who"),
            Column::new("state", "state"),
            Column::optional("call", "call", 6),
            Column::optional("object", "on what", 7),
            Column::optional("goroutines", "meanwhile", 6),
            Column::optional("works_on", "works on", 6),
            Column::optional("device", "device", 6),
            Column::new("time", "time"),
            Column::new("share", "share"),
            Column::optional("known", "known", 3),
            Column::optional("count", "count", 5),
            Column::optional("mean", "mean", 4),
            Column::optional("p99", "p99", 3),
            Column::optional("longest", "longest", 2),
            Column::optional("evidence", "seen at", 1),
        ],
        rows,
        total: None,
        notes,
    };
    // The parts of one account stand together.
    finish(table, ask, if is_by_request { "none" } else { "time" })
}

/// The parts of the time of an endpoint's requests: of all, then of the slowest.
fn of_requests(times: &RequestTimes) -> Vec<Vec<Cell>> {
    let endpoint = &times.endpoint;
    let all = (format!("{endpoint}: all"), &times.all);
    let slowest =
        times.slowest.as_ref().map(|slow| (format!("{endpoint}: slowest (from {})", slow.from_ns), slow));
    let of_time = |(who, time): (String, &RequestsTime)| -> Vec<Vec<Cell>> {
        let cells = |part: &RequestPart| {
            vec![
                Cell::Text(who.clone()),
                Cell::Text(part.state.word().to_string()),
                Cell::Unknown,
                Cell::text(part.object.clone()),
                Cell::Unknown,
                Cell::Unknown,
                Cell::Unknown,
                Cell::Duration(Nanos::new(part.ns)),
                Cell::Share(part.share),
                Cell::Unknown,
                Cell::Count(time.count),
                Cell::duration(Nanos::new(part.ns / time.count.max(1))),
                Cell::Unknown,
                Cell::Unknown,
                Cell::Unknown,
            ]
        };
        time.parts.iter().map(cells).collect()
    };
    std::iter::once(all).chain(slowest).flat_map(of_time).collect()
}

fn cells(row: &AccountRow) -> Vec<Cell> {
    vec![
        Cell::Text(row.who.clone()),
        Cell::Text(row.state.word().to_string()),
        Cell::text(row.call.clone()),
        Cell::text(row.object.clone().or_else(|| row.function.clone()).or_else(|| row.ran_meanwhile())),
        Cell::text(row.goroutines.first().map(ParkedAt::counted)),
        Cell::text(works_on(row)),
        Cell::text(row.device.as_ref().map(RowDevice::words)),
        Cell::Duration(Nanos::new(row.ns)),
        Cell::Share(row.share),
        Cell::text(Some(row.known.word()).filter(|_| row.known != Known::Exact)),
        row.count.map_or(Cell::Unknown, Cell::Count),
        Cell::duration(row.mean_ns),
        Cell::duration(row.p99_ns),
        Cell::duration(row.longest_ns),
        Cell::text(row.evidence.as_ref().map(|line| line.source.clone())),
    ]
}

/// What a row's threads work on while they compute: `82.0 % on what it read of /srv/a.json (51 times, 4.1 MB each)`.
fn works_on(row: &AccountRow) -> Option<String> {
    let part = |on: &WorkedOnContent| percent(on.ns as f64 / row.ns.max(1) as f64);
    row.works_on.first().map(|on| format!("{} on {}", part(on), on.words()))
}

/// Whose time it is.
fn whose(account: &TimeAccount) -> String {
    let how = match account.of {
        TimeOf::Requests => " Of each endpoint the slowest requests and the failed ones are counted.",
        TimeOf::Command => " Waits are followed through whom it waited for.",
        TimeOf::Threads => "",
    };
    format!("share: of {}.{how}", account.whose())
}
