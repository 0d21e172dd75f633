//! Whatever is uploaded, repeated, joined and removed in whatever order, and wherever it is stopped: what is read of a
//! listing has each minute once.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use whyslow_parts::{Claims, PART_TABLES, PartHost, PartMinutes, PartName, UtcTime, choose, doubtful};

const HOUR: i64 = 1_795_748_400_000_000;

fn part(host: &str, id: &str, minute: u32) -> PartName {
    PartName::of_minute(PART_TABLES[0], host, UtcTime(HOUR + i64::from(minute) * 60_000_000), id).unwrap()
}

/// A store, and what was ever uploaded.
#[derive(Default)]
struct Store {
    parts: BTreeSet<PartName>,
    claims: BTreeMap<PartName, Claims>,
    uploaded: BTreeSet<(String, String, u32)>,
    joined: u32,
}

impl Store {
    fn claims(&self, name: &PartName) -> Claims {
        Claims::of(name).unwrap_or_else(|| self.claims[name].clone())
    }

    fn read(&self) -> Vec<PartName> {
        // Only what is doubtful has to be known.
        let asked = doubtful(&self.parts).into_iter();
        let known = asked.map(|name| (name.clone(), self.claims[name].clone())).collect();
        let choice = choose(&self.parts, &known);
        assert_eq!(choice.overlapping, []);
        assert_eq!(choice.read.len() + choice.covered.len(), self.parts.len());
        choice.read
    }

    /// Joins the parts of one run, or of all hosts.
    fn join(&mut self, sources: &[PartName], host: PartHost) {
        let Some(first) = sources.first().filter(|_| sources.len() > 1) else { return };
        let mut claims = Claims::default();
        sources.iter().for_each(|source| claims.add(&self.claims(source)));
        let level = sources.iter().map(|source| source.level).max().unwrap() + 1;
        let mut name = PartName { host, level, minutes: claims.minutes(), ..first.clone() };
        if name.host == PartHost::Many {
            self.joined += 1;
            name.id = format!("many{}", self.joined);
            self.claims.insert(name.clone(), claims);
        }
        self.parts.insert(name);
    }

    fn check(&self) {
        let mut seen = BTreeSet::new();
        for name in self.read() {
            for line in self.claims(&name).to_text().lines() {
                let words: Vec<&str> = line.split(' ').collect();
                let minutes: PartMinutes = words[0].parse().unwrap();
                for minute in 0..60 {
                    if minutes.has_all(PartMinutes::range(minute, minute + 1).unwrap()) {
                        let row = (words[2].to_string(), words[1].to_string(), minute);
                        assert!(seen.insert(row.clone()), "{row:?} is read twice");
                    }
                }
            }
        }
        assert_eq!(seen, self.uploaded);
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A part comes, or comes again.
    Upload { host: u8, run: u8, minute: u32 },
    /// The parts of one run are joined: those of a listing up to a minute.
    Join { host: u8, run: u8 },
    /// Parts of all hosts are joined: all, or some.
    JoinHosts { of: u8 },
    /// Some covered parts are removed.
    Remove { most: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..3, 0u8..2, 0u32..60).prop_map(|(host, run, minute)| Step::Upload { host, run, minute }),
        2 => (0u8..3, 0u8..2).prop_map(|(host, run)| Step::Join { host, run }),
        1 => (0u8..4).prop_map(|of| Step::JoinHosts { of }),
        2 => (0usize..20).prop_map(|most| Step::Remove { most }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn each_minute_is_read_once(steps in prop::collection::vec(step(), 1..120)) {
        let mut store = Store::default();
        for step in steps {
            match step {
                Step::Upload { host, run, minute } => {
                    let (host, id) = (format!("h{host}"), format!("run{run}"));
                    store.parts.insert(part(&host, &id, minute));
                    store.uploaded.insert((host, id, minute));
                }
                Step::Join { host, run } => {
                    let host = PartHost::One(format!("h{host}"));
                    let mut sources = store.read();
                    sources.retain(|name| name.host == host && name.id == format!("run{run}"));
                    store.join(&sources, host);
                }
                Step::JoinHosts { of } => {
                    let mut sources = store.read();
                    sources.retain(|name| of == 3 || name.host != PartHost::One(format!("h{of}")));
                    store.join(&sources, PartHost::Many);
                }
                Step::Remove { most } => {
                    let known = store.claims.clone();
                    let covered = choose(&store.parts, &known).covered;
                    for (name, _) in covered.into_iter().take(most) {
                        store.parts.remove(&name);
                    }
                }
            }
            store.check();
        }
    }
}

#[test]
fn two_who_join_at_once_are_no_harm() {
    let mut store = Store::default();
    let upload = |store: &mut Store, minute| {
        store.parts.insert(part("h", "run0", minute));
        store.uploaded.insert(("h".to_string(), "run0".to_string(), minute));
    };
    (0..30).for_each(|minute| upload(&mut store, minute));
    let seen_by_one = store.read();
    upload(&mut store, 30);
    let seen_by_other = store.read();
    store.join(&seen_by_other, PartHost::One("h".to_string()));
    store.join(&seen_by_one, PartHost::One("h".to_string()));
    store.check();
    assert_eq!(store.read().len(), 1);
}

#[test]
fn a_part_of_many_hosts_without_claims_covers_nothing() {
    let many = PartName { host: PartHost::Many, level: 2, ..part("h", "run0", 3) };
    let listing = [many.clone(), part("h", "run1", 3)];
    assert_eq!(doubtful(&listing), [&many]);
    assert_eq!(doubtful(&listing[..1]), Vec::<&PartName>::new());
    assert_eq!(choose(&listing, &BTreeMap::new()).read.len(), 2);
}

#[test]
fn parts_that_share_some_rows_are_told() {
    let with =
        |minutes: &str, level| PartName { minutes: minutes.parse().unwrap(), level, ..part("h", "run0", 0) };
    let listing = [with("00-20", 1), with("10-30", 1), with("00-05", 0)];
    let choice = choose(&listing, &BTreeMap::new());
    assert_eq!((choice.read.len(), choice.covered.len(), choice.overlapping.len()), (2, 1, 1));
}

#[test]
fn claims_come_back_from_their_text() {
    let mut claims = Claims::default();
    for (host, minute) in [("a b", 0), ("a b", 1), ("_x", 7), ("b", 59)] {
        claims.add(&Claims::of(&part(host, "run0", minute)).unwrap());
    }
    assert_eq!(claims.to_text(), "07-08 run0 %5Fx\n00-02 run0 a%20b\n59-60 run0 b\n");
    assert_eq!(Claims::parse(&claims.to_text()), Some(claims));
    for bad in ["", "00-01 run0", "00-01 run0 a b", "00-01 run0 a/b", "0-1 run0 a"] {
        assert_eq!(Claims::parse(bad), None, "{bad}");
    }
}
