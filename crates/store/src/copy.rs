//! A copy of a recording in which somebody else has a say about each text: of every column of every table, and of the
//! head. Columns are gone through by their kind, so that none can be forgotten. What is not known is not copied.

use crate::column::{ColumnSpec, Kind, View};
use crate::error::StoreError;
use crate::meta::{self, Meta, SCHEMA, TableMeta};
use crate::open_part::{Found, Opened, parts_in};
use crate::part::{self, OpenPart};
use crate::reader::head;
use crate::tables::{TABLES, TableSpec, table};
use crate::text::{MAX_TEXT, storable};
use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, new_null_array};
use serde_json::Value;
use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use whyslow_model::visible;
use whyslow_privacy::files;

/// Says what becomes of the texts.
pub trait Edit {
    /// What stands in the copy for `text`.
    fn text<'t>(&mut self, place: &TextPlace<'_>, text: &'t str) -> Cow<'t, str>;
    /// What stands there for a command line, an argument each: `command` of the head.
    fn arguments(&mut self, given: &[String]) -> Vec<String>;
    /// Changes the head beside its texts.
    fn head(&mut self, _: &mut Meta) {}
}

/// Where a text stands.
pub struct TextPlace<'a> {
    /// The table; [`TextPlace::HEAD`] for the head.
    pub table: &'static str,
    /// The column; of the head, the field.
    pub column: &'a str,
    row: Option<(&'static TableSpec, &'a [View], usize)>,
}

impl TextPlace<'_> {
    /// Stands for the table of texts of the head.
    pub const HEAD: &'static str = meta::FILE;

    /// The text of another column of the same row, as it was recorded. A column of words, which are asked about once
    /// and not row by row, has no neighbours.
    pub fn beside(&self, column: &str) -> Option<&str> {
        let (table, views, at) = self.row?;
        let found = table.columns.iter().position(|known| known.name == column)?;
        views.get(found)?.text(at)
    }
}

/// What was copied.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The head of the copy.
    pub meta: Meta,
    /// Texts that were asked about, one a row and column.
    pub texts: u64,
    /// Of these, the ones that became others.
    pub changed: u64,
    /// What is not in the copy, and why; the first of them.
    pub left_out: Vec<String>,
    /// How many more.
    pub more_left_out: u64,
}

/// Of what is left out, so many are told one by one.
const MOST_TOLD: usize = 20;

/// Makes `out`, which must not be there yet, a copy of the recording in `dir`. Files that are no tables, and what is
/// damaged, are left out. Where it fails nothing is left of `out`.
///
/// # Errors
/// As [`crate::read`] for `dir`, and as [`crate::Writer::create`] for `out`.
pub fn copy(dir: &Path, out: &Path, edit: &mut dyn Edit) -> Result<Copied, StoreError> {
    let (meta, trouble) = head(dir)?;
    let folders: Vec<_> = TABLES.iter().map(|table| (*table, parts_in(&dir.join(table.name)))).collect();
    if let (Some(reason), true) =
        (&trouble, folders.iter().all(|(_, parts)| parts.as_ref().is_ok_and(Vec::is_empty)))
    {
        return Err(StoreError::NotARecording { path: dir.to_path_buf(), reason: reason.clone() });
    }
    files::create_folder(out).map_err(|error| StoreError::io(out, error))?;
    let mut copy = Copy {
        out,
        edit,
        done: Copied { meta, texts: 0, changed: 0, left_out: Vec::new(), more_left_out: 0 },
    };
    if let Some(reason) = trouble {
        copy.leave_out(reason);
    }
    let result = copy.all(dir, folders);
    if result.is_err() {
        // A part of a recording would be taken for the whole.
        let _ = fs::remove_dir_all(out);
    }
    result.map(|()| copy.done)
}

struct Copy<'a> {
    out: &'a Path,
    edit: &'a mut dyn Edit,
    done: Copied,
}

type Parts = Result<Vec<Found>, String>;

