//! Joining and removing, stopped anywhere, in a directory.

use crate::common::{HOUR, all_at_once, each_once, hour, part, rows_read, table};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;
use whyslow_depot::{CompactOptions, Depot, DepotOptions, RetainOptions, compact, retain, wait_for};
use whyslow_parts::{PartHost, PartHour, PartName, UtcTime};

fn store(dir: &std::path::Path) -> Depot {
    Depot::open(&dir.display().to_string(), &DepotOptions::default()).unwrap()
}

async fn fill(depot: &Depot, hosts: u32, minutes: u32) -> BTreeSet<PartName> {
    let mut names = BTreeSet::new();
    for of in ["calls", "agents"] {
        for host in 0..hosts {
            for minute in 0..minutes {
                let (name, bytes) = part(of, &format!("h{host}"), "run0", minute);
                depot.create(&name, bytes.into()).await.unwrap();
                names.insert(name);
            }
        }
    }
    names
}

async fn parts(depot: &Depot, of: &str) -> Vec<PartName> {
    depot.list(table(of), hour()).await.unwrap().parts.into_keys().collect()
}

#[test]
fn an_hour_becomes_one_part_a_host_and_small_tables_one_over_hosts() {
    let dir = tempfile::tempdir().unwrap();
    let depot = store(dir.path());
    wait_for(async {
        let names = fill(&depot, 3, 5).await;
        let first = compact(&depot, &all_at_once()).await.unwrap();
        assert_eq!(
            (first.joined, first.made, first.rows, first.removed, first.lingering),
            (30, 4, 30, 0, 30)
        );
        assert_eq!(
            rows_read(&depot).await.unwrap(),
            each_once(&names),
            "sources beside what they were joined to"
        );
        let second = compact(&depot, &all_at_once()).await.unwrap();
        assert_eq!((second.joined, second.removed), (0, 30));
        let calls: Vec<String> = parts(&depot, "calls").await.iter().map(PartName::path).collect();
        assert_eq!(calls[0], "calls/date=2026-11-27/hour=03/host=h0/00-05.c1.run0.parquet");
        assert_eq!(calls.len(), 3);
        let agents = parts(&depot, "agents").await;
        assert_eq!((agents.len(), &agents[0].host), (1, &PartHost::Many));
        assert_eq!(rows_read(&depot).await.unwrap(), each_once(&names));
        // A repeated upload of what is gone, and minutes that come late.
        let mut names = names;
        for (of, minute) in [("calls", 2), ("agents", 2), ("calls", 9), ("agents", 9)] {
            let (name, bytes) = part(of, "h1", "run0", minute);
            depot.create(&name, bytes.into()).await.unwrap();
            names.insert(name);
        }
        assert_eq!(rows_read(&depot).await.unwrap(), each_once(&names));
        for _ in 0..2 {
            compact(&depot, &all_at_once()).await.unwrap();
            assert_eq!(rows_read(&depot).await.unwrap(), each_once(&names));
        }
        assert_eq!((parts(&depot, "calls").await.len(), parts(&depot, "agents").await.len()), (3, 1));
    })
    .unwrap();
}

#[test]
fn an_hour_that_is_not_over_and_sources_that_are_young_stay() {
    let dir = tempfile::tempdir().unwrap();
    let depot = store(dir.path());
    wait_for(async {
        fill(&depot, 1, 3).await;
        let far = CompactOptions { grace: Duration::from_secs(1 << 40), ..all_at_once() };
        assert_eq!(compact(&depot, &far).await.unwrap().made, 0);
        let elsewhere = CompactOptions { hours: hour().plus(1)..hour().plus(9), ..all_at_once() };
        assert_eq!(compact(&depot, &elsewhere).await.unwrap().hours, 0);
        let dry = CompactOptions { dry: true, ..all_at_once() };
        assert_eq!(compact(&depot, &dry).await.unwrap().made, 2);
        assert_eq!(parts(&depot, "calls").await.len(), 3);
        let lingering = CompactOptions { linger: Duration::from_secs(900), ..all_at_once() };
        compact(&depot, &lingering).await.unwrap();
        let done = compact(&depot, &lingering).await.unwrap();
        assert_eq!((done.removed, done.lingering), (0, 6));
    })
    .unwrap();
}

