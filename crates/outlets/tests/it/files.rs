//! The rules for Prometheus and the dashboard for Grafana ask only for metrics that there are.

use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;
use whyslow_outlets::family_names;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Metrics of ours in a text, without names that rules record (`service:whyslow_…`).
fn metrics(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"(?:^|[^:a-zA-Z0-9_])(whyslow_[a-z0-9_]+)").expect("an expression");
    name.captures_iter(text).map(|found| found[1].to_string()).collect()
}

/// The values of the keys of that name, anywhere in it.
fn values<'a>(of: &'a serde_json::Value, key: &str, to: &mut Vec<&'a str>) {
    match of {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                to.extend(value.as_str().filter(|_| name == key));
                values(value, key, to);
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|value| values(value, key, to)),
        _ => {}
    }
}

#[test]
fn the_rules_ask_for_metrics_that_there_are() {
    let known: BTreeSet<String> = family_names().into_iter().collect();
    for name in ["prometheus/whyslow.rules.yml", "prometheus/whyslow.rules.test.yml"] {
        let asked = metrics(&file(name));
        assert!(asked.len() >= 10, "{name}: {asked:?}");
        let unknown: Vec<&String> = asked.difference(&known).collect();
        assert!(unknown.is_empty(), "{name} asks for {unknown:?}");
    }
    // Names that rules record are recorded.
    let rules = file("prometheus/whyslow.rules.yml");
    let recorded = Regex::new(r"[a-z_]+:whyslow_[a-z0-9_:]+").expect("an expression");
    for name in recorded.find_iter(&rules).map(|found| found.as_str()) {
        assert!(rules.contains(&format!("- record: {name}\n")), "{name}");
    }
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let dashboard: serde_json::Value = serde_json::from_str(&file("grafana/whyslow.json")).expect("JSON");
    let known: BTreeSet<String> = family_names().into_iter().collect();
    let mut asked = Vec::new();
    ["expr", "definition", "query"].iter().for_each(|key| values(&dashboard, key, &mut asked));
    let asked: BTreeSet<String> = asked.iter().flat_map(|text| metrics(text)).collect();
    let unknown: Vec<&String> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "it asks for {unknown:?}");
    for of in
        ["whyslow_account_seconds_total", "whyslow_findings_open", "whyslow_request_duration_seconds_bucket"]
    {
        assert!(asked.contains(of), "{of}");
    }
    // Panels have numbers of their own, and stand beside each other.
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len());
    let mut places = BTreeSet::new();
    for panel in panels {
        let of = |name: &str| panel["gridPos"][name].as_u64().expect("a number");
        assert!(of("x") + of("w") <= 24, "{panel}");
        for (x, y) in
            (of("x")..of("x") + of("w")).flat_map(|x| (of("y")..of("y") + of("h")).map(move |y| (x, y)))
        {
            assert!(places.insert((x, y)), "{} lies on another", panel["title"]);
        }
    }
}
