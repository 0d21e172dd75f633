//! What views and their JSON tell of a fleet of which the truth is known.

use crate::fixture::{SPAN, Served, alone, shared};

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_leads_to_findings_services_and_hosts() {
    let _turn = alone().await;
    let (root, truth) = shared();
    let served = Served::new(root, "");
    let page = served.page(&format!("/?{SPAN}")).await;
    let link = format!(
        "/finding?rule={}&amp;service={}&amp;since=6h&amp;until=2026-11-27",
        truth.canary.rule, truth.canary.service
    );
    assert!(page.contains(&link), "{page}");
    assert!(page.contains("/service?name=ledger&amp;since=6h"), "{page}");
    assert!(page.contains("1 host is") && page.contains(&truth.silent[0]), "silent hosts");
    assert!(page.contains("loses") && page.contains(&truth.lossy), "lossy hosts");
    let hosts = served.page(&format!("/hosts?{SPAN}")).await;
    assert!((0..20).all(|at| hosts.contains(&format!("/host?name=web-{at:05}&amp;"))));
    // What ended is no finding that continues.
    assert!(!page.contains(&format!("rule={}", truth.fault.rule)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finding_has_its_history_and_whom_it_hits() {
    let _turn = alone().await;
    let (root, truth) = shared();
    let served = Served::new(root, "");
    let path = format!("finding?rule={}&service={}&{SPAN}", truth.fault.rule, truth.fault.service);
    let told = served.json(&format!("/api/fleet/{path}")).await;
    assert_eq!(told["schema"], "whyslow.fleet-finding/1");
    let radius = &told["radius"];
    assert_eq!(radius["hosts"], truth.fault.hosts.len());
    assert_eq!(radius["open"], 0);
    assert_eq!(radius["services"][truth.fault.service], truth.fault.hosts.len());
    // While it is there requests take longer: that of 40 minutes on these hosts, beside their other minutes.
    let mean = |of: &str| radius[of]["mean_ns"].as_f64().unwrap();
    assert!(mean("requests") > 1.3 * mean("other_requests"), "{radius}");
    let lives = told["lives"].as_array().unwrap();
    assert_eq!(lives.len(), truth.fault.hosts.len());
    assert!(lives.iter().all(|life| life["state"] == "closed" && life["minutes"] == 40), "{lives:?}");
    let slices = told["slices"].as_array().unwrap();
    let sum = |name: &str| slices.iter().map(|slice| slice[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        (sum("opened"), sum("closed")),
        (truth.fault.hosts.len() as u64, truth.fault.hosts.len() as u64)
    );
    assert!(slices.len() >= 8 && slices.len() <= 11, "5 minutes each: {}", slices.len());
    let page = served.page(&format!("/{path}")).await;
    for says in ["Whom it hits", "What to do instead", "fsyncs for 583 writes", "<svg", &truth.fault.hosts[0]]
    {
        assert!(page.contains(says), "{says}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_has_its_time_its_requests_and_its_hosts() {
    let _turn = alone().await;
    let (root, truth) = shared();
    let served = Served::new(root, "sample=8");
    let told = served.json(&format!("/api/fleet/service?name=checkout&{SPAN}")).await;
    assert_eq!(told["schema"], "whyslow.fleet-service/1");
    assert_eq!((&told["hosts_read"], told["step_seconds"].as_i64()), (&8.into(), Some(300)));
    // The one that is silent ran it within the span, and not at its end.
    assert_eq!(told["hosts"].as_array().unwrap().len(), 19);
    let account = told["account"].as_array().unwrap();
    assert_eq!(account.len(), 72);
    assert!(
        account
            .iter()
            .all(|slice| slice["states"]["peer"].as_f64().unwrap() > 0.0 && slice["seconds"] == 2400.0),
        "{account:?}"
    );
    assert!(account.iter().all(|slice| slice["states"].get("accept").is_none()));
    let requests = told["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 72);
    assert!(requests.iter().all(|slice| slice["p99_ns"].as_f64() > slice["p50_ns"].as_f64()));
    let canary =
        told["versions"].as_array().unwrap().iter().find(|version| version[0] == truth.new_version).unwrap();
    assert_eq!(canary[1], truth.canary.hosts.len());
    let page = served.page(&format!("/service?name=checkout&{SPAN}")).await;
    assert!(
        page.contains("8 of 19 hosts") && page.contains("class=\"s s-peer\"") && page.contains("POST /order"),
        "{page}"
    );
    let none = served.get(&format!("/service?name=nothing&{SPAN}")).await;
    assert_eq!(none.status(), 404);
    assert!(none.text().await.unwrap().contains("nothing did not run from"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_has_its_agent_its_findings_and_its_resources() {
    let _turn = alone().await;
    let (root, truth) = shared();
    let served = Served::new(root, "");
    let host = &truth.fault.hosts[0];
    let told = served.json(&format!("/api/fleet/host?name={host}&{SPAN}")).await;
    assert_eq!(told["schema"], "whyslow.fleet-host/1");
    assert_eq!(told["agent"]["minutes"], 360);
    let fault =
        told["findings"].as_array().unwrap().iter().find(|found| found["rule"] == truth.fault.rule).unwrap();
    assert_eq!(fault["state"], "closed");
    let services: Vec<&str> =
        told["services"].as_array().unwrap().iter().map(|of| of["service"].as_str().unwrap()).collect();
    assert!(services.contains(&"ledger") && services.contains(&"checkout"), "{services:?}");
    let figures = told["figures"].as_array().unwrap();
    assert!(
        !figures.is_empty() && figures.iter().all(|figure| figure["course"].as_array().unwrap().len() == 72)
    );
    let page = served.page(&format!("/host?name={host}&{SPAN}")).await;
    assert!(page.contains(truth.fault.rule) && page.contains("Resources of this host"));
    // Nobody may have a recording kept where no ring is named.
    assert!(!page.contains("action=\"/dump\""));
    let silent = served.json(&format!("/api/fleet/host?name={}&{SPAN}", truth.silent[0])).await;
    assert_eq!(silent["agent"]["silent"], true);
    assert_eq!(served.get(&format!("/api/fleet/host?name=nobody&{SPAN}")).await.status(), 404);
}

/// Twelve digits of each fraction: threads add them up in another order each time.
fn rounded(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) if number.is_f64() => {
            let text = format!("{:.11e}", number.as_f64().unwrap());
            *value = text.parse::<f64>().unwrap().into();
        }
        serde_json::Value::Array(all) => all.iter_mut().for_each(rounded),
        serde_json::Value::Object(all) => all.values_mut().for_each(rounded),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_those_of_the_command_line() {
    let _turn = alone().await;
    use whyslow_query_fleet::{Fleet, FleetFindings, FleetOptions, FleetSpan, GroupColumn};
    let (root, truth) = shared();
    let served = Served::new(root, "");
    let mut told = served.json(&format!("/api/fleet/findings?by=rule,service&{SPAN}")).await;
    let span = FleetSpan::parse("6h", Some("2026-11-27"), truth.until).unwrap();
    let options = FleetOptions {
        span,
        hosts: None,
        memory: 1 << 28,
        threads: Some(2),
        time: std::time::Duration::from_secs(60),
    };
    let fleet = Fleet::open(root.to_str().unwrap(), options).unwrap();
    let own =
        FleetFindings::ask(&fleet, &[GroupColumn::Rule, GroupColumn::Service], None, false).await.unwrap();
    let mut own = serde_json::to_value(&own).unwrap();
    for both in [&mut told, &mut own] {
        both.as_object_mut().unwrap().remove("read");
        rounded(both);
    }
    assert_eq!(told, own);
    for (path, schema) in [
        ("hosts?", "whyslow.fleet-hosts/1"),
        ("services?", "whyslow.fleet-services/1"),
        ("where?rule=fsync-per-write&", "whyslow.fleet-where/1"),
        ("why?service=ledger&at=22:40&", "whyslow.fleet-why/1"),
        ("compare?old=v1.8&new=v1.9&", "whyslow.fleet-compare/1"),
    ] {
        let told = served.json(&format!("/api/fleet/{path}{SPAN}")).await;
        assert_eq!(told["schema"], schema);
    }
    for page in [
        "/why?service=ledger&at=22:40&",
        "/versions?old=v1.8&new=v1.9&",
        "/why?",
        "/versions?",
        "/recordings?",
    ] {
        served.page(&format!("{page}{SPAN}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_question_is_told() {
    let _turn = alone().await;
    let (root, _) = shared();
    let served = Served::new(root, "");
    for (path, status, says) in [
        ("/?since=yesterday", 400, "no time"),
        ("/?since=400d", 400, "more than 31 days"),
        ("/hosts?until=2020-01-01", 404, "no agent reported"),
        ("/host", 400, "needs `name`"),
        ("/finding", 400, "needs `rule`"),
        ("/finding?rule=no-such-rule&until=2026-11-27", 404, "found nothing"),
        ("/why?service=ledger&at=soon", 400, "no time"),
        ("/nowhere", 404, "nothing at this address"),
        ("/r/7/", 404, "not there"),
    ] {
        let answer = served.get(path).await;
        assert_eq!(answer.status(), status, "{path}");
        let text = answer.text().await.unwrap();
        assert!(text.contains(says), "{path}: {text}");
    }
    for (path, status) in
        [("/api/fleet/nothing", 404), ("/api/fleet/findings?by=colour", 400), ("/api/fleet/host", 400)]
    {
        let answer = served.get(path).await;
        assert_eq!(answer.status(), status, "{path}");
        let said = crate::fixture::json_of(answer).await;
        assert!(said["error"].is_string());
    }
    let long = "x".repeat(5_000);
    assert_eq!(served.get(&format!("/host?name={long}")).await.status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_was_kept_has_its_page() {
    use whyslow_store::{Meta, WriteOptions, Writer};
    let (root, _) = shared();
    let served = Served::new(root, "");
    let folder = served.folder.path().join("kept/web-00003-2026-11-26-2240.whyslow");
    Writer::create(&folder, Meta { complete: true, ..Meta::default() }, WriteOptions::CONVERT)
        .unwrap()
        .finish()
        .unwrap();
    let page = served.page("/recordings").await;
    let at = page.find("href=\"/r/").unwrap() + 6;
    let to = page[at..].split('"').next().unwrap();
    assert!(page.contains("web-00003-2026-11-26-2240.whyslow"));
    let shell = served.get(to).await;
    assert_eq!(shell.status(), 200);
    let policy = shell.headers()["content-security-policy"].to_str().unwrap().to_string();
    assert!(policy.contains("script-src 'sha256-") && policy.contains("connect-src 'self'"), "{policy}");
    assert!(shell.text().await.unwrap().contains(&format!("data-source=\"/api{to}\"")));
    let status = served.json(&format!("/api{to}status")).await;
    assert_eq!(status["name"], "web-00003-2026-11-26-2240.whyslow");
    // Who is not logged in sees neither.
    let stranger = served.request(reqwest::Method::GET, &format!("/api{to}status")).send().await.unwrap();
    assert_eq!(stranger.status(), 401);
}
