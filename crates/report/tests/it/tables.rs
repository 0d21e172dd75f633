//! Tables built by hand.

use whyslow_model::{Cell, Column, Nanos, Table};

/// `whyslow summary`, with a column of each kind.
pub(crate) fn summary() -> Table {
    let row = |name: &str, calls, total: Nanos, share, bytes: Option<u64>, rate, path: Option<&str>| {
        vec![
            Cell::Text(name.into()),
            Cell::Count(calls),
            Cell::duration(total),
            Cell::Share(share),
            bytes.map_or(Cell::Unknown, Cell::Bytes),
            Cell::per_second(rate),
            Cell::text(path),
        ]
    };
    Table {
        name: "summary",
        question: "Which calls take the time?".into(),
        columns: vec![
            Column::new("syscall", "syscall"),
            Column::new("calls", "calls"),
            Column::new("total_ns", "total"),
            Column::optional("share", "share", 1),
            Column::optional("bytes", "bytes", 2),
            Column::optional("per_s", "rate", 3),
            Column::optional("path", "most with", 1),
        ],
        rows: vec![
            row(
                "stat",
                200_135,
                Nanos::new(1_779_099_000),
                0.8907,
                None,
                Some(40_027.0),
                Some("/etc/localtime"),
            ),
            row(
                "write",
                523,
                Nanos::new(12_500_000),
                0.0063,
                Some(78_445_591),
                Some(104.6),
                Some("/var/log/app/backend/worker-7/2026-11-21/output.log"),
            ),
            row("poll", 3, Nanos::UNKNOWN, f64::NAN, Some(512), None, None),
        ],
        total: Some(vec![
            Cell::Text("all".into()),
            Cell::Count(200_661),
            Cell::Duration(Nanos::new(1_791_599_000)),
            Cell::Share(1.0),
            Cell::Bytes(78_446_103),
            Cell::Unknown,
            Cell::Unknown,
        ]),
        notes: vec!["poll: waiting, not cost.".into()],
    }
}

/// A table with one row of every cell, holding `text` and the figures.
pub(crate) fn table_filled_with(text: &str, figure: u64, share: f64) -> Table {
    let mut table = summary();
    table.question = text.into();
    table.notes = vec![text.into()];
    let words = || Cell::Text(text.into());
    let time = Cell::Duration(Nanos::new(figure));
    let (share, rate) = (Cell::Share(share), Cell::PerSecond(share));
    let row = vec![words(), Cell::Count(figure), time, share, Cell::Bytes(figure), rate, words()];
    // Also rows that are too short and too long.
    table.rows = vec![row.clone(), row[..3].to_vec(), [row.clone(), row.clone()].concat(), Vec::new()];
    table.total = Some(row);
    table
}
