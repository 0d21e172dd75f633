//! Answers that are known: of a made-up recording, and of captures of the repository.

use crate::orders;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{Float64Type, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use whyslow_query_engine::{Database, DatabaseOptions, QueryError, QueryLimits};

/// A recording of so many orders, open.
pub(crate) async fn orders(count: u64) -> (TempDir, Database) {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("orders.whyslow");
    orders::write(&dir, count);
    let database = Database::open(&[dir], DatabaseOptions::default()).await.unwrap();
    (place, database)
}

/// The rows of an answer: cells separated by bars.
pub(crate) async fn rows(database: &Database, sql: &str) -> Vec<String> {
    let answer =
        database.query(sql, QueryLimits::default()).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let options = FormatOptions::default().with_null("-");
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap())
            .collect();
        for at in 0..batch.num_rows() {
            rows.push(
                columns.iter().map(|column| column.value(at).to_string()).collect::<Vec<_>>().join("|"),
            );
        }
    }
    rows
}

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../captures").join(name)
}

#[tokio::test]
async fn calls_have_their_path_and_their_name() {
    let (_place, database) = orders(40).await;
    assert_eq!(rows(&database, "SELECT count(*) FROM calls").await, ["400"]);
    let first = rows(
        &database,
        "SELECT recording, ts, dur, ended - ts, pid, tid, comm, syscall, class, errno, args, path FROM calls \
         WHERE syscall = 'stat' ORDER BY ts LIMIT 1",
    )
    .await;
    let wanted = "orders|1777629600000439000|6000|6000|4000|4001|worker-1|stat|file|ENOENT|\"/srv/orders/cache/0.json\", 0x7ffd|/srv/orders/cache/0.json";
    assert_eq!(first, [wanted]);
    let raw = rows(&database, "SELECT args FROM raw.syscalls WHERE syscall = 'fsync' LIMIT 1").await;
    assert_eq!(raw, ["5<{path}>"]);
    assert_eq!(rows(&database, "SELECT comm, threads FROM processes").await, ["orders|4"]);
}

#[tokio::test]
async fn functions_count_and_convert() {
    let (_place, database) = orders(4).await;
    let all = rows(
        &database,
        "SELECT ms(1500000), us(1500), seconds(2000000000), human(1200000), at(1777629600000000001), class_of('futex'), is_wait('poll'), \
         is_wait('stat'), frames_match('main;serve;write', '^ser'), frames_match('main;serve', '^erve'), frame('main;serve', 0), \
         frame('main;serve', -1), depth('main;serve')",
    )
    .await;
    let wanted = "1.5|1.5|2.0|1.20 ms|2026-05-01T10:00:00.000000001|sync|true|false|true|false|serve|main|2";
    assert_eq!(all, [wanted]);
    let spread = rows(
        &database,
        "SELECT p50(column1), p90(column1), p99(column1) FROM (VALUES (1), (2), (3), (4), (NULL), (100))",
    )
    .await;
    assert_eq!(spread, ["3|100|100"]);
}

#[tokio::test]
async fn stacks_are_searched() {
    let (_place, database) = orders(40).await;
    let found = rows(
        &database,
        "SELECT stack, site, place, count(*) FROM offcpu WHERE frames_match(stack, 'find_order') GROUP BY ALL ORDER BY 1",
    );
    let found = found.await;
    assert_eq!(found, ["main;serve;find_order;recv|find_order|db.c:88|40"]);
    let run = rows(&database, "SELECT site, count(*), min(comm) FROM samples GROUP BY site").await;
    assert_eq!(run, ["price|40|worker-1"]);
}

#[tokio::test]
async fn what_facts_say_is_there() {
    let (_place, database) = orders(400).await;
    let account = rows(&database, "SELECT sum(time) = max((SELECT time FROM verdict)) FROM account").await;
    assert_eq!(account, ["true"]);
    let endpoints =
        rows(&database, "SELECT side, endpoint, count FROM endpoints WHERE side = 'server'").await;
    assert_eq!(endpoints, ["server|GET /orders/{id}|400"]);
    assert_eq!(rows(&database, "SELECT count(*) > 0 FROM findings").await, ["true"]);
    let waits =
        rows(&database, "SELECT DISTINCT state, syscall FROM waits WHERE NOT for_work AND state = 'peer'")
            .await;
    assert_eq!(waits, ["peer|recvfrom"]);
}

