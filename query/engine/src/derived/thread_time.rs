//! Table `thread_time`: the account thread by thread.

use super::{Cell, Computed, Derived, NS, Rows, SHARE, real, text, whole};
use whyslow_account::{By, account_by};

pub(super) static TABLE: Derived = Derived {
    name: "thread_time",
    about: "The time of one thread in one state: the account thread by thread.",
    columns: &[
        whole("tid", "", "The thread."),
        whole("pid", "", "Its process."),
        text("who", "Its name with that of its process."),
        text("state", "Doing what, as in account."),
        whole("time", NS, "How much."),
        real("share", SHARE, "The part of the whole account."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    for row in account_by(&of.facts, By::Thread).iter().flat_map(|account| &account.rows) {
        rows.add([
            Cell::whole(row.tid),
            Cell::whole(row.pids.first().copied()),
            Cell::Text(of.shown(&row.who)),
            Cell::text(Some(row.state.word())),
            Cell::whole(Some(row.ns)),
            Cell::Real(row.share),
        ]);
    }
}
