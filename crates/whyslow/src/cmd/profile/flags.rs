//! pprof's options, under pprof's names.

use clap::{ArgAction, Args};
use std::path::PathBuf;
use whyslow_profile::StackSelection;
use whyslow_profile::graph::Granularity;
use whyslow_profile::select::{FrameFilter, TagFilter};

/// The options, as they are typed.
#[derive(Args, Debug)]
#[command(next_help_heading = "What of the profile (as in pprof)")]
pub(super) struct Flags {
    /// Sort by the value with all that is called
    #[arg(long, conflicts_with = "flat")]
    cum: bool,
    /// Sort by the own value (the default)
    #[arg(long)]
    flat: bool,
    /// At most so many functions
    #[arg(long, value_name = "N")]
    nodecount: Option<usize>,
    /// Leave out what costs less than this part of the total [default: 0.005]
    #[arg(long, value_name = "PART")]
    nodefraction: Option<f64>,
    /// Leave out calls that cost less than this part of the total [default: 0.001]
    #[arg(long, value_name = "PART")]
    edgefraction: Option<f64>,
    /// Leave out what is small (--trim=false: nothing)
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    trim: Option<bool>,
    /// Which value, by name or number: inuse_space, alloc_objects, contentions, ...
    #[arg(long = "sample_index", alias = "sample-index", value_name = "NAME")]
    sample_index: Option<String>,
    /// The unit to show: ms, MB, auto (each value in its own), ...
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// Divide all values by this
    #[arg(long = "divide_by", alias = "divide-by", value_name = "NUMBER")]
    divide_by: Option<f64>,
    /// Values divided by the first one (a count)
    #[arg(long)]
    mean: bool,
    /// Tell apart: functions, filefunctions, files, lines, addresses
    #[arg(long, value_name = "HOW", value_parser = granularity)]
    granularity: Option<Granularity>,
    /// By function
    #[arg(long, hide = true)]
    functions: bool,
    /// By function and file
    #[arg(long, hide = true)]
    filefunctions: bool,
    /// By file
    #[arg(long, hide = true)]
    files: bool,
    /// By line
    #[arg(long, hide = true)]
    lines: bool,
    /// By address
    #[arg(long, hide = true)]
    addresses: bool,
    /// Inlined functions belong to those that they are inlined in
    #[arg(long)]
    noinlines: bool,
    /// Tell columns of a line apart
    #[arg(long)]
    showcolumns: bool,
    /// Only samples with a frame like this
    #[arg(long, value_name = "REGEX")]
    focus: Option<String>,
    /// No samples with a frame like this
    #[arg(long, value_name = "REGEX")]
    ignore: Option<String>,
    /// Leave frames like this out
    #[arg(long, value_name = "REGEX")]
    hide: Option<String>,
    /// Only frames like this
    #[arg(long, value_name = "REGEX")]
    show: Option<String>,
    /// Leave out frames above the highest like this
    #[arg(long = "show_from", alias = "show-from", value_name = "REGEX")]
    show_from: Option<String>,
    /// Leave out frames below the lowest like this
    #[arg(long = "prune_from", alias = "prune-from", value_name = "REGEX")]
    prune_from: Option<String>,
    /// Only samples with a label like this: REGEX, KEY=REGEX, 1kb:10kb, KEY=1kb:
    #[arg(long, value_name = "LABEL")]
    tagfocus: Option<String>,
    /// No samples with a label like this
    #[arg(long, value_name = "LABEL")]
    tagignore: Option<String>,
    /// Only labels whose key is like this
    #[arg(long, value_name = "REGEX")]
    tagshow: Option<String>,
    /// No labels whose key is like this
    #[arg(long, value_name = "REGEX")]
    taghide: Option<String>,
    /// Make frames above the root of these labels
    #[arg(long, value_name = "KEY,...")]
    tagroot: Option<String>,
    /// Make frames below the leaf of these labels
    #[arg(long, value_name = "KEY,...")]
    tagleaf: Option<String>,
    /// Leave out what became less
    #[arg(long = "drop_negative", alias = "drop-negative")]
    drop_negative: bool,
    /// Percentages of what was selected
    #[arg(long = "relative_percentages", alias = "relative-percentages")]
    relative_percentages: bool,
    /// No header
    #[arg(long = "compact_labels", alias = "compact-labels")]
    compact_labels: bool,
    /// Directories where sources are searched
    #[arg(long = "source_path", alias = "source-path", value_name = "DIR:...")]
    source_path: Option<String>,
    /// Prefixes to take off the names of sources
    #[arg(long = "trim_path", alias = "trim-path", value_name = "DIR:...")]
    trim_path: Option<String>,
    /// Subtract this profile; percentages are of it
    #[arg(long = "diff_base", alias = "diff-base", value_name = "FILE", conflicts_with = "base")]
    pub(super) diff_base: Vec<PathBuf>,
    /// Subtract this profile (an earlier one of the same counters)
    #[arg(long, value_name = "FILE")]
    pub(super) base: Vec<PathBuf>,
    /// Scale the profile to the sum of the base
    #[arg(long)]
    pub(super) normalize: bool,
}

