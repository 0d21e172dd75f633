//! Small parts made few: of each hour that is over, one part a run of an agent; of tables with few rows, one over all hosts. The new
//! part is there before its sources go, and they go only a while later: who was just told of them can still read them.

use crate::error::DepotError;
use crate::join::{Joined, join};
use crate::listing::HourListing;
use crate::store::Depot;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, SystemTime};
use whyslow_parts::{Choice, Claims, PART_TABLES, PartHost, PartHour, PartName, PartTable, UtcTime};

/// Bytes of the parts that are joined at once: decoded, they are some ten times as many in memory.
const MOST_SOURCES: u64 = 16 << 20;
/// Notes kept.
const MOST_NOTES: usize = 50;

/// What is joined, and when sources go.
#[derive(Clone, Debug)]
pub struct CompactOptions {
    /// The hours to look at.
    pub hours: Range<PartHour>,
    /// An hour is over so long after its end: agents upload its last minutes then.
    pub grace: Duration,
    /// How long sources stay beside the part that they were joined to.
    pub linger: Duration,
    /// Say what would be done, and do nothing.
    pub dry: bool,
}

/// What was joined and removed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CompactDone {
    /// Hours of tables looked at.
    pub hours: u64,
    /// Parts that were joined.
    pub joined: u64,
    /// Parts made of them.
    pub made: u64,
    /// Bytes of these.
    pub made_bytes: u64,
    /// Rows of these.
    pub rows: u64,
    /// Parts removed, as their rows stand in another.
    pub removed: u64,
    /// Parts that are to be removed later.
    pub lingering: u64,
    /// What was left as it is, and why: the first of them.
    pub notes: Vec<String>,
}

/// Joins and removes. Whoever does it at the same time does no harm; nor is it, to be stopped at any point.
///
/// # Errors
/// Where the store refuses or is away: what was done is done.
pub async fn compact(depot: &Depot, options: &CompactOptions) -> Result<CompactDone, DepotError> {
    let mut done = CompactDone::default();
    for table in PART_TABLES {
        for hour in depot.hours(table, &options.hours).await? {
            done.hours += 1;
            hour_of_table(depot, table, hour, options, &mut done).await?;
        }
    }
    done.notes.truncate(MOST_NOTES);
    Ok(done)
}

async fn hour_of_table(
    depot: &Depot,
    table: &'static PartTable,
    hour: PartHour,
    options: &CompactOptions,
    done: &mut CompactDone,
) -> Result<(), DepotError> {
    let listing = depot.list(table, hour).await?;
    let (choice, many) = depot.choose(&listing, &mut done.notes).await?;
    for (one, other) in &choice.overlapping {
        done.notes
            .push(format!("{one} and {other} share some rows, which are read twice: remove one of them"));
    }
    remove_covered(depot, &listing, &choice, options, done).await?;
    let end = hour.plus(1).begin();
    if UtcTime::from(depot.now()).0 < end.0.saturating_add(micros(options.grace)) {
        return Ok(());
    }
    for sources in groups(table, &listing, &choice, &many) {
        if options.dry {
            done.joined += sources.len() as u64;
            done.made += 1;
            continue;
        }
        if let Joined::Done { bytes, rows, sources } =
            join(depot, table, &sources, &many, table.over_hosts, &mut done.notes).await?
        {
            done.made += 1;
            done.made_bytes += bytes;
            done.rows += rows;
            done.joined += sources;
            done.lingering += sources;
        }
        done.notes.truncate(MOST_NOTES);
    }
    Ok(())
}

async fn remove_covered(
    depot: &Depot,
    listing: &HourListing,
    choice: &Choice,
    options: &CompactOptions,
    done: &mut CompactDone,
) -> Result<(), DepotError> {
    let now = depot.now();
    let old_enough = |by: &PartName| {
        let written = listing.parts.get(by).map_or(now, |part| part.written);
        now.duration_since(written).unwrap_or_default() >= options.linger
    };
    let (go, stay): (Vec<_>, Vec<_>) = choice.covered.iter().partition(|(_, by)| old_enough(by));
    done.lingering += stay.len() as u64;
    let go: Vec<PartName> = go.into_iter().map(|(name, _)| name.clone()).collect();
    done.removed += if options.dry || go.is_empty() { go.len() as u64 } else { depot.remove(&go).await? };
    Ok(())
}

/// Which parts are made one: of a run, or of hosts one after the other; together no more than is held in memory.
fn groups(
    table: &PartTable,
    listing: &HourListing,
    choice: &Choice,
    many: &BTreeMap<PartName, Claims>,
) -> Vec<Vec<PartName>> {
    let size = |name: &PartName| listing.parts.get(name).map_or(0, |part| part.bytes);
    let mut by_run: BTreeMap<(&PartHost, &str), Vec<&PartName>> = BTreeMap::new();
    for name in &choice.read {
        let key = if table.over_hosts { (&PartHost::Many, "") } else { (&name.host, name.id.as_str()) };
        // What is large already stays as it is, and so does what does not say whose rows it has.
        if size(name) < MOST_SOURCES / 2 && (name.host != PartHost::Many || many.contains_key(name)) {
            by_run.entry(key).or_default().push(name);
        }
    }
    let mut groups = Vec::new();
    for ((host, _), mut names) in by_run {
        if *host == PartHost::Many && !table.over_hosts {
            continue;
        }
        names.sort_by(|a, b| (&a.host, a.minutes.first(), a).cmp(&(&b.host, b.minutes.first(), b)));
        let (mut group, mut bytes) = (Vec::new(), 0);
        for name in names {
            if bytes + size(name) > MOST_SOURCES {
                groups.push(std::mem::take(&mut group));
                bytes = 0;
            }
            bytes += size(name);
            group.push(name.clone());
        }
        groups.push(group);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

impl CompactOptions {
    /// Of the last `days`, with the pauses that fit questions of minutes.
    pub fn last_days(days: u32) -> CompactOptions {
        let now = PartHour::of(SystemTime::now().into()).map_or(0, |(hour, _)| hour.begin().0);
        let from = now.saturating_sub(i64::from(days).saturating_mul(86_400_000_000)).max(0);
        let hour = |time: i64| PartHour::of(UtcTime(time)).map(|(hour, _)| hour);
        let (from, to) = (hour(from), hour(now));
        let hours = match (from, to) {
            (Some(from), Some(to)) => from..to.plus(1),
            _ => PartHour::FIRST..PartHour::FIRST,
        };
        CompactOptions {
            hours,
            grace: Duration::from_secs(10 * 60),
            linger: Duration::from_secs(15 * 60),
            dry: false,
        }
    }
}
