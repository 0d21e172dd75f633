//! Whether a store can be used, and what is in it that should not be.

use crate::error::DepotError;
use crate::store::{Depot, PutOutcome};
use serde::Serialize;
use std::ops::Range;
use whyslow_parts::{PART_TABLES, PartHour};

/// Damaged or strange things that are named; all are counted.
const MOST_NAMED: usize = 20;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CheckReport {
    /// Parts that are read.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Parts whose rows stand in another: `compact` removes them.
    pub covered: u64,
    /// Hours of tables with parts that `compact` would join.
    pub hours_of_small_parts: u64,
    /// Objects that are no parts.
    pub strangers: u64,
    /// Parts that cannot be read; only where they were read.
    pub damaged: u64,
    /// Pairs of parts that share some rows.
    pub overlapping: u64,
    /// Some of them, in words.
    pub notes: Vec<String>,
    /// How far our clock is ahead of the server's.
    pub clock_skew_ns: Option<i64>,
}

/// Looks at the parts of `hours`. With `write` a small object is created twice, which must go once, read and removed; with `read` each
/// part is read to its end.
///
/// # Errors
/// Where the store refuses, is away, or lets an object be written over.
pub async fn check(
    depot: &Depot,
    hours: &Range<PartHour>,
    write: bool,
    read: bool,
) -> Result<CheckReport, DepotError> {
    let mut report = CheckReport::default();
    depot.reach().await?;
    if write {
        try_to_write(depot).await?;
    }
    for table in PART_TABLES {
        for hour in depot.hours(table, hours).await? {
            let listing = depot.list(table, hour).await?;
            let (choice, _) = depot.choose(&listing, &mut report.notes).await?;
            report.parts += choice.read.len() as u64;
            report.covered += choice.covered.len() as u64;
            report.overlapping += choice.overlapping.len() as u64;
            report.hours_of_small_parts +=
                u64::from(choice.read.iter().filter(|name| name.level == 0).count() > 1);
            report.strangers += listing.strangers.0;
            report.notes.extend(listing.strangers.1.map(|path| format!("{path}: no part")));
            for (one, other) in &choice.overlapping {
                report.notes.push(format!(
                    "{one} and {other} share some rows, which are read twice: remove one of them"
                ));
            }
            for name in &choice.read {
                report.bytes += listing.parts.get(name).map_or(0, |part| part.bytes);
                if read && let Err(error) = read_through(depot, name).await? {
                    report.damaged += 1;
                    report.notes.push(error);
                }
            }
            report.notes.truncate(MOST_NAMED);
        }
    }
    report.clock_skew_ns = depot.clock_skew_ns();
    Ok(report)
}

/// Creates an object twice, as an upload whose answer was lost does.
async fn try_to_write(depot: &Depot) -> Result<(), DepotError> {
    let path = format!("_check/{:016x}", fastrand::u64(..));
    let created = depot.create_object(&path, "whyslow checks that it may write\n".into()).await?;
    let again = depot.create_object(&path, "other\n".into()).await;
    depot.remove_object(&path).await?;
    match (created, again) {
        (PutOutcome::Created, Err(DepotError::Other { .. })) => Ok(()),
        _ => Err(DepotError::Settings {
            url: depot.url().to_string(),
            reason: "it lets an object be written over that was to be created (it ignores If-None-Match): parts could be lost; use a server that knows conditional writes".to_string(),
        }),
    }
}

/// The inner error is the part's.
async fn read_through(
    depot: &Depot,
    name: &whyslow_parts::PartName,
) -> Result<Result<(), String>, DepotError> {
    let bytes = match depot.read(name).await {
        Ok(bytes) => bytes,
        // Joined and removed meanwhile.
        Err(DepotError::Missing { .. }) => return Ok(Ok(())),
        Err(error @ DepotError::Part { .. }) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    let rows = depot.reader(name, bytes).map_err(|error| error.to_string());
    Ok(rows.and_then(|mut rows| match rows.find_map(Result::err) {
        Some(error) => Err(format!("{name}: {error}")),
        None => Ok(()),
    }))
}
