//! The pass over the recording that makes the index.

use super::kinds::{Named, Object};
use super::parts::{BLOCK, Block};
use super::tiles::Tiles;
use super::{Index, Kind, Known, LONG_PART, Long, MOST_LONG, MOST_OBJECTS, Names};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type};
use arrow_array::{
    Array, DictionaryArray, Int64Array, RecordBatch, StringArray, StringViewArray, UInt32Array,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use whyslow_store::{TableSpec, part_files, table};

/// What the pass reads.
const COLUMNS: [&str; 7] = ["seq", "ts", "dur", "tid", "pid", "syscall", "path"];
/// And of long calls.
const ERROR: &str = "errno";
/// Parts that are read side by side.
const WORKERS: usize = 2;
/// Damage that is told.
const MOST_TOLD: usize = 5;
/// Threads whose places are looked up without a hash.
const NEAR: usize = 1 << 10;

fn calls() -> Result<&'static TableSpec, String> {
    table("syscalls").ok_or_else(|| "there is no table of calls".to_string())
}

pub(super) fn open(dir: &Path) -> Result<Index, String> {
    let meta = whyslow_store::read_meta(dir).ok();
    let files = part_files(dir, calls()?)?;
    let bytes = files.iter().map(|file| file.bytes()).sum();
    let mut damaged = Vec::new();
    let mut range: Option<(i64, i64)> = None;
    // The first part that can be read tells when it began; the last one, when it ended.
    for file in files.iter().take(3).chain(files.last().filter(|_| files.len() > 3)) {
        match file.open() {
            Ok(part) => {
                let Some((low, high)) = part.range("ts") else { continue };
                range = Some(range.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
            }
            Err(reason) => damaged.push(reason),
        }
    }
    let stated = meta.as_ref().and_then(|meta| Some((meta.start? as i64, meta.end? as i64)));
    let (origin, last) = match (range, stated) {
        (Some((low, high)), Some((start, end))) if start <= high && end >= low => {
            (low.min(start), high.max(end))
        }
        (Some(range), _) => range,
        (None, Some(stated)) => stated,
        (None, None) => return Err(damaged.pop().unwrap_or_else(|| "it has no calls".to_string())),
    };
    let mut known = Known {
        threads: Vec::new(),
        places: HashMap::new(),
        names: Names::default(),
        kinds: Vec::new(),
        tiles: Tiles::new(origin, last - origin),
        longs: Vec::new(),
        long_left_out: 0,
        without_time: 0,
        blocks: vec![Vec::new(); files.len()],
        rows: 0,
        damaged: Vec::new(),
    };
    threads(dir, &mut known);
    Ok(Index {
        dir: dir.to_path_buf(),
        files,
        origin,
        end: last.max(origin + 1),
        known: Mutex::new(known),
        bytes,
        read: AtomicU64::new(0),
        finished: AtomicBool::new(false),
        stop: AtomicBool::new(false),
    })
}

/// The names of threads, as far as the recording tells.
fn threads(dir: &Path, known: &mut Known) {
    let Some(table) = table("threads") else { return };
    for file in part_files(dir, table).unwrap_or_default() {
        let Ok(rows) = file.open().and_then(|part| part.scan(&["pid", "tid", "comm"], None)) else {
            continue;
        };
        for batch in rows.map_while(Result::ok) {
            let numbers = |name| batch.column_by_name(name)?.as_primitive_opt::<UInt32Type>();
            let (Some(pids), tids) = (numbers("pid"), numbers("tid")) else { continue };
            let names = batch.column_by_name("comm");
            for row in 0..batch.num_rows() {
                let pid = pids.value(row);
                let tid = tids.filter(|tids| tids.is_valid(row)).map_or(pid, |tids| tids.value(row));
                let Some(place) = known.thread(tid) else { return };
                let thread = &mut known.threads[place as usize];
                thread.pid = Some(pid);
                let name = names.and_then(|names| text_at(names, row));
                if name.is_some() {
                    thread.name = name;
                }
            }
        }
    }
}

/// A text of a column of texts or words.
pub(super) fn text_at(column: &dyn Array, row: usize) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    if let Some(texts) = column.as_string_view_opt() {
        return Some(texts.value(row).to_string());
    }
    let words = column.as_dictionary_opt::<Int32Type>()?;
    let key = usize::try_from(words.keys().value(row)).ok()?;
    let values = words.values().as_string_opt::<i32>()?;
    (key < values.len()).then(|| values.value(key).to_string())
}

