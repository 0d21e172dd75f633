//! Where captures lie: our own within the repository, those that people published beside the checkout.

use crate::common::skipped;
use std::path::{Path, PathBuf};

/// Captures of the repository.
pub(crate) const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures");

/// The folders of published captures, whose licences forbid to copy them; `None` (and said so) where this checkout has none.
pub(crate) fn published() -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    if !path.is_dir() {
        skipped("no published captures beside the checkout (../shared/captures)");
        return None;
    }
    Some(path.to_path_buf())
}
