//! Inputs: recordings as they lie, and captures, which are converted into a temporary one.

use crate::error::QueryError;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use whyslow_model::visible;
use whyslow_privacy::{command_line, redact};
use whyslow_read::{Input, ReadOptions};
use whyslow_store::{Edit, Meta, TextPlace, WriteOptions, Writer};

/// Recordings that are opened at most: each of the tables is one of all of them.
const MOST_RECORDINGS: usize = 256;

/// A recording that is open for questions.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What it is called in the column `recording`.
    pub(crate) name: String,
    /// Where its tables lie.
    pub(crate) tables: PathBuf,
    /// What facts are read from: the recording, or the captures.
    pub(crate) from: Vec<PathBuf>,
    /// Holds the tables of a capture.
    temporary: Option<TempDir>,
}

impl Opened {
    /// True for a recording that is read where it lies.
    pub(crate) fn is_in_place(&self) -> bool {
        self.temporary.is_none()
    }
}

/// Opens what is given. The second are remarks: what was passed over.
pub(crate) fn open(paths: &[PathBuf], show_secrets: bool) -> Result<(Vec<Opened>, Vec<String>), QueryError> {
    let (mut opened, mut captures, mut remarks): (Vec<Opened>, Vec<PathBuf>, Vec<String>) =
        Default::default();
    for path in paths {
        let (recordings, has_more) = recordings_in(path);
        for recording in recordings {
            if opened.len() >= MOST_RECORDINGS {
                remarks.push(format!(
                    "{}: not opened, as are all behind it: {MOST_RECORDINGS} recordings are at most",
                    visible::path(&recording)
                ));
                break;
            }
            match recorded(&recording, show_secrets, &opened) {
                Ok(one) => opened.push(one),
                Err(error) => remarks.push(error.to_string()),
            }
        }
        if has_more {
            captures.push(path.clone());
        }
    }
    if !captures.is_empty() {
        match converted(&captures, show_secrets, &opened) {
            Ok(one) => opened.push(one),
            // A folder of recordings need not hold captures too.
            Err(error) if opened.is_empty() || captures.iter().any(|path| path.is_file()) => {
                remarks.push(error.to_string());
            }
            Err(_) => {}
        }
    }
    if opened.is_empty() {
        return Err(QueryError::Nothing { reasons: remarks.join("\n  ") });
    }
    Ok((opened, remarks))
}

/// The recordings that a path stands for, and whether captures may be there too.
fn recordings_in(path: &Path) -> (Vec<PathBuf>, bool) {
    if whyslow_store::is_recording(path) {
        return (vec![path.to_path_buf()], false);
    }
    let entries: Vec<PathBuf> =
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let is_link = |path: &PathBuf| path.symlink_metadata().is_ok_and(|about| about.is_symlink());
    let mut inside: Vec<PathBuf> = (entries.iter())
        .filter(|path| !is_link(path) && whyslow_store::is_recording(path))
        .cloned()
        .collect();
    inside.sort();
    let has_more = inside.is_empty() || inside.len() < entries.len();
    (inside, has_more)
}

fn recorded(path: &Path, show_secrets: bool, others: &[Opened]) -> Result<Opened, QueryError> {
    let wrong = |reason: String| QueryError::Input { path: path.to_path_buf(), reason };
    if path.join("spool").join("head.json").exists() {
        let told =
            "left by a recorder that was killed: it has no tables yet\nnext: whyslow recover makes them";
        return Err(wrong(told.to_string()));
    }
    let path = path.canonicalize().map_err(|error| wrong(error.to_string()))?;
    let meta = whyslow_store::read_meta(&path);
    let has_tables = whyslow_store::TABLES.iter().any(|table| path.join(table.name).is_dir());
    if let (Err(error), false) = (&meta, has_tables) {
        return Err(wrong(error.to_string()));
    }
    let name = name(std::slice::from_ref(&path), others);
    if !show_secrets && meta.is_ok_and(|meta| meta.show_secrets) {
        let place = temporary()?;
        let copy = place.path().join("copy.whyslow");
        whyslow_store::copy(&path, &copy, &mut Redacting).map_err(|error| wrong(error.to_string()))?;
        return Ok(Opened { name, tables: copy.clone(), from: vec![copy], temporary: Some(place) });
    }
    Ok(Opened { name, tables: path.clone(), from: vec![path], temporary: None })
}

/// Converts captures into one recording: they are one input, as for every other command.
fn converted(paths: &[PathBuf], show_secrets: bool, others: &[Opened]) -> Result<Opened, QueryError> {
    let wrong = |reason: String| QueryError::Input { path: paths[0].clone(), reason };
    let place = temporary()?;
    let whole = place.path().join("whole.whyslow");
    let inputs: Vec<Input> = paths.iter().cloned().map(Input::File).collect();
    let mut writer = Writer::create(&whole, Meta::new("converted"), WriteOptions::CONVERT)
        .map_err(|error| wrong(error.to_string()))?;
    whyslow_read::read(&inputs, &ReadOptions::default(), &(), &mut writer)
        .map_err(|error| wrong(error.to_string()))?;
    writer.finish().map_err(|error| wrong(error.to_string()))?;
    let tables = match show_secrets {
        true => whole,
        false => {
            let copy = place.path().join("copy.whyslow");
            whyslow_store::copy(&whole, &copy, &mut Redacting).map_err(|error| wrong(error.to_string()))?;
            let _ = std::fs::remove_dir_all(&whole);
            copy
        }
    };
    Ok(Opened { name: name(paths, others), tables, from: paths.to_vec(), temporary: Some(place) })
}

fn temporary() -> Result<TempDir, QueryError> {
    tempfile::Builder::new()
        .prefix("whyslow-sql-")
        .tempdir()
        .map_err(|error| QueryError::Failed(format!("no temporary folder: {error}")))
}

/// The name of its file, with a number where another one has it too.
fn name(paths: &[PathBuf], others: &[Opened]) -> String {
    let path = &paths[0];
    let plain = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let plain = plain.strip_suffix(".whyslow").unwrap_or(&plain).to_string();
    let is_free = |name: &str| !others.iter().any(|other| other.name == name);
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    [plain.clone()].into_iter().chain(numbered).find(|name| is_free(name)).unwrap_or(plain)
}

/// Replaces secrets in every text.
struct Redacting;

impl Edit for Redacting {
    fn text<'t>(&mut self, place: &TextPlace<'_>, text: &'t str) -> Cow<'t, str> {
        match (place.table, place.column) {
            ("threads", "cmdline") | ("host", "text" | "raw") => match command_line::arguments(&[text]).pop()
            {
                Some(hidden) if hidden != text => Cow::Owned(hidden),
                _ => Cow::Borrowed(text),
            },
            // `token::next` is a function's name.
            ("frames", "function") | ("call_frames", "text") => Cow::Borrowed(text),
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
