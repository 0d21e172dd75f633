//! A part of the timeline: tiles, and the calls one by one where they are few enough.

use super::kinds::{BETWEEN, STATES};
use super::parts::{BLOCK, rows_in};
use super::scan::{Calls, text_at};
use super::{Index, LONG_PART, Names, Thread};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ops::Range;
use whyslow_model::Nanos;
use whyslow_privacy::redact;

/// Calls that are given one by one.
const MOST_SLICES: usize = 20_000;
/// Rows that are always read rather than taken from the sums.
const FEW_ROWS: usize = 160_000;
/// Rows that are read where the sums are too coarse.
const MOST_ROWS: usize = 1_000_000;
/// Rows for which a second thread reads.
const WORTH_A_THREAD: usize = 100_000;
/// Threads of an answer.
const MOST_THREADS: usize = 256;
/// Parts of the time of an answer.
const MOST_PIXELS: usize = 2_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// What times of the answer count from, ns; the recording's first moment where it is not given.
    pub(crate) zero: Option<i64>,
    /// From when to when, counted from there.
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) pixels: usize,
    pub(crate) tids: Vec<u32>,
}

/// The answer.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Window {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// All calls that touch it are in `slices`.
    pub(crate) exact: bool,
    /// The part of the recording that was read: less than 1 while the index is made.
    pub(crate) indexed: f64,
    /// Other fields name threads by their place in it.
    pub(crate) tids: Vec<u32>,
    pub(crate) tiles: WindowTiles,
    pub(crate) slices: WindowSlices,
    pub(crate) texts: Vec<String>,
    /// Rows that were read for it.
    pub(crate) rows_read: usize,
    /// Of long calls that began before, some may be missing.
    pub(crate) long_left_out: u64,
}

/// As the page's tiles.
#[derive(Debug, Default, Serialize)]
pub(crate) struct WindowTiles {
    pub(crate) buckets: usize,
    pub(crate) from: i64,
    pub(crate) width: i64,
    pub(crate) thread: Vec<u32>,
    pub(crate) bucket: Vec<u32>,
    pub(crate) state: Vec<u8>,
    pub(crate) ns: Vec<u64>,
}

/// As the page's slices; with the number of the event for each.
#[derive(Debug, Default, Serialize)]
pub(crate) struct WindowSlices {
    pub(crate) thread: Vec<u32>,
    /// Differences.
    pub(crate) start: Vec<i64>,
    pub(crate) took: Vec<Option<i64>>,
    pub(crate) state: Vec<u8>,
    pub(crate) call: Vec<u32>,
    pub(crate) object: Vec<Option<u32>>,
    pub(crate) error: Vec<Option<u32>>,
    pub(crate) seq: Vec<i64>,
}

/// A call of the answer.
struct Slice {
    thread: u32,
    start: i64,
    took: Option<i64>,
    state: u8,
    call: u32,
    object: Option<u32>,
    error: Option<u32>,
    seq: i64,
}

/// Rows of parts.
type Rows = Vec<(usize, Vec<Range<usize>>)>;

/// What is gathered.
struct Gathered {
    sums: Vec<[u64; STATES]>,
    slices: Vec<Slice>,
    /// There were more than may be given.
    too_many: bool,
    texts: Names,
}

/// The place and the measure of an answer's parts.
#[derive(Clone, Copy)]
struct Frame {
    from: i64,
    to: i64,
    width: i64,
    buckets: usize,
}

