//! docs/SQL.md: its tables are those of the code, and its twenty questions have the answers that stand below them.
//! `UPDATE_DOCS=1` writes both.

use crate::program::{out, recording, sql};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use whyslow_query_engine::{Database, DatabaseOptions, TableInfo, TableKind};

/// Orders of the recording that is asked: 4,000 calls.
const ORDERS: u64 = 400;

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SQL.md")
}

/// What stands between two marks; and the text with something else there.
fn between<'t>(text: &'t str, mark: &str, new: &str) -> (&'t str, String) {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let from = text.find(&begin).unwrap_or_else(|| panic!("docs/SQL.md has no {begin}")) + begin.len();
    let to = from + text[from..].find(&end).unwrap_or_else(|| panic!("docs/SQL.md has no {end}"));
    (&text[from..to], format!("{}{new}{}", &text[..from], &text[to..]))
}

fn table(out: &mut String, table: &TableInfo) {
    let _ = write!(out, "\n#### {}\n\n{}\n\n| column | type | |\n|---|---|---|\n", table.name, table.about);
    for column in &table.columns {
        let unit = if column.unit.is_empty() { String::new() } else { format!(", {}", column.unit) };
        let _ = writeln!(
            out,
            "| `{}` | {}{unit} | {} |",
            column.name,
            column.type_name,
            column.about.replace('|', "\\|")
        );
    }
}

/// The tables, functions and macros as the document has them.
fn listed(database: &Database) -> String {
    let mut out = String::new();
    for table_info in database.tables().iter().filter(|table| table.kind != TableKind::Recorded) {
        table(&mut out, table_info);
    }
    out.push_str("\n#### Recorded tables\n\n[RECORDING.md](RECORDING.md) has their columns; `recording` stands before them.\n\n| table | a row is |\n|---|---|\n");
    for table in database.tables().iter().filter(|table| table.kind == TableKind::Recorded) {
        let _ = writeln!(out, "| `{}` | {} |", table.name, table.about.replace('|', "\\|"));
    }
    out.push_str("\n### Functions\n\nBeside [those of DataFusion](https://datafusion.apache.org/user-guide/sql/scalar_functions.html):\n\n| function | gives |\n|---|---|\n");
    for function in database.functions() {
        let _ = writeln!(out, "| `{}` | {} |", function.call, function.about);
    }
    out.push_str("\n### Macros\n\nUsual questions that have names: `SELECT * FROM top_syscalls WHERE calls > 100`. `\\m NAME` prints what one stands for.\n\n| macro | answers |\n|---|---|\n");
    for entry in database.macros() {
        let _ = writeln!(out, "| `{}` | {} |", entry.name, entry.about);
    }
    out.push('\n');
    out
}

fn updates() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// The two sections are written by one test: another process would write over them.
#[test]
fn the_document_says_what_the_code_does() {
    let (place, dir) = recording(ORDERS);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database =
        runtime.block_on(Database::open(std::slice::from_ref(&dir), DatabaseOptions::default())).unwrap();
    let text = std::fs::read_to_string(document()).unwrap();
    let (stated, with_tables) = between(&text, "tables", &listed(&database));
    if !updates() {
        assert!(
            text == with_tables,
            "docs/SQL.md has other tables than the code (UPDATE_DOCS=1 writes them): {stated}"
        );
    }
    let (questions, with_answers) = answered(&with_tables, place.path(), &dir);
    assert_eq!(questions, 20);
    if updates() {
        std::fs::write(document(), with_answers).unwrap();
        return;
    }
    for (line, (stated, found)) in text.lines().zip(with_answers.lines()).enumerate() {
        assert_eq!(stated, found, "docs/SQL.md:{} (UPDATE_DOCS=1 writes the answers)", line + 1);
    }
    assert_eq!(text.lines().count(), with_answers.lines().count());
}

/// The document with each question's answer below it: a block of SQL, and behind it a block of text.
fn answered(text: &str, home: &Path, dir: &Path) -> (usize, String) {
    const SQL: &str = "```sql\n";
    const TEXT: &str = "```text\n";
    const END: &str = "```\n";
    let from = text.find("<!-- questions -->").expect("the questions");
    let (mut out, mut rest) = (text[..from].to_string(), &text[from..]);
    let mut questions = 0;
    while let Some(at) = rest.find(SQL) {
        let begin = at + SQL.len();
        let end = begin + rest[begin..].find(END).expect("the end of a question");
        let answer = end + rest[end..].find(TEXT).expect("an answer") + TEXT.len();
        let after = answer + rest[answer..].find(END).expect("the end of an answer");
        out.push_str(&rest[..answer]);
        out.push_str(&self::out(&sql(home).arg(dir).args(["-c", &rest[begin..end]]).output().unwrap()));
        rest = &rest[after..];
        questions += 1;
    }
    (questions, out + rest)
}

/// What the made-up service is known to do, beside what its recording was found to say.
#[test]
fn the_answers_are_the_truth() {
    let (place, dir) = recording(ORDERS);
    let ask =
        |question: &str| out(&sql(place.path()).arg(&dir).args(["--csv", "-c", question]).output().unwrap());
    assert_eq!(ask("SELECT calls FROM top_syscalls WHERE syscall = 'recvfrom'"), "calls\n800\n");
    // Each order reads the configuration once: open, read, close.
    assert_eq!(ask("SELECT calls FROM top_files WHERE path LIKE '%config.yml'"), "calls\n1200\n");
    assert_eq!(ask("SELECT sum(calls) AS n FROM failed_calls WHERE errno = 'ENOENT'"), "n\n400\n");
    assert_eq!(ask("SELECT count(*) AS n FROM run_queue WHERE runnable_ms = on_cpu_ms / 6"), "n\n4\n");
    assert_eq!(ask("SELECT count(*) AS n FROM findings WHERE rule = 'fsync-per-write'"), "n\n1\n");
}
