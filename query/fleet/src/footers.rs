//! The ends of parts, where a part says what it is: read once, checked, and handed to the decoder.

use crate::store::{FleetRoot, first_line};
use bytes::Bytes;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result as EngineResult;
use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::parquet::arrow::arrow_reader::ArrowReaderOptions;
use datafusion::parquet::arrow::async_reader::{AsyncFileReader, MetadataFetch};
use datafusion::parquet::arrow::{ParquetRecordBatchStreamBuilder, parquet_to_arrow_schema};
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use whyslow_parts::{Claims, MOST_PART_BYTES, PartName, PartTable};

/// Bytes of footers that are kept. Of further ones it is kept that they are sound; they are read again by the scan.
const MOST_KEPT: usize = 256 << 20;
/// What is counted for a footer beside its metadata: its place and its claims.
const ENTRY: usize = 512;
/// Where all footers are in use, it is tried again to drop some only after so many more.
const TRIES_APART: u64 = 1_000;
/// Bytes first read of a part's end. Most footers fit: what is longer takes one more read. A read over the network takes so long that more
/// bytes at once are cheaper than one more of them. A part that is no longer than that is read whole, and once.
const END_NEAR: usize = 64 << 10;
const END_REMOTE: usize = 32 << 10;

/// Bytes first read of a part's end.
fn end(is_remote: bool) -> usize {
    if is_remote { END_REMOTE } else { END_NEAR }
}

/// Whether a part is read whole: agents write such ones, a minute each.
pub(crate) fn is_small(object: &ObjectMeta, is_remote: bool) -> bool {
    object.size > 0 && object.size <= end(is_remote) as u64
}

/// Why a part is not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PartTrouble {
    /// It was listed, and is there no more.
    Gone,
    /// What is wrong with it, in words.
    Wrong(String),
}

/// What the end of a part says.
#[derive(Debug)]
pub(crate) struct Footer {
    /// Row groups, columns and statistics; `None` where there was no room to keep it, and of small parts.
    pub(crate) metadata: Option<Arc<ParquetMetaData>>,
    /// All of a small part; `None` where there was no room to keep it.
    pub(crate) whole: Option<Bytes>,
    /// Whose rows a part of many hosts has.
    pub(crate) claims: Option<Claims>,
}

/// A part to read.
#[derive(Clone, Debug)]
pub(crate) struct FoundPart {
    pub(crate) object: ObjectMeta,
    pub(crate) name: PartName,
    pub(crate) footer: Arc<Footer>,
}

/// Footers that were read, for all questions about one place: a part never changes under its name. Those that were used longest ago, and that no
/// question holds, make room for others.
#[derive(Default, Debug)]
pub(crate) struct KnownFooters(Mutex<KeptFooters>);

#[derive(Default, Debug)]
struct KeptFooters {
    all: HashMap<Path, KeptFooter>,
    bytes: usize,
    clock: u64,
    /// When it is tried again to make room.
    next_try: u64,
}

#[derive(Debug)]
struct KeptFooter {
    object: ObjectMeta,
    bytes: usize,
    used: u64,
    footer: Arc<Footer>,
}

impl KeptFooters {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Drops what was used longest ago, down to three quarters of `most`.
    fn make_room(&mut self, most: usize) {
        if self.clock < self.next_try {
            return;
        }
        let unused = |kept: &&KeptFooter| Arc::strong_count(&kept.footer) == 1;
        let mut unused: Vec<(u64, Path)> =
            self.all.values().filter(unused).map(|kept| (kept.used, kept.object.location.clone())).collect();
        unused.sort_unstable_by_key(|(used, _)| *used);
        for (_, path) in unused {
            if self.bytes <= most / 4 * 3 {
                return;
            }
            if let Some(kept) = self.all.remove(&path) {
                self.bytes -= kept.bytes;
            }
        }
        self.next_try = self.clock + TRIES_APART;
    }
}

