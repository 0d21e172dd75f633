//! Parts to store, and what is read of a store.

use std::collections::BTreeMap;
use std::time::Duration;
use whyslow_depot::{CompactOptions, Depot, DepotError};
use whyslow_parts::{
    AgentRow, CallRow, MinuteRows, Observed, PART_TABLES, PartAbout, PartHour, PartName, PartReader, PartRow,
    PartTable, UtcTime, encode, part_table, rows_of,
};

/// 2026-11-27 03:00 UTC: an hour that is over.
pub(crate) const HOUR: i64 = 1_795_748_400_000_000;

pub(crate) fn hour() -> PartHour {
    PartHour::of(UtcTime(HOUR)).expect("an hour").0
}

pub(crate) fn table(name: &str) -> &'static PartTable {
    part_table(name).expect("a table")
}

/// A part of `calls` (large) or `agents` (joined over hosts), of one row that says which it is.
pub(crate) fn part(of: &str, host: &str, run: &str, minute: u32) -> (PartName, Vec<u8>) {
    let start = UtcTime(HOUR + i64::from(minute) * 60_000_000);
    let observed = Observed { host: host.to_string(), start, seconds: 60.0 };
    let about = PartAbout::new("0.1.0");
    let key = format!("{host} {run} {minute}");
    let bytes = if of == "calls" {
        let mut rows = MinuteRows::new();
        rows.push(
            &observed,
            &CallRow { service: "web".to_string(), call: key, calls: 1, ..CallRow::default() },
        );
        encode(CallRow::table(), &[rows.finish().expect("rows")], &about)
    } else {
        let mut rows = MinuteRows::new();
        rows.push(&observed, &AgentRow { mode: key, ..AgentRow::default() });
        encode(AgentRow::table(), &[rows.finish().expect("rows")], &about)
    };
    (PartName::of_minute(table(of), host, start, run).expect("a name"), bytes.expect("bytes"))
}

/// How often each row is read, by what it says of itself, over `calls` and `agents`.
pub(crate) async fn rows_read(depot: &Depot) -> Result<BTreeMap<String, u32>, DepotError> {
    let mut found = BTreeMap::new();
    for table in PART_TABLES {
        for hour in depot.hours(table, &(PartHour::FIRST..PartHour::LAST)).await? {
            let listing = depot.list(table, hour).await?;
            let (choice, _) = depot.choose(&listing, &mut Vec::new()).await?;
            assert_eq!(choice.overlapping, []);
            for name in choice.read {
                for batch in PartReader::open(table, depot.read(&name).await?).expect("a part") {
                    let batch = batch.expect("rows");
                    let keys: Vec<String> = match table.name {
                        "calls" => {
                            rows_of::<CallRow>(&batch).unwrap().into_iter().map(|(_, row)| row.call).collect()
                        }
                        _ => rows_of::<AgentRow>(&batch)
                            .unwrap()
                            .into_iter()
                            .map(|(_, row)| row.mode)
                            .collect(),
                    };
                    keys.into_iter()
                        .for_each(|key| *found.entry(format!("{} {key}", table.name)).or_default() += 1);
                }
            }
        }
    }
    Ok(found)
}

/// What [`rows_read`] gives where each of these parts was stored.
pub(crate) fn each_once<'a>(names: impl IntoIterator<Item = &'a PartName>) -> BTreeMap<String, u32> {
    let key = |name: &PartName| {
        let whyslow_parts::PartHost::One(host) = &name.host else { panic!("{name}") };
        format!("{} {host} {} {}", name.table, name.id, name.minutes.first().unwrap_or_default())
    };
    names.into_iter().map(|name| (key(name), 1)).collect()
}

/// Everything that is over is joined, and sources go at once.
pub(crate) fn all_at_once() -> CompactOptions {
    CompactOptions {
        hours: PartHour::FIRST..PartHour::LAST,
        grace: Duration::ZERO,
        linger: Duration::ZERO,
        dry: false,
    }
}

/// Waits for something to become true.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "it never came to be that {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
