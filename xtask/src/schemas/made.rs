//! Schemas of what is put together while it is written.

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use whyslow_model::walk::{HostResource, Taker};
use whyslow_model::{Metric, Trait};

/// `whyslow top --once --json`.
pub(super) fn top(mut generator: SchemaGenerator) -> Value {
    let _ = generator.subschema_for::<HostResource>();
    let taker = generator.subschema_for::<Taker>().to_value();
    let mut defs = generator.take_definitions(true);
    if let Some(resource) = defs.get_mut("HostResource") {
        resource["properties"]["who"] = json!({ "description": "Who takes most of it; null where nobody stands out.", "type": ["string", "null"] });
        if let Some(required) = resource["required"].as_array_mut() {
            required.push(json!("who"));
        }
    }
    defs.insert("Task".into(), task());
    json!({
        "type": "object",
        "properties": {
            "schema": {},
            "at": { "description": "When it was looked at, ns since the epoch.", "type": ["integer", "null"], "x-unit": "ns" },
            "over_ns": { "description": "The time that rates are over.", "type": ["integer", "null"], "minimum": 0 },
            "resources": { "description": "The resources of the host, saturated ones first.", "type": "array",
                "items": { "$ref": "#/$defs/HostResource" } },
            "load": { "description": "What the load average is made of.", "type": ["string", "null"] },
            "takers": { "description": "Who takes most or waits, the one that matters most first.", "type": "array", "items": taker },
            "processes": { "description": "All processes.", "type": "array", "items": { "$ref": "#/$defs/Task" } },
            "gaps": { "description": "What could not be looked at.", "type": "array", "items": {
                "type": "object",
                "properties": {
                    "source": { "description": "The source: a file, an interface of the kernel.", "type": "string" },
                    "missing": { "description": "What it would have told.", "type": "string" },
                    "why": { "description": "Why it did not.", "type": "string" },
                    "remedy": { "description": "What helps; empty where nothing does.", "type": "string" },
                },
                "required": ["source", "missing", "why", "remedy"],
            } },
            "own_cpu": { "description": "CPUs that top itself used.", "type": ["number", "null"], "minimum": 0 },
        },
        "required": ["schema", "at", "over_ns", "resources", "load", "takers", "processes", "gaps", "own_cpu"],
        "$defs": defs,
    })
}

/// A process or thread, with all figures that may be known of one.
fn task() -> Value {
    let mut properties = Map::new();
    properties
        .insert("pid".into(), json!({ "description": "The process.", "type": "integer", "minimum": 0 }));
    properties.insert(
        "tid".into(),
        json!({ "description": "The thread, of a thread.", "type": "integer", "minimum": 0 }),
    );
    for is in Trait::ALL {
        properties.insert(
            is.name().into(),
            json!({ "description": format!("Its {}.", is.name().replace('_', " ")), "type": "string" }),
        );
    }
    properties.insert(
        "program".into(),
        json!({ "description": "The script, class or archive that it runs, of a runtime.", "type": "string" }),
    );
    properties.insert(
        "sleeps_in".into(),
        json!({ "description": "What it sleeps in, by the kernel's name of it.", "type": "string" }),
    );
    properties.insert(
        "to_accept".into(),
        json!({ "description": "Connections that wait to be accepted by it.", "type": "integer", "minimum": 1 }),
    );
    properties.insert(
        "waits_for".into(),
        json!({
            "description": "What it waits for most.",
            "type": "object",
            "properties": {
                "what": { "description": "What.", "type": "string" },
                "share": { "description": "Seconds a second of one thread.", "type": "number", "minimum": 0 },
            },
            "required": ["what", "share"],
        }),
    );
    for metric in Metric::ALL {
        let unit = metric.unit();
        properties.insert(
            metric.name().into(),
            json!({ "description": metric.about(), "type": "number", "x-unit": unit.name() }),
        );
    }
    properties.insert(
        "listed_threads".into(),
        json!({ "description": "Its threads, where they were looked at.", "type": "array", "items": { "$ref": "#/$defs/Task" } }),
    );
    json!({
        "description": "A process or a thread. What is unknown is left out.",
        "type": "object",
        "properties": properties,
        "required": ["pid"],
    })
}

fn rule_fields() -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("id".into(), json!({ "description": "Its name, as findings have it.", "type": "string", "pattern": "^[a-z0-9-]+$" }));
    fields.insert("group".into(), json!({ "description": "What it is about.", "type": "string" }));
    fields.insert(
        "summary".into(),
        json!({ "description": "What it recognises, in one line.", "type": "string" }),
    );
    fields
}

/// `whyslow rule --json`.
pub(super) fn rules() -> Value {
    json!({
        "type": "array",
        "items": { "type": "object", "properties": rule_fields(), "required": ["id", "group", "summary"] },
    })
}

/// `whyslow rule ID --json`.
pub(super) fn rule() -> Value {
    let mut fields = rule_fields();
    fields.insert(
        "essay".into(),
        json!({ "description": "What it is, why it is slow, what to do instead, when it is wrong: Markdown.", "type": "string" }),
    );
    json!({ "type": "object", "properties": fields, "required": ["id", "group", "summary", "essay"] })
}

/// `whyslow recover --json`.
pub(super) fn recover() -> Value {
    json!({
        "type": "array",
        "items": {
            "description": "What one killed recorder left.",
            "type": "object",
            "properties": {
                "name": { "description": "Its name, as `whyslow recover` takes it.", "type": "string" },
                "path": { "description": "Its folder.", "type": "string" },
                "bytes": { "description": "Its size.", "type": "integer", "minimum": 0 },
                "pid": { "description": "The recorder.", "type": "integer", "minimum": 0 },
                "began": { "description": "When it began, seconds since the epoch.", "type": "integer", "minimum": 0 },
                "command": { "description": "Its command line.", "type": "array", "items": { "type": "string" } },
            },
            "required": ["name", "path", "bytes", "pid", "began", "command"],
        },
    })
}
