//! Several profiles as one: added, or one subtracted from another (google/pprof, `profile.Merge` and `-diff_base`).

mod merger;

use super::SelectError;
use crate::units;
use merger::Merger;
use whyslow_model::profile::{Profile, ValueType};

/// The label that marks the samples of a base: percentages are of them.
pub const BASE_LABEL: &str = "pprof::base";

/// The sources added, less the base; `marked`: percentages are to be of the base. `normalize` scales the sources to
/// the base's sums. A single source without a base stays as it is. Profiles of one program are added as they come: only the sum is kept.
///
/// # Errors
/// If there is no source, or they do not measure the same, or one cannot be read.
pub fn combine<E: From<SelectError>>(
    sources: impl IntoIterator<Item = Result<Profile, E>>,
    base: impl IntoIterator<Item = Result<Profile, E>>,
    marked: bool,
    normalize: bool,
) -> Result<Profile, E> {
    let nothing = || SelectError::Incompatible("there is no profile".to_string());
    let source = add(sources)?.ok_or_else(nothing)?;
    match add(base)? {
        Some(base) => Ok(subtract(source, base, marked, normalize)?),
        None => Ok(source),
    }
}

fn subtract(source: Profile, base: Profile, marked: bool, normalize: bool) -> Result<Profile, SelectError> {
    let mut ratios = vec![1.0; source.sample_types.len()];
    if normalize {
        check_same(&source, &base)?;
        for (index, ratio) in ratios.iter_mut().enumerate() {
            *ratio = match source.total(index) {
                0 => 0.0,
                sum => base.total(index) as f64 / sum as f64,
            };
        }
    }
    let negated = vec![-1.0; base.sample_types.len()];
    merge(vec![Part::new(source, ratios, false), Part::new(base, negated, marked)])
}

/// The sum; a single profile stays as it is.
fn add<E: From<SelectError>>(
    profiles: impl IntoIterator<Item = Result<Profile, E>>,
) -> Result<Option<Profile>, E> {
    let mut profiles = profiles.into_iter();
    let Some(first) = profiles.next().transpose()? else { return Ok(None) };
    let Some(mut next) = profiles.next().transpose()? else { return Ok(Some(first)) };
    let types = value_types(&first);
    let mut merger = Merger::new(&types)?;
    merger.add(Part::unchanged(first))?;
    // As long as all have the same values in the same units, none has to wait for the others.
    while value_types(&next) == types {
        merger.add(Part::unchanged(next))?;
        match profiles.next().transpose()? {
            Some(profile) => next = profile,
            None => return Ok(Some(merger.finish()?)),
        }
    }
    let mut parts = vec![Part::plain(merger.finish()?), Part::plain(next)];
    for profile in profiles {
        parts.push(Part::plain(profile?));
    }
    Ok(Some(merge(parts)?))
}

/// Kind and unit of each value.
fn value_types(profile: &Profile) -> Vec<(String, String)> {
    let words =
        |value: &ValueType| (profile.str(value.kind).to_string(), profile.str(value.unit).to_string());
    profile.sample_types.iter().map(words).collect()
}

/// One profile of a sum.
struct Part {
    profile: Profile,
    /// What each value is multiplied by.
    ratios: Vec<f64>,
    marked: bool,
    /// Which of its values is each of the sum's, and what its unit asks to multiply it by.
    columns: Vec<(usize, f64)>,
}

impl Part {
    fn new(profile: Profile, ratios: Vec<f64>, marked: bool) -> Part {
        Part { profile, ratios, marked, columns: Vec::new() }
    }

    fn plain(profile: Profile) -> Part {
        let ratios = vec![1.0; profile.sample_types.len()];
        Part::new(profile, ratios, false)
    }

    /// All its values are the sum's, in the same order and units.
    fn unchanged(profile: Profile) -> Part {
        let columns = (0..profile.sample_types.len()).map(|index| (index, 1.0)).collect();
        Part { columns, ..Part::plain(profile) }
    }

    fn value(&self, values: &[i64], column: usize) -> i64 {
        let (index, unit) = self.columns[column];
        scaled(scaled(values[index], self.ratios[index]), unit)
    }
}

fn scaled(value: i64, ratio: f64) -> i64 {
    if ratio == 1.0 { value } else { (value as f64 * ratio).round() as i64 }
}

fn check_same(a: &Profile, b: &Profile) -> Result<(), SelectError> {
    let words = |profile: &Profile| -> String {
        let types = value_types(profile).into_iter().map(|(kind, unit)| format!("{kind}/{unit}"));
        types.collect::<Vec<_>>().join(", ")
    };
    let (a, b) = (words(a), words(b));
    if a == b { Ok(()) } else { Err(SelectError::Incompatible(format!("{a} and {b}"))) }
}

/// `contention` and `contentions` are the same.
fn bare(kind: &str) -> &str {
    kind.strip_suffix('s').unwrap_or(kind)
}

/// Finds the values that all parts have, in the order of the first, and the finest unit of each.
fn align(parts: &mut [Part]) -> Result<Vec<(String, String)>, SelectError> {
    let (first, others) = parts.split_first().ok_or(SelectError::Empty)?;
    let column = |profile: &Profile, kind: &str| {
        let exact = profile.sample_types.iter().position(|value| profile.str(value.kind) == kind);
        exact.or_else(|| {
            profile.sample_types.iter().position(|value| bare(profile.str(value.kind)) == bare(kind))
        })
    };
    let mut types = Vec::new();
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for (index, value) in first.profile.sample_types.iter().enumerate() {
        let kind = first.profile.str(value.kind);
        let Some(found) = others.iter().map(|part| column(&part.profile, kind)).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let all: Vec<usize> = std::iter::once(index).chain(found).collect();
        let unit_of = |part: usize| {
            let profile = &parts[part].profile;
            profile.str(profile.sample_types[all[part]].unit)
        };
        let finest = (0..parts.len())
            .map(unit_of)
            .reduce(|best, unit| if units::scale(1, unit, best).0 < 1.0 { unit } else { best });
        types.push((kind.to_string(), finest.unwrap_or_default().to_string()));
        all.iter().zip(&mut columns).for_each(|(index, columns)| columns.push(*index));
    }
    if types.is_empty() {
        let kinds = |profile: &Profile| {
            profile
                .sample_types
                .iter()
                .map(|value| profile.str(value.kind).to_string())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let words: Vec<String> = parts.iter().map(|part| kinds(&part.profile)).collect();
        return Err(SelectError::Incompatible(words.join("; ")));
    }
    for (part, columns) in parts.iter_mut().zip(columns) {
        let profile = &part.profile;
        let ratio = |(index, (_, unit)): (usize, &(String, String))| {
            (index, units::scale(1, profile.str(profile.sample_types[index].unit), unit).0)
        };
        part.columns = columns.into_iter().zip(&types).map(ratio).collect();
    }
    Ok(types)
}

/// Adds profiles. Samples of equal stacks and labels are one; those of sum 0 are left out.
fn merge(mut parts: Vec<Part>) -> Result<Profile, SelectError> {
    let types = align(&mut parts)?;
    let mut merger = Merger::new(&types)?;
    for part in parts {
        merger.add(part)?;
    }
    merger.finish()
}