fn granularity(text: &str) -> Result<Granularity, String> {
    match text {
        "functions" => Ok(Granularity::Functions),
        "filefunctions" => Ok(Granularity::FileFunctions),
        "files" => Ok(Granularity::Files),
        "lines" => Ok(Granularity::Lines),
        "addresses" => Ok(Granularity::Addresses),
        _ => Err("it is one of functions, filefunctions, files, lines, addresses".to_string()),
    }
}

impl Flags {
    /// As the library has them.
    pub(super) fn selection(&self) -> StackSelection {
        let text = |given: &Option<String>| given.clone().unwrap_or_default();
        let defaults = StackSelection::default();
        let short = [
            (self.functions, Granularity::Functions),
            (self.filefunctions, Granularity::FileFunctions),
            (self.files, Granularity::Files),
            (self.lines, Granularity::Lines),
            (self.addresses, Granularity::Addresses),
        ];
        let short = short.iter().find(|(given, _)| *given).map(|(_, granularity)| *granularity);
        StackSelection {
            sample_index: text(&self.sample_index),
            mean: self.mean,
            divide_by: self.divide_by.unwrap_or(defaults.divide_by),
            unit: self.unit.clone().unwrap_or(defaults.unit),
            by_cum: self.cum,
            granularity: self.granularity.or(short),
            no_inlines: self.noinlines,
            show_columns: self.showcolumns,
            node_count: self.nodecount,
            node_fraction: self.nodefraction.unwrap_or(defaults.node_fraction),
            edge_fraction: self.edgefraction.unwrap_or(defaults.edge_fraction),
            trim: self.trim.unwrap_or(defaults.trim),
            drop_negative: self.drop_negative,
            relative_percentages: self.relative_percentages,
            compact_labels: self.compact_labels,
            frames: FrameFilter {
                focus: text(&self.focus),
                ignore: text(&self.ignore),
                hide: text(&self.hide),
                show: text(&self.show),
                show_from: text(&self.show_from),
                prune_from: text(&self.prune_from),
            },
            tags: TagFilter {
                focus: text(&self.tagfocus),
                ignore: text(&self.tagignore),
                show: text(&self.tagshow),
                hide: text(&self.taghide),
                root: text(&self.tagroot),
                leaf: text(&self.tagleaf),
            },
            source_path: text(&self.source_path),
            trim_path: text(&self.trim_path),
        }
    }
}

/// pprof's options have one dash; clap's long ones two. `-nodecount=5` behind `profile` becomes `--nodecount=5`.
pub(crate) fn with_two_dashes(args: impl Iterator<Item = std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    let mut args: Vec<std::ffi::OsString> = args.collect();
    if args.get(1).is_none_or(|command| command != super::COMMAND.name) {
        return args;
    }
    let command = Flags::augment_args(clap::Command::new(super::COMMAND.name));
    let known: Vec<&str> = command.get_arguments().filter_map(|flag| flag.get_long()).collect();
    for arg in &mut args[2..] {
        let Some(name) = arg.to_str().and_then(|text| text.strip_prefix('-')) else { continue };
        if known.contains(&name.split('=').next().unwrap_or_default()) {
            *arg = format!("--{name}").into();
        }
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dash_will_do_for_the_options_of_a_profile() {
        let given = |text: &str| {
            let args = text.split(' ').map(std::ffi::OsString::from);
            with_two_dashes(args)
                .iter()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            given("whyslow profile -cum a -nodecount=5 -v -o x"),
            "whyslow profile --cum a --nodecount=5 -v -o x"
        );
        assert_eq!(given("whyslow diff -cum"), "whyslow diff -cum");
        assert_eq!(given("whyslow profile --cum -- -cumx"), "whyslow profile --cum -- -cumx");
    }
}
