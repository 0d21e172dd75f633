//! Table `account`: where the time went.

use super::{Cell, Computed, Derived, NS, Rows, SHARE, real, text, whole};

pub(super) static TABLE: Derived = Derived {
    name: "account",
    about: "A part of the time of what was asked about. The rows exclude each other and add up to verdict.time.",
    columns: &[
        text("who", "Who spends it: 4 x worker of app.py (812)."),
        whole("threads", "", "How many threads that is."),
        whole("pid", "", "The process; null where there are several."),
        text(
            "state",
            "Doing what: user, kernel, run-queue, file, peer, lock, pipe, timer, child, poll and others.",
        ),
        text("call", "In which call; null outside of calls."),
        text("object", "On what: a path, an address, a lock."),
        text("function", "The function of the program's own code that takes most of it."),
        text("place", "Its line."),
        whole("time", NS, "How much."),
        real("share", SHARE, "The part of all rows."),
        whole("count", "", "How many calls; null where it is one sum."),
        whole("mean", NS, "Of those the mean."),
        whole("p99", NS, "The 99th percentile."),
        whole("longest", NS, "The longest."),
        text("known", "exact, at-least, in-proportion, at-most."),
        text("claimed_by", "The rules whose findings explain it, separated by commas."),
        text("evidence", "Where the longest is seen: source:line."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    for row in of.diagnosis.account.iter().flat_map(|account| &account.rows) {
        let some = |text: &Option<String>| Cell::text(text.as_ref().map(|text| of.shown(text)));
        let pid = if let [pid] = row.pids.as_slice() { Some(*pid) } else { None };
        let rules: Vec<&str> = row.claimed_by.iter().map(|claim| claim.id).collect();
        rows.add([
            Cell::Text(of.shown(&row.who)),
            Cell::whole(Some(row.threads)),
            Cell::whole(pid),
            Cell::text(Some(row.state.word())),
            some(&row.call),
            some(&row.object),
            some(&row.function),
            some(&row.place),
            Cell::whole(Some(row.ns)),
            Cell::Real(row.share),
            Cell::whole(row.count),
            Cell::nanos(row.mean_ns),
            Cell::nanos(row.p99_ns),
            Cell::nanos(row.longest_ns),
            Cell::text(Some(row.known.word())),
            Cell::text(Some(rules.join(",")).filter(|rules| !rules.is_empty())),
            Cell::text(row.evidence.as_ref().map(|line| line.source.as_str())),
        ]);
    }
}
