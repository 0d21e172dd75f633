//! docs/RECORDING.md lists the tables as they are. `UPDATE_DOCS=1 cargo test -p whyslow-store` writes it anew.

use std::fmt::Write as _;
use std::path::Path;
use whyslow_store::{Keep, TABLES};

const BEGIN: &str = "<!-- The tables, from the code: UPDATE_DOCS=1 cargo test -p whyslow-store -->\n";

fn tables() -> String {
    let mut text = String::new();
    for table in TABLES {
        let kept = if table.keep == Keep::All { " Kept whole under `--max-size`." } else { "" };
        let _ = write!(text, "\n### {}\n\n{}{kept}\n\n", table.name, table.about);
        text.push_str("| column | type | null | |\n|---|---|---|---|\n");
        for column in table.columns {
            let unit = if column.kind.unit().is_empty() {
                String::new()
            } else {
                format!(", {}", column.kind.unit())
            };
            let null = if column.nullable { "yes" } else { "" };
            let _ = writeln!(
                text,
                "| `{}` | {}{unit} | {null} | {} |",
                column.name,
                column.kind.type_name(),
                column.about.replace('|', "\\|")
            );
        }
    }
    text
}

#[test]
fn the_page_lists_the_tables_as_they_are() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/RECORDING.md"));
    let page = std::fs::read_to_string(path).unwrap();
    let (head, _) = page.split_once(BEGIN).expect("the page has the place for the tables");
    let wanted = format!("{head}{BEGIN}{}", tables());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, wanted).unwrap();
    } else {
        assert!(page == wanted, "docs/RECORDING.md is stale: UPDATE_DOCS=1 cargo test -p whyslow-store");
    }
}

#[test]
fn tables_and_columns_are_named_as_in_sql() {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    for table in TABLES {
        assert!(is_name(table.name) && table.about.ends_with('.'), "{}", table.name);
        assert_eq!((table.columns[0].name, table.columns[0].nullable), ("seq", false));
        for (at, column) in table.columns.iter().enumerate() {
            assert!(is_name(column.name) && column.about.ends_with('.'), "{}.{}", table.name, column.name);
            assert!(table.columns[..at].iter().all(|before| before.name != column.name), "{}", column.name);
        }
    }
}