impl Copy<'_> {
    fn all(&mut self, dir: &Path, folders: Vec<(&'static TableSpec, Parts)>) -> Result<(), StoreError> {
        self.strangers(dir);
        self.done.meta.tables.clear();
        for (table, parts) in folders {
            match parts {
                Ok(parts) => self.table(table, &parts)?,
                Err(reason) => self.leave_out(format!("{}: {reason}", table.name)),
            }
        }
        self.head()?;
        self.done.meta.write(self.out)
    }

    fn leave_out(&mut self, what: String) {
        match self.done.left_out.len() < MOST_TOLD {
            true => self.done.left_out.push(what),
            false => self.done.more_left_out += 1,
        }
    }

    /// Tells what is in the folder and in those of its tables and is none of a recording's own.
    fn strangers(&mut self, dir: &Path) {
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        };
        for name in names(dir) {
            let known = name.to_str().and_then(table);
            match known {
                _ if name == meta::FILE => {}
                None => self.leave_out(visible::path(Path::new(&name)).to_string()),
                // What a link leads to is not looked at.
                Some(_) if fs::symlink_metadata(dir.join(&name)).is_ok_and(|about| about.is_symlink()) => {}
                Some(table) => {
                    let inside = names(&dir.join(table.name)).into_iter();
                    for name in inside.filter(|name| name.to_str().and_then(part::parse_name).is_none()) {
                        self.leave_out(visible::path(&Path::new(table.name).join(name)).to_string());
                    }
                }
            }
        }
    }

    fn table(&mut self, table: &'static TableSpec, parts: &[Found]) -> Result<(), StoreError> {
        let mut sum = TableMeta::default();
        for found in parts {
            let name = found.path.file_name().unwrap_or_default();
            let mut open = None;
            if let Some(reason) = self.part(table, found, &mut open)? {
                let name = Path::new(table.name).join(name);
                self.leave_out(format!("{}: {reason}", visible::path(&name)));
            }
            if let Some(open) = open {
                let part = open.close()?;
                sum.rows += part.rows;
                sum.parts += 1;
                sum.bytes += part.bytes;
            }
        }
        if sum.parts > 0 {
            self.done.meta.tables.insert(table.name.to_string(), sum);
        }
        Ok(())
    }

    /// Copies a part as far as it can be read, into `open`; tells why it cannot be read further.
    fn part(
        &mut self,
        table: &'static TableSpec,
        found: &Found,
        open: &mut Option<OpenPart>,
    ) -> Result<Option<String>, StoreError> {
        let mut rows = match Opened::open(found, table) {
            Ok(rows) => rows,
            Err(reason) => return Ok(Some(reason)),
        };
        let schema = part::schema(table);
        while let Some(next) = rows.next() {
            let (views, len) = match next {
                Ok(next) => next,
                Err(reason) => return Ok(Some(format!("{reason}; the rows before it are copied"))),
            };
            if len == 0 {
                continue;
            }
            let columns = self.columns(table, &views, len);
            let lacking = |(column, array): (&ColumnSpec, &ArrayRef)| {
                (!column.nullable && array.null_count() > 0).then_some(column.name)
            };
            if let Some(column) = table.columns.iter().zip(&columns).find_map(lacking) {
                return Ok(Some(format!("it has rows without `{column}`; the rows before them are copied")));
            }
            let open = match open {
                Some(open) => open,
                None => {
                    open.insert(OpenPart::create(&self.out.join(table.name), table, &schema, found.number)?)
                }
            };
            open.write(columns)?;
        }
        Ok(None)
    }

    fn columns(&mut self, table: &'static TableSpec, views: &[View], len: usize) -> Vec<ArrayRef> {
        let columns = table.columns.iter().zip(views);
        columns.map(|(column, view)| self.column(table, column, view, views, len)).collect()
    }

    fn column(
        &mut self,
        table: &'static TableSpec,
        column: &ColumnSpec,
        view: &View,
        views: &[View],
        len: usize,
    ) -> ArrayRef {
        match view {
            View::Missing => new_null_array(&column.kind.stored(), len),
            View::I64(array) => Arc::new(array.clone()),
            View::I32(array) => Arc::new(array.clone()),
            View::U64(array) => Arc::new(array.clone()),
            View::U32(array) => Arc::new(array.clone()),
            View::F64(array) => Arc::new(array.clone()),
            View::Bool(array) => Arc::new(array.clone()),
            View::Word(_, words) => {
                debug_assert_eq!(column.kind, Kind::Word);
                let place = TextPlace { table: table.name, column: column.name, row: None };
                let edited: Vec<(String, bool)> = (0..words.len())
                    .map(|at| match words.is_valid(at) {
                        true => self.edited(&place, words.value(at)),
                        false => Default::default(),
                    })
                    .collect();
                let mut out = StringBuilder::new();
                for at in 0..len {
                    match view.word(at).and_then(|word| edited.get(word)) {
                        Some((word, changed)) => {
                            self.count(*changed);
                            out.append_value(word);
                        }
                        None => out.append_null(),
                    }
                }
                Arc::new(out.finish())
            }
            View::Text(_) => {
                let mut out = StringBuilder::new();
                for at in 0..len {
                    let place =
                        TextPlace { table: table.name, column: column.name, row: Some((table, views, at)) };
                    match view.text(at) {
                        Some(text) => {
                            let (text, changed) = self.edited(&place, text);
                            self.count(changed);
                            out.append_value(text);
                        }
                        None => out.append_null(),
                    }
                }
                Arc::new(out.finish())
            }
        }
    }

    /// The text as it is stored in the copy, and whether it is another one.
    fn edited(&mut self, place: &TextPlace<'_>, text: &str) -> (String, bool) {
        // A stranger's may be longer than ours are.
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        let edited = self.edit.text(place, text);
        let changed = edited != text;
        (storable(edited.as_bytes()).0.into_owned(), changed)
    }

    fn count(&mut self, changed: bool) {
        self.done.texts += 1;
        self.done.changed += u64::from(changed);
    }

    /// The head: each text in it, whatever its field.
    fn head(&mut self) -> Result<(), StoreError> {
        let meta = &mut self.done.meta;
        // Its keys are tables; what names none is of somebody else.
        let known = |name: &String| table(name).is_some();
        meta.losses.retain(|name, _| known(name));
        if let Some(removed) = &mut meta.removed {
            removed.rows.retain(|name, _| known(name));
            removed.seq.retain(|name, _| known(name));
        }
        let command = std::mem::take(&mut meta.command);
        let failed = |error: serde_json::Error| StoreError::Encode {
            path: self.out.join(meta::FILE),
            reason: error.to_string(),
        };
        let mut value = serde_json::to_value(&*meta).map_err(failed)?;
        self.value("", &mut value);
        let edited: Meta = serde_json::from_value(value).map_err(failed)?;
        let arguments = self.edit.arguments(&command);
        for (before, after) in command.iter().zip(&arguments) {
            self.count(before != after);
        }
        // What is written is of this version, whichever it was read from.
        self.done.meta = Meta { schema: SCHEMA.to_string(), command: arguments, ..edited };
        self.edit.head(&mut self.done.meta);
        Ok(())
    }

    fn value(&mut self, field: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                let (edited, changed) =
                    self.edited(&TextPlace { table: TextPlace::HEAD, column: field, row: None }, text);
                self.count(changed);
                *text = edited;
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(field, value)),
            Value::Object(fields) => fields.iter_mut().for_each(|(field, value)| self.value(field, value)),
            _ => {}
        }
    }
}