impl Index {
    /// Answers; within a fraction of a second, however long the recording is.
    ///
    /// # Errors
    /// What is wrong with the question, or that the recording is not any more what it was.
    pub(crate) fn window(&self, ask: &Ask) -> Result<Window, String> {
        let zero = ask.zero.unwrap_or(self.origin);
        let (from, to) = (zero.saturating_add(ask.from), zero.saturating_add(ask.to));
        if to <= from || to.checked_sub(from).is_none_or(|length| length > 1 << 61) {
            return Err("`to` must be behind `from`".to_string());
        }
        if ask.tids.len() > MOST_THREADS {
            return Err(format!("{MOST_THREADS} threads may be asked for at once"));
        }
        let pixels = ask.pixels.clamp(1, MOST_PIXELS);
        let known = self.known();
        let places: Vec<Option<u32>> = ask.tids.iter().map(|tid| known.places.get(tid).copied()).collect();
        let lives: Vec<(i64, i64)> = places
            .iter()
            .map(|place| place.and_then(|place| known.threads.get(place as usize)).map_or((0, 0), life))
            .collect();
        let wanted: Vec<(usize, Vec<Range<usize>>)> = known
            .blocks
            .iter()
            .enumerate()
            .map(|(part, blocks)| (part, rows_in(blocks, from, to)))
            .filter(|(_, ranges)| !ranges.is_empty())
            .collect();
        let rows: usize = wanted.iter().flat_map(|(_, ranges)| ranges).map(|range| range.len()).sum();
        let fine = ((to - from) as u64).div_ceil(pixels as u64) as i64;
        let reads = rows <= FEW_ROWS || fine < known.tiles.width() && rows <= MOST_ROWS;
        let frame = match reads {
            true => Frame { from, to, width: fine.max(1), buckets: pixels },
            false => {
                let width = known.tiles.width();
                let first = known.tiles.bucket(from);
                let last = known.tiles.bucket(to - 1).min(known.tiles.buckets() - 1).max(first);
                let group = (last - first + 1).div_ceil(pixels).max(1);
                let start = self.origin + first as i64 * width;
                Frame { from: start, to, width: width * group as i64, buckets: (last - first) / group + 1 }
            }
        };
        // Of so many calls they cannot be given one by one: what only that needs is not read.
        let asked_calls = places.iter().flatten().filter_map(|place| known.threads.get(*place as usize));
        let asked_calls: u64 = asked_calls.map(|thread| thread.calls).sum();
        let likely = rows as u128 * u128::from(asked_calls) / u128::from(known.rows.max(1));
        let too_many = !reads || rows > FEW_ROWS && likely > 2 * MOST_SLICES as u128;
        let mut gathered =
            Gathered { sums: Vec::new(), slices: Vec::new(), too_many, texts: Names::default() };
        if reads {
            gathered.sums = vec![[0; STATES]; ask.tids.len() * frame.buckets];
            let of_place: HashMap<u32, u32> =
                places.iter().enumerate().filter_map(|(at, place)| Some(((*place)?, at as u32))).collect();
            for long in &known.longs {
                if long.start >= to {
                    if self.is_finished() {
                        break;
                    }
                    continue;
                }
                let end = if long.took < 0 { self.end } else { long.start.saturating_add(long.took) };
                let Some(thread) = of_place.get(&long.thread).filter(|_| end >= from) else { continue };
                let text = |place: u32, texts: &mut Names| {
                    texts.place(known.names.text(place), usize::MAX).unwrap_or(0)
                };
                let call = text(long.call, &mut gathered.texts);
                let object = long.object.map(|object| text(object, &mut gathered.texts));
                let error = long.error.map(|error| text(error, &mut gathered.texts));
                let slice = Slice {
                    thread: *thread,
                    start: long.start,
                    took: (long.took >= 0).then_some(long.took),
                    state: long.state,
                    call,
                    object,
                    error,
                    seq: long.seq,
                };
                gathered.add(slice, end, frame);
            }
        } else {
            let group = (frame.width / known.tiles.width()) as usize;
            let first = known.tiles.bucket(frame.from);
            for place in &places {
                gathered.sums.extend(match place {
                    Some(place) => known.tiles.sums(*place, first, group, frame.buckets),
                    None => vec![[0; STATES]; frame.buckets],
                });
            }
        }
        let long_left_out = known.long_left_out;
        drop(known);
        let rows_read = if reads { self.read(&wanted, ask, frame, &mut gathered)? } else { 0 };
        Ok(self.answer(ask, zero, frame, &lives, gathered, (rows_read, long_left_out)))
    }

