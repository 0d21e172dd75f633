//! The tools that answer with rows of a table: the account, requests, the path of waits.

use super::{Arguments, McpTool, ToolKind, entries, fields, files_argument};
use crate::answer::Draft;
use crate::shapes;
use serde_json::{Value, json};
use std::ffi::OsString;

/// Rows of what a command prints.
fn rows(table: &Value, _: &Arguments) -> Result<Draft, String> {
    let head = fields(table, &["view", "question", "total", "notes"]);
    Ok(Draft { head, list: "rows", items: entries(table, "rows"), left_out: Vec::new() })
}

/// `--name=VALUE`: what is given is never taken for an option of its own.
fn option(name: &str, value: impl std::fmt::Display) -> OsString {
    format!("--{name}={value}").into()
}

fn command(name: &str) -> Vec<OsString> {
    vec![name.into(), "--json".into()]
}

/// The account of time.
pub(super) static ACCOUNT: McpTool = McpTool {
    name: "account",
    title: "Account of time",
    about: "Where the time went, in rows that exclude each other and add up: who (threads of one role), state (user, run-queue, file, peer, lock, ...), call, object, time, share. Nothing is counted twice; what nothing tells is a row of its own.",
    takes: || {
        json!({
            "files": files_argument(),
            "by": { "description": "How rows are joined; row is the finest.", "enum": ["row", "thread", "state", "object", "request", "line"] },
        })
    },
    required: &["files"],
    answers: || shapes::answer("account", shapes::whole("account")),
    kind: ToolKind::Command {
        words: |arguments| {
            let mut words = command("account");
            words.extend(arguments.text("by")?.map(|by| option("by", by)));
            Ok(words)
        },
        inputs: &["files"],
        draft: rows,
    },
};

/// Requests.
pub(super) static REQUESTS: McpTool = McpTool {
    name: "requests",
    title: "Requests and their latency",
    about: "Requests that the program served or made: counts, failures, percentiles by endpoint, peer or thread; with `slowest` or `errors` one by one, each with its number, which the tool `waits` takes.",
    takes: || {
        json!({
            "files": files_argument(),
            "by": { "description": "How they are grouped.", "enum": ["endpoint", "peer", "thread"] },
            "match": { "description": "Only requests that hold this text: URI, host, command, SQL, peer, trace id.", "type": "string" },
            "slowest": { "description": "One by one, the slowest so many.", "type": "integer", "minimum": 1, "maximum": 1000 },
            "errors": { "description": "One by one, those that failed.", "type": "boolean" },
        })
    },
    required: &["files"],
    answers: || shapes::answer("requests", shapes::whole("requests")),
    kind: ToolKind::Command {
        words: |arguments| {
            let mut words = command("requests");
            words.extend(arguments.text("by")?.map(|by| option("by", by)));
            words.extend(arguments.text("match")?.map(|text| option("match", text)));
            words.extend(arguments.number("slowest")?.map(|number| option("slowest", number.clamp(1, 1000))));
            words.extend(arguments.flag("errors")?.then(|| "--errors".into()));
            Ok(words)
        },
        inputs: &["files"],
        draft: rows,
    },
};

/// The path of a request or thread.
pub(super) static WAITS: McpTool = McpTool {
    name: "waits",
    title: "Where the time of a request or thread went",
    about: "Follows the time of one request (its number from `requests`) or thread through those that it waited for, to who held it up. Without either: which cause costs which share over all. `without` estimates what would be left if something cost nothing.",
    takes: || {
        json!({
            "files": files_argument(),
            "request": { "description": "The request's number.", "type": "integer", "minimum": 1 },
            "thread": { "description": "The thread's number; not together with `request`.", "type": "integer", "minimum": 1 },
            "at": { "description": "Of the wait of that thread at this time of day: 10:00:03.", "type": "string" },
            "without": { "description": "What would cost nothing: lock, disk, peer, run-queue, or a part of a name.", "type": "string" },
        })
    },
    required: &["files"],
    answers: || shapes::answer("path", shapes::whole("path")),
    kind: ToolKind::Command {
        words: |arguments| {
            let mut words = command("path");
            let (request, thread) = (arguments.number("request")?, arguments.number("thread")?);
            let at = arguments.text("at")?;
            if request.is_some() && thread.is_some() || at.is_some() && thread.is_none() {
                return Err("give `request` alone, or `thread`, with `at` or without".to_string());
            }
            words.extend(request.map(|number| option("request", number)));
            words.extend(thread.map(|number| option("thread", number)));
            words.extend(at.map(|time| option("at", time)));
            words.extend(arguments.text("without")?.map(|what| option("without", what)));
            Ok(words)
        },
        inputs: &["files"],
        draft: rows,
    },
};
