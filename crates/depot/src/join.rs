//! Several parts made one: read, put in order, written under the name that claims what they claimed.

use crate::error::DepotError;
use crate::store::Depot;
use arrow_array::RecordBatch;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use whyslow_parts::{
    Claims, PartAbout, PartError, PartHost, PartName, PartTable, VERSION, encode, join_batches,
};

/// What became of some parts.
pub(crate) enum Joined {
    /// They are one part now, of so many bytes and rows.
    Done { bytes: u64, rows: u64, sources: u64 },
    /// Fewer than two of them can be joined.
    Nothing,
}

/// Joins `sources` of one table and hour: of one run where `host` is one, else of many hosts. What cannot be read, or was written by a newer
/// version, stays as it is and is told in `notes`.
pub(crate) async fn join(
    depot: &Depot,
    table: &'static PartTable,
    sources: &[PartName],
    many: &BTreeMap<PartName, Claims>,
    over_hosts: bool,
    notes: &mut Vec<String>,
) -> Result<Joined, DepotError> {
    let (mut claims, mut batches, mut taken) = (Claims::default(), Vec::new(), Vec::new());
    for name in sources {
        let Some(own) = Claims::of(name).or_else(|| many.get(name).cloned()) else { continue };
        match rows(depot, name).await {
            Ok(Ok(rows)) => {
                claims.add(&own);
                batches.extend(rows);
                taken.push(name);
            }
            Ok(Err(newer)) => notes.push(format!("{name}: {newer}")),
            // Who removed it meanwhile has joined it.
            Err(DepotError::Missing { .. }) => return Ok(Joined::Nothing),
            Err(error @ DepotError::Part { .. }) => notes.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    let (Some(first), true) = (taken.first(), taken.len() > 1) else { return Ok(Joined::Nothing) };
    let level = taken.iter().map(|name| name.level).max().unwrap_or_default().saturating_add(1);
    let mut about = PartAbout::new(env!("CARGO_PKG_VERSION"));
    let mut name = PartName { level, minutes: claims.minutes(), ..(*first).clone() };
    if over_hosts {
        // The same sources have the same name, whoever joins them.
        let digest = Sha256::digest(claims.to_text().as_bytes());
        name.id = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        name.host = PartHost::Many;
        about.claims = Some(claims);
    }
    let part = |error: PartError| DepotError::Part { path: name.path(), error };
    let before: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let joined = join_batches(table, &batches).map_err(part)?;
    drop(batches);
    if joined.num_rows() != before {
        return Err(part(PartError::Encode(format!("{} rows of {before} are left", joined.num_rows()))));
    }
    let bytes = encode(table, &[joined], &about).map_err(part)?;
    let length = bytes.len() as u64;
    match depot.create(&name, bytes.into()).await {
        Ok(_) => {}
        // Another version of the program joined the same at this moment, and wrote it a little differently.
        Err(DepotError::Other { .. }) => return Ok(Joined::Nothing),
        Err(error) => return Err(error),
    }
    Ok(Joined::Done { bytes: length, rows: before as u64, sources: taken.len() as u64 })
}

/// The rows of a part; the inner error says why it is left as it is.
async fn rows(depot: &Depot, name: &PartName) -> Result<Result<Vec<RecordBatch>, String>, DepotError> {
    let reader = depot.reader(name, depot.read(name).await?)?;
    let version = reader.about().version;
    if version > VERSION || !reader.strange().is_empty() {
        return Ok(Err(format!(
            "version {version} of its format is newer than {VERSION}: a newer whyslow can join it"
        )));
    }
    let part = |error| DepotError::Part { path: name.path(), error };
    reader.collect::<Result<Vec<_>, _>>().map(Ok).map_err(part)
}
