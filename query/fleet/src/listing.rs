//! Which parts there are of the hours that are asked about, and which of them are read. Only folders of those hours are listed.

use crate::error::FleetError;
use crate::footers::{Footer, Footers};
use crate::span::HOUR;
use crate::store::{FleetRoot, first_line};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use whyslow_parts::{
    Claims, PartHost, PartHour, PartName, PartTable, UtcTime, choose, doubtful, escape_host,
};

/// Listings under way at once.
const LISTINGS: usize = 16;
/// Remarks that are kept; a store full of strangers' files is to fill no memory.
const MOST_REMARKS: usize = 100;

/// The hours and hosts that a question can be about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    /// Hours since 1970.
    pub(crate) hours: Vec<i64>,
    /// The hosts; all where none are named.
    pub(crate) hosts: Option<BTreeSet<String>>,
}

/// A part to read.
#[derive(Clone, Debug)]
pub(crate) struct FoundPart {
    pub(crate) object: ObjectMeta,
    pub(crate) name: PartName,
    pub(crate) footer: Arc<Footer>,
}

/// Lists, and keeps what it found: a store is taken as it was when it was first asked.
#[derive(Debug)]
pub(crate) struct FleetListing {
    pub(crate) root: FleetRoot,
    footers: Footers,
    folders: Mutex<HashMap<String, Vec<(PartName, ObjectMeta)>>>,
    /// Parts that are left out from now on.
    refused: Mutex<HashSet<Path>>,
    /// The parts that were given to a scan.
    given: Mutex<BTreeMap<Path, FoundPart>>,
    remarks: Mutex<Vec<String>>,
}

