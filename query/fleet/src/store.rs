//! Where the parts are: a directory or a bucket, and what was read of it.

use crate::error::FleetError;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// What questions took of the store so far.
#[derive(Debug, Default)]
pub(crate) struct FleetTally {
    /// Listings asked for.
    pub(crate) listings: AtomicU64,
    /// Reads asked for.
    pub(crate) reads: AtomicU64,
    /// Bytes of parts that were read.
    pub(crate) bytes: AtomicU64,
    /// Parts that were listed, and were gone when they were read.
    pub(crate) missing: Mutex<HashSet<Path>>,
}

/// The place of the parts, opened.
#[derive(Clone, Debug)]
pub(crate) struct FleetRoot {
    /// As it was given.
    pub(crate) given: String,
    /// Its address: the parts' own are below it.
    pub(crate) url: Url,
    /// The store, from the root on; what is read of it is counted.
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) tally: Arc<FleetTally>,
    /// The same, uncounted.
    plain: Arc<dyn ObjectStore>,
    /// A request takes a way over the network.
    pub(crate) is_remote: bool,
}

impl FleetRoot {
    fn new(given: &str, url: Url, plain: Arc<dyn ObjectStore>, is_remote: bool) -> FleetRoot {
        let tally = Arc::new(FleetTally::default());
        let store = Arc::new(CountedStore { inner: plain.clone(), tally: tally.clone() });
        FleetRoot { given: given.to_string(), url, store, tally, plain, is_remote }
    }

    /// The same place, of which what is read is counted anew.
    pub(crate) fn uncounted(&self) -> FleetRoot {
        FleetRoot::new(&self.given, self.url.clone(), self.plain.clone(), self.is_remote)
    }

    /// The address of the store that has the root in it: `file:///`, `s3://bucket`.
    pub(crate) fn base(&self) -> &str {
        &self.url[..url::Position::BeforePath]
    }

    /// Where the root is in that store.
    fn place(&self) -> Path {
        Path::from_url_path(self.url.path()).unwrap_or_default()
    }

    /// Where a part is in that store.
    pub(crate) fn whole(&self, part: &Path) -> Path {
        self.place().parts().chain(part.parts()).collect()
    }
}

/// Opens a directory or an address (`s3://`, `gs://`, `az://`). Credentials are in the environment.
pub(crate) fn open(root: &str) -> std::result::Result<FleetRoot, FleetError> {
    let wrong = |reason: String| FleetError::Root { root: root.to_string(), reason };
    if !root.contains("://") {
        let path = std::fs::canonicalize(root).map_err(|error| wrong(error.to_string()))?;
        let url = Url::from_directory_path(&path).map_err(|()| wrong("no directory".to_string()))?;
        let store = LocalFileSystem::new_with_prefix(&path).map_err(|error| wrong(error.to_string()))?;
        return Ok(FleetRoot::new(root, url, Arc::new(store), false));
    }
    let mut url = Url::parse(root).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "s3" | "gs" | "az" | "azure" | "abfs" | "abfss") {
        return Err(wrong(format!("{}:// is no store that is known", url.scheme())));
    }
    let environment = std::env::vars_os().filter_map(|(name, value)| {
        Some((name.into_string().ok()?.to_ascii_lowercase(), value.into_string().ok()?))
    });
    let (store, prefix) = object_store::parse_url_opts(&url, environment)
        .map_err(|error| wrong(first_line(&error.to_string())))?;
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(FleetRoot::new(root, url, Arc::new(PrefixStore::new(store, prefix)), true))
}

/// What stores say begins with what is wrong, and goes on for long.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(300).collect()
}

/// A store that counts what is read of it, and writes nothing.
#[derive(Debug)]
struct CountedStore {
    inner: Arc<dyn ObjectStore>,
    tally: Arc<FleetTally>,
}

impl CountedStore {
    fn count(&self, bytes: u64) {
        self.tally.reads.fetch_add(1, Ordering::Relaxed);
        self.tally.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn note(&self, location: &Path, error: &object_store::Error) {
        if matches!(error, object_store::Error::NotFound { .. }) {
            let mut missing = self.tally.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.insert(location.clone());
        }
    }

    fn refused<T>(&self) -> Result<T> {
        Err(object_store::Error::NotSupported { source: "a question writes nothing".into() })
    }
}

impl fmt::Display for CountedStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(out)
    }
}

#[async_trait]
impl ObjectStore for CountedStore {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        self.refused()
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.refused()
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let head = options.head;
        let result = self.inner.get_opts(location, options).await;
        let result = result.inspect_err(|error| self.note(location, error))?;
        self.count(if head { 0 } else { result.range.end - result.range.start });
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let found = self.inner.get_ranges(location, ranges).await;
        let found = found.inspect_err(|error| self.note(location, error))?;
        self.count(found.iter().map(|bytes| bytes.len() as u64).sum());
        Ok(found)
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let refused = self.refused();
        Box::pin(futures::stream::once(async { refused }))
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.tally.listings.fetch_add(1, Ordering::Relaxed);
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.tally.listings.fetch_add(1, Ordering::Relaxed);
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        self.refused()
    }
}

