//! Parts that strangers made, or that broke: each costs itself, and is told.

use crate::generate::HOUR;
use crate::{copied, first_part, open, shared, whole};
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::SessionContext;
use std::path::Path;
use std::sync::Arc;
use whyslow_parts::{PartAbout, PartMinutes, PartName, PartReader, encode, join_batches, part_table};
use whyslow_query_engine::QueryLimits;
use whyslow_query_fleet::{Fleet, FleetFindings};

/// A Parquet file of other columns that says of itself what is given.
fn foreign(path: &Path, columns: Vec<(&str, ArrayRef)>, says: &[(&str, &str)]) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let pairs = says.iter().map(|(key, value)| KeyValue::new(key.to_string(), value.to_string())).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(pairs)).build();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

async fn sums(root: &Path) -> (String, Vec<String>) {
    let truth = shared().1;
    let fleet = open(root, whole(&truth));
    let sql = "SELECT count(*) AS n, sum(ns) AS ns, count(DISTINCT line) AS lines FROM accounts WHERE host <> 'web-00000'";
    let answer = fleet.ask(sql, QueryLimits::default()).await.unwrap();
    (crate::answers::csv(&answer), fleet.remarks())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_costs_itself_and_is_told() {
    let (place, _) = copied();
    let root = place.path();
    let (whole, none) = sums(root).await;
    assert!(none.is_empty(), "{none:?}");
    let hour = root.join("accounts/date=2026-11-26/hour=20");
    let numbers = || -> ArrayRef { Arc::new(Int64Array::from(vec![1, 2])) };
    let texts = || -> ArrayRef { Arc::new(StringArray::from(vec!["a", "b"])) };
    let part = |host: &str| hour.join(format!("host={host}/00-60.c1.stranger.parquet"));
    let ours = |version: &'static str| [("whyslow.table", "accounts"), ("whyslow.version", version)];
    foreign(
        &part("other-table"),
        vec![("host", texts())],
        &[("whyslow.table", "calls"), ("whyslow.version", "1.0")],
    );
    foreign(&part("newer"), vec![("host", texts())], &ours("2.0"));
    foreign(&part("no-columns"), vec![("host", texts())], &ours("1.0"));
    foreign(&part("none-of-ours"), vec![("host", texts())], &[]);
    foreign(&part("other-types"), vec![("host", numbers()), ("start", texts())], &ours("1.0"));
    std::fs::create_dir_all(hour.join("host=empty")).unwrap();
    std::fs::write(part("empty"), "").unwrap();
    std::fs::create_dir_all(hour.join("host=noise")).unwrap();
    std::fs::write(part("noise"), [0x50; 4096]).unwrap();
    std::fs::write(hour.join("host=noise/strange name.parquet"), "x").unwrap();
    // One of ours whose end is cut off.
    let cut = first_part(&hour.join("host=web-00000"));
    let bytes = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let (found, remarks) = sums(root).await;
    assert_eq!(found, whole);
    let told = remarks.join("\n");
    for says in [
        "host=other-table/00-60.c1.stranger.parquet: it is no part of table `accounts`: it says that it is one of `calls`",
        "host=newer/00-60.c1.stranger.parquet: its format is version 2.0",
        "host=no-columns/00-60.c1.stranger.parquet: it is no part of table `accounts`: it has no column",
        "host=none-of-ours/00-60.c1.stranger.parquet: it is no part of table `accounts`: no program of ours",
        "host=other-types/00-60.c1.stranger.parquet: it is no part of table `accounts`: its column `host` holds Int64",
        "host=empty/00-60.c1.stranger.parquet: it",
        "host=noise/00-60.c1.stranger.parquet: it is damaged",
        "strange name.parquet` is not the name of a part",
        "host=web-00000/",
    ] {
        assert!(told.contains(says), "{says}\n{told}");
    }
    assert_eq!(remarks.len(), 9, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_within_a_part_is_found_when_it_is_decoded() {
    let (place, truth) = copied();
    let root = place.path();
    let all = async || {
        let fleet = open(root, crate::whole(&truth));
        let sql = "SELECT count(*) AS n, sum(ns) AS ns, count(DISTINCT line) AS lines FROM accounts";
        let answer = fleet.ask(sql, QueryLimits::default()).await.unwrap();
        (crate::answers::csv(&answer), fleet.remarks())
    };
    let part = first_part(&root.join("accounts/date=2026-11-26/hour=21/host=web-00000"));
    let mut bytes = std::fs::read(&part).unwrap();
    std::fs::remove_file(&part).unwrap();
    let (without, none) = all().await;
    assert_eq!(none, Vec::<String>::new());
    // The bytes of its columns are others; its end is whole.
    let end =
        bytes.len() - 8 - u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    bytes[4..end].fill(0xA5);
    std::fs::write(&part, bytes).unwrap();
    let (found, remarks) = all().await;
    assert_eq!(found, without);
    assert!(
        matches!(&remarks[..], [one] if one.contains("host=web-00000/") && one.contains("damaged")),
        "{remarks:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_beside_its_sources_counts_once() {
    let (place, truth) = copied();
    let root = place.path();
    let (whole, _) = sums(root).await;
    // A source that compaction did not remove yet, and one uploaded again later: rows of minutes that the hour's part has.
    let part = first_part(&root.join("accounts/date=2026-11-26/hour=20/host=web-00004"));
    std::fs::copy(&part, part.with_file_name("00-30.c0.run00004.parquet")).unwrap();
    // All hosts' findings beside those of a host.
    let many = first_part(&root.join("findings/date=2026-11-26/hour=20/host=_many"));
    let one = root.join("findings/date=2026-11-26/hour=20/host=web-00001/00-60.c1.run00001.parquet");
    std::fs::create_dir_all(one.parent().unwrap()).unwrap();
    std::fs::copy(&many, &one).unwrap();
    let (found, remarks) = sums(root).await;
    assert_eq!((found, remarks), (whole, vec![]));
    let count = async |root: &Path| {
        let fleet = open(root, crate::whole(&truth));
        let all = FleetFindings::ask(&fleet, &[], None, false).await.unwrap();
        all.groups[0].host_minutes
    };
    assert_eq!(count(root).await, count(shared().0).await);
    assert!(truth.until - truth.from == 4 * HOUR);
}

/// Joins the minutes of a host's last hour, and removes them.
fn join(root: &Path, host: &str) {
    let table = part_table("accounts").unwrap();
    let (mut batches, mut minutes, mut last) = (Vec::new(), PartMinutes::default(), None);
    for entry in
        std::fs::read_dir(root.join(format!("accounts/date=2026-11-26/hour=23/host={host}"))).unwrap()
    {
        let path = entry.unwrap().path();
        let name: PartName = path.strip_prefix(root).unwrap().to_str().unwrap().parse().unwrap();
        let part = PartReader::open(table, std::fs::read(&path).unwrap().into()).unwrap();
        batches.extend(part.map(|batch| batch.unwrap()));
        minutes = minutes.with(name.minutes);
        last = Some(name);
        std::fs::remove_file(path).unwrap();
    }
    let name = PartName { minutes, level: 1, ..last.unwrap() };
    let rows = join_batches(table, &batches).unwrap();
    std::fs::write(root.join(name.path()), encode(table, &[rows], &PartAbout::new("test")).unwrap()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_that_are_joined_while_a_question_is_open_are_listed_anew() {
    let (place, truth) = copied();
    let root = place.path().to_str().unwrap();
    let span = crate::options(crate::whole(&truth));
    let own = Fleet::open(root, span.clone()).unwrap();
    let given = Fleet::open_on(SessionContext::new(), root, span).unwrap();
    let sql =
        "SELECT host, count(*) AS n, sum(ns) AS ns, max(start) AS last FROM accounts GROUP BY 1 ORDER BY 1";
    for (fleet, host) in [(&own, "web-00002"), (&given, "web-00003")] {
        let ask = async || {
            let answer = fleet.ask(sql, QueryLimits::default()).await.unwrap();
            crate::answers::csv(&answer)
        };
        let before = ask().await;
        join(place.path(), host);
        assert_eq!(ask().await, before);
        assert_eq!(fleet.remarks(), Vec::<String>::new());
    }
}
