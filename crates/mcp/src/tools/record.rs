//! The tool that records: only where the server was started with `--allow-record`.

use super::{Arguments, Desk, McpTool, ToolKind, of_fields};
use crate::answer::Draft;
use serde_json::{Map, json};
use std::ffi::OsString;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};
use whyslow_model::Timestamp;

/// A recording is so long where nothing else is asked for, seconds.
const USUAL: u64 = 10;
/// It is at most so long, seconds.
const LONGEST: u64 = 60;
/// It is at most so large.
const LARGEST: &str = "200M";

/// Records.
pub(super) static RECORD: McpTool = McpTool {
    name: "record",
    title: "Record a running program",
    about: "Records a running program for some seconds, with the rights and the bounds on cost of `whyslow record`, into a new recording in the first allowed directory; answers with its name, which the other tools take. It starts no program.",
    takes: || {
        json!({
            "pid": { "description": "The process; or `name`.", "type": "integer", "minimum": 1 },
            "name": { "description": "All processes of this name; or `pid`.", "type": "string" },
            "seconds": { "description": "How long; 10 where it is not given.", "type": "integer", "minimum": 1, "maximum": LONGEST },
        })
    },
    required: &[],
    answers: || {
        of_fields(
            "",
            json!({
                "recording": { "description": "Its name.", "type": "string" },
                "told": { "description": "What the recorder said, a line an entry.", "type": "array", "items": { "type": "string" } },
            }),
        )
    },
    kind: ToolKind::Record,
};

/// Records, and says where to.
pub(super) async fn run(desk: &Desk, arguments: &Arguments) -> Result<Draft, String> {
    let whom: OsString = match (arguments.number("pid")?, arguments.text("name")?) {
        (Some(pid), None) if u32::try_from(pid).is_ok_and(|pid| pid > 0) => format!("--pid={pid}").into(),
        (None, Some(name)) if !name.is_empty() => format!("--name={name}").into(),
        _ => return Err("give `pid` or `name`".to_string()),
    };
    let seconds = arguments.number("seconds")?.unwrap_or(USUAL);
    if !(1..=LONGEST).contains(&seconds) {
        return Err(format!("`seconds` is 1 to {LONGEST}"));
    }
    let Some(folder) = desk.roots.folders().first() else {
        return Err("no directory to record into".to_string());
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let when = Timestamp::new(now.as_nanos() as u64).date_and_time();
    let path = folder.join(format!("whyslow-{when}-{:03}.whyslow", now.subsec_millis()));
    let words: Vec<OsString> = vec![
        "record".into(),
        whom,
        format!("--duration={seconds}s").into(),
        format!("--max-size={LARGEST}").into(),
        "--output".into(),
        path.clone().into_os_string(),
    ];
    let said = desk.say(&words).await?;
    if !fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir()) {
        return Err(format!("nothing was recorded: {}", said.complaints));
    }
    let mut head = Map::new();
    head.insert("recording".into(), json!(path.display().to_string()));
    let items = said.complaints.lines().map(|line| json!(line)).collect();
    Ok(Draft { head, list: "told", items, left_out: Vec::new() })
}
