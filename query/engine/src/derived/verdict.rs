//! Table `verdict`: the first sentence of the report.

use super::{Cell, Computed, Derived, NS, Rows, text, whole};

pub(super) static TABLE: Derived = Derived {
    name: "verdict",
    about: "The first sentence of the report, a row a recording.",
    columns: &[
        text("verdict", "What the program waits for, who is to blame."),
        text("context", "What belongs beside it."),
        whole("time", NS, "The time of what was asked about: the rows of account add up to it."),
        whole("idle", NS, "What threads waited for work beside that."),
        whole("unknown", NS, "Of that time, what nothing tells."),
        whole("claimed", NS, "Of that time, what findings explain."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    let diagnosis = &of.diagnosis;
    let account = diagnosis.account.as_ref();
    rows.add([
        Cell::Text(of.shown(&diagnosis.verdict)),
        Cell::text(Some(of.shown(&diagnosis.context)).filter(|context| !context.is_empty())),
        Cell::whole(account.map(|account| account.ns)),
        Cell::whole(account.map(|account| account.idle_ns)),
        Cell::whole(account.map(|account| account.unknown_ns)),
        Cell::whole(account.map(|account| account.claimed_ns)),
    ]);
}
