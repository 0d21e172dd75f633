//! `csv`: a table by RFC 4180. The heads are the keys of the JSON; durations are nanoseconds, shares parts of 1; what is unknown is
//! an empty field. Text with a comma, a quote or a line end stands in quotes.

use super::{ExportFormat, ExportHow};
use crate::text::shown;
use std::io::{self, Write};
use whyslow_model::{Cell, Table};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "csv",
    about: "a table (--table): calls by name, files, peers, requests, locks, threads, ...",
    opened_by: "spreadsheets, pandas, SQL engines",
    is_binary: false,
    escapes: false,
    how: ExportHow::Table(write),
};

fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let heads = table.columns.iter().map(|column| column.key.to_string());
    line(heads, out)?;
    for row in &table.rows {
        line(row.iter().map(field), out)?;
    }
    Ok(())
}

fn line(fields: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        if field.contains([',', '"', '\n', '\r']) {
            write!(out, "\"{}\"", field.replace('"', "\"\""))?;
        } else {
            out.write_all(field.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Unknown => String::new(),
        Cell::Text(text) => shown(text).into_owned(),
        Cell::Count(number) | Cell::Bytes(number) => number.to_string(),
        Cell::Duration(time) => time.get().map_or(String::new(), |ns| ns.to_string()),
        Cell::Share(number) | Cell::PerSecond(number) | Cell::Number(number) => match number.is_finite() {
            true => number.to_string(),
            false => String::new(),
        },
        Cell::Counts(counts) => counts.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{HOSTILE, table};

    #[test]
    fn fields_are_quoted_as_the_rfc_says() {
        let mut out = Vec::new();
        write(&table(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (head, rest) = text.split_once("\r\n").unwrap();
        assert_eq!(head, "name,calls,time,share,slots");
        let quoted = format!("\"{}\"", HOSTILE.replace('"', "\"\""));
        assert_eq!(rest, format!("{quoted},3,1500,0.5,1 2\r\ntoken=[redacted],,,,\r\n"));
    }
}
