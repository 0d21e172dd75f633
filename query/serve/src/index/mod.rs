//! An index over the calls of one recording, kept in memory: the time of each thread in each kind of call in equal parts of the whole, the
//! long calls one by one, and for each few thousand rows from when to when they are. It is made by one pass over a few columns, and gives
//! what it has meanwhile. With it a zoom reads the rows that it shows and no others.
//!
//! Memory is bounded whatever the length of the recording and the number of its threads.

mod kinds;
mod overview;
mod parts;
mod scan;
mod tiles;
mod window;

pub(crate) use window::Ask;

use self::parts::Block;
use self::tiles::Tiles;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use whyslow_store::PartFile;

/// A call that lasts this part of the whole is kept one by one: a thread has at most so many of them.
const LONG_PART: i64 = 1 << 10;
/// Long calls kept, 64 bytes each. Of further ones zooms show those that begin in view.
const MOST_LONG: usize = 2 << 20;
/// Objects of long calls told apart.
const MOST_OBJECTS: usize = 1 << 16;
/// Threads told apart; the time of further ones is in no row.
const MOST_THREADS: usize = 1 << 16;

/// A thread that made calls, or of which the recording tells.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) tid: u32,
    pub(crate) pid: Option<u32>,
    pub(crate) name: Option<String>,
    /// Its first call's start and its last call's end, ns; the first is behind the second where it made none.
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) calls: u64,
}

/// All calls of one name.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Kind {
    pub(crate) count: u64,
    pub(crate) failed: u64,
    pub(crate) ns: u64,
    pub(crate) longest: u64,
}

/// A long call.
#[derive(Clone, Copy, Debug)]
struct Long {
    start: i64,
    took: i64,
    seq: i64,
    thread: u32,
    /// Places in the names.
    call: u32,
    object: Option<u32>,
    error: Option<u32>,
    state: u8,
}

/// What is known so far.
struct Known {
    threads: Vec<Thread>,
    places: HashMap<u32, u32>,
    names: Names,
    /// By the place of their name.
    kinds: Vec<Kind>,
    tiles: Tiles,
    longs: Vec<Long>,
    /// Long calls for which there was no room, and calls of which no time is known.
    long_left_out: u64,
    without_time: u64,
    /// The blocks of the parts that were read.
    blocks: Vec<Vec<Block>>,
    rows: u64,
    damaged: Vec<String>,
}

/// Texts by number.
#[derive(Default)]
struct Names {
    texts: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
}

impl Names {
    fn place(&mut self, text: &str, most: usize) -> Option<u32> {
        if let Some(place) = self.places.get(text) {
            return Some(*place);
        }
        if self.texts.len() >= most {
            return None;
        }
        let place = self.texts.len() as u32;
        self.texts.push(text.into());
        self.places.insert(text.into(), place);
        Some(place)
    }

    fn text(&self, place: u32) -> &str {
        self.texts.get(place as usize).map_or("", |text| text)
    }
}

/// The index of one recording.
pub(crate) struct Index {
    dir: PathBuf,
    files: Vec<PartFile>,
    /// The first moment of the recording, and the last one as far as it is known before all is read, ns.
    origin: i64,
    end: i64,
    known: Mutex<Known>,
    bytes: u64,
    read: AtomicU64,
    finished: AtomicBool,
    stop: AtomicBool,
}

impl Index {
    /// Opens the recording: its head and the first of its parts. [`Index::build`] reads the rest.
    ///
    /// # Errors
    /// Why it cannot be indexed.
    pub(crate) fn open(dir: &Path) -> Result<Arc<Index>, String> {
        scan::open(dir).map(Arc::new)
    }

    /// Reads all parts. It is called once, from a thread that may be busy; two at a time are read.
    pub(crate) fn build(self: &Arc<Self>) {
        scan::build(self);
        self.finished.store(true, Ordering::Release);
    }

    /// The part of the bytes that was read, 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        if self.is_finished() {
            return 1.0;
        }
        (self.read.load(Ordering::Relaxed) as f64 / self.bytes.max(1) as f64).min(0.999)
    }

    /// All was read.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// Ends [`Index::build`] before its time.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn thread(&mut self, tid: u32) -> Option<u32> {
        if let Some(place) = self.places.get(&tid) {
            return Some(*place);
        }
        if self.threads.len() >= MOST_THREADS {
            return None;
        }
        let place = self.threads.len() as u32;
        let thread = Thread { tid, pid: None, name: None, first: i64::MAX, last: i64::MIN, calls: 0 };
        self.threads.push(thread);
        self.places.insert(tid, place);
        Some(place)
    }
}