fn held<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FleetListing {
    pub(crate) fn new(root: FleetRoot) -> FleetListing {
        FleetListing {
            footers: Footers::new(&root),
            root,
            folders: Mutex::default(),
            refused: Mutex::default(),
            given: Mutex::default(),
            remarks: Mutex::default(),
        }
    }

    /// What was passed over, and why.
    pub(crate) fn remarks(&self) -> Vec<String> {
        held(&self.remarks).clone()
    }

    fn remark(&self, text: String) {
        let mut remarks = held(&self.remarks);
        if remarks.len() < MOST_REMARKS && !remarks.contains(&text) {
            remarks.push(text);
        }
    }

    /// How many parts were given to scans, and their bytes.
    pub(crate) fn given(&self) -> (u64, u64) {
        let given = held(&self.given);
        (given.len() as u64, given.values().map(|part| part.object.size).sum())
    }

    /// The parts of a table that hold what is wanted.
    pub(crate) async fn parts(
        &self,
        table: &'static PartTable,
        wanted: &Wanted,
    ) -> Result<Vec<FoundPart>, FleetError> {
        let listed = self.list(table, wanted).await?;
        let objects: BTreeMap<PartName, ObjectMeta> = {
            let refused = held(&self.refused);
            listed.into_iter().filter(|(_, object)| !refused.contains(&object.location)).collect()
        };
        let mut claims: BTreeMap<PartName, Claims> = BTreeMap::new();
        let unsure: Vec<(PartName, ObjectMeta)> = doubtful(objects.keys())
            .into_iter()
            .filter_map(|name| Some((name.clone(), objects.get(name)?.clone())))
            .collect();
        for part in self.with_footers(table, unsure).await? {
            if let Some(claimed) = part.footer.claims.clone() {
                claims.insert(part.name, claimed);
            }
        }
        // One that cannot be read covers nothing: its sources may still be there.
        let sound: Vec<&PartName> = {
            let refused = held(&self.refused);
            let is_sound = |object: &ObjectMeta| !refused.contains(&object.location);
            objects.iter().filter(|(_, object)| is_sound(object)).map(|(name, _)| name).collect()
        };
        let mut left = sound;
        loop {
            let choice = choose(left.iter().copied(), &claims);
            for (one, other) in &choice.overlapping {
                self.remark(format!("{one} and {other} share some minutes: those are counted twice"));
            }
            let chosen: Vec<(PartName, ObjectMeta)> = choice
                .read
                .into_iter()
                .filter_map(|name| objects.get(&name).cloned().map(|object| (name, object)))
                .collect();
            let wanted_parts = chosen.len();
            let parts = self.with_footers(table, chosen).await?;
            if parts.len() == wanted_parts {
                held(&self.given)
                    .extend(parts.iter().map(|part| (part.object.location.clone(), part.clone())));
                return Ok(parts);
            }
            // What was refused covers nothing: it is chosen again without it.
            let refused = held(&self.refused);
            left.retain(|name| objects.get(*name).is_some_and(|object| !refused.contains(&object.location)));
        }
    }

    /// The names of the parts in the folders of the hours.
    async fn list(
        &self,
        table: &'static PartTable,
        wanted: &Wanted,
    ) -> Result<Vec<(PartName, ObjectMeta)>, FleetError> {
        let mut folders = Vec::new();
        for hour in &wanted.hours {
            let Some((hour, _)) = PartHour::of(UtcTime(hour.saturating_mul(HOUR))) else { continue };
            let hour = format!("{}/{}", table.name, hour.folder());
            match &wanted.hosts {
                Some(hosts) if hosts.len() <= LISTINGS => {
                    folders.extend(hosts.iter().map(|host| format!("{hour}/host={}", escape_host(host))));
                    folders.push(format!("{hour}/host=_many"));
                }
                _ => folders.push(hour),
            }
        }
        let found: Vec<Vec<(PartName, ObjectMeta)>> = futures::stream::iter(folders)
            .map(|folder| self.folder(folder))
            .buffered(LISTINGS)
            .try_collect()
            .await?;
        let is_wanted = |(name, _): &(PartName, ObjectMeta)| match (&name.host, &wanted.hosts) {
            (PartHost::One(host), Some(hosts)) => hosts.contains(host),
            _ => true,
        };
        Ok(found.into_iter().flatten().filter(is_wanted).collect())
    }

    async fn folder(&self, folder: String) -> Result<Vec<(PartName, ObjectMeta)>, FleetError> {
        if let Some(known) = held(&self.folders).get(&folder) {
            return Ok(known.clone());
        }
        let failed = |error: object_store::Error| FleetError::Store {
            root: self.root.given.clone(),
            reason: first_line(&error.to_string()),
        };
        let prefix = Path::parse(&folder).map_err(|error| failed(error.into()))?;
        let mut found = Vec::new();
        let mut listing = self.root.store.list(Some(&prefix));
        while let Some(object) = listing.try_next().await.map_err(failed)? {
            // A file that is just being written has another name.
            if !object.location.as_ref().ends_with(".parquet") {
                continue;
            }
            match object.location.as_ref().parse::<PartName>() {
                Ok(name) => found.push((name, object)),
                Err(error) => self.remark(format!("{error}; it is not read")),
            }
        }
        held(&self.folders).insert(folder, found.clone());
        Ok(found)
    }

    /// Reads the end of each part, where it says what it is. Those that are no parts are told and left out.
    async fn with_footers(
        &self,
        table: &'static PartTable,
        parts: Vec<(PartName, ObjectMeta)>,
    ) -> Result<Vec<FoundPart>, FleetError> {
        let mut found = Vec::with_capacity(parts.len());
        let mut all = futures::stream::iter(parts)
            .map(|(name, object)| async {
                let footer = self.footers.of(table, &object).await;
                (name, object, footer)
            })
            .buffered(self.footers.at_once());
        while let Some((name, object, footer)) = all.next().await {
            match footer {
                Ok(footer) => found.push(FoundPart { object, name, footer }),
                Err(reason) => self.refuse(&object.location, &reason),
            }
        }
        Ok(found)
    }

    fn refuse(&self, part: &Path, reason: &str) {
        self.remark(format!("{part}: {reason}; it is not read"));
        held(&self.refused).insert(part.clone());
    }

    /// Decodes all that was given to scans, and leaves out what cannot be decoded. How many parts that is.
    pub(crate) async fn examine(&self) -> usize {
        let parts: Vec<FoundPart> = held(&self.given).values().cloned().collect();
        let mut bad = 0;
        for part in parts {
            if let Err(reason) = self.footers.decode(&part).await {
                self.refuse(&part.object.location, &reason);
                held(&self.given).remove(&part.object.location);
                bad += 1;
            }
        }
        bad
    }

    /// Reads so far: listings, reads, bytes.
    pub(crate) fn taken(&self) -> [u64; 3] {
        let tally = &self.root.tally;
        [&tally.listings, &tally.reads, &tally.bytes].map(|count| count.load(Ordering::Relaxed))
    }
}