#[tokio::test]
async fn several_recordings_are_one_database() {
    let place = TempDir::new().unwrap();
    for (name, count) in [("a", 4), ("b", 8)] {
        orders::write(&place.path().join(format!("{name}.whyslow")), count);
    }
    let database = Database::open(&[place.path().to_path_buf()], DatabaseOptions::default()).await.unwrap();
    let counts = rows(
        &database,
        "SELECT recording, count(*), min(comm) FROM calls GROUP BY recording ORDER BY recording",
    )
    .await;
    assert_eq!(counts, ["a|40|worker-1", "b|80|worker-1"]);
    let verdicts = rows(&database, "SELECT count(*) FROM verdict").await;
    assert_eq!(verdicts, ["2"]);
}

#[tokio::test]
async fn captures_are_asked_as_recordings_are() {
    let database = Database::open(&[capture("strace/redis.log")], DatabaseOptions::default()).await.unwrap();
    let answer =
        database.query("SELECT count(*), sum(dur) FROM calls", QueryLimits::default()).await.unwrap();
    let calls = answer.batches[0].column(0).as_primitive::<Int64Type>().value(0);
    let text = std::fs::read_to_string(capture("strace/redis.log")).unwrap();
    assert!(calls > 50 && calls <= text.lines().count() as i64, "{calls}");
    let share = database.query("SELECT sum(share) FROM account", QueryLimits::default()).await.unwrap();
    let share = share.batches[0].column(0).as_primitive::<Float64Type>().value(0);
    assert!((share - 1.0).abs() < 1e-6, "{share}");
}

#[tokio::test]
async fn every_table_and_every_macro_answers() {
    let (_place, database) = orders(8).await;
    let names: Vec<String> = database.tables().into_iter().map(|table| table.name).collect();
    let macros = database.macros().iter().map(|entry| entry.name.to_string());
    for name in names.into_iter().chain(macros) {
        let answer = database.query(&format!("SELECT * FROM {name}"), QueryLimits::default()).await;
        assert!(answer.is_ok(), "{name}: {}", answer.unwrap_err());
    }
    for table in database.tables() {
        assert!(!table.about.is_empty());
        for column in &table.columns {
            assert!(!column.about.is_empty(), "{}.{} says nothing", table.name, column.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold() {
    let (_place, database) = orders(40).await;
    let limits = QueryLimits { rows: 7, ..QueryLimits::default() };
    let answer = database.query("SELECT * FROM calls", limits).await.unwrap();
    assert_eq!((answer.rows(), answer.truncated), (7, true));
    let answer = database.query("SELECT * FROM calls LIMIT 7", limits).await.unwrap();
    assert_eq!((answer.rows(), answer.truncated), (7, false));
    let limits = QueryLimits { time: Duration::from_millis(300), ..QueryLimits::default() };
    let endless = "SELECT count(*) FROM calls a, calls b, calls c, calls d, calls e WHERE a.dur + b.dur + c.dur + d.dur = e.dur";
    assert!(matches!(database.query(endless, limits).await, Err(QueryError::TooLong(_))));
    // It goes on answering.
    assert_eq!(rows(&database, "SELECT 1").await, ["1"]);
}

#[tokio::test]
async fn little_memory_is_told() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    orders::write(&dir, 20_000);
    let database = Database::open(&[dir], DatabaseOptions { memory: 1 << 20, ..DatabaseOptions::default() })
        .await
        .unwrap();
    let answer = database
        .query(
            "SELECT args, count(DISTINCT ts) FROM calls GROUP BY args ORDER BY args",
            QueryLimits::default(),
        )
        .await;
    let error = answer.map(|answer| answer.rows()).unwrap_err();
    assert!(matches!(error, QueryError::TooLarge(_)), "{error}");
}
