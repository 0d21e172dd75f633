//! The tools, a static list: what each takes, answers and asks.

mod arguments;
mod files;
mod findings;
mod record;
mod tables;

pub(crate) use arguments::Arguments;

use crate::answer::Draft;
use crate::ask::{self, Said};
use crate::cache::Cache;
use crate::roots::{Input, Roots};
use crate::{McpOptions, shapes};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Commands that run at once: each has two threads.
const AT_ONCE: usize = 2;

/// A tool.
pub(crate) struct McpTool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it is for: the model that asks reads it.
    pub(crate) about: &'static str,
    /// Its arguments, without the cursor.
    pub(crate) takes: fn() -> Value,
    /// Of these the ones that must be given.
    pub(crate) required: &'static [&'static str],
    /// The schema of its answer.
    pub(crate) answers: fn() -> Value,
    pub(crate) kind: ToolKind,
}

/// What a tool asks, and what it makes of the answer.
#[derive(Clone, Copy)]
pub(crate) enum ToolKind {
    /// Of what the server itself knows.
    Own(fn(&Desk, &Arguments) -> Result<Draft, String>),
    /// Of what a command prints about its inputs.
    Command {
        /// Its words but for the inputs.
        words: fn(&Arguments) -> Result<Vec<OsString>, String>,
        /// The arguments that name inputs.
        inputs: &'static [&'static str],
        /// What is answered.
        draft: fn(&Value, &Arguments) -> Result<Draft, String>,
    },
    /// Records.
    Record,
}

/// All tools. The last one is there only where recording is allowed.
pub(crate) static TOOLS: &[&McpTool] = &[
    &files::LIST,
    &findings::DIAGNOSE,
    &findings::FINDINGS,
    &findings::EVIDENCE,
    &tables::ACCOUNT,
    &tables::REQUESTS,
    &tables::WAITS,
    &findings::COMPARE,
    &files::EXPLAIN,
    &record::RECORD,
];

impl McpTool {
    /// True for a tool that changes something: it records.
    pub(crate) fn records(&self) -> bool {
        matches!(self.kind, ToolKind::Record)
    }

    /// The schema of its arguments.
    pub(crate) fn input(&self) -> Value {
        let mut takes = (self.takes)();
        if !self.records() {
            takes["cursor"] = json!({ "description": "`next_cursor` of the answer before: the next page.", "type": "string" });
        }
        json!({ "type": "object", "properties": takes, "required": self.required, "additionalProperties": false })
    }
}

/// The argument that names what is asked about.
pub(crate) fn files_argument() -> Value {
    json!({
        "description": "Recordings (NAME.whyslow) or captures (logs of strace, lsof, ltrace; profiles; access logs; tables of top, iostat and others) that are read together, as the tool `list` names them.",
        "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 16,
    })
}

/// What the tools work with.
pub(crate) struct Desk {
    pub(crate) options: McpOptions,
    pub(crate) roots: Roots,
    cache: Cache,
    turns: Semaphore,
}

impl Desk {
    pub(crate) fn new(options: McpOptions) -> Result<Desk, String> {
        let roots = Roots::new(&options.roots, options.max_input)?;
        Ok(Desk { options, roots, cache: Cache::default(), turns: Semaphore::new(AT_ONCE) })
    }

    /// The tools that are there.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &'static McpTool> {
        TOOLS.iter().copied().filter(|tool| !tool.records() || self.options.allow_record)
    }

    /// What a tool answers, and the stamps of what it read: another page is of the same answer only while these stay.
    pub(crate) async fn call(
        &self,
        tool: &McpTool,
        arguments: &Arguments,
    ) -> Result<(Draft, Vec<u64>), String> {
        match tool.kind {
            ToolKind::Own(answer) => Ok((answer(self, arguments)?, Vec::new())),
            ToolKind::Record => Ok((record::run(self, arguments).await?, Vec::new())),
            ToolKind::Command { words, inputs, draft } => {
                let mut words = words(arguments)?;
                let mut read = Vec::new();
                for name in inputs {
                    for file in arguments.texts(name)? {
                        read.push(self.roots.input(&file)?);
                    }
                }
                if read.is_empty() {
                    return Err(format!("`{}` names nothing", inputs.join("`, `")));
                }
                let is_diff = words.first().is_some_and(|word| word == "diff");
                for input in read.iter().filter(|_| is_diff) {
                    self.roots.check_beside(input)?;
                }
                words.extend(read.iter().map(|input| input.path.clone().into_os_string()));
                let stamps: Vec<u64> = read.iter().map(|input: &Input| input.stamp).collect();
                let document = self.document(words, &stamps).await?;
                Ok((draft(&document, arguments)?, stamps))
            }
        }
    }

    /// The JSON that a command prints.
    async fn document(&self, words: Vec<OsString>, stamps: &[u64]) -> Result<Arc<Value>, String> {
        let asked = (words, stamps.to_vec());
        if let Some(known) = self.cache.get(&asked) {
            return Ok(known);
        }
        let said = self.say(&asked.0).await?;
        let parsed = serde_json::from_slice(&said.output);
        let document: Arc<Value> =
            Arc::new(parsed.map_err(|error| format!("whyslow printed no JSON: {error}"))?);
        self.cache.put(asked, said.output.len(), &document);
        Ok(document)
    }

    /// Runs a command when it is its turn.
    pub(crate) async fn say(&self, words: &[OsString]) -> Result<Said, String> {
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        ask::ask(&self.options.program, words, self.options.time_limit).await
    }
}

/// The fields of a document that are in an answer as they are.
pub(crate) fn fields(of: &Value, names: &[&str]) -> Map<String, Value> {
    let found = names.iter().filter_map(|name| Some((name.to_string(), of.get(*name)?.clone())));
    found.collect()
}

/// The list of that name.
pub(crate) fn entries(of: &Value, name: &str) -> Vec<Value> {
    of.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Keeps the first `most` entries of a list; how many more there were.
pub(crate) fn first(of: &mut Value, most: usize) -> usize {
    let Some(all) = of.as_array_mut() else { return 0 };
    let more = all.len().saturating_sub(most);
    all.truncate(most);
    more
}

/// The schema of an answer with these fields.
pub(crate) fn of_fields(format: &str, fields: Value) -> Value {
    shapes::answer(format, shapes::object(fields))
}
