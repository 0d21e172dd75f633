//! Which parts there are of the hours that are asked about, and which of them are read. Only folders of those hours are listed.

use crate::error::FleetError;
use crate::footers::{Footers, FoundPart, KnownFooters, PartTrouble};
use crate::span::{HOUR, MINUTE};
use crate::store::{FleetRoot, first_line};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use whyslow_parts::{
    Claims, PART_TABLES, PartHost, PartHour, PartMinutes, PartName, PartTable, UtcTime, choose, doubtful,
    escape_host,
};

/// Listings under way at once.
const LISTINGS: usize = 16;
/// How often a question lists anew because parts were gone. `compact` leaves what it joined for minutes: more than once is rare.
const LISTED_AGAIN: usize = 3;
/// Remarks that are kept; a store full of strangers' files is to fill no memory.
const MOST_REMARKS: usize = 100;

/// The times and hosts that a question can be about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    /// Hours since 1970.
    pub(crate) hours: Vec<i64>,
    /// Of their minutes those alone from this moment on …
    pub(crate) from: i64,
    /// … until this one, in microseconds of UTC since 1970.
    pub(crate) until: i64,
    /// The hosts; all where none are named.
    pub(crate) hosts: Option<BTreeSet<String>>,
}

impl Wanted {
    /// Whether a part has a minute that is wanted. Of an hour that was not joined yet there is a part a minute. A part that covers another one has all
    /// of its minutes: whichever are left out, none of those that are left loses the part that covers it.
    fn has_minute_of(&self, name: &PartName) -> bool {
        let begin = name.hour.begin().0;
        let minute = |time: i64| u32::try_from(time.clamp(0, HOUR) / MINUTE).unwrap_or_default();
        let (first, end) = (minute(self.from - begin), minute(self.until - begin + MINUTE - 1));
        PartMinutes::range(first, end).is_some_and(|wanted| wanted.has_any(name.minutes))
    }

    fn has_host_of(&self, name: &PartName) -> bool {
        match (&name.host, &self.hosts) {
            (PartHost::One(host), Some(hosts)) => hosts.contains(host),
            _ => true,
        }
    }
}

/// The parts of a folder.
type FolderList = Arc<Vec<(PartName, ObjectMeta)>>;

