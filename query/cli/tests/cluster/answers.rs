//! A cluster answers as one process does.

use crate::{Process, TestCluster, alone, executor, out, question, root};
use std::path::Path;

/// Questions whose answers have one order.
const SQL: [&str; 6] = [
    "SELECT service, state, count(*) AS n, sum(ns) AS ns FROM accounts GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT date, hour, host, count(*) AS n, max(start) AS last FROM agents GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "SELECT r.service, r.endpoint, sum(r.requests) AS requests, human(p99(CAST(r.longest_ns AS BIGINT))) AS slowest \
     FROM requests r JOIN (SELECT DISTINCT host FROM findings WHERE rule = 'fsync-per-write') f ON f.host = r.host \
     WHERE r.side = 'served' AND r.host < 'web-00002' GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT host, process, sum(ns) AS ns FROM accounts WHERE state = 'run-queue' AND host <> 'web-00001' \
     GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 7",
    "SELECT count(*) AS n FROM calls WHERE ns > (SELECT avg(ns) FROM calls) AND hour = 21",
    "SELECT host, version, row_number() OVER (PARTITION BY version ORDER BY host) AS at FROM \
     (SELECT DISTINCT host, version FROM agents) ORDER BY 1, 2",
];

#[test]
fn a_cluster_answers_as_one_process_does() {
    let _alone = alone();
    let cluster = TestCluster::start(2, &[]);
    let same = |words: &[&str]| {
        let [here, there] =
            [None, Some(cluster.at.as_str())].map(|cluster| out(&question(cluster, words).output().unwrap()));
        assert!(here.lines().count() > 1, "{words:?}: {here}");
        assert_eq!(here, there, "{words:?}");
    };
    for words in [
        &["findings"][..],
        &["findings", "--by", "host,rule", "--service", "ledger"],
        &["findings", "--open"],
        &["why", "ledger", "--at", "23:17"],
        &["why", "mailer", "--at", "21:10", "--host", "web-00002", "--host", "web-00003"],
        &["compare", "v1.8", "v1.9"],
        &["where", "fsync-per-write"],
        &["hosts"],
    ] {
        same(words);
    }
    for sql in SQL {
        same(&["ask", "--csv", sql]);
    }
    let output = question(Some(&cluster.at), &["hosts"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.starts_with("the cluster was asked about "), "{told}");
    for (sql, says) in [
        ("SELECT hosst FROM agents", "next: write host"),
        ("DROP TABLE agents", "only questions are answered"),
        ("SELECT 1 / (count(*) - count(*)) FROM agents", "ivide by zero"),
        ("EXPLAIN ANALYZE SELECT count(*) FROM agents", "next: ask without --cluster"),
    ] {
        let output = question(Some(&cluster.at), &["ask", sql]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(says), "{sql}: {error}");
    }
}

#[test]
fn an_executor_reads_its_own_root_and_nothing_else() {
    let _alone = alone();
    let other = tempfile::TempDir::new().unwrap();
    let mut cluster = TestCluster::start(0, &[]);
    let mut narrow = executor(&cluster.at, other.path(), &[]);
    narrow.says("for tasks");
    let output = question(Some(&cluster.at), &["hosts"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("and nothing else"), "{error}");
    assert!(Path::new("/etc/passwd").exists() && root().exists());
    drop(narrow);
    // The same question where the parts are.
    cluster.executors.push(executor(&cluster.at, root(), &[]));
    out(&question(Some(&cluster.at), &["hosts"]).output().unwrap());
    let nowhere = Process::start(&["executor", "--scheduler", &cluster.at, "--root", "/nowhere/at/all"]);
    assert!(nowhere.ended().contains("next: name a directory"));
}