    /// The rows that touch the frame; sums of many by two threads.
    fn read(
        &self,
        wanted: &[(usize, Vec<Range<usize>>)],
        ask: &Ask,
        frame: Frame,
        gathered: &mut Gathered,
    ) -> Result<usize, String> {
        let rows: usize = wanted.iter().flat_map(|(_, ranges)| ranges).map(|range| range.len()).sum();
        if !gathered.too_many || rows < WORTH_A_THREAD {
            return self.read_some(wanted, ask, frame, gathered);
        }
        let (first, second) = halves(wanted, rows / 2);
        let sums = vec![[0; STATES]; gathered.sums.len()];
        let mut other = Gathered { sums, slices: Vec::new(), too_many: true, texts: Names::default() };
        let (one, two) = std::thread::scope(|scope| {
            let beside = scope.spawn(|| self.read_some(&second, ask, frame, &mut other));
            let one = self.read_some(&first, ask, frame, gathered);
            let two = beside.join().unwrap_or_else(|_| Err("a part of the recording is damaged".to_string()));
            (one, two)
        });
        for (sum, more) in gathered.sums.iter_mut().zip(&other.sums) {
            sum.iter_mut().zip(more).for_each(|(ns, more)| *ns += more);
        }
        Ok(one? + two?)
    }

    fn read_some(
        &self,
        wanted: &[(usize, Vec<Range<usize>>)],
        ask: &Ask,
        frame: Frame,
        gathered: &mut Gathered,
    ) -> Result<usize, String> {
        let long = ((self.end - self.origin) / LONG_PART).max(1);
        let threads: HashMap<u32, u32> =
            ask.tids.iter().enumerate().map(|(at, tid)| (*tid, at as u32)).collect();
        let mut read = 0;
        for (part, ranges) in wanted {
            let Some(file) = self.files.get(*part) else { continue };
            let part = file.open().map_err(|reason| format!("a part of the recording is gone: {reason}"))?;
            let columns = ["ts", "dur", "tid", "syscall", "path", "seq", "errno"];
            let columns = if gathered.too_many { &columns[..5] } else { &columns };
            for batch in part.scan(columns, Some(ranges))? {
                let batch = batch?;
                read += batch.num_rows();
                let Some(calls) = Calls::of(&batch) else { continue };
                for row in 0..calls.len() {
                    if !calls.start.is_valid(row) || !calls.took.is_valid(row) {
                        continue;
                    }
                    let (start, took) = (calls.start.value(row), calls.took.value(row).max(0));
                    let end = start.saturating_add(took);
                    // Long ones are known already.
                    if took >= long || start >= frame.to || end < frame.from {
                        continue;
                    }
                    let Some(thread) = threads.get(&calls.tid.value(row)) else { continue };
                    let mut slice = Slice {
                        thread: *thread,
                        start,
                        took: Some(took),
                        state: calls.state(row, took),
                        call: 0,
                        object: None,
                        error: None,
                        seq: calls.seq(row),
                    };
                    if !gathered.too_many {
                        let texts = &mut gathered.texts;
                        slice.call = texts.place(calls.name(calls.word(row)), usize::MAX).unwrap_or(0);
                        let path = calls.path.filter(|path| path.is_valid(row));
                        slice.object = path.and_then(|path| texts.place(path.value(row), usize::MAX));
                        let error = calls.error.and_then(|error| text_at(error, row));
                        slice.error = error.and_then(|error| texts.place(&error, usize::MAX));
                    }
                    gathered.add(slice, end, frame);
                }
            }
        }
        Ok(read)
    }

