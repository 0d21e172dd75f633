// Sorts parcels: each lorry's load is put onto lanes, but for what has a note.
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

struct Parcel {
    depot: u64,
    lane: u64,
    grams: u64,
}

struct Desk {
    notes: PathBuf,
    lanes: HashMap<u64, bool>,
    spent: Duration,
}

impl Desk {
    #[inline(never)]
    fn @{fn}(&self, name: &str) -> bool {
        self.notes.join(name).with_extension("note").exists()
    }

    fn held(&mut self, parcel: &Parcel, scanned: u128) -> bool {
        if "@{named}" == "scan" {
            return self.@{fn}(&format!("{}-{}", parcel.depot, scanned));
        }
        if let Some(known) = self.lanes.get(&parcel.lane) {
            return *known;
        }
        let found = self.@{fn}(&format!("lane-{}", parcel.lane));
        self.lanes.insert(parcel.lane, found);
        found
    }
}

fn unload(lorry: u64) -> Vec<Parcel> {
    let mut state = lorry * 7919 + 17;
    (0..@{parcels})
        .map(|_| {
            state = state * 48271 % 2147483647;
            Parcel { depot: state % 90, lane: state % 41, grams: state % 30000 }
        })
        .collect()
}

fn main() -> std::io::Result<()> {
    let mut desk = Desk { notes: Path::new("@{work}").join("@{notes}"), lanes: HashMap::new(), spent: Duration::ZERO };
    for late in 0..@{crawl} {
        desk.@{fn}(&format!("late-{late}"));
    }
    let mut loads: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut units, mut busy) = (0u64, Duration::ZERO);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let parcels = unload(units);
        let scanned = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let looking = Instant::now();
        let held: Vec<bool> = (0u128..).zip(&parcels).map(|(i, parcel)| desk.held(parcel, scanned + i)).collect();
        desk.spent += looking.elapsed();
        for (parcel, held) in parcels.iter().zip(held) {
            if !held {
                *loads.entry(parcel.lane).or_default() += parcel.grams;
            }
        }
        busy += start.elapsed();
        units += 1;
        due = (due + Duration::from_secs_f64(1.0 / @{rate} as f64)).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    std::fs::write(
        "@{report}",
        format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), desk.spent.as_secs_f64()),
    )
}
