//! Completion of what is typed: tables, columns, functions, macros, words of SQL, commands of the shell.

use rustyline::completion::{Completer, Pair};
use rustyline::{Context, Helper, Highlighter, Hinter, Result, Validator};
use whyslow_query_engine::Database;

/// Words that are completed.
#[derive(Helper, Hinter, Highlighter, Validator)]
pub(crate) struct Words {
    words: Vec<String>,
    commands: Vec<String>,
}

/// Words offered at once.
const MOST: usize = 200;

const KEYWORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "DISTINCT",
    "JOIN",
    "LEFT JOIN",
    "ON",
    "AS",
    "AND",
    "OR",
    "NOT",
    "IN",
    "LIKE",
    "ILIKE",
    "BETWEEN",
    "IS NULL",
    "IS NOT NULL",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "WITH",
    "UNION ALL",
    "OVER",
    "PARTITION BY",
    "FILTER",
    "DESC",
    "ASC",
    "NULLS LAST",
    "EXPLAIN",
    "DESCRIBE",
    "SHOW TABLES",
];

const COMMANDS: &[&str] = &[
    "\\d",
    "\\macros",
    "\\functions",
    "\\timing",
    "\\help",
    "\\q",
    "\\json",
    "\\csv",
    "\\ndjson",
    "\\table",
];

impl Words {
    /// All that a database knows.
    pub(crate) fn of(database: &Database) -> Words {
        let mut words: Vec<String> = KEYWORDS.iter().map(|word| word.to_string()).collect();
        for table in database.tables() {
            words.push(table.name);
            words.extend(table.columns.into_iter().map(|column| column.name));
        }
        words.extend(database.macros().iter().map(|entry| entry.name.to_string()));
        words.extend(database.function_names());
        words.sort();
        words.dedup();
        Words { words, commands: COMMANDS.iter().map(|word| word.to_string()).collect() }
    }

    /// Where the word before `at` begins, and what it may become.
    fn found(&self, line: &str, at: usize) -> (usize, Vec<&str>) {
        let before = &line[..at];
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '\\');
        let start = before
            .rfind(|letter| !is_part(letter))
            .map_or(0, |end| end + before[end..].chars().next().map_or(1, char::len_utf8));
        let typed = before[start..].to_lowercase();
        let from = if typed.starts_with('\\') { &self.commands } else { &self.words };
        // `s.dur`: a column behind the name of its table.
        let (prefix, part) = match typed.rsplit_once('.') {
            Some((table, part)) if table != "raw" => (table.len() + 1, part.to_string()),
            _ => (0, typed.clone()),
        };
        if typed.is_empty() {
            return (start, Vec::new());
        }
        let fits = from.iter().filter(|word| word.to_lowercase().starts_with(&part));
        (start + prefix, fits.map(String::as_str).take(MOST).collect())
    }
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let (start, found) = self.found(line, at);
        let pair = |word: &str| Pair { display: word.to_string(), replacement: word.to_string() };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_completed_where_it_stands() {
        let words = Words {
            words: ["SELECT", "calls", "dur", "raw.syscalls", "syscall"].map(str::to_string).into(),
            commands: COMMANDS.iter().map(|word| word.to_string()).collect(),
        };
        assert_eq!(words.found("sel", 3), (0, vec!["SELECT"]));
        assert_eq!(words.found("SELECT ms(du", 12), (10, vec!["dur"]));
        assert_eq!(words.found("SELECT c.sys", 12), (9, vec!["syscall"]));
        assert_eq!(words.found("SELECT * FROM raw.s", 19), (14, vec!["raw.syscalls"]));
        assert_eq!(words.found("\\ti", 3), (0, vec!["\\timing"]));
        assert_eq!(words.found("é ", 3), (3, vec![]));
    }
}