impl KnownFooters {
    fn held(&self) -> std::sync::MutexGuard<'_, KeptFooters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, object: &ObjectMeta) -> Option<Arc<Footer>> {
        let mut held = self.held();
        let now = held.tick();
        let kept = held.all.get_mut(&object.location).filter(|kept| kept.object == *object)?;
        kept.used = now;
        Some(kept.footer.clone())
    }

    /// Keeps one of `most` bytes in all; of its claims alone where there is no room.
    fn keep(&self, object: &ObjectMeta, footer: Footer, most: usize) -> Arc<Footer> {
        let size = |footer: &Footer| {
            let metadata = footer.metadata.as_ref().map_or(0, |metadata| metadata.memory_size());
            metadata + footer.whole.as_ref().map_or(0, Bytes::len) + ENTRY
        };
        let mut held = self.held();
        let (used, mut bytes) = (held.tick(), size(&footer));
        if let Some(old) = held.all.remove(&object.location) {
            held.bytes -= old.bytes;
        }
        if held.bytes + bytes > most {
            held.make_room(most);
        }
        let footer = match held.bytes + bytes <= most {
            true => Arc::new(footer),
            false => {
                bytes = ENTRY;
                Arc::new(Footer { metadata: None, whole: None, claims: footer.claims })
            }
        };
        held.bytes += bytes;
        held.all.insert(
            object.location.clone(),
            KeptFooter { object: object.clone(), bytes, used, footer: footer.clone() },
        );
        footer
    }
}

/// Reads them.
#[derive(Debug)]
pub(crate) struct Footers {
    store: Arc<dyn ObjectStore>,
    is_remote: bool,
    known: Arc<KnownFooters>,
}

impl Footers {
    pub(crate) fn new(root: &FleetRoot, known: Arc<KnownFooters>) -> Footers {
        Footers { store: root.store.clone(), is_remote: root.is_remote, known }
    }

    /// Reads under way at once.
    pub(crate) fn at_once(&self) -> usize {
        if self.is_remote { 64 } else { 16 }
    }

    /// The end of a part.
    pub(crate) async fn of(
        &self,
        table: &'static PartTable,
        object: &ObjectMeta,
    ) -> Result<Arc<Footer>, PartTrouble> {
        if let Some(footer) = self.known.get(object) {
            return Ok(footer);
        }
        if object.size > MOST_PART_BYTES {
            let size = object.size;
            return Err(PartTrouble::Wrong(format!(
                "it has {size} bytes; a part has {MOST_PART_BYTES} at most"
            )));
        }
        let (store, object_meta, is_remote) = (self.store.clone(), object.clone(), self.is_remote);
        // A task of its own: it is the decoder that panics, and on another thread that it runs.
        let read = SpawnedTask::spawn(async move {
            let whole = match is_small(&object_meta, is_remote) {
                true => Some(all_of(&store, &object_meta).await.map_err(|error| trouble(&error))?),
                false => None,
            };
            let metadata = match &whole {
                Some(whole) => ParquetMetaDataReader::new().parse_and_finish(whole),
                None => metadata(&store, &object_meta, is_remote).await,
            };
            let metadata = metadata.map_err(|error| trouble(&error))?;
            let about = whyslow_parts::about(table, &metadata)
                .map_err(|error| PartTrouble::Wrong(error.to_string()))?;
            check_columns(table, &metadata).map_err(PartTrouble::Wrong)?;
            // Of a small part its bytes are less than what they are unfolded to.
            let metadata = whole.is_none().then(|| Arc::new(metadata));
            Ok::<_, PartTrouble>(Footer { metadata, whole, claims: about.claims })
        });
        let footer = read.join().await.map_err(|_| gave_up())??;
        Ok(self.known.keep(object, footer, MOST_KEPT))
    }

    /// Decodes a whole part, to see whether it can be.
    pub(crate) async fn decode(&self, part: &FoundPart) -> Result<(), PartTrouble> {
        // What the store has now, and not what was kept of it.
        let footer = Arc::new(Footer { metadata: None, whole: None, claims: None });
        let reader = PartBytes {
            store: self.store.clone(),
            object: part.object.clone(),
            footer,
            is_remote: self.is_remote,
        };
        let task = SpawnedTask::spawn(async move {
            let mut rows = ParquetRecordBatchStreamBuilder::new(reader).await?.build()?;
            while let Some(batch) = rows.next().await {
                batch?;
            }
            Ok::<_, ParquetError>(())
        });
        match task.join().await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(trouble(&error)),
            Err(_) => Err(gave_up()),
        }
    }
}

