//! Where agents' parts are stored, and what keeps them: a directory, or an object store (S3, Google Cloud Storage, Azure).
//!
//! [`Spool`] is the agent's own directory of parts that wait; [`Uploader`] sends them, however long the store is away. A part is
//! created under its name or not at all, so that one that is sent twice is there once. [`compact`] joins the small parts of
//! an hour that is over, [`retain`] removes what is old. Each is safe to stop at any point: what is new is there
//! before what is old goes, and names tell which of them is read (`whyslow_parts::choose`).

mod check;
mod clock;
mod compact;
mod error;
mod join;
mod listing;
mod open;
mod retain;
mod spool;
mod store;
mod uploader;

pub use check::{CheckReport, check};
pub use compact::{CompactDone, CompactOptions, compact};
pub use error::DepotError;
pub use listing::{HourListing, StoredPart};
pub use open::DepotOptions;
pub use retain::{RetainDone, RetainOptions, retain};
pub use spool::{Spool, SpoolError, SpoolState};
pub use store::{Depot, PutOutcome};
pub use uploader::{UploadOptions, UploadState, Uploader, upload_all};

/// Waits for what is asked of a store, on this thread.
///
/// # Errors
/// Where the system gives no means to wait.
pub fn wait_for<T>(what: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build()?;
    Ok(runtime.block_on(what))
}
