//! JSON: the stable form for programs. Figures are bare (ns, bytes, shares from 0 to 1), what is unknown is
//! `null`. The diagnosis is `whyslow.diagnosis/1`, the comparison `whyslow.diff/1`, a table
//! `{"view", "question", "rows": [{key: value}], "total": {key: value}, "notes"}`.

use crate::exporter::Exporter;
use crate::style::Style;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::{self, Write};
use whyslow_model::visible::acts;
use whyslow_model::{Cell, Column, Diagnosis, Diff, Table};

/// JSON.
pub static JSON: Exporter = Exporter {
    name: "json",
    summary: "one JSON document with bare figures, for programs",
    extension: "json",
    escapes_controls: true,
    diagnosis: |diagnosis: &Diagnosis, _: &Style, out| write_json(diagnosis, out),
    table: |table: &Table, _: &Style, out| write_json(&View(table), out),
    diff: |diff: &Diff, _: &Style, out| write_json(diff, out),
};

fn write_json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(EscapeActing { out: &mut *out, rest: Vec::new() }, value)?;
    out.write_all(b"\n")
}

/// Writes the characters that JSON may hold as they are but a terminal acts upon (DEL, C1 controls, direction
/// overrides) as `\uXXXX`. They occur within strings only, so the document stays the same.
struct EscapeActing<'a> {
    out: &'a mut dyn Write,
    /// The first bytes of a character whose last ones did not come yet.
    rest: Vec<u8>,
}

impl Write for EscapeActing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.rest.is_empty() && bytes.iter().all(|&byte| byte < 0x7f) {
            self.out.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.rest.extend_from_slice(bytes);
        let (text, tail) = match std::str::from_utf8(&self.rest) {
            Ok(text) => (text, Vec::new()),
            // serde_json writes UTF-8 only: what is not valid is not complete yet.
            Err(error) => {
                let (valid, tail) = self.rest.split_at(error.valid_up_to());
                (std::str::from_utf8(valid).unwrap_or_default(), tail.to_vec())
            }
        };
        let mut units = [0; 2];
        let mut plain = 0;
        for (at, c) in text.char_indices().filter(|&(_, c)| c != '\n' && acts(c)) {
            self.out.write_all(&text.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut units) {
                write!(self.out, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        self.out.write_all(&text.as_bytes()[plain..])?;
        self.rest = tail;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A table with its rows as objects.
struct View<'a>(&'a Table);

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Table { name, question, columns, rows, total, notes } = self.0;
        let rows: Vec<Row<'_>> = rows.iter().map(|cells| Row { columns, cells }).collect();
        let total = total.as_ref().map(|cells| Row { columns, cells });
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("view", name)?;
        map.serialize_entry("question", question)?;
        map.serialize_entry("rows", &rows)?;
        map.serialize_entry("total", &total)?;
        map.serialize_entry("notes", notes)?;
        map.end()
    }
}

struct Row<'a> {
    columns: &'a [Column],
    cells: &'a [Cell],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (i, column) in self.columns.iter().enumerate() {
            map.serialize_entry(column.key, self.cells.get(i).unwrap_or(&Cell::Unknown))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strings_come_back_as_they_went_in(text in any::<String>(), odd in "[\u{7f}-\u{a0}\u{202a}-\u{202e}\u{e0001}\n]{0,9}") {
            let value = vec![text, odd];
            let mut out = Vec::new();
            write_json(&value, &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            prop_assert!(!out.contains(|c| acts(c) && c != '\n'));
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&out).unwrap(), value);
        }
    }
}