pub(super) fn build(index: &Arc<Index>) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= index.files.len() || index.stop.load(Ordering::Relaxed) {
                        return;
                    }
                    if let Err(reason) = part(index, at) {
                        let mut known = index.known();
                        if known.damaged.len() < MOST_TOLD {
                            known.damaged.push(reason);
                        }
                    }
                    index.read.fetch_add(index.files[at].bytes(), Ordering::Relaxed);
                }
            });
        }
    });
    let mut known = index.known();
    known.longs.sort_unstable_by_key(|long| (long.start, long.seq));
}

fn part(index: &Arc<Index>, at: usize) -> Result<(), String> {
    let part = index.files[at].open()?;
    let long = (index.end - index.origin) / LONG_PART;
    let mut columns = COLUMNS.to_vec();
    columns.push(ERROR);
    let mut blocks: Vec<Block> = Vec::with_capacity(part.rows() / BLOCK + 1);
    let mut row = 0;
    let mut done = Ok(());
    for batch in part.scan(&columns, None)? {
        let batch = match batch {
            Ok(batch) => batch,
            Err(reason) => {
                done = Err(reason);
                break;
            }
        };
        let Some(calls) = Calls::of(&batch) else {
            done = Err("it lacks a column".to_string());
            break;
        };
        let mut known = index.known();
        see(&mut known, &calls, index.origin, long.max(1), row, &mut blocks);
        row += batch.num_rows();
        known.rows += batch.num_rows() as u64;
    }
    index.known().blocks[at] = blocks;
    done
}

/// The columns of some calls.
pub(super) struct Calls<'a> {
    /// Absent where it was not asked for.
    seq: Option<&'a Int64Array>,
    pub(super) start: &'a Int64Array,
    pub(super) took: &'a Int64Array,
    pub(super) tid: &'a UInt32Array,
    pub(super) pid: Option<&'a UInt32Array>,
    words: &'a DictionaryArray<Int32Type>,
    names: &'a StringArray,
    pub(super) path: Option<&'a StringViewArray>,
    pub(super) error: Option<&'a dyn Array>,
    pub(super) named: Vec<Named>,
}