/// A column of ours that holds something else there would fail the whole question.
fn check_columns(table: &'static PartTable, metadata: &ParquetMetaData) -> Result<(), String> {
    let foreign = |reason: String| format!("it is no part of table `{}`: {reason}", table.name);
    let schema = metadata.file_metadata().schema_descr();
    let schema = parquet_to_arrow_schema(schema, None).map_err(|error| foreign(error.to_string()))?;
    for column in table.columns {
        let Ok(field) = schema.field_with_name(column.name) else {
            // What is always there tells whose rows and of which time they are.
            if !column.unknown {
                return Err(foreign(format!("it has no column `{}`", column.name)));
            }
            continue;
        };
        let fits = match (field.data_type(), column.kind.data_type()) {
            (DataType::List(found), DataType::List(item)) => found.data_type() == item.data_type(),
            (found, DataType::Dictionary(_, values)) => *found == *values,
            (found, wanted) => *found == wanted,
        };
        if !fits {
            return Err(foreign(format!("its column `{}` holds {}", column.name, field.data_type())));
        }
    }
    Ok(())
}

fn gave_up() -> PartTrouble {
    PartTrouble::Wrong("it is damaged: the decoder of Parquet gave up on it".to_string())
}

fn trouble(error: &ParquetError) -> PartTrouble {
    let of_store = match error {
        ParquetError::External(why) => why.downcast_ref::<object_store::Error>(),
        _ => None,
    };
    match of_store {
        Some(object_store::Error::NotFound { .. }) => PartTrouble::Gone,
        Some(why) => PartTrouble::Wrong(format!("it cannot be read: {}", first_line(&why.to_string()))),
        None => PartTrouble::Wrong(format!("it is damaged: {}", first_line(&error.to_string()))),
    }
}

/// The bytes of a small part.
pub(crate) async fn all_of(store: &Arc<dyn ObjectStore>, object: &ObjectMeta) -> ParquetResult<Bytes> {
    let bytes = store.get_range(&object.location, 0..object.size).await;
    bytes.map_err(|error| ParquetError::External(Box::new(error)))
}

async fn metadata(
    store: &Arc<dyn ObjectStore>,
    object: &ObjectMeta,
    is_remote: bool,
) -> ParquetResult<ParquetMetaData> {
    let hint = end(is_remote).min(usize::try_from(object.size).unwrap_or(usize::MAX));
    let fetch = Ends { store, object };
    ParquetMetaDataReader::new().with_prefetch_hint(Some(hint)).load_and_finish(fetch, object.size).await
}

struct Ends<'a> {
    store: &'a Arc<dyn ObjectStore>,
    object: &'a ObjectMeta,
}

impl MetadataFetch for Ends<'_> {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        async move {
            let bytes = self.store.get_range(&self.object.location, range).await;
            bytes.map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }
}

/// Gives the decoder of the engine the bytes of parts, and their ends as they were read.
#[derive(Debug)]
pub(crate) struct PartReaders {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) is_remote: bool,
}

impl ParquetFileReaderFactory for PartReaders {
    fn create_reader(
        &self,
        _: usize,
        file: PartitionedFile,
        _: Option<usize>,
        _: &ExecutionPlanMetricsSet,
    ) -> EngineResult<Box<dyn AsyncFileReader + Send>> {
        let footer = file.extensions.get_arc::<Footer>();
        let footer = footer.unwrap_or_else(|| Arc::new(Footer { metadata: None, whole: None, claims: None }));
        let store = self.store.clone();
        Ok(Box::new(PartBytes { store, object: file.object_meta, footer, is_remote: self.is_remote }))
    }
}

/// One part.
struct PartBytes {
    store: Arc<dyn ObjectStore>,
    object: ObjectMeta,
    footer: Arc<Footer>,
    is_remote: bool,
}

impl PartBytes {
    /// Bytes of a part that was read whole; `None` where it was not, or has no such bytes.
    fn kept(&self, range: &Range<u64>) -> Option<Bytes> {
        let whole = self.footer.whole.as_ref()?;
        let (from, until) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        (from <= until && until <= whole.len()).then(|| whole.slice(from..until))
    }
}

impl AsyncFileReader for PartBytes {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        async move {
            if let Some(bytes) = self.kept(&range) {
                return Ok(bytes);
            }
            let bytes = self.store.get_range(&self.object.location, range).await;
            bytes.map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        async move {
            if let Some(all) = ranges.iter().map(|range| self.kept(range)).collect() {
                return Ok(all);
            }
            let bytes = self.store.get_ranges(&self.object.location, &ranges).await;
            bytes.map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        async move {
            match &self.footer.metadata {
                Some(metadata) => Ok(metadata.clone()),
                None if let Some(whole) = &self.footer.whole => {
                    Ok(Arc::new(ParquetMetaDataReader::new().parse_and_finish(whole)?))
                }
                None => Ok(Arc::new(metadata(&self.store, &self.object, self.is_remote).await?)),
            }
        }
        .boxed()
    }
}
