//! Where profiles come from: files, added to one profile.

use super::flags::Flags;
use crate::cli::Global;
use anyhow::bail;
use std::path::Path;
use whyslow_model::Profile;
use whyslow_profile::formats::{self, Limits, ProfileData};
use whyslow_profile::select;

/// The profile of all sources, less the base.
///
/// # Errors
/// If one cannot be read, or they do not measure the same.
pub(super) fn profile(sources: &[&str], flags: &Flags, _global: &Global) -> anyhow::Result<Profile> {
    let profiles = sources.iter().map(|source| one(Path::new(source))).collect::<Result<Vec<_>, _>>()?;
    let (base, marked) = match flags.diff_base.is_empty() {
        true => (&flags.base, false),
        false => (&flags.diff_base, true),
    };
    let base = base.iter().map(|path| one(path)).collect::<Result<Vec<_>, _>>()?;
    let profile = select::combine(profiles, base, marked, flags.normalize)?;
    Ok(profile)
}

/// One profile.
fn one(path: &Path) -> anyhow::Result<Profile> {
    let loaded = if path == Path::new("-") {
        formats::read(std::io::stdin().lock(), "standard input", Limits::default())?
    } else {
        formats::read_file(path, Limits::default())?
    };
    if let Some(damage) = &loaded.damage {
        eprintln!("whyslow: {}: {damage:?}", path.display());
    }
    match loaded.data {
        ProfileData::Stacks(profile) => Ok(profile),
        ProfileData::Table(_) => {
            bail!(
                "{}: this is a printed table; its stacks are not in it, nothing can be selected",
                path.display()
            )
        }
    }
}