impl<'a> Calls<'a> {
    pub(super) fn of(batch: &'a RecordBatch) -> Option<Calls<'a>> {
        let words = batch.column_by_name("syscall")?.as_dictionary_opt::<Int32Type>()?;
        let names = words.values().as_string_opt::<i32>()?;
        Some(Calls {
            seq: batch.column_by_name("seq").and_then(|seq| seq.as_primitive_opt::<Int64Type>()),
            start: batch.column_by_name("ts")?.as_primitive_opt::<Int64Type>()?,
            took: batch.column_by_name("dur")?.as_primitive_opt::<Int64Type>()?,
            tid: batch.column_by_name("tid")?.as_primitive_opt::<UInt32Type>()?,
            pid: batch.column_by_name("pid").and_then(|pid| pid.as_primitive_opt::<UInt32Type>()),
            words,
            names,
            path: batch.column_by_name("path").and_then(|path| path.as_string_view_opt()),
            error: batch.column_by_name(ERROR).map(|error| error.as_ref()),
            named: names.iter().map(|name| Named::of(name.unwrap_or_default())).collect(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.tid.len()
    }

    /// The number of the call's event; 0 where it was not asked for.
    #[inline]
    pub(super) fn seq(&self, row: usize) -> i64 {
        self.seq.map_or(0, |seq| seq.value(row))
    }

    /// The place of the call's name among the batch's words.
    #[inline]
    pub(super) fn word(&self, row: usize) -> usize {
        (self.words.keys().value(row).max(0) as usize).min(self.named.len().saturating_sub(1))
    }

    /// The name at such a place.
    pub(super) fn name(&self, word: usize) -> &str {
        if word < self.names.len() { self.names.value(word) } else { "" }
    }

    #[inline]
    pub(super) fn state(&self, row: usize, took: i64) -> u8 {
        let object = match self.path {
            Some(path) if path.is_valid(row) => Object::of(path.value(row)),
            _ => Object::Unknown,
        };
        self.named.get(self.word(row)).map_or(super::kinds::IN_CALL, |named| named.state(object, took))
    }
}

fn see(
    known: &mut Known,
    calls: &Calls<'_>,
    origin: i64,
    long: i64,
    first_row: usize,
    blocks: &mut Vec<Block>,
) {
    let words: Vec<Option<u32>> =
        (0..calls.named.len()).map(|word| known.names.place(calls.name(word), MOST_OBJECTS)).collect();
    known.kinds.resize(known.names.texts.len().max(known.kinds.len()), Kind::default());
    let mut near: Vec<(u32, u32)> = vec![(u32::MAX, 0); NEAR];
    for row in 0..calls.len() {
        let tid = calls.tid.value(row);
        let slot = tid as usize % NEAR;
        if near[slot].0 != tid || tid == u32::MAX {
            let Some(place) = known.thread(tid) else { continue };
            near[slot] = (tid, place);
        }
        let place = near[slot].1;
        let word = words.get(calls.word(row)).copied().flatten();
        let failed = calls.error.is_some_and(|error| error.is_valid(row));
        let took = if calls.took.is_valid(row) { calls.took.value(row).max(0) } else { -1 };
        if let Some(kind) = word.and_then(|word| known.kinds.get_mut(word as usize)) {
            kind.count += 1;
            kind.failed += u64::from(failed);
            kind.ns = kind.ns.saturating_add(took.max(0) as u64);
            kind.longest = kind.longest.max(took.max(0) as u64);
        }
        let block = (first_row + row) / BLOCK;
        while blocks.len() <= block {
            blocks.push(Block { seq: calls.seq(row), ..Block::NONE });
        }
        let thread = &mut known.threads[place as usize];
        thread.calls += 1;
        if !calls.start.is_valid(row) {
            known.without_time += 1;
            continue;
        }
        let start = calls.start.value(row);
        let end = start.saturating_add(took.max(0));
        if thread.pid.is_none() {
            thread.pid = calls.pid.filter(|pid| pid.is_valid(row)).map(|pid| pid.value(row));
        }
        thread.first = thread.first.min(start.max(origin));
        thread.last = thread.last.max(end);
        let state = calls.state(row, took);
        known.tiles.add(place, state, start, end);
        // Of a call whose end is not known nobody knows how long it is.
        if took >= 0 && took < long {
            blocks[block].see(start, end);
            continue;
        }
        if known.longs.len() >= MOST_LONG {
            known.long_left_out += 1;
            continue;
        }
        let object = calls.path.filter(|path| path.is_valid(row)).map(|path| path.value(row));
        let error = calls.error.filter(|_| failed).and_then(|error| text_at(error, row));
        let entry = Long {
            start,
            took,
            seq: calls.seq(row),
            thread: place,
            call: word.unwrap_or(0),
            object: object.and_then(|object| known.names.place(object, MOST_OBJECTS)),
            error: error.and_then(|error| known.names.place(&error, MOST_OBJECTS)),
            state,
        };
        known.longs.push(entry);
    }
}
