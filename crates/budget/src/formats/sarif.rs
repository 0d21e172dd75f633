//! SARIF 2.1.0: a result for each limit that is broken. What is not judged is a notification of the run and no result: services show each
//! result as a defect, whatever its kind.

use crate::judge::{BudgetReport, JudgedLimit, LimitOutcome};
use serde_json::{Value, json};

pub(super) fn write(report: &BudgetReport) -> String {
    let broken: Vec<&JudgedLimit> =
        report.limits.iter().filter(|judged| judged.outcome == LimitOutcome::Broken).collect();
    let rule = |judged: &&JudgedLimit| {
        json!({
            "id": id(judged),
            "name": "BudgetLimit",
            "shortDescription": { "text": judged.defined.limit.text },
            "fullDescription": { "text": judged.defined.why.as_deref().unwrap_or("A limit of what one unit of work may take.") },
            "defaultConfiguration": { "level": "error" },
        })
    };
    let result = |(at, judged): (usize, &&JudgedLimit)| {
        json!({
            "ruleId": id(judged),
            "ruleIndex": at,
            "kind": "fail",
            "level": "error",
            "message": { "text": format!("{}: {}", judged.defined.limit.text, judged.sentence()) },
            "locations": [location(report, judged)],
            "partialFingerprints": { "budgetLimit/v1": judged.defined.limit.key.to_string() },
        })
    };
    let open =
        report.limits.iter().filter(|judged| judged.outcome == LimitOutcome::NotJudged).map(|judged| {
            json!({
                "level": "warning",
                "message": { "text": format!("{}: {}", judged.defined.limit.text, judged.sentence()) },
                "locations": [location(report, judged)],
            })
        });
    let whole = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "whyslow",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": broken.iter().map(rule).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": open.collect::<Vec<_>>(),
            }],
            "results": broken.iter().enumerate().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{whole:#}\n")
}

fn id(judged: &JudgedLimit) -> String {
    format!("budget/{}", judged.defined.limit.key)
}

fn location(report: &BudgetReport, judged: &JudgedLimit) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(&report.file) } });
    if let Some(line) = judged.defined.line {
        place["region"] = json!({ "startLine": line });
    }
    json!({ "physicalLocation": place })
}

/// A path as a reference (RFC 3986): all but unreserved characters and `/` are escaped.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn only_what_is_broken_is_a_result() {
        let text = super::write(&sample::report());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let run = &json["runs"][0];
        assert_eq!(run["results"].as_array().map(Vec::len), Some(1));
        assert_eq!(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
        assert_eq!(run["results"][0]["ruleId"], run["tool"]["driver"]["rules"][0]["id"]);
        assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn a_path_is_a_reference() {
        assert_eq!(super::uri("ci/my budget.toml"), "ci/my%20budget.toml");
    }
}
