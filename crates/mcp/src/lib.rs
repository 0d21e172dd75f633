//! The MCP server (Model Context Protocol, standard input and output): a program that helps people asks about recordings and
//! captures, and gets findings, account rows and evidence.
//!
//! Each question is answered by a command of `whyslow` in a process of its own, with `--json`: it is confined as for everybody, a
//! cancelled question is a killed process, and what the server hands on has the schemas of docs/schema. The server itself parses
//! nothing but that JSON.

mod answer;
mod ask;
mod cache;
mod page;
mod roots;
mod server;
mod shapes;
mod tools;

pub use page::tools_page;
pub use server::serve;

use std::path::PathBuf;
use std::time::Duration;

/// A rule, as the resources and the tool `explain` tell of it.
#[derive(Clone, Debug)]
pub struct RulePage {
    /// Its name.
    pub id: &'static str,
    /// What it is about.
    pub group: &'static str,
    /// What it recognises, in one line.
    pub summary: &'static str,
    /// What it is, why it is slow, what to do instead: Markdown.
    pub essay: String,
}

/// What a server is allowed, and how much it answers.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// The program that answers: `whyslow` itself.
    pub program: PathBuf,
    /// Its version.
    pub version: &'static str,
    /// Only files below these directories are read.
    pub roots: Vec<PathBuf>,
    /// An answer is at most so long, bytes of JSON.
    pub max_bytes: usize,
    /// A larger input is refused, bytes.
    pub max_input: u64,
    /// A question that takes longer is given up.
    pub time_limit: Duration,
    /// Whether the tool `record` is there.
    pub allow_record: bool,
    /// All rules.
    pub rules: Vec<RulePage>,
}

impl McpOptions {
    /// Less holds no finding, bytes.
    pub const LEAST_BYTES: usize = 4 << 10;
    /// More is no answer to a question, bytes.
    pub const MOST_BYTES: usize = 8 << 20;
    /// What an answer is where nothing else is asked for, bytes.
    pub const USUAL_BYTES: usize = 32 << 10;
    /// What is read where nothing else is asked for, bytes.
    pub const USUAL_INPUT: u64 = 4 << 30;
    /// How long a question may take where nothing else is asked for.
    pub const USUAL_TIME: Duration = Duration::from_secs(120);
}
