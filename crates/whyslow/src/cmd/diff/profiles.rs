//! The comparison of profiles: which files are profiles, and the work done in each.

use crate::global::Global;
use crate::output;
use crate::status::Status;
use anyhow::{Context, bail};
use std::path::Path;
use std::str::FromStr;
use whyslow_model::profile::ProfileDamage;
use whyslow_model::visible;
use whyslow_profile::compare::{self, Basis, Comparison, SeriesStep};
use whyslow_profile::formats::{self, Limits, Loaded, ProfileData};
use whyslow_profile::views;

/// The work done in each profile.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Work {
    unit: Option<String>,
    done: Vec<f64>,
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Work, String> {
        let (unit, numbers) = match text.split_once('=') {
            Some((unit, numbers)) => (Some(unit.to_string()), numbers),
            None => (None, text),
        };
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
            _ => Err(format!("{text:?} is no amount of work: a number above 0 is expected")),
        };
        Ok(Work { unit, done: numbers.split(',').map(number).collect::<Result<_, _>>()? })
    }
}

/// All files as profiles; `None` where the first is none: then they are captures.
pub(super) fn load(files: &[&Path]) -> anyhow::Result<Option<Vec<(String, Loaded)>>> {
    let mut all = Vec::new();
    for &path in files {
        if path == Path::new("-") || path.is_dir() {
            return none_or_mixed(&all, path);
        }
        match formats::read_file(path, Limits::default()) {
            Ok(loaded) => all.push((path.display().to_string(), loaded)),
            Err(error) if error.damage == ProfileDamage::Unrecognized => return none_or_mixed(&all, path),
            // A broken capture is for the readers of captures to explain.
            Err(_) if all.is_empty() => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Some(all))
}

fn none_or_mixed<T>(all: &[(String, Loaded)], path: &Path) -> anyhow::Result<Option<T>> {
    match all.first() {
        None => Ok(None),
        Some((first, _)) => {
            bail!("{first} is a profile and {} is none: they cannot be compared", visible::path(path))
        }
    }
}

/// Compares and prints.
pub(super) fn run(
    loaded: &[(String, Loaded)],
    work: Option<&Work>,
    flame: Option<&Path>,
    global: &Global,
) -> anyhow::Result<Status> {
    let mut steps = Vec::new();
    for (name, loaded) in loaded {
        let short =
            Path::new(name).file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
        steps.push(
            SeriesStep::of(&short, loaded)
                .with_context(|| format!("{name}: the profile has no value to compare"))?,
        );
    }
    if let Some(work) = work {
        if work.done.len() != steps.len() {
            bail!("--per has {} numbers for {} profiles; one each is expected", work.done.len(), steps.len());
        }
        for (step, done) in steps.iter_mut().zip(&work.done) {
            step.work = Some(*done);
        }
    }
    let comparison = compare::compare(&steps, work.and_then(|work| work.unit.as_deref()))?;
    if let Some(file) = flame {
        write_flame(loaded, &comparison, file)?;
    }
    output::to_stdout(|out| match global.json {
        true => {
            serde_json::to_writer_pretty(&mut *out, &comparison)?;
            writeln!(out)
        }
        false => out.write_all(output::plain(&comparison.text()).as_bytes()),
    })?;
    Ok(Status::Done)
}

/// The differential flame graph of the first and the last.
fn write_flame<'l>(
    loaded: &'l [(String, Loaded)],
    comparison: &Comparison,
    file: &Path,
) -> anyhow::Result<()> {
    let (Some(first), Some(last)) = (loaded.first(), loaded.last()) else { return Ok(()) };
    let stacks = |(name, loaded): &'l (String, Loaded)| match &loaded.data {
        ProfileData::Stacks(profile) => Ok(profile),
        ProfileData::Table(_) => {
            bail!(
                "{name}: this is a printed table: it has no stacks, of which --flame makes a graph\nnext: give the profile itself"
            )
        }
    };
    let (before, after) = (stacks(first)?, stacks(last)?);
    let scale = comparison.scale_of_first();
    let scaled = match comparison.basis {
        Basis::Work => "the first is scaled to the work of the second",
        Basis::Second => "the first is scaled to the length of the second",
        Basis::Share => "the first is scaled to the total of the second: only parts are compared",
        Basis::Amount => "as they are",
    };
    let about = vec![format!("{} \u{2192} {}", first.0, last.0), scaled.to_string()];
    let mut written = Ok(());
    let kept = output::to(Some(file), |out| {
        written = views::write_difference(before, after, scale, about, out);
        match written {
            Ok(()) => Ok(()),
            Err(_) => Err(std::io::Error::other("it is not whole")),
        }
    });
    if written.is_ok() {
        return kept;
    }
    written.with_context(|| format!("{}: the flame graph cannot be written", visible::path(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_with_and_without_a_unit() {
        let with = "requests=1000,1200.5".parse::<Work>().unwrap();
        assert_eq!((with.unit.as_deref(), with.done), (Some("requests"), vec![1000.0, 1200.5]));
        assert_eq!("3,4".parse::<Work>().unwrap().unit, None);
        for wrong in ["", "a", "requests=1,0", "1,,2", "-1", "nan"] {
            assert!(wrong.parse::<Work>().is_err(), "{wrong}");
        }
    }
}
