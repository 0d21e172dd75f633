//! Carries out what a selection asks for on a profile.

use super::frames::Stacks;
use super::tags::{TagMatch, keys, number_units, values_of};
use super::{SelectError, StackSelection, TagFilter, regex};
use hashbrown::HashMap;
use std::borrow::Cow;
use whyslow_model::profile::{
    Function, LabelSetId, Location, LocationId, Profile, ProfileBuilder, SourceLine,
};

/// The profile without the frames that it calls uninteresting, and with the labels that are asked for as frames.
pub(crate) fn prepared<'p>(
    profile: &'p Profile,
    selection: &StackSelection,
    remarks: &mut Vec<String>,
) -> Result<Cow<'p, Profile>, SelectError> {
    let mut prepared = Cow::Borrowed(profile);
    if !profile.str(profile.drop_frames).is_empty() {
        let mut stacks = Stacks::new(profile);
        stacks.drop_uninteresting();
        prepared = Cow::Owned(rebuilt(profile, &stacks, Some)?);
    }
    let (roots, leaves) = (keys(&selection.tags.root), keys(&selection.tags.leaf));
    if !roots.is_empty() || !leaves.is_empty() {
        prepared = Cow::Owned(with_label_frames(&prepared, &roots, &leaves, &selection.unit, remarks)?);
    }
    Ok(prepared)
}

/// The samples and frames that are asked for.
pub(crate) fn filtered<'p>(
    profile: Cow<'p, Profile>,
    selection: &StackSelection,
    remarks: &mut Vec<String>,
) -> Result<Cow<'p, Profile>, SelectError> {
    let frames = &selection.frames;
    let TagFilter { focus, ignore, show, hide, .. } = &selection.tags;
    let texts = [
        &frames.focus,
        &frames.ignore,
        &frames.hide,
        &frames.show,
        &frames.show_from,
        &frames.prune_from,
        focus,
        ignore,
        show,
        hide,
    ];
    if texts.iter().all(|text| text.is_empty()) {
        return Ok(profile);
    }
    let mut stacks = Stacks::new(&profile);
    stacks.filter(frames, remarks)?;
    let (focus, ignore) = (TagMatch::parse("tagfocus", focus)?, TagMatch::parse("tagignore", ignore)?);
    let (show, hide) = (regex("tagshow", show)?, regex("taghide", hide)?);
    let units = number_units(&profile);
    let matches = |pattern: &Option<TagMatch>, set: LabelSetId| {
        pattern.as_ref().map(|pattern| pattern.matches(&profile, profile.labels(set), &units))
    };
    let sets: Vec<(Option<bool>, Option<bool>)> = (0..profile.label_set_count() as u32)
        .map(|id| (matches(&focus, LabelSetId(id)), matches(&ignore, LabelSetId(id))))
        .collect();
    if focus.is_some() && sets.iter().all(|(focus, _)| *focus == Some(false)) {
        remarks.push("tagfocus matched no samples".to_string());
    }
    if ignore.is_some() && sets.iter().all(|(_, ignore)| *ignore == Some(false)) {
        remarks.push("tagignore matched no samples".to_string());
    }
    let kept = |set: LabelSetId| {
        let (focus, ignore) = sets.get(set.0 as usize)?;
        (focus.unwrap_or(true) && !ignore.unwrap_or(false)).then_some(set)
    };
    let mut result = rebuilt(&profile, &stacks, kept)?;
    if show.is_some() || hide.is_some() {
        let keeps = |key: &str| {
            show.as_ref().is_none_or(|show| show.is_match(key))
                && hide.as_ref().is_none_or(|hide| !hide.is_match(key))
        };
        result = with_labels(&result, keeps)?;
    }
    Ok(Cow::Owned(result))
}

