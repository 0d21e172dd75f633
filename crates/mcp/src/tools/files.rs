//! The tools that ask no command: what may be read, and what a rule means.

use super::{Arguments, Desk, McpTool, ToolKind, of_fields};
use crate::answer::Draft;
use crate::shapes;
use serde_json::{Map, Value, json};
use whyslow_model::visible;

/// What may be read.
pub(super) static LIST: McpTool = McpTool {
    name: "list",
    title: "List recordings and captures",
    about: "Lists the recordings and files below the allowed directories, by name. Begin here to learn what the other tools can read.",
    takes: || json!({ "contains": { "description": "Only names that contain this text.", "type": "string" } }),
    required: &[],
    answers: || {
        let file = shapes::object(json!({
            "path": { "description": "Its name, as other tools take it.", "type": "string" },
            "kind": { "description": "A recording of whyslow, or a file: what a file holds is seen when it is read.", "enum": ["recording", "file"] },
            "bytes": { "description": "Its size, bytes.", "type": "integer", "minimum": 0 },
            "modified": { "description": "When it was changed, seconds since the epoch; null where that is unknown.", "type": ["integer", "null"] },
        }));
        of_fields(
            "",
            json!({
                "directories": { "description": "The allowed directories.", "type": "array", "items": { "type": "string" } },
                "files": shapes::list("Recordings and files, by name.", file),
            }),
        )
    },
    kind: ToolKind::Own(list),
};

fn list(desk: &Desk, arguments: &Arguments) -> Result<Draft, String> {
    let wanted = arguments.text("contains")?.unwrap_or_default();
    let (listed, cut) = desk.roots.list();
    let items = listed.iter().filter_map(|one| {
        let path = one.path.to_str()?;
        // Whose name would have to be shown in another way cannot be asked for.
        let is_plain = !path.chars().any(visible::acts);
        (is_plain && path.contains(wanted)).then(|| {
            let kind = if one.is_recording { "recording" } else { "file" };
            json!({ "path": path, "kind": kind, "bytes": one.bytes, "modified": one.modified })
        })
    });
    let mut head = Map::new();
    let folders: Vec<String> = desk.roots.folders().iter().map(|folder| visible::path(folder)).collect();
    head.insert("directories".into(), json!(folders));
    let left_out = if cut {
        vec!["Not all was looked at: the directories hold too many entries".to_string()]
    } else {
        Vec::new()
    };
    Ok(Draft { head, list: "files", items: items.collect(), left_out })
}

/// What a rule means.
pub(super) static EXPLAIN: McpTool = McpTool {
    name: "explain",
    title: "Explain a rule",
    about: "Explains a rule by the `id` of a finding: what it recognises, why it is slow, what to do instead, and when it is wrong.",
    takes: || json!({ "rule": { "description": "The `id` of a finding: tz-stat-storm.", "type": "string" } }),
    required: &["rule"],
    answers: || {
        of_fields(
            "rule",
            json!({
                "id": shapes::field("rule", None, "id"),
                "group": shapes::field("rule", None, "group"),
                "summary": shapes::field("rule", None, "summary"),
                "essay": shapes::list("The essay, Markdown, a paragraph an entry.", json!({ "type": "string" })),
            }),
        )
    },
    kind: ToolKind::Own(explain),
};

fn explain(desk: &Desk, arguments: &Arguments) -> Result<Draft, String> {
    let asked = arguments.text("rule")?.unwrap_or_default();
    let Some(rule) = desk.options.rules.iter().find(|rule| rule.id == asked) else {
        let shown: String = visible::line(asked).chars().take(60).collect();
        return Err(format!(
            "there is no rule `{shown}`; findings name theirs as `id`, and the resources list all"
        ));
    };
    let mut head = Map::new();
    for (key, text) in [("id", rule.id), ("group", rule.group), ("summary", rule.summary)] {
        head.insert(key.into(), json!(text));
    }
    let items: Vec<Value> = rule.essay.split("\n\n").map(|paragraph| json!(paragraph)).collect();
    Ok(Draft { head, list: "essay", items, left_out: Vec::new() })
}
