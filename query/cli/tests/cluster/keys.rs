//! Who may take part.

use crate::{Process, TestCluster, alone, fleet, out, question, scheduler};

#[test]
fn with_keys_those_who_have_them_take_part_and_nobody_else() {
    let _alone = alone();
    let place = tempfile::TempDir::new().unwrap();
    let folder = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    let (own, others) = (folder("own"), folder("others"));
    for keys in [&own, &others] {
        out(&fleet(&["cluster-keys", keys]).output().unwrap());
    }
    let with = ["--keys", own.as_str()];
    let cluster = TestCluster::start(2, &with);
    let sql = "SELECT service, count(*) AS n FROM accounts GROUP BY 1 ORDER BY 1";
    let ask = |keys: &[&str]| {
        let words = [&["ask", "--csv", sql, "--time", "20"][..], keys].concat();
        question(Some(&cluster.at), &words).output().unwrap()
    };
    assert_eq!(out(&ask(&with)), out(&question(None, &["ask", "--csv", sql]).output().unwrap()));
    for keys in [&[][..], &["--keys", others.as_str()]] {
        let output = ask(keys);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && output.stdout.is_empty(), "{keys:?}: {error}");
        assert!(error.contains("does not answer"), "{keys:?}: {error}");
    }
    // An executor of others is not let in.
    let root = crate::root().to_str().unwrap();
    let mut stranger =
        Process::start(&["executor", "--scheduler", &cluster.at, "--root", root, "--keys", &others]);
    stranger.says("waits for");
}

#[test]
fn without_keys_nothing_leaves_the_machine() {
    let _alone = alone();
    let root = crate::root().to_str().unwrap();
    for words in [
        &["scheduler", "--bind", "0.0.0.0:0"][..],
        &["executor", "--scheduler", "192.0.2.1:50050", "--root", root],
        &["executor", "--scheduler", "127.0.0.1:1", "--root", root, "--bind", "0.0.0.0:0"],
    ] {
        let said = Process::start(words).ended();
        assert!(said.contains("there are no keys") && said.contains("cluster-keys"), "{said}");
    }
    let output = question(Some("192.0.2.1:50050"), &["hosts"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("there are no keys"));
    let (here, at) = scheduler("[::1]:0", &[]);
    assert!(at.starts_with("[::1]:"));
    drop(here);
}
