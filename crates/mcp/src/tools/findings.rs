//! The tools that answer with findings: the diagnosis, all findings in full, the evidence of one, and two runs side by side.

use super::{Arguments, McpTool, ToolKind, entries, fields, files_argument, first, of_fields};
use crate::answer::Draft;
use crate::shapes;
use serde_json::{Value, json};
use std::ffi::OsString;

/// Lines of evidence with each finding of a diagnosis; the tool `evidence` has all.
const EVIDENCE_LINES: usize = 3;
/// Rows of the account in a diagnosis; the tool `account` has all.
const ROWS: usize = 10;
/// Entries of other lists in a diagnosis.
const ENTRIES: usize = 10;

/// A severity, the least first.
const SEVERITIES: [&str; 4] = ["capture", "notice", "warning", "critical"];

fn diagnose(arguments: &Arguments) -> Result<Vec<OsString>, String> {
    let mut words: Vec<OsString> = vec!["diagnose".into(), "--json".into()];
    words.extend(arguments.number("pid")?.map(|pid| format!("--pid={pid}").into()));
    Ok(words)
}

fn takes() -> Value {
    json!({
        "files": files_argument(),
        "pid": { "description": "The process that is asked about, where captures hold several.", "type": "integer", "minimum": 1 },
    })
}

fn with(mut takes: Value, name: &str, schema: Value) -> Value {
    takes[name] = schema;
    takes
}

/// A finding with the number by which `evidence` knows it.
fn numbered() -> Value {
    shapes::object(json!({
        "number": { "description": "Its place in the diagnosis, from 1: the tool `evidence` takes it.", "type": "integer", "minimum": 1 },
        "finding": shapes::part("Finding"),
    }))
}

/// The findings with their numbers.
fn with_numbers(diagnosis: &Value) -> Vec<Value> {
    let found = entries(diagnosis, "findings").into_iter().zip(1u64..);
    found.map(|(finding, number)| json!({ "number": number, "finding": finding })).collect()
}

/// Why it is slow.
pub(super) static DIAGNOSE: McpTool = McpTool {
    name: "diagnose",
    title: "Diagnose a recording",
    about: "Says why a program is slow: the verdict in a sentence, findings with cause, fix, figures and first lines of evidence, and the largest rows of the account of time. A healthy program has no finding. `not_judged` names what this recording cannot answer.",
    takes,
    required: &["files"],
    answers: || {
        of_fields(
            "diagnosis",
            json!({
                "verdict": shapes::field("diagnosis", None, "verdict"),
                "context": { "description": "What belongs beside the verdict; empty where there is nothing to add.", "type": "string" },
                "target": shapes::part("Target"),
                "account": shapes::field("diagnosis", None, "account"),
                "not_judged": shapes::field("diagnosis", None, "not_judged"),
                "remaining": shapes::field("diagnosis", None, "remaining"),
                "findings": shapes::list("The findings, the most worthwhile first.", numbered()),
            }),
        )
    },
    kind: ToolKind::Command { words: diagnose, inputs: &["files"], draft: diagnosis },
};

fn diagnosis(document: &Value, _: &Arguments) -> Result<Draft, String> {
    let mut head = fields(document, &["verdict", "target", "account", "not_judged", "remaining"]);
    head.insert("context".into(), document.get("context").cloned().unwrap_or_else(|| json!("")));
    let mut left_out = Vec::new();
    if let Some(rows) = head.get_mut("account").and_then(|account| account.get_mut("rows")) {
        let more = first(rows, ROWS);
        left_out.extend(
            (more > 0).then(|| format!("{more} smaller rows of the account: the tool `account` has all")),
        );
    }
    if let Some(not_judged) = head.get_mut("not_judged") {
        let more = first(not_judged, ENTRIES);
        left_out.extend((more > 0).then(|| format!("{more} more rules that could not be judged")));
    }
    for list in ["processes", "followed", "sources", "notes"] {
        if let Some(list) = head.get_mut("target").and_then(|target| target.get_mut(list)) {
            first(list, ENTRIES);
        }
    }
    let mut items = with_numbers(document);
    let more: usize =
        items.iter_mut().map(|item| first(&mut item["finding"]["evidence"], EVIDENCE_LINES)).sum();
    left_out
        .extend((more > 0).then(|| format!("{more} more lines of evidence: the tool `evidence` has them")));
    Ok(Draft { head, list: "findings", items, left_out })
}

