//! What of a profile is shown, and how: pprof's options under pprof's names (google/pprof, `internal/driver`).

mod apply;
mod frames;
mod merge;
mod tags;

pub(crate) use apply::{filtered, prepared};
pub use merge::{BASE_LABEL, combine};
pub(crate) use tags::number_units;

use crate::graph::Granularity;
use crate::units;
use whyslow_model::profile::Profile;

/// Options as pprof has them. The defaults are pprof's.
#[derive(Clone, Debug)]
pub struct StackSelection {
    /// Which value: its name or its number from 0; empty: the profile's default, else the last.
    pub sample_index: String,
    /// Values divided by the first value (a count).
    pub mean: bool,
    /// All values are divided by this.
    pub divide_by: f64,
    /// The unit to show; [`units::MINIMUM`] and [`units::AUTO`] choose.
    pub unit: String,
    /// Sorted by the value with all that is called, not by the own one.
    pub by_cum: bool,
    /// How finely nodes are told apart; `None`: as it suits the view.
    pub granularity: Option<Granularity>,
    /// Inlined functions belong to those that they are inlined in.
    pub no_inlines: bool,
    /// Columns of lines are told apart.
    pub show_columns: bool,
    /// At most so many nodes; 0: all; `None`: as it suits the view.
    pub node_count: Option<usize>,
    /// Nodes below this part of the total are left out.
    pub node_fraction: f64,
    /// Edges below this part of the total are left out.
    pub edge_fraction: f64,
    /// Whether anything is left out at all by count and fractions.
    pub trim: bool,
    /// Nodes below 0 are left out.
    pub drop_negative: bool,
    /// Percentages are of what was selected, not of the whole profile.
    pub relative_percentages: bool,
    /// No header.
    pub compact_labels: bool,
    /// Which frames and samples.
    pub frames: FrameFilter,
    /// Which samples by their labels.
    pub tags: TagFilter,
    /// Directories where sources are searched, separated by colons.
    pub source_path: String,
    /// Prefixes to take off source files, separated by colons.
    pub trim_path: String,
}

impl Default for StackSelection {
    fn default() -> Self {
        StackSelection {
            sample_index: String::new(),
            mean: false,
            divide_by: 1.0,
            unit: units::MINIMUM.to_string(),
            by_cum: false,
            granularity: None,
            no_inlines: false,
            show_columns: false,
            node_count: None,
            node_fraction: 0.005,
            edge_fraction: 0.001,
            trim: true,
            drop_negative: false,
            relative_percentages: false,
            compact_labels: false,
            frames: FrameFilter::default(),
            tags: TagFilter::default(),
            source_path: String::new(),
            trim_path: String::new(),
        }
    }
}

/// Which samples and frames, by regular expressions over functions, files and binaries; empty: not asked for.
#[derive(Clone, Debug, Default)]
pub struct FrameFilter {
    /// Only samples with a frame like this.
    pub focus: String,
    /// No samples with a frame like this.
    pub ignore: String,
    /// Frames like this are left out.
    pub hide: String,
    /// Only frames like this.
    pub show: String,
    /// Frames above the highest like this are left out.
    pub show_from: String,
    /// Frames below the lowest like this are left out.
    pub prune_from: String,
}

/// Which samples, by their labels: `key=regex`, `regex` over `key:value`, or a range of numbers (`1kb:10kb`).
#[derive(Clone, Debug, Default)]
pub struct TagFilter {
    /// Only these samples.
    pub focus: String,
    /// None of these samples.
    pub ignore: String,
    /// Only labels whose key is like this.
    pub show: String,
    /// No labels whose key is like this.
    pub hide: String,
    /// Keys whose values become frames above the root, separated by commas.
    pub root: String,
    /// Keys whose values become frames below the leaf, separated by commas.
    pub leaf: String,
}

/// What cannot be selected.
#[derive(thiserror::Error, Debug)]
pub enum SelectError {
    /// A regular expression that is none.
    #[error("{option}: {reason}")]
    Regex {
        /// The option.
        option: &'static str,
        /// Why not.
        reason: Box<regex::Error>,
    },
    /// No such value.
    #[error("sample_index {asked:?}: the profile has {known}")]
    SampleIndex {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
    /// The profile has no values at all.
    #[error("the profile has no sample types: nothing was measured")]
    Empty,
    /// Nothing can be divided by 0.
    #[error("divide_by must not be 0")]
    ZeroDivisor,
    /// Profiles of different things.
    #[error("the profiles do not measure the same: {0}")]
    Incompatible(String),
    /// A view that needs a regular expression was given none.
    #[error("{0} needs a regular expression: which functions?")]
    NoPattern(&'static str),
    /// Nothing matched.
    #[error("no function matches {0:?}")]
    NoMatch(String),
    /// More than can be held.
    #[error(transparent)]
    TooLarge(#[from] whyslow_model::profile::TooLarge),
}

/// A regular expression; `None` where the text is empty.
pub(crate) fn regex(option: &'static str, text: &str) -> Result<Option<regex::Regex>, SelectError> {
    if text.is_empty() {
        return Ok(None);
    }
    let reason = |reason| SelectError::Regex { option, reason: Box::new(reason) };
    regex::Regex::new(text).map(Some).map_err(reason)
}

/// The number of the value that is asked for by name or number (`inuse_space` also finds `space`).
///
/// # Errors
/// If there is none.
pub fn sample_index(profile: &Profile, asked: &str) -> Result<usize, SelectError> {
    let count = profile.sample_types.len();
    if count == 0 {
        return Err(SelectError::Empty);
    }
    if asked.is_empty() {
        return Ok(profile.default_sample_type.filter(|index| *index < count).unwrap_or(count - 1));
    }
    if let Some(index) = asked.parse::<usize>().ok().filter(|index| *index < count) {
        return Ok(index);
    }
    let bare = asked.strip_prefix("inuse_").unwrap_or(asked);
    let mut kinds = profile.sample_types.iter().map(|value| profile.str(value.kind));
    kinds.position(|kind| kind == asked || kind == bare).ok_or_else(|| SelectError::SampleIndex {
        asked: asked.to_string(),
        known: profile
            .sample_types
            .iter()
            .map(|value| profile.str(value.kind))
            .collect::<Vec<_>>()
            .join(", "),
    })
}
