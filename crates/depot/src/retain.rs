//! What is old goes: by the age of its hour, a table; and the oldest hours of all tables where the whole is too large.

use crate::error::DepotError;
use crate::store::Depot;
use serde::Serialize;
use std::collections::BTreeMap;
use whyslow_parts::{PART_TABLES, PartHour, PartName, PartTable, UtcTime};

/// What is kept.
#[derive(Clone, Debug, Default)]
pub struct RetainOptions {
    /// For so many days, of tables that `days_of` does not name; `None` for ever.
    pub days: Option<u32>,
    /// For so many days, by the table's name.
    pub days_of: BTreeMap<String, u32>,
    /// Of all tables together at most so many bytes.
    pub most_bytes: Option<u64>,
    /// Say what would be removed, and remove nothing.
    pub dry: bool,
}

/// What was removed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RetainDone {
    /// Parts removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Bytes that are left.
    pub left_bytes: u64,
    /// The begin of the oldest hour that is left.
    pub oldest_left: Option<String>,
}

/// Removes what is older than wanted.
///
/// # Errors
/// Where the store refuses or is away: what was done is done.
pub async fn retain(depot: &Depot, options: &RetainOptions) -> Result<RetainDone, DepotError> {
    let mut done = RetainDone::default();
    // Bytes by hour and table: the whole store is listed, and never held.
    let mut left: BTreeMap<(PartHour, &'static str), u64> = BTreeMap::new();
    let all = PartHour::FIRST..PartHour::LAST;
    for table in PART_TABLES {
        let days = options.days_of.get(table.name).copied().or(options.days);
        // By the server's clock where it is known: a clock of ours that runs ahead must not remove what is young.
        for hour in depot.hours(table, &all).await? {
            let old = days.is_some_and(|days| is_older(hour, days, UtcTime::from(depot.now())));
            if old {
                remove_hour(depot, table, hour, options.dry, &mut done).await?;
            } else {
                let bytes = depot.list(table, hour).await?.parts.values().map(|part| part.bytes).sum();
                left.insert((hour, table.name), bytes);
            }
        }
    }
    let mut total: u64 = left.values().sum();
    while let Some(most) = options.most_bytes
        && total > most
        && let Some(((hour, table), bytes)) = left.pop_first()
    {
        if let Some(table) = whyslow_parts::part_table(table) {
            remove_hour(depot, table, hour, options.dry, &mut done).await?;
        }
        total = total.saturating_sub(bytes);
    }
    done.left_bytes = total;
    done.oldest_left = left.first_key_value().map(|((hour, _), _)| hour.folder());
    Ok(done)
}

/// Whether the hour ended more than so many days ago.
fn is_older(hour: PartHour, days: u32, now: UtcTime) -> bool {
    let since = now.0.saturating_sub(hour.plus(1).begin().0);
    since > i64::from(days) * 86_400_000_000
}

async fn remove_hour(
    depot: &Depot,
    table: &'static PartTable,
    hour: PartHour,
    dry: bool,
    done: &mut RetainDone,
) -> Result<(), DepotError> {
    let listing = depot.list(table, hour).await?;
    let mut parts: Vec<_> = listing.parts.values().collect();
    // Joined parts last: as long as one is there, its sources are not read.
    parts.sort_by_key(|part| (part.name.level, part.name.minutes.len()));
    let names: Vec<PartName> = parts.iter().map(|part| part.name.clone()).collect();
    done.removed_bytes += parts.iter().map(|part| part.bytes).sum::<u64>();
    done.removed += if dry || names.is_empty() { names.len() as u64 } else { depot.remove(&names).await? };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_old_when_its_last_minute_is() {
        let (hour, _) = PartHour::of(UtcTime(1_795_748_400_000_000)).unwrap();
        let end = hour.plus(1).begin().0;
        let day = 86_400_000_000;
        assert!(!is_older(hour, 2, UtcTime(end + 2 * day)));
        assert!(is_older(hour, 2, UtcTime(end + 2 * day + 1)));
        assert!(!is_older(hour, 0, UtcTime(end - 1)), "a clock that was set back removes nothing");
    }
}
