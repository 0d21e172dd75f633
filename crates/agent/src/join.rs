//! The minutes of an hour made one part a table, before they are uploaded: a host makes some hundred uploads a day then, and not ten
//! thousand. Whatever it was killed at, doing it again gives the same.

use crate::outbox::Outbox;
use bytes::Bytes;
use std::collections::BTreeMap;
use whyslow_depot::{Spool, SpoolError};
use whyslow_parts::{
    PartAbout, PartError, PartHour, PartName, PartReader, PartTable, encode, join_batches, part_table,
};

/// Bytes of the parts that are joined at once: decoded, they are some ten times as many in memory.
const MOST_SOURCES: u64 = 4 << 20;

/// What became of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinedParts {
    /// Parts that were joined.
    pub(crate) sources: u64,
    /// Parts that are in the spool now.
    pub(crate) made: u64,
    /// What could not be joined, and why.
    pub(crate) notes: Vec<String>,
}

/// Parts with their bytes, by hour, table and folder.
type Groups = BTreeMap<(PartHour, &'static str, String), Vec<(PartName, u64)>>;

/// Moves what is of hours before `until` (of all, where there is none) from the outbox to the spool, an hour of a table in one part.
///
/// # Errors
/// Where the spool cannot be written. What was not moved stays in the outbox.
pub(crate) fn join_hours(
    outbox: &Outbox,
    spool: &Spool,
    until: Option<PartHour>,
) -> Result<JoinedParts, SpoolError> {
    let mut groups = Groups::new();
    for (name, bytes) in outbox.names() {
        if until.is_none_or(|until| name.hour < until) {
            let folder = name.folder();
            groups.entry((name.hour, name.table, folder)).or_default().push((name, bytes));
        }
    }
    let mut joined = JoinedParts::default();
    for ((_, table, _), mut names) in groups {
        let Some(table) = part_table(table) else { continue };
        names.sort_by(|(a, _), (b, _)| (a.minutes.first(), a).cmp(&(b.minutes.first(), b)));
        let (mut group, mut room) = (Vec::new(), MOST_SOURCES);
        for (name, bytes) in names {
            if bytes > room && !group.is_empty() {
                join(outbox, spool, table, &std::mem::take(&mut group), &mut joined)?;
                room = MOST_SOURCES;
            }
            room = room.saturating_sub(bytes);
            group.push(name);
        }
        join(outbox, spool, table, &group, &mut joined)?;
    }
    Ok(joined)
}

/// Makes one part of some of one table and hour, and removes them.
fn join(
    outbox: &Outbox,
    spool: &Spool,
    table: &'static PartTable,
    names: &[PartName],
    joined: &mut JoinedParts,
) -> Result<(), SpoolError> {
    let mut batches = Vec::new();
    let mut minutes = whyslow_parts::PartMinutes::default();
    let mut taken: Vec<&PartName> = Vec::new();
    for name in names {
        match outbox.read(name).map_err(|error| error.to_string()).and_then(|bytes| {
            let reader = PartReader::open(table, Bytes::from(bytes)).map_err(|error| error.to_string())?;
            reader.collect::<Result<Vec<_>, PartError>>().map_err(|error| error.to_string())
        }) {
            Ok(rows) => {
                batches.extend(rows);
                minutes = minutes.with(name.minutes);
                taken.push(name);
            }
            Err(why) => {
                // It would stand in the way of all that come.
                joined.notes.push(format!("{name}: it is damaged, and removed: {why}"));
                outbox.remove(name);
            }
        }
    }
    let Some(first) = taken.first() else { return Ok(()) };
    let name = PartName { minutes, level: u32::from(taken.len() > 1), ..(*first).clone() };
    let part = join_batches(table, &batches)
        .and_then(|rows| encode(table, &[rows], &PartAbout::new(env!("CARGO_PKG_VERSION"))));
    match part {
        Ok(bytes) => spool.put(&name, &bytes)?,
        Err(why) => {
            joined.notes.push(format!("{name}: it cannot be made: {why}"));
            return Ok(());
        }
    }
    joined.made += 1;
    joined.sources += taken.len() as u64;
    taken.into_iter().for_each(|name| outbox.remove(name));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_parts::{HostRow, MinuteRows, Observed, PartRow, UtcTime};

    /// 2026-11-27 03:00 UTC.
    const HOUR: i64 = 1_795_748_400_000_000;

    fn put(outbox: &Outbox, minute: i64, id: &str) {
        let start = UtcTime(HOUR + minute * 60_000_000);
        let mut rows = MinuteRows::<HostRow>::new();
        let row = HostRow {
            resource: "cpu".into(),
            metric: "cpu_user".into(),
            value: minute as f64,
            unit: "share".into(),
        };
        rows.push(&Observed { host: "h".into(), start, seconds: 60.0 }, &row);
        let table = HostRow::table();
        let bytes = encode(table, &[rows.finish().expect("rows")], &PartAbout::new("0")).expect("encoded");
        let name = PartName::of_minute(table, "h", start, id).expect("a name");
        outbox.put(&name.path(), &bytes).expect("put");
    }

    #[test]
    fn the_minutes_of_hours_that_are_over_are_one_part_each() {
        let place = tempfile::tempdir().expect("a folder");
        let outbox = Outbox::at(place.path().join("parts"));
        let spool = Spool::open(&place.path().join("upload"), 1 << 20).expect("opened");
        (0..60).for_each(|minute| put(&outbox, minute, "run0"));
        (60..63).for_each(|minute| put(&outbox, minute, "run0"));
        put(&outbox, 30, "run1");
        let (hour, _) = PartHour::of(UtcTime(HOUR)).expect("an hour");
        assert_eq!(join_hours(&outbox, &spool, Some(hour)).expect("joined"), JoinedParts::default());
        let damaged = PartName::of_minute(HostRow::table(), "h", UtcTime(HOUR), "run2").expect("a name");
        outbox.put(&damaged.path(), b"no part").expect("put");
        let joined = join_hours(&outbox, &spool, Some(hour.plus(1))).expect("joined");
        assert_eq!((joined.sources, joined.made, joined.notes.len()), (61, 1, 1), "{joined:?}");
        let name = spool.oldest().expect("one waits");
        assert_eq!((name.minutes.len(), name.level), (60, 1));
        let bytes = spool.read(&name).expect("read").expect("there");
        let reader = PartReader::open(HostRow::table(), Bytes::from(bytes)).expect("a part");
        assert_eq!(reader.map(|rows| rows.expect("rows").num_rows()).sum::<usize>(), 61);
        assert_eq!(outbox.names().len(), 3);
        // As the agent ends, all that is there goes.
        let joined = join_hours(&outbox, &spool, None).expect("joined");
        assert_eq!((joined.sources, joined.made, outbox.names().len()), (3, 1, 0));
        assert_eq!(spool.state().waiting, 2);
    }

    #[test]
    fn one_that_was_killed_before_the_sources_went_does_it_again() {
        let place = tempfile::tempdir().expect("a folder");
        let (parts, again) = (place.path().join("parts"), place.path().join("again"));
        for folder in [&parts, &again] {
            let outbox = Outbox::at(folder.clone());
            (0..2).for_each(|minute| put(&outbox, minute, "run0"));
        }
        let spool = Spool::open(&place.path().join("upload"), 1 << 20).expect("opened");
        for folder in [parts, again] {
            let joined = join_hours(&Outbox::at(folder), &spool, None).expect("joined");
            assert_eq!((joined.sources, spool.state().waiting), (2, 1));
        }
    }
}