/// The parts of one place for an engine whose plans name files by their whole addresses: a store, and the address under which the engine
/// knows it. Whatever a plan names, nothing is read that is not below the place, and nothing is written.
///
/// # Errors
/// If the place cannot be used.
pub fn parts_store(root: &str) -> std::result::Result<(Url, Arc<dyn ObjectStore>), FleetError> {
    let root = open(root)?;
    let base = if root.base() == "file://" { "file:///" } else { root.base() };
    let url = Url::parse(base)
        .map_err(|error| FleetError::Root { root: root.given.clone(), reason: error.to_string() })?;
    Ok((url, Arc::new(BelowStore { place: root.place(), inner: root.store })))
}

/// A store of which only what is below one place is there.
#[derive(Debug)]
struct BelowStore {
    place: Path,
    /// From the place on.
    inner: Arc<dyn ObjectStore>,
}

impl BelowStore {
    fn below(&self, location: &Path) -> Result<Path> {
        let rest = location.prefix_match(&self.place).map(|rest| rest.collect::<Path>());
        rest.ok_or_else(|| object_store::Error::PermissionDenied {
            path: location.to_string(),
            source: format!("this executor reads below {} and nothing else", self.place).into(),
        })
    }

    fn refused<T>(&self) -> Result<T> {
        Err(object_store::Error::NotSupported {
            source: "an executor reads the files that a plan names, and does nothing else".into(),
        })
    }
}

impl fmt::Display for BelowStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.place, self.inner)
    }
}

#[async_trait]
impl ObjectStore for BelowStore {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        self.refused()
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.refused()
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let mut result = self.inner.get_opts(&self.below(location)?, options).await?;
        result.meta.location = location.clone();
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(&self.below(location)?, ranges).await
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let refused = self.refused();
        Box::pin(futures::stream::once(async { refused }))
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let refused = self.refused();
        Box::pin(futures::stream::once(async { refused }))
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        self.refused()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        self.refused()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_engine_elsewhere_reads_below_the_place_alone() {
        use object_store::ObjectStoreExt;
        let place = tempfile::TempDir::new().unwrap();
        let (folder, outside) = (place.path().join("parts"), place.path().join("other"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("a%2Fb"), "12345678").unwrap();
        std::fs::write(&outside, "x").unwrap();
        let root = open(folder.to_str().unwrap()).unwrap();
        let (url, store) = parts_store(folder.to_str().unwrap()).unwrap();
        assert_eq!(url.as_str(), "file:///");
        let whole = root.whole(&Path::parse("a%2Fb").unwrap());
        assert_eq!(store.get_range(&whole, 2..5).await.unwrap(), "345");
        assert_eq!(store.get_opts(&whole, GetOptions::default()).await.unwrap().meta.location, whole);
        for named in [outside.clone(), "/etc/passwd".into(), folder.join("../other")] {
            let named = Path::from(named.to_str().unwrap().trim_start_matches('/'));
            let error = store.get_range(&named, 0..1).await.expect_err("outside");
            assert!(
                // Two dots are a name there like any other: of nothing.
                error.to_string().contains("and nothing else")
                    || named.as_ref().contains("%2E%2E") && error.to_string().contains("not found"),
                "{error}"
            );
        }
        assert!(store.put(&whole, "x".into()).await.is_err());
        assert_eq!(std::fs::read(folder.join("a%2Fb")).unwrap(), b"12345678");
    }

    #[test]
    fn what_cannot_be_opened_says_what_to_do() {
        for root in ["/nowhere/at/all", "ftp://host/x", "s3://", "s3:///"] {
            let error = open(root).expect_err(root).to_string();
            assert!(error.starts_with(root) && error.contains("next: "), "{error}");
        }
    }

    #[tokio::test]
    async fn reads_are_counted_and_writes_refused() {
        use object_store::ObjectStoreExt;
        let place = tempfile::TempDir::new().unwrap();
        std::fs::write(place.path().join("a"), "12345678").unwrap();
        let root = open(place.path().to_str().unwrap()).unwrap();
        let path = Path::from("a");
        assert_eq!(root.store.get_range(&path, 2..5).await.unwrap(), "345");
        assert_eq!(root.store.get_ranges(&path, &[0..1, 7..8]).await.unwrap().len(), 2);
        assert_eq!(root.tally.bytes.load(Ordering::Relaxed), 5);
        assert!(root.store.put(&path, "x".into()).await.is_err());
        assert!(root.store.get_range(&Path::from("b"), 0..1).await.is_err());
        assert!(root.store.get_ranges(&Path::from("c"), &[0..1, 2..3]).await.is_err());
        let missing = root.tally.missing.lock().unwrap().clone();
        assert_eq!(missing, HashSet::from([Path::from("b"), Path::from("c")]));
        assert_eq!(std::fs::read(place.path().join("a")).unwrap(), b"12345678");
    }
}