    fn answer(
        &self,
        ask: &Ask,
        zero: i64,
        frame: Frame,
        lives: &[(i64, i64)],
        gathered: Gathered,
        (rows_read, long_left_out): (usize, u64),
    ) -> Window {
        let Gathered { sums, mut slices, too_many, texts } = gathered;
        let mut tiles = WindowTiles {
            buckets: frame.buckets,
            from: frame.from - zero,
            width: frame.width,
            ..WindowTiles::default()
        };
        for (thread, (sums, (first, last))) in sums.chunks(frame.buckets.max(1)).zip(lives).enumerate() {
            for (bucket, sum) in sums.iter().enumerate() {
                let from = frame.from + bucket as i64 * frame.width;
                let lived = (*last).min(from + frame.width).saturating_sub((*first).max(from)).max(0) as u64;
                let told: u64 = sum.iter().sum();
                let mut give = |state: u8, ns: u64| {
                    if ns > 0 {
                        tiles.thread.push(thread as u32);
                        tiles.bucket.push(bucket as u32);
                        tiles.state.push(state);
                        tiles.ns.push(ns);
                    }
                };
                sum.iter().enumerate().for_each(|(state, ns)| give(state as u8, *ns));
                give(BETWEEN, lived.saturating_sub(told));
            }
        }
        let mut out = WindowSlices::default();
        if !too_many {
            slices.sort_unstable_by_key(|slice| (slice.start, slice.seq));
            let mut before = 0;
            for slice in slices {
                let start = slice.start - zero;
                out.thread.push(slice.thread);
                out.start.push(start - before);
                out.took.push(slice.took);
                out.state.push(slice.state);
                out.call.push(slice.call);
                out.object.push(slice.object);
                out.error.push(slice.error);
                out.seq.push(slice.seq);
                before = start;
            }
        }
        let texts = if too_many { Vec::new() } else { texts.texts };
        Window {
            from: frame.from - zero,
            to: frame.to - zero,
            exact: !too_many,
            indexed: self.progress(),
            tids: ask.tids.clone(),
            tiles,
            slices: out,
            texts: texts.iter().map(|text| redact(text).into_owned()).collect(),
            rows_read,
            long_left_out,
        }
    }

    /// One call with all that the recording has of it; `None` where there is no such event.
    ///
    /// # Errors
    /// That the recording is not any more what it was.
    pub(crate) fn call(&self, seq: i64) -> Result<Option<Value>, String> {
        let known = self.known();
        let mut found = None;
        for (part, blocks) in known.blocks.iter().enumerate() {
            let at = blocks.partition_point(|block| block.seq <= seq);
            if at > 0 && found.is_none_or(|(first, _, _)| blocks[at - 1].seq > first) {
                found = Some((blocks[at - 1].seq, part, at - 1));
            }
        }
        drop(known);
        let Some((_, part, block)) = found else { return Ok(None) };
        let Some(file) = self.files.get(part) else { return Ok(None) };
        let part = file.open().map_err(|reason| format!("a part of the recording is gone: {reason}"))?;
        let columns = [
            "seq", "ts", "dur", "pid", "tid", "syscall", "args", "ret", "errno", "ret_note", "path", "bytes",
        ];
        let range = block * super::parts::BLOCK..(block + 1) * super::parts::BLOCK;
        for batch in part.scan(&columns, Some(&[range]))? {
            let batch = batch?;
            let Some(numbers) =
                batch.column_by_name("seq").and_then(|seq| seq.as_primitive_opt::<Int64Type>())
            else {
                continue;
            };
            if let Some(row) = numbers.values().iter().position(|number| *number == seq) {
                return Ok(Some(told(&batch, row)));
            }
        }
        Ok(None)
    }
}

impl Gathered {
    fn add(&mut self, slice: Slice, end: i64, frame: Frame) {
        let (from, to) = (slice.start.max(frame.from), end.min(frame.to));
        if to > from {
            let (first, last) = ((from - frame.from) / frame.width, (to - 1 - frame.from) / frame.width);
            let row = slice.thread as usize * frame.buckets;
            for bucket in first..=last.min(frame.buckets as i64 - 1) {
                let begin = frame.from + bucket * frame.width;
                let part = to.min(begin + frame.width) - from.max(begin);
                if let Some(sum) = self.sums.get_mut(row + bucket as usize) {
                    sum[usize::from(slice.state)] += part.max(0) as u64;
                }
            }
        }
        if self.too_many {
            return;
        }
        if self.slices.len() >= MOST_SLICES {
            self.too_many = true;
            self.slices = Vec::new();
            return;
        }
        self.slices.push(slice);
    }
}

