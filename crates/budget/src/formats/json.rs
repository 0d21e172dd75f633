//! All figures.

use crate::judge::BudgetReport;
use serde_json::json;

pub(super) fn write(report: &BudgetReport) -> String {
    let limits = report.limits.iter().map(|judged| {
        let limit = &judged.defined.limit;
        json!({
            "limit": limit.text,
            "what": limit.key.name,
            "per": limit.key.work,
            "comparison": limit.comparator.mark(),
            "amount": limit.amount,
            "unit": judged.quantity(),
            "outcome": judged.outcome,
            "value": judged.value,
            "at_least": judged.at_least,
            "mad": judged.mad,
            "runs": judged.runs,
            "reason": judged.reason,
            "next": judged.next,
            "note": judged.note,
            "why": judged.defined.why,
            "line": judged.defined.line,
        })
    });
    let whole = json!({
        "schema": "whyslow.budget/1",
        "budget": report.file,
        "outcome": report.outcome(),
        "summary": report.summary(),
        "runs": report.runs,
        "limits": limits.collect::<Vec<_>>(),
    });
    format!("{whole:#}\n")
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn what_is_unknown_is_null() {
        let text = super::write(&sample::report());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["outcome"], "broken");
        assert_eq!(json["limits"][1]["outcome"], "not-judged");
        assert!(json["limits"][1]["value"].is_null());
        assert_eq!(json["limits"][2]["unit"], "bytes");
    }
}
