//! Table `findings`: what rules found, minute by minute.

part_table! {
    "findings": "A finding in a minute: it opens, continues and closes.",
    FindingRow, sorted by ["host", "service", "start", "finding"], over hosts: true;
    finding: String, Word, "The finding: the same over all its minutes.";
    rule: String, Word, "The rule.";
    severity: String, Word, "How grave it is.";
    confidence: Option<f64>, F64, "How often such a finding was right in trials: 0 to 1.";
    service: String, Word, "As in `accounts`.";
    version: Option<String>, Word, "As in `accounts`.";
    process: Option<String>, Word, "The process's name; unknown where the host as a whole is meant.";
    culprit: Option<String>, Word, "Who is to blame.";
    line: Option<String>, Word, "The line of the program's own code.";
    title: String, Word, "What was found, in a sentence.";
    share: Option<f64>, F64, "The share of the service's time that it explains: 0 to 1.";
    state: String, Word, "`open`, `continues` or `closed`.";
    opened: UtcTime, Time, "The begin of the first minute that has it.";
    last_seen: UtcTime, Time, "The begin of the last minute that has it.";
    evidence: String, Text, "What was measured, as JSON.";
    dump: Option<String>, Word, "Where a recording that was kept for it lies.";
}

use crate::value::UtcTime;
