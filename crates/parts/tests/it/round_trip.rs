//! Rows of each table, written and read.

use bytes::Bytes;
use proptest::prelude::*;
use whyslow_parts::{
    AccountRow, AgentRow, CallRow, FindingRow, HostRow, MinuteRows, Observed, PartAbout, PartError,
    PartReader, PartRow, RequestRow, StackRow, UseRow, UtcTime, VERSION, encode, rows_of,
};

pub(crate) fn observed(host: &str, minute: i64) -> Observed {
    Observed { host: host.to_string(), start: UtcTime(minute * 60_000_000), seconds: 59.5 }
}

pub(crate) fn written<R: PartRow>(rows: &[(Observed, R)]) -> Bytes {
    let mut columns = MinuteRows::new();
    rows.iter().for_each(|(observed, row)| columns.push(observed, row));
    encode(R::table(), &[columns.finish().unwrap()], &PartAbout::new("0.1.0")).unwrap().into()
}

pub(crate) fn read<R: PartRow>(bytes: Bytes) -> Result<Vec<(Observed, R)>, PartError> {
    let mut rows = Vec::new();
    for batch in PartReader::open(R::table(), bytes)? {
        rows.extend(rows_of(&batch?)?);
    }
    Ok(rows)
}

fn come_back<R: PartRow + PartialEq + std::fmt::Debug + Clone>(rows: [R; 2]) {
    let rows: Vec<_> =
        rows.into_iter().enumerate().map(|(at, row)| (observed("h", at as i64), row)).collect();
    assert_eq!(read(written(&rows)), Ok(rows), "{}", R::table().name);
}

#[test]
fn rows_of_each_table_come_back_with_all_known_and_with_all_unknown() {
    let text = |text: &str| Some(text.to_string());
    come_back([
        AccountRow::default(),
        AccountRow {
            version: text("v1"),
            call: text("read"),
            object: text("/a/*"),
            line: text("a.c:7"),
            ns: u64::MAX,
            threads: 3,
            ..AccountRow::default()
        },
    ]);
    come_back([
        CallRow::default(),
        CallRow {
            errors: Some(0),
            ns: Some(7),
            longest_ns: Some(5),
            buckets: Some(vec![0, 1, u64::MAX]),
            ..CallRow::default()
        },
    ]);
    come_back([
        UseRow::default(),
        UseRow {
            side: text("asked"),
            object: text("db:5432").unwrap_or_default(),
            ns: Some(7),
            longest_ns: Some(5),
            ..UseRow::default()
        },
    ]);
    come_back([
        RequestRow::default(),
        RequestRow {
            peer: text("db"),
            failed: Some(1),
            p50_ns: Some(1),
            p90_ns: Some(2),
            p99_ns: Some(3),
            buckets: Some(vec![]),
            ..RequestRow::default()
        },
    ]);
    come_back([
        StackRow::default(),
        StackRow { stack: "main;f;g".to_string(), ns: Some(1), ..StackRow::default() },
    ]);
    come_back([HostRow::default(), HostRow { value: -1.5, unit: "%".to_string(), ..HostRow::default() }]);
    come_back([
        FindingRow::default(),
        FindingRow {
            confidence: Some(0.9),
            opened: UtcTime(-1),
            evidence: "{}".to_string(),
            dump: text("x"),
            ..FindingRow::default()
        },
    ]);
    come_back([
        AgentRow::default(),
        AgentRow { clock_skew_ns: Some(-5), cpu_share: Some(0.01), ..AgentRow::default() },
    ]);
}

#[test]
fn rows_are_sorted_and_the_part_says_what_it_is() {
    let row = |service: &str| AccountRow { service: service.to_string(), ..AccountRow::default() };
    let rows = [
        (observed("b", 1), row("x")),
        (observed("a", 1), row("y")),
        (observed("a", 0), row("y")),
        (observed("a", 9), row("x")),
    ];
    let bytes = written(&rows);
    let reader = PartReader::open(AccountRow::table(), bytes.clone()).unwrap();
    assert_eq!((reader.about().version, reader.about().agent.as_str()), (VERSION, "0.1.0"));
    let read: Vec<_> = read::<AccountRow>(bytes)
        .unwrap()
        .into_iter()
        .map(|(seen, row)| (seen.host, row.service, seen.start.0))
        .collect();
    let minute = |minute: i64| minute * 60_000_000;
    let want = [("a", "x", 9), ("a", "y", 0), ("a", "y", 1), ("b", "x", 1)];
    assert_eq!(
        read,
        want.map(|(host, service, start)| (host.to_string(), service.to_string(), minute(start)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A damaged part is an error or other rows, and nothing else.
    #[test]
    fn damage_is_told(at in 0usize..4000, byte: u8, cut in 0usize..4000) {
        let rows: Vec<_> = (0..50).map(|at| (observed("h", at), CallRow { call: format!("call{at}"), buckets: Some(vec![1, 2]), ..CallRow::default() })).collect();
        let mut bytes = written(&rows).to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read::<CallRow>(bytes.clone().into());
        bytes.truncate(cut % bytes.len());
        prop_assert!(read::<CallRow>(bytes.into()).is_err());
    }
}
