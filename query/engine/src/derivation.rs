//! The computed tables of one recording: made all at once when the first of them is asked for, and kept in the cache of the user where that
//! took long.

use crate::captures::Opened;
use crate::derived::{DERIVED, Derived, Rows};
use crate::facts::Computed;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use whyslow_privacy::files;

/// What takes less is computed again.
const WORTH_KEEPING: Duration = Duration::from_millis(300);
/// Recordings whose tables are kept; the oldest go first.
const MOST_KEPT: usize = 64;

/// The computed tables of one recording.
#[derive(Debug)]
pub(crate) struct Derivation {
    opened: Arc<Opened>,
    show_secrets: bool,
    cache: Option<PathBuf>,
    tables: OnceCell<Arc<Vec<RecordBatch>>>,
}

impl Derivation {
    pub(crate) fn new(opened: Arc<Opened>, show_secrets: bool, cache: Option<PathBuf>) -> Derivation {
        Derivation { opened, show_secrets, cache, tables: OnceCell::new() }
    }

    /// The rows of one of them.
    pub(crate) async fn table(&self, table: &'static Derived) -> Result<RecordBatch, String> {
        let tables = self.tables.get_or_try_init(|| self.all()).await?;
        let at = DERIVED.iter().position(|known| known.name == table.name).ok_or("no such table")?;
        Ok(tables[at].clone())
    }

    async fn all(&self) -> Result<Arc<Vec<RecordBatch>>, String> {
        let (opened, show_secrets) = (self.opened.clone(), self.show_secrets);
        let kept = self
            .cache
            .as_ref()
            .filter(|_| opened.is_in_place())
            .and_then(|cache| Kept::of(cache, &opened, show_secrets));
        let work = move || {
            if let Some(tables) = kept.as_ref().and_then(Kept::read) {
                return Ok(Arc::new(tables));
            }
            let begun = Instant::now();
            let computed = Computed::of(&opened, show_secrets)?;
            let tables = DERIVED.iter().map(|table| {
                let mut rows = Rows::new(table);
                (table.fill)(&computed, &mut rows);
                rows.finish().map_err(|error| error.to_string())
            });
            let tables = tables.collect::<Result<Vec<_>, _>>()?;
            if let Some(kept) = kept.filter(|_| begun.elapsed() >= WORTH_KEEPING) {
                // Without it they are computed the next time too.
                let _ = kept.write(&tables);
            }
            Ok(Arc::new(tables))
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(_) => Err("the facts could not be computed".to_string()),
        }
    }
}

/// A folder of the cache: computed tables by what they were computed of.
struct Kept {
    cache: PathBuf,
    folder: PathBuf,
}

impl Kept {
    /// By the names of all parts, which hold their checksums, and by the version that computes. `None` for a recording that has no parts.
    fn of(cache: &Path, opened: &Opened, show_secrets: bool) -> Option<Kept> {
        let mut names = Vec::new();
        for table in whyslow_store::TABLES {
            for entry in fs::read_dir(opened.tables.join(table.name)).into_iter().flatten().flatten() {
                let size = entry.metadata().ok()?.len();
                names.push((table.name, entry.file_name(), size));
            }
        }
        names.sort();
        let hash = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, env!("CARGO_PKG_VERSION"), whyslow_store::SCHEMA, &opened.name, show_secrets, &names)
                .hash(&mut hasher);
            for table in DERIVED {
                (table.name, table.columns.len()).hash(&mut hasher);
            }
            // A build of another day may judge otherwise.
            let program =
                std::env::current_exe().and_then(|path| path.metadata()).and_then(|about| about.modified());
            program.ok().hash(&mut hasher);
            hasher.finish()
        };
        let folder = cache.join(format!("{:016x}{:016x}", hash(0), hash(1)));
        (!names.is_empty()).then(|| Kept { cache: cache.to_path_buf(), folder })
    }

    fn read(&self) -> Option<Vec<RecordBatch>> {
        let read = |table: &&Derived| {
            let file = File::open(self.folder.join(format!("{}.parquet", table.name))).ok()?;
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).ok()?.build().ok()?;
            let batches = reader.collect::<Result<Vec<_>, _>>().ok()?;
            let schema = crate::derived::schema(table);
            let whole = concat_batches(&schema, &batches).ok()?;
            (whole.num_columns() == table.columns.len()).then_some(whole)
        };
        DERIVED.iter().map(read).collect()
    }

    /// Writes them beside, and gives the folder its name when it is whole.
    fn write(&self, tables: &[RecordBatch]) -> std::io::Result<()> {
        if let Some(above) = self.cache.parent() {
            fs::create_dir_all(above)?;
        }
        files::create_folder_if_missing(&self.cache)?;
        self.make_room();
        let made = tempfile::Builder::new().prefix(".making-").tempdir_in(&self.cache)?;
        for (table, batch) in DERIVED.iter().zip(tables) {
            let file = files::create_or_empty_file(&made.path().join(format!("{}.parquet", table.name)))?;
            let mut writer =
                ArrowWriter::try_new(file, batch.schema(), None).map_err(std::io::Error::other)?;
            writer.write(batch).map_err(std::io::Error::other)?;
            writer.close().map_err(std::io::Error::other)?;
        }
        fs::rename(made.path(), &self.folder)?;
        // It has another name now, and is not to be removed.
        let _ = made.keep();
        Ok(())
    }

    fn make_room(&self) {
        let entries = fs::read_dir(&self.cache).into_iter().flatten().flatten();
        let mut kept: Vec<_> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .filter(|(_, path)| path.is_dir())
            .collect();
        kept.sort();
        let over = (kept.len() + 1).saturating_sub(MOST_KEPT);
        for (_, path) in kept.into_iter().take(over) {
            let _ = fs::remove_dir_all(path);
        }
    }
}
