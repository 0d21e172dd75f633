//! Where profiles come from: files, recordings, URLs, and a running program; added to one profile.

use super::fetch;
use super::flags::Flags;
use crate::input;
use crate::live::CaptureArgs;
use crate::output::say;
use crate::progress::Bar;
use anyhow::bail;
use std::path::Path;
use whyslow_model::visible;
use whyslow_model::{Profile, SourceId};
use whyslow_profile::Sampled;
use whyslow_profile::formats::{self, Limits, ProfileData};
use whyslow_profile::select;

/// The profile of all sources and of what was `captured`, less the base.
///
/// # Errors
/// If one cannot be read, or they do not measure the same.
pub(super) fn profile(
    captured: Option<Profile>,
    sources: &[&str],
    flags: &Flags,
    capture: &CaptureArgs,
) -> anyhow::Result<Profile> {
    let sources = sources.iter().map(|source| one(Path::new(source), capture));
    let profiles = captured.map(Ok).into_iter().chain(sources);
    let (base, marked) = match flags.diff_base.is_empty() {
        true => (&flags.base, false),
        false => (&flags.diff_base, true),
    };
    let base = base.iter().map(|path| one(path, capture));
    select::combine(profiles, base, marked, flags.normalize)
}

/// One profile.
fn one(path: &Path, capture: &CaptureArgs) -> anyhow::Result<Profile> {
    if whyslow_store::is_recording(path) {
        return recording(path, capture);
    }
    let url = path.to_str().filter(|text| fetch::is_url(text));
    let loaded = if let Some(url) = url {
        let bytes = fetch::fetch(url, capture.seconds)?;
        formats::read(bytes.as_slice(), url, Limits::default())?
    } else if path == Path::new("-") {
        formats::read(std::io::stdin().lock(), "standard input", Limits::default())?
    } else {
        formats::read_file(path, Limits::default())?
    };
    if loaded.damage.is_some() {
        let path = visible::path(path);
        say!(
            "whyslow: {path}: it is whole, and has no samples\nnext: whyslow diagnose {path}   (why that may be)"
        );
    }
    match loaded.data {
        ProfileData::Stacks(profile) => Ok(profile),
        ProfileData::Table(_) => {
            bail!(
                "{}: this is a printed table; its stacks are not in it, nothing can be selected",
                visible::path(path)
            )
        }
    }
}

/// The samples of a recording.
fn recording(path: &Path, capture: &CaptureArgs) -> anyhow::Result<Profile> {
    let mut sampled = Sampled::new(capture.kind());
    let bar = Bar::default();
    let read = input::read_recording(path, SourceId::default(), &bar, &mut sampled);
    bar.finish();
    read?;
    if sampled.samples() == 0 {
        bail!(
            "{}: the recording has no {}",
            visible::path(path),
            if capture.off_cpu {
                "waits\nnext: without --off-cpu it shows what was computed"
            } else {
                "samples: nothing of it was on a CPU\nnext: --off-cpu shows what it waited for"
            }
        );
    }
    Ok(sampled.finish()?)
}
