//! Names that hosts wrote are text wherever they are shown.

use crate::fixture::Served;
use std::path::Path;
use whyslow_parts::{
    AccountRow, AgentRow, FindingRow, HostRow, MinuteRows, Observed, PartAbout, PartName, PartRow,
    RequestRow, UtcTime, encode,
};

/// Markup that says where it got through.
const EVIL: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}&amp;";
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

/// A host that writes markup into every text, for an hour.
fn fleet(root: &Path) {
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

#[tokio::test(flavor = "multi_thread")]
async fn names_of_hosts_are_never_markup() {
    let place = tempfile::tempdir().unwrap();
    fleet(place.path());
    let served = Served::new(place.path(), "");
    let span = "since=1h&until=2026-11-27";
    let name = crate::fixture::form(&[("x", EVIL)]).split_off(2);
    for path in [
        format!("/?{span}"),
        format!("/hosts?{span}"),
        format!("/host?name={name}&{span}"),
        format!("/service?name={name}&{span}"),
        format!("/finding?rule={name}&service={name}&{span}"),
        format!("/why?service={name}&at=23:30&{span}"),
        format!("/versions?old={name}&new={name}&{span}"),
    ] {
        let page = served.get(&path).await.text().await.unwrap();
        assert!(page.contains("&lt;script&gt;alert(1)"), "{path}: the name is shown: {page}");
        // Our own script is the only one, and stands in the head.
        assert_eq!(page.matches("<script").count(), 1, "{path}");
        assert!(page.contains("<script src=\"/script.js\" defer></script>"), "{path}");
        assert!(!page.contains("<img") && !page.contains('\u{202e}'), "{path}");
        for attribute in page.split("href=\"").skip(1) {
            let to = attribute.split('"').next().unwrap();
            assert!(to.starts_with('/') || to == "#main" || to == "data:,", "{path}: {to}");
            assert!(!to.contains('<') && !to.contains("%22><"), "{path}: {to}");
        }
    }
    // Addresses and refusals echo nothing either.
    for path in [
        format!("/nowhere/{name}"),
        format!("/?since={name}"),
        format!("/api/fleet/{name}"),
        format!("/login?next={name}"),
    ] {
        let answer = served.get(&path).await;
        let kind = answer.headers()["content-type"].to_str().unwrap().to_string();
        let text = answer.text().await.unwrap();
        assert!(
            kind.starts_with("application/json") || text.matches("<script").count() == 1,
            "{path}: {text}"
        );
    }
    let json = served.json(&format!("/api/fleet/host?name={name}&{span}")).await;
    assert_eq!(json["host"], EVIL, "programs get the name as it is");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_part_costs_itself_and_is_told() {
    let place = tempfile::tempdir().unwrap();
    fleet(place.path());
    let folder = place.path().join("agents/date=2026-11-26/hour=23/host=%3Cb%3E");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("12-13.c0.abc.parquet"), [0x50; 4096]).unwrap();
    let served = Served::new(place.path(), "");
    let page = served.page("/hosts?since=1h&until=2026-11-27").await;
    assert!(page.contains("1 part was left out of what was read"), "{page}");
    assert!(page.contains("it is damaged") && !page.contains("<b>"), "{page}");
}
