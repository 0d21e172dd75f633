//! Questions and recordings of strangers: nothing is written, no file is opened by its name, nothing is damaged.

use crate::ask::{orders, rows};
use crate::orders;
use std::fs;
use tempfile::TempDir;
use whyslow_query_engine::{Database, DatabaseOptions, QueryError, QueryLimits};

#[tokio::test]
async fn only_questions_are_answered() {
    let (place, database) = orders(4).await;
    let out = place.path().join("out.csv");
    let statements = [
        format!("COPY (SELECT 1) TO '{}'", out.display()),
        format!("CREATE EXTERNAL TABLE x STORED AS PARQUET LOCATION '{}'", place.path().display()),
        "CREATE TABLE x AS SELECT 1".to_string(),
        "CREATE VIEW calls AS SELECT 1".to_string(),
        "DROP TABLE calls".to_string(),
        "DROP VIEW calls".to_string(),
        "INSERT INTO calls SELECT * FROM calls".to_string(),
        "DELETE FROM calls".to_string(),
        "UPDATE calls SET tid = 1".to_string(),
        "SET datafusion.execution.batch_size = 1".to_string(),
        "EXPLAIN ANALYZE DROP TABLE calls".to_string(),
        format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{}'", out.display()),
        "PREPARE x AS SELECT 1".to_string(),
        "SELECT 1; SELECT 2".to_string(),
        "SELECT * FROM '/etc/passwd'".to_string(),
        "SELECT * FROM \"/etc/passwd\"".to_string(),
        "SELECT * FROM read_csv('/etc/passwd')".to_string(),
        "SELECT * FROM 'file:///etc/passwd'".to_string(),
    ];
    for sql in statements {
        let answer = database.query(&sql, QueryLimits::default()).await;
        assert!(
            matches!(answer, Err(QueryError::NotAQuestion(_) | QueryError::Question(_))),
            "{sql}: {answer:?}"
        );
    }
    assert!(!out.exists());
    assert_eq!(rows(&database, "SELECT count(*) FROM calls").await, ["40"]);
    assert!(!rows(&database, "SHOW TABLES").await.is_empty());
    assert!(!rows(&database, "DESCRIBE calls").await.is_empty());
}

#[tokio::test]
async fn what_makes_much_of_little_is_not_there() {
    let (_place, database) = orders(4).await;
    for sql in [
        "SELECT repeat('x', 1000000000)",
        "SELECT lpad('x', 1000000000)",
        "SELECT rpad('x', 1000000000, 'y')",
        "SELECT array_repeat('x', 1000000000)",
        "SELECT array_resize([1], 1000000000)",
        "SELECT range(0, 1000000000)",
        "SELECT generate_series(0, 1000000000)",
        "SELECT count(*) FROM generate_series(0, 1000000000000)",
    ] {
        let answer = database.query(sql, QueryLimits::default()).await;
        assert!(matches!(answer, Err(QueryError::Question(_))), "{sql}: {answer:?}");
    }
}

#[tokio::test]
async fn mistakes_name_what_is_near() {
    let (_place, database) = orders(4).await;
    for (sql, says) in [
        ("SELECT durr FROM calls", "there is no column durr\nnext: write dur"),
        ("SELECT * FROM cals", "there is no table cals\nnext: ask for calls"),
        ("SELECT * FROM syscalls", "raw.syscalls"),
        ("SELEC 1", "this is no SQL: "),
        ("SELECT nope(1)", "nope"),
    ] {
        let error = database.query(sql, QueryLimits::default()).await.unwrap_err().to_string();
        assert!(error.contains(says), "{sql}: {error}");
    }
}

#[tokio::test]
async fn a_damaged_part_is_passed_over_and_told() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    orders::write(&dir, 40);
    let part = fs::read_dir(dir.join("syscalls")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&part, bytes).unwrap();
    std::os::unix::fs::symlink("/etc", dir.join("net")).unwrap();
    let database = Database::open(&[dir], DatabaseOptions::default()).await.unwrap();
    assert_eq!(rows(&database, "SELECT count(*) FROM calls").await, ["0"]);
    assert_eq!(rows(&database, "SELECT count(*) FROM net").await, ["0"]);
    assert_eq!(rows(&database, "SELECT count(*) FROM sched").await, ["120"]);
    let told = database.remarks().join("\n");
    assert!(told.contains("checksum") && told.contains("it is a link"), "{told}");
}

#[tokio::test]
async fn secrets_of_captures_are_replaced() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("x.st");
    let line =
        "100 10:00:00.000001 openat(AT_FDCWD, \"/srv/x?password=hunter2hunter2\", O_RDONLY) = 3 <0.000010>\n";
    fs::write(&file, line.repeat(3)).unwrap();
    let secret = "SELECT count(*) FROM calls WHERE path LIKE '%hunter2%' OR args LIKE '%hunter2%'";
    let database = Database::open(std::slice::from_ref(&file), DatabaseOptions::default()).await.unwrap();
    assert_eq!(rows(&database, secret).await, ["0"]);
    let open = DatabaseOptions { show_secrets: true, ..DatabaseOptions::default() };
    let database = Database::open(&[file], open).await.unwrap();
    assert_eq!(rows(&database, secret).await, ["3"]);
}

#[tokio::test]
async fn nothing_readable_is_told() {
    let place = TempDir::new().unwrap();
    let missing = place.path().join("missing.whyslow");
    let error = Database::open(&[missing], DatabaseOptions::default()).await.err().unwrap();
    assert!(matches!(error, QueryError::Nothing { .. }), "{error}");
}

#[tokio::test]
async fn computed_tables_are_kept_in_the_cache_of_the_user() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    orders::write(&dir, 40_000);
    let cache = place.path().join("cache").join("sql");
    let options = DatabaseOptions { cache: Some(cache.clone()), ..DatabaseOptions::default() };
    let sql = "SELECT rule, title, share FROM findings ORDER BY rank";
    let first = rows(&Database::open(std::slice::from_ref(&dir), options.clone()).await.unwrap(), sql).await;
    let kept: Vec<_> = fs::read_dir(&cache).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let again = rows(&Database::open(&[dir], options).await.unwrap(), sql).await;
    assert_eq!(first, again);
}
