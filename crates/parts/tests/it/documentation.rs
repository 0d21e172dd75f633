//! docs/FLEET.md lists the tables as they are. `UPDATE_DOCS=1 cargo test -p whyslow-parts` writes it anew.

use std::fmt::Write as _;
use std::path::Path;
use whyslow_parts::PART_TABLES;

const BEGIN: &str = "<!-- tables: UPDATE_DOCS=1 cargo test -p whyslow-parts -->\n";
const END: &str = "<!-- tables end -->\n";

fn tables() -> String {
    let mut text = String::new();
    for table in PART_TABLES {
        let joined = if table.over_hosts { " Joined over hosts." } else { "" };
        let sorted = table.sorted_by.join("`, `");
        let _ = write!(text, "\n#### {}\n\n{}{joined} Sorted by `{sorted}`.\n\n", table.name, table.about);
        text.push_str("| column | type | unknown | |\n|---|---|---|---|\n");
        for column in table.columns {
            let unit = if column.unit.is_empty() { String::new() } else { format!(", {}", column.unit) };
            let unknown = if column.unknown { "yes" } else { "" };
            let _ = writeln!(
                text,
                "| `{}` | {}{unit} | {unknown} | {} |",
                column.name,
                column.kind.type_name(),
                column.about
            );
        }
    }
    text + "\n"
}

#[test]
fn the_page_lists_the_tables_as_they_are() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/FLEET.md"));
    let page = std::fs::read_to_string(path).unwrap();
    let (head, rest) = page.split_once(BEGIN).expect("the page has the place for the tables");
    let (_, tail) = rest.split_once(END).expect("the place for the tables has an end");
    let wanted = format!("{head}{BEGIN}{}{END}{tail}", tables());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, wanted).unwrap();
    } else {
        assert!(page == wanted, "docs/FLEET.md is stale: UPDATE_DOCS=1 cargo test -p whyslow-parts");
    }
}