/// The rows in two: about so many, and the rest.
fn halves(wanted: &[(usize, Vec<Range<usize>>)], most: usize) -> (Rows, Rows) {
    let (mut first, mut second, mut taken) = (Rows::new(), Rows::new(), 0);
    for (part, ranges) in wanted {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        for range in ranges {
            // Between two blocks.
            let room = most.saturating_sub(taken).next_multiple_of(BLOCK).min(range.len());
            let room = if taken >= most { 0 } else { room };
            taken += room;
            if room > 0 {
                one.push(range.start..range.start + room);
            }
            if room < range.len() {
                two.push(range.start + room..range.end);
            }
        }
        for (ranges, of) in [(one, &mut first), (two, &mut second)] {
            if !ranges.is_empty() {
                of.push((*part, ranges));
            }
        }
    }
    (first, second)
}

fn life(thread: &Thread) -> (i64, i64) {
    (thread.first, thread.last.max(thread.first))
}

/// A row in words, its line as strace would print it.
fn told(batch: &RecordBatch, row: usize) -> Value {
    let text = |name: &str| batch.column_by_name(name).and_then(|column| text_at(column, row));
    let number = |name: &str| {
        let column = batch.column_by_name(name)?.as_primitive_opt::<Int64Type>()?;
        column.is_valid(row).then(|| column.value(row))
    };
    let word = |name: &str| {
        let column = batch.column_by_name(name)?.as_primitive_opt::<arrow_array::types::UInt32Type>()?;
        column.is_valid(row).then(|| column.value(row))
    };
    let path = text("path").unwrap_or_default();
    let args = text("args").unwrap_or_default().replace("{path}", &path);
    let note = text("ret_note").map(|note| format!(" {}", note.replace("{path}", &path))).unwrap_or_default();
    let call = match batch.column_by_name("syscall").and_then(|words| words.as_dictionary_opt::<Int32Type>())
    {
        Some(words) => text_at(words, row).unwrap_or_default(),
        None => String::new(),
    };
    let error = text("errno").map(|error| format!(" {error}")).unwrap_or_default();
    let result = number("ret").map_or("?".to_string(), |ret| ret.to_string());
    let took = number("dur");
    let length = took.map(|took| format!(" <{}>", Nanos::new(took.max(0) as u64))).unwrap_or_default();
    let line = format!("{call}({args}) = {result}{error}{note}{length}");
    json!({
        "seq": number("seq"),
        "ts": number("ts").map(|ts| ts.to_string()),
        "took": took,
        "pid": word("pid"),
        "tid": word("tid"),
        "call": call,
        "line": redact(&line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_all_rows_once() {
        let part = |ranges: &[(usize, usize)]| -> Vec<Range<usize>> {
            ranges.iter().map(|(from, to)| from * BLOCK..to * BLOCK).collect()
        };
        let wanted: Rows = vec![(0, part(&[(0, 1), (3, 6)])), (2, part(&[(0, 1)])), (3, part(&[(1, 2)]))];
        let count =
            |rows: &Rows| rows.iter().flat_map(|(_, ranges)| ranges).map(|range| range.len()).sum::<usize>();
        let all = count(&wanted);
        for most in [0, 1, BLOCK, all / 2, all - 1, all, all + 1] {
            let (first, second) = halves(&wanted, most);
            assert_eq!(count(&first) + count(&second), all);
            assert!(count(&first) < most + BLOCK);
            let in_one = |rows: &Rows| {
                rows.iter()
                    .flat_map(|(part, ranges)| {
                        ranges.iter().map(|range| (*part, range.start)).collect::<Vec<_>>()
                    })
                    .collect::<Vec<_>>()
            };
            let starts = [in_one(&first), in_one(&second)].concat();
            assert!(starts.is_sorted());
        }
    }
}
