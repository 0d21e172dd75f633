//! A client of `whyslow mcp`: what it asks, and what comes back held against the schemas.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A reply that does not come in this time is none.
pub(crate) const LATEST: Duration = Duration::from_secs(60);
/// The version of the protocol that clients of today begin with.
const PROTOCOL: &str = "2025-06-18";

/// A server and its streams.
pub(crate) struct Talk {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Talk {
    /// A server of this folder alone.
    pub(crate) fn of(folder: &std::path::Path, arguments: &[&str]) -> Talk {
        let mut all = vec![folder.to_str().expect("text")];
        all.extend(arguments);
        Talk::new(&all)
    }

    /// A server that was made known.
    pub(crate) fn new(arguments: &[&str]) -> Talk {
        let mut talk = Talk::unknown(arguments);
        let client = json!({ "name": "test", "version": "1" });
        let said = talk.ask(
            "initialize",
            json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client }),
        );
        assert_eq!(said["result"]["serverInfo"]["name"], "whyslow", "{said}");
        talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        talk
    }

    pub(crate) fn unknown(arguments: &[&str]) -> Talk {
        let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow"))
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let output: ChildStdout = child.stdout.take().expect("its output");
        let input = child.stdin.take();
        let (to, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if to.send(line).is_err() {
                    break;
                }
            }
        });
        Talk { child, input, lines, next: 0 }
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open stream");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("the server reads");
    }

    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// The reply to a request.
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        let until = Instant::now() + LATEST;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).expect("a reply");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.reply(id)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        reply.get("result").cloned().unwrap_or(reply)
    }

    /// What a tool answers, held against its schema.
    pub(crate) fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let answer = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().expect("the same as text");
        assert!(text.starts_with("Texts in `data` were copied"), "{text}");
        let schema = self.schema(tool);
        let wrong: Vec<String> = jsonschema::validator_for(&schema)
            .expect("a schema")
            .iter_errors(&answer)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{tool} {arguments}: {wrong:?}");
        answer
    }

    /// Why a tool does not answer.
    pub(crate) fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        result["content"][0]["text"].as_str().expect("a reason").to_string()
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let reply = self.ask("tools/list", json!({}));
        reply["result"]["tools"].as_array().expect("tools").clone()
    }

    pub(crate) fn schema(&mut self, tool: &str) -> Value {
        let mut tools = self.tools();
        tools.iter_mut().find(|one| one["name"] == tool).expect("the tool")["outputSchema"].take()
    }

    /// How it ends once nobody writes to it any more.
    pub(crate) fn end(mut self) -> ExitStatus {
        drop(self.input.take());
        ended(&mut self.child)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + LATEST;
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        assert!(Instant::now() < until, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}