#[test]
fn a_part_that_cannot_be_read_is_left_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let depot = store(dir.path());
    wait_for(async {
        let names = fill(&depot, 1, 4).await;
        let bad = names.iter().find(|name| name.table == "calls").unwrap();
        std::fs::write(dir.path().join(bad.path()), "PAR1").unwrap();
        let done = compact(&depot, &all_at_once()).await.unwrap();
        assert!(done.notes[0].starts_with(&bad.path()), "{:?}", done.notes);
        compact(&depot, &all_at_once()).await.unwrap();
        let left = parts(&depot, "calls").await;
        assert_eq!((left.len(), left.contains(bad)), (2, true));
    })
    .unwrap();
}

#[test]
fn what_is_old_goes_by_age_and_by_size() {
    let dir = tempfile::tempdir().unwrap();
    let depot = store(dir.path());
    wait_for(async {
        fill(&depot, 2, 3).await;
        let now = UtcTime::from(std::time::SystemTime::now()).0;
        let days = u32::try_from((now - HOUR).max(0) / 86_400_000_000).unwrap();
        let keep = RetainOptions { days: Some(days + 2), ..RetainOptions::default() };
        assert_eq!(retain(&depot, &keep).await.unwrap().removed, 0);
        let large = RetainOptions { most_bytes: Some(1 << 30), ..RetainOptions::default() };
        assert_eq!(retain(&depot, &large).await.unwrap().removed, 0);
        let dry = RetainOptions { most_bytes: Some(0), dry: true, ..RetainOptions::default() };
        assert_eq!(retain(&depot, &dry).await.unwrap().removed, 12);
        assert_eq!(parts(&depot, "calls").await.len(), 6);
        // The first in order of hour and table goes, until the rest is small enough.
        let all = retain(&depot, &large).await.unwrap().left_bytes;
        let less = RetainOptions { most_bytes: Some(all - 1), ..RetainOptions::default() };
        let done = retain(&depot, &less).await.unwrap();
        assert_eq!((done.removed, done.removed_bytes + done.left_bytes), (6, all));
        assert_eq!((parts(&depot, "agents").await.len(), parts(&depot, "calls").await.len()), (0, 6));
        assert_eq!(done.oldest_left.as_deref(), Some("date=2026-11-27/hour=03"));
    })
    .unwrap();
}

/// A store in the middle of whatever was stopped: some parts were joined, some sources are gone, some came again.
async fn disturb(depot: &Depot, names: &[PartName], seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for of in ["calls", "agents"] {
        let listing = depot.list(table(of), hour()).await.unwrap();
        let (choice, _) = depot.choose(&listing, &mut Vec::new()).await.unwrap();
        for (name, _) in choice.covered {
            if random.bool() {
                depot.remove(&[name]).await.unwrap();
            }
        }
    }
    for name in names {
        if random.u8(..4) == 0 {
            let PartHost::One(host) = &name.host else { continue };
            let (name, bytes) = part(name.table, host, &name.id, name.minutes.first().unwrap());
            depot.create(&name, bytes.into()).await.unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn stopped_anywhere_no_row_is_lost_or_read_twice(seeds in prop::collection::vec(any::<u64>(), 1..5)) {
        let dir = tempfile::tempdir().unwrap();
        let depot = store(dir.path());
        let end = wait_for(async {
            let mut names: Vec<PartName> = fill(&depot, 2, 4).await.into_iter().collect();
            for (round, seed) in seeds.iter().enumerate() {
                let lingers = seed % 2 == 0;
                let linger = if lingers { Duration::from_secs(900) } else { Duration::ZERO };
                compact(&depot, &CompactOptions { linger, ..all_at_once() }).await.unwrap();
                disturb(&depot, &names, *seed).await;
                let minute = 10 + u32::try_from(round).unwrap();
                let (name, bytes) = part(if lingers { "agents" } else { "calls" }, "h0", "run1", minute);
                depot.create(&name, bytes.into()).await.unwrap();
                names.push(name);
                assert_eq!(rows_read(&depot).await.unwrap(), each_once(&names));
            }
        });
        end.unwrap();
    }
}

#[test]
fn hours_of_the_last_days_reach_to_now() {
    let options = CompactOptions::last_days(2);
    let now = PartHour::of(UtcTime::from(std::time::SystemTime::now())).unwrap().0;
    assert!(options.hours.contains(&now) && options.hours.contains(&now.plus(-47)));
    assert!(!options.hours.contains(&now.plus(-49)) && !options.hours.contains(&now.plus(1)));
}
