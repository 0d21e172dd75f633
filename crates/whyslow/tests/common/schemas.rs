//! What is printed for programs is held against its JSON Schema, which allows no field that it does not list.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;
use whyslow_facts::Facts;
use whyslow_model::Diagnosis;
use whyslow_report::{JSON, Style};
use whyslow_schema::JSON_FORMATS;
use whyslow_views::{Ask, PathAsk, RequestFilter, VIEWS, View};

/// Complaints that are told of one document.
const TOLD: usize = 5;

static VALIDATORS: LazyLock<HashMap<&str, Validator>> = LazyLock::new(|| {
    let made =
        |text: &str| jsonschema::validator_for(&serde_json::from_str(text).expect("JSON")).expect("a schema");
    JSON_FORMATS.iter().map(|format| (format.name, made(format.text))).collect()
});

/// What in a document is not as its schema says.
pub(crate) fn against(format: &str, document: &Value) -> Result<(), String> {
    let validator = VALIDATORS.get(format).ok_or_else(|| format!("no schema {format}"))?;
    let wrong = validator.iter_errors(document).take(TOLD);
    let wrong: Vec<String> =
        wrong.map(|error| format!("{format}{}: {error}", error.instance_path())).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A diagnosis as it is printed.
pub(crate) fn of_diagnosis(diagnosis: &Diagnosis) -> Result<(), String> {
    let mut out = Vec::new();
    JSON.diagnosis(diagnosis, &Style::default(), &mut out).map_err(|error| error.to_string())?;
    against("diagnosis", &serde_json::from_slice(&out).map_err(|error| error.to_string())?)
}

/// Each view of these facts, as it is printed where nothing more is asked.
pub(crate) fn of_plain_views(facts: &Facts) -> Result<(), String> {
    VIEWS.iter().try_for_each(|view| of_view(view, facts, &[Ask::default()]))
}

/// All tables of these facts, in all groupings, as they are printed.
pub(crate) fn of_views(facts: &Facts) -> Result<(), String> {
    for view in VIEWS {
        let mut asks = vec![Ask::default()];
        asks.extend(view.by.iter().map(|by| Ask {
            by: Some(by.to_string()),
            verbose: true,
            ..Ask::default()
        }));
        match view.name {
            "requests" => asks.push(Ask {
                requests: RequestFilter { slowest: Some(20), ..RequestFilter::default() },
                ..Ask::default()
            }),
            "path" => asks.extend((1..3).map(|number| Ask {
                path: PathAsk { request: Some(number), ..PathAsk::default() },
                ..Ask::default()
            })),
            _ => {}
        }
        of_view(view, facts, &asks)?;
    }
    Ok(())
}

fn of_view(view: &View, facts: &Facts, asks: &[Ask]) -> Result<(), String> {
    for ask in asks {
        // There may be no such request.
        let Ok(table) = view.of(facts, ask) else { continue };
        let mut out = Vec::new();
        JSON.table(&table, &Style::default(), &mut out).map_err(|error| error.to_string())?;
        against(view.name, &serde_json::from_slice(&out).map_err(|error| error.to_string())?)?;
    }
    Ok(())
}
