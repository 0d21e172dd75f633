//! A recording without secrets: every text of every table and of the head.

use super::{Done, beside, give_name};
use crate::input;
use crate::progress::Bar;
use anyhow::Context;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use whyslow_model::{SourceId, visible};
use whyslow_privacy::{command_line, redact};
use whyslow_record::printed::{Strings, without_secrets};
use whyslow_store::{Copied, Edit, Meta, TextPlace, WriteOptions, Writer};

/// Columns with command lines, or with lines in which they may stand.
const COMMAND_LINES: &[(&str, &str)] = &[
    ("threads", "cmdline"),
    ("host", "text"),
    ("host", "raw"),
    ("count_rows", "raw"),
    ("notes", "text"),
    (TextPlace::HEAD, "target"),
];

/// Columns with names of functions.
const CODE: &[(&str, &str)] = &[("frames", "function"), ("call_frames", "text"), ("count_rows", "name")];

pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<Done> {
    let failed = || format!("{}: cannot be written", visible::path(to));
    let place = beside(to).with_context(failed)?;
    // What a killed recorder left before it made any tables.
    let converted = converted(from, &place.path().join("whole"))?;
    let made = place.path().join("copy");
    let copied = whyslow_store::copy(converted.as_deref().unwrap_or(from), &made, &mut Redacting)?;
    give_name(&made, to).with_context(failed)?;
    let Copied { texts, changed, left_out, more_left_out, .. } = copied;
    Ok(Done { what: "texts", looked_at: texts, changed, left_out, more_left_out })
}

/// The tables of a recording that was not ended, made in `to`; `None` where it has its own.
fn converted(from: &Path, to: &Path) -> anyhow::Result<Option<PathBuf>> {
    if !from.join("spool").join("head.json").exists() {
        return Ok(None);
    }
    let meta = whyslow_store::read_meta(from).unwrap_or_else(|_| Meta::default());
    let meta = Meta { complete: false, tables: Default::default(), sources: Vec::new(), ..meta };
    let mut writer = Writer::create(to, meta, WriteOptions::CONVERT)?;
    let bar = Bar::default();
    input::read_recording(from, SourceId::default(), &bar, &mut writer)?;
    bar.finish();
    writer.finish()?;
    Ok(Some(to.to_path_buf()))
}

/// Says what is in the copy.
struct Redacting;

impl Edit for Redacting {
    fn text<'t>(&mut self, place: &TextPlace<'_>, text: &'t str) -> Cow<'t, str> {
        match (place.table, place.column) {
            ("syscalls" | "enters", "args") => {
                without_secrets(Strings::of(place.beside("syscall").unwrap_or_default()), text)
            }
            place if COMMAND_LINES.contains(&place) => command(text),
            place if CODE.contains(&place) => code(text),
            _ => redact(text),
        }
    }

    fn head(&mut self, head: &mut Meta) {
        head.show_secrets = false;
    }

    fn arguments(&mut self, given: &[String]) -> Vec<String> {
        command_line::arguments(given)
    }
}

/// Names of functions, in which `token::next` tells no token.
pub(super) fn code(text: &str) -> Cow<'_, str> {
    /// Stands for `::` meanwhile.
    const APART: &str = "\u{1}";
    if !text.contains("::") || text.contains(APART) {
        return redact(text);
    }
    let hidden = redact(&text.replace("::", APART)).replace(APART, "::");
    if hidden == text { Cow::Borrowed(text) } else { Cow::Owned(hidden) }
}

/// A command line in one text, without its secrets.
pub(super) fn command(text: &str) -> Cow<'_, str> {
    match command_line::arguments(&[text]).pop() {
        Some(hidden) if hidden != text => Cow::Owned(hidden),
        _ => Cow::Borrowed(text),
    }
}
