//! `ndjson`: a table as an object a line. Units are those of the JSON of `--json`; what is unknown is `null`.

use super::{ExportFormat, ExportHow};
use crate::json;
use crate::text::shown;
use std::io::{self, Write};
use whyslow_model::{Cell, Table};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "ndjson",
    about: "the same, an object a line",
    opened_by: "jq, DuckDB, Elasticsearch, Loki",
    is_binary: false,
    escapes: true,
    how: ExportHow::Table(write),
};

fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    for row in &table.rows {
        out.write_all(b"{")?;
        for (at, (column, cell)) in table.columns.iter().zip(row).enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            write!(out, "\"{}\":", column.key)?;
            match cell {
                Cell::Text(text) => json::string(out, &shown(text))?,
                Cell::Duration(time) => match time.get() {
                    Some(ns) => write!(out, "{ns}")?,
                    None => out.write_all(b"null")?,
                },
                other => serde_json::to_writer(&mut *out, other).map_err(io::Error::from)?,
            }
        }
        out.write_all(b"}\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{HOSTILE, table};

    #[test]
    fn each_line_is_an_object_with_all_columns() {
        let mut out = Vec::new();
        write(&table(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains(|c| c != '\n' && whyslow_model::visible::acts(c)), "{text:?}");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let wanted =
            serde_json::json!({"name": HOSTILE, "calls": 3, "time": 1500, "share": 0.5, "slots": [1, 2]});
        assert_eq!(lines[0], wanted);
        let unknown = serde_json::json!({"name": "token=[redacted]", "calls": null, "time": null, "share": null, "slots": null});
        assert_eq!(lines[1..], [unknown]);
    }
}
