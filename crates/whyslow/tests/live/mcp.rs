//! The tool of `whyslow mcp` that records.

use crate::common::skipped;
use crate::mcp_client::Talk;
use serde_json::json;
use std::path::Path;
use std::process::Command;

#[test]
fn a_recording_is_made_where_that_is_allowed() {
    let place = tempfile::tempdir().expect("a folder");
    let mut talk = Talk::of(place.path(), &["--allow-record"]);
    let tool = talk.tools().into_iter().find(|tool| tool["name"] == "record").expect("the tool");
    assert_eq!(tool["annotations"]["readOnlyHint"], false);
    for wrong in [
        json!({}),
        json!({ "pid": 1, "name": "x" }),
        json!({ "pid": 1, "seconds": 3600 }),
        json!({ "name": "" }),
        json!({ "pid": 1, "cursor": "x" }),
    ] {
        talk.refusal("record", wrong);
    }
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a program");
    let result = talk.call("record", json!({ "pid": busy.id(), "seconds": 1 }));
    let _ = busy.kill();
    let _ = busy.wait();
    if result["isError"] == true {
        return skipped(format!("nothing can be recorded here: {}", result["content"][0]["text"]));
    }
    let name = result["structuredContent"]["data"]["recording"].as_str().expect("a name").to_string();
    assert!(Path::new(&name).starts_with(place.path().canonicalize().expect("a folder")), "{name}");
    let told = talk.answer("diagnose", json!({ "files": [name] }));
    assert_eq!(told["data"]["target"]["kind"], "recording", "{told}");
}
