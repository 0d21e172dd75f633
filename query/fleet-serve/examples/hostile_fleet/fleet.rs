//! A fleet of one host that writes markup into every text, for an hour: names of hosts, services, rules, endpoints, evidence.

use std::path::Path;
use whyslow_parts::{
    AccountRow, AgentRow, FindingRow, HostRow, MinuteRows, Observed, PartAbout, PartName, PartRow,
    RequestRow, UtcTime, encode,
};

/// Markup that says where it got through.
pub(crate) const EVIL: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}&amp;";
const MINUTE: i64 = 60_000_000;
/// 2026-11-26 23:00 UTC.
const BEGIN: i64 = (498_816 - 1) * 60 * MINUTE;

fn put<R: PartRow>(root: &Path, host: &str, start: i64, rows: &[R]) {
    let observed = Observed { host: host.to_string(), start: UtcTime(start), seconds: 60.0 };
    let mut all = MinuteRows::<R>::default();
    rows.iter().for_each(|row| all.push(&observed, row));
    let table = R::table();
    let name = PartName::of_minute(table, host, UtcTime(start), "run0").unwrap();
    let bytes = encode(table, &[all.finish().unwrap()], &PartAbout::new("hostile")).unwrap();
    let path = root.join(name.path());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Writes it.
pub(crate) fn hostile_fleet(root: &Path) {
    let evil = || EVIL.to_string();
    let some = || Some(EVIL.to_string());
    for minute in 0..60 {
        let start = BEGIN + minute * MINUTE;
        let account = |state: &str| AccountRow {
            service: evil(),
            version: some(),
            process: evil(),
            role: evil(),
            state: state.into(),
            call: some(),
            object: some(),
            line: some(),
            ns: 1_000_000_000,
            threads: 1,
        };
        put(root, EVIL, start, &[account("peer"), account("user"), account(EVIL)]);
        let request = RequestRow {
            service: evil(),
            version: some(),
            side: "served".into(),
            protocol: evil(),
            endpoint: evil(),
            peer: some(),
            requests: 100,
            failed: Some(1),
            ns: Some(1_000_000_000),
            p50_ns: Some(9_000_000),
            p90_ns: Some(20_000_000),
            p99_ns: Some(90_000_000),
            longest_ns: Some(200_000_000),
            buckets: None,
        };
        put(root, EVIL, start, &[request]);
        let figure = HostRow { resource: evil(), metric: evil(), value: 1.0, unit: evil() };
        put(root, EVIL, start, &[figure]);
        let evidence = serde_json::json!({
            "measurements": [{ "name": EVIL, "value": 1.5, "unit": EVIL }], "cause": EVIL, "fix": [EVIL], "lines": [EVIL], "saving": EVIL,
        });
        let finding = FindingRow {
            finding: evil(),
            rule: evil(),
            severity: evil(),
            confidence: Some(0.5),
            service: evil(),
            version: some(),
            process: some(),
            culprit: some(),
            line: some(),
            title: evil(),
            share: Some(0.4),
            state: if minute == 0 { "open" } else { "continues" }.into(),
            opened: UtcTime(BEGIN),
            last_seen: UtcTime(start),
            evidence: evidence.to_string(),
            dump: some(),
        };
        put(root, EVIL, start, &[finding]);
        let agent = AgentRow {
            version: evil(),
            kernel: evil(),
            mode: evil(),
            cpu_share: None,
            memory_bytes: None,
            events: None,
            lost: None,
            shed: some(),
            clock_skew_ns: None,
            parts_waiting: None,
        };
        put(root, EVIL, start, &[agent]);
    }
}