/// Lists, and keeps what it found: a store is taken as it was when it was first asked, until a part is gone.
#[derive(Debug)]
pub(crate) struct FleetListing {
    pub(crate) root: FleetRoot,
    footers: Footers,
    /// Of each table: questions that are asked at once list it one after another, and all but the first find it listed.
    turns: HashMap<&'static str, tokio::sync::Mutex<()>>,
    folders: Mutex<HashMap<String, FolderList>>,
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
    pub(crate) fn new(root: FleetRoot, known: Arc<KnownFooters>) -> FleetListing {
        FleetListing {
            footers: Footers::new(&root, known),
            root,
            turns: PART_TABLES.iter().map(|table| (table.name, tokio::sync::Mutex::default())).collect(),
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

    /// The hosts of which a table has parts of single minutes from a moment on, in what was listed: their agents send each minute, and not an hour when it
    /// is over.
    pub(crate) fn sends_minutes(&self, table: &str, from: i64) -> BTreeSet<String> {
        let lists: Vec<FolderList> = held(&self.folders).values().cloned().collect();
        let is_minute = |name: &&PartName| name.table == table && name.level == 0 && name.minutes.len() == 1;
        let names = lists.iter().flat_map(|list| list.iter()).map(|(name, _)| name);
        let recent = names.filter(is_minute).filter(|name| name.hour.begin().0 + HOUR > from);
        recent
            .filter_map(|name| match &name.host {
                PartHost::One(host) => Some(host.clone()),
                PartHost::Many => None,
            })
            .collect()
    }

    /// How many parts were given to scans, and their bytes.
    pub(crate) fn given(&self) -> (u64, u64) {
        let given = held(&self.given);
        (given.len() as u64, given.values().map(|part| part.object.size).sum())
    }

    /// The parts of a table that hold what is wanted. A part that is gone was joined to others, or is too old to be kept: it is
    /// listed anew. What is listed again and again and never there is told as others that cannot be read.
    pub(crate) async fn parts(
        &self,
        table: &'static PartTable,
        wanted: &Wanted,
    ) -> Result<Vec<FoundPart>, FleetError> {
        let _turn = match self.turns.get(table.name) {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        for _ in 0..LISTED_AGAIN {
            if let Some(parts) = self.parts_of_list(table, wanted, false).await? {
                return Ok(parts);
            }
            self.forget();
        }
        Ok(self.parts_of_list(table, wanted, true).await?.unwrap_or_default())
    }

    /// The same of the lists that are kept; `None` where a part is gone, unless such a part is to be left out.
    async fn parts_of_list(
        &self,
        table: &'static PartTable,
        wanted: &Wanted,
        without_gone: bool,
    ) -> Result<Option<Vec<FoundPart>>, FleetError> {
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
        let Some(unsure) = self.with_footers(table, unsure, without_gone).await else { return Ok(None) };
        for part in unsure {
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
            let Some(parts) = self.with_footers(table, chosen, without_gone).await else { return Ok(None) };
            if parts.len() == wanted_parts {
                held(&self.given)
                    .extend(parts.iter().map(|part| (part.object.location.clone(), part.clone())));
                return Ok(Some(parts));
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
        let found: Vec<FolderList> = futures::stream::iter(folders)
            .map(|folder| self.folder(folder))
            .buffered(LISTINGS)
            .try_collect()
            .await?;
        let is_wanted =
            |(name, _): &&(PartName, ObjectMeta)| wanted.has_host_of(name) && wanted.has_minute_of(name);
        Ok(found.iter().flat_map(|list| list.iter()).filter(is_wanted).cloned().collect())
    }

    async fn folder(&self, folder: String) -> Result<FolderList, FleetError> {
        if let Some(known) = held(&self.folders).get(&folder) {
            return Ok(known.clone());
        }
        let found = Arc::new(self.list_folder(&folder).await?);
        held(&self.folders).insert(folder, found.clone());
        Ok(found)
    }

    async fn list_folder(&self, folder: &str) -> Result<Vec<(PartName, ObjectMeta)>, FleetError> {
        let failed = |error: object_store::Error| FleetError::Store {
            root: self.root.given.clone(),
            reason: first_line(&error.to_string()),
        };
        let prefix = Path::parse(folder).map_err(|error| failed(error.into()))?;
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
        Ok(found)
    }

    /// Whether a part that was given to a scan is there no more, by new lists. It is for engines that pass over files that are gone:
    /// what is there after an answer was there before it.
    pub(crate) async fn has_lost_some(&self) -> Result<bool, FleetError> {
        let folders: Vec<String> = held(&self.folders).keys().cloned().collect();
        let found: Vec<Vec<(PartName, ObjectMeta)>> = futures::stream::iter(&folders)
            .map(|folder| self.list_folder(folder))
            .buffered(LISTINGS)
            .try_collect()
            .await?;
        let there: HashSet<Path> = found.into_iter().flatten().map(|(_, object)| object.location).collect();
        let gone: Vec<Path> =
            held(&self.given).keys().filter(|part| !there.contains(part)).cloned().collect();
        held(&self.root.tally.missing).extend(gone);
        Ok(self.misses_some())
    }

    /// Lists anew from now on.
    fn forget(&self) {
        let missing = std::mem::take(&mut *held(&self.root.tally.missing));
        held(&self.given).retain(|part, _| !missing.contains(part));
        held(&self.folders).clear();
    }

    /// Whether a part was gone when it was read.
    pub(crate) fn misses_some(&self) -> bool {
        !held(&self.root.tally.missing).is_empty()
    }

    /// Reads the end of each part, where it says what it is. Those that are no parts are told and left out. `None` where one is
    /// gone, unless such a part is to be left out too.
    async fn with_footers(
        &self,
        table: &'static PartTable,
        parts: Vec<(PartName, ObjectMeta)>,
        without_gone: bool,
    ) -> Option<Vec<FoundPart>> {
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
                Err(PartTrouble::Gone) if !without_gone => return None,
                Err(PartTrouble::Gone) => self.refuse(&object.location, "it is listed, and is not there"),
                Err(PartTrouble::Wrong(reason)) => self.refuse(&object.location, &reason),
            }
        }
        Some(found)
    }

    fn refuse(&self, part: &Path, reason: &str) {
        self.remark(format!("{part}: {reason}; it is not read"));
        held(&self.refused).insert(part.clone());
    }

    /// After an error: lists anew where a part was gone; else decodes all that was given to scans, and leaves out what cannot be
    /// decoded. How many parts that is.
    pub(crate) async fn examine(&self) -> usize {
        if self.misses_some() {
            self.forget();
            return 1;
        }
        let parts: Vec<FoundPart> = held(&self.given).values().cloned().collect();
        let mut bad = 0;
        for part in parts {
            let Err(trouble) = self.footers.decode(&part).await else { continue };
            if let PartTrouble::Wrong(reason) = trouble {
                self.refuse(&part.object.location, &reason);
            }
            held(&self.given).remove(&part.object.location);
            bad += 1;
        }
        if self.misses_some() {
            self.forget();
        }
        bad
    }

    /// Reads so far: listings, reads, bytes.
    pub(crate) fn taken(&self) -> [u64; 3] {
        let tally = &self.root.tally;
        [&tally.listings, &tally.reads, &tally.bytes].map(|count| count.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store;
    use whyslow_parts::{HostRow, MinuteRows, Observed, PartAbout, PartMinutes, PartRow, encode};

    /// 2026-11-27 00:00 UTC, in hours.
    const AT: i64 = 498_816;

    /// Writes rows of a minute each as one part.
    fn write(root: &std::path::Path, minutes: std::ops::Range<u32>, level: u32) -> PartName {
        let (hour, _) = PartHour::of(UtcTime(AT * HOUR)).unwrap();
        let mut rows: MinuteRows<HostRow> = MinuteRows::default();
        for minute in minutes.clone() {
            let start = UtcTime(AT * HOUR + i64::from(minute) * MINUTE);
            let observed = Observed { host: "web-1".into(), start, seconds: 60.0 };
            let row =
                HostRow { resource: "cpu".into(), metric: "busy".into(), value: 0.5, unit: "share".into() };
            rows.push(&observed, &row);
        }
        let name = PartName {
            table: HostRow::table().name,
            hour,
            host: PartHost::One("web-1".into()),
            minutes: PartMinutes::range(minutes.start, minutes.end).unwrap(),
            level,
            id: "run1".into(),
        };
        let path = root.join(name.path());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let bytes = encode(HostRow::table(), &[rows.finish().unwrap()], &PartAbout::new("test")).unwrap();
        std::fs::write(path, bytes).unwrap();
        name
    }

    fn listing(root: &std::path::Path) -> FleetListing {
        FleetListing::new(store::open(root.to_str().unwrap()).unwrap(), Arc::default())
    }

    fn of_minutes(minutes: std::ops::Range<i64>) -> Wanted {
        let at = |minute: i64| AT * HOUR + minute * MINUTE;
        Wanted { hours: vec![AT], from: at(minutes.start), until: at(minutes.end), hosts: None }
    }

    #[tokio::test]
    async fn parts_of_other_minutes_are_not_read() {
        let place = tempfile::TempDir::new().unwrap();
        let loose: Vec<PartName> = (0..4).map(|minute| write(place.path(), minute..minute + 1, 0)).collect();
        let listing = listing(place.path());
        let found = async |wanted: &Wanted| -> Vec<PartName> {
            let parts = listing.parts(HostRow::table(), wanted).await.unwrap();
            parts.into_iter().map(|part| part.name).collect()
        };
        assert_eq!(found(&of_minutes(1..3)).await, loose[1..3]);
        // A moment of a minute is enough, and its end is not in it.
        let within = Wanted { from: AT * HOUR + 2 * MINUTE + 1, ..of_minutes(0..3) };
        assert_eq!(found(&within).await, loose[2..3]);
        let within = Wanted { until: AT * HOUR + 2 * MINUTE + 1, ..of_minutes(1..3) };
        assert_eq!(found(&within).await, loose[1..3]);
        assert!(found(&of_minutes(4..60)).await.is_empty());
        let before = Wanted { from: (AT - 5) * HOUR, until: (AT + 5) * HOUR, ..of_minutes(0..1) };
        assert_eq!(found(&before).await, loose);
        // What was joined covers its sources, whichever minutes are asked about.
        let joined = write(place.path(), 0..3, 1);
        listing.forget();
        assert_eq!(found(&of_minutes(2..4)).await, [joined.clone(), loose[3].clone()]);
        assert_eq!(found(&of_minutes(0..2)).await, [joined]);
    }

    #[tokio::test]
    async fn ends_of_parts_are_read_once_for_all_that_share_them() {
        let place = tempfile::TempDir::new().unwrap();
        write(place.path(), 0..1, 0);
        let known: Arc<KnownFooters> = Arc::default();
        let read = async |known: &Arc<KnownFooters>| {
            let root = store::open(place.path().to_str().unwrap()).unwrap();
            let listing = FleetListing::new(root, known.clone());
            assert_eq!(listing.parts(HostRow::table(), &of_minutes(0..60)).await.unwrap().len(), 1);
            listing.taken()[1]
        };
        assert_eq!([read(&known).await, read(&known).await], [1, 0]);
        // A file of the same name that is another one is read anew.
        let path = place.path().join(write(place.path(), 0..1, 0).path());
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
        assert_eq!(read(&known).await, 1);
    }

    #[tokio::test]
    async fn parts_that_went_after_they_were_listed_are_listed_anew() {
        let place = tempfile::TempDir::new().unwrap();
        let sources = [write(place.path(), 0..1, 0), write(place.path(), 1..2, 0)];
        let listing = listing(place.path());
        let (table, wanted) = (HostRow::table(), of_minutes(0..60));
        assert_eq!(listing.list(table, &wanted).await.unwrap().len(), 2);
        let joined = write(place.path(), 0..2, 1);
        for name in &sources {
            std::fs::remove_file(place.path().join(name.path())).unwrap();
        }
        let found = listing.parts(table, &wanted).await.unwrap();
        assert_eq!(found.iter().map(|part| &part.name).collect::<Vec<_>>(), [&joined]);
        // One that grew too old to be kept.
        std::fs::remove_file(place.path().join(joined.path())).unwrap();
        assert!(listing.footers.decode(&found[0]).await.is_err_and(|trouble| trouble == PartTrouble::Gone));
        assert_eq!(listing.examine().await, 1);
        assert!(listing.parts(table, &wanted).await.unwrap().is_empty());
        assert_eq!((listing.given(), listing.remarks()), ((0, 0), vec![]));
    }
}
