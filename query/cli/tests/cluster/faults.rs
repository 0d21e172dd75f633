//! What is killed, restarted and given up in the middle of a question.

use crate::{Asked, TestCluster, alone, executor, out, question, root, scheduler, until};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

/// Takes seconds: each row against all others of its state.
const LONG: &str = "SELECT a.state, count(*) AS n, sum(a.ns) AS ns FROM accounts a JOIN accounts b ON a.state = b.state \
     AND a.ns > b.ns GROUP BY 1 ORDER BY 1";

fn long() -> [&'static str; 9] {
    ["ask", "--csv", LONG, "--host", "web-00001", "--since", "2h", "--time", "300"]
}

/// What one process answers.
static EXPECTED: LazyLock<String> = LazyLock::new(|| out(&question(None, &long()).output().unwrap()));

/// Waits until an executor works.
fn busy(cluster: &TestCluster, at: usize) {
    let before = cluster.executors[at].cpu();
    until("an executor that works", || cluster.executors[at].cpu() > before + 0.5);
}

#[test]
fn a_question_outlives_an_executor_that_is_killed() {
    let _alone = alone();
    let expected = &*EXPECTED;
    let mut cluster = TestCluster::start(2, &[]);
    let asked = Asked::start(&cluster.at, &long());
    busy(&cluster, 0);
    cluster.executors[0].child.kill().unwrap();
    assert_eq!(&out(&asked.output()), expected);
    // Both go while it is asked, and another one comes.
    let mut asked = Asked::start(&cluster.at, &long());
    busy(&cluster, 1);
    cluster.executors[1].child.kill().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(asked.child().try_wait().unwrap().is_none(), "it waits");
    cluster.executors.push(executor(&cluster.at, root(), &[]));
    assert_eq!(&out(&asked.output()), expected);
}

#[test]
fn a_question_outlives_a_scheduler_that_is_restarted() {
    let _alone = alone();
    let expected = &*EXPECTED;
    let mut cluster = TestCluster::start(2, &[]);
    let asked = Asked::start(&cluster.at, &long());
    busy(&cluster, 0);
    cluster.scheduler.child.kill().unwrap();
    cluster.scheduler.child.wait().unwrap();
    for executor in &mut cluster.executors {
        executor.says("its tasks are given up");
    }
    let (again, at) = scheduler(&cluster.at, &[]);
    assert_eq!(at, cluster.at);
    cluster.scheduler = again;
    assert_eq!(&out(&asked.output()), expected);
    // The executors are there again, and free.
    out(&question(Some(&cluster.at), &["hosts"]).output().unwrap());
}

#[test]
fn a_question_that_is_given_up_leaves_no_work_behind() {
    let _alone = alone();
    let cluster = TestCluster::start(1, &[]);
    let mut asked = Asked::start(&cluster.at, &["ask", LONG]);
    busy(&cluster, 0);
    let pid = asked.child().id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = asked.output();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("interrupted"), "{error}");
    until("an executor that is idle", || {
        let before = cluster.executors[0].cpu();
        std::thread::sleep(Duration::from_secs(1));
        cluster.executors[0].cpu() - before < 0.3
    });
    // One that takes too long is given up too, and others are answered after it.
    let output = question(Some(&cluster.at), &["ask", LONG, "--time", "2"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("longer than 2 s"), "{error}");
    out(&question(Some(&cluster.at), &["hosts", "--time", "30"]).output().unwrap());
}
