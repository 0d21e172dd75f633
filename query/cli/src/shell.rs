//! The shell: questions over several lines, commands that begin with a backslash, history and completion.

use crate::ask::{Asker, Told};
use crate::complete::Words;
use crate::print::{self, Form};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use whyslow_model::visible;
use whyslow_query_engine::{QueryError, TableInfo};

/// Lines of history that are kept.
const MOST_LINES: usize = 2_000;

const HELP: &str = "\
A question ends with a semicolon; it may have several lines. Ctrl-C gives it up, Ctrl-D or \\q ends the shell.
  \\d            tables and views           \\d TABLE     its columns
  \\macros       usual questions by name    \\m NAME      what one stands for
  \\functions    functions beside SQL's     \\timing      tells how long answers take, or stops
  \\json \\csv \\ndjson \\table                how answers are printed
  \\help         this                       \\q           ends
Times are nanoseconds: ms(dur), at(ts). docs/SQL.md has the tables and twenty questions.";

/// Asks until the input ends.
pub(crate) fn run(asker: &Asker<'_>, form: Form, told: &mut Told) -> anyhow::Result<ExitCode> {
    let config = Config::builder()
        .max_history_size(MOST_LINES)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .build();
    let mut editor: Editor<Words, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Words::of(asker.database)));
    let history = history();
    if let Some(path) = &history {
        let _ = editor.load_history(path);
    }
    println!("{} tables, \\d lists them; \\help helps, \\q ends.", asker.database.tables().len());
    let mut shell = Shell { asker, form, timing: false };
    let mut text = String::new();
    loop {
        let prompt = if text.is_empty() { "sql> " } else { "...> " };
        match editor.readline(prompt) {
            Ok(line) => {
                let line = line.trim_end();
                if text.is_empty() && line.trim_start().starts_with('\\') {
                    let _ = editor.add_history_entry(line);
                    if !shell.command(line.trim())? {
                        break;
                    }
                    continue;
                }
                text.push_str(line);
                text.push('\n');
                while let Some(end) = print::end_of_statement(&text) {
                    let sql = text[..end].trim().to_string();
                    text = text[end + 1..].trim_start().to_string();
                    let _ = editor.add_history_entry(format!("{sql};").replace('\n', " "));
                    shell.question(&sql, told)?;
                }
            }
            Err(ReadlineError::Interrupted) => text.clear(),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(path) = &history {
        let _ = editor.save_history(path);
    }
    Ok(ExitCode::SUCCESS)
}

struct Shell<'a> {
    asker: &'a Asker<'a>,
    form: Form,
    timing: bool,
}

impl Shell<'_> {
    fn question(&mut self, sql: &str, told: &mut Told) -> anyhow::Result<()> {
        if sql.is_empty() {
            return Ok(());
        }
        let answer = self.asker.ask(sql);
        told.tell(self.asker.database);
        match answer {
            Ok(answer) => {
                print::answer(&answer, self.form, &mut io::stdout().lock())?;
                if self.form == Form::Table {
                    let rows = answer.rows();
                    let cut = if answer.truncated { ", more are not shown" } else { "" };
                    println!("({rows} {}{cut})", if rows == 1 { "row" } else { "rows" });
                }
                if self.timing {
                    println!("{} ms", milliseconds(answer.elapsed));
                }
            }
            Err(QueryError::Interrupted) => println!("interrupted"),
            Err(error) => crate::complain(&error.to_string()),
        }
        Ok(())
    }

    /// Carries out a command; false where it ends the shell.
    fn command(&mut self, line: &str) -> anyhow::Result<bool> {
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim().trim_end_matches(';');
        let database = self.asker.database;
        match name {
            "\\q" | "\\quit" | "\\exit" => return Ok(false),
            "\\help" | "\\h" | "\\?" => println!("{HELP}"),
            "\\timing" => {
                self.timing = !self.timing;
                println!("how long answers take is {}", if self.timing { "told" } else { "not told" });
            }
            "\\table" => self.form = Form::Table,
            "\\json" => self.form = Form::Json,
            "\\csv" => self.form = Form::Csv,
            "\\ndjson" => self.form = Form::Ndjson,
            "\\d" | "\\dt" if argument.is_empty() => {
                let rows = database.tables();
                let rows =
                    rows.iter().map(|table| [table.name.as_str(), table.kind.word(), table.about.as_str()]);
                list(rows)?;
            }
            "\\d" => describe(&database.tables(), argument)?,
            "\\macros" | "\\m" if argument.is_empty() => {
                list(database.macros().iter().map(|entry| [entry.name, "", entry.about]))?;
            }
            "\\macros" | "\\m" => match database.macros().iter().find(|entry| entry.name == argument) {
                Some(entry) => println!("-- {}\n{};", entry.about, entry.sql),
                None => println!("there is no macro {}; \\macros lists them", visible::line(argument)),
            },
            "\\functions" | "\\f" => {
                list(database.functions().iter().map(|entry| [entry.call, "", entry.about]))?
            }
            other => println!("there is no command {}; \\help lists them", visible::line(other)),
        }
        Ok(true)
    }
}

/// How long, with as many digits as mean something.
fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

/// Prints rows of three words.
fn list<'a>(rows: impl Iterator<Item = [&'a str; 3]> + Clone) -> io::Result<()> {
    let width = |at: usize| rows.clone().map(|row| row[at].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut out = io::stdout().lock();
    for [name, kind, about] in rows.clone() {
        let kind = if second == 0 { String::new() } else { format!("{kind:second$}  ") };
        writeln!(out, "{name:first$}  {kind}{about}")?;
    }
    Ok(())
}

fn describe(tables: &[TableInfo], name: &str) -> io::Result<()> {
    let wanted = name.strip_prefix("main.").unwrap_or(name);
    let found = tables.iter().find(|table| table.name == wanted || table.name == format!("raw.{wanted}"));
    let Some(table) = found else {
        println!("there is no table {}; \\d lists them", visible::line(name));
        return Ok(());
    };
    println!("{} ({}): {}", table.name, table.kind.word(), table.about);
    let types: Vec<String> = table
        .columns
        .iter()
        .map(|column| match column.unit {
            "" => column.type_name.to_string(),
            unit => format!("{}, {unit}", column.type_name),
        })
        .collect();
    let rows = table.columns.iter().zip(&types);
    list(rows.map(|(column, of)| [column.name.as_str(), of.as_str(), column.about.as_str()]))
}

/// The file of history, which is the user's alone; `None` where there is no place for it.
fn history() -> Option<PathBuf> {
    let folder = history_folder()?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    let path = folder.join("sql-history");
    private(&path).ok()?;
    Some(path)
}

/// Its folder: `$XDG_STATE_HOME/whyslow`, else below `~/.local/state`.
pub(crate) fn history_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local").join("state")))?;
    Some(base.join("whyslow"))
}

/// Makes the file, and takes the rights of others away.
fn private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}
