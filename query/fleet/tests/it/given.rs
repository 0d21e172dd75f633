//! Who may ask: an engine that someone gives answers as our own does.

use crate::{options, shared, whole};
use datafusion::prelude::SessionContext;
use whyslow_query_engine::QueryLimits;
use whyslow_query_fleet::{Fleet, FleetAnswer, FleetCompare, FleetFindings, FleetWhy, GroupColumn, why_span};

/// Questions in SQL whose answers are the same wherever they are asked.
const SQL: &[&str] = &[
    "SELECT service, state, count(*) AS n, sum(ns) AS ns FROM accounts GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT date, hour, count(*) AS n FROM agents GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT host, max(start) AS last FROM agents GROUP BY host ORDER BY host",
    "SELECT rule, min(opened) AS since, count(DISTINCT host) AS hosts FROM findings GROUP BY rule ORDER BY rule",
];

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_someone_gives_answers_the_same() {
    let (root, truth) = shared();
    let root = root.to_str().unwrap();
    let own = Fleet::open(root, options(whole(&truth))).unwrap();
    let given = Fleet::open_on(SessionContext::new(), root, options(whole(&truth))).unwrap();
    assert!(given.is_given() && !own.is_given());
    for sql in SQL {
        let answers =
            [own.ask(sql, QueryLimits::default()).await, given.ask(sql, QueryLimits::default()).await];
        let [a, b] = answers.map(|answer| crate::answers::csv(&answer.unwrap()));
        assert_eq!(a, b, "{sql}");
    }
    let by = [GroupColumn::Rule, GroupColumn::Service];
    let [a, b] = [&own, &given].map(|fleet| FleetFindings::ask(fleet, &by, None, false));
    assert_eq!(a.await.unwrap().text(), b.await.unwrap().text());
    let [a, b] = [&own, &given].map(|fleet| FleetCompare::ask(fleet, "v1.8", "v1.9", None));
    assert_eq!(a.await.unwrap().text(), b.await.unwrap().text());
    let at = truth.fault.from + 600_000_000;
    let own = Fleet::open(root, options(why_span(at))).unwrap();
    let given = Fleet::open_on(SessionContext::new(), root, options(why_span(at))).unwrap();
    let [a, b] = [&own, &given].map(|fleet| FleetWhy::ask(fleet, "ledger", at));
    assert_eq!(a.await.unwrap().text(), b.await.unwrap().text());
}
