//! The list of tools in docs/MCP.md, from the tools themselves.

use crate::tools::TOOLS;
use serde_json::Value;
use std::fmt::Write as _;

/// The tools as a table in Markdown.
pub fn tools_page() -> String {
    let mut page = String::from("| tool | takes | answers with |\n|---|---|---|\n");
    for tool in TOOLS {
        let input = tool.input();
        let names =
            input.get("properties").and_then(Value::as_object).into_iter().flat_map(|fields| fields.keys());
        let takes: Vec<String> = names
            .filter(|name| *name != "cursor")
            .map(|name| match tool.required.contains(&name.as_str()) {
                true => format!("**{name}**"),
                false => name.clone(),
            })
            .collect();
        let only = if tool.records() { " Only with `--allow-record`." } else { "" };
        let _ = writeln!(
            page,
            "| `{}` | {} | {}{only} |",
            tool.name,
            takes.join(", "),
            tool.about.replace('|', "\\|")
        );
    }
    page
}