/// Findings in full.
pub(super) static FINDINGS: McpTool = McpTool {
    name: "findings",
    title: "Findings in full",
    about: "The findings of a recording in full, with all their evidence, of one rule or from a severity on.",
    takes: || {
        let takes =
            with(takes(), "rule", json!({ "description": "Only those of this rule.", "type": "string" }));
        with(takes, "severity", json!({ "description": "Only from this severity on.", "enum": SEVERITIES }))
    },
    required: &["files"],
    answers: || {
        of_fields(
            "diagnosis",
            json!({
                "verdict": shapes::field("diagnosis", None, "verdict"),
                "findings": shapes::list("The findings, the most worthwhile first.", numbered()),
            }),
        )
    },
    kind: ToolKind::Command { words: diagnose, inputs: &["files"], draft: findings },
};

fn findings(document: &Value, arguments: &Arguments) -> Result<Draft, String> {
    let rule = arguments.text("rule")?;
    let rank = |word: &str| SEVERITIES.iter().position(|known| *known == word);
    let least = match arguments.text("severity")? {
        Some(word) => rank(word).ok_or_else(|| format!("`severity` is one of {}", SEVERITIES.join(", ")))?,
        None => 0,
    };
    let is_asked = |item: &Value| {
        let text = |key: &str| item["finding"][key].as_str().unwrap_or_default();
        rule.is_none_or(|rule| text("id") == rule) && rank(text("severity")).unwrap_or(0) >= least
    };
    let items = with_numbers(document).into_iter().filter(is_asked).collect();
    Ok(Draft { head: fields(document, &["verdict"]), list: "findings", items, left_out: Vec::new() })
}

/// The evidence of one finding.
pub(super) static EVIDENCE: McpTool = McpTool {
    name: "evidence",
    title: "Evidence of a finding",
    about: "The raw lines and events that show one finding, with their places, the chain of who waits for whom, and the other places where the same cause shows. `finding` is its number in `diagnose`.",
    takes: || {
        with(
            takes(),
            "finding",
            json!({ "description": "The finding's number.", "type": "integer", "minimum": 1 }),
        )
    },
    required: &["files", "finding"],
    answers: || {
        let of = |name: &str| shapes::field("diagnosis", Some("Finding"), name);
        of_fields(
            "diagnosis",
            json!({
                "number": { "description": "Its place in the diagnosis, from 1.", "type": "integer", "minimum": 1 },
                "id": of("id"),
                "title": of("title"),
                "cause": of("cause"),
                "measurements": of("measurements"),
                "chain": of("chain"),
                "also": of("also"),
                "verify": of("verify"),
                "evidence": of("evidence"),
            }),
        )
    },
    kind: ToolKind::Command { words: diagnose, inputs: &["files"], draft: evidence },
};

fn evidence(document: &Value, arguments: &Arguments) -> Result<Draft, String> {
    let number = arguments.number("finding")?.unwrap_or_default();
    let all = entries(document, "findings");
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let Some(finding) = place.and_then(|place| all.get(place)) else {
        return Err(format!("there is no finding {number}: there are {}", all.len()));
    };
    let mut head = fields(finding, &["id", "title", "cause", "measurements", "chain", "verify"]);
    head.insert("number".into(), json!(number));
    head.insert("also".into(), finding.get("also").cloned().unwrap_or_else(|| json!([])));
    Ok(Draft { head, list: "evidence", items: entries(finding, "evidence"), left_out: Vec::new() })
}

/// Two runs.
pub(super) static COMPARE: McpTool = McpTool {
    name: "compare",
    title: "Compare two recordings",
    about: "Whether a change helped: findings that are gone, new and kept, and figures of both runs side by side, with what is within noise. Snapshots that lie beside a trace under its name (trace.lsof) are read with it.",
    takes: || {
        json!({
            "before": { "description": "The recording or capture before the change.", "type": "string" },
            "after": { "description": "The one after it.", "type": "string" },
        })
    },
    required: &["before", "after"],
    answers: || shapes::answer("diff", shapes::whole("diff")),
    kind: ToolKind::Command {
        words: |_| Ok(vec!["diff".into(), "--json".into()]),
        inputs: &["before", "after"],
        draft: |document, _| {
            if document.get("schema") != Some(&json!("whyslow.diff/1")) {
                return Err("these are profiles: this tool compares recordings and captures".to_string());
            }
            let Some(mut head) = document.as_object().cloned() else {
                return Err("no comparison".to_string());
            };
            head.remove("figures");
            Ok(Draft { head, list: "figures", items: entries(document, "figures"), left_out: Vec::new() })
        },
    },
};
