//! docs/schema: the JSON Schema of each machine format, from the types that are serialised where these have one, else from the lists
//! in [`tables`] and [`made`].

mod made;
mod tables;

use anyhow::{Result, bail};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use whyslow_schema::{JSON_FORMATS, JsonFormat};

/// Where they are kept.
const FOLDER: &str = "docs/schema";

/// The files, as they should be: path, text.
pub(crate) fn files() -> Result<Vec<(String, String)>> {
    let file = |format: &JsonFormat| {
        let schema = document(format);
        if let Err(error) = jsonschema::meta::validate(&schema) {
            bail!("{}: no JSON Schema: {error}", format.name);
        }
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        Ok((format!("{FOLDER}/{}.json", format.name), text))
    };
    JSON_FORMATS.iter().map(file).collect()
}

/// The schema of a format, with its head.
fn document(format: &JsonFormat) -> Value {
    let mut schema = match format.name {
        "diagnosis" => derived::<whyslow_model::Diagnosis>(),
        "diff" => derived::<whyslow_model::Diff>(),
        "profile-diff" => derived::<whyslow_profile::compare::Comparison>(),
        "profile" => whyslow_profile::views::json_schema(&mut generator()).to_value(),
        "doctor" => derived::<whyslow_record::doctor::Examination>(),
        "recording" => derived::<whyslow_store::Meta>(),
        "top" => made::top(generator()),
        "rules" => made::rules(),
        "rule" => made::rule(),
        "recover" => made::recover(),
        view => tables::of_view(view),
    };
    finish(&mut schema);
    if let Some(version) = format.version {
        schema["properties"]["schema"] =
            json!({ "description": "The name and version of this format.", "const": version });
    }
    let mut whole = Map::new();
    whole.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("$id".into(), json!(format.id()));
    whole.insert("title".into(), json!(format.title));
    whole.insert("$comment".into(), json!(format!("Written by: {}.", format.commands.join("; "))));
    if let Value::Object(fields) = schema {
        whole.extend(fields.into_iter().filter(|(key, _)| key != "$schema" && key != "title"));
    }
    Value::Object(whole)
}

/// Of what is written, not of what is read.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

fn derived<T: JsonSchema>() -> Value {
    generator().into_root_schema_for::<T>().to_value()
}

/// Closes each object against fields that are not listed, and says of each figure what its unit is.
fn finish(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(finish),
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                properties.iter_mut().for_each(|(key, property)| with_unit(key, property));
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            fields.values_mut().for_each(finish);
        }
        _ => {}
    }
}

/// The unit that the name of a field tells, beside it and in its description.
fn with_unit(key: &str, property: &mut Value) {
    let is = |unit: &str| key == unit || key.ends_with(&format!("_{unit}"));
    let by_name = ["ns", "bytes", "share"].into_iter().find(|unit| is(unit));
    let Value::Object(fields) = property else { return };
    let is_figure = fields.get("type").is_some_and(|kind| {
        let kinds = kind.to_string();
        kinds.contains("\"integer\"") || kinds.contains("\"number\"")
    });
    let unit = match (fields.get("x-unit").and_then(Value::as_str), by_name) {
        (Some(unit), _) => unit.to_string(),
        (None, Some(unit)) if is_figure => unit.to_string(),
        _ => return,
    };
    fields.insert("x-unit".into(), json!(unit));
    let told = match unit.as_str() {
        "ns" => "In ns.",
        "bytes" => "In bytes.",
        "share" => "0 to 1.",
        // The name says it.
        _ => return,
    };
    let about = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    let has = |word: &str| about.split(|c: char| !c.is_alphanumeric()).any(|known| known == word);
    let is_told = match unit.as_str() {
        "share" => about.contains("0 to 1"),
        unit => has(unit),
    };
    if !is_told {
        let about = format!("{about} {told}").trim().to_string();
        fields.insert("description".into(), json!(about));
    }
}