/// A profile with other stacks, of the samples whose labels `kept` keeps.
fn rebuilt(
    profile: &Profile,
    stacks: &Stacks<'_>,
    kept: impl Fn(LabelSetId) -> Option<LabelSetId>,
) -> Result<Profile, SelectError> {
    let mut builder = ProfileBuilder::without_samples(profile);
    let changed = builder.profile();
    for (location, lines) in changed.locations.iter_mut().zip(&stacks.lines) {
        if let Some(lines) = lines {
            location.first_line = changed.lines.len() as u32;
            location.line_count = lines.len() as u32;
            changed.lines.extend_from_slice(lines);
        }
    }
    for sample in profile.samples() {
        let Some(Some(locations)) = stacks.stacks.get(sample.stack_id.0 as usize) else { continue };
        let Some(labels) = kept(sample.label_set) else { continue };
        let stack = builder.stack(locations)?;
        builder.sample(stack, labels, sample.values)?;
    }
    Ok(builder.finish())
}

/// A profile whose samples have only the labels whose key `keeps` takes.
fn with_labels(profile: &Profile, keeps: impl Fn(&str) -> bool) -> Result<Profile, SelectError> {
    let mut builder = ProfileBuilder::without_samples(profile);
    for sample in profile.samples() {
        let labels: Vec<_> =
            sample.labels.iter().copied().filter(|label| keeps(profile.str(label.key))).collect();
        let set = builder.label_set(&labels)?;
        let stack = builder.stack(sample.stack)?;
        builder.sample(stack, set, sample.values)?;
    }
    Ok(builder.finish())
}

/// A profile with frames of labels: the first of `roots` is the new root, the last of `leaves` the new leaf.
fn with_label_frames(
    profile: &Profile,
    roots: &[&str],
    leaves: &[&str],
    unit: &str,
    remarks: &mut Vec<String>,
) -> Result<Profile, SelectError> {
    let mut builder = ProfileBuilder::without_samples(profile);
    let mut known: HashMap<(String, String), LocationId> = HashMap::new();
    let mut matched = [false; 2];
    let mut stack = Vec::new();
    // The frames of each set of labels: leaves and roots, the innermost first.
    let mut frames: Vec<Option<[Vec<LocationId>; 2]>> = vec![None; profile.label_set_count()];
    for sample in profile.samples() {
        let slot = &mut frames[sample.label_set.0 as usize];
        let [leaves, roots] = match slot {
            Some(made) => made,
            None => {
                let mut made = [Vec::new(), Vec::new()];
                for (side, keys) in [leaves, roots].iter().enumerate() {
                    for key in keys.iter().rev() {
                        let values = values_of(profile, sample.label_set, key, unit);
                        matched[side] |= !values.is_empty();
                        let place = (values.join(","), (*key).to_string());
                        let id = match known.get(&place) {
                            Some(id) => *id,
                            None => *known.entry(place.clone()).or_insert(frame(
                                &mut builder,
                                &place.0,
                                &place.1,
                            )?),
                        };
                        made[side].push(id);
                    }
                }
                slot.insert(made)
            }
        };
        stack.clear();
        stack.extend_from_slice(leaves);
        stack.extend_from_slice(sample.stack);
        stack.extend_from_slice(roots);
        let id = builder.stack(&stack)?;
        builder.sample(id, sample.label_set, sample.values)?;
    }
    for (name, asked, matched) in [("tagleaf", leaves, matched[0]), ("tagroot", roots, matched[1])] {
        if !asked.is_empty() && !matched {
            remarks.push(format!("{name} matched no samples"));
        }
    }
    Ok(builder.finish())
}

/// A location of a function that is none of the program's.
fn frame(builder: &mut ProfileBuilder, name: &str, file: &str) -> Result<LocationId, SelectError> {
    let name = builder.string(name)?;
    let file = builder.string(file)?;
    let function = builder.function(Function { name, file, ..Function::default() })?;
    let line = SourceLine { function: Some(function), line: 0, column: 0 };
    Ok(builder.location(Location::default(), &[line])?)
}
