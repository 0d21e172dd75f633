//! What each question answers about the fleet whose truth is known.

use crate::generate::{HOUR, MINUTE};
use crate::{open, shared, whole};
use std::collections::BTreeSet;
use whyslow_query_engine::{QueryAnswer, QueryError, QueryLimits};
use whyslow_query_fleet::{
    FleetAnswer, FleetCompare, FleetError, FleetFindings, FleetHosts, FleetSpan, FleetSpread, FleetWhy,
    GroupColumn, shown, why_span,
};

pub(crate) fn csv(answer: &QueryAnswer) -> String {
    datafusion::arrow::util::pretty::pretty_format_batches(&answer.batches).unwrap().to_string()
}

const BY: [GroupColumn; 3] = [GroupColumn::Rule, GroupColumn::Service, GroupColumn::Version];

#[tokio::test(flavor = "multi_thread")]
async fn findings_are_those_that_were_placed() {
    let (root, truth) = shared();
    let fleet = open(root, whole(&truth));
    let found = FleetFindings::ask(&fleet, &BY, None, false).await.unwrap();
    assert_eq!(found.hosts_reporting, truth.hosts);
    let group = |rule: &str| {
        let mut of = found.groups.iter().filter(|group| group.by["rule"].as_deref() == Some(rule));
        let one = of.next().unwrap_or_else(|| panic!("no {rule}"));
        assert!(of.next().is_none(), "{rule} twice");
        one
    };
    // The fault ended: its agents closed it on each of its hosts.
    let fault = group(truth.fault.rule);
    let n = truth.fault.hosts.len();
    assert_eq!((fault.hosts, fault.open, fault.closed, fault.unknown), (n, 0, n, 0));
    assert_eq!(fault.by["service"].as_deref(), Some(truth.fault.service));
    assert_eq!(fault.by["version"].as_deref(), Some(truth.old_version));
    assert!(fault.since.starts_with(&shown(truth.fault.from).replace(' ', "T")), "{}", fault.since);
    assert_eq!(fault.host_minutes, n as u64 * 40);
    assert!(fault.title.as_deref().is_some_and(|title| title.contains("fsyncs for 583 writes")));
    // The canary's continues.
    let canary = group(truth.canary.rule);
    let n = truth.canary.hosts.len();
    assert_eq!((canary.hosts, canary.open, canary.closed, canary.unknown), (n, n, 0, 0));
    assert_eq!(canary.by["version"].as_deref(), Some(truth.new_version));
    // One that was open before the span says so; a host that fell silent is not known.
    let always = group("runs-as-root");
    assert!(always.since < found.from, "{} {}", always.since, found.from);
    let rules: BTreeSet<&str> = found.groups.iter().filter_map(|group| group.by["rule"].as_deref()).collect();
    let placed = BTreeSet::from([truth.fault.rule, truth.canary.rule, "runs-as-root", "run-queue-delay"]);
    assert!(rules.is_subset(&placed), "{rules:?}");
    let text = found.text();
    // Those that continue on most hosts first; of as many, those that were on most.
    assert!(text.starts_with("runs-as-root of mailer of v1.8 continues on 4 of 12 hosts"), "{text}");
    let open_only = FleetFindings::ask(&fleet, &[], Some("checkout"), true).await.unwrap();
    assert_eq!((open_only.groups.len(), open_only.groups[0].open), (1, n));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_rule_found_something() {
    let (root, truth) = shared();
    let fleet = open(root, whole(&truth));
    let found = FleetSpread::ask(&fleet, truth.fault.rule, None).await.unwrap();
    let hosts: Vec<&String> = found.hosts.iter().map(|host| &host.host).collect();
    assert_eq!(hosts, truth.fault.hosts.iter().collect::<Vec<_>>());
    assert!(found.hosts.iter().all(|host| host.state == "closed" && host.minutes == 40));
    let none = FleetSpread::ask(&fleet, "no-such-rule", None).await.unwrap();
    assert!(none.hosts.is_empty() && none.text().starts_with("no-such-rule found nothing on 12 hosts"));
}

#[tokio::test(flavor = "multi_thread")]
async fn why_names_the_kind_of_time_and_the_hosts() {
    let (root, truth) = shared();
    let at = truth.fault.from + 12 * MINUTE;
    let fleet = open(root, why_span(at));
    let why = FleetWhy::ask(&fleet, truth.fault.service, at).await.unwrap();
    let first = &why.suspects[0];
    assert_eq!(
        (first.state.as_str(), first.object.as_deref()),
        (truth.fault.state, Some(truth.fault.object))
    );
    assert_eq!(first.against, "own");
    assert_eq!(first.hosts, truth.fault.hosts.len(), "{:?}", first.some_hosts);
    assert_eq!(first.some_hosts.iter().collect::<BTreeSet<_>>(), truth.fault.hosts.iter().collect());
    let factor = first.now_ns_per_second / first.usual_ns_per_second;
    assert!((factor / truth.fault.factor - 1.0).abs() < 0.3, "{factor}");
    assert_eq!(
        first.since.as_deref().map(|since| since[..16].replace('T', " ")),
        Some(shown(truth.fault.from))
    );
    assert_eq!(first.line.as_deref(), Some("XLogFlush"));
    // Nothing else was more than usual.
    assert_eq!(why.suspects.len(), 1, "{:?}", why.suspects);
    assert_eq!(why.findings[0].rule, truth.fault.rule);
    let requests = why.requests.as_ref().unwrap();
    assert!(requests.mean_ns > requests.usual_mean_ns, "{requests:?}");
    assert!(
        why.sentence.starts_with("ledger was waiting for /var/lib/postgresql/pg_wal/{n} in fdatasync"),
        "{}",
        why.sentence
    );
    assert!(why.sentence.contains("on 2 of 12 hosts, since "), "{}", why.sentence);
}

#[tokio::test(flavor = "multi_thread")]
async fn why_says_that_all_was_as_usual() {
    let (root, truth) = shared();
    let at = truth.from + 2 * HOUR + 20 * MINUTE;
    for service in ["ledger", "storefront", "mailer"] {
        let fleet = open(root, why_span(at));
        let why = FleetWhy::ask(&fleet, service, at).await.unwrap();
        assert!(why.suspects.is_empty(), "{service}: {:?}", why.suspects);
        assert!(why.sentence.contains("did as usual on 12 hosts"), "{}", why.sentence);
    }
    let fleet = open(root, why_span(at));
    let error = FleetWhy::ask(&fleet, "shop", at).await.expect_err("no such service").to_string();
    assert!(error.contains("shop did not run") && error.contains("ledger"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_told_apart_by_what_they_cost() {
    let (root, truth) = shared();
    let fleet = open(root, whole(&truth));
    let found = FleetCompare::ask(&fleet, truth.old_version, truth.new_version, None).await.unwrap();
    assert_eq!(found.services.len(), 1, "only one service ran in both");
    let service = &found.services[0];
    assert_eq!((service.service.as_str(), service.per, service.value_of), ("checkout", "request", "host"));
    assert_eq!(service.new_hosts, truth.canary.hosts.len());
    let more: Vec<_> = service
        .figures
        .iter()
        .filter(|figure| figure.verdict == "more" && figure.measure == "time")
        .collect();
    assert_eq!(more.len(), 1, "{more:?}");
    assert_eq!(more[0].object.as_deref(), Some(truth.canary.object));
    let factor = more[0].new / more[0].old;
    assert!((factor / truth.canary.factor - 1.0).abs() < 0.15, "{factor}");
    assert!(more[0].low.unwrap() > 0.0 && more[0].low < more[0].high);
    assert!(!service.figures.iter().any(|figure| figure.verdict == "less"), "{:?}", service.figures);
    assert!(found.text().contains("v1.9 takes 1."), "{}", found.text());
    let error = FleetCompare::ask(&fleet, "v1.8", "v7", None).await.expect_err("no v7").to_string();
    assert!(
        error.contains("no service ran both as v1.8 and as v7") && error.contains("checkout v1.9"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_host_of_each_version_is_too_little_to_tell_hosts_apart() {
    let (root, truth) = shared();
    let mut given = crate::options(whole(&truth));
    given.hosts = Some(truth.canary.hosts.iter().take(1).cloned().collect());
    let fleet = whyslow_query_fleet::Fleet::open(root.to_str().unwrap(), given).unwrap();
    let found = FleetCompare::ask(&fleet, truth.old_version, truth.new_version, None).await.unwrap();
    let service = &found.services[0];
    assert_eq!((service.value_of, service.same_time), ("ten minutes", false));
    assert!(found.text().contains("They did not run at the same time"), "{}", found.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_and_lossy_agents_are_told() {
    let (root, truth) = shared();
    let fleet = open(root, whole(&truth));
    let found = FleetHosts::ask(&fleet).await.unwrap();
    assert_eq!(found.hosts.len(), truth.hosts);
    let silent: Vec<&String> = found.hosts.iter().filter(|host| host.silent).map(|host| &host.host).collect();
    assert_eq!(silent, truth.silent.iter().collect::<Vec<_>>());
    let lossy: Vec<&str> =
        found.hosts.iter().filter(|host| host.lost > Some(0.01)).map(|host| host.host.as_str()).collect();
    assert_eq!(lossy, [truth.lossy.as_str()]);
    let lag = found.hosts[0].lag_seconds;
    assert!((lag - 25.0 * 60.0).abs() < 1.0, "{lag}");
    assert!(found.hosts.iter().filter(|host| !host.silent).all(|host| host.minutes == 240));
}

/// As stores of agents that upload are for most of an hour: what was told ends with the last one.
#[tokio::test(flavor = "multi_thread")]
async fn agents_that_send_hours_are_not_silent_within_one() {
    use crate::generate::{FleetPlan, generate};
    use whyslow_query_fleet::FleetServices;
    let plan = FleetPlan { hosts: 4, hours: 2, until: crate::UNTIL, loose: 0, seed: 3 };
    let place = tempfile::TempDir::new().unwrap();
    generate(&plan, place.path()).unwrap();
    let truth = plan.truth();
    let at = |minutes: i64| FleetSpan { from: truth.from, until: truth.until + minutes * MINUTE };
    let fleet = open(place.path(), at(40));
    let hosts = FleetHosts::ask(&fleet).await.unwrap();
    assert!(hosts.hosts.iter().all(|host| !host.silent), "{hosts:?}");
    let found = FleetFindings::ask(&fleet, &BY, None, true).await.unwrap();
    let canary =
        found.groups.iter().find(|group| group.by["rule"].as_deref() == Some(truth.canary.rule)).unwrap();
    assert_eq!(canary.open, truth.canary.hosts.len());
    let services = FleetServices::ask(&fleet).await.unwrap();
    assert_eq!(
        (services.from.as_str(), services.until.as_str()),
        ("2026-11-26T23:45:00Z", "2026-11-27T00:00:00Z")
    );
    assert_eq!(services.services.len(), 4);
    // The next hour did not come either.
    let fleet = open(place.path(), at(80));
    let hosts = FleetHosts::ask(&fleet).await.unwrap();
    assert!(hosts.hosts.iter().all(|host| host.silent), "{hosts:?}");
    let found = FleetFindings::ask(&fleet, &BY, None, true).await.unwrap();
    assert!(found.groups.is_empty(), "{:?}", found.groups);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_in_sql_read_what_they_need() {
    let (root, truth) = shared();
    let ask = async |sql: &str| {
        let fleet = open(root, whole(&truth));
        let answer =
            fleet.ask(sql, QueryLimits::default()).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        (csv(&answer), fleet.usage())
    };
    let (rows, all) = ask("SELECT count(*) AS n, count(DISTINCT host) AS hosts FROM agents").await;
    // The silent host lacks its last 25 minutes.
    assert!(rows.contains(&format!("| {} | {}    |", 12 * 240 - 25, 12)), "{rows}");
    // Three compacted hours, and a part a minute and host.
    assert_eq!(all.parts, 3 + 12 * 60 - 25);
    let (_, hour) = ask("SELECT count(*) FROM agents WHERE hour = 20 AND date = '2026-11-26'").await;
    assert_eq!(hour.parts, 1);
    let (_, time) = ask("SELECT count(*) FROM accounts WHERE start < '2026-11-26T21:00:00Z'").await;
    assert_eq!(time.parts, 12);
    let (rows, host) = ask("SELECT DISTINCT host FROM accounts WHERE host = 'web-00003' AND hour < 23").await;
    assert!(rows.contains("web-00003"), "{rows}");
    assert_eq!(host.parts, 3);
    let (_, one) =
        ask("SELECT count(*) FROM accounts WHERE host IN ('web-00003') AND service = 'ledger' AND hour = 21")
            .await;
    assert_eq!(one.parts, 1);
    // A small part is read whole, and once.
    assert_eq!(one.bytes_read, one.bytes_there, "{one:?}");
    let fleet = open(root, whole(&truth));
    for sql in ["DROP TABLE accounts", "COPY accounts TO 'x.csv'", "CREATE TABLE x AS SELECT 1", "SET a = 1"]
    {
        let answer = fleet.ask(sql, QueryLimits::default()).await;
        assert!(
            matches!(answer, Err(FleetError::Query(QueryError::NotAQuestion(_) | QueryError::Question(_)))),
            "{sql}"
        );
    }
    let error = fleet.ask("SELECT * FROM '/etc/passwd'", QueryLimits::default()).await.expect_err("a file");
    assert!(error.to_string().contains("there is no table"), "{error}");
    assert_eq!(fleet.usage().parts, 0, "nothing was listed for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_span_without_agents_says_so() {
    let (root, truth) = shared();
    let fleet = open(root, FleetSpan { from: truth.until + HOUR, until: truth.until + 2 * HOUR });
    for error in [
        FleetHosts::ask(&fleet).await.expect_err("none").to_string(),
        FleetFindings::ask(&fleet, &BY, None, false).await.expect_err("none").to_string(),
    ] {
        assert!(error.starts_with("no agent reported from 2026-11-27 01:00"), "{error}");
    }
}
