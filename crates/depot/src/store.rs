//! A store: parts are created, read, listed and removed.

use crate::clock::ServerClock;
use crate::error::DepotError;
use crate::open::{self, DepotOptions};
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;
use whyslow_parts::PartName;

/// What creating a part came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PutOutcome {
    /// It is there now.
    Created,
    /// It was there already, with as many bytes: an upload whose answer was lost.
    AlreadyThere,
}

/// A directory or object store with parts.
#[derive(Clone)]
pub struct Depot {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) root: StorePath,
    directory: Option<PathBuf>,
    url: String,
    clock: ServerClock,
}

impl Depot {
    /// Opens the store at `url`; only a directory is looked at now.
    ///
    /// # Errors
    /// Where the address or the settings are none, or there is no such directory.
    pub fn open(url: &str, options: &DepotOptions) -> Result<Depot, DepotError> {
        let clock = ServerClock::default();
        let opened = open::open(url, options, &clock)?;
        let (store, root, directory) = (opened.store, opened.root, opened.directory);
        Ok(Depot { store, root, directory, url: url.to_string(), clock })
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How far our clock is ahead of that of the server; `None` where no answer told, as of a directory.
    pub fn clock_skew_ns(&self) -> Option<i64> {
        self.clock.ahead_ns()
    }

    /// The time by the server's clock, as far as it is known.
    pub(crate) fn now(&self) -> SystemTime {
        let now = SystemTime::now();
        match self.clock.ahead_ns() {
            Some(ahead) if ahead >= 0 => now - std::time::Duration::from_nanos(ahead.unsigned_abs()),
            Some(ahead) => now + std::time::Duration::from_nanos(ahead.unsigned_abs()),
            None => now,
        }
    }

    /// The object at `path` below the root.
    pub(crate) fn at(&self, path: &str) -> Result<StorePath, DepotError> {
        let whole =
            if self.root.as_ref().is_empty() { path.to_string() } else { format!("{}/{path}", self.root) };
        StorePath::parse(whole)
            .map_err(|error| DepotError::Address { url: self.url.clone(), reason: error.to_string() })
    }

    /// The path below the root.
    pub(crate) fn below<'a>(&self, path: &'a StorePath) -> &'a str {
        let path = path.as_ref();
        path.strip_prefix(self.root.as_ref()).unwrap_or(path).trim_start_matches('/')
    }

    pub(crate) fn error(&self, path: &str, error: object_store::Error) -> DepotError {
        DepotError::of(&self.url, path, error)
    }

    /// Creates a part, or finds that it is there.
    ///
    /// # Errors
    /// Where the store refuses, is away, or has other bytes under that name.
    pub async fn create(&self, name: &PartName, bytes: Bytes) -> Result<PutOutcome, DepotError> {
        self.create_object(&name.path(), bytes).await
    }

    pub(crate) async fn create_object(&self, path: &str, bytes: Bytes) -> Result<PutOutcome, DepotError> {
        let (place, length) = (self.at(path)?, bytes.len() as u64);
        match self.store.put_opts(&place, PutPayload::from_bytes(bytes), PutMode::Create.into()).await {
            Ok(_) => {
                self.sync(path).await?;
                Ok(PutOutcome::Created)
            }
            Err(object_store::Error::AlreadyExists { .. }) => match self.store.head(&place).await {
                Ok(there) if there.size == length => Ok(PutOutcome::AlreadyThere),
                Ok(_) => Err(DepotError::Other { url: self.url.clone(), path: path.to_string() }),
                // Who creates it at this moment may yet fail.
                Err(object_store::Error::NotFound { .. }) => {
                    let reason = format!("{path} is being created by another");
                    Err(DepotError::Away { url: self.url.clone(), reason })
                }
                Err(error) => Err(self.error(path, error)),
            },
            Err(error) => Err(self.error(path, error)),
        }
    }

    /// Of a directory: what was created survives the end of the machine.
    async fn sync(&self, path: &str) -> Result<(), DepotError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let file = directory.join(path);
        let synced = tokio::task::spawn_blocking(move || {
            std::fs::File::open(&file)?.sync_all()?;
            file.parent().map_or(Ok(()), |folder| std::fs::File::open(folder)?.sync_all())
        });
        let failed = |reason: String| DepotError::Away { url: self.url.clone(), reason };
        match synced.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// The bytes of a part.
    ///
    /// # Errors
    /// Where the store refuses or is away, or it is not there (any more).
    pub async fn read(&self, name: &PartName) -> Result<Bytes, DepotError> {
        let path = name.path();
        let got = self.store.get(&self.at(&path)?).await.map_err(|error| self.error(&path, error))?;
        if got.meta.size > whyslow_parts::MOST_PART_BYTES {
            let error = whyslow_parts::PartError::Damaged(format!("it has {} bytes", got.meta.size));
            return Err(DepotError::Part { path, error });
        }
        got.bytes().await.map_err(|error| self.error(&path, error))
    }

    /// Removes parts; one that is not there any more is no error. Gives how many are gone.
    ///
    /// # Errors
    /// Where the store refuses or is away: some may be gone then.
    pub async fn remove(&self, names: &[PartName]) -> Result<u64, DepotError> {
        let mut gone = 0;
        let places: Result<Vec<StorePath>, DepotError> =
            names.iter().map(|name| self.at(&name.path())).collect();
        let places = futures_util::stream::iter(places?.into_iter().map(Ok)).boxed();
        let mut answers = self.store.delete_stream(places);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => gone += 1,
                Err(error) => return Err(self.error("a part to remove", error)),
            }
        }
        Ok(gone)
    }
}
