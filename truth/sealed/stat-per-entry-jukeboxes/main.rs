// A jukebox: what is on a shelf, and what to play next.
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirEntry};
use std::hash::{Hash, Hasher};
use std::io;
use std::time::{Duration, Instant, SystemTime};

const LOOK: &str = "@{look}";

#[derive(Default)]
struct Shelf {
    albums: usize,
    tracks: usize,
    newest: Option<SystemTime>,
    next: Option<String>,
}

impl Shelf {
    #[inline(never)]
    fn @{fn}(&mut self, entries: &[DirEntry]) {
        for entry in entries {
            let Ok(state) = fs::symlink_metadata(entry.path()) else { continue };
            if state.is_dir() {
                self.albums += 1;
            } else {
                self.tracks += 1;
            }
            if LOOK == "newest" {
                self.newest = self.newest.max(state.modified().ok());
            }
        }
    }

    fn count(&mut self, entries: &[DirEntry]) {
        for entry in entries {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.albums += 1;
            } else {
                self.tracks += 1;
            }
        }
    }
}

fn visit(n: usize, culprit: &mut Duration) -> io::Result<Shelf> {
    let mut found = Shelf::default();
    let folder = format!("@{work}/@{collection}/shelf{}", n % @{shelves});
    let entries: Vec<DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    if LOOK == "listing" {
        found.count(&entries);
    } else {
        let from = Instant::now();
        found.@{fn}(&entries);
        if LOOK == "each" {
            *culprit += from.elapsed();
        }
    }
    let by_chance = |entry: &&DirEntry| {
        let mut key = DefaultHasher::new();
        (n, entry.file_name()).hash(&mut key);
        key.finish()
    };
    found.next = entries.iter().take(400).max_by_key(by_chance).map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(found)
}

fn main() -> io::Result<()> {
    let (mut units, mut albums, mut tracks) = (0, 0, 0);
    let (mut busy, mut culprit) = (Duration::ZERO, Duration::ZERO);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let found = visit(units, &mut culprit)?;
        albums += found.albums;
        tracks += found.tracks;
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(units as f64 / @{rate}).saturating_sub(began.elapsed()));
    }
    println!("{albums} albums {tracks} tracks");
    let (seconds, culprit) = (busy.as_secs_f64(), culprit.as_secs_f64());
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {seconds}, \"culprit\": {culprit}}}"))
}
