//! How a database is opened.

use std::path::PathBuf;

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// Bytes that sorts, groups and joins of all questions together may hold.
    pub memory: usize,
    /// Threads that work on a question; `None` for as many as there are CPUs.
    pub threads: Option<usize>,
    /// Do not replace secrets in captures and computed tables.
    pub show_secrets: bool,
    /// The folder in which computed tables are kept; `None` to keep none.
    pub cache: Option<PathBuf>,
}

impl Default for DatabaseOptions {
    /// 2 GiB, all CPUs, no secrets, nothing kept.
    fn default() -> Self {
        DatabaseOptions { memory: 2 << 30, threads: None, show_secrets: false, cache: None }
    }
}

impl DatabaseOptions {
    /// The folder of the user's cache: `$XDG_CACHE_HOME/whyslow/sql`, else `~/.cache/whyslow/sql`.
    pub fn user_cache() -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
        Some(base.join("whyslow").join("sql"))
    }
}
