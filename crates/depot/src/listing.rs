//! What is there: hours of a table, and the parts of an hour. Never the whole store at once.

use crate::error::DepotError;
use crate::store::Depot;
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::ObjectStoreExt;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::{Duration, SystemTime};
use whyslow_parts::{Choice, Claims, PartHour, PartName, PartReader, PartTable, choose, doubtful};

/// A part of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredPart {
    /// Its name.
    pub name: PartName,
    /// Its size.
    pub bytes: u64,
    /// When it was written, by the server's clock.
    pub written: SystemTime,
}

/// The parts of an hour.
#[derive(Clone, Default, Debug)]
pub struct HourListing {
    /// By their names.
    pub parts: BTreeMap<PartName, StoredPart>,
    /// Objects that are no parts: how many, and the first of them.
    pub strangers: (u64, Option<String>),
}

impl Depot {
    /// The hours that a table has parts of, in order: those in `hours`.
    ///
    /// # Errors
    /// Where the store refuses or is away.
    pub async fn hours(
        &self,
        table: &PartTable,
        hours: &Range<PartHour>,
    ) -> Result<BTreeSet<PartHour>, DepotError> {
        let mut found = BTreeSet::new();
        for date in self.folders(table.name).await? {
            let named = date.rsplit('/').next().unwrap_or_default();
            let (Some(first), Some(last)) =
                (PartHour::parse(named, "hour=00"), PartHour::parse(named, "hour=23"))
            else {
                continue;
            };
            if last < hours.start || first >= hours.end {
                continue;
            }
            let of_date = self.folders(&date).await?;
            let parsed =
                of_date.iter().filter_map(|folder| PartHour::parse(named, folder.rsplit('/').next()?));
            found.extend(parsed.filter(|hour| hours.contains(hour)));
        }
        Ok(found)
    }

    /// The folders in `path`.
    async fn folders(&self, path: &str) -> Result<Vec<String>, DepotError> {
        let listed = self.store.list_with_delimiter(Some(&self.at(path)?)).await;
        let listed = listed.map_err(|error| self.error(path, error))?;
        Ok(listed.common_prefixes.iter().map(|folder| self.below(folder).to_string()).collect())
    }

    /// The parts of an hour of a table.
    ///
    /// # Errors
    /// Where the store refuses or is away.
    pub async fn list(&self, table: &PartTable, hour: PartHour) -> Result<HourListing, DepotError> {
        let path = format!("{}/{}", table.name, hour.folder());
        let mut listing = HourListing::default();
        let mut objects = self.store.list(Some(&self.at(&path)?));
        while let Some(object) = objects.next().await {
            let object = object.map_err(|error| self.error(&path, error))?;
            let below = self.below(&object.location);
            match below.parse::<PartName>() {
                Ok(name) => {
                    let millis = u64::try_from(object.last_modified.timestamp_millis()).unwrap_or_default();
                    let written = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
                    listing.parts.insert(name.clone(), StoredPart { name, bytes: object.size, written });
                }
                Err(_) => {
                    listing.strangers.0 += 1;
                    listing.strangers.1.get_or_insert_with(|| below.to_string());
                }
            }
        }
        Ok(listing)
    }

    /// Which of the parts of an hour are read; the claims of parts of many hosts are read where they are needed. Of one that
    /// cannot be read the reason is in `notes`: it covers nothing.
    ///
    /// # Errors
    /// Where the store refuses or is away.
    pub async fn choose(
        &self,
        listing: &HourListing,
        notes: &mut Vec<String>,
    ) -> Result<(Choice, BTreeMap<PartName, Claims>), DepotError> {
        let mut claims = BTreeMap::new();
        for name in doubtful(listing.parts.keys()) {
            match self.claims(name).await {
                Ok(Some(found)) => drop(claims.insert(name.clone(), found)),
                Ok(None) => notes.push(format!("{name}: it does not say whose rows it has")),
                Err(error @ (DepotError::Part { .. } | DepotError::Missing { .. })) => {
                    notes.push(error.to_string())
                }
                Err(error) => return Err(error),
            }
        }
        Ok((choose(listing.parts.keys(), &claims), claims))
    }

    /// What a part claims: by its name, or by its footer.
    async fn claims(&self, name: &PartName) -> Result<Option<Claims>, DepotError> {
        if let Some(claims) = Claims::of(name) {
            return Ok(Some(claims));
        }
        let reader = self.reader(name, self.read(name).await?)?;
        Ok(reader.about().claims.clone())
    }

    pub(crate) fn reader(&self, name: &PartName, bytes: Bytes) -> Result<PartReader, DepotError> {
        let part = |error| DepotError::Part { path: name.path(), error };
        let Some(table) = whyslow_parts::part_table(name.table) else {
            return Err(part(whyslow_parts::PartError::Damaged("there is no such table".to_string())));
        };
        PartReader::open(table, bytes).map_err(part)
    }

    /// Whether the root can be listed at all.
    ///
    /// # Errors
    /// Where the store refuses, is away, or there is no such bucket.
    pub async fn reach(&self) -> Result<(), DepotError> {
        let root = (!self.root.as_ref().is_empty()).then_some(&self.root);
        self.store.list_with_delimiter(root).await.map(drop).map_err(|error| self.error("", error))
    }

    /// Removes an object that is no part.
    pub(crate) async fn remove_object(&self, path: &str) -> Result<(), DepotError> {
        match self.store.delete(&self.at(path)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.error(path, error)),
        }
    }
}
